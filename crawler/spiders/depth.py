"""The pages from which no links are followed, because they are too far from the start."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING

from scrapy import signals

from ..wording import counted

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from .links import NewLinks

logger = logging.getLogger(__name__)


class DepthLimit:
    """Applies DEPTH_LIMIT, and tells at the end how many URLs it left out.

    `links` are those that are followed. A URL on a page at the limit may also be on a page that is
    nearer to the start, before or later, or a redirect may lead there; it does not count then.
    """

    def __init__(self, crawler: Crawler, links: NewLinks) -> None:
        self._limit = crawler.settings.getint("DEPTH_LIMIT")
        self._links = links
        self._left_out: set[int] = set()  # hashes of URLs
        self._led_to: set[int] = set()  # the same, of redirects
        crawler.signals.connect(self.note_request, signal=signals.request_scheduled)
        crawler.signals.connect(self.tell_at_end, signal=signals.spider_closed)

    def allows_links(self, response: Response) -> bool:
        """Whether links of the response may be followed; only such links are remembered as met."""
        return not self._limit or response.meta.get("depth", 0) < self._limit

    def note_request(self, request: Request) -> None:
        """Note where a redirect leads."""
        if self._limit and request.meta.get("redirect_urls"):
            self._led_to.add(hash(request.url))

    def leave_out(self, urls: Iterable[str]) -> None:
        """Note URLs on a page at the limit."""
        self._left_out.update(map(hash, urls))

    def tell_at_end(self, reason: str) -> None:
        """Log how many URLs are only on pages at the limit: their texts are in no item."""
        left = len(self._left_out - self._links.urls - self._led_to)
        if reason == "finished" and left:
            logger.warning(
                "Not requested in this run: %s, more than %s away from the start "
                "(DEPTH_LIMIT; -s DEPTH_LIMIT=0 follows all links)",
                counted(left, "URL", "URLs"),
                counted(self._limit, "link", "links"),
            )
