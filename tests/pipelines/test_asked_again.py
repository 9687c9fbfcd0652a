"""Pages asked for again, and forgotten for what pipelines behind the filter do with them."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request, Spider, signals
from scrapy.exceptions import DontCloseSpider, DropItem
from scrapy.exporters import JsonLinesItemExporter
from twisted.python.failure import Failure

from crawler.dedup import DuplicateIndex, Kind, ServerError, Verdict
from crawler.dedup.candidates import LEARNT
from crawler.pipelines.crawl import course, doubtful, later, memory
from crawler.pipelines.crawl.asked_pages import AskedPages
from crawler.pipelines.reporting import LEFT_OUT
from tests.pipelines.crawls import Feed, Kept, crawl, prose
from tests.spiders.webserver import Answer, Web

HOST = "Contents " + prose(9999)
IN_ORDER = {"DEDUP_LEARN_URLS": False}  # pages come in the order of their links


@pytest.fixture
def run(web: Web, redis_url: str, tmp_path: Path) -> Callable[..., Any]:
    """Crawls the web server, one page at a time."""

    async def start(*feeds: Any, **options: Any) -> dict[str, Any]:
        given = {
            "DEDUP_REDIS_URL": redis_url,
            "DEDUP_DATA_DIR": tmp_path,
            "CONCURRENT_REQUESTS": 1,
            "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
        }
        web.seen.clear()
        return await crawl(web, *feeds, **{**given, **options})

    return start


class Other(Spider):
    """Yields dicts, with what a callback was called with; it fetches pages that link to nothing."""

    name = "other"
    paths = ("/new", "/old")

    def __init__(self, url: str) -> None:
        super().__init__()
        self.url = url

    async def start(self) -> AsyncIterator[Request]:
        for path in self.paths:
            yield Request(
                self.url + path, self.parse_page, cb_kwargs={"at": path}, meta={"mine": [1]}
            )

    def parse_page(self, response: Any, at: str) -> Iterator[Any]:
        yield {"url": response.url, "text": response.text, "at": at, "mine": response.meta["mine"]}


async def test_any_spider_is_asked_by_the_request_of_the_item(web: Web, run: Any) -> None:
    """With its callback, arguments and meta: the copy of a page that has another text now."""
    web.page("/old", text=prose(1))
    await run(spider=type("First", (Other,), {"paths": ("/old",)}))
    web.page("/new", text=prose(1))
    web.page("/old", text=prose(2))
    tags = Kept()
    stats = await run(tags, spider=Other)
    assert web.seen == ["/new", "/old", "/new"]
    assert [(item["at"], item["mine"], item["dedup"]["kind"]) for item in tags.items] == [
        ("/old", [1], "updated"),
        ("/new", [1], "updated"),
    ]
    assert (stats["dedup/asked_again"], stats["finish_reason"]) == (1, "finished")


class Injector:
    """Gives callbacks an item that is made of the response, as scrapy-poet does."""

    def process_response(self, request: Request, response: Any) -> Any:
        request.cb_kwargs["item"] = {"said": response.css("main p::text").get()}
        return response


class Injected(Other):
    async def start(self) -> AsyncIterator[Request]:
        yield Request(self.url)

    def parse(self, response: Any, item: Any) -> Iterator[Any]:
        for path in self.paths:
            yield Request(self.url + path, self.parse_page, cb_kwargs={"at": path})

    def parse_page(self, response: Any, at: str, **injected: Any) -> Iterator[Any]:
        yield response.cb_kwargs["item"]


async def test_an_item_that_is_injected_into_the_callback(web: Web, run: Any) -> None:
    """It was begun nowhere else, and a request that is made again brings one of its own.

    The callback may also read it from its response.
    """
    web.page("/", text=HOST)
    web.page("/old", text=prose(1))
    settings = {"DOWNLOADER_MIDDLEWARES": {Injector: 500}}
    await run(spider=type("First", (Injected,), {"paths": ("/old",)}), **settings)
    web.page("/new", text=prose(1))
    web.page("/old", text=prose(2))
    tags, kept = Kept(), list[Any]()
    add = memory.DroppedPages.add_page
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory.DroppedPages, "add_page", lambda *of: kept.append(of[2]) or add(*of))
        await run(tags, spider=Injected, **settings)
    assert web.seen == ["/", "/new", "/old", "/new"]
    assert [(item["said"], item["dedup"]["kind"]) for item in tags.items] == [
        (prose(2), "updated"),
        (prose(1), "updated"),
    ]
    assert [page.request.cb_kwargs for page in kept] == [{"at": "/new"}]


async def test_pages_are_named_by_the_urls_of_their_items(
    web: Web, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever their spelling; the crawl itself knows them by their identity."""
    pages = {"/list?b=2&a=1": 1, "/operator%3D.html": 2, "/copy?z=1&y=2": 1, "/operator": 2}
    web.page("/", *pages, text=HOST)
    for path, seed in pages.items():
        web.page(path.replace("%3D", "="), text=prose(seed))  # as the client asks for it
    waiting: list[str] = []
    add = memory.DroppedPages.add_page
    with monkeypatch.context() as patch:
        patch.setattr(
            memory.DroppedPages, "add_page", lambda *of: waiting.append(of[1]) or add(*of)
        )
        # On a busy machine an original may still be on its way when its copy comes.
        patch.setattr(later.LaterPipelines, "is_doubtful", lambda *of: False)
        stats = await run()
    assert (stats["dedup/exact"], waiting) == (2, [])  # their originals were seen
    tags = Kept()
    await run(tags, DEDUP_DROP="")
    of = {
        item.url: item.dedup["duplicate_of"] for item in tags.items if "duplicate_of" in item.dedup
    }
    assert of == {
        web.url + "/copy?z=1&y=2": web.url + "/list?b=2&a=1",
        web.url + "/operator": web.url + "/operator%3D.html",
    }
    other = "/list?a=1&b=2"
    web.page("/", "/copy?z=1&y=2", other, text=HOST)
    web.page(other, text=prose(3))
    feed = Feed()
    await run(feed)
    assert web.seen[1:] == ["/copy?z=1&y=2", other, "/copy?z=1&y=2"]
    assert [feed.tags[path]["kind"] for path in (other, "/copy?z=1&y=2")] == ["updated"] * 2


async def test_a_text_of_two_scopes_is_asked_for_twice(web: Web, run: Any) -> None:
    """Each scope has lost the page that had it, so that one of each is asked for again."""

    class Tenants(Other):
        def parse_page(self, response: Any, at: str) -> Iterator[Any]:
            yield {"url": response.url, "text": response.text, "tenant": at[1]}

    old, new = ("/a/old", "/b/old"), ("/a/new", "/b/new")
    for path in (*old, *new):
        web.page(path, text=prose(1))
    stats = await run(spider=type("First", (Tenants,), {"paths": old}), DEDUP_SCOPE="tenant")
    assert stats["dedup/unique"] == 2
    for number, path in enumerate(old, 2):
        web.page(path, text=prose(number))
    second = type("Second", (Tenants,), {"paths": (*new, *old)})
    stats = await run(spider=second, DEDUP_SCOPE="tenant")
    assert web.seen == [*new, *old, *new]
    assert (stats["dedup/exact"], stats["dedup/updated"]) == (2, 4)


async def test_copies_of_what_is_gone_are_asked_for_again(web: Web, run: Any) -> None:
    """Also where the page was not asked for at all, and stays where it was: nobody confirms it."""
    web.page("/", "/old", text=HOST)
    web.page("/old", text=prose(1))
    await run()
    web.page("/", "/new", "/old", text=HOST)
    web.page("/new", text=prose(1))
    del web.answers["/old"]
    feed = Feed()
    await run(feed)
    assert web.seen[1:] == ["/new", "/old", "/new"]
    assert feed.tags["/new"]["replaces"].endswith("/old")
    web.page("/other", text=prose(1))
    web.page("/", "/other", text=HOST)  # nothing links to /new any more
    assert (await run(feed))["dedup/asked_again"] == 1
    assert web.seen[1:] == ["/other", "/other"]
    assert feed.tags["/other"]["kind"] == "updated"
    assert "dedup/asked_again" not in await run()


async def crawl_preferred(
    web: Web, run: Any, copies: dict[str, list[str]]
) -> tuple[Feed, dict[str, Any]]:
    """Of copies, among enough other pages, that with the shortest URL is kept."""
    others = {f"/{n}": prose(100 + n) for n in range(LEARNT)}
    texts = others | {path: " ".join(words) for path, words in copies.items()}
    web.page("/", *texts, text=HOST)
    for path, text in texts.items():
        web.page(path, text=text)
    feed = Feed()
    settings = {"DEDUP_TEMPLATES": True, "DEDUP_SEED": 1, **IN_ORDER}
    stats = await run(feed, DEDUP_PREFER="shortest-url", **settings)
    assert feed.texts.keys() >= {"/", *others}
    return feed, stats


async def test_a_copy_of_a_page_that_is_replaced_is_asked_for_again(web: Web, run: Any) -> None:
    """The better page is like the page that it replaces, but not like all copies of that."""
    words, head, tail = (prose(seed, 300).split() for seed in range(3))
    copies = {
        "/original": words,
        "/copy-with-another-end": words[:272] + tail[:28],
        "/best": head[:28] + words[28:],
    }
    feed, stats = await crawl_preferred(web, run, copies)
    assert (stats["dedup/replaced"], stats["dedup/asked_again"]) == (1, 1)
    assert feed.texts.keys() >= {"/copy-with-another-end", "/best"}
    assert "/original" not in feed.texts


async def test_copies_of_all_pages_that_are_replaced_are_asked_for_again(
    web: Web, run: Any
) -> None:
    """One page replaces two, which are not like each other; their copies are not like it."""
    words, *other = (prose(seed, 300).split() for seed in range(5))
    left, right = other[0][:28] + words[28:], words[:272] + other[1][:28]
    copies = {
        "/left": left,
        "/right": right,
        "/copy-of-left": left[:140] + other[2][:20] + left[160:],
        "/copy-of-right": right[:140] + other[3][:20] + right[160:],
        "/all": words,
    }
    feed, stats = await crawl_preferred(web, run, copies)
    assert (stats["dedup/replaced"], stats["dedup/asked_again"]) == (1, 2)
    assert feed.texts.keys() >= {"/all", "/copy-of-left", "/copy-of-right"}


@pytest.mark.parametrize("most", [0, 1000])
async def test_a_copy_that_was_passed_on_does_not_come_again(
    web: Web, run: Any, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """Its text is in the feed, whatever becomes of its original; the index is not asked for it."""
    web.page("/second", text=prose(3))
    steps = iter([("/first", 1), ("/second", 1), ("/first", 2)])  # pages and the texts they get

    class Changing(Other):
        paths = ("/second",)

        def parse_page(self, response: Any, at: str) -> Iterator[Any]:
            yield from super().parse_page(response, at)
            for path, seed in itertools.islice(steps, 1):
                web.page(path, text=prose(seed))
                yield response.request.replace(
                    url=self.url + path, cb_kwargs={"at": path}, dont_filter=True
                )

    asked: list[str] = []
    originals = DuplicateIndex.originals

    async def note(index: DuplicateIndex, urls: Iterable[str]) -> Any:
        asked.extend(urls := list(urls))
        return await originals(index, urls)

    monkeypatch.setattr(DuplicateIndex, "originals", note)
    tags = Kept()
    given = {"DEDUP_PREFER": "https", "DEDUP_DROP": "near", "DEDUP_ASK_AGAIN": most}
    await run(tags, spider=Changing, **given)
    came = [(item["at"], item["dedup"]["kind"]) for item in tags.items]
    assert came[1:] == [("/first", "unique"), ("/second", "exact"), ("/first", "updated")]
    assert asked == ([f"{web.url}/first"] if most else [])


async def test_a_spider_that_is_idle_after_each_page_asks_now_and_then(
    web: Web, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As behind a queue: thousands of pages are not asked about for one, but about the last is."""
    monkeypatch.setattr(course, "_LONG_PAUSE", 3.0)
    paths = [f"/{number}" for number in range(30)]
    for path in paths:
        web.page(path, text=prose(1))

    class Waiting(Other):
        async def start(self) -> AsyncIterator[Request]:
            self.crawler.signals.connect(self.take_next, signal=signals.spider_idle)
            yield Request(self.url + "/0", self.parse_page, cb_kwargs={"at": ""}, meta={"mine": 0})

        def take_next(self) -> None:
            if left := paths[len(web.seen) :]:
                again = {"cb_kwargs": {"at": ""}, "meta": {"mine": 0}}
                self.crawler.engine.crawl(Request(self.url + left[0], self.parse_page, **again))
                raise DontCloseSpider

    asked: list[set[str]] = []
    originals = DuplicateIndex.originals

    async def note(index: DuplicateIndex, urls: Iterable[str]) -> Any:
        asked.append(set(urls))
        return await originals(index, urls)

    monkeypatch.setattr(DuplicateIndex, "originals", note)
    await run(spider=Waiting)
    assert web.seen == paths
    assert 10 <= len(asked) <= 15
    assert asked[-1] == {f"{web.url}{path}" for path in paths[1:]}


async def test_a_spider_that_goes_on_asks_again_after_a_fault(
    web: Web, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index gave no answer when the spider was idle, and then its queue had another page."""
    for path, seed in {"/old": 1, "/new": 1, "/other": 2}.items():
        web.page(path, text=prose(seed))
    await run(spider=type("Old", (Other,), {"paths": ("/old",)}))
    originals, faults = DuplicateIndex.originals, [ServerError("fails over")]

    async def fail_once(index: DuplicateIndex, urls: Iterable[str]) -> Any:
        if faults:
            raise faults.pop()
        return await originals(index, urls)

    monkeypatch.setattr(DuplicateIndex, "originals", fail_once)

    class Queued(Other):
        paths = ("/new",)

        async def start(self) -> AsyncIterator[Request]:
            self.crawler.signals.connect(self.take_next, signal=signals.spider_idle)
            async for request in super().start():
                yield request

        def take_next(self) -> None:
            if not faults and web.seen == ["/new"]:
                again = {"cb_kwargs": {"at": ""}, "meta": {"mine": 0}}
                request = Request(f"{self.url}/other", self.parse_page, **again)
                self.crawler.engine.crawl(request)
                raise DontCloseSpider

    stats = await run(spider=Queued)
    assert web.seen == ["/new", "/other", "/new"]
    assert (stats["dedup/asked_again"], stats["dedup/updated"]) == (1, 1)


@pytest.mark.parametrize(("then", "found"), [
    ("new", ["updated", "updated"]),
    ("copy", ["updated"]),
    ("gone", ["updated"]),
    ("left out", ["updated"]),
])  # fmt: skip
async def test_a_copy_of_a_page_that_is_fetched_twice(
    web: Web, run: Any, then: str, found: list[str]
) -> None:
    """Its text was in a page that the crawl itself had seen, and that has another now, or none."""
    web.page("/other", text=prose(3))
    web.page("/old", text=prose(1))
    web.page("/new", text=prose(1))
    first = ["/other", "/old", "/new"]

    class Twice(Other):
        paths = tuple(first)

        def parse_page(self, response: Any, at: str) -> Iterator[Any]:
            if then == "left out" and web.seen == [*first, "/old"]:
                self.crawler.signals.send_catch_log(LEFT_OUT, url=response.url)
                return
            yield from super().parse_page(response, at)
            if web.seen == first:
                web.page("/old", text=prose(3 if then == "copy" else 2))
                if then == "gone":
                    del web.answers["/old"]
                yield response.request.replace(url=f"{self.url}/old", dont_filter=True)

    tags = Kept()
    stats = await run(tags, spider=Twice)
    assert web.seen == [*first, "/old", "/new"]
    assert [item["dedup"]["kind"] for item in tags.items] == ["unique", "unique", *found]
    assert stats["dedup/asked_again"] == 1


async def test_a_paused_crawl_remembers_copies_whose_originals_may_change(
    web: Web, run: Any, tmp_path: Path
) -> None:
    """The page of a copy's text was seen before the pause, and has another text after it."""
    web.page("/old", text=prose(1))
    web.page("/new", text=prose(1))
    web.page("/last", text=prose(3))

    class Twice(Other):
        paths = ("/old", "/new", "/last")

        def parse_page(self, response: Any, at: str) -> Iterator[Any]:
            yield from super().parse_page(response, at)
            if at == "/last":
                request = response.request.replace(url=f"{self.url}/old", dont_filter=True)
                yield request.replace(cb_kwargs={"at": "/old"})

    paused = {
        "JOBDIR": tmp_path / "job",
        "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
    }
    await run(spider=Twice, CLOSESPIDER_PAGECOUNT=2, **paused)
    web.page("/old", text=prose(2))
    tags = Kept()
    stats = await run(tags, spider=Twice, **paused)
    assert web.seen[-2:] == ["/old", "/new"]
    assert stats["dedup/asked_again"] == 1


def test_a_long_crawl_lists_so_many_orphans(caplog: pytest.LogCaptureFixture) -> None:
    """Those that it cannot request grow as it goes on, but not what it remembers."""
    counted: list[str] = []
    pages = AskedPages(1, lambda url: False, counted.append)
    for number in range(100):
        pages.note_missed(f"http://site/{number}")
    assert len(pages.missed) == 10
    pages.tell_end()
    assert len(counted) == 10
    assert "At least 10 orphans: no kept page has the text of them" in caplog.text


def test_a_kept_page_that_comes_again_is_among_the_latest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its copies are not remembered for want of an original that was just seen."""
    monkeypatch.setattr(memory, "_MOST_SEEN", 2)
    pages = memory.DroppedPages(10)
    for url in ("a", "b", "a", "c"):
        pages.note_kept(url)
    assert [pages.has_seen(url) for url in "abc"] == [True, False, True]


async def test_copies_of_pages_elsewhere_are_left(web: Web, run: Any) -> None:
    """A host that the crawl does not visit is not taken for one whose pages have moved."""
    web.page("/new", text=prose(1))
    elsewhere = web.host.replace("localhost", "127.0.0.1")
    web.page("/old", text=prose(1))
    first = type("First", (Other,), {"paths": ("/old",)})
    url, web.url = web.url, f"http://{elsewhere}"
    await run(spider=first)
    web.url = url
    stats = await run(spider=type("Second", (Other,), {"paths": ("/new",)}))
    assert (stats["dedup/exact"], "dedup/asked_again" in stats) == (1, False)


async def test_a_host_that_has_only_lists_by_now_is_visited(web: Web, run: Any) -> None:
    """Its response gives no item, and the page that it had before is nowhere linked."""
    elsewhere = web.host.replace("localhost", "127.0.0.1")
    for path in ("/old", "/new", "/list"):
        web.page(path, text=prose(1))
    url, web.url = web.url, f"http://{elsewhere}"
    await run(spider=type("First", (Other,), {"paths": ("/old",)}))
    web.url = url

    class Moved(Other):
        paths = ("/new",)

        async def start(self) -> AsyncIterator[Request]:
            yield Request(f"http://{elsewhere}/list", self.parse_list)
            async for request in super().start():
                yield request

        def parse_list(self, response: Any) -> Iterator[Any]:
            yield from ()

    tags = Kept()
    assert (await run(tags, spider=Moved))["dedup/asked_again"] == 1
    assert [(item["at"], item["dedup"]["kind"]) for item in tags.items] == [("/new", "updated")]


async def test_what_another_crawl_has_confirmed_may_change(web: Web, run: Any) -> None:
    """A crawl that overlaps has seen the original before this one finds it changed."""
    for path in Other.paths:
        web.page(path, text=prose(1))

    class Overlapped(Other):
        async def start(self) -> AsyncIterator[Request]:
            await run(spider=type("Behind", (Other,), {"paths": ("/old", "/new")}))
            web.page("/old", text=prose(2))
            async for request in super().start():
                yield request

    tags = Kept()
    stats = await run(tags, spider=Overlapped)
    assert [(item["at"], item["dedup"]["kind"]) for item in tags.items] == [
        ("/old", "updated"),
        ("/new", "updated"),
    ]
    assert (stats["dedup/asked_again"], stats["dedup/dropped/exact"]) == (1, 1)
    assert "dedup/asked_again" not in await run(spider=Other)


@pytest.mark.parametrize("minutes", [1, -1])
async def test_what_another_crawl_has_confirmed_may_be_no_page(
    web: Web, run: Any, monkeypatch: pytest.MonkeyPatch, minutes: int
) -> None:
    """The spider makes no item of it any more, unless the other crawl came later and did."""
    for path in Other.paths:
        web.page(path, text=prose(1))

    class Overlapped(Other):
        paths = ("/old", "/new")

        async def start(self) -> AsyncIterator[Request]:
            await run(spider=type("Behind", (Other,), {"paths": self.paths}))
            clock = SimpleNamespace(time=lambda: time.time() + 60 * minutes)
            monkeypatch.setattr(memory, "time", clock)
            async for request in super().start():
                yield request

        def parse_page(self, response: Any, at: str) -> Iterator[Any]:
            if at != "/old":
                yield from super().parse_page(response, at)

    tags = Kept()
    stats = await run(tags, spider=Overlapped)
    kept = ["/new"] if minutes > 0 else []
    assert [item["at"] for item in tags.items] == kept
    assert stats.get("dedup/asked_again", 0) == len(kept)


@pytest.mark.parametrize("most", [0, 1])
async def test_only_so_many_are_remembered(
    web: Web, run: Any, most: int, caplog: pytest.LogCaptureFixture
) -> None:
    """What is beyond is said at the end; 0 turns it off."""
    web.page("/", "/old", text=HOST)
    web.page("/old", text=prose(1))
    await run()
    copies = [f"/copy/{n}" for n in range(3)]
    web.page("/", *copies, "/old", text=HOST)
    for path in copies:
        web.page(path, text=prose(1))
    web.page("/old", text=prose(2))
    with caplog.at_level(logging.INFO):
        stats = await run(DEDUP_ASK_AGAIN=most, **IN_ORDER)
    assert stats.get("dedup/asked_again", 0) == most
    assert stats.get("dedup/not_remembered", 0) == 2 * most
    assert ("DEDUP_ASK_AGAIN=1" in caplog.text) == bool(most)


async def test_it_may_change_after_the_index_was_asked(web: Web, run: Any) -> None:
    """A page that another crawl has confirmed is asked about again at the end."""
    copies = tuple(f"/copy/{n}" for n in range(16))  # after which the index is asked
    for path in ("/old", *copies):
        web.page(path, text=prose(1))

    class Overlapped(Other):
        paths = (*copies, "/old")

        async def start(self) -> AsyncIterator[Request]:
            await run(spider=type("Behind", (Other,), {"paths": ("/old",)}))
            web.page("/old", text=prose(2))
            async for request in super().start():
                yield request

    tags = Kept()
    await run(tags, spider=Overlapped, DEDUP_ASK_AGAIN=20)
    assert [item["dedup"]["kind"] for item in tags.items] == ["updated", "updated"]


async def test_a_mirror_takes_no_room(web: Web, run: Any) -> None:
    """When memory is full, copies of hosts that the crawl does not visit are forgotten first."""
    mirrored = {f"/mirror/{n}": 10 + n for n in range(4)}
    for path, seed in {**mirrored, "/old": 1, "/older": 2}.items():
        web.page(path, text=prose(seed))
    url, elsewhere = web.url, "http://" + web.host.replace("localhost", "127.0.0.1")
    web.url = elsewhere
    await run(spider=type("There", (Other,), {"paths": tuple(mirrored)}))
    web.url = url
    await run(spider=type("Here", (Other,), {"paths": ("/old", "/older")}))
    for path, seed in {"/new": 1, "/newer": 2, "/old": 3, "/older": 4}.items():
        web.page(path, text=prose(seed))
    tags = Kept()
    paths = (*list(mirrored)[:3], "/new", "/mirror/3", "/newer", "/old", "/older")
    stats = await run(tags, spider=type("Both", (Other,), {"paths": paths}), DEDUP_ASK_AGAIN=2)
    assert [item["at"] for item in tags.items] == ["/old", "/older", "/new", "/newer"]
    assert (stats["dedup/asked_again"], stats.get("dedup/not_remembered")) == (2, None)


async def test_many_do_not_wait_for_the_end(web: Web, run: Any) -> None:
    """When much is remembered, copies of what has changed by then are asked for again."""
    olds = {"/a": 1, "/b": 2}
    web.page("/", *olds, text=HOST)
    for path, seed in olds.items():
        web.page(path, text=prose(seed))
    await run()
    copies = {f"/copy/{n}": 1 if n < 14 else 2 for n in range(22)}
    web.page("/", *list(copies)[:14], "/a", *list(copies)[14:], "/b", text=HOST)
    for path, seed in copies.items():
        web.page(path, text=prose(seed))
    web.page("/a", text=prose(3))
    feed = Feed()
    stats = await run(feed, DEDUP_ASK_AGAIN=20)
    assert (stats["dedup/asked_again"], "dedup/not_remembered" in stats) == (1, False)
    assert len(feed.tags.keys() & copies.keys()) == 1


class LosesOne(JsonLinesItemExporter):
    """Cannot write one of the items."""

    at = "/copy/0"

    def export_item(self, item: Any) -> None:
        if item["at"] == self.at:
            raise TypeError("no form")
        super().export_item(item)

    @classmethod
    def feed(cls, folder: Path) -> dict[str, Any]:
        """Settings for a feed in this folder."""
        feeds = {folder / "feed.jsonl": {"format": "jsonl"}}
        return {"FEEDS": feeds, "FEED_EXPORTERS": {"jsonl": cls}}

    @staticmethod
    def written(folder: Path) -> list[str]:
        """Where the items of the feed were."""
        return [json.loads(line)["at"] for line in (folder / "feed.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("way", ["gone", "dropped", "not written"])
async def test_one_page_with_a_text_is_asked_for(
    web: Web, run: Any, tmp_path: Path, way: str
) -> None:
    """The next one only if that is gone by then, or if a later pipeline or the feed loses it."""
    web.page("/old", text=prose(1))
    await run(spider=type("First", (Other,), {"paths": ("/old",)}))
    copies = tuple(f"/copy/{n}" for n in range(9))
    for path in copies:
        web.page(path, text=prose(1))
    web.page("/old", text=prose(2))

    class Losing:
        def process_item(self, item: Any) -> Any:
            if item["at"] == "/old" and way == "gone":
                del web.answers["/copy/0"]
            if item["at"] == LosesOne.at and way == "dropped":
                raise DropItem("not mine")
            return item

    spider = type("All", (Other,), {"paths": (*copies, "/old")})
    stats = await run(spider=spider, ITEM_PIPELINES={Losing: 300}, **LosesOne.feed(tmp_path))
    assert web.seen[len(copies) + 1 :] == ["/copy/0", "/copy/1"]
    assert LosesOne.written(tmp_path) == ["/old", "/copy/1"]
    assert "dedup/not_asked_again" not in stats


async def test_what_does_not_come_again_is_listed(
    web: Web, run: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """A page that fails when it is asked for again, and one at a limit of the crawl."""
    web.page("/", "/old", text=HOST)
    web.page("/old", text=prose(1))
    await run()
    web.page("/", "/new", "/old", text=HOST)
    web.page("/new", text=prose(1))
    web.page("/old", text=prose(2))
    with caplog.at_level(logging.INFO):
        stats = await run(CLOSESPIDER_ITEMCOUNT=2)
    assert (stats["dedup/not_asked_again"], "dedup/asked_again" in stats) == (1, False)
    assert f"{web.url}/new" in caplog.text


async def test_pages_that_the_index_does_not_answer_for_are_no_orphans(
    web: Web, run: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The log does not say that no kept page has their text: an earlier feed has one."""
    for path in ("/new", "/old"):
        web.page(path, text=prose(1))
    await run(spider=type("Old", (Other,), {"paths": ("/old",)}))

    async def fail(index: DuplicateIndex, urls: Iterable[str]) -> Any:
        raise ServerError("fails over")

    monkeypatch.setattr(DuplicateIndex, "originals", fail)
    stats = await run(spider=type("New", (Other,), {"paths": ("/new",)}))
    assert stats["dedup/not_asked_again"] == 1
    assert "1 dropped page: the index gave no answer whether a kept page has" in caplog.text
    assert "no kept page has the text of it" not in caplog.text


class Fails:
    """A pipeline behind the filter that does not take some pages."""

    error: Exception = DropItem("not mine")
    path = "/a"

    def process_item(self, item: Any) -> Any:
        if item.url.endswith(self.path):
            raise self.error
        return item


@pytest.mark.parametrize("error", [DropItem("not mine"), ValueError("broken")])
async def test_a_page_that_a_later_pipeline_loses_is_forgotten(
    web: Web, run: Any, error: Exception
) -> None:
    """Its next copy is kept, and so is the one that came while it was on its way."""
    web.page("/", "/a", "/b", text=HOST)
    web.page("/a", text=prose(1))
    web.page("/b", text=prose(1))
    pipeline = type("Failing", (Fails,), {"error": error})
    feed = Feed()
    stats = await run(feed, ITEM_PIPELINES={pipeline: 300})
    assert stats["dedup/lost_later"] == 1
    assert feed.tags["/b"]["kind"] in ("unique", "updated")
    assert (await run(feed))["dedup/unchanged"] == 2  # the contents, and /b
    assert feed.tags["/b"]["kind"] == "unchanged"
    # What an earlier crawl has passed on is not forgotten, whoever leaves it out now.
    assert "dedup/lost_later" not in await run(
        ITEM_PIPELINES={type("Skipping", (Fails,), {"path": "/b"}): 300}
    )


@pytest.mark.parametrize("is_dropped", [True, False])
async def test_a_page_whose_item_loses_its_url_before_it_is_lost(
    web: Web, run: Any, tmp_path: Path, is_dropped: bool
) -> None:
    """As in a pipeline that takes an item apart for a database: the response has another URL."""
    for path in Other.paths:
        web.page(path, text=prose(1))

    class Named(Other):
        def parse_page(self, response: Any, at: str) -> Iterator[Any]:
            yield {"url": f"https://shop.example{at}", "text": response.text, "at": at}

    class TakingApart:
        def process_item(self, item: Any) -> Any:
            del item["url"]
            if item["at"] == "/new":
                if is_dropped:
                    raise DropItem("no price")
                item["at"] = LosesOne.at
            return item

    stats = await run(spider=Named, ITEM_PIPELINES={TakingApart: 300}, **LosesOne.feed(tmp_path))
    assert stats["dedup/lost_later"] == 1
    assert LosesOne.written(tmp_path) == ["/old"]


@pytest.mark.parametrize(("error", "passed", "told"), [
    (ValueError("no column dedup"), 9, True),
    (ValueError("connection lost"), 9, False),
    (ValueError("11 values for 10 columns"), 0, True),
    (DropItem("unknown field"), 0, True),
    (DropItem("too short"), 1, False),
])  # fmt: skip
def test_pipelines_that_do_not_take_the_verdict(
    error: Exception, passed: int, told: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """The log says what to do where items are lost because they have a field more, once."""
    pages = later.LaterPipelines(str, lambda item, _: [item["url"]], id, id, "dedup")
    for number in range(20):
        item = {"url": str(number), "dedup": {"kind": "unique"}}
        pages.pass_on(Verdict(Kind.UNIQUE, item["url"]))
        if number < passed:
            pages.note_passed(item, None)
        elif isinstance(error, DropItem):
            pages.note_dropped(item, None, error)
        else:
            pages.note_failed(item, None, Failure(error))
    assert caplog.text.count("empty DEDUP_TAG_FIELD") == told


async def test_a_page_that_another_crawler_loses_is_forgotten_at_once(web: Web, run: Any) -> None:
    """Copies that this crawler has dropped meanwhile are asked for again."""
    for path in Other.paths:
        web.page(path, text=prose(1))
    has_come, is_dropped = asyncio.Event(), asyncio.Event()

    class Losing:
        async def process_item(self, item: Any) -> Any:
            has_come.set()
            await is_dropped.wait()
            raise DropItem("not mine")

    class Waiting(Other):
        async def start(self) -> AsyncIterator[Request]:
            first = type("First", (Other,), {"paths": ("/old",)})
            losing = asyncio.ensure_future(run(spider=first, ITEM_PIPELINES={Losing: 300}))
            await has_come.wait()
            yield Request(self.url + "/new", self.parse_page, cb_kwargs={"at": "/new"})
            assert (await losing)["dedup/lost_later"] == 1

        def parse_page(self, response: Any, at: str) -> Iterator[Any]:
            yield {"url": response.url, "text": response.text, "at": at}

    class Drops(Kept):
        def watch(self, crawler: Any) -> None:
            super().watch(crawler)
            crawler.signals.connect(self.drop, signal=signals.item_dropped)

        def drop(self, item: Any) -> None:
            is_dropped.set()

    tags = Drops()
    await run(tags, spider=Waiting)
    assert [item["at"] for item in tags.items] == ["/new"]


@pytest.mark.parametrize("is_lost", [True, False])
async def test_a_page_whose_container_is_lost_is_asked_for(
    web: Web, run: Any, is_lost: bool
) -> None:
    """It was dropped for it while that was on its way; one that has passed stands."""
    web.page("/new", text=prose(2, 200) + " " + prose(1, 200))
    web.page("/old", text=prose(1, 200))
    is_dropped = asyncio.Event()

    class Holding:
        async def process_item(self, item: Any) -> Any:
            if item["at"] == "/new":
                await is_dropped.wait()
                if is_lost:
                    raise DropItem("not mine")
            return item

    class Drops(Kept):
        def watch(self, crawler: Any) -> None:
            super().watch(crawler)
            crawler.signals.connect(
                lambda: is_dropped.set(), signal=signals.item_dropped, weak=False
            )

    tags, options = Drops(), {"DEDUP_CONTAINMENT": 0.9, "DEDUP_DROP": "exact,near,contained"}
    stats = await run(tags, spider=Other, ITEM_PIPELINES={Holding: 300}, **options)
    assert [item["at"] for item in tags.items] == (["/old"] if is_lost else ["/new"])
    assert stats["dedup/dropped/contained"] == 1
    assert web.seen == ["/new", "/old"] + ["/old"] * is_lost


async def test_no_page_is_awaited_to_forget_what_is_lost(open_bench: Any) -> None:
    """Another crawler keeps its copy although this one has nothing more to check."""
    one, other = await open_bench(), await open_bench()
    page = {"url": "https://example.org/a", "text": prose(1)}
    one.pipeline.crawl.course.later.note_dropped(
        await one.process(page), None, DropItem("not mine")
    )
    async with asyncio.timeout(10):
        while not one.stats["dedup/left_out"]:  # noqa: ASYNC110
            await asyncio.sleep(0)
    item = await other.process({**page, "url": "https://example.org/b"})
    assert item["dedup"]["kind"] == "unique"


async def crawl_records(web: Web, run: Any, pages: dict[str, str]) -> tuple[set[str], int]:
    """The pages that are lost beside the text that all have; how many were requested again."""
    web.page("/", *pages, text=HOST)
    for path, html in pages.items():
        web.answers[path] = Answer(html.encode(), {"Content-Type": "text/html"})
    feed = Feed()
    stats = await run(feed, DEDUP_TEMPLATES=True)
    return pages.keys() - feed.tags.keys(), stats.get("dedup/asked_again", 0)


async def test_the_first_pages_of_a_host_are_put_right(web: Web, run: Any) -> None:
    """Near-copies by a paragraph that turns out to be the site's own are asked for again."""
    boiler, pages = prose(9, 120), dict[str, str]()
    for n in range(12):
        body = f"<main><h1>Tea</h1><p>{prose(n, 8)}</p><p>{boiler}</p></main>"
        pages[f"/p/{n}"] = f"<title>Tea {n}</title>{body}"
    lost, asked = await crawl_records(web, run, pages)
    assert not lost
    assert asked <= 8


async def test_pages_of_one_name_below_a_note_are_kept(web: Web, run: Any) -> None:
    """A database puts one title and one note over all of its records."""
    note, pages = [prose(900 + n, 60) for n in range(5)], dict[str, str]()
    for n in range(20):
        lines = "".join(f"<p>{line}</p>" for line in (*note, prose(n, 3), prose(200 + n, 20)))
        pages[f"/r/{n}"] = f"<title>Record</title><main><h1>Record</h1>{lines}</main>"
    lost, asked = await crawl_records(web, run, pages)
    assert not lost
    assert asked <= 8


async def test_records_of_one_name_are_told_apart_by_their_facts(web: Web, run: Any) -> None:
    """Their numbers, names and materials stand in a table beside a note of four blocks."""
    left, pages = "".join(f"<p>{prose(900 + n, 40)}</p>" for n in range(4)), dict[str, str]()
    for n in range(20):
        facts = {"Inventory": f"{100 + n}", "Date": f"{n}.5.1987"}
        facts |= {"Name": prose(n, 2), "Material": prose(200 + n, 2), "Height": "12"}
        right = "".join(f"<dt>{label}<dd>{fact}" for label, fact in facts.items())
        table = f"<table><tr><td>{left}</td><td><dl>{right}</dl></td></tr></table>"
        pages[f"/r/{n}"] = f"<title>Object</title>{table}"
    lost, _ = await crawl_records(web, run, pages)
    assert not lost


def serve_notes(
    web: Web, *, first: int = 0, notes_first: bool = False, copies: int = 0
) -> set[str]:
    """Twelve pages, copies of some under other headings, and eight with a note; those to keep."""
    note = prose(9, 110)
    others, noted = [f"/p/{n}" for n in range(12)], [f"/n/{n}" for n in range(8)]
    plain = [*others, *(f"/copy/{n}" for n in range(copies))]
    paths = [*noted, *plain] if notes_first else [*plain, *noted]
    web.page("/", *paths, text=HOST)
    for n, path in enumerate(paths, first):
        text = n if path in noted else 200 + first + int(path.rpartition("/")[2])
        last = note if path in noted else prose(50 + text, 60)
        lines = f"<h1>{prose(n, 3)}</h1><p>{prose(text, 8)}</p><p>{last}</p>"
        html = f"<title>Tea {n}</title><main>{lines}</main>"
        web.answers[path] = Answer(html.encode(), {"Content-Type": "text/html"})
    return {*others, *noted}


@pytest.mark.parametrize("copies", [0, 12])
async def test_copies_by_a_note_that_is_learnt_later_are_put_right(
    web: Web, run: Any, copies: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A note that some pages have is the site's own once several of them have come.

    No number of other copies keeps them from being remembered.
    """
    monkeypatch.setattr(doubtful, "_MOST", 8)
    feed, kept = Feed(), serve_notes(web, copies=copies)
    stats = await run(feed, DEDUP_TEMPLATES=True)
    assert kept <= feed.tags.keys(), stats
    assert 0 < stats["dedup/asked_again"] <= 4
    assert len(web.seen) == 21 + copies + stats["dedup/asked_again"]


@pytest.mark.parametrize("settings", [{}, IN_ORDER])
async def test_and_by_the_crawl_that_goes_on(
    web: Web, run: Any, tmp_path: Path, settings: dict[str, Any]
) -> None:
    """What a paused crawl has dropped for a note is remembered in its JOBDIR, as is the note."""
    job = {
        "JOBDIR": tmp_path / "job",
        "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
        **settings,
    }
    feed, kept = Feed(), serve_notes(web)
    stats = await run(feed, CLOSESPIDER_PAGECOUNT=16, DEDUP_TEMPLATES=True, **job)
    assert stats["item_dropped_count"] >= 2
    assert "dedup/asked_again" not in stats
    stats = await run(feed, DEDUP_TEMPLATES=True, **job)
    assert kept <= feed.tags.keys(), stats
    assert stats["dedup/asked_again"] >= 2


async def test_a_note_of_two_hosts_makes_no_copies(web: Web, run: Any) -> None:
    """The first pages of a host are copies of another's until their note is known."""
    url, web.url = web.url, "http://" + web.host.replace("localhost", "127.0.0.1")
    serve_notes(web)
    await run(DEDUP_TEMPLATES=True)
    web.url = url
    feed, kept = Feed(), serve_notes(web, first=400, notes_first=True)
    stats = await run(feed, DEDUP_TEMPLATES=True)
    assert kept <= feed.tags.keys(), stats
    assert 0 < stats["dedup/asked_again"] <= 8


async def test_a_copy_is_asked_for_once_for_two_reasons(web: Web, run: Any) -> None:
    """Its original has changed, and its text is a note of the site."""
    kept = serve_notes(web)
    others, (first, *noted) = [f"/p/{n}" for n in range(12)], [f"/n/{n}" for n in range(8)]
    web.page("/", *others, first, text=HOST)
    await run(DEDUP_TEMPLATES=True)
    web.page("/", *others, *noted, first, text=HOST)
    web.page(first, text=prose(1))
    feed = Feed()
    stats = await run(feed, DEDUP_TEMPLATES=True)
    assert kept <= feed.tags.keys(), stats
    assert stats["dedup/asked_again"] >= 2
    assert max(map(web.seen.count, noted)) == 2


async def test_copies_with_much_text_of_their_own_stay(web: Web, run: Any) -> None:
    """No page with the text of one ten pages before is asked for again, whatever its heading."""
    paths = [f"/{n}" for n in range(30)]
    web.page("/", *paths, text=HOST)
    for n, path in enumerate(paths):
        html = f"<main><h1>Tea {n}</h1><p>{prose(n if n < 20 else n - 10, 200)}</p></main>"
        web.answers[path] = Answer(html.encode(), {"Content-Type": "text/html"})
    stats = await run(DEDUP_TEMPLATES=True)
    assert stats["dedup/dropped/near"] == 10
    assert "dedup/asked_again" not in stats


async def test_what_is_asked_for_again_is_no_further_page(web: Web, run: Any) -> None:
    """It does not count for max_pages of the spider `site`."""
    web.page("/", "/old", text=HOST)
    web.page("/old", text=prose(1))
    await run()
    web.page("/", "/new", "/old", text=HOST)
    web.page("/new", text=prose(1))
    web.page("/old", text=prose(2))
    stats = await run(max_pages="4")
    assert (stats["dedup/asked_again"], stats["finish_reason"]) == (1, "finished")
