"""The course of a crawl on one site: which requests are made, which wait, which are left."""

from __future__ import annotations

import math
import time
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from ...dedup.urls.familiar import FamiliarValues
from ...dedup.urls.parts import UrlParts, split_url
from ...dedup.urls.site_rules import RuleChange, SiteRules
from ...dedup.urls.url_judge import Judgement
from .closed_pages import ClosedPages
from .comparisons import draw_comparisons
from .left_requests import LeftRequest, LeftRequests, Why
from .moving import FEW_TEXTS, MANY_TEXTS, MovingPages
from .novelty import Found, Novelty, Yield, page_number
from .ways_back import WaysBack

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request

    from .visits import Visit

_LEAST_TRIALS: Final = 2  # requests under way at once from which rules may be learnt
_MOST_TRIALS: Final = 64
_EXPLORED: Final = 20  # new pages for each page that is fetched in spite of the rules
_LEAST_FRUITLESS: Final = 10
_MOST_A_PAGE: Final = 2  # fetches for each new page, those for comparing included
_OPEN: Final = 4  # times as many URLs found as fetched, where a crawl may have no end
_MOST_LINKS: Final = 4  # new links on a copy that count in full; an empty profile has one or two
_LONGEST_FLIGHT: Final = 60.0  # seconds after which nobody waits for a request any more


class Decision(NamedTuple):
    """What is done with a request: it is made, or left for these reasons, or waits.

    One that waits is judged again when others have landed, but not before ``is_ready`` says so.
    """

    left: tuple[str, ...] | None = None
    is_ready: Callable[[], bool] | None = None


class _Flight(NamedTuple):
    parts: UrlParts
    is_trial: bool
    is_doubtful: bool
    started: float


MADE: Final = Decision()
WAITS: Final = Decision(is_ready=lambda: True)


class SiteCourse:
    """What a crawl knows of one site.

    Links are followed for `copy_depth` copies in a row, and `fruitless` pages without anything new
    are fetched for each new page; 0 means any number.
    """

    def __init__(self, copy_depth: int, fruitless: int) -> None:
        self.rules = SiteRules()
        self.familiar = FamiliarValues()
        self.novelty = Novelty(copy_depth)
        self.left = LeftRequests()
        self.closed = ClosedPages()
        self._moving = MovingPages()
        self._ways_back = WaysBack()
        self.is_told = False  # whether it was said that nothing new comes
        self._copy_depth = copy_depth
        self._fruitless = fruitless
        self._trials = _LEAST_TRIALS
        self._explored = 0
        self._flights: dict[str, _Flight] = {}

    def decide_request(
        self, url: str, parts: UrlParts, found_on: Found, *, checks: bool = False
    ) -> Decision:
        """What to do with a request now; `checks` if it is made to see whether rules still hold."""
        if not checks and self.rules.find_rules(parts) is not None:
            names = self.find_reasons(parts)
            if names is not None:
                return Decision(left=names)
            self._explored += 1
            checks = True
        closed = None if checks else self.closed.find_name(parts)
        if closed is not None:
            return Decision(left=(closed,))
        self._give_up_old_flights()
        is_suspect = self.rules.judge_url(parts, found_on.page) is Judgement.SUSPECT
        if self._moving.knows_any:  # each waiting request is judged again after each page
            is_suspect |= self._moving.find(self.rules.list_pages_of(parts)) is not None
        depth = self.novelty.find_depth(found_on)
        is_vain = self.novelty.is_vain(parts.kind)
        if is_vain and not checks and self._copy_depth and depth > self._copy_depth:
            return Decision(left=(Why.COPY_DEPTH,))
        is_doubtful = is_suspect or (
            (depth > 0 or is_vain) and not self.novelty.is_fruitful(self.rules.list_groups(parts))
        )
        if is_doubtful and not checks and self._fruitless:
            growth = self.novelty.find_growth(self._list_yields(parts))
            if growth >= self.fruitless_limit:
                return Decision(left=(Why.FRUITLESS,))
            doubtful = sum(1 for one in self._flights.values() if one.is_doubtful)
            if doubtful and growth + doubtful >= self.fruitless_limit:
                return WAITS
        if is_suspect and not checks and self._awaits_copy(parts):
            return WAITS
        if is_suspect and not self._has_free_trial():
            return Decision(is_ready=self._has_free_trial)
        self.rules.note_request(parts, found_on.page)
        is_trial = is_suspect or checks
        self._flights.pop(url, None)
        self._flights[url] = _Flight(parts, is_trial, is_doubtful or checks, time.monotonic())
        return MADE

    def _awaits_copy(self, parts: UrlParts) -> bool:
        """Whether a request is under way whose page will spare this one.

        Where each page links to the next only, there is nothing else to request meanwhile.
        """
        if not self.rules.rules:  # hundreds may be under way
            return False
        return any(self.rules.would_spare(parts, one.parts) for one in self._flights.values())

    def _has_free_trial(self) -> bool:
        return sum(1 for one in self._flights.values() if one.is_trial) < self._trials

    def find_reasons(self, parts: UrlParts) -> tuple[str, ...] | None:
        """The rules by which a request is not even queued; None if it may be made."""
        names = self.rules.find_rules(parts)
        is_explored = self._explored < self.novelty.new // _EXPLORED
        return tuple(names) if names is not None and not is_explored else None

    @property
    def fruitless_limit(self) -> int:
        """How many pages without anything new, but with new links, are fetched in a row."""
        return _LEAST_FRUITLESS + self._fruitless * self.novelty.new

    def _give_up_old_flights(self) -> None:
        """Wait no more for requests of which nothing was heard, whatever became of them."""
        latest = time.monotonic() - _LONGEST_FLIGHT
        while self._flights:
            url = next(iter(self._flights))  # the oldest
            if self._flights[url].started >= latest:
                break
            del self._flights[url]

    def note_landed(self, url: str | None = None) -> None:
        """Note that a request is not under way any more, or that none is."""
        if url is None:
            self._flights.clear()
        else:
            self._flights.pop(url, None)
            self._moving.give_up(url)  # if it has come, that trial has gone on

    def note_visit(
        self, url: str, parts: UrlParts, found_on: Found, visit: Visit
    ) -> list[RuleChange]:
        """Learn from a fetched page; returns the rules that it completed or revoked."""
        novelty, flight = self.novelty, self._flights.get(url)
        assert visit.cluster is not None
        pages = self.rules.list_pages_of(parts)
        moving = self._moving.find_with(pages, visit.whole)
        if moving is not None and self._moving.take_found(moving):
            novelty.note_content(moving)
            self.rules.note_moving(parts, moving, pages[moving])
        content = moving or novelty.content_of(visit.cluster, visit.text)
        texts = novelty.new
        has_rival = self.rules.has_rival(parts)
        if self._moving.is_tried(url) and novelty.knows(content):
            is_new = False  # what is fetched again leads no further
        else:
            is_new = novelty.note_page(
                page_number(url),
                parts,
                found_on,
                content,
                visit.outline,
                growth=self._find_growth(flight, len(visit.links)),
            )
        if novelty.barren:
            self._trials = _LEAST_TRIALS
        elif has_rival and flight is not None and flight.is_trial:
            self._trials = min(2 * self._trials, _MOST_TRIALS)
        ways_back = frozenset[str]()
        if visit.asks_password and is_new:
            self._ways_back.note_new_text()
        elif visit.asks_password:
            ways_back = self._ways_back.list_ways(url, parts, found_on.page)
        changes = self.rules.note_page(
            parts,
            content,
            is_new=is_new,
            has_news=visit.has_news and not moving,
            found_on=found_on.page,
            links=tuple(visit.links),
            ways_back=ways_back,
        )
        if not is_new:
            self._moving.note_old_text(pages)
        elif visit.whole:
            self._watch(url, pages, visit, is_empty=novelty.new == texts)
        return changes

    def _watch(self, url: str, pages: dict[int, str], visit: Visit, *, is_empty: bool) -> None:
        """Watch whether pages have a new text at each fetch, but for empty ones, which end."""
        new, seen = self.novelty.new, self.novelty.seen
        enough = math.inf  # if most URLs have come, the crawl ends
        if seen > _MOST_A_PAGE * new:
            enough = FEW_TEXTS
        elif self.rules.found > _OPEN * seen:
            enough = MANY_TEXTS
        visit.asks_for = self._moving.note_text(
            url, {} if is_empty else pages, visit.whole, new=new, enough=enough
        )

    def _find_growth(self, flight: _Flight | None, links: int) -> float:
        """What a page with so many new links may add to an endless part of the site, if a copy.

        Endless pages are found on copies, or have URLs like known ones, and lead to more.
        """
        if flight is None or flight.is_trial:
            return min(links, 1)
        return min(links / _MOST_LINKS, 1) if flight.is_doubtful else 0

    def leave(
        self, request: Request, reasons: tuple[str, ...], found_on: Found
    ) -> LeftRequest | None:
        """Remember a request that is not made; returns the one that is not remembered for it."""
        parts = split_url(request.url) if reasons == (Why.FRUITLESS,) else None
        yields = () if parts is None else self._list_yields(parts)
        return self.left.add(LeftRequest(request, reasons, found_on, yields))

    def _list_yields(self, parts: UrlParts) -> tuple[Yield, ...]:
        """What the URLs of its kind and of its groups have brought."""
        return self.novelty.list_yields([parts.kind, *self.rules.list_groups(parts)])

    def _list_reasons(self) -> set[str]:
        """The rules, and what leads to closed pages."""
        return self.rules.rules.keys() | self.closed.names

    def take_back(self) -> list[LeftRequest]:
        """Take out the requests that may be made after all."""

        def room(left: LeftRequest) -> float:
            return self.fruitless_limit - self.novelty.find_growth(left.yields)

        def is_near(found_on: Found) -> bool:
            return self.novelty.find_depth(found_on) <= self._copy_depth

        narrowed = self.rules.take_narrowed()

        def is_narrowed(left: LeftRequest) -> bool:
            """Whether the rules do not hold for it any more: for its kind, or others beside it."""
            if narrowed.isdisjoint(left.reasons):
                return False
            parts = split_url(left.request.url)
            return parts is not None and self.rules.find_rules(parts) is None

        return self.left.take_back(self._list_reasons(), room, is_near, is_narrowed)

    def take_checks(self) -> list[LeftRequest]:
        """Take out spared requests, enough to check all rules, and untried fruitless ones."""
        new = self.novelty.new
        # Copies that no rule explains leave room for half of the pages that are not compared.
        room = max(_MOST_A_PAGE * new - self.novelty.seen, (new - self.rules.compared) // 2)
        if self.rules.has_erred:  # then others may err, too
            room = len(self.left.all)
        compare = partial(draw_comparisons, rules=self.rules, room=room)
        checks = self.left.take_checks(self._list_reasons(), new, self._list_guesses, compare)
        return checks + self.left.take_untried(self.rules.list_pages(), new)

    def _list_guesses(self, left: LeftRequest) -> list[tuple[str, str]]:
        parts = split_url(left.request.url)
        return self.rules.list_guesses(parts, left.reasons) if parts is not None else []
