"""Nor by crawls whose pipelines or feeds could not write their items."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

import pytest
from redis import Redis
from scrapy import Spider, signalmanager, signals
from scrapy.exporters import JsonLinesItemExporter
from scrapy.extensions.feedexport import FeedExporter
from scrapy.statscollectors import DummyStatsCollector, MemoryStatsCollector

from tests.conftest import Server
from tests.pipelines.crawls import Feed, crawl, make_crawler, prose
from tests.spiders.webserver import Web
from tests.support.forked import run_scrapy
from tests.support.workers import ROOT


class Sending(MemoryStatsCollector):
    """Sends counts elsewhere, and keeps other statistics."""

    def inc_value(self, *_: Any, **__: Any) -> None:
        pass


class Prefixing(MemoryStatsCollector):
    """Names counts in its own way."""

    def inc_value(self, key: str, *args: Any, **kwargs: Any) -> None:
        super().inc_value(f"shop/{key}", *args, **kwargs)


@pytest.mark.parametrize(
    "collector", [MemoryStatsCollector, DummyStatsCollector, Sending, Prefixing]
)
async def test_a_crawl_has_ended_when_its_feeds_are_written(
    web: Web, redis_url: str, tmp_path: Path, collector: type
) -> None:
    """If it is killed before that, the index knows of a crawl that has not ended."""
    web.page("/", text=prose(1))
    settings = {"DEDUP_REDIS_URL": redis_url, "DEDUP_DATA_DIR": tmp_path}
    settings["STATS_CLASS"] = collector
    crawler = make_crawler(FEEDS={tmp_path / "feed.jsonl": {"format": "jsonlines"}}, **settings)
    unended = []
    with Redis.from_url(redis_url) as client:

        def look() -> None:
            unended.append(client.hlen("{dedup}:crawls"))

        crawler.signals.connect(look, signal=signals.feed_exporter_closed)
        await crawler.crawl_async(url=web.url)
        look()
    assert unended == [1, 0]


async def test_a_crawl_that_ends_while_the_server_is_away(
    web: Web, start_server: Callable[..., Server], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next one on this machine says so, and what it kept does not come once more."""
    server, clock, feed = start_server(appendonly="yes"), time.time(), Feed()
    web.page("/", text=prose(1))
    settings = {"DEDUP_REDIS_URL": server.url, "DEDUP_DATA_DIR": tmp_path, "DEDUP_TIMEOUT": 0.5}
    crawler = make_crawler(**settings)

    def kill() -> None:
        server.kill()

    crawler.signals.connect(kill, signal=signals.spider_closed)
    await crawler.crawl_async(url=web.url)
    server.start()
    monkeypatch.setattr(time, "time", lambda: clock + 60)
    await crawl(web, feed, **settings)
    assert feed.tags["/"]["kind"] == "unchanged"
    assert not [name for name in os.listdir(tmp_path) if name.startswith("running")]  # noqa: PTH208


class Database:
    """Writes its items when it is closed, as if that were one transaction."""

    rows: list[str] = []  # noqa: RUF012
    is_full = False

    def __init__(self) -> None:
        self._items: list[Any] = []

    def process_item(self, item: Any) -> Any:
        self._items.append(item)
        return item

    def close_spider(self) -> None:
        if self.is_full:
            raise OSError("no space left")
        self.rows += [item.url for item in self._items]


async def test_nor_by_one_whose_pipeline_could_not_write(
    web: Web, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipeline writes when it is closed, and fails: what it had comes again in the next crawl."""
    web.page("/", text=prose(1))
    settings = {"DEDUP_REDIS_URL": redis_url, "DEDUP_DATA_DIR": tmp_path}
    settings |= {"ITEM_PIPELINES": {Database: 300}, "DEDUP_DROP": "exact,near,repeated,unchanged"}
    monkeypatch.setattr(Database, "rows", [])
    with monkeypatch.context() as full:
        full.setattr(Database, "is_full", True)
        crawler = make_crawler(**settings)
        await crawler.crawl_async(url=web.url)
        await crawler.stop_async()
    assert crawler.spider is None  # so that the command exits with 1
    moment = time.time
    monkeypatch.setattr(time, "time", lambda: moment() + 15)
    await crawl(web, **settings)
    assert Database.rows == [f"{web.url}/"]
    await crawl(web, **settings)
    assert Database.rows == [f"{web.url}/"]


class Bare(Spider):
    """Has no `crawler`, as many that override `from_crawler`."""

    name = "bare"

    def __init__(self, url: str) -> None:
        self.start_urls = [url]

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Self:
        return cls(*args, **kwargs)

    def parse(self, response: Any) -> Iterator[Any]:
        yield {"url": response.url, "html": response.text}


async def test_a_pipeline_may_fail_to_close_behind_any_spider(
    web: Web, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.page("/", text=prose(1))
    monkeypatch.setattr(Database, "is_full", True)
    settings = {"DEDUP_REDIS_URL": redis_url, "DEDUP_DATA_DIR": tmp_path}
    crawler = make_crawler(Bare, ITEM_PIPELINES={Database: 300}, **settings)
    await crawler.crawl_async(url=web.url)
    await crawler.stop_async()
    assert crawler.spider is None


async def test_a_feed_that_failed_is_known_by_any_name(web: Web, redis_url: str) -> None:
    """A collector that gives counts its own names tells of a full disk, too."""
    web.page("/", text=prose(1))
    feeds = {"/dev/full": {"format": "jsonlines"}}
    crawler = make_crawler(FEEDS=feeds, DEDUP_REDIS_URL=redis_url, STATS_CLASS=Prefixing)
    await crawler.crawl_async(url=web.url)
    with Redis.from_url(redis_url) as client:
        assert client.hlen("{dedup}:crawls") == 1


@pytest.mark.parametrize(
    ("feed", "name"),
    [("/dev/full:jsonl", ""), ("/dev/full:json", "monday"), ("/dev/null/x.jsonl", "")],
)
async def test_nor_by_one_whose_feed_could_not_be_written(
    web: Web, redis_url: str, tmp_path: Path, feed: str, name: str
) -> None:
    """On a full disk, or in no folder: the crawl fails, and the next brings what it has kept, also
    if it begins at once, or finds it under another URL.
    """
    web.page("/", "/old", text=prose(1))
    web.page("/old", text=prose(2))
    settings = {"DEDUP_REDIS_URL": redis_url, "DEDUP_DATA_DIR": tmp_path}
    given = {**settings, "JOBDIR": tmp_path / "job", "DEDUP_CRAWL": name}
    words = ["crawl", "site", "-a", f"url={web.url}", "-O", feed]
    words += [word for name, value in given.items() for word in ("-s", f"{name}={value}")]
    failed = run_scrapy(words, ROOT, os.environ)
    assert failed.returncode == 1, failed.stderr
    again = "crawl again with another DEDUP_CRAWL, and" if name else "crawl again, and"
    assert f"written, see above. The index has its pages: {again}" in failed.stderr
    assert "A feed could not be written: see" in failed.stderr
    assert "kept page is in" not in failed.stderr
    assert (tmp_path / "job" / "dedup.json").exists()
    web.page("/", "/new", text=prose(1))
    web.page("/new", text=prose(2))
    passed = Feed()
    await crawl(web, passed, DEDUP_DROP="exact,near,repeated,unchanged", **settings)
    assert {path: tag["kind"] for path, tag in passed.tags.items()} == {
        "/": "updated",
        "/new": "updated",
    }


class RefusesOne(JsonLinesItemExporter):
    """Cannot write the first item, and writes all others."""

    fault: Exception | None = None

    def export_item(self, item: Any) -> None:
        if fault := RefusesOne.fault:
            RefusesOne.fault = None
            raise fault
        super().export_item(item)


@pytest.mark.parametrize(
    ("fault", "fails"),
    [(OSError(errno.ENOSPC, "No space left on device"), True), (TypeError("bytes"), False)],
)
async def test_nor_by_one_whose_feed_lacks_an_item(
    web: Web,
    redis_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    fault: Exception,
    fails: bool,
) -> None:
    """Scrapy goes on after it, and stores the feed. If the disk was full, all that the crawl kept
    comes again; otherwise the item is lost alone, and its copy takes its place.
    """
    web.page("/", "/a", "/b", text=prose(1))
    web.page("/a", text=prose(1))
    web.page("/b", text=prose(2))
    monkeypatch.setattr(RefusesOne, "fault", fault)
    settings = {"DEDUP_REDIS_URL": redis_url, "DEDUP_DATA_DIR": tmp_path}
    settings["FEED_EXPORTERS"] = {"jsonl": RefusesOne}
    settings["DEDUP_DROP"] = "exact,near,repeated,unchanged"
    crawler = make_crawler(FEEDS={tmp_path / "1.jsonl": {"format": "jsonl"}}, **settings)
    await crawler.crawl_async(url=web.url)
    await crawler.stop_async()
    assert (crawler.spider is None) is fails  # so that the command exits with 1
    if fails:
        await crawl(web, FEEDS={tmp_path / "2.jsonl": {"format": "jsonl"}}, **settings)
    feeds = "".join((tmp_path / f"{n}.jsonl").read_text() for n in (range(1, 3) if fails else [1]))
    assert prose(1) in feeds
    assert prose(2) in feeds


class Awaited(FeedExporter):
    """Takes all that the signal tells, and is a coroutine."""

    async def item_scraped(self, item: Any, **told: Any) -> None:  # type: ignore[override]
        assert told.keys() == {"response", "sender", "signal", "spider"}
        super().item_scraped(item, told["spider"])


async def test_an_exporter_of_feeds_of_another_class(
    web: Web, redis_url: str, tmp_path: Path
) -> None:
    """It is called as Scrapy calls it."""
    web.page("/", "/a", text=prose(1))
    web.page("/a", text=prose(2))
    classes = {FeedExporter: None, Awaited: 0}
    settings = {"DEDUP_REDIS_URL": redis_url, "DEDUP_DATA_DIR": tmp_path, "EXTENSIONS": classes}
    await crawl(web, FEEDS={tmp_path / "1.jsonl": {"format": "jsonl"}}, **settings)
    assert len((tmp_path / "1.jsonl").read_text().splitlines()) == 2


async def test_whoever_hears_of_items_hears_of_each_once(
    web: Web, redis_url: str, tmp_path: Path
) -> None:
    """Also with PyDispatcher itself, from all senders: the feed is told beside them."""
    web.page("/", text=prose(1))
    heard = []

    def note(item: Any) -> None:
        heard.append(item)

    settings = {"DEDUP_REDIS_URL": redis_url, "DEDUP_DATA_DIR": tmp_path}
    everyone = signalmanager.SignalManager(signalmanager.dispatcher.Any)
    everyone.connect(note, signal=signals.item_scraped)
    try:
        await crawl(web, FEEDS={tmp_path / "1.jsonl": {"format": "jsonl"}}, **settings)
    finally:
        everyone.disconnect(note, signal=signals.item_scraped)
    assert len(heard) == len((tmp_path / "1.jsonl").read_text().splitlines()) == 1
