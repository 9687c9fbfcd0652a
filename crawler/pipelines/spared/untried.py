"""Finds left requests with values that no fetched page had."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from itertools import chain, combinations
from typing import TYPE_CHECKING, Final

from ...dedup.urls.parts import PREFIX, UrlParts, split_url

if TYPE_CHECKING:
    from .left_requests import Left

_MOST_SEEN: Final = 1000  # of the left requests, drawn at random
_MOST_VALUES: Final = 8  # of a URL


def draw_untried(left: list[Left], fetched: Iterable[UrlParts], most: int) -> list[Left]:
    """Draw requests with values, or pairs of them, that came several times but were never fetched.

    Each has such a value that no other drawn one has, or if there are no more, such a pair. Values
    that came once tell nothing: session ids are new in each link.
    """
    seen = random.sample(left, min(len(left), _MOST_SEEN))
    parts_of = [(one, split_url(one.request.url)) for one in seen]
    values = {one.request.url: _list_values(parts) for one, parts in parts_of if parts is not None}
    pages = [_list_values(parts) for parts in fetched]
    counts = Counter(chain.from_iterable((*values.values(), *pages)))
    drawn: list[Left] = []
    for size in 1, 2:
        tried = set(chain.from_iterable(_combine(page, counts, size) for page in pages))
        tried.update(
            chain.from_iterable(_combine(values[one.request.url], counts, size) for one in drawn)
        )
        for one in seen:
            if len(drawn) >= most:
                break
            new = _combine(values.get(one.request.url, []), counts, size)
            if not tried.issuperset(new):
                tried.update(new)
                drawn.append(one)
    return drawn


def _list_values(parts: UrlParts) -> list[Hashable]:
    """The values of a URL, its skeleton first. Nested links have new folders each time."""
    named = ("", parts.skeleton), *(one for one in parts.features if one[0] != PREFIX)
    return [(parts.kind, *one) for one in named]


def _combine(
    values: Iterable[Hashable], counts: Mapping[Hashable, int], size: int
) -> list[tuple[Hashable, ...]]:
    """The combinations of values that came several times."""
    often = [value for value in values if counts[value] > 1]
    return list(combinations(often[:_MOST_VALUES], size))
