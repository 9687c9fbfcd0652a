"""Attempts to check pages of a spread index: the request, the findings and the decision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from ...identity import host
from ...ranks import CHOSEN, is_better
from ..messages import Answer, CheckRequest, TemplateNews
from .claims import MAX_PAGES, Batch, ShardKey
from .pages import PageView, Spread

# Kept pages compared with one page, and in vain in a row, as in similar_pages.lua.
MAX_VERIFIED, MAX_IN_VAIN = 24, 12


class AskedPage(NamedTuple):
    """A request to check a page until ``deadline``; the page's record belongs in ``shard``.

    Of two checks, the one that was ``born`` earlier has priority.
    """

    request: CheckRequest
    shard: int
    url_key: bytes
    born: bytes
    deadline: float

    def is_unconfirmed(self, view: PageView) -> bool:
        """Whether a kept page was last seen before the crawl of this check began."""
        return view.last_seen < self.request.crawl

    def wins(self, original: PageView) -> bool:
        """Whether the page ranks before a kept one, as in similar_pages.lua."""
        own = self.request
        if own.preferred or original.gone:
            return True
        if original.rank == CHOSEN or (own.yields and own.canonical == original.url):
            return False
        return original.canonical == self.url_key or is_better(own.rank, original.rank)

    def displaces(self, view: PageView, *, is_kept: bool = False) -> bool:
        """Whether a kept page gives way to this one, by the rule in lua/pages.lua.

        `is_kept` says that this page is kept so far.
        """
        is_final = bool(self.request.final) and host(view.url) in self.request.final
        return self.is_unconfirmed(view) and (is_kept or is_final)


@dataclass(slots=True, eq=False)
class BegunCheck:
    """A check that has begun, and the other pages found at the page's places.

    Page numbers are global unless called local. ``replaces`` is the earlier page of the URL, and
    ``is_kept`` says whether that one is kept. ``override`` is a person's override: ``keep``,
    ``drop`` or ''. ``hits`` maps a kept page to the indices of the ``places`` where it was found,
    and ``before`` does so for pages that may still be pending. Places from index ``first_anchor``
    on belong to anchors; ``at_anchors`` only counts the pages there.
    """

    asked: AskedPage
    local: int
    number: int
    replaces: int
    is_kept: bool
    override: str
    places: list[ShardKey]
    first_anchor: int
    batch: Batch = field(default_factory=lambda: Batch([]))
    before: dict[int, set[int]] = field(default_factory=dict)
    hits: dict[int, set[int]] = field(default_factory=dict)
    at_anchors: dict[int, int] = field(default_factory=dict)

    @property
    def age(self) -> tuple[bytes, int]:
        """The sort key of attempts: the first has priority."""
        return self.asked.born, self.number

    @property
    def is_to_be_dropped(self) -> bool:
        """Whether a person's override drops the page."""
        return self.override == "drop"

    def wins(self, original: PageView) -> bool:
        """Whether the page replaces a kept page that it copies, as in similar_pages.lua."""
        return not self.is_to_be_dropped and self.asked.wins(original)

    def leaves(self, original: PageView) -> bool:
        """Whether a page that ranks behind stays kept, because a person wants it kept."""
        return original.is_wanted and not original.gone and not self.asked.request.preferred

    def displaces(self, view: PageView) -> bool:
        """Whether a kept page gives way to this one."""
        return not self.is_to_be_dropped and self.asked.displaces(view, is_kept=self.is_kept)

    def note_others(self, index: int, kept: Iterable[int], claimed: Iterable[int]) -> None:
        """Note the other pages at the place with this index."""
        if index >= self.first_anchor:
            self.at_anchors[index] = len([*kept, *claimed])
            return
        for numbers, group in ((kept, self.hits), (claimed, self.before)):
            for number in numbers:
                group.setdefault(number, set()).add(index)

    @property
    def has_met_nobody(self) -> bool:
        """Whether the page's places hold no other page, except perhaps the one that it replaces."""
        return not self.before and self.hits.keys() <= {self.replaces}

    def crowded_places(self) -> set[ShardKey]:
        """The places that hold very many other pages."""
        others = Counter(chain.from_iterable((*self.hits.values(), *self.before.values())))
        others.update(self.at_anchors)
        return {self.places[index] for index, count in others.items() if count >= MAX_PAGES}

    def rank_candidates(self) -> tuple[list[int], list[int]]:
        """The pages to look at: those that come first, and the most likely other candidates.

        All pages with the key of the exact hash and all that may be pending come first. The others
        are the kept pages to compare, the most likely originals first, as in similar_pages.lua.
        """
        pages_at = Counter(chain.from_iterable(self.hits.values()))
        weights = {
            number: sum(1 / pages_at[index] for index in sorted(found - {0}))
            for number, found in self.hits.items()
        }
        first = dict.fromkeys(sorted(number for number, found in self.hits.items() if 0 in found))
        first |= dict.fromkeys(sorted(self.before))
        first.pop(self.replaces, None)
        others = self.hits.keys() - first.keys() - {self.replaces}
        ranked = sorted(others, key=lambda number: (-weights[number], number))
        return list(first), ranked[:MAX_VERIFIED]

    def found_at(self, number: int) -> set[int]:
        """The places where a page was found, by index."""
        return self.hits.get(number, set()) | self.before.get(number, set())

    def is_seen_by(self, number: int, view: PageView, spread: Spread) -> bool:
        """Whether a pending page has found this one's claims, or will find them.

        It will if this page missed it at a place that both claim.
        """
        theirs = set(spread.find_places(view.page.exact, view.page.words, view.page.bands))
        shared = {index for index, place in enumerate(self.places) if place in theirs}
        return not shared <= self.found_at(number)


@dataclass(slots=True, eq=False)
class Attempt:
    """A check under way.

    ``state`` is the latest reply of the page's shard: the check has begun; bytes, if the URL is
    known with this text; or None, if another check of the URL is under way. ``lost`` is the number
    of an original that no longer stands for the page.
    """

    asked: AskedPage
    state: BegunCheck | bytes | None = None
    error: Exception | None = None
    answer: Answer | None = None
    lost: int = 0
    canonical: str | None = None
    news: TemplateNews | None = None

    def complete_answer(self, answer: Answer) -> Answer:
        """The answer, completed with what this attempt knows of canonical URL and template."""
        return answer._replace(canonical=self.canonical, template=self.news)
