"""Crawlers that share one queue of requests: docs/howto/many-crawlers.md shows the settings."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Self

from scrapy import signals
from scrapy.exceptions import DontCloseSpider

from .start_errors import name_setting

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

_SECONDS = 30.0


class StayOpen:
    """Extension that keeps an idle crawler open for a while.

    A queue that other crawlers fill may be empty for a moment: while the first pages are fetched,
    or while another crawler has taken the last request and will find links. The crawler closes
    after ``STAY_OPEN`` seconds without work, 30 by default. Scrapy checks the queue of an idle
    crawler every five seconds.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._last = monotonic()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read ``STAY_OPEN``."""
        with name_setting("STAY_OPEN", "a number of seconds"):
            extension = cls(crawler.settings.getfloat("STAY_OPEN", _SECONDS))
        for signal in (signals.spider_opened, signals.request_left_downloader):
            crawler.signals.connect(extension.busy, signal=signal)
        crawler.signals.connect(extension.idle, signal=signals.spider_idle)
        return extension

    def busy(self) -> None:
        """Note that there was work."""
        self._last = monotonic()

    def idle(self) -> None:
        """Keep the spider open, unless the time is up."""
        if monotonic() - self._last < self._seconds:
            raise DontCloseSpider
