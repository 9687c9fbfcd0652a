"""Where the server does not answer, or its index is another one, nothing is lost."""

from __future__ import annotations

import asyncio
import errno
import logging
import signal
from typing import Any

import pytest

from crawler.dedup import DuplicateIndex, Kind, ServerError
from crawler.dedup.exchange.spool import Spool
from crawler.pipelines.crawl import course
from tests.pipelines.stories import ARTICLE, OTHER, SOON
from tests.support.texts import article
from tests.support.texts import text as text_of


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
