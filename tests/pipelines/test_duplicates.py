"""Items of every type through the whole stair, on a real index."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import random
import signal
import time
import zlib
from collections import defaultdict
from dataclasses import dataclass, field, make_dataclass
from datetime import UTC, datetime, tzinfo
from functools import partial
from typing import Any

import attrs
import pytest
import scrapy
from itemadapter import ItemAdapter
from parsel import Selector
from scrapy.http import Request, Response

from crawler import chrome
from crawler.chrome import SharedTemplate, SiteTemplates, strip_chrome
from crawler.dedup import DedupConfig, DuplicateIndex, Kind, ServerError
from crawler.dedup.exchange.spool import Spool
from crawler.pipelines import DroppedPage, ExactDuplicate, NearDuplicate, gone, reporting
from crawler.pipelines.crawl import course
from crawler.pipelines.reading import LONG_PAGE, parse_in_turns
from crawler.wording import similarity_in_words
from tests.support.texts import article
from tests.support.texts import text as text_of

ARTICLE = (
    "Tea is an aromatic drink made by pouring hot water over the leaves of an evergreen shrub that "
    "is native to the borderlands of south-western China and northern Myanmar. After plain water "
    "it is the most widely drunk of all drinks in the world, and there are many types of it."
)
OTHER = (
    "The bicycle carries its rider on two wheels, one behind the other, and is driven by pedals. "
    "In many cities of the north it is quicker than any car, costs next to nothing and needs less "
    "room, which is why its lanes have spread so far within so few years."
)


@dataclass
class DataPage:
    url: Any = None
    html: Any = field(default=None, repr=False)
    text: Any = None
    title: Any = None
    dedup: Any = None


@attrs.define
class AttrsPage:
    url: Any = None
    html: Any = None
    text: Any = None
    title: Any = None
    dedup: Any = None


class ScrapyPage(scrapy.Item):
    url = scrapy.Field()
    html = scrapy.Field()
    text = scrapy.Field()
    title = scrapy.Field()
    dedup = scrapy.Field()


SOON = 0.5  # seconds to wait for a server that hangs; one that is only busy may take 0.2
TYPES = [dict, partial(defaultdict, list), DataPage, AttrsPage, ScrapyPage]


def html(text: str, title: str = "A title") -> str:
    menu = "<nav><ul><li><a href=/>Home</a><li><a href=/tea>Tea</a></ul></nav>"
    return f"<html><title>{title}</title><body>{menu}<main><p>{text}</p></main></body></html>"


@pytest.mark.parametrize("make", TYPES)
async def test_every_item_type(bench, make):
    """An item of any type gets text, title and tag; a copy of its page is dropped."""
    item = make(url="https://a.example/", html=html(ARTICLE), title="")
    kept = ItemAdapter(await bench.process(item))
    assert kept["text"] == ARTICLE
    assert kept["title"] == "A title"
    assert kept["dedup"]["kind"] == "unique"
    with pytest.raises(ExactDuplicate) as caught:
        await bench.process(make(url="https://b.example/", html=html(ARTICLE, "Other").encode()))
    assert caught.value.verdict.duplicate_of == "https://a.example/"
    assert bench.stats == {"dedup/unique": 1, "dedup/exact": 1, "dedup/dropped/exact": 1}


async def test_fields_of_classes_derived_from_text(bench):
    """They count as the text or bytes that they hold; lxml and markupsafe have such classes."""

    class Text(str):
        __slots__ = ()
        strip = isspace = __str__ = None

    class Body(bytes):
        isspace = decode = __getitem__ = None

    bodies = Text(html(ARTICLE)), Body(html(OTHER).encode())
    for url, body in zip("ab", bodies, strict=True):
        await bench.process({"url": Text(f"https://{url}.example/"), "html": body})
    with pytest.raises(ExactDuplicate):
        await bench.process({"url": "https://c.example/", "text": Text(ARTICLE)})
    assert bench.stats == {"dedup/unique": 2, "dedup/exact": 1, "dedup/dropped/exact": 1}


async def test_a_page_that_is_watched_keeps_its_text(bench, monkeypatch):
    """What the versions of a page have in common is not learnt as its site's template."""
    templates = SiteTemplates()

    async def template(url: str) -> SharedTemplate:
        return templates[url]

    monkeypatch.setattr(bench.pipeline, "_template", template)
    for count in range(5, 30):
        entries = "".join(
            f"<p>At {hour} {text_of(article(hour)[:12])}</p>" for hour in range(count)
        )
        item = {"url": "https://example.com/live", "html": f"<main>{entries}</main>"}
        assert len((await bench.process(item))["text"].splitlines()) == count


async def test_near_duplicates_are_dropped(bench):
    """The reason of a near-duplicate is a line with both URLs and the similarity."""
    await bench.process({"url": "https://a.example/", "text": f"{ARTICLE} {OTHER}"})
    with pytest.raises(NearDuplicate) as caught:
        await bench.process({"url": "https://b.example/", "text": f"{ARTICLE} {OTHER} Today"})
    verdict = caught.value.verdict
    assert 0.8 <= verdict.low <= verdict.similarity <= verdict.high <= 1
    assert str(caught.value) == (
        "near: 'https://b.example/' of 'https://a.example/', similarity "
        f"{similarity_in_words(verdict.similarity, 3)} "
        f"({similarity_in_words(verdict.low, 3)} to {similarity_in_words(verdict.high, 3)})"
    )
    assert caught.value.log_level == "DEBUG"


async def test_dropped_stays_dropped(open_bench):
    """A page that was dropped is dropped again when it comes back unchanged, crawl by crawl."""
    for kind in "unique", "unchanged":
        bench = await open_bench()
        assert (await bench.process({"url": "/a", "text": ARTICLE}))["dedup"]["kind"] == kind
        with pytest.raises(ExactDuplicate):
            await bench.process({"url": "/b", "text": ARTICLE})
        await bench.pipeline.close_spider()
        assert bench.stats["dedup/dropped/exact"] == 1
    assert bench.stats["dedup/unchanged"] == 2


async def test_what_comes_again_in_one_crawl_is_dropped(bench):
    """Kept pages and copies alike: they are in the feed, or are left out of it, already."""
    for url, reason in ("/a", "repeated: '/a'"), ("/b", "repeated: '/b' of '/a'"):
        with contextlib.suppress(ExactDuplicate):
            await bench.process({"url": url, "text": ARTICLE})
        with pytest.raises(DroppedPage, match=reason):
            await bench.process({"url": url, "text": ARTICLE})
    assert bench.stats["dedup/dropped/repeated"] == 2


async def test_tagging_only(open_bench):
    """With an empty DEDUP_DROP every page passes, duplicates with their evidence."""
    bench = await open_bench(drop="")
    await bench.process({"url": "/a", "text": ARTICLE})
    tag = (await bench.process({"url": "/b", "text": ARTICLE}))["dedup"]
    assert (tag["kind"], tag["duplicate_of"], tag["similarity"]) == ("exact", "/a", 1.0)


async def test_other_kinds_can_be_dropped(open_bench):
    """DEDUP_DROP takes any kind; the reason is then a plain DroppedPage."""
    bench = await open_bench(drop="unchanged")
    await bench.process({"url": "/a", "text": ARTICLE})
    await bench.pipeline.close_spider()
    bench = await open_bench(drop="unchanged")
    with pytest.raises(DroppedPage, match="unchanged: '/a'") as caught:
        await bench.process({"url": "/a", "text": ARTICLE})
    assert type(caught.value) is DroppedPage


async def test_filled_text_is_not_parsed(bench, monkeypatch):
    """Where the text is filled in, HTML is not looked at."""
    monkeypatch.setattr(bench.pipeline.texts, "extract", None)
    item = {"url": "/a", "text": ARTICLE, "html": html(OTHER)}
    assert (await bench.process(item))["text"] == ARTICLE


async def test_pages_are_parsed_in_turns():
    """While a page of half a megabyte is parsed the event loop goes on, without a thread."""
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    counter = asyncio.create_task(count())
    document = await parse_in_turns(html(f"<p>{ARTICLE}</p>" * (500_000 // len(ARTICLE))))
    counter.cancel()
    assert turns >= 6
    assert strip_chrome(document).text.startswith(ARTICLE)


async def test_long_pages_leave_the_loop_free(bench, monkeypatch):
    """A long page is parsed in a thread: the event loop goes on meanwhile."""
    started, go = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()
    strip = bench.pipeline.texts.extract

    def slow(page: str, template: Any) -> Any:
        loop.call_soon_threadsafe(started.set)
        asyncio.run_coroutine_threadsafe(go.wait(), loop).result(timeout=5)
        return strip(page)

    monkeypatch.setattr(bench.pipeline.texts, "extract", slow)
    page = html(ARTICLE) + " " * LONG_PAGE
    task = asyncio.create_task(bench.process({"url": "/a", "html": page}))
    await started.wait()
    go.set()
    assert (await task)["text"] == ARTICLE


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


def pdf(text: str, font: int) -> bytes:
    """A PDF of a text, with a font of so many bytes in it."""
    streams = zlib.compress(text.encode()), random.Random(0).randbytes(font)
    objects = (b"%d 0 obj<<>>stream\n%b\nendstream endobj\n" % pair for pair in enumerate(streams))
    return b"%PDF-1.7\n" + b"".join(objects) + b"%%EOF"


@pytest.mark.parametrize("font", [20_000, LONG_PAGE])
@pytest.mark.parametrize("given", [bytes, partial(str, encoding="latin-1"), chrome.parse])
async def test_files_are_no_pages(open_bench, caplog, given, font):
    """Those with the same fonts are not taken for copies, however little of them is text."""
    bench = await open_bench(files=False)
    for number, text in enumerate([ARTICLE, OTHER]):
        page = given(pdf(text, font))
        item = await bench.process({"url": f"/{number}", "html": page})
        assert item == {"url": f"/{number}", "html": page}
    await bench.process({"url": "/2", "html": pdf(OTHER, font), "text": OTHER})
    assert bench.stats == {
        "dedup/wrong_type/html": 2, "dedup/unchecked": 2, "dedup/no_page/file": 2, "dedup/unique": 1
    }  # fmt: skip
    (message,) = caplog.messages
    assert "no text in the field 'text', and in 'html' a binary file" in message
    assert "DEDUP_TEXT_FIELD" in message


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


async def test_the_copy_with_the_best_number_is_kept(open_bench, caplog):
    """Of items with a field that DEDUP_PREFER names; those without are told of, once."""
    bench = await open_bench(prefer=["https", "score"], drop="")
    replaced = []
    for name, score in (("a", None), ("b", "2"), ("c", "many"), ("d", [3.5]), ("e", 3)):
        item = {"url": f"http://{name}.example/", "text": ARTICLE, "score": score}
        replaced.append((await bench.process(item))["dedup"].get("replaces"))
    assert replaced == [None, "http://a.example/", None, "http://b.example/", None]
    item = {"url": "https://f.example/", "text": ARTICLE}
    assert (await bench.process(item))["dedup"]["replaces"] == "http://d.example/"
    assert bench.stats["dedup/missing_field/score"] == 3
    assert bench.stats["dedup/wrong_type/score"] == 1
    (message,) = caplog.messages
    assert message.startswith("dict has no number in the field 'score', which DEDUP_PREFER names:")


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


async def test_what_is_no_item_passes(bench):
    """A value of a type that is no item passes and is counted."""
    assert await bench.process("a string") == "a string"
    assert bench.stats == {"dedup/unknown_item_type": 1}


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


async def test_own_faults_lose_nothing(bench, monkeypatch, caplog):
    """An error of the filter itself lets the item pass, with a traceback in the log."""

    async def broken(url: str, text: str, **known: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(bench.pipeline.crawl.opened, "check", broken)
    item = await bench.process({"url": "/a", "text": ARTICLE})
    assert item["dedup"]["kind"] == "unchecked"
    assert bench.stats["dedup/errors/ZeroDivisionError"] == 1
    assert caplog.records[-1].exc_info
    await bench.pipeline.close_spider()
    async with DuplicateIndex.open(bench.pipeline.config) as index:
        assert (await index.stats()).errors == {"ZeroDivisionError": 1}


@pytest.mark.parametrize(("on_error", "stops"), [("unchecked", 0), ("stop", 1)])
async def test_no_answer(open_bench, monkeypatch, caplog, on_error, stops):
    """Without an answer pages pass unchecked, and with `stop` one call ends the crawl."""
    bench = await open_bench(on_error=on_error, drop=set(Kind) - {Kind.UNCHECKED})
    calls = 0

    async def silent(url: str, text: str, **known: Any) -> None:
        nonlocal calls
        calls += 1
        raise ServerError("gone; start it again")

    monkeypatch.setattr(bench.pipeline.crawl.opened, "check", silent)
    for i in range(5):
        item = await bench.process({"url": f"/{i}", "text": ARTICLE})
        assert item["dedup"]["kind"] == "unchecked"
    assert bench.stats["dedup/unchecked"] == 5
    assert (bench.stops, calls) == (stops, 5)
    assert len([r for r in caplog.records if "gone; start it again" in r.message]) == 1


async def test_a_crawl_that_cannot_be_announced_is_told_once(open_bench, monkeypatch, caplog):
    """A full server answers, and refuses it every ten seconds, as long as the crawl takes."""
    monkeypatch.setattr(course, "_PAUSE", 0.0)
    bench = await open_bench()

    async def refuse(*_: Any, **__: Any) -> None:
        raise ServerError("the server is full")

    monkeypatch.setattr(bench.pipeline.crawl.opened, "begin_crawl", refuse)
    monkeypatch.setattr(bench.pipeline.crawl.course, "_has_begun", False)
    for number in range(3):
        await bench.process({"url": f"/{number}", "text": text_of(article(number))})
    assert len([r for r in caplog.records if "could not be announced" in r.message]) == 1


async def test_a_server_that_hangs(open_bench, start_server):
    """Pages pass unchecked while the server hangs, and are checked again when it is back."""
    server = start_server()
    bench = await open_bench(redis_url=server.url, timeout=SOON)
    kinds = []
    for number, text in ((signal.SIGSTOP, ARTICLE), (signal.SIGCONT, OTHER)):
        server.process.send_signal(number)
        item = await bench.process({"url": f"/{number}", "text": text})
        kinds.append(item["dedup"]["kind"])
    assert kinds == ["unchecked", "unique"]
    assert bench.stats["dedup/errors/ServerError"] == 1


async def keep_and_lose(bench) -> None:
    """A page is kept, and then its URL is gone."""
    request = Request("http://a/gone")
    await bench.process({"url": request.url, "text": ARTICLE})
    bench.pipeline.crawl.gone.note_response(Response(request.url, status=404), request)


async def test_urls_gone_while_the_server_hangs(open_bench, start_server):
    """What cannot be reported waits, and the pages after it are kept for later as all others."""
    server = start_server()
    bench = await open_bench(redis_url=server.url, timeout=1.2)
    await keep_and_lose(bench)
    server.process.send_signal(signal.SIGSTOP)
    started = asyncio.get_running_loop().time()
    for number in range(20):
        item = await bench.process({"url": f"http://a/{number}", "text": OTHER})
        assert item["dedup"]["kind"] == "unchecked"
    assert asyncio.get_running_loop().time() - started < 4 * 1.2
    assert bench.pipeline.crawl.opened.spooled() == ((20, 0), (0, 0))
    server.process.send_signal(signal.SIGCONT)
    await asyncio.sleep(1.5)
    item = await bench.process({"url": "http://a/copy", "text": ARTICLE})
    assert (item["dedup"]["kind"], item["dedup"]["replaces"]) == ("unique", "http://a/gone")
    assert bench.stats["dedup/gone"] == 1


async def test_many_urls_gone_do_not_hold_up_pages(open_bench, monkeypatch):
    """While there is no answer a page asks once, and not for each; with it, for all before it."""
    bench = await open_bench(drop="")
    urls = [f"http://a/{number}" for number in range(100)]
    await bench.process({"url": urls[7], "text": ARTICLE})
    found = [(url, int(time.time())) for url in urls]
    bench.pipeline.crawl.gone.waiting.extend(found)
    asked = []

    async def silent(url: str, since: int) -> bool:
        asked.append(url)
        raise ServerError("no answer")

    with monkeypatch.context() as patch:
        patch.setattr(bench.pipeline.crawl.opened, "gone", silent)
        for number in range(10):
            await bench.process({"url": f"http://b/{number}", "text": OTHER})
    assert len(asked) == 100 + 9
    assert sorted(bench.pipeline.crawl.gone.waiting) == sorted(found)
    item = await bench.process({"url": "http://a/copy", "text": ARTICLE})
    assert (item["dedup"]["replaces"], len(bench.pipeline.crawl.gone.waiting)) == (urls[7], 0)


async def test_urls_gone_without_an_answer_to_the_end(open_bench, start_server):
    """What could not be reported when the crawl ends is reported by the next one at its start."""
    server = start_server()
    first = await open_bench(redis_url=server.url, timeout=SOON)
    await keep_and_lose(first)
    server.process.send_signal(signal.SIGSTOP)
    await first.pipeline.close_spider()
    first.pipeline.crawl.opened = None  # it is closed
    server.process.send_signal(signal.SIGCONT)
    following = await open_bench(redis_url=server.url)
    assert following.pipeline.crawl.opened.spooled() == ((0, 0), (0, 0))
    assert (await following.pipeline.crawl.opened.show("http://a/gone")).gone is not None


@pytest.mark.parametrize("is_closed", [False, True])
async def test_a_url_that_was_there_again_before_its_report(
    open_bench, start_server, monkeypatch, is_closed
):
    """Seen alive by another crawl between its 404 and the report, which comes with the next page or
    out of the spool: it keeps its place.
    """
    server = start_server()
    bench = await open_bench(redis_url=server.url, timeout=SOON, drop="")
    clock = time.time()
    monkeypatch.setattr(time, "time", lambda: clock)
    await keep_and_lose(bench)
    clock += 60
    async with DuplicateIndex.open(DedupConfig(redis_url=server.url, seed=7)) as other:
        assert (await other.check("http://a/gone", ARTICLE)).kind is Kind.UNCHANGED
    clock += 60
    if is_closed:
        server.process.send_signal(signal.SIGSTOP)
        await bench.pipeline.close_spider()
        bench.pipeline.crawl.opened = None  # it is closed
        server.process.send_signal(signal.SIGCONT)
        bench = await open_bench(redis_url=server.url, drop="")
    item = await bench.process({"url": "http://a/copy", "text": ARTICLE})
    assert item["dedup"]["kind"] == "exact"
    assert "replaces" not in item["dedup"]


async def test_many_urls_are_told_without_a_page(bench):
    """A crawl of an old list, where every URL is gone, tells the index as it goes on."""
    await bench.process({"url": "http://a/gone", "text": ARTICLE})
    for number in range(1000):
        url = f"http://a/{number}" if number else "http://a/gone"
        bench.pipeline.crawl.gone.note_response(Response(url, status=404), Request(url))
        await asyncio.sleep(0)
    await bench.pipeline.crawl.gone._report
    assert bench.stats["dedup/gone"] == 1
    assert len(bench.pipeline.crawl.gone.waiting) < 1000


async def test_more_urls_gone_than_are_remembered_are_kept(bench, monkeypatch):
    """Those that find no room, as the server gives no answer, go to the spool, and only those."""
    monkeypatch.setattr(gone, "MOST_GONE", 200)
    moved = Response("http://a/old", status=301, headers={"Location": "/set-cookie"})
    bench.pipeline.crawl.gone.note_redirect(moved, Request(moved.url))
    for number in range(250):
        bench.pipeline.crawl.gone.note_response(
            Response(f"http://a/{number}", status=410), Request(f"http://a/{number}")
        )
    assert (len(bench.pipeline.crawl.gone.waiting), bench.pipeline.crawl.opened.spooled()[0]) == (
        122,
        (0, 128),
    )


async def test_more_left_out_than_is_remembered(bench, monkeypatch, caplog):
    """While the index gives no answer so many URLs wait, and the log says so once."""
    monkeypatch.setattr(reporting, "MOST_LEFT_OUT", 200)

    async def silent(url: str) -> bool:
        raise ServerError("no answer")

    monkeypatch.setattr(bench.pipeline.crawl.opened, "leave_out", silent)
    for number in range(300):
        bench.pipeline.crawl.left_out.note_url(f"http://a/{number}")
        await asyncio.sleep(0)
    assert len(bench.pipeline.crawl.left_out.waiting) == 200
    assert caplog.text.count("200 URLs that are left out wait until the index answers") == 1


def redirected(gone, old: str, new: str) -> None:
    """A crawl asks for a URL and is led to a page elsewhere."""
    gone.note_redirect(Response(old, status=301, headers={"Location": new}), Request(old))
    gone.note_response(Response(new), Request(new, meta={"redirect_urls": [old]}))


async def test_a_page_that_is_known_by_the_url_before_redirects_is_not_gone(bench):
    """As of a list of URLs: what comes between the answer and its item takes no place."""
    old, new, copy = "http://a/old", "http://a/old/", "http://b/copy"
    await bench.process({"url": old, "text": ARTICLE})
    redirected(bench.pipeline.crawl.gone, old, new)
    with pytest.raises(ExactDuplicate):
        await bench.process({"url": copy, "text": ARTICLE})
    with pytest.raises(DroppedPage, match=f"repeated: '{old}'$"):
        await bench.process({"url": old, "text": ARTICLE})
    await bench.pipeline.crawl.gone.report_rest()
    assert "dedup/gone" not in bench.stats


@pytest.mark.parametrize("seconds", [60.0, -1.0])
async def test_who_waits_for_the_item_behind_a_redirect(bench, monkeypatch, seconds):
    """The page's own item finds its old URL gone; others do if none has come for long."""
    monkeypatch.setattr(gone, "_ITEM_TIMEOUT", seconds)
    old, new = "http://a/old", "http://a/new"
    await bench.process({"url": old, "text": ARTICLE})
    redirected(bench.pipeline.crawl.gone, old, new)
    await bench.process({"url": "http://a/other", "text": OTHER})
    assert bench.stats.get("dedup/gone", 0) == (seconds < 0)
    item = await bench.process({"url": new, "text": ARTICLE})
    assert item["dedup"]["replaces"] == old


async def test_redirects_whose_items_are_waited_for_are_bounded(bench, monkeypatch):
    """The first of many wait no longer; at the end of a crawl nobody does."""
    monkeypatch.setattr(gone, "_MOST_ENDED", 2)
    for number in range(5):
        with contextlib.suppress(ExactDuplicate):
            await bench.process({"url": f"http://a/{number}", "text": ARTICLE})
    for number in range(5):
        redirected(bench.pipeline.crawl.gone, f"http://a/{number}", f"http://a/new/{number}")
    assert len(bench.pipeline.crawl.gone.waiting) == 3
    await bench.pipeline.crawl.gone.report_rest()
    assert bench.stats["dedup/gone"] == 5


@pytest.mark.parametrize("end", [500, 403, None])
async def test_a_detour_without_an_end(bench, end):
    """A redirect for good to where no answer comes from tells of no URL that it is gone.

    As when the crawl ends on the way to where a cookie is set.
    """
    await bench.process({"url": "http://a/", "text": ARTICLE})
    gone = bench.pipeline.crawl.gone
    there = Request("http://a/set", meta={"redirect_urls": ["http://a/"]})
    gone.note_redirect(
        Response("http://a/", status=301, headers={"Location": "/set"}), Request("http://a/")
    )
    gone.note_followed(there)
    gone.note_redirect(Response(there.url, status=301, headers={"Location": "/"}), there)
    if end:
        gone.note_response(Response(there.url, status=end), there)
    await gone.report_rest()
    assert "dedup/gone" not in bench.stats
    assert bench.pipeline.crawl.opened.spooled() == ((0, 0), (0, 0))


@pytest.mark.parametrize(("is_followed", "is_whole"), [(False, True), (False, False), (True, True)])
async def test_a_redirect_to_another_host(bench, is_followed, is_whole):
    """Where the spider does not go there, the URL is gone; else the answer there tells it.

    A crawl that ends early may have a request for it that waits.
    """
    await bench.process({"url": "http://a/", "text": ARTICLE})
    gone = bench.pipeline.crawl.gone
    moved = Response("http://a/", status=308, headers={"Location": "http://b/"})
    gone.note_redirect(moved, Request("http://a/"))
    if is_followed:
        gone.note_followed(Request("http://b/", meta={"redirect_urls": ["http://a/"]}))
    if is_whole:
        gone.end_waiting()
    await gone.report_rest()
    assert bench.stats.get("dedup/gone", 0) == (is_whole and not is_followed)


@pytest.mark.parametrize("status", [404, 301])
async def test_only_who_asks_for_a_page_learns_that_it_is_gone(bench, status):
    """An answer to a form that is sent, or to HEAD, says nothing of the page at that URL."""
    await bench.process({"url": "http://a/", "text": ARTICLE})
    for method in ("POST", "HEAD"):
        request = Request("http://a/", method=method)
        answer = Response(request.url, status=status, headers={"Location": "/thanks"})
        bench.pipeline.crawl.gone.note_redirect(answer, request)
        bench.pipeline.crawl.gone.note_response(answer, request)
    await bench.pipeline.crawl.gone.report_rest()
    assert not bench.pipeline.crawl.gone.waiting
    assert "dedup/gone" not in bench.stats


async def test_an_answer_out_of_the_http_cache_tells_of_no_url_that_it_is_gone(bench):
    """The page may be there again for a long time."""
    cached = Response("http://a/back", status=404, flags=["cached"])
    bench.pipeline.crawl.gone.note_response(cached, Request(cached.url))
    assert not bench.pipeline.crawl.gone.waiting


async def test_urls_gone_when_a_page_is_cancelled(bench, monkeypatch):
    """The next page reports them."""
    await bench.process({"url": "http://a/gone", "text": ARTICLE})
    bench.pipeline.crawl.gone.waiting.append(("http://a/gone", int(time.time())))
    index = bench.pipeline.crawl.opened
    with monkeypatch.context() as patch:
        patch.setattr(index, "gone", lambda url, since: asyncio.sleep(60))
        page = asyncio.create_task(bench.process({"url": "http://a/1", "text": OTHER}))
        await asyncio.sleep(0.1)
        page.cancel()
        with pytest.raises(asyncio.CancelledError):
            await page
    item = await bench.process({"url": "http://a/copy", "text": ARTICLE})
    assert item["dedup"]["replaces"] == "http://a/gone"


async def test_urls_gone_at_the_same_time(bench, server):
    """They are reported in one exchange, before the page that comes next is checked."""
    urls = [f"http://a/{number}" for number in range(20)]
    for number, url in enumerate(urls):
        await bench.process({"url": url, "text": text_of(article(number))})
    for url in urls:
        bench.pipeline.crawl.gone.note_response(Response(url, status=404), Request(url))
    before = server.ask("INFO", "commandstats")["cmdstat_evalsha"]["calls"]
    item = await bench.process({"url": "http://a/copy", "text": text_of(article(7))})
    assert item["dedup"]["replaces"] == urls[7]
    assert bench.stats["dedup/gone"] == 20
    assert server.ask("INFO", "commandstats")["cmdstat_evalsha"]["calls"] - before <= 3


async def test_a_url_gone_that_cannot_be_noted(open_bench, start_server, monkeypatch):
    """It costs no page its check, and the end of the crawl still checks those that passed."""
    server = start_server()
    bench = await open_bench(redis_url=server.url, timeout=SOON)
    bench.pipeline.crawl.gone.waiting.extend([("http://a/bad", 1), ("http://a/gone", 1)])
    noted = []

    async def gone(url: str, since: int) -> bool:
        noted.append(url)
        if url == "http://a/bad":
            raise ZeroDivisionError
        return False

    monkeypatch.setattr(bench.pipeline.crawl.opened, "gone", gone)
    item = await bench.process({"url": "http://a/1", "text": ARTICLE})
    assert (item["dedup"]["kind"], noted) == ("unique", ["http://a/bad", "http://a/gone"])
    assert bench.stats["dedup/errors/ZeroDivisionError"] == 1
    server.process.send_signal(signal.SIGSTOP)
    item = await bench.process({"url": "http://a/2", "text": OTHER})
    assert item["dedup"]["kind"] == "unchecked"
    server.process.send_signal(signal.SIGCONT)
    bench.pipeline.crawl.gone.waiting.append(("http://a/bad", 1))
    await asyncio.sleep(0.5)
    await bench.pipeline.close_spider()
    assert bench.stats["dedup/replayed/unique"] == 1


async def test_a_spool_that_cannot_be_read(open_bench, tmp_path, caplog):
    """The crawl ends as always, and says so."""
    bench = await open_bench()
    (tmp_path / "unchecked-0.jsonl").mkdir()
    with caplog.at_level(logging.INFO):
        await bench.pipeline.close_spider()
    said = [message.partition(":")[0] for message in caplog.messages]
    assert said == ["Pages that passed unchecked cannot be read from DEDUP_DATA_DIR", "Pages"]


async def test_pages_of_another_index_are_told_once(open_bench, start_server, caplog):
    """The start of a crawl says that pages wait in vain, its end only if there are more."""
    server = start_server()
    other = await open_bench(redis_url=server.url, timeout=SOON, seed=8)
    server.process.send_signal(signal.SIGSTOP)
    await other.process({"url": "/a", "text": ARTICLE})
    bench, second = await open_bench(), await open_bench()
    await bench.pipeline.close_spider()
    assert caplog.text.count("1 page passed unchecked in crawls with another index") == 2
    await other.process({"url": "/b", "text": ARTICLE})
    await second.pipeline.close_spider()
    assert caplog.text.count("2 pages passed unchecked in crawls with another index") == 1
    server.process.send_signal(signal.SIGCONT)


async def test_urls_gone_are_not_told_as_pages(open_bench, start_server, caplog, tmp_path):
    """What waits at a crawl's end, and for another index, are pages and URLs, each counted."""
    server = start_server()
    bench = await open_bench(redis_url=server.url, timeout=SOON, seed=8)
    await keep_and_lose(bench)
    server.process.send_signal(signal.SIGSTOP)
    await bench.process({"url": "http://a/1", "text": OTHER})
    await bench.pipeline.close_spider()
    what = "1 page passed unchecked and 1 URL was found gone"
    assert f"{what} (" in caplog.text
    await open_bench()
    assert f"{what} in crawls with another index" in caplog.text
    server.process.send_signal(signal.SIGCONT)
    (tmp_path / "unchecked.jsonl").unlink()


async def test_a_full_disk_when_all_have_been_checked(
    open_bench, start_server, caplog, monkeypatch, tmp_path
):
    """What has been checked is told; only that its lines stay is an error."""
    caplog.set_level(logging.INFO)
    server = start_server()
    bench = await open_bench(redis_url=server.url, timeout=SOON)
    server.process.send_signal(signal.SIGSTOP)
    await bench.process({"url": "http://a/1", "text": OTHER})
    server.process.send_signal(signal.SIGCONT)
    await asyncio.sleep(1)

    def fail(*arguments: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Spool, "_append_lines", fail)
    await bench.pipeline.close_spider()
    assert "What has been checked stays in unchecked.jsonl" in caplog.text
    assert "Checked 1 page that had passed unchecked: 0 copies" in caplog.text
    assert "0 pages passed" not in caplog.text


async def test_pages_of_an_earlier_crawl_are_checked_first(open_bench, start_server):
    """What passed unchecked in one crawl does not take the place of what the next one finds."""
    server = start_server()
    first = await open_bench(redis_url=server.url, timeout=SOON)
    server.process.send_signal(signal.SIGSTOP)
    await first.process({"url": "/a", "text": ARTICLE})
    await first.pipeline.close_spider()
    server.process.send_signal(signal.SIGCONT)
    second = await open_bench(redis_url=server.url)
    assert (await second.process({"url": "/a", "text": OTHER}))["dedup"]["kind"] == "updated"
    await second.pipeline.close_spider()
    third = await open_bench(redis_url=server.url)
    assert (await third.process({"url": "/a", "text": OTHER}))["dedup"]["kind"] == "unchanged"


async def test_an_index_that_was_flushed(open_bench, server):
    """Pages that passed since then are checked at the crawl's end, whatever seed the index drew."""
    bench = await open_bench(seed=None)
    await bench.process({"url": "/a", "text": ARTICLE})
    server.ask("FLUSHALL")
    for url in "bc":
        item = await bench.process({"url": url, "text": OTHER})
        assert item["dedup"]["kind"] == "unchecked"
    await bench.pipeline.close_spider()
    assert bench.stats["dedup/replayed/unique"] == bench.stats["dedup/replayed/exact"] == 1
    later = await open_bench(seed=None)
    assert (await later.process({"url": "b", "text": OTHER}))["dedup"]["kind"] == "unchanged"


async def test_an_index_that_was_replaced(open_bench, server, caplog, tmp_path):
    """Pages that no index can check any more have to be crawled again, and the log says so."""
    bench = await open_bench(seed=None)
    server.ask("FLUSHALL")
    await open_bench(seed=None)
    item = await bench.process({"url": "b", "text": OTHER})
    assert item["dedup"]["kind"] == "unchecked"
    await bench.pipeline.close_spider()
    assert "1 page passed unchecked, and the index was replaced" in caplog.text
    assert "scrapy dedup replay" not in caplog.text
    (tmp_path / "unchecked.jsonl").unlink()


@pytest.mark.parametrize("old", ["http://a/%c3%a9", "http://a/%C3%A9#part"])
async def test_a_url_that_leads_to_itself_is_not_gone(bench, old):
    """A redirect to another spelling of a URL leaves its page in its place."""
    url = "http://a/%C3%A9"
    await bench.process({"url": url, "text": ARTICLE})
    for way in ["http://a/login"], []:
        gone, to = bench.pipeline.crawl.gone, [*way, url][0]
        gone.note_redirect(Response(old, status=301, headers={"Location": to}), Request(old))
        gone.note_response(Response(url), Request(url, meta={"redirect_urls": [old, *way]}))
    with pytest.raises(ExactDuplicate):
        await bench.process({"url": "http://a/copy", "text": ARTICLE})
    with pytest.raises(DroppedPage, match=f"repeated: '{url}'$"):
        await bench.process({"url": url, "text": ARTICLE})
    assert "dedup/gone" not in bench.stats


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
