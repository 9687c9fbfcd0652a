"""Draws requests that compare pages of a site as no fetched URL has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from ...dedup.urls.parts import split_url

if TYPE_CHECKING:
    from ...dedup.urls.site_rules import SiteRules
    from ...dedup.urls.url_judge import Compared
    from .left_requests import LeftRequest

_MOST: Final = 64  # pages that are fetched under another URL


def draw_comparisons(
    left: Iterable[LeftRequest], drawn: Iterable[LeftRequest], rules: SiteRules, room: int
) -> list[LeftRequest]:
    """Of requests that rules have spared, draw some that compare pages in a rule's feature.

    A rule may err on a few pages only. A page that was compared in one feature may still differ in
    another. Each page is compared in arguments of which the site offers a choice, in all values if
    the rule has erred, and in other features while there is `room`. `drawn` requests are made in
    any case.
    """
    same, erring = rules.find_same_values(), rules.erring_choices
    pages = rules.list_pages() if erring else []
    tried = {pair for parts in pages for pair in rules.list_values(parts, erring)}

    def list_uncompared(one: LeftRequest) -> list[Compared]:
        parts = split_url(one.request.url)
        if parts is None:
            return []
        values = [pair for pair in rules.list_values(parts, erring) if pair not in tried]
        return [*values, *rules.list_uncompared(parts, same)]

    made = list(drawn)
    compared = {pair for one in made for pair in list_uncompared(one)}
    found = [(one, list_uncompared(one)) for one in left]
    choices: list[LeftRequest] = []
    others: list[LeftRequest] = []
    for one, pairs in sorted(found, key=lambda pair: -len(pair[1])):
        new = [pair for pair in pairs if pair not in compared]
        if new:
            compared.update(new)
            is_choice = any(name.partition("=")[0] in rules.choices for _, name in new)
            (choices if is_choice else others).append(one)
    room = max(room - len(made) - len(choices), 0)
    return [*choices, *others[:room]][:_MOST]
