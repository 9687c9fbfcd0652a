"""URLs that a crawl finds gone, until the index knows about them."""

from __future__ import annotations

import atexit
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin

from scrapy import signals
from w3lib.url import safe_url_string

from ..dedup.identity import host
from ..latest import Latest
from .reporting import MANY, Reporter

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from ..dedup.index import DuplicateIndex
    from .calls import Count, KnownUrl

# Status codes of URLs that have no page any more, and of permanent redirects.
GONE: Final = frozenset({404, 410})
MOVED: Final = frozenset({301, 308})
MOST_GONE: Final = 10_000  # URLs that are remembered while the server gives no answer
_ITEM_TIMEOUT: Final = 60.0  # seconds to wait for the item of the page where a redirect ends
_MOST_ENDED: Final = 1000  # redirects that wait for the item of their target


@dataclass(slots=True)
class _Redirect:
    """A URL that redirects permanently.

    ``leaves`` means that it leads to another host, which has not been requested. ``end`` is its
    target, once known, and the item of that page is awaited until ``until``.
    """

    url: str
    since: int
    leaves: bool = False
    end: str = ""
    until: float = 0.0


class GoneUrls(Reporter[tuple[str, int]]):
    """Notes URLs that no longer have a page, and reports them with the next page.

    A URL is gone if it answers 404 or 410, or if it redirects permanently, in one or more steps, to
    a page at another URL, or to a host that is not crawled. It is not gone if the redirects end in
    an error, lead back, as on a detour that sets a cookie, or go in a circle. If they end at a
    page, its item is awaited, because that may name the old URL.

    A report has the URL and the time at which it was found gone, in seconds since 1970. URLs have
    the form by which the index knows them. `note` is called with each URL that is found gone.
    """

    statistic = "dedup/gone"
    what = "gone"

    def __init__(
        self,
        known: KnownUrl,
        count: Count,
        note: Callable[[str], None] = lambda url: None,
    ) -> None:
        super().__init__(count)
        self._known = known
        self._note = note
        # Redirects whose target is not known yet.
        self._open: Latest[str, _Redirect] = Latest(MOST_GONE)
        self._ended: dict[str, _Redirect] = {}  # redirects that wait for the item of their target
        # URLs → the URL that they redirect to, permanently or not, and that was requested before.
        self._leads: Latest[str, str] = Latest(MOST_GONE)

    def connect_signals(self, crawler: Crawler) -> None:
        """Watch the responses of a crawl, whatever its spider does with them."""
        crawler.signals.connect(self.note_redirect, signal=signals.response_downloaded)
        crawler.signals.connect(self.note_followed, signal=signals.request_reached_downloader)
        crawler.signals.connect(self.note_response, signal=signals.response_received)
        crawler.signals.connect(self.note_dropped, signal=signals.request_dropped)
        crawler.signals.connect(self.end_waiting, signal=signals.spider_idle)

    def report_to(self, index: DuplicateIndex) -> None:
        """Report to *index* from now on, so that copies can replace pages that are gone."""
        super().report_to(index)
        atexit.register(self._keep_found)  # Scrapy's forced stop closes no spider

    async def report_all(self) -> None:
        """Report everything that was found, because no more items will come."""
        self._stop_waiting(lambda redirect: True)
        await self.report_found()

    async def report_rest(self) -> None:
        """Report what is left; reports without an answer go to the spool."""
        await self.report_all()
        self._keep_found()
        atexit.unregister(self._keep_found)

    def note_redirect(self, response: Response, request: Request) -> None:
        """Note a URL that this response redirects permanently."""
        to = response.headers.get("Location")
        if response.status not in MOVED or to is None or request.method != "GET":
            return
        try:
            there = self._known(urljoin(request.url, safe_url_string(to)))
        except ValueError:  # not a URL, such as "http://["
            return
        here = self._known(request.url)
        if there == here:
            return
        self._open[here] = _Redirect(request.url, int(time.time()))
        if host(there) != host(here):
            for redirect in (self._open[here], *self._open_before(request)):
                redirect.leaves = True

    def note_followed(self, request: Request) -> None:
        """Note that redirects are followed to this request, so their end will be known."""
        for redirect in self._open_before(request):
            redirect.leaves = False

    def note_response(self, response: Response, request: Request) -> None:
        """Note the URLs that this response, at the end of its redirects, shows to be gone."""
        if response.status < 300:
            self._end_redirects(request, response.url, wait=_ITEM_TIMEOUT)
        elif response.status < 400 or response.status in GONE:
            self._end_redirects(request, response.url, wait=0.0)
        else:
            self._end_redirects(request, None)
        if response.status in MOVED:  # a redirect that is not followed
            redirect = self._open.pop(self._known(request.url), None)
            if redirect is not None:
                self._note_gone(redirect.url, redirect.since)
        elif response.status in GONE and request.method == "GET" and "cached" not in response.flags:
            # A response from Scrapy's HTTP cache may be old.
            self._note_gone(request.url, int(time.time()))

    def note_dropped(self, request: Request) -> None:
        """Note redirects to a request that is not made because its URL was requested before."""
        for passed in _passed_urls(request):
            self._leads[self._known(passed)] = self._known(request.url)
        self._end_redirects(
            request, request.url, wait=math.inf
        )  # its item may have come already, or not

    def end_waiting(self) -> None:
        """Note redirects to hosts that were not requested, now that no request is waiting.

        Scrapy does not report requests that are not for its spider. Redirects that wait when a
        crawl ends before it is idle are not reported, either.
        """
        for here in [here for here, redirect in self._open.items() if redirect.leaves]:
            redirect = self._open.pop(here)
            self._note_gone(redirect.url, redirect.since)

    def note_item(self, url: str) -> None:
        """Note that the item of this URL has come."""
        here, now = self._known(url), time.monotonic()
        self._ended.pop(here, None)
        self._stop_waiting(lambda redirect: redirect.end == here or redirect.until < now)

    def _open_before(self, request: Request) -> list[_Redirect]:
        """The redirects that led to a request and whose target is not known yet."""
        passed = map(self._known, _passed_urls(request))
        return [self._open[here] for here in passed if here in self._open]

    def _end_redirects(self, request: Request, url: str | None, wait: float = 0.0) -> None:
        """Note the target of the redirects that led to a request; None if they end in an error."""
        passed = _passed_urls(request)
        if not passed:  # like most requests
            return
        end = self._known(url) if url is not None else None
        for here in map(self._known, passed):
            redirect = self._open.pop(here, None)
            if redirect is None or end is None or here == end:
                continue
            redirect.end, redirect.until = end, time.monotonic() + wait
            self._ended[here] = redirect
            if len(self._ended) > _MOST_ENDED:
                self._note_ended(next(iter(self._ended)))

    def _stop_waiting(self, is_due: Callable[[_Redirect], bool]) -> None:
        """Note the redirects that need not wait for the item of their target any longer."""
        for here in [here for here, redirect in self._ended.items() if is_due(redirect)]:
            self._note_ended(here)

    def _note_ended(self, here: str) -> None:
        redirect = self._ended.pop(here)
        if not self._goes_round(redirect.end):
            self._note_gone(redirect.url, redirect.since)

    def _goes_round(self, here: str) -> bool:
        """Whether redirects from a URL lead into a circle, so that none of its URLs is gone."""
        passed: set[str] = set()
        while here in self._leads and here not in passed:
            passed.add(here)
            here = self._leads[here]
        return here in passed

    def _note_gone(self, url: str, since: int) -> None:
        if len(self.waiting) >= MOST_GONE and self._index is not None:  # only some: it takes time
            self._index.keep_gone([self.waiting.popleft() for _ in range(MANY)])
        self._add_found((url, since))
        self._note(url)

    async def _send_report(self, index: DuplicateIndex, found: tuple[str, int]) -> bool:
        return await index.gone(*found)

    def _url_of(self, found: tuple[str, int]) -> str:
        return found[0]

    def _keep_found(self) -> None:
        if self._index is not None:
            ended = [
                (redirect.url, redirect.since)
                for redirect in self._ended.values()
                if not self._goes_round(redirect.end)
            ]
            self._index.keep_gone([*self._sending, *self.waiting, *ended])


def _passed_urls(request: Request) -> list[str]:
    """The URLs that redirected to a request."""
    urls: list[str] = request.meta.get("redirect_urls", [])
    return urls
