"""Copies whose original may be gone are asked for again, now and then and at the end."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request, signals
from scrapy.exceptions import DontCloseSpider

from crawler.dedup import DuplicateIndex, ServerError
from crawler.pipelines.crawl import course
from crawler.pipelines.reporting import LEFT_OUT
from tests.pipelines.again.asking import Other
from tests.pipelines.crawls import Kept, prose
from tests.spiders.webserver import Web


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
