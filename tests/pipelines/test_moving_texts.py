"""No text is lost in time: sites whose texts move, crawled again and again."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import json
import os
import random
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self
from unittest.mock import AsyncMock, Mock

import pytest
from redis import Redis
from scrapy import Spider, signalmanager, signals
from scrapy.exporters import JsonLinesItemExporter
from scrapy.extensions.feedexport import FeedExporter
from scrapy.statscollectors import DummyStatsCollector, MemoryStatsCollector
from scrapy.utils.test import get_crawler

from crawler.dedup import DedupConfig, DuplicateIndex
from crawler.dedup.store.messages import Crawl
from crawler.pipelines.crawl.job import Job
from crawler.pipelines.crawl.running import RunningMark
from tests.conftest import Server, wait_until
from tests.pipelines.crawls import Feed, Site, crawl, make_crawler, prose, weeks
from tests.spiders.webserver import Web
from tests.support.forked import run_scrapy, start_scrapy

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("requests", [1, 8, 16])
async def test_no_text_of_a_site_is_lost(
    web: Web, redis_url: str, tmp_path: Path, seed: int, requests: int
) -> None:
    """After each crawl an engine that is fed by the crawls has all texts on the site."""
    draws = random.Random(seed)
    site, feed = Site(web, draws), Feed()
    again = 0
    settings = {
        "DEDUP_REDIS_URL": redis_url,
        "DEDUP_DATA_DIR": tmp_path,
        "CONCURRENT_REQUESTS": requests,
        "CONCURRENT_REQUESTS_PER_DOMAIN": requests,
    }
    for week, texts in enumerate(weeks(draws, 5)):
        site.serve(texts)
        stats = await crawl(web, feed, **settings)
        assert stats["finish_reason"] == "finished"
        assert feed.lost(site) == set(), (week, feed.tags)
        again += stats.get("dedup/asked_again", 0)
    assert again <= 5 * 9


async def test_nor_by_three_crawlers_with_a_part_of_it_each(
    web: Web, redis_url: str, tmp_path: Path
) -> None:
    """A page may come to one of them while another has, or has yet to see, where its text was."""
    draws = random.Random(3)
    site = Site(web, draws)
    parts = ["this|archive/[0-2]|left", "next|archive/[34]|front|guest", "story|right|print|about"]
    settings = {"DEDUP_REDIS_URL": redis_url, "DEDUP_DATA_DIR": tmp_path, "CONCURRENT_REQUESTS": 8}
    for week, texts in enumerate(weeks(draws, 4)):
        site.serve(texts)
        feed = Feed()
        await asyncio.gather(*(crawl(web, feed, allow=part, **settings) for part in parts))
        assert site.missing(feed.passed) == set(), (week, feed.tags)


@pytest.mark.parametrize(("pauses", "memory"), [(0, "0"), (2, "0"), (1, "1mb")])
async def test_nor_by_a_crawl_that_is_killed(
    web: Web,
    start_server: Callable[..., Server],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    pauses: int,
    memory: str,
) -> None:
    """What it has kept is passed on by the crawl that goes on in its JOBDIR, and so is the rest,
    also to those who do not want what is unchanged, if that crawl pauses, or if the server is full
    until then.
    """
    server = start_server()
    draws = random.Random(5)
    site, engine = Site(web, draws), Feed()
    settings = {
        "DEDUP_REDIS_URL": server.url,
        "DEDUP_DATA_DIR": tmp_path,
        "DEDUP_DROP": "exact,near,repeated,unchanged",
        "JOBDIR": tmp_path / "job",
        "CONCURRENT_REQUESTS": 1 if pauses else 16,
    }
    mark = tmp_path / "job" / "dedup.json"
    before, now = weeks(draws, 2)
    site.serve(before)
    await crawl(web, engine, **settings)
    assert not mark.exists()
    shutil.rmtree(tmp_path / "job")
    site.serve(now)
    kill_midway(web, draws.randrange(4, len(now)), settings)
    assert mark.exists()
    server.ask("CONFIG", "SET", "maxmemory", memory)
    for _ in range(pauses):
        await crawl(web, engine, CLOSESPIDER_ITEMCOUNT=1, **settings)
        assert mark.exists()
    server.ask("CONFIG", "SET", "maxmemory", "0")
    await crawl(web, engine, **settings)
    assert "was interrupted: all requests are made again" in caplog.text
    assert engine.lost(site) == set(), engine.tags
    assert not mark.exists()


@pytest.mark.parametrize("machine", ["same", "other"])
async def test_nor_by_one_without_a_job(
    web: Web, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, machine: str
) -> None:
    """Its mark in DEDUP_DATA_DIR tells at once; elsewhere the index does after some seconds."""
    draws = random.Random(5)
    site, engine = Site(web, draws), Feed()
    settings: dict[str, Any] = {
        "DEDUP_REDIS_URL": redis_url,
        "DEDUP_DATA_DIR": tmp_path,
        "DEDUP_DROP": "exact,near,repeated,unchanged",
        "CONCURRENT_REQUESTS": 1,
    }
    before, now = weeks(draws, 2)
    site.serve(before)
    await crawl(web, engine, **settings)
    site.serve(now)
    kill_midway(web, len(now) // 2, settings | {"JOBDIR": tmp_path / "not used any more"})
    if machine == "other":
        settings["DEDUP_DATA_DIR"] = tmp_path / "other"
        moment = time.time
        monkeypatch.setattr(time, "time", lambda: moment() + 15)
    await crawl(web, engine, **settings)
    assert engine.lost(site) == set(), engine.tags
    again = Feed()
    await crawl(web, again, **settings)
    assert not again.passed
    assert not [path for path in settings["DEDUP_DATA_DIR"].iterdir() if "running" in path.name]


def kill_midway(web: Web, pages: int, settings: dict[str, Any]) -> None:
    """Kill a crawl when so many pages were asked for; what it has passed on is nowhere."""
    web.seen.clear()
    words = ["crawl", "site", "-a", f"url={web.url}"]
    given = {**settings, "AUTOTHROTTLE_ENABLED": False, "ROBOTSTXT_OBEY": False}
    words += [word for name, value in given.items() for word in ("-s", f"{name}={value}")]
    with start_scrapy(words, ROOT, stderr=subprocess.DEVNULL) as process:
        wait_until(lambda: len(web.seen) >= pages)
        process.kill()
    with Path(settings["JOBDIR"], "site.lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # until it is dead


async def test_a_paused_crawl_goes_on(web: Web, redis_url: str, tmp_path: Path) -> None:
    """With what it remembered: no page is taken for one of another crawl, or asked for in vain."""
    settings = {
        "DEDUP_REDIS_URL": redis_url,
        "DEDUP_DATA_DIR": tmp_path,
        "CONCURRENT_REQUESTS": 1,
        "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
        "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    }
    web.page("/", "/old", text=prose(1))
    web.page("/old", text=prose(2))
    await crawl(web, **settings)
    web.page("/", "/new", "/between", "/old", text=prose(1))
    web.page("/new", text=prose(2))
    web.page("/between", text=prose(3))
    web.page("/old", text=prose(4))
    settings["JOBDIR"] = tmp_path / "job"
    feed = Feed()
    await crawl(web, feed, CLOSESPIDER_ITEMCOUNT=2, **settings)
    assert "/new" not in feed.tags
    web.seen.clear()
    stats = await crawl(web, feed, **settings)
    assert (web.seen[-1], feed.tags["/new"]["kind"]) == ("/new", "updated")
    assert (stats["dedup/asked_again"], "dedup/unchanged" in stats) == (1, False)
    assert not (tmp_path / "job" / "dedup.json").exists()


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


async def test_a_crawl_that_ends_while_another_looks_for_it_was_not_killed(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its mark was listed before, and its lock is free after."""
    config = DedupConfig(redis_url=redis_url, data_dir=tmp_path)
    async with DuplicateIndex.open(config) as index:
        mark, lock = RunningMark(index), fcntl.flock
        mark.hold(await index.begin_crawl())
        await index.end_crawl()

        def end_before(file: Any, how: int) -> None:
            mark.release()
            lock(file, how)

        monkeypatch.setattr(fcntl, "flock", end_before)
        await RunningMark(index).report_past()
        assert not (await index.begin_crawl()).unended


@pytest.mark.parametrize("is_another", [True, False])
async def test_a_mark_of_a_crawl_that_has_ended_ends_no_other(
    server: Server, redis_url: str, tmp_path: Path, is_another: bool
) -> None:
    """The number is that of a crawl in an index made again, or of one that goes on elsewhere."""
    config, moment = DedupConfig(redis_url=redis_url, data_dir=tmp_path, seed=1), time.time
    async with DuplicateIndex.open(config) as index:
        mark, crawl = RunningMark(index), await index.begin_crawl()
        mark.hold(crawl)
        mark.release(is_told=False)
    if is_another:
        server.flush()
    async with DuplicateIndex.open(config) as index:
        killed = await index.begin_crawl(None if is_another else crawl)
        assert killed.number == crawl.number
    async with DuplicateIndex.open(config) as index:
        await RunningMark(index).report_past()
        assert not RunningMark(index)._list_marks()
        with pytest.MonkeyPatch.context() as later:
            later.setattr(time, "time", lambda: moment() + 15)
            assert (await index.begin_crawl()).unended == killed.number.to_bytes(2)


async def test_a_mark_of_a_crawl_that_has_failed_says_so(redis_url: str, tmp_path: Path) -> None:
    """A crawl that begins a moment later is no worker of it, although the server was away."""
    config = DedupConfig(redis_url=redis_url, data_dir=tmp_path)
    async with DuplicateIndex.open(config) as index:
        mark, crawl = RunningMark(index), await index.begin_crawl()
        mark.hold(crawl)
        mark.release(is_told=False, failed=True)
        await RunningMark(index).report_past()
        assert (await index.begin_crawl()).unended == crawl.number.to_bytes(2)


@pytest.mark.parametrize(("name", "marks"), [("", 1), ("week 1", 0)])
async def test_crawls_with_a_name_have_no_marks(
    redis_url: str, tmp_path: Path, name: str, marks: int
) -> None:
    """All processes with the name are one crawl, even if one of them is killed."""
    config = DedupConfig(redis_url=redis_url, data_dir=tmp_path, crawl=name, namespace="tea/1")
    async with DuplicateIndex.open(config) as index:
        await Job().begin_crawl(index)
        assert len(RunningMark(index)._list_marks()) == marks
        await RunningMark(index).report_past()  # it runs
        assert len(RunningMark(index)._list_marks()) == marks
        await index.end_crawl()


@pytest.mark.parametrize(("digest", "is_told"), [("old", True), ("new", False)])
async def test_a_killed_crawl_is_told_to_its_own_index(
    tmp_path: Path, digest: str, is_told: bool
) -> None:
    """In another one its number is that of another crawl."""
    state = {"running": True, "crawl": [1, 1_700_000_000], "index": "old"}
    (tmp_path / "dedup.json").write_text(json.dumps(state))
    index: Any = Mock(digest=digest, begin_crawl=AsyncMock(return_value=Crawl(2, 1_800_000_000)))
    await Job(tmp_path).begin_crawl(index)
    killed = Crawl(1, 1_700_000_000) if is_told else None
    index.begin_crawl.assert_awaited_once_with(None, killed=killed)


async def test_a_mark_is_told_to_the_index_that_it_names(tmp_path: Path) -> None:
    """Another index with that name, made after a reset, has other crawls."""
    for digest in "old", "new":
        (tmp_path / f"running-tea@{digest}-1-1700000000").touch()
    config = DedupConfig(data_dir=tmp_path, namespace="tea")
    index: Any = Mock(digest="new", config=config, settle_crawl=AsyncMock())
    await RunningMark(index).report_past()
    index.settle_crawl.assert_awaited_once_with(Crawl(1, 1_700_000_000), failed=True)
    assert os.listdir(tmp_path) == ["running-tea@old-1-1700000000"]  # noqa: PTH208


async def test_a_paused_crawl_remembers_the_hosts_that_it_visited(tmp_path: Path) -> None:
    """Their unconfirmed records drop no page for good when it goes on."""
    job, index = Job(tmp_path), Mock(digest="", begin_crawl=AsyncMock(return_value=Crawl(1, 2)))
    await job.begin_crawl(index)
    job.save_pages({}, {}, ["a.example"], Spider("tea"))
    job.note_closed("shutdown")
    job.remove_mark()
    assert Job(tmp_path).hosts == ["a.example"]


@pytest.mark.parametrize(("how", "stays"), [("again", False), ("resume", True)])
def test_what_a_killed_crawl_had_queued(tmp_path: Path, how: str, stays: bool) -> None:
    """A new queue among the files of the old one would have some of its requests, too."""
    (tmp_path / "dedup.json").write_text('{"running": true}')
    waiting = tmp_path / "requests.queue" / "0"
    waiting.parent.mkdir()
    waiting.touch()
    crawler = get_crawler(settings_dict={"JOBDIR": str(tmp_path)})
    Job.of_crawl(crawler, DedupConfig(on_interrupt=how))
    assert waiting.exists() == stays


def test_the_shell_is_no_crawl(web: Web, redis_url: str, tmp_path: Path) -> None:
    """It does not stop as a crawl does: the index would know of one that never ends."""
    web.page("/", text=prose(1))
    words = ["shell", web.url, "-c", "response.status", "-s", f"DEDUP_REDIS_URL={redis_url}"]
    shell = run_scrapy([*words, "-s", f"DEDUP_DATA_DIR={tmp_path}"], ROOT, os.environ)
    assert (shell.returncode, shell.stdout) == (0, "200\n"), shell.stderr
    with Redis.from_url(redis_url) as client:
        assert (client.exists("{dedup}:params"), client.exists("{dedup}:crawls")) == (1, 0)


async def test_a_paused_crawl_goes_on_in_a_new_index(
    web: Web, redis_url: str, tmp_path: Path
) -> None:
    """Another crawl has its number there, but is not the same: nothing is `repeated`."""
    settings = {"DEDUP_REDIS_URL": redis_url, "DEDUP_DATA_DIR": tmp_path, "CONCURRENT_REQUESTS": 1}
    paths = [f"/{n}" for n in range(6)]
    web.page("/", *paths, text=prose(9999))
    for n, path in enumerate(paths):
        web.page(path, text=prose(n))
    job = {"JOBDIR": tmp_path / "job"}
    await crawl(web, CLOSESPIDER_ITEMCOUNT=2, **settings, **job)
    with Redis.from_url(redis_url) as client:
        client.flushall()
    await crawl(web, **settings)
    stats = await crawl(web, **settings, **job)
    assert stats["dedup/unchanged"] > 0
    assert "dedup/repeated" not in stats


@pytest.mark.parametrize(
    ("heading", "prefer", "drop", "requests"),
    [
        ("", "", "exact,near,repeated", 1),
        ("", "", "exact,near,repeated", 16),
        ("Guest book", "", "exact,near,repeated", 1),
        ("Guest book", "", "exact,near,repeated", 16),
        ("", "earlier", "exact,near,repeated", 1),
        ("Guest book", "earlier", "exact,repeated", 16),
    ],
)
async def test_nor_to_a_new_note_on_all_pages(
    web: Web, redis_url: str, tmp_path: Path, heading: str, prefer: str, drop: str, requests: int
) -> None:
    """The template is known from crawls before the note, but the note is learnt in this crawl. If
    all pages have one heading, all of a text decides, for as long as the note stays in it. With an
    order of preference, a page takes the place of another, until the note is known.
    """
    paths, feed = [f"/entry/{n}" for n in range(24)], Feed()
    settings = {
        "DEDUP_REDIS_URL": redis_url,
        "DEDUP_DATA_DIR": tmp_path,
        "DEDUP_TEMPLATES": True,
        "DEDUP_PREFER": prefer,
        "DEDUP_DROP": drop,
        "CONCURRENT_REQUESTS": requests,
        "CONCURRENT_REQUESTS_PER_DOMAIN": requests,
    }
    web.page("/", *paths, text=prose(9999))
    replaced = 0
    for note in ("", prose(1, 250), prose(2, 250)):
        for n, path in enumerate(paths):
            year = 2000 + (n * 7 - 1) % 24  # of the first page the latest
            date = f'<meta property="article:published_time" content="{year}-01-01">'
            above = f"{note}</p><h1>{heading or prose(n, 2)}</h1>"
            web.page(path, head=date, text=f"{above}<p>{prose(100 + n, 12)}")
        stats = await crawl(web, feed, **settings)
        given = set(feed.texts.values())
        assert [n for n in range(24) if not any(prose(100 + n, 12) in text for text in given)] == []
        assert stats.get("dedup/asked_again", 0) <= 8
        replaced += stats.get("dedup/replaced", 0)
    assert bool(replaced) == bool(prefer)


async def test_no_page_is_dropped_for_a_note_that_a_longer_page_has_too(
    web: Web, redis_url: str, tmp_path: Path
) -> None:
    """While the note is new, it makes up most of a short page; the crawl asks for that again."""
    paths, longer = [f"/entry/{n}" for n in range(24)], ("/entry/0", "/entry/23")
    settings = {
        "DEDUP_REDIS_URL": redis_url,
        "DEDUP_DATA_DIR": tmp_path,
        "DEDUP_TEMPLATES": True,
        "DEDUP_CONTAINMENT": 0.8,
        "DEDUP_DROP": "exact,near,repeated,contained",
        "CONCURRENT_REQUESTS": 1,
    }
    web.page("/", *paths, text=prose(9999))
    dropped = 0
    for note in ("", prose(1, 250)):
        for n, path in enumerate(paths):
            own = prose(100 + n, 300 if path in longer else 50)
            web.page(path, text=f"{note}</p><h1>{prose(n, 2)}</h1><p>{own}")
        feed = Feed()
        stats = await crawl(web, feed, **settings)
        assert {*paths} <= feed.tags.keys()
        dropped += stats.get("dedup/dropped/contained", 0)
    assert dropped


@pytest.mark.parametrize("requests", [1, 16])
async def test_a_page_whose_request_is_spared_keeps_its_place(
    web: Web, redis_url: str, tmp_path: Path, requests: int
) -> None:
    """A crawl fetches one of two versions of each page, but no other version is kept for that."""
    settings = {
        "DEDUP_REDIS_URL": redis_url,
        "DEDUP_DATA_DIR": tmp_path,
        "CONCURRENT_REQUESTS": requests,
        "CONCURRENT_REQUESTS_PER_DOMAIN": requests,
    }
    feed, draws, names = Feed(), random.Random(7), [f"{prose(n, 1)}.html" for n in range(30)]
    old, new = ([f"/en/{version}/{name}" for name in names] for version in ("1.0", "2.0"))
    for n, name in enumerate(names):
        for version in "1.0", "2.0":
            web.page(f"/en/{version}/{name}", text=prose(100 + n))
    web.page("/", *old, text=prose(9999))
    await crawl(web, feed, **settings)
    for _ in range(3):
        links = [*old, *new]
        draws.shuffle(links)
        web.page("/", *links, text=prose(9999))
        stats = await crawl(web, feed, **settings)
        assert stats["dedup/rules/learnt"]
        assert feed.texts.keys() == {"/", *old}
