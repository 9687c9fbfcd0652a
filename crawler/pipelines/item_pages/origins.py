"""Tracks the response of each item, which is the page of an item without one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, Self
from weakref import WeakKeyDictionary, ref

from itemadapter import ItemAdapter
from scrapy import signals

from ...dedup.verdict import COPIES, Kind, Verdict
from ...latest import Latest
from .carried import Siblings, drop_injected, note_given

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

OFF: Final = "dedup"
"""Key of a request's meta that, if False, lets the items of its response pass unread."""

_MOST_URLS: Final = 100  # of the latest items of a response, whose values are compared

WITHOUT_ITEM: Final = object()
"""Signal: the callback of a successful response, from `url`, has yielded no item."""

_origins: WeakKeyDictionary[Crawler, Origins] = WeakKeyDictionary()


class SharedUrl:
    """A URL that items of one response name, and whether they are different items."""

    def __init__(self) -> None:
        self.is_shared = False


class Origin(NamedTuple):
    """The response of an item, and whether it is the only item of that response.

    ``holds_same`` says that the item holds the body of the response, as an earlier one does.
    """

    response: Response
    is_alone: bool
    holds_same: bool = False
    url: SharedUrl | None = None

    def is_repeated(self, verdict: Verdict, page: str, is_other: bool) -> bool:
        """Whether its item only repeats the page of another item.

        That is one of the response, or of an earlier one if this `is_other` than those before. If
        it is dropped as a copy, both are. `page` is DEDUP_PAGE.
        """
        is_shared = is_other or (self.url is not None and self.url.is_shared)
        is_kept = verdict.standing not in COPIES
        return verdict.kind is Kind.REPEATED and is_kept and is_shared and page != "item"


def is_switched_off(response: Response) -> bool:
    """Whether the request of a response says that its items are not checked."""
    return response.request is not None and response.request.meta.get(OFF) is False


@dataclass(slots=True)
class _NotedItem:
    """An item and those that pipelines return in its place, with what is known of all of them."""

    items: list[Any]
    response: ref[Response]
    facts: dict[str, Any]  # the fields of an origin but for its response
    checked: str | None = None  # the URL of the page, which pipelines may change later


class ItemReader(Protocol):
    """What has to be known about the pages in the fields of items; the reader builds on origins."""

    def needs_response(self, item: Any) -> bool:
        """Whether the page of an item, or its URL, has to be taken from its response."""

    def own_page(self, item: Any, response: Response) -> tuple[str | None, bool]:
        """The URL of an item, as the index knows it, and whether its HTML is the response."""


class Origins:
    """The origins of the items between the spider and the end of the pipelines.

    It keeps no response alive: Scrapy holds a response while one of its items is on its way, and
    what is stored about an item goes with it. Items are recognised by identity, so any type works.
    """

    def __init__(self) -> None:
        # A weak reference: the reader may hold the crawler, which would then never be collected.
        self._reader: ref[ItemReader] | None = None
        self._noted: dict[int, _NotedItem] = {}
        # The items that the pipelines were given, by the task that passes an item through them.
        # They are kept, as another item could get the identity of one that is gone.
        self._given: WeakKeyDictionary[asyncio.Task[Any], Any] = WeakKeyDictionary()

    @classmethod
    def of_crawl(cls, crawler: Crawler, reader: ItemReader) -> Self:
        """The origins of a crawl; calling this turns their tracking on."""
        _origins[crawler] = origins = cls()
        origins._reader = ref(reader)
        for signal in (signals.item_scraped, signals.item_dropped, signals.item_error):
            crawler.signals.connect(origins.forget_item, signal=signal)
        crawler.signals.connect(note_given, signal=signals.request_scheduled)
        return origins

    def needs_response(self, item: Any) -> bool:
        """Whether the page of an item has to be taken from its response."""
        reader = self._reader() if self._reader is not None else None
        return reader is not None and reader.needs_response(item)

    def own_page(self, item: Any, response: Response) -> tuple[str | None, bool]:
        """The URL of an item, as the index knows it, and whether its HTML is the response."""
        reader = self._reader() if self._reader is not None else None
        return reader.own_page(item, response) if reader is not None else (None, False)

    def note_origin(self, item: Any, origin: Origin) -> None:
        """Note the origin of an item."""
        key = id(item)
        self._forget(key)
        # There is no signal when a later pipeline replaces an item: then it goes with the response.
        of_response = ref(origin.response, lambda _: self._forget(key))
        facts = origin._asdict()
        del facts["response"]
        self._noted[key] = _NotedItem([item], of_response, facts)

    def note_alone(self, item: Any) -> None:
        """Note that an item has turned out to be the only one of its response."""
        if (noted := self._noted.get(id(item))) is not None:
            noted.facts["is_alone"] = True

    def note_passing(self, item: Any) -> None:
        """Note that pipelines are given an item, in whose place one may return another."""
        if (task := _current_task()) is not None:
            self._given[task] = item

    def find_origin(self, item: Any) -> Origin | None:
        """The origin of an item, or of the one that it came in the place of; None if unknown."""
        noted, key = self._noted.get(id(item)), id(item)
        if noted is None and (task := _current_task()) is not None:
            noted = self._noted.get(id(self._given.get(task, item)))
        response = noted.response() if noted is not None else None
        if noted is None or response is None:
            return None
        if key not in self._noted:
            self._noted[key] = noted
            noted.items.append(item)
        return Origin(response, **noted.facts)

    def note_checked(self, item: Any, url: str) -> None:
        """Note the URL under which the page of an item is checked, which pipelines may change."""
        if (noted := self._noted.get(id(item))) is not None:
            noted.checked = url

    def checked_url(self, item: Any) -> str | None:
        """The URL under which the page of an item was checked; None if it is not known."""
        noted = self._noted.get(id(item))
        return noted.checked if noted is not None else None

    def forget_item(self, item: Any) -> None:
        """Forget an item that has passed all pipelines, or was dropped, and others of its place."""
        self._forget(id(item))

    def _forget(self, key: int) -> None:
        noted = self._noted.get(key)
        for item in noted.items if noted is not None else ():
            self._noted.pop(id(item), None)


class OriginPipeline:
    """The first of all pipelines: notes the item that the others may replace by another."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Work for the duplicate filter of a crawl; without one, items pass."""
        return cls(crawler)

    def process_item(self, item: Any, spider: Any = None) -> Any:
        """Note an item, and pass it on."""
        if (origins := _origins.get(self._crawler)) is not None:
            origins.note_passing(item)
        return item


class ItemsOfResponse:
    """The items that a callback yields for one response."""

    def __init__(self, crawler: Crawler, response: Response) -> None:
        self._crawler = crawler
        self._origins = _origins.get(crawler)
        self._response = response
        self._held: list[Any] = []  # the first item, if it needs the response
        self._only: Any = None  # the first one, until there is another
        self._items = 0
        self._siblings = Siblings(response)
        self._holds_body = False  # whether an item before holds the body of the response
        # URLs → the values of the first item that has it, before pipelines change them
        self._urls: Latest[str, tuple[dict[str, Any], SharedUrl]] = Latest(_MOST_URLS)

    def note_request(self, request: Request) -> None:
        """Note in a request what it carries to the next response."""
        if self._origins is not None:
            self._siblings.note_request(request)

    def take(self, item: Any) -> Iterator[Any]:
        """Yield what is passed on now that this item was found."""
        if self._origins is None or not ItemAdapter.is_item(item):
            yield item
            return
        self._items += 1
        self._only = item if self._items == 1 else None
        if self._items == 1 and self._origins.needs_response(item):
            self._held.append(item)
            return
        yield from self.take_last()
        self._note_origin(item)
        yield item

    def take_last(self) -> Iterator[Any]:
        """Yield the item that was held back."""
        while self._held:
            item = self._held.pop()
            self._note_origin(item, is_alone=self._items == 1)
            yield item

    def tell_of_none(self) -> None:
        """Send :data:`WITHOUT_ITEM` if there was none."""
        if not self._items and 200 <= self._response.status < 300:
            self._crawler.signals.send_catch_log(WITHOUT_ITEM, url=self._response.url)

    def end(self) -> None:
        """Note that the callback has ended, whatever came of it."""
        if self._origins is not None and self._items == 1:
            self._origins.note_alone(self._only)
        if self._origins is not None and self._response.request is not None:
            drop_injected(self._response.request)

    def _note_origin(self, item: Any, *, is_alone: bool = False) -> None:
        assert self._origins is not None
        shared = None
        url, holds_body = self._origins.own_page(item, self._response)
        if url is not None:
            values = dict(ItemAdapter(item))
            first, shared = self._urls[url] = self._urls.get(url) or (values, SharedUrl())
            shared.is_shared |= not _are_equal(first, values)
        holds_same = holds_body and self._holds_body
        self._holds_body |= holds_body
        origin = Origin(self._response, is_alone, holds_same, shared)
        self._origins.note_origin(item, origin)


def _current_task() -> asyncio.Task[Any] | None:
    with suppress(RuntimeError):  # there is no loop
        return asyncio.current_task()
    return None


def _are_equal(left: dict[str, Any], right: dict[str, Any]) -> bool:
    try:
        return left is right or left == right
    except Exception:  # numpy arrays raise
        return False
