"""An index that is spread over a cluster: one page survives, and nothing is left behind."""

from __future__ import annotations

import asyncio
import itertools
import random
import re
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from crawler.dedup import DedupConfig, DuplicateIndex, Kind, ParameterMismatch, ServerError
from crawler.dedup.store.cluster.shards import Call, Shards
from tests.conftest import Server
from tests.store.spread import SHARDS, configured, end_but
from tests.support.texts import article, changed, text
from tests.support.workers import Endless, check_all, check_in_lock_step


@pytest.mark.parametrize("shards", [1, SHARDS])
def test_of_pages_checked_in_lock_step_one_survives(cluster_url: str, shards: int) -> None:
    """Eight processes check near-duplicates of one another at the same moment, time and again."""
    workers, sets = 8, 50 if shards > 1 else 20
    kept, winners = check_in_lock_step(cluster_url, workers, sets, shards=shards)
    assert kept == Counter(range(sets))
    assert len(winners) > 1  # or they did not meet at all


@pytest.mark.parametrize("method", ["smallest", "modulo"])
def test_one_survives_whatever_the_method(cluster_url: str, method: str) -> None:
    """So also with keys that all stand in one table, and where twins must share several."""
    kept, _ = check_in_lock_step(cluster_url, 4, 40, method, shards=SHARDS)
    assert kept == Counter(range(40))


async def test_a_page_weighs_on_all_nodes(cluster_url: str, cluster: list[Server]) -> None:
    """Pages and tables lie on every node, none with much more than its part."""
    async with DuplicateIndex.open(configured(cluster_url)) as index:
        await index.check_many([(f"http://a/{n}", text(article(n, 50))) for n in range(1000)])
        stats = await index.stats()
    weights = [weight(node) for node in cluster]
    assert min(weights) > 0.7 * sum(weights) / 3
    assert stats.kept == 1000


def weight(node: Server) -> int:
    """Bytes that a node's keys take; its memory also holds buffers, and what was flushed."""
    return sum(int(node.ask("MEMORY", "USAGE", key)) for key in node.ask("KEYS", "*"))


@pytest.mark.parametrize("shards", [1, SHARDS])
async def test_killed_workers_leave_nothing_behind(cluster_url: str, shards: int) -> None:
    """Workers killed with -9 in the middle of their work, at any step, change no later verdict."""
    chooser = random.Random(shards)
    workers = [Endless(cluster_url, "unused", worker, 2, shards) for worker in range(3)]
    for process in workers:
        process.read_lines()
    for process in workers:
        await asyncio.sleep(chooser.random() * 0.05)
        process.kill()
    kept = await check_all(
        DedupConfig(redis_url=cluster_url, shards=shards, timeout=4), range(12), range(3)
    )
    assert kept == Counter(range(12))


async def test_a_worker_may_die_after_any_call(cluster_url: str) -> None:
    """Whatever call is a worker's last, the next one gets a verdict, of each set one is kept."""
    config = configured(cluster_url, timeout=0.6)
    others = asyncio.all_tasks()
    for last in range(12):
        async with DuplicateIndex.open(config) as doomed:
            await doomed.store.finish_background()
            made = itertools.count()
            ask = doomed.store._shards.ask

            async def mortal(calls, seconds, ask=ask, made=made, last=last):
                if next(made) >= last:
                    await asyncio.Event().wait()
                return await ask(calls, seconds)

            await doomed.check(f"http://old/{last}", text(article(last)))
            await doomed.store.finish_background()
            doomed.store._shards.ask = mortal
            words = changed(article(last), 1, seed=9)
            pages = [(f"http://old/{last}", text(article(last + 100))),
                     (f"http://b/{last}", text(words))]  # fmt: skip
            _checks = [asyncio.create_task(doomed.check(*page)) for page in pages]
            await asyncio.sleep(0.05)
            await end_but(others)
        async with DuplicateIndex.open(config) as index:
            kinds = [(await index.check(*page)).duplicate_of for page in pages]
            same = [text(changed(article(last), 1, seed=s)) for s in range(3)]
            more = [(await index.check(f"http://c{s}/{last}", t)).duplicate_of
                    for s, t in enumerate(same)]  # fmt: skip
            assert None not in more, last
            assert kinds[0] is None
            assert len(set(more)) == 1
            assert (await index.verify()).faults == []


async def test_checks_of_a_copy_whose_original_is_gone_count_once(cluster_url: str) -> None:
    """However many of them find out at the same time: each has heard first that nothing changed."""
    url, words = "http://b/", text(changed(article(1), 1))
    async with DuplicateIndex.open(configured(cluster_url)) as index:
        await index.check_many([("http://a/", text(article(1))), (url, words)])
        await index.forget("http://a/")
        verdicts = await index.check_many([(url, words)] * 8)
        assert Counter(one.kind for one in verdicts) == {Kind.UPDATED: 1, Kind.UNCHANGED: 7}
        counts = (await index.stats()).verdicts
        assert counts == {"unique": 1, "near": 1, "updated": 1, "unchanged": 7}
        assert (await index.verify()).faults == []


async def test_two_urls_that_swap_their_texts(cluster_url: str) -> None:
    """Each page's new text is the other's old one: neither text is left without a page."""
    config = configured(cluster_url)
    async with DuplicateIndex.open(config) as one, DuplicateIndex.open(config) as two:
        for n in range(25):
            a, b = text(article(2 * n)), text(article(2 * n + 1))
            await one.check(f"http://a/{n}", a)
            await one.check(f"http://b/{n}", b)
            await asyncio.gather(one.check(f"http://a/{n}", b), two.check(f"http://b/{n}", a))
            records = [await one.show(f"http://{host}/{n}") for host in "ab"]
            assert any(r is not None and r.duplicate_of is None for r in records), records
            assert (await one.stats()).kept >= n + 1
        assert (await one.verify()).faults == []


async def test_no_circle_of_waiting(cluster_url: str) -> None:
    """Pages that meet each other in different orders in different shards all come to an end."""
    config = configured(cluster_url)
    async with DuplicateIndex.open(config) as index:
        ask, chooser = Shards.ask, random.Random(5)

        async def jumbled(shards: Shards, calls: list[Call], seconds: float) -> list[object]:
            async def delayed(call: Call) -> object:
                await asyncio.sleep(chooser.random() * 0.01)
                return (await ask(shards, [call], seconds))[0]

            return list(await asyncio.gather(*map(delayed, calls)))

        shards = index.store._shards
        shards.ask = lambda calls, seconds: jumbled(shards, calls, seconds)
        for n in range(15):
            pages = [(f"http://{s}/{n}", text(changed(article(n), 1, seed=s))) for s in range(12)]
            verdicts = await asyncio.gather(*(index.check(*page) for page in pages))
            assert sum(v.duplicate_of is None for v in verdicts) == 1
        assert (await index.verify()).faults == []


@pytest.mark.parametrize("shards", [1, SHARDS])
async def test_connections_closed_in_use(cluster_url: str, shards: int) -> None:
    """After some failures the client closes all its connections: who uses one tries again."""

    async def close_again_and_again(client: Any, pause: float) -> None:
        while True:
            await client.aclose()
            await asyncio.sleep(pause)

    async def check_copies(index: DuplicateIndex, n: int) -> None:
        await index.begin_crawl()
        pages = [(f"http://{s}/{n}", text(changed(article(n), 1, seed=s))) for s in range(8)]
        verdicts = await asyncio.gather(*(index.check(*page) for page in pages))
        assert sum(verdict.duplicate_of is None for verdict in verdicts) == 1

    async with DuplicateIndex.open(DedupConfig(redis_url=cluster_url, shards=shards)) as index:
        start = time.monotonic()
        await check_copies(index, 0)
        # No faster than a busy machine checks them, or nothing is answered between two closings.
        pause = max(0.1, time.monotonic() - start)
        closing = asyncio.create_task(close_again_and_again(index.store._client, pause))
        for n in range(1, 9):
            await check_copies(index, n)
        closing.cancel()
        assert (await index.verify()).faults == []


async def test_a_full_node_changes_nothing(cluster_url: str, cluster: list[Server]) -> None:
    """A node that takes nothing more is an error of the check; what is kept stays as it was."""
    config = configured(cluster_url, timeout=0.4)
    async with DuplicateIndex.open(config) as index:
        await index.check("http://a/1", text(article(1)))
        cluster[1].ask("CONFIG", "SET", "maxmemory", "1mb")
        try:
            with pytest.raises(ServerError, match="full"):
                await index.check("http://a/2", text(article(2)))
        finally:
            cluster[1].ask("CONFIG", "SET", "maxmemory", "0")
        assert (await index.check("http://a/1", text(article(1)))).kind is Kind.UNCHANGED
        assert (await index.check("http://b/2", text(article(2)))).kind is Kind.UNIQUE
        await asyncio.sleep(0.4)
        assert (await index.verify()).faults == []
        assert (await index.stats()).kept == 2


async def test_the_permissions_that_are_documented_suffice(
    cluster_url: str, cluster: list[Server]
) -> None:
    """The line of docs/howto/server.md, with what the text adds for a cluster."""
    guide = (Path(__file__).parents[2] / "docs" / "howto" / "server.md").read_text(encoding="utf-8")
    rule = next(line for line in guide.splitlines() if "ACL SETUSER crawl" in line)
    added = re.search(r"cluster the keys are `(\S+)`, and you also need\s+`([^`]+)`", guide)
    assert added is not None
    for node in cluster:
        node.ask(*rule.replace("~{dedup}:*", added[1]).split(), *added[2].split())
    url = cluster_url.replace("//", "//crawl:password@")
    async with DuplicateIndex.open(configured(url, ttl=1000)) as index:
        await index.check("http://a/1", text(article(1)))
        assert (await index.check("http://b/1", text(article(1)))).kind is Kind.EXACT
        assert (await index.check("http://a/1", text(article(2)))).kind is Kind.UPDATED
        assert (await index.check("http://b/1", text(article(1)))).kind is Kind.UPDATED
        assert await index.forget("http://a/1")
        assert (await index.stats()).kept == 1
        assert (await index.verify()).faults == []


async def test_what_expires_is_given_back(
    cluster_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As fast as other pages come, in each part of the index."""
    clock = time.time()
    async with DuplicateIndex.open(configured(cluster_url, ttl=1000)) as index:
        for turn in range(4):
            monkeypatch.setattr(time, "time", lambda turn=turn: clock + 2000 * turn)
            pages = [(f"http://a/{turn}/{n}", text(article(n, 50))) for n in range(600)]
            assert {verdict.kind for verdict in await index.check_many(pages)} == {Kind.UNIQUE}
        assert 600 <= (await index.stats()).urls < 1300
        assert (await index.verify()).faults == []


async def test_a_cluster_that_lost_a_node_mixes_no_seeds(
    cluster_url: str, cluster: list[Server]
) -> None:
    """A new index is not made of what is left of an old one, which was hashed by another seed."""
    config = configured(cluster_url, seed=None)
    async with DuplicateIndex.open(config):
        pass
    (node,) = (node for node in cluster if node.ask("KEYS", "{dedup/}:params"))
    node.ask("FLUSHALL")
    with pytest.raises(ParameterMismatch, match="seed: index"):
        async with DuplicateIndex.open(config):
            pass
