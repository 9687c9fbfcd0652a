"""Tracks the response of each item, which is the page of an item without one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self
from weakref import WeakKeyDictionary, WeakMethod, ref

from itemadapter import ItemAdapter
from scrapy import Request, signals

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

OFF: Final = "dedup"
"""Key of a request's meta that, if False, lets the items of its response pass unread."""

WITHOUT_ITEM: Final = object()
"""Signal: the callback of a successful response, from `url`, has yielded no item."""

_origins: WeakKeyDictionary[Crawler, Origins] = WeakKeyDictionary()


class Origin(NamedTuple):
    """The response of an item, and whether it is the only item of that response."""

    response: Response
    is_alone: bool

    @property
    def is_off(self) -> bool:
        """Whether the request says that its items are not checked."""
        return is_switched_off(self.response)


def is_switched_off(response: Response) -> bool:
    """Whether the request of a response says that its items are not checked."""
    return response.request is not None and response.request.meta.get(OFF) is False


def is_carried(item: Any, request: Request) -> bool:
    """Whether an item, or what it was copied from, came along with the request of its response.

    >>> item = {"title": "Tea"}
    >>> request = Request("http://a/reviews", cb_kwargs={"item": item})
    >>> is_carried(item, request), is_carried(item | {"stars": 5}, request), is_carried({}, request)
    (True, True, False)
    """
    carried = (*request.cb_kwargs.values(), *request.meta.values())
    held = (one.item if hasattr(one, "load_item") else one for one in carried)  # of a loader
    return any(one is item or _is_copied(one, item) for one in held if ItemAdapter.is_item(one))


def _is_copied(one: Any, item: Any) -> bool:
    """Whether an item has all values of another: the same objects, as a shallow copy has."""
    copied = ItemAdapter(item)
    given = [(name, value) for name, value in ItemAdapter(one).items() if value is not None]
    return bool(given) and all(copied.get(name) is value for name, value in given)


class Origins:
    """The origins of the items between the spider and the end of the pipelines.

    It keeps no response alive: Scrapy holds a response while one of its items is on its way, and
    what is stored about an item goes with it. Items are recognised by identity, so any type works.
    """

    def __init__(self) -> None:
        # A weak reference: the method may hold the crawler, which would then never be collected.
        self._asks: WeakMethod[Callable[[Any], bool]] | None = None
        self._noted: dict[int, tuple[Any, ref[Response], bool]] = {}

    @classmethod
    def of_crawl(cls, crawler: Crawler, needs_response: Callable[[Any], bool]) -> Self:
        """The origins of a crawl; calling this turns their tracking on.

        `needs_response` returns whether an item lacks a page of its own.
        """
        _origins[crawler] = origins = cls()
        origins._asks = WeakMethod(needs_response)
        for signal in (signals.item_scraped, signals.item_dropped, signals.item_error):
            crawler.signals.connect(origins.forget_item, signal=signal)
        return origins

    def needs_response(self, item: Any) -> bool:
        """Whether the page of an item has to be taken from its response."""
        ask = self._asks() if self._asks is not None else None
        return ask is not None and ask(item)

    def note_origin(self, item: Any, response: Response, *, is_alone: bool) -> None:
        """Note the origin of an item."""
        key = id(item)
        # There is no signal when a pipeline replaces an item: then it goes with the response.
        of_response = ref(response, lambda _: self._noted.pop(key, None))
        self._noted[key] = item, of_response, is_alone

    def find_origin(self, item: Any) -> Origin | None:
        """The origin of an item; None if it has none, or a pipeline has replaced the item."""
        _, of_response, is_alone = self._noted.get(id(item), (None, None, False))
        response = of_response() if of_response is not None else None
        return Origin(response, is_alone) if response is not None else None

    def forget_item(self, item: Any) -> None:
        """Forget an item that has passed all pipelines, or was dropped."""
        self._noted.pop(id(item), None)


class OriginTracker:
    """Spider middleware that notes the response of each item.

    An item that needs its response is held back until the next item comes or the callback ends:
    only then is it known whether it is alone. Requests pass at once, and items stay in order.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Work for the pipeline of a crawl; without one, everything passes at once."""
        return cls(crawler)

    def process_spider_output(
        self, response: Response, result: Iterable[Any], spider: Any = None
    ) -> Iterator[Any]:
        """Pass on what a callback returned or yielded."""
        turn = _Turn(_origins.get(self._crawler), response)
        try:
            for found in result:
                yield from turn.take(found)
        except Exception:
            yield from turn.end()
            raise
        yield from turn.end()
        self._tell_of_none(turn, response)

    async def process_spider_output_async(
        self, response: Response, result: AsyncIterator[Any], spider: Any = None
    ) -> AsyncIterator[Any]:
        """Pass on what an asynchronous callback yielded."""
        turn = _Turn(_origins.get(self._crawler), response)
        try:
            async for found in result:
                for one in turn.take(found):
                    yield one
        except Exception:
            for one in turn.end():
                yield one
            raise
        for one in turn.end():
            yield one
        self._tell_of_none(turn, response)

    def _tell_of_none(self, turn: _Turn, response: Response) -> None:
        if not turn.has_items and 200 <= response.status < 300:
            self._crawler.signals.send_catch_log(WITHOUT_ITEM, url=response.url)


class _Turn:
    """The results of a callback for one response."""

    def __init__(self, origins: Origins | None, response: Response) -> None:
        self._origins = origins
        self._response = response
        self._held: list[Any] = []  # the first item, if it needs the response
        self._items = 0

    @property
    def has_items(self) -> bool:
        return self._items > 0

    def take(self, found: Any) -> Iterator[Any]:
        # Most results are requests, and is_item() takes long for them.
        if self._origins is None or isinstance(found, Request) or not ItemAdapter.is_item(found):
            yield found
            return
        self._items += 1
        if self._items == 1 and self._origins.needs_response(found):
            self._held.append(found)
            return
        yield from self.end()
        self._origins.note_origin(found, self._response, is_alone=self._items == 1)
        yield found

    def end(self) -> Iterator[Any]:
        while self._held and self._origins is not None:
            item = self._held.pop()
            self._origins.note_origin(item, self._response, is_alone=self._items == 1)
            yield item
