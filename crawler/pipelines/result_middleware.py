"""Passes on what callbacks yield: items with their origins, requests when they are known."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, Self

from itemadapter import ItemAdapter
from scrapy import Request

from .item_pages.origins import ItemsOfResponse
from .spared.sparing import Sparing
from .spared.visits import Visit

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

_MOST_HELD: Final = 10_000  # requests of one response


class ResultMiddleware:
    """Spider middleware that notes the response of each item, and puts off possible copies.

    An item that needs its response is held back until the next item comes or the callback ends:
    only then is it known whether it is alone. Items stay in order. If requests are
    spared, those of a response are passed on together. Otherwise another page that is read
    meanwhile would seem to be the first with such a link.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._sparing = Sparing.of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Work for the pipeline of a crawl; without one, items pass at once."""
        return cls(crawler)

    def process_spider_output(
        self, response: Response, result: Iterable[Any], spider: Any = None
    ) -> Iterator[Any]:
        """Pass on what a callback returned or yielded."""
        turn = _Turn(self._crawler, self._sparing, response)
        try:
            for found in result:
                yield from turn.take(found)
            yield from turn.finish()
        except Exception:
            yield from turn.take_last()
            yield from turn.hand_over()
            raise
        finally:
            turn.end()
        yield from turn.hand_over()

    async def process_spider_output_async(
        self, response: Response, result: AsyncIterator[Any], spider: Any = None
    ) -> AsyncIterator[Any]:
        """Pass on what an asynchronous callback yielded, requests once the verdict is known."""
        turn = _Turn(self._crawler, self._sparing, response)
        try:
            async for found in result:
                if turn.visit.is_waiting and isinstance(found, Request):
                    await turn.visit.settled()
                for one in turn.take(found):
                    yield one
            for one in turn.finish():
                yield one
        except Exception:
            for one in (*turn.take_last(), *turn.hand_over()):
                yield one
            raise
        finally:
            turn.end()
        for one in turn.hand_over():
            yield one

    def process_spider_exception(
        self, response: Response, exception: Exception, spider: Any = None
    ) -> None:
        """Note that the callback of a response has failed."""
        if self._sparing is not None:
            self._sparing.end_callback(response)


class _Turn:
    """What the callback of one response yields."""

    def __init__(self, crawler: Crawler, sparing: Sparing | None, response: Response) -> None:
        self._items = ItemsOfResponse(crawler, response)
        self._sparing = sparing
        self._response = response
        self.visit = Visit() if sparing is None else sparing.find_visit(response)
        self._held: list[Request] = []

    def take(self, found: Any) -> Iterable[Any]:
        """What is passed on now that this was found."""
        if not isinstance(found, Request):
            return self._pass_on(self._items.take(found))
        self._items.note_request(found)
        if self._sparing is None:
            return (found,)
        passed = self._sparing.screen_request(found, self._response, self.visit)
        if passed is not None:
            self._held.append(passed)
        return self.hand_over() if len(self._held) >= _MOST_HELD else ()

    def take_last(self) -> Iterator[Any]:
        """The item that was held back."""
        return self._pass_on(self._items.take_last())

    def finish(self) -> Iterator[Any]:
        """The same, where the callback did not fail."""
        yield from self.take_last()
        self._items.tell_of_none()

    def _pass_on(self, items: Iterator[Any]) -> Iterator[Any]:
        for item in items:
            yield from self.hand_over()
            if self._sparing is not None and ItemAdapter.is_item(item):
                self.visit.expect()
            yield item

    def hand_over(self) -> list[Request]:
        """The requests that were held back."""
        held, self._held = self._held, []
        return held

    def end(self) -> None:
        """Note that the callback has ended, whatever came of it."""
        self._items.end()
        if self._sparing is not None:
            self._sparing.end_callback(self._response)
