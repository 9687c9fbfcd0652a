"""Finds URLs with values that no fetched page had."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from itertools import chain, combinations
from typing import Final

from ...dedup.urls.parts import PREFIX, UrlParts, split_url

_MOST_SEEN: Final = 1000  # URLs, drawn at random
_MOST_VALUES: Final = 8  # of a URL


def draw_untried(left: list[str], fetched: Iterable[UrlParts], most: int) -> list[str]:
    """Draw URLs with values, or pairs of them, that came several times but were never fetched.

    Each has such a value that no other drawn one has, or if there are no more, such a pair. Values
    that came once tell nothing: session ids are new in each link.
    """
    seen = random.sample(left, min(len(left), _MOST_SEEN))
    parts_of = [(url, split_url(url)) for url in seen]
    values = {url: _list_values(parts) for url, parts in parts_of if parts is not None}
    pages = [_list_values(parts) for parts in fetched]
    counts = Counter(chain.from_iterable((*values.values(), *pages)))
    drawn: list[str] = []
    for size in 1, 2:
        tried = set(chain.from_iterable(_combine(page, counts, size) for page in pages))
        tried.update(chain.from_iterable(_combine(values[url], counts, size) for url in drawn))
        for url, own in values.items():
            if len(drawn) >= most:
                break
            new = _combine(own, counts, size)
            if not tried.issuperset(new):
                tried.update(new)
                drawn.append(url)
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
