"""Tries to break what the index promises: one survivor, all or nothing, nothing lost."""

from __future__ import annotations

import asyncio
import itertools
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from crawler.dedup import DedupConfig, DuplicateIndex, Kind, ServerError
from crawler.dedup.store.namespaces import clear_index
from tests.conftest import Server, other_programs
from tests.support.texts import article, changed, text
from tests.support.workers import ROOT, Endless, check_all, check_in_lock_step


def test_of_pages_checked_in_lock_step_one_survives(redis_url: str) -> None:
    """Eight processes check near-duplicates of one another at the same moment, 200 times over."""
    workers, sets = 8, 200
    kept, winners = check_in_lock_step(redis_url, workers, sets)
    assert kept == Counter(range(sets))
    assert len(winners) > 1  # or they did not meet at all


@pytest.mark.parametrize("seed", range(3))
async def test_a_killed_worker_leaves_nothing_behind(redis_url: str, seed: int) -> None:
    """Workers killed with -9 in the middle of their work change no later verdict."""
    chooser = random.Random(seed)
    for worker in range(3):
        process = Endless(redis_url, "unused", worker)
        process.read_lines()
        await asyncio.sleep(chooser.random() * 0.1)
        process.kill()
    kept = await check_all(DedupConfig(redis_url=redis_url), range(30), range(3))
    assert kept == Counter(range(30))


def test_the_locale_is_of_no_matter() -> None:
    """Scripts can be read where files are ASCII, or GBK, unless somebody says what they are."""
    code = "from crawler.dedup.store.scripts import load_script; load_script('check')"
    environment = {**os.environ, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, check=True)


async def test_a_killed_server_loses_nothing_that_it_answered(tmp_path: Path) -> None:
    """The private server is killed with -9 under a worker; all that was answered is still known."""
    answered: dict[str, str] = {}
    for worker in range(4):
        process = Endless("", tmp_path, worker)
        lines = process.read_lines(40 + 30 * worker)
        _kill_servers_of(tmp_path)
        lines += process.kill()
        answered |= {url: kind for kind, _, url in (x.strip().partition(" ") for x in lines) if url}
    async with DuplicateIndex.open(DedupConfig(data_dir=tmp_path)) as index:
        for url in answered:
            assert await index.show(url) is not None, url
        assert (await index.verify()).faults == []
    kept = await check_all(DedupConfig(data_dir=tmp_path), range(10), range(4))
    assert kept == Counter(range(10))


def _kill_servers_of(folder: Path) -> None:
    """Kill every server whose working folder is the one given."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            name = (entry / "comm").read_text().strip()
            if name.startswith("valkey") and (entry / "cwd").resolve() == folder.resolve():
                os.kill(int(entry.name), signal.SIGKILL)
        except OSError:
            continue


async def test_a_check_tried_again_gets_the_same_answer(redis_url: str) -> None:
    """A request sent twice, as after a lost connection, is decided and counted once."""
    async with DuplicateIndex.open(DedupConfig(redis_url=redis_url)) as index:
        sent = []
        exchange = index._exchange._pages._send

        async def twice(requests):
            first = await exchange(requests)
            again = await exchange(requests)
            sent.append((first, again))
            return again

        index._exchange._pages._send = twice
        first = await index.check("http://a/1", text(article(1)))
        copy = await index.check("http://b/1", text(changed(article(1), 2)))
        same = await index.check("http://b/1", text(changed(article(1), 2)))
        fresh = await index.check("http://a/1", text(article(2)))
        assert [v.kind for v in (first, copy, same, fresh)] == [
            Kind.UNIQUE,
            Kind.NEAR,
            Kind.UNCHANGED,
            Kind.UPDATED,
        ]
        assert len(sent) == 4
        assert all(one == other for one, other in sent)
        assert sum((await index.stats()).verdicts.values()) == 4


async def test_a_full_server_changes_nothing(start_server) -> None:
    """Out of memory is an error of the check, not half a page in the index."""
    server = start_server(maxmemory_policy="noeviction")
    async with DuplicateIndex.open(DedupConfig(redis_url=server.url)) as index:
        await index.check("http://a/1", text(article(1)))
        before = (await index.stats()).to_dict()
        server.ask("CONFIG", "SET", "maxmemory", "1mb")
        for url, words in (("http://a/2", article(2)), ("http://a/1", article(3))):
            with pytest.raises(ServerError, match="memory"):
                await index.check(url, text(words))
        server.ask("CONFIG", "SET", "maxmemory", "0")
        assert (await index.stats()).to_dict() == before
        assert (await index.verify()).faults == []
        assert (await index.check("http://a/1", text(article(1)))).kind is Kind.UNCHANGED


def start_nodes(
    kind: str, start_server, request: pytest.FixtureRequest
) -> tuple[str, list[Server]]:
    """The URL and the servers of a cluster, or of one server of its own."""
    if kind == "cluster":
        return request.getfixturevalue("cluster_url"), request.getfixturevalue("cluster")
    server = start_server(program=other_programs().get(kind))
    return server.url, [server]


@pytest.mark.parametrize("kind", ["server", "cluster", *other_programs()])
async def test_a_full_server_can_be_emptied(
    kind: str, start_server, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What gives memory back works where nothing can be added: to expire, to forget, to delete."""
    url, nodes = start_nodes(kind, start_server, request)
    config, count = DedupConfig(redis_url=url, shards=3), 1000 * len(nodes)
    clock = time.time
    monkeypatch.setattr(time, "time", lambda: clock() - 2000)
    async with DuplicateIndex.open(replace(config, ttl=1000)) as index:
        await index.check_many((f"http://a/{n}", text(article(n, 60))) for n in range(count))
        await index.forget("http://a/0")  # all scripts are known to the servers, and take room
        kept = (await index.stats()).kept
    monkeypatch.setattr(time, "time", clock)
    fill(nodes)
    try:
        async with DuplicateIndex.open(config) as index:
            with pytest.raises(ServerError, match="full"):
                await index.override("http://a/1", "keep")
            assert await index.forget("http://a/1")
            assert (await index.verify()).faults == []
        async with DuplicateIndex.open(replace(config, timeout=0.5, ttl=1000)) as index:
            async with asyncio.timeout(60):  # after a time-out pages fail at once for a while
                for n in itertools.count(count):
                    with suppress(ServerError):
                        await index.check(f"http://b/{n}", text(article(n)))
                        break
                    await asyncio.sleep(0.01)
        async with DuplicateIndex.open(config) as index:
            assert (await index.verify()).faults == []
            assert (await index.stats()).kept < kept
        fill(nodes)
        await clear_index(config)
    finally:
        for node in nodes:
            node.ask("CONFIG", "SET", "maxmemory", 0)
    assert not any(node.ask("KEYS", "*") for node in nodes)


@pytest.mark.parametrize(
    ("kind", "shards"),
    [("server", 1), ("cluster", 1), ("cluster", 3), *((kind, 1) for kind in other_programs())],
)
async def test_a_crawl_that_fills_the_server_can_end(
    kind: str, shards: int, start_server, request: pytest.FixtureRequest
) -> None:
    """Or the next one would take what it has kept for pages that reached no feed."""
    url, nodes = start_nodes(kind, start_server, request)
    async with DuplicateIndex.open(DedupConfig(redis_url=url, shards=shards)) as index:
        await index.begin_crawl()
        await index.check_many((f"http://a/{n}", text(article(n))) for n in range(300))
        fill(nodes)
        try:
            with pytest.raises(ServerError, match="full"):
                await index.override("http://a/1", "keep")
            await index.end_crawl()
        finally:
            for node in nodes:
                node.ask("CONFIG", "SET", "maxmemory", 0)
        assert (await index.begin_crawl()).unended == b""


def fill(nodes: list[Server]) -> None:
    """Let servers have less memory than they use, without what clients have left behind."""
    for node in nodes:
        used = int(node.ask("INFO", "memory")["used_memory"])
        node.ask("CONFIG", "SET", "maxmemory", used - 80_000 // len(nodes))


async def test_a_hanging_server_holds_nobody_up_for_long(start_server) -> None:
    """After a time-out pages fail at once for as long; then the server is asked again."""
    server = start_server()
    config = DedupConfig(redis_url=server.url, timeout=1.2)
    async with DuplicateIndex.open(config) as index:
        server.process.send_signal(signal.SIGSTOP)
        started = asyncio.get_running_loop().time()
        for n in range(50):
            with pytest.raises(ServerError):
                await index.check(f"http://a/{n}", text(article(n)))
        assert asyncio.get_running_loop().time() - started < 3 * 1.2
        server.process.send_signal(signal.SIGCONT)
        await asyncio.sleep(1.5)
        assert (await index.check("http://a/100", text(article(100)))).kind is Kind.UNIQUE


async def test_a_hanging_server_is_waited_for_once_by_a_new_connection(redis_url, server) -> None:
    """What asks it again, as a replay does, has one time-out, and not one for each attempt."""
    config = DedupConfig(redis_url=redis_url, timeout=0.5)
    async with DuplicateIndex.open(config) as index:
        server.process.send_signal(signal.SIGSTOP)
        try:
            for url in ("http://a/1", "http://a/2"):
                started = asyncio.get_running_loop().time()
                with pytest.raises(ServerError, match="no answer in time"):
                    await index.show(url)
                assert asyncio.get_running_loop().time() - started < 2 * 0.5
        finally:
            server.process.send_signal(signal.SIGCONT)


async def test_one_exchange_for_pages_that_come_together(redis_url: str) -> None:
    """Thirty pages at once make a few exchanges with the server, a page alone makes one."""
    async with DuplicateIndex.open(DedupConfig(redis_url=redis_url)) as index:
        await index.check("http://a/0", text(article(0)))
        client = index.store._client
        state = index.store.keys.state
        assert int(await client.hget(state, "exchanges")) == 1
        await asyncio.gather(*(index.check(f"http://a/{n}", text(article(n))) for n in range(30)))
        assert int(await client.hget(state, "exchanges")) <= 3


async def test_a_server_that_is_down_holds_nobody_up_for_long(start_server) -> None:
    """After a connection was refused pages fail at once for as long as that took, no longer."""
    server = start_server(appendonly="yes", appendfsync="always")
    clock = asyncio.get_running_loop().time
    async with DuplicateIndex.open(DedupConfig(redis_url=server.url)) as index:
        server.kill()
        started = clock()
        for n in range(50):
            with pytest.raises(ServerError, match="connection refused"):
                await index.check(f"http://a/{n}", text(article(n)))
        assert clock() - started < 5  # fifty times four attempts take half a minute
        server.start()
        await asyncio.sleep(1)
        assert (await index.check("http://a/100", text(article(100)))).kind is Kind.UNIQUE
