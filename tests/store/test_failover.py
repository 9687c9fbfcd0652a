"""A spread index while nodes of its cluster die or hang."""

from __future__ import annotations

import asyncio
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from crawler.dedup import DedupConfig, DuplicateIndex, Kind, ServerError
from crawler.dedup.store.cluster.slot import head_keys
from crawler.dedup.store.server.cluster_client import find_slots
from tests.conftest import Server, join_cluster, wait_until
from tests.support.texts import article, changed, text
from tests.support.workers import Endless, check_all

SHARDS = 16


@pytest.fixture
def replicated(start_server: Callable[..., Server]) -> list[Server]:
    """Three nodes with a replica each."""
    return join_cluster(start_server, 6, primaries=3)


@pytest.mark.parametrize("shards", [1, SHARDS])
async def test_a_node_dies_and_its_replica_is_promoted(
    replicated: list[Server], shards: int
) -> None:
    """A primary killed with -9 among checks: pages wait or go unchecked, no text is ever lost."""
    slot = int(replicated[0].ask("CLUSTER", "KEYSLOT", head_keys("dedup").params))
    doomed = slot * 3 // 16384 if shards == 1 else 0
    url = f"redis+cluster://127.0.0.1:{replicated[doomed - 1].port}"
    config = DedupConfig(redis_url=url, shards=shards)
    verdicts: dict[int, list[str | None]] = {}
    async with DuplicateIndex.open(config) as one, DuplicateIndex.open(config) as two:

        async def crawl(index: DuplicateIndex, worker: int) -> None:
            for n in range(200):
                page = text(changed(article(n, 400), 1, seed=worker))
                try:
                    verdict = await index.check(f"http://{worker}/{n}", page)
                except ServerError:  # passes as unchecked
                    verdicts.setdefault(n, []).append(None)
                else:
                    verdicts.setdefault(n, []).append(verdict.duplicate_of)
                await asyncio.sleep(0.01)

        crawls = asyncio.gather(crawl(one, 1), crawl(two, 2))
        await asyncio.sleep(0.5)
        replicated[doomed].kill()
        await crawls
        assert len(verdicts) == 200
        assert all(None in found for found in verdicts.values())  # never zero survivors
        twice = sum(found.count(None) == 2 for found in verdicts.values())
        assert twice < 20
        # Afterwards each page has a verdict again, and each set a page that stands for it.
        for n in range(200):
            found = []
            for worker in (1, 2):
                page = text(changed(article(n, 400), 1, seed=worker))
                found.append((await one.check(f"http://{worker}/{n}", page)).duplicate_of)
            assert None in found


async def test_a_node_that_is_killed_and_back_loses_nothing_that_it_answered(
    start_server: Callable[..., Server],
) -> None:
    """Without a replica, with its changes on disk: workers wait for it, all answered is known."""
    nodes = join_cluster(start_server, 3, appendonly="yes", appendfsync="always")
    url = f"redis+cluster://127.0.0.1:{nodes[0].port}"
    answered: set[str] = set()
    for worker, node in enumerate(nodes):
        process = Endless(url, "unused", worker, 10, SHARDS)
        lines = process.read_lines(30)
        node.kill()
        node.start()
        lines += process.read_lines(30)
        lines += process.kill()
        answered |= {url for _, _, url in (x.strip().partition(" ") for x in lines) if url}
    assert len(answered) >= 3 * 60
    config = DedupConfig(redis_url=url, shards=SHARDS)
    async with DuplicateIndex.open(config) as index:
        for address in answered:
            assert await index.show(address) is not None, address
    assert await check_all(config, range(10), range(3)) == Counter(range(10))


async def test_a_hanging_node_is_waited_for_once_at_the_end_of_a_crawl(
    start_server: Callable[..., Server], tmp_path: Path
) -> None:
    """What waits to be checked goes on waiting after one time-out."""
    nodes = join_cluster(start_server, 3, cluster_node_timeout=60_000)
    url = f"redis+cluster://127.0.0.1:{nodes[0].port}"
    config = DedupConfig(redis_url=url, shards=SHARDS, data_dir=tmp_path, timeout=3)
    async with DuplicateIndex.open(config, spool=True) as index:
        nodes[2].process.send_signal(signal.SIGSTOP)  # not that of the index's first key
        index.keep_gone([("http://a/", int(time.time()))])
        loop = asyncio.get_running_loop()
        started = loop.time()
        with pytest.raises(ServerError, match="no answer in time"):
            assert [page async for page in index.replay()] == []
        assert loop.time() - started < 6
        nodes[2].process.send_signal(signal.SIGCONT)
        assert index.spooled() == ((0, 1), (0, 0))


@pytest.mark.parametrize("shards", [1, SHARDS])
async def test_a_hanging_node_is_waited_for_once_by_questions(
    start_server: Callable[..., Server], shards: int
) -> None:
    """Counts, audits and samples need many exchanges; after one time-out there is an error."""
    nodes = join_cluster(start_server, 3, cluster_node_timeout=60_000)
    slot = int(nodes[0].ask("CLUSTER", "KEYSLOT", head_keys("dedup").params))
    url = f"redis+cluster://127.0.0.1:{nodes[0].port}"
    loop = asyncio.get_running_loop()
    async with DuplicateIndex.open(DedupConfig(redis_url=url, shards=shards, timeout=1)) as index:
        await index.check_many([(f"http://a/{n}", text(article(n, 50))) for n in range(20)])
        await index.verify()
        nodes[slot * 3 // 16384].process.send_signal(signal.SIGSTOP)
        for question in (index.stats, index.verify, lambda: index.sample(10)):
            started = loop.time()
            with pytest.raises(ServerError, match="no answer in time"):
                await question()
            assert loop.time() - started < 2.5


async def test_a_hanging_node_is_asked_no_more_when_another_has_its_slots(
    replicated: list[Server],
) -> None:
    """Pages go unchecked for the time-out and the rest after it, not for a second round of both."""
    url, timeout = f"redis+cluster://127.0.0.1:{replicated[0].port}", 2.0
    loop, late = asyncio.get_running_loop(), 0.0
    config = DedupConfig(redis_url=url, shards=SHARDS, timeout=timeout)
    async with DuplicateIndex.open(config) as index:

        async def check(number: int) -> None:
            nonlocal late
            try:
                await index.check(f"http://a/{number}", text(article(number)))
            except ServerError:
                late = max(late, loop.time())

        await check(0)
        replicated[1].process.send_signal(signal.SIGSTOP)
        frozen = loop.time()
        # At once, without the vote of the others: when that ends is theirs and the machine's.
        replicated[4].ask("CLUSTER", "FAILOVER", "TAKEOVER")
        wait_until(lambda: b"master" in replicated[4].ask("ROLE"))
        checks = []
        while loop.time() < frozen + 3.5 * timeout:
            checks.append(asyncio.create_task(check(len(checks) + 1)))
            await asyncio.sleep(0.05)
        await asyncio.gather(*checks)
    # A second round of both would go on until four times the time-out are over.
    assert timeout < late - frozen < 3 * timeout


async def test_a_hanging_node_holds_nobody_up_for_long(
    start_server: Callable[..., Server],
) -> None:
    """After a time-out pages fail at once for as long; then the node is asked again."""
    nodes = join_cluster(start_server, 3, cluster_node_timeout=60_000)
    url = f"redis+cluster://127.0.0.1:{nodes[0].port}"
    config = DedupConfig(redis_url=url, shards=SHARDS, timeout=1.2)
    async with DuplicateIndex.open(config) as index:
        await index.check("http://a/0", text(article(0)))
        nodes[1].process.send_signal(signal.SIGSTOP)
        loop = asyncio.get_running_loop()
        started = loop.time()
        for n in range(1, 11):  # each page needs nearly all shards, so hardly one gets through
            pages = [(f"http://{m}/{n}", text(article(100 * n + m))) for m in range(16)]
            checks = (index.check(*page) for page in pages)
            found = await asyncio.gather(*checks, return_exceptions=True)
            assert sum(isinstance(one, ServerError) for one in found) >= 14
        assert loop.time() - started < 3 * 1.2
        # The client asks nodes in any order: this one first in one of three.
        client, silent = index.store._client, f"127.0.0.1:{nodes[1].port}"
        started = loop.time()
        for _ in range(12):
            await find_slots(client, silent)
        assert loop.time() - started < 1.2
        nodes[1].process.send_signal(signal.SIGCONT)
        await asyncio.sleep(3)
        assert (await index.check("http://a/100", text(article(9999)))).kind is Kind.UNIQUE
