"""The index of a crawl: opened before the first page, told what is found, closed in the end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Final

from scrapy import signals

from ..dedup.archive.writer import ArchiveWriter
from ..dedup.errors import DedupError, ServerError
from ..dedup.index import DuplicateIndex
from ..dedup.store.server.connect import server_name
from ..scrapy_versions import start_failure
from ..start_errors import mark_told
from ..wording import counted
from .crawl.course import Course
from .failures import Failures
from .gone import GoneUrls
from .reporting import LEFT_OUT, LeftOut
from .resetting import reset_if_asked
from .spared.sparing import Sparing
from .stopping import SERVER_UNAVAILABLE
from .unchecked import Unchecked

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from ..chrome import SharedTemplate
    from ..dedup.config import DedupConfig
    from .calls import Count, TemplateOf, UrlsOf

logger = logging.getLogger(__name__)

_SHORT_TTL: Final = 3600.0  # seconds; less may have been meant in days


class CrawlIndex:
    """An index, its archive, and all that a crawl tells them beside its pages.

    `fail` ends the crawl as failed, if the index cannot be opened. ``opened`` is the index, None
    before it is open, and ``archive`` where pages are kept for reports, None if they are not.
    """

    def __init__(
        self,
        config: DedupConfig,
        count: Count,
        fail: Callable[[], None],
        template: TemplateOf,
        urls: UrlsOf,
    ) -> None:
        self.opened: DuplicateIndex | None = None
        self.archive: ArchiveWriter | None = None
        self.failures = Failures(count)
        self.left_out = LeftOut(count)
        self.course = Course(config, count, template, urls, self.left_out.note_now)
        self.gone = GoneUrls(config.identity, count, self.course.note_gone)
        self.sparing: Sparing | None = None
        self._config = config
        self._fail = fail
        self._unchecked = Unchecked(count)
        self._resources = AsyncExitStack()
        self._under_way = 0  # items in the pipeline, and the opening of the index
        self._idle = asyncio.Event()  # set while nothing is under way
        self._idle.set()
        self._will_stop = False  # Scrapy tells when the feeds are written

    def connect_signals(self, crawler: Crawler) -> None:
        """Follow a crawl."""
        crawler.signals.connect(self._note_started, signal=signals.engine_started)
        crawler.signals.connect(self._end_crawl, signal=signals.engine_stopped)
        self.gone.connect_signals(crawler)
        self.left_out.connect_signals(crawler)
        crawler.signals.connect(self.course.note_gone, signal=LEFT_OUT)
        self.course.connect_signals(crawler)
        self.sparing = Sparing.of(crawler)
        if self.sparing is not None:
            self.course.again.make_left = self.sparing.make_left

    @contextmanager
    def note_work(self) -> Iterator[None]:
        """Count something as under way, so that closing the index waits for its end."""
        self._under_way += 1
        self._idle.clear()
        try:
            yield
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._idle.set()

    async def open(self) -> None:
        """Open the index. If that fails, the crawl ends, and the log says what to do."""
        with self.note_work():
            index = await self._open_index()
            self.gone.report_to(index)
            self.left_out.report_to(index)
            # Now, because an earlier crawl's texts must not come after those of this crawl.
            await self._unchecked.replay_unchecked(index)
            # `scrapy shell` has started the engine before: it checks no page, and never stops.
            await self.course.use_index(index, self.report_found, begins=not self._will_stop)
            if self.sparing is not None:
                self.sparing.open(index)

    async def _open_index(self) -> DuplicateIndex:
        try:
            await reset_if_asked(self._config)
            opening = DuplicateIndex.open(self._config, spool=True)
            self.opened = index = await self._resources.enter_async_context(opening)
            self.archive = ArchiveWriter.of(self._config, index.digest)
        except DedupError as error:
            logger.error("%s", error)
            mark_told(error)
            self._fail()
            unavailable = isinstance(error, ServerError)
            reason = SERVER_UNAVAILABLE if unavailable else "dedup_not_opened"
            raise start_failure(error, reason) from None
        with suppress(ServerError):  # the first page logs the error, and passes
            kept = sum(state.get("kept", 0) for state in await index.store.read_states())
            place = server_name(self._config)
            logger.info("Index %r, %s: %s", self._config.namespace, place, counted(kept, "page"))
        if self._config.ttl and self._config.ttl < _SHORT_TTL:
            logger.warning(
                "DEDUP_TTL is %g seconds: pages that no crawl sees again in that time expire. For "
                "longer, name a unit, such as 30d",
                self._config.ttl,
            )
        return index

    async def report_found(self, is_all: bool) -> None:
        """Send the crawl's reports to the index; `is_all` says that all responses have come."""
        await (self.gone.report_all() if is_all else self.gone.report_found())
        await self.left_out.report_found()
        if self.opened is not None:
            await self.failures.report_to(self.opened)

    async def meet_template(self, url: str, template: SharedTemplate) -> None:
        """Load what the index knows about the template of a page's site."""
        if self.opened is None:
            return
        try:
            await self.opened.meet(url, template)
        except Exception as error:  # spiders call this, too, and would lose the page
            if self.failures.is_news(error):
                logger.exception("Could not use the template of %r from the index", url)

    def _note_started(self) -> None:
        self._will_stop = True

    async def close(self) -> bool:
        """Close the index when nothing is under way; return whether it was open.

        The crawl has ended for the index only when all feeds are written. Until then it stays open.
        """
        # `scrapy parse` does not wait for its items. Neither does a crawl wait for this pipeline if
        # it ends because another one fails to open.
        await self._idle.wait()
        if self.opened is None:
            return False
        await self.left_out.report_found()
        await self.gone.report_rest()
        await self.course.finish_crawl()
        if self.sparing is not None:
            await self.sparing.close()
        await self._unchecked.replay_unchecked(self.opened)
        await self.failures.report_to(self.opened)
        if self.archive is not None:
            await asyncio.to_thread(self.archive.close)
        if not self._will_stop:  # the crawl could not begin
            await self._end_crawl()
        return True

    async def _end_crawl(self) -> None:
        await self.course.end_crawl()
        try:
            await self._resources.aclose()
        except Exception:
            logger.warning("The index could not be closed properly", exc_info=True)
