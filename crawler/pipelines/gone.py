"""Addresses that a crawl finds gone, until the index knows of it."""

from __future__ import annotations

import atexit
import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin

from scrapy import signals
from w3lib.url import safe_url_string

from ..dedup.identity import host
from .reporting import MANY, Telling

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from ..dedup.index import DuplicateIndex

# Answers after which an address has no page any more, and redirects that are for good.
GONE: Final = frozenset({404, 410})
MOVED: Final = frozenset({301, 308})
MOST_GONE: Final = 10_000  # addresses that are remembered while the server gives no answer
_PATIENCE: Final = 60.0  # seconds in which an item may come of the page where a redirect ends
_MOST_ENDED: Final = 1000  # redirects whose pages' items are waited for


class GoneAddresses(Telling[tuple[str, int]]):
    """Notes the addresses that have no page any more and reports them with the next page.

    An address that a redirect led away from for good is noted when it is known where the redirects
    end: at the address itself, as where cookies are set on a detour, it is not gone. Where they end
    at a server error, or never, as in a circle, nothing is known. Where nobody follows them, or not
    to another host or to an address that was asked for already, it is gone.

    Where they end at a page, its item comes before that is reported: an item that has the address
    at the beginning says that this is how its page is known. That of an address that was asked for
    already may still come, or that may lead back. What is found is an address and when,
    in seconds since 1970.

    Parameters
    ----------
    known
        The form of a URL by which the index knows it.
    count
        Takes the name of a statistic to add one to.
    """

    statistic = "dedup/gone"
    what = "gone"

    def __init__(self, known: Callable[[str], str], count: Callable[[str], None]) -> None:
        super().__init__(count)
        # By what they are known: of redirects not yet at an end.
        self._moving: dict[str, tuple[str, int]] = {}
        self._elsewhere: set[str] = set()  # those that led to another host, which nobody asked yet
        # Of redirects that ended at a page, or at an address that was asked for already: where,
        # what was noted, and when to wait no longer.
        self._ended: dict[str, tuple[str, tuple[str, int], float]] = {}
        # From where redirects, for good or not, ended at which address that was asked for already.
        self._leads: dict[str, str] = {}
        self._known = known

    def watch(self, crawler: Crawler) -> None:
        """Note what the answers of a crawl show, whatever its spider does with them."""
        crawler.signals.connect(self.redirected, signal=signals.response_downloaded)
        crawler.signals.connect(self.follow, signal=signals.request_reached_downloader)
        crawler.signals.connect(self.note, signal=signals.response_received)
        crawler.signals.connect(self.dropped, signal=signals.request_dropped)
        crawler.signals.connect(self.idle, signal=signals.spider_idle)

    def open(self, index: DuplicateIndex) -> None:
        """Report to *index* from now on, so that copies of what is gone can take its place."""
        super().open(index)
        atexit.register(self._keep)  # a forced stop of Scrapy's closes no spider

    async def close(self) -> None:
        """Report what is left; what has no answer waits in the spool."""
        self._note_ended(lambda end, until: True)
        await self.report()
        self._keep()
        atexit.unregister(self._keep)

    def redirected(self, response: Response, request: Request) -> None:
        """Note an address that this answer leads away from for good."""
        to = response.headers.get("Location")
        if response.status not in MOVED or to is None or request.method != "GET":
            return
        try:
            there = urljoin(request.url, safe_url_string(to))
        except ValueError:  # no address, as "http://["
            return
        here = self._known(request.url)
        if self._known(there) != here:
            self._moving[here] = request.url, int(time.time())
            if host(self._known(there)) != host(here):
                self._elsewhere |= self._passed(request) | {here}
            if len(self._moving) > MOST_GONE:
                self._forget(next(iter(self._moving)))

    def follow(self, request: Request) -> None:
        """Note that redirects are followed to this request, so that their end will be known."""
        self._elsewhere -= self._passed(request)

    def _passed(self, request: Request) -> set[str]:
        """The addresses, as they are known, that are moving and led to a request."""
        urls = request.meta.get("redirect_urls", ())
        return self._moving.keys() & set(map(self._known, urls))

    def _forget(self, here: str) -> tuple[str, int] | None:
        self._elsewhere.discard(here)
        return self._moving.pop(here, None)

    def note(self, response: Response, request: Request) -> None:
        """Note the addresses that this response, the last of its redirects, shows to be gone."""
        patience = _PATIENCE if response.status < 300 else 0.0
        is_answer = response.status < 400 or response.status in GONE
        self._end(response.url, request, is_answer=is_answer, patience=patience)
        if response.status in MOVED:  # and nobody follows
            moved = self._forget(self._known(request.url))
            if moved is not None:
                self._note(*moved)
        elif response.status in GONE and request.method == "GET" and "cached" not in response.flags:
            # What Scrapy's HTTP cache says may be long past.
            self._note(request.url, int(time.time()))

    def dropped(self, request: Request) -> None:
        """Note what led to a request that is not made, for its address was asked for already."""
        for passed in request.meta.get("redirect_urls", ()):
            self._leads[self._known(passed)] = self._known(request.url)
            if len(self._leads) > MOST_GONE:
                del self._leads[next(iter(self._leads))]
        self._end(request.url, request, patience=math.inf)

    def idle(self) -> None:
        """Note what led to other hosts that nobody asked, now that no request waits.

        Scrapy says nothing of requests that are not for its spider. Those that wait when a crawl
        ends before it is idle say nothing either.
        """
        for here in tuple(self._elsewhere):
            moved = self._forget(here)
            if moved is not None:
                self._note(*moved)

    def came(self, url: str) -> None:
        """Take an item of this address for what its page is known by."""
        here, now = self._known(url), time.monotonic()
        self._ended.pop(here, None)
        self._note_ended(lambda end, until: end == here or until < now)

    def _goes_round(self, here: str) -> bool:
        """Whether redirects from an address come back to where they came by, or lead to such ones;
        then nothing that leads there is gone.
        """
        passed: set[str] = set()
        while here in self._leads:
            if here in passed:
                return True
            passed.add(here)
            here = self._leads[here]
        return False

    def _end(
        self, url: str, request: Request, *, is_answer: bool = True, patience: float = 0.0
    ) -> None:
        """Note the addresses from which redirects led away, but not one that they led back to."""
        end = self._known(url)
        for passed in request.meta.get("redirect_urls", ()):
            here = self._known(passed)
            moved = self._forget(here)
            if not is_answer or moved is None or here == end:
                continue
            if not patience:
                self._note(*moved)
                continue
            self._ended[here] = end, moved, time.monotonic() + patience
            if len(self._ended) > _MOST_ENDED:
                self._note_moved(next(iter(self._ended)))

    def _note_ended(self, is_due: Callable[[str, float], bool]) -> None:
        """Note the addresses of redirects for whose pages' items nobody has to wait any longer."""
        due = [here for here, (end, _, until) in self._ended.items() if is_due(end, until)]
        for here in due:
            self._note_moved(here)

    def _note_moved(self, here: str) -> None:
        end, moved, _ = self._ended.pop(here)
        if not self._goes_round(end):
            self._note(*moved)

    def _note(self, url: str, since: int) -> None:
        if len(self.waiting) >= MOST_GONE and self._index is not None:  # a few, for it takes time
            self._index.keep_gone([self.waiting.popleft() for _ in range(MANY)])
        self._add((url, since))

    async def _tell(self, index: DuplicateIndex, found: tuple[str, int]) -> bool:
        return await index.gone(*found)

    def _url(self, found: tuple[str, int]) -> str:
        return found[0]

    def _keep(self) -> None:
        if self._index is not None:
            ended = (one for end, one, _ in self._ended.values() if not self._goes_round(end))
            self._index.keep_gone([*self._telling, *self.waiting, *ended])
