"""Requests that a crawl is spared: they are left, and made after all if they are needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ...dedup.urls.parts import read_site
from .left_requests import LeftRequest, Why
from .novelty import NOWHERE, Found
from .site_keys import WANTED

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from .site_course import SiteCourse
    from .tally import Tally

FOUND_ON: Final = "dedup_found_on"
"""Key in the meta of a request that may be spared: the page that it was found on."""
CHECKS: Final = "dedup_checks"
"""Key in the meta of a request that is made to see whether rules still hold."""


def read_found_on(request: Request) -> Found:
    """The page that a request was found on."""
    return Found(*request.meta.get(FOUND_ON, NOWHERE))


class SparedRequests:
    """Leaves the requests that a crawl is spared, makes some of them after all, and counts both."""

    def __init__(self, crawler: Crawler, tally: Tally) -> None:
        self._crawler = crawler
        self._tally = tally
        self._made: set[str] = set()  # URLs of requests that were left and made after all

    def leave(self, course: SiteCourse, request: Request, reasons: tuple[str, ...]) -> None:
        """Remember a request that is not made, for these reasons."""
        unheeded = course.leave(request, reasons, read_found_on(request))
        self._tally.count_request(reasons)
        if unheeded is not None:
            self._tally.count_request(unheeded.reasons, -1)
        if reasons == (Why.FRUITLESS,) and not course.is_told:
            course.is_told = True
            self._tally.tell_fruitless(read_site(request.url), course.novelty.barren)

    def note_made(self, course: SiteCourse, url: str) -> None:
        """Note that a request is made, although one for its URL may have been left."""
        if (left := course.left.discard(url)) is not None:
            self._tally.count_request(left.reasons, -1)

    def make(self, back: list[LeftRequest], *, checks: bool = False) -> None:
        """Make requests that were left; `checks` if that is to see whether rules still hold."""
        engine: Any = self._crawler.engine
        for one in back:
            self._tally.count_request(one.reasons, -1)
            self._made.add(one.request.url)
            meta = {**one.request.meta, CHECKS: True} if checks else one.request.meta
            engine.crawl(one.request.replace(meta=meta))

    def take_made(self, url: str) -> bool:
        """Whether a request for a URL was left and is made after all; says so once for each."""
        is_made = url in self._made
        self._made.discard(url)
        return is_made

    def fetch_again(self, request: Request, url: str) -> None:
        """Fetch a URL once more, like a page that was requested before."""
        engine: Any = self._crawler.engine
        meta = {**request.meta, CHECKS: True, WANTED: url}
        engine.crawl(request.replace(url=url, dont_filter=True, priority=1, meta=meta))
