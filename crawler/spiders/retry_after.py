"""Waiting as long as servers ask to that refuse requests for a while."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Final, Self

from scrapy import signals
from scrapy.downloadermiddlewares.retry import RetryMiddleware
from scrapy.utils.httpobj import urlparse_cached

from ..scrapy_versions import before_close, is_asyncio_available

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

_REFUSING: Final = frozenset({429, 503})
_LONGEST: Final = 60  # seconds; longer waits would hold up the crawl of all other sites
# So many refusals in a row, and requests to that host wait no more until one that has waited
# succeeds: a site that blocks the crawler should not cost a wait for each page. Scrapy has 16
# requests under way.
_MOST: Final = 100
_TRIES: Final = 10  # of a request that waits: after a wait, those that are first use up the limit
_WAITED: Final = "site_waited"  # in the meta of a request


class RetryAfterMiddleware(RetryMiddleware):
    """Scrapy's middleware, but a refused request waits as long as the header Retry-After asks.

    Scrapy retries at once, so that of a site with a limit most pages were lost. Requests that wait
    count as under way, so that soon no others are made. At the end of the crawl no wait goes on.
    """

    def __init__(self, settings: BaseSettings) -> None:
        super().__init__(settings)
        self._refused: Counter[str] = Counter()  # by host
        self._ends = asyncio.Event()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware; it has no part in a crawl without retries."""
        middleware = super().from_crawler(crawler)

        def watch_end() -> None:
            before_close(crawler.engine, lambda _: middleware._ends.set())

        crawler.signals.connect(watch_end, signal=signals.spider_opened, weak=False)
        return middleware

    async def process_response(  # type: ignore[override]
        self, request: Request, response: Response, **others: Any
    ) -> Request | Response:
        """Return the response, or after a while the request that repeats a refused one."""
        host = urlparse_cached(request).netloc
        if response.status in _REFUSING & self.retry_http_codes:
            self._refused[host] += 1
            wait = seconds_of((response.headers.get(b"Retry-After") or b"").decode("latin-1"))
            if 0 < wait <= _LONGEST and self._refused[host] <= _MOST and is_asyncio_available():
                tries = request.meta.get("max_retry_times", self.max_retry_times)
                request.meta.update({_WAITED: True, "max_retry_times": max(tries, _TRIES)})
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._ends.wait(), wait)
        elif request.meta.get(_WAITED):
            del self._refused[host]
        return super().process_response(request, response, **others)


def seconds_of(header: str) -> float:
    """How long the header Retry-After asks to wait: seconds, or a date; 0 if it is neither.

    >>> seconds_of("120"), seconds_of("Wed, 21 Oct 2015 07:28:00 GMT") < 0, seconds_of("soon")
    (120.0, True, 0.0)
    >>> seconds_of("Wed, 21 Oct 99999999999 07:28:00 GMT")
    0.0
    """
    header = header.strip()[:100]
    if header.isdecimal():
        return float(header)
    with suppress(ValueError, OverflowError):
        date = parsedate_to_datetime(header)
        return date.timestamp() - time.time()
    return 0.0
