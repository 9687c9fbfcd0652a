"""No text is lost that moves between addresses, by crawls that end, pause or are killed."""

from __future__ import annotations

import asyncio
import fcntl
import os
import random
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest
from redis import Redis
from scrapy import Spider
from scrapy.utils.test import get_crawler

from crawler.dedup import DedupConfig
from crawler.dedup.store.messages import Crawl
from crawler.pipelines.crawl.job import Job
from tests.conftest import Server, wait_until
from tests.pipelines.crawls import Feed, Site, crawl, prose, weeks
from tests.spiders.webserver import Web
from tests.support.forked import run_scrapy, start_scrapy
from tests.support.workers import ROOT


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
