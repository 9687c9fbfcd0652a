"""End a crawl so that the process's exit code says it failed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.extensions.feedexport import FeedExporter

from ..scrapy_versions import after_stop, before_close, close_spider, create_looping_call

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

SERVER_UNAVAILABLE = "dedup_server_unavailable"
_POLL = 0.1  # seconds


def fail_at_end(crawler: Crawler) -> None:
    """Let ``scrapy crawl`` exit with code 1 when this crawl is over, however it ends.

    Scrapy closes a spider cleanly for any reason with exit code 0 and keeps 1 for a crawl that has
    no spider. So the spider is taken away after the last one who may ask for it: the engine's call
    that ends the crawl, after all signals, statistics and feeds.
    """

    def fail_at_exit() -> None:
        crawler.spider = None

    after_stop(crawler, fail_at_exit)


def fail_at_start(crawler: Crawler) -> None:
    """Like :func:`fail_at_end`, but leave the feed files of the crawl before alone.

    Scrapy opens them even if the crawl cannot begin, and empties those that it overwrites.
    """
    fail_at_end(crawler)
    exporter = crawler.get_extension(FeedExporter)
    if exporter is not None:
        crawler.signals.disconnect(exporter.open_spider, signal=signals.spider_opened)


class Stopper:
    """Closes the spider of a crawl once, with the reason and exit code of a failure."""

    def __init__(self, crawler: Crawler, reason: str = SERVER_UNAVAILABLE) -> None:
        self._crawler = crawler
        self._reason = reason
        self._task: asyncio.Task[None] | None = None

    def __call__(self) -> None:
        """Begin to close; items under way still go through."""
        if self._task is None:
            fail_at_end(self._crawler)
            # Not awaited: closing waits for the very item whose pipeline asks for it.
            self._task = asyncio.create_task(self._close_spider())

    async def _close_spider(self) -> None:
        await close_spider(self._crawler.engine, self._reason)


class Ending:
    """Lets a crawl that is closing end when all its items are through.

    Scrapy looks whether they are after each response, and so waits for ever if the last one came
    from the spider's start() instead, and took as long as an answer of the index takes. And it goes
    on with start(), maybe for ever, also when the feeds are closed: such an item would be kept in
    the index alone. Only its shutdown cancels start(), as is done here whatever ends a crawl.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._looking: Any = None

    def connect_signals(self) -> None:
        """Look from when the spider is opened until it is closed."""
        self._crawler.signals.connect(self._begin_looking, signal=signals.spider_opened)
        self._crawler.signals.connect(self._end_looking, signal=signals.spider_closed)

    def _begin_looking(self) -> None:
        before_close(self._crawler.engine, self._end_start)
        self._looking = create_looping_call(self._look_for_end)
        self._looking.start(_POLL, now=False)

    def _end_start(self, starting: Any) -> None:
        if starting is None or starting is asyncio.current_task():  # which waits for the end itself
            return
        # Once, for it may have to tidy up. Scrapy 2.13 has a Deferred, which sees to that itself.
        if not isinstance(starting, asyncio.Task) or not starting.cancelling():
            starting.cancel()

    def _end_looking(self) -> None:
        if self._looking is not None and self._looking.running:
            self._looking.stop()

    def _look_for_end(self) -> None:
        slot, spider = self._crawler.engine.scraper.slot, self._crawler.spider
        if spider and slot and slot.closing and slot.is_idle() and not slot.closing.called:
            slot.closing.callback(spider)
