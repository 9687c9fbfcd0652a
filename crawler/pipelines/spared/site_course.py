"""The course of a crawl on one site: which requests may be made, wait, are spared, or are left."""

from __future__ import annotations

import time
from collections import deque
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

import xxhash

from ...dedup.urls.parts import UrlParts
from ...dedup.urls.site_rules import Change, Judgement, SiteRules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scrapy import Request

_LEAST_TRIALS: Final = 2  # requests under way at once of which rules may be learnt
_MOST_TRIALS: Final = 64
_EXPLORED: Final = 20  # one page is fetched in spite of the rules for so many that are new
_LEAST_FRUITLESS: Final = 10
_MOST_LEFT: Final = 10_000  # requests that are remembered, to be made after all
_MOST_CONTENTS: Final = 1 << 19
_MOST_PAGES: Final = 1 << 18
_LONGEST_FLIGHT: Final = 60.0  # seconds after which nobody waits for a request any more


def page_number(url: str) -> int:
    """A number of a page that is the same in all processes."""
    return xxhash.xxh3_64_intdigest(url.encode("utf-8", "replace"))


class Why(StrEnum):
    """Why a request is not made, if no rule says so."""

    COPY_DEPTH = "copy_depth"  # only copies of copies lead there
    FRUITLESS = "fruitless"  # the site has brought nothing new for long


class Found(NamedTuple):
    """The page that a request was found on, and its depth as far as that was known then."""

    page: int
    depth: int


NOWHERE: Final = Found(0, 0)


class Decision(NamedTuple):
    """What is done with a request: it waits, or is left for these reasons; or else it is made."""

    waits: bool = False
    left: tuple[str, ...] | None = None


class Left(NamedTuple):
    """A request that was not made: by these rules, or for this reason."""

    request: Request
    reasons: tuple[str, ...]
    found_on: Found


class _Flight(NamedTuple):
    is_trial: bool
    is_deep: bool  # found on a copy
    started: float


MADE: Final = Decision()
WAITS: Final = Decision(waits=True)


class SiteCourse:
    """What a crawl knows of one site.

    Parameters
    ----------
    copy_depth
        Links of copies are followed so many times in a row; 0 for any number.
    fruitless
        So many pages without anything new are fetched for each that is new; 0 for any number.
    """

    def __init__(self, copy_depth: int, fruitless: int) -> None:
        self.rules = SiteRules()
        self.new = 0  # pages whose text had not come before
        self.barren = 0  # pages since the last of them
        self.left: deque[Left] = deque()
        self.is_told = False  # whether it was said that nothing new comes
        self._copy_depth = copy_depth
        self._fruitless = fruitless
        self._trials = _LEAST_TRIALS
        self._explored = 0
        self._checked = 0  # how many pages were new when rules were last checked
        self._flights: dict[str, _Flight] = {}
        self._contents: set[int] = set()
        self._of_text: dict[int, int] = {}
        # Pages, and where those were found that brought nothing new.
        self._pages: dict[int, Found | None] = {}

    def decide(
        self, url: str, parts: UrlParts, found_on: Found, *, checks: bool = False
    ) -> Decision:
        """What to do with a request now; `checks` if it is made to see whether rules still hold."""
        if not checks and self.rules.find_rules(parts) is not None:
            names = self.spares(parts)
            if names is not None:
                return Decision(left=names)
            self._explored += 1
            checks = True
        self._give_up_old_flights()
        is_suspect = self.rules.judge_url(parts) is Judgement.SUSPECT
        depth = self.depth(found_on)
        if not checks and self._copy_depth and depth > self._copy_depth:
            return Decision(left=(Why.COPY_DEPTH,))
        if not checks and (depth or is_suspect) and self._fruitless:
            if self.barren >= self.patience:
                return Decision(left=(Why.FRUITLESS,))
            doubtful = sum(1 for one in self._flights.values() if one.is_trial or one.is_deep)
            if doubtful and self.barren + doubtful >= self.patience:
                return WAITS
        trials = sum(1 for one in self._flights.values() if one.is_trial)
        if is_suspect and trials >= self._trials:
            return WAITS
        self.rules.note_request(parts)
        self._flights[url] = _Flight(is_suspect or checks, depth > 0, time.monotonic())
        return MADE

    def spares(self, parts: UrlParts) -> tuple[str, ...] | None:
        """The rules by which a request is not even queued; None if it may be made."""
        names = self.rules.find_rules(parts)
        is_explored = self._explored < self.new // _EXPLORED
        return tuple(names) if names is not None and not is_explored else None

    @property
    def patience(self) -> int:
        """How many pages without anything new are fetched in a row."""
        return _LEAST_FRUITLESS + self._fruitless * self.new

    def _give_up_old_flights(self) -> None:
        """Wait no more for requests of which nothing was heard, whatever became of them."""
        oldest = time.monotonic() - _LONGEST_FLIGHT
        for url in [url for url, one in self._flights.items() if one.started < oldest]:
            del self._flights[url]

    def depth(self, found_on: Found) -> int:
        """How many pages in a row, up to this one, have brought nothing new.

        Of a page that another crawler has fetched it is what that one knew.
        """
        depth = 0
        while depth <= self._copy_depth:
            page = found_on.page
            if page not in self._pages:
                return depth + found_on.depth
            above = self._pages[page]
            if above is None:
                break
            found_on = above
            depth += 1
        return depth

    def content_of(self, cluster: int, text: int) -> int:
        """What stands for a page's content: its cluster, or that in which its text came first.

        While little is known of a site, an index may keep a page with the text of another.
        """
        if len(self._of_text) >= _MOST_CONTENTS:
            return self._of_text.get(text, cluster)
        return self._of_text.setdefault(text, cluster)

    def land(self, url: str) -> None:
        """Note that a request is not under way any more."""
        self._flights.pop(url, None)

    def observe(
        self, url: str, parts: UrlParts, found_on: Found, content: int, *, has_news: bool
    ) -> list[Change]:
        """Note what came: the content of a page, and whether links of it had not been met."""
        page, flight = page_number(url), self._flights.get(url)
        is_new_content = content not in self._contents
        if is_new_content and len(self._contents) < _MOST_CONTENTS:
            self._contents.add(content)
        if is_new_content:
            self.new += 1
            self.barren = 0
            if flight is not None and flight.is_trial:
                self._trials = min(2 * self._trials, _MOST_TRIALS)
            for fruitful in page, found_on.page:
                self._note_page(fruitful, None)
        else:
            self.barren += 1
            self._trials = _LEAST_TRIALS
            self._note_page(page, found_on if page != found_on.page else None)
        return self.rules.note_page(parts, content, is_new=is_new_content or has_news)

    def _note_page(self, page: int, found_on: Found | None) -> None:
        if page in self._pages or len(self._pages) < _MOST_PAGES:
            self._pages[page] = found_on

    def leave(self, request: Request, reasons: tuple[str, ...], found_on: Found) -> None:
        """Remember a request that is not made."""
        self.left.append(Left(request, reasons, found_on))
        if len(self.left) > _MOST_LEFT:
            self.left.popleft()

    def take_back(self) -> list[Left]:
        """Hand over the requests that may be made after all."""
        room = max(self.patience - self.barren, 0)
        found: list[Left] = []

        def is_back(one: Left) -> bool:
            if one.reasons == (Why.FRUITLESS,):
                return len(found) < room
            if one.reasons == (Why.COPY_DEPTH,):
                return self.depth(one.found_on) <= self._copy_depth
            return any(name not in self.rules.rules for name in one.reasons)

        self._take(is_back, found)
        return found

    def take_checks(self) -> list[Left]:
        """Hand over, of the requests that were spared last, enough to check all rules."""
        if self._checked == self.new:  # what checks lead to is not checked for ever
            return []
        self._checked = self.new
        unchecked = set(self.rules.rules)
        found: list[Left] = []

        def is_check(one: Left) -> bool:
            if unchecked.isdisjoint(one.reasons):
                return False
            unchecked.difference_update(one.reasons)
            return True

        self.left.reverse()
        self._take(is_check, found)
        self.left.reverse()
        return found

    def _take(self, is_taken: Callable[[Left], bool], found: list[Left]) -> None:
        def stay() -> Iterator[Left]:
            for one in self.left:
                if is_taken(one):
                    found.append(one)
                else:
                    yield one

        self.left = deque(stay())
