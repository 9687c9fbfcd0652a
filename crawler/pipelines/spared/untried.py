"""Finds URLs with values that no fetched page had."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import chain, combinations
from typing import Final

from ...dedup.urls.parts import PREFIX, UrlKind, UrlParts, split_url

_MOST_SEEN: Final = 1000  # URLs, drawn at random
_MOST_VALUES: Final = 8  # of a URL, of which pairs are tried

Value = tuple[UrlKind, str, str | None]
"""A feature of a kind of URL, and its value; None for any value."""


def draw_untried(left: list[str], fetched: Iterable[UrlParts], most: int) -> list[str]:
    """Draw URLs with arguments, values, or pairs of these that were found often but never fetched.

    Each has such an argument or value that no other drawn one has, or if there are no more, such a
    pair of values. What was found once tells nothing: session ids are new in each link.
    """
    parts_of = [(url, split_url(url)) for url in random.sample(left, len(left))]
    values = {url: _list_values(parts) for url, parts in parts_of if parts is not None}
    fetched_values = [_list_values(parts) for parts in fetched]
    counts = Counter(chain.from_iterable((*values.values(), *fetched_values)))
    pages = [_list_frequent(own, counts) for own in fetched_values]
    # Thousands of nested links, or of links with sessions, are alike but for these.
    alike = {tuple(_list_frequent(own, counts)): url for url, own in values.items()}
    seen = [(url, own) for own, url in alike.items()][:_MOST_SEEN]
    drawn: list[str] = []
    for size in 1, 2:
        tried = set(chain.from_iterable(_combine(page, size) for page in pages))
        tried.update(chain.from_iterable(_combine(own, size) for url, own in seen if url in drawn))
        for url, own in seen:
            if len(drawn) >= most:
                break
            new = _combine(own, size)
            if not tried.issuperset(new):
                tried.update(new)
                drawn.append(url)
    return drawn


def _list_values(parts: UrlParts) -> list[Value]:
    """The values of a URL, its skeleton first, and then the names of its arguments.

    Nested links have new folders each time.
    """
    named = [one for one in parts.features if one[0] != PREFIX]
    values = [(parts.kind, *one) for one in (("", parts.skeleton), *named)]
    return [*values, *((parts.kind, name, None) for name, _ in named)]


def _list_frequent(values: Iterable[Value], counts: Mapping[Value, int]) -> list[Value]:
    """Those that were found several times."""
    return [value for value in values if counts[value] > 1]


def _combine(values: Iterable[Value], size: int) -> list[tuple[Value, ...]]:
    """The combinations of values; a name is of use by itself only."""
    if size == 1:
        return [(value,) for value in values]
    return list(combinations([one for one in values if one[2] is not None][:_MOST_VALUES], size))
