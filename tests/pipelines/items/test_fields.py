"""Fields of items: missing, of wrong types, of other names."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from dataclasses import make_dataclass
from datetime import UTC, datetime, tzinfo

import attrs
import pytest
from itemadapter import ItemAdapter
from parsel import Selector

from crawler.pipelines import ExactDuplicate
from tests.pipelines.items.item_types import TYPES
from tests.pipelines.stories import ARTICLE, html
from tests.support.texts import article
from tests.support.texts import text as text_of


@pytest.mark.parametrize("make", TYPES)
@pytest.mark.parametrize(
    ("values", "missing", "kind"),
    [
        ({"url": "/a"}, "html", "unchecked"),
        ({"url": "/a", "html": "", "text": " \n"}, "html", "short"),
        ({"url": "/a", "html": b"", "text": None}, "html", "short"),
        ({"text": ARTICLE}, "url", "unchecked"),
        ({"url": "", "text": ARTICLE}, "url", "unchecked"),
    ],
)
async def test_missing_fields(bench, make, values, missing, kind):
    """A missing or empty field is counted; an item without a page passes as it was, untagged.

    An empty page is known to be one: it is short, and unchanged when it comes again.
    """
    before = dict(ItemAdapter(make(**values)))
    item = await bench.process(make(**values))
    stats = {f"dedup/missing_field/{missing}": 1, f"dedup/{kind}": 1}
    if kind == "short":
        tag = ItemAdapter(item)["dedup"]
        assert (tag["kind"], tag["url"]) == (kind, values["url"])
        assert dict(ItemAdapter(item)) == {**before, "dedup": tag}
    else:
        assert dict(ItemAdapter(item)) == before
        stats[f"dedup/no_page/no_{'fields' if missing == 'html' else missing}"] = 1
    assert bench.stats == stats


@pytest.mark.parametrize("make", TYPES)
@pytest.mark.parametrize(
    ("values", "wrong"),
    [
        ({"url": b"https://a.example/", "html": "<p>x"}, "url"),
        ({"url": 7, "html": "<p>x"}, "url"),
        ({"url": "/a", "html": 7}, "html"),
        ({"url": "/a", "html": ["<p>x", "<p>y"]}, "html"),
        ({"url": "/a", "text": 7}, "text"),
        ({"url": "/a", "text": b"bytes"}, "text"),
    ],
)
async def test_wrong_types(bench, make, values, wrong):
    """A field of a wrong type is counted and never loses the item."""
    item = await bench.process(make(**values))
    assert not ItemAdapter(item).get("dedup")
    assert bench.stats[f"dedup/wrong_type/{wrong}"] == 1
    assert bench.stats["dedup/unchecked"] == 1


@pytest.mark.parametrize(
    ("values", "setting", "there"),
    [
        ({"link": "/a", "text": ARTICLE}, "DEDUP_URL_FIELD", "The item has 'link', 'text'."),
        ({"link": "/a", "title": None}, "DEDUP_URL_FIELD", "The item has 'link'."),
        ({"title": None}, "DEDUP_URL_FIELD", "The item has no field that is filled."),
        (
            {"url": "/a", "body": html(ARTICLE)} | dict.fromkeys("abcdefghijk", 0),
            "DEDUP_HTML_FIELD",
            "has 'url', 'body', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', ….",
        ),
        ({"url": "/a", "html": Selector("{}", type="json")}, "DEDUP_HTML_FIELD", "'url', 'html'."),
        ({"url": "/a", "text": ARTICLE.encode()}, "DEDUP_TEXT_FIELD", "has 'url', 'text'."),
    ],
)
async def test_fields_of_other_names_are_told_once(bench, caplog, values, setting, there):
    """Whoever has the page elsewhere is not left to wonder why nothing is dropped."""
    for _ in range(3):
        await bench.process(values.copy())
    (message,) = caplog.messages
    assert setting in message
    assert there in message


async def test_what_has_nothing_of_a_page_is_told_once(bench, caplog):
    """Of products among the pages one warning says how they can be left alone, not three."""
    product = make_dataclass("Product", ["name", "price"])
    for price in range(3):
        await bench.process(product("tea", price))
    (message,) = caplog.messages
    assert message.startswith("Product has nothing in the fields 'url', 'html' and 'text': ")
    assert bench.stats["dedup/unchecked"] == bench.stats["dedup/no_page/no_url"] == 3


async def test_an_empty_item_silences_no_warning_of_later_ones(bench, caplog):
    """The first item of a class may lack what the others have, and all of them the tag's field."""
    page = make_dataclass("Story", ["url", "text"])
    await bench.process(page(None, None))
    await bench.process(page("/a", ARTICLE))
    empty, untagged = caplog.messages
    assert "nothing in the fields" in empty
    assert "DEDUP_TAG_FIELD" in untagged


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (
            {"url": ["/a", "/b"], "text": ARTICLE},
            "'url' (but list, as from an item loader without Join()",
        ),
        ({"url": b"/a", "text": ARTICLE}, "no URL (str) in the field 'url' (but bytes)"),
        ({"url": "/a", "html": ["<p>", "x"]}, "'html' (but list, as from an item loader without"),
        ({"url": "/a", "html": Selector(html(ARTICLE)).css("b")}, "'html' (but SelectorList) and"),
        ({"url": "/a", "text": ARTICLE.encode()}, "no text (but bytes)"),
    ],
)
async def test_a_field_of_a_wrong_type_is_told(bench, caplog, values, said):
    """As of an item loader, which makes lists: the field is there, and it is said what is wrong."""
    await bench.process(values)
    (message,) = caplog.messages
    assert said in message


@pytest.mark.parametrize("date", ["1 May {} 10:00:00", "1 May 2026 {}:00", "1 May 2026 10:00 +{}"])
async def test_a_date_that_is_none(bench, date):
    """What a page says of its date costs it no check, however large its numbers are."""
    item = {"url": "/a", "text": ARTICLE, "date": date.format("9" * 30)}
    assert (await bench.process(item))["dedup"]["kind"] == "unique"


async def test_a_date_of_no_zone_is_one_of_utc(open_bench):
    """So is one whose zone does not tell how far it is from UTC."""

    class Nowhere(tzinfo):
        def utcoffset(self, when):
            return None

    bench = await open_bench(prefer="earlier")
    for name, zone in (("a", UTC), ("b", Nowhere()), ("c", None)):
        date = datetime(2026, 5, 3 - "abc".index(name), tzinfo=zone)
        kept = await bench.process({"url": f"/{name}", "text": ARTICLE, "date": date})
        assert kept["dedup"]["kind"] == "unique"


async def test_items_without_the_fields(open_bench, caplog):
    """A type that takes no tag passes without, with one warning; nothing else changes."""
    bench = await open_bench(drop="")
    bare = make_dataclass("Bare", ["url", "html"])
    for name in "abc":
        item = bare(f"/{name}", html(ARTICLE))
        with caplog.at_level(logging.WARNING):
            await bench.process(item)
    assert bench.stats["dedup/untagged"] == 3
    assert [message.partition(":")[0] for message in caplog.messages] == [
        "Bare takes no field 'dedup'"
    ]


async def test_frozen_items_pass(bench):
    """An item that cannot be changed passes as it is."""
    item = attrs.make_class("Frozen", ["url", "html", "text", "dedup"], frozen=True)(
        "/a", html(ARTICLE), None, None
    )
    assert await bench.process(item) is item
    assert bench.stats["dedup/unique"] == bench.stats["dedup/untagged"] == 1


async def test_a_type_that_refuses_the_verdict_costs_no_item(bench):
    """Whatever a type raises when a field is set, the item passes."""

    def refuse(item, name, value):
        if hasattr(item, name):
            raise RuntimeError("read only")
        object.__setattr__(item, name, value)

    sealed = make_dataclass("Sealed", ["url", "text", "dedup"], namespace={"__setattr__": refuse})
    item = sealed("/a", ARTICLE, None)
    assert await bench.process(item) is item
    assert bench.stats["dedup/untagged"] == 1


async def test_configured_fields(open_bench):
    """All fields can be named otherwise, and tags turned off."""
    bench = await open_bench(
        url_field="address", html_field="body", text_field="words", title_field="h", tag_field=""
    )
    item = await bench.process({"address": "/a", "body": html(ARTICLE), "h": None})
    assert (item["words"], item["h"]) == (ARTICLE, "A title")
    assert item.keys() == {"address", "body", "words", "h"}


async def test_one_survivor(bench):
    """Of a thousand copies that arrive at once, one is kept."""
    items = [{"url": f"https://a.example/{i}", "text": ARTICLE} for i in range(1000)]
    results = await asyncio.gather(*map(bench.process, items), return_exceptions=True)
    assert sum(isinstance(result, ExactDuplicate) for result in results) == 999
    assert bench.stats["dedup/unique"] == 1


async def test_a_crawl_begins_with_what_its_index_keeps(open_bench, caplog):
    """Else nobody sees that a server has lost its data, or that the name is another."""
    caplog.set_level(logging.INFO)
    bench = await open_bench(namespace="known")
    assert (
        caplog.messages[-1]
        == f"Index 'known', DEDUP_REDIS_URL {bench.pipeline.config.redis_url}: 0 pages"
    )
    await bench.process({"url": "/a", "text": ARTICLE})
    await open_bench(namespace="known")
    assert caplog.messages[-1].endswith(": 1 page")


async def test_summary(open_bench, caplog):
    """The end of a crawl is one line that adds up."""
    bench = await open_bench()
    for url in ("/a", "/b", "/c"):
        with contextlib.suppress(ExactDuplicate):
            await bench.process({"url": url, "text": ARTICLE})
    with caplog.at_level(logging.INFO):
        await bench.pipeline.close_spider()
    assert caplog.messages[-1] == "Pages: 3 (1 unique, 2 exact), of which 2 dropped"


@pytest.mark.parametrize("urls", [1, 12])
async def test_many_texts_of_one_url_are_told(open_bench, caplog, urls):
    """As of an API behind one URL: no copy is found among them, and none is dropped."""
    bench = await open_bench()
    for number in range(12):
        for seed in (number, number + 100):
            await bench.process({"url": f"/{number % urls}", "text": text_of(article(seed, 60))})
    for seed in range(300, 302):
        await bench.process({"url": "/other", "text": text_of(article(seed, 60))})
    await bench.pipeline.close_spider()
    assert ("Many items have the URL /0, each with another text" in caplog.text) == (urls == 1)
