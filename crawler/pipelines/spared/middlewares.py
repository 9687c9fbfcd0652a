"""The middlewares of spider and downloader that requests pass."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, Self

from itemadapter import ItemAdapter
from scrapy import Request
from scrapy.exceptions import NotConfigured

from .sparing import Sparing

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response


_MOST_HELD: Final = 10_000  # requests of one response


class _Middleware:
    def __init__(self, sparing: Sparing) -> None:
        self._sparing = sparing

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Create it; raises :class:`NotConfigured` in a crawl that is spared nothing."""
        sparing = Sparing.of(crawler)
        if sparing is None:
            raise NotConfigured
        return cls(sparing)


class LinkMiddleware(_Middleware):
    """Spider middleware that puts off requests whose pages may be copies.

    Requests are passed on when all those of a response are known. Otherwise another page that is
    read meanwhile would seem to be the first with such a link.
    """

    def process_spider_output(
        self, response: Response, result: Iterable[Any], spider: Any = None
    ) -> Iterator[Any]:
        """Pass on what a callback returned or yielded."""
        turn = _Turn(self._sparing, response)
        try:
            for found in result:
                yield from turn.take(found)
        except Exception:
            yield from turn.hand_over()
            raise
        finally:
            self._sparing.end(response)
        yield from turn.hand_over()

    async def process_spider_output_async(
        self, response: Response, result: AsyncIterator[Any], spider: Any = None
    ) -> AsyncIterator[Any]:
        """Pass on what an asynchronous callback yielded, requests once the verdict is known."""
        turn = _Turn(self._sparing, response)
        try:
            async for found in result:
                if isinstance(found, Request):
                    await turn.visit.settled()
                for one in turn.take(found):
                    yield one
        except Exception:
            for one in turn.hand_over():
                yield one
            raise
        finally:
            self._sparing.end(response)
        for one in turn.hand_over():
            yield one

    def process_spider_exception(
        self, response: Response, exception: Exception, spider: Any = None
    ) -> None:
        """Note that the callback of a response has failed."""
        self._sparing.end(response)


class _Turn:
    """Takes what the callback of one response yields."""

    def __init__(self, sparing: Sparing, response: Response) -> None:
        self.visit = sparing.visit(response)
        self._sparing = sparing
        self._response = response
        self._held: list[Request] = []

    def take(self, found: Any) -> Iterator[Any]:
        if isinstance(found, Request):
            passed = self._sparing.meet(found, self._response, self.visit)
            if passed is not None:
                self._held.append(passed)
            if len(self._held) < _MOST_HELD:
                return
        yield from self.hand_over()
        if not isinstance(found, Request):
            if ItemAdapter.is_item(found):
                self.visit.expect()
            yield found

    def hand_over(self) -> Iterator[Request]:
        held, self._held = self._held, []
        return iter(held)


class RequestMiddleware(_Middleware):
    """Downloader middleware that makes no request whose page would be a copy."""

    async def process_request(self, request: Request, spider: Any = None) -> None:
        """Let a request wait for its turn, or raise :class:`Spared`."""
        await self._sparing.admit(request)

    def process_response(
        self, request: Request, response: Response, spider: Any = None
    ) -> Response:
        """Note the response, and how long it took."""
        self._sparing.note_response(request, response)
        return response

    def process_exception(self, request: Request, exception: Exception, spider: Any = None) -> None:
        """Note that a request has failed."""
        self._sparing.land(request)
