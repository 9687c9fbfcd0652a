"""Items of every type: which are dropped, tagged or passed on as they are."""

from __future__ import annotations

import asyncio
import contextlib
import random
import zlib
from functools import partial
from typing import Any

import pytest
from itemadapter import ItemAdapter

from crawler import chrome
from crawler.chrome import SharedTemplate, SiteTemplates, strip_chrome
from crawler.pipelines import DroppedPage, ExactDuplicate, NearDuplicate
from crawler.pipelines.reading import LONG_PAGE, parse_in_turns
from crawler.wording import similarity_in_words
from tests.pipelines.items.item_types import TYPES
from tests.pipelines.stories import ARTICLE, OTHER, html
from tests.support.texts import article
from tests.support.texts import text as text_of


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


async def test_what_is_no_item_passes(bench):
    """A value of a type that is no item passes and is counted."""
    assert await bench.process("a string") == "a string"
    assert bench.stats == {"dedup/unknown_item_type": 1}
