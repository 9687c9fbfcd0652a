"""Pages whose items a later pipeline loses are forgotten, and their copies asked for."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request, signals
from scrapy.exceptions import DropItem
from scrapy.exporters import JsonLinesItemExporter
from twisted.python.failure import Failure

from crawler.dedup import DuplicateIndex, Kind, ServerError, Verdict
from crawler.pipelines.crawl import later
from tests.pipelines.again.asking import HOST, Other
from tests.pipelines.crawls import Feed, Kept, prose
from tests.spiders.webserver import Web


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
