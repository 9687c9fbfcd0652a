"""The downloader middleware that makes no request whose page would be a copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from scrapy.exceptions import NotConfigured

from .sparing import Sparing

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response


class RequestMiddleware:
    """Lets requests wait for their turn, and notes what they lead to."""

    def __init__(self, sparing: Sparing) -> None:
        self._sparing = sparing

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Create it; raises :class:`NotConfigured` in a crawl that is spared nothing."""
        sparing = Sparing.of(crawler)
        if sparing is None:
            raise NotConfigured
        return cls(sparing)

    async def process_request(self, request: Request, spider: Any = None) -> None:
        """Let a request wait for its turn, or raise :class:`Spared`."""
        await self._sparing.admit_request(request)

    def process_response(
        self, request: Request, response: Response, spider: Any = None
    ) -> Response:
        """Note the response, and how long it took."""
        self._sparing.note_response(request, response)
        return response

    def process_exception(self, request: Request, exception: Exception, spider: Any = None) -> None:
        """Note that a request has failed."""
        self._sparing.end_request(request)
