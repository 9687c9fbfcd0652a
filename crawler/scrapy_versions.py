"""Differences between Scrapy 2.13 and later versions; no other file handles them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

import scrapy.crawler
from scrapy.exceptions import CloseSpider
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from twisted.internet.threads import deferToThread

if TYPE_CHECKING:
    from scrapy.core.engine import ExecutionEngine
    from scrapy.crawler import Crawler

T = TypeVar("T")

try:
    from scrapy.utils.asyncio import create_looping_call, is_asyncio_available
except ImportError:  # before Scrapy 2.14
    from scrapy.utils.reactor import is_asyncio_reactor_installed, is_reactor_installed
    from twisted.internet.task import LoopingCall as create_looping_call  # type: ignore[assignment]

    def is_asyncio_available() -> bool:
        """Whether there is a loop of asyncio, Twisted's or another."""
        if is_reactor_installed():
            return is_asyncio_reactor_installed()
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return False
        return True


try:
    from scrapy.utils.asyncio import run_in_thread
except ImportError:  # before Scrapy 2.15

    async def run_in_thread(  # type: ignore[misc]
        func: Callable[..., T], *args: Any, **kwargs: Any
    ) -> T:
        """Call a function in a thread."""
        if is_asyncio_available():
            return await asyncio.to_thread(func, *args, **kwargs)
        return await maybe_deferred_to_future(deferToThread(func, *args, **kwargs))


__all__ = [
    "SHARES_ROBOTS",
    "adapt_pipeline",
    "after_stop",
    "before_close",
    "close_spider",
    "create_looping_call",
    "ignores_start_requests",
    "is_asyncio_available",
    "look_for_requests",
    "on_failed_closing",
    "run_in_thread",
    "start_failure",
]

_HAS_COROUTINES = hasattr(scrapy.crawler.Crawler, "stop_async")  # since Scrapy 2.14
# Before, all requests that wait for a robots.txt obey it.
SHARES_ROBOTS = not _HAS_COROUTINES
# Newer versions end a crawl with the reason; older ones pass any exception on, with a traceback.
_TAKES_CLOSE_SPIDER = hasattr(scrapy.crawler, "CloseSpider")


def adapt_pipeline(pipeline: Any) -> None:
    """Let Scrapy 2.13, which only waits for Deferreds, wait for a pipeline to open and close."""
    if _HAS_COROUTINES:
        return
    for name in ("open_spider", "close_spider"):
        method = getattr(pipeline, name)
        setattr(pipeline, name, lambda spider, of=method: deferred_from_coro(of()))


def ignores_start_requests(spider: type[scrapy.Spider]) -> bool:
    """Whether a spider only has ``start_requests()``, which this Scrapy does not call.

    Spiders of scrapy-redis take their requests when they are idle, and do not count.
    """
    is_called = hasattr(scrapy.Spider, "start_requests")  # since Scrapy 2.16 it is not
    begins = hasattr(spider, "start_requests") and spider.start is scrapy.Spider.start
    return begins and not is_called and not hasattr(spider, "redis_key")


def start_failure(error: Exception, reason: str) -> Exception:
    """The exception with which a pipeline that cannot open ends the crawl."""
    return CloseSpider(reason) if _TAKES_CLOSE_SPIDER else error


def after_stop(crawler: Crawler, action: Callable[[], None]) -> None:
    """Run an action after the crawl, its signals, statistics and feeds."""
    if _HAS_COROUTINES:
        stop = crawler.stop_async

        async def stop_and_act() -> None:
            await stop()
            action()

        crawler.stop_async = stop_and_act  # type: ignore[method-assign]
        return
    stop_with_twisted: Any = crawler.stop

    def finish(result: Any) -> Any:
        action()
        return result

    crawler.stop = lambda: stop_with_twisted().addBoth(finish)  # type: ignore[method-assign]


async def close_spider(engine: ExecutionEngine, reason: str) -> None:
    """Close the spider of a crawl, if it is open."""
    spider: Any = engine.spider
    if spider is None:
        return
    if _HAS_COROUTINES:
        await engine.close_spider_async(reason=reason)
    else:
        await maybe_deferred_to_future(engine.close_spider(spider, reason))


def before_close(engine: Any, action: Callable[[Any], None]) -> None:
    """Call `action` before a spider closes, with the loop over its ``start()``.

    The loop is None if it has ended.
    """
    if _HAS_COROUTINES:
        close: Callable[..., Awaitable[None]] = engine.close_spider_async

        async def act_and_close(*, reason: str = "cancelled") -> None:
            action(getattr(engine, "_start_request_processing_awaitable", None))
            await close(reason=reason)

        engine.close_spider_async = act_and_close
        return
    close_with_twisted = engine.close_spider

    def act_and_close_with_twisted(spider: Any, reason: str = "cancelled") -> Any:
        starting = getattr(engine, "_start_request_processing_dfd", None)
        if starting is None:  # as in 2.13.0, which goes on as long as there is a start()
            engine._start = None
        action(starting)
        return close_with_twisted(spider, reason)

    engine.close_spider = act_and_close_with_twisted


def on_failed_closing(engine: Any, action: Callable[[], None]) -> None:
    """Call `action` if a pipeline fails when it is closed, which Scrapy only logs."""
    scraper = engine.scraper
    if _HAS_COROUTINES:
        close: Callable[[], Awaitable[None]] = scraper.close_spider_async

        async def close_or_act() -> None:
            try:
                await close()
            except Exception:
                action()
                raise

        scraper.close_spider_async = close_or_act
        return
    close_with_twisted = scraper.close_spider

    def act(failure: Any) -> Any:
        action()
        return failure

    scraper.close_spider = lambda *args: close_with_twisted(*args).addErrback(act)


def look_for_requests(engine: Any) -> None:
    """Let an idle engine check at once for requests, or whether its spider is idle.

    Otherwise it does so every five seconds.
    """
    slot = getattr(engine, "_slot", None)
    if slot is not None:
        slot.nextcall.schedule()
