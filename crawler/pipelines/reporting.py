"""Reports about URLs that a crawl makes to the index."""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections import deque
from typing import TYPE_CHECKING, ClassVar, Final, Generic, TypeVar

from ..dedup.errors import ServerError

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from ..dedup.index import DuplicateIndex
    from .calls import Count

logger = logging.getLogger(__name__)

Found = TypeVar("Found")

MANY: Final = 128  # reports that are sent even if no page comes
LEFT_OUT: Final = object()
"""Signal of a spider: the page at `url` must not become an item."""

MOST_LEFT_OUT: Final = 10_000  # URLs that are remembered while the server gives no answer


class Reporter(ABC, Generic[Found]):
    """Sends reports to the index with the next page, or without one if there are many.

    Reports without an answer are sent again with the next page.
    """

    statistic: ClassVar[str]  # counts the reports that changed the index
    what: ClassVar[str]  # the URLs are, for the log

    def __init__(self, count: Count) -> None:
        self.waiting: deque[Found] = deque()
        self._count = count
        self._index: DuplicateIndex | None = None
        self._sending: list[Found] = []  # reports that are being sent
        self._unanswered = False
        self._reporting = asyncio.Lock()
        self._report: asyncio.Future[None] | None = None

    def report_to(self, index: DuplicateIndex) -> None:
        """Report to *index* from now on."""
        self._index = index

    @abstractmethod
    async def _send_report(self, index: DuplicateIndex, found: Found) -> bool:
        """Send a report to the index; return whether it changed something."""

    @abstractmethod
    def _url_of(self, found: Found) -> str:
        """The URL that a report is about."""

    def _add_found(self, found: Found) -> None:
        self.waiting.append(found)
        if len(self.waiting) % MANY == 0:
            self._report_soon()

    def _report_soon(self) -> None:
        if self._report is None or self._report.done():
            self._report = asyncio.ensure_future(self.report_found())

    async def report_found(self) -> None:
        """Send the waiting reports, as far as the index answers.

        The page with which they are sent is checked even if they fail.
        """
        if self._index is None:
            return
        async with self._reporting:  # no page overtakes earlier reports
            while self.waiting:
                # After a failure, one report tries for all, because there may be thousands.
                count = 1 if self._unanswered else len(self.waiting)
                told = self._sending = [self.waiting.popleft() for _ in range(count)]
                asked = (self._send_report(self._index, found) for found in told)
                try:
                    known = await asyncio.gather(*asked, return_exceptions=True)
                except asyncio.CancelledError:  # a report that is sent twice does no harm
                    self.waiting.extendleft(reversed(told))
                    raise
                finally:
                    self._sending = []
                self._unanswered = False
                for found, answer in zip(told, known, strict=True):
                    self._take_answer(found, answer)
                if self._unanswered:
                    return

    def _take_answer(self, found: Found, answer: bool | BaseException) -> None:
        if isinstance(answer, ServerError):
            self.waiting.append(found)
            self._unanswered = True
        elif isinstance(answer, BaseException):
            # A report that fails must not harm the page with which it is sent.
            self._count(f"dedup/errors/{type(answer).__name__}")
            url = self._url_of(found)
            logger.error("Could not record that %r is %s", url, self.what, exc_info=answer)
        elif answer:
            self._count(self.statistic)


class LeftOut(Reporter[str]):
    """Lets the index forget pages that a spider leaves out.

    Such a page would otherwise stand for its copies for ever, and its text would be in no page of
    the crawl. Reports without an answer at the end of a crawl are made again by the next one.
    """

    statistic = "dedup/left_out"
    what = "left out"

    def __init__(self, count: Count) -> None:
        super().__init__(count)
        self._has_warned = False

    def connect_signals(self, crawler: Crawler) -> None:
        """Listen to the spider of a crawl."""
        crawler.signals.connect(self.note_url, signal=LEFT_OUT)

    def note_url(self, url: str) -> None:
        """Note the URL of a page that is left out."""
        if len(self.waiting) < MOST_LEFT_OUT:
            self._add_found(url)
        elif not self._has_warned:
            self._has_warned = True
            logger.warning(
                "%d URLs that are left out wait until the index answers; more are "
                "reported when a crawl meets them again",
                MOST_LEFT_OUT,
            )

    def note_now(self, url: str) -> None:
        """Note a page that is left out, and report it at once: others may drop copies of it."""
        self.note_url(url)
        self._report_soon()

    async def _send_report(self, index: DuplicateIndex, found: str) -> bool:
        return await index.leave_out(found)

    def _url_of(self, found: str) -> str:
        return found
