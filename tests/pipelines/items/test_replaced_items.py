"""Pipelines before the filter that return another item in one's place."""

from __future__ import annotations

import asyncio
import gc
import weakref
from typing import Any

import pytest
import scrapy
from scrapy import Spider, signals
from scrapy.exceptions import DropItem
from scrapy.http import Response

from tests.pipelines.crawls import Kept, crawl, prose
from tests.spiders.webserver import Web

pytestmark = pytest.mark.skipif(scrapy.version_info < (2, 14), reason="such items are not known")
ITEMS = 3


class CopyItem:
    """Returns a new object with the same values, or with those of the fields that it names."""

    names: tuple[str, ...] = ()

    async def process_item(self, item: dict[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(0)
        return {name: item[name] for name in self.names or item}


class CopyTitle(CopyItem):
    names = ("title",)


class NameUrl(CopyItem):
    """A URL that the item has under another name before."""

    async def process_item(self, item: dict[str, Any]) -> dict[str, Any]:
        return {"url": item["link"], "text": item["text"]}


class DropFirst:
    """A later pipeline that takes no item but the last."""

    items = 0

    def process_item(self, item: Any) -> Any:
        self.items += 1
        if self.items < ITEMS:
            raise DropItem("not this one")
        return item


class Pages(Spider):
    name = "pages"
    url = ""

    async def start(self) -> Any:
        for number in range(ITEMS):
            yield scrapy.Request(f"{self.url}/{number}")


class Lists(Pages):
    """Lists that have most entries in common, whose items have a page of their own."""

    def parse(self, response: Any) -> Any:
        for number, text in enumerate(response.css("p::text").getall()):
            yield {"url": f"{response.url}/{number}", "text": text, "title": text[:20]}


class Single(Pages):
    """One such item of each page."""

    def parse(self, response: Any) -> Any:
        title = response.css("h1::text").get()
        yield {"url": f"{response.url}/0", "text": prose(1), "title": title}


class Linked(Pages):
    """Pages with one text, whose URL is in no field that the filter knows."""

    def parse(self, response: Any) -> Any:
        yield {"link": f"{response.url}/article", "text": prose(1)}


class Whole(Pages):
    """Items that hold their response."""

    def parse(self, response: Any) -> Any:
        yield {"url": response.url, "html": response}


def settings(redis_url: str, *pipelines: type) -> dict[str, Any]:
    places = {one: 100 + 200 * number for number, one in enumerate(pipelines)}
    return {"DEDUP_REDIS_URL": redis_url, "ITEM_PIPELINES": places, "CONCURRENT_REQUESTS": 1}


async def test_the_first_of_a_list_is_not_taken_for_the_page(web: Web, redis_url: str) -> None:
    """Although it was passed on before the second came: lists are near-duplicates, items not."""
    for number in range(ITEMS):
        web.page(f"/{number}", text="</p><p>".join(map(prose, [number, *range(100, 112)])))
    kept = Kept()
    stats = await crawl(web, kept, spider=Lists, **settings(redis_url, CopyTitle))
    assert len(kept.items) == ITEMS * 13
    assert stats["dedup/no_page/listing"] == ITEMS * 13


async def test_a_single_item_is_taken_for_the_page(web: Web, redis_url: str) -> None:
    """If a pipeline returns one without the text that it had."""
    for number in range(ITEMS):
        web.page(f"/{number}", text=f"<h1>Tea {number}</h1> {prose(number)}")
    kept = Kept()
    stats = await crawl(web, kept, spider=Single, **settings(redis_url, CopyTitle))
    assert stats["dedup/unique"] == len(kept.items) == ITEMS


async def test_a_replaced_item_that_a_later_pipeline_drops(web: Web, redis_url: str) -> None:
    """The index forgets its page, so that a copy of it is kept: Scrapy names the first item."""
    for number in range(ITEMS):
        web.page(f"/{number}", text=prose(number))
    kept = Kept()
    stats = await crawl(web, kept, spider=Linked, **settings(redis_url, NameUrl, DropFirst))
    assert [item["text"] for item in kept.items] == [prose(1)]
    assert stats["dedup/lost_later"] == ITEMS - 1


class Alive:
    """The responses of a crawl that are still there when the spider is idle."""

    def __init__(self) -> None:
        self.all: list[weakref.ref[Response]] = []
        self.number = 0

    def watch(self, crawler: Any) -> None:
        crawler.signals.connect(self.note_response, signal=signals.response_received)
        crawler.signals.connect(self.count, signal=signals.spider_idle)

    def note_response(self, response: Response) -> None:
        self.all.append(weakref.ref(response))

    def count(self) -> None:
        gc.collect()
        self.number = sum(one() is not None for one in self.all)


async def test_a_replaced_item_that_is_dropped_keeps_no_response(web: Web, redis_url: str) -> None:
    """A crawl of many copies would need memory for all of them."""
    for number in range(ITEMS):
        web.page(f"/{number}", text=prose(1))
    alive = Alive()
    stats = await crawl(web, alive, spider=Whole, **settings(redis_url, CopyItem))
    assert stats["dedup/dropped/exact"] == ITEMS - 1
    assert (len(alive.all), alive.number) == (ITEMS, 0)
