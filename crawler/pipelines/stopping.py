"""End a crawl so that the process's exit code says it failed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, ref

from scrapy import signals
from scrapy.extensions.feedexport import FeedExporter
from scrapy.signalmanager import SignalManager
from twisted.python.failure import Failure

from ..scrapy_versions import (
    after_stop,
    before_close,
    close_spider,
    create_looping_call,
    on_failed_closing,
)

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

SERVER_UNAVAILABLE = "dedup_server_unavailable"
NOT_WRITTEN = object()
"""Signal that an item cannot be written to a feed, with `item` and `response`."""

_POLL = 0.1  # seconds
_FAILED = "feedexport/failed_count/"

_watches: WeakKeyDictionary[Crawler, OutputWatch] = WeakKeyDictionary()


def fail_at_end(crawler: Crawler, when: Callable[[Crawler], object] = lambda _: True) -> None:
    """Let ``scrapy crawl`` exit with code 1 when this crawl is over, if `when` is true then.

    Scrapy exits with 0 after any clean close, and with 1 for a crawl without a spider. So the
    spider is removed after its last use: after the engine's call that ends the crawl, all signals,
    statistics and feeds.
    """

    def fail_at_exit() -> None:
        if when(crawler):
            crawler.spider = None

    after_stop(crawler, fail_at_exit)


def fail_at_start(crawler: Crawler) -> None:
    """Like :func:`fail_at_end`, but leave the feed files of the previous crawl alone.

    Scrapy opens them even if the crawl cannot begin, and empties those that it overwrites.
    """
    fail_at_end(crawler)
    exporter = crawler.get_extension(FeedExporter)
    if exporter is not None:
        crawler.signals.disconnect(exporter.open_spider, signal=signals.spider_opened)


class OutputWatch:
    """Notes what becomes of a crawl's feeds, whatever its statistics, and of its pipelines.

    Scrapy only logs it when an item cannot be written. On a disk that is full for a moment, that
    may also cost earlier items, so the crawl has failed. An item that has no form in the feed, as
    bytes in JSON, is lost alone, in every crawl.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = ref(crawler)  # not by the spider, which may not have it
        self._closed = 0
        self._failed_before = _count_failed(crawler)  # a collector may count several crawls
        self._has_missed_item = False
        self.has_failed_pipeline = False
        # Calls the exporter as Scrapy does, and nobody who hears that signal of all senders.
        self._feeds, self._passed_on = SignalManager(self), object()
        crawler.signals.connect(self._note_closed, signal=signals.feed_slot_closed)
        crawler.signals.connect(self._begin, signal=signals.spider_opened)
        # From now on, so before those who note that an item has passed, and forget it.
        crawler.signals.connect(self._export_item, signal=signals.item_scraped)

    def _begin(self) -> None:
        if (crawler := self._crawler()) is not None:
            on_failed_closing(crawler.engine, self._note_failed_pipeline)
            exporter = crawler.get_extension(FeedExporter)
            if exporter is None:
                return
            with suppress(KeyError):  # it may listen in a way of its own
                crawler.signals.disconnect(exporter.item_scraped, signal=signals.item_scraped)
                self._feeds.connect(exporter.item_scraped, signal=self._passed_on)

    def _export_item(self, sender: Crawler, **told: Any) -> Any:
        told.pop("signal")
        for _, result in self._feeds.send_catch_log(self._passed_on, **told):
            if not isinstance(result, Failure):
                return result  # of an exporter of the project, perhaps to be awaited
            if isinstance(result.value, OSError):
                self._has_missed_item = True
            else:
                lost = {"item": told["item"], "response": told["response"]}
                sender.signals.send_catch_log(NOT_WRITTEN, **lost)
        return None

    def _note_closed(self) -> None:
        self._closed += 1

    def _note_failed_pipeline(self) -> None:
        self.has_failed_pipeline = True

    def has_failed_feed(self, crawler: Crawler) -> bool:
        """Whether a feed or an item of one is missing: not stored, or the feed not even opened."""
        exporter = crawler.get_extension(FeedExporter)
        if exporter is None:
            return False
        if self._has_missed_item:
            return True
        due = 0
        for slot in exporter.slots:  # the last batch of each feed
            is_due = slot.itemcount or (slot.store_empty and slot.batch_id == 1)
            due += slot.batch_id - 1 + bool(is_due)
        return self._closed < due or _count_failed(crawler) > self._failed_before


def watch_output(crawler: Crawler) -> None:
    """Watch the output of a crawl from now on, for :func:`describe_loss`."""
    if crawler not in _watches:
        _watches[crawler] = OutputWatch(crawler)


def describe_loss(crawler: Crawler) -> str:
    """Why items of a crawl that is over may be in no output, as on a full disk; '' if they are.

    A pipeline may write its items only when it is closed.
    """
    watch = _watches.get(crawler) if crawler.engine else None
    if watch is None:
        return ""
    if watch.has_failed_feed(crawler):
        return "A feed could not be written"
    return "A pipeline failed when it was closed" if watch.has_failed_pipeline else ""


def _count_failed(crawler: Crawler) -> int:
    counts = crawler.stats.get_stats() if crawler.stats else {}
    return sum(int(counts[name]) for name in counts if _FAILED in name)


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
    """Lets a closing crawl end when all its items are through.

    Scrapy only checks for the end after each response. So it waits for ever if the last item came
    from the spider's start() and took as long as an answer of the index. It also continues with
    start(), even after the feeds are closed: such an item would be in the index alone. Scrapy
    cancels start() only at a shutdown, and here it is cancelled at every end.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._looking: Any = None
        crawler.signals.connect(self._begin_looking, signal=signals.spider_opened)
        crawler.signals.connect(self._end_looking, signal=signals.spider_closed)

    def _begin_looking(self) -> None:
        before_close(self._crawler.engine, self._end_start)
        self._looking = create_looping_call(self._look_for_end)
        self._looking.start(_POLL, now=False)

    def _end_start(self, starting: Any) -> None:
        if starting is None or starting is asyncio.current_task():  # which waits for the end itself
            return
        # Only once, because start() may have to tidy up. Scrapy 2.13 has a Deferred, which ignores
        # further calls.
        if not isinstance(starting, asyncio.Task) or not starting.cancelling():
            starting.cancel()

    def _end_looking(self) -> None:
        if self._looking is not None and self._looking.running:
            self._looking.stop()

    def _look_for_end(self) -> None:
        slot, spider = self._crawler.engine.scraper.slot, self._crawler.spider
        if spider and slot and slot.closing and slot.is_idle() and not slot.closing.called:
            slot.closing.callback(spider)
