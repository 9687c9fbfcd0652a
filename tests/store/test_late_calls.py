"""Calls to a cluster that come late, twice or never."""

from __future__ import annotations

import asyncio
import itertools
import random
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from crawler.dedup import DuplicateIndex, Kind, ServerError
from crawler.dedup.store.cluster.shards import Call, Shards, Terms
from crawler.dedup.store.server.connect import open_server
from tests.conftest import Server
from tests.store.spread import SHARDS, configured, dying, end_but
from tests.support.texts import article, changed, text
from tests.support.workers import Endless, check_all


async def test_every_call_may_come_twice(cluster_url: str) -> None:
    """A lost reply is answered by asking again: verdicts and counts stay those of one call."""
    async with DuplicateIndex.open(configured(cluster_url)) as index:
        ask = index.store._shards.ask

        async def twice(calls, seconds):
            await ask(calls, seconds)
            return await ask(calls, seconds)

        index.store._shards.ask = twice
        visits = [
            ("http://a/1", text(article(1)), Kind.UNIQUE),
            ("http://b/1", text(changed(article(1), 2)), Kind.NEAR),
            ("http://b/1", text(changed(article(1), 2)), Kind.UNCHANGED),
            ("http://c/1", text(article(1)), Kind.EXACT),
            ("http://a/1", text(article(2)), Kind.UPDATED),
            ("http://b/1", text(changed(article(1), 2)), Kind.UPDATED),
            ("http://c/1", text(article(1)), Kind.UNCHANGED),
            ("http://d/1", "short text", Kind.SHORT),
        ]
        for url, page, kind in visits:
            assert (await index.check(url, page)).kind is kind, url
        pages = [
            (f"http://e/{n}", text(changed(article(n % 5 + 10), 1, seed=n))) for n in range(30)
        ]
        verdicts = await index.check_many(pages)
        assert sum(v.duplicate_of is None for v in verdicts) == 5
        assert sum((await index.stats()).verdicts.values()) == len(visits) + len(pages)
        assert (await index.verify()).faults == []


async def test_a_drop_that_cannot_be_obeyed_changes_nothing_at_whatever_call(
    cluster_url: str,
) -> None:
    """The page keeps its number and its copies though calls come twice, or its worker dies."""
    config = configured(cluster_url, timeout=0.6)
    pages = [(f"http://{s}/1", text(changed(article(1), 1, seed=s))) for s in range(2)]
    async with DuplicateIndex.open(config) as index:
        number = (await index.check(*pages[0])).cluster
        await index.check(*pages[1])
        await index.override(pages[0][0], "drop")
        await index.store.finish_background()
        others = asyncio.all_tasks()
        for dies, last in itertools.product((False, True), range(6)):
            async with DuplicateIndex.open(config) as doomed:
                await doomed.store.finish_background()
                made, ask = itertools.count(), doomed.store._shards.ask

                async def disturbed(calls, seconds, ask=ask, made=made, dies=dies, last=last):
                    now = next(made)
                    if dies and now >= last:
                        await asyncio.Event().wait()
                    if not dies and now == last:
                        await ask(calls, seconds)
                    return await ask(calls, seconds)

                doomed.store._shards.ask = disturbed
                check = asyncio.create_task(doomed.check(*pages[0]))
                await asyncio.wait([check], timeout=0.05)
                if not dies:
                    assert (await check).cluster == number
                await end_but(others)
            before = (await index.stats()).verdicts
            for _ in range(2):
                verdicts = [await index.check(*page) for page in pages]
                assert [(v.kind, v.cluster) for v in verdicts] == [(Kind.UNCHANGED, number)] * 2
            counted = (await index.stats()).verdicts
            assert counted == {**before, Kind.UNCHANGED: before[Kind.UNCHANGED] + 4}
            assert (await index.verify()).faults == []


async def test_copies_of_a_page_that_cannot_be_dropped_find_it(cluster_url: str) -> None:
    """It is visited at the moment when new copies come: they are its copies, and it stays."""
    config = configured(cluster_url)
    async with DuplicateIndex.open(config) as index:
        ask, chooser = index.store._shards.ask, random.Random(7)

        async def delayed(calls, seconds):
            await asyncio.sleep(chooser.random() * 0.01)
            return await ask(calls, seconds)

        index.store._shards.ask = delayed
        for n in range(15):
            pages = [(f"http://{s}/{n}", text(changed(article(n), 1, seed=s))) for s in range(5)]
            number = (await index.check(*pages[0])).cluster
            await index.override(pages[0][0], "drop")
            verdicts = await asyncio.gather(
                *(index.check(*pages[s]) for s in chooser.sample(range(5), 5))
            )
            assert {v.cluster for v in verdicts} == {number}
            assert sum(v.duplicate_of is None for v in verdicts) == 1
        assert (await index.verify()).faults == []


async def test_a_worker_that_sleeps_past_its_time_finds_out(cluster_url: str) -> None:
    """One that is stopped in the middle of a check, and goes on later, yields to who came since."""
    config = configured(cluster_url, timeout=2)
    first, second = text(article(1)), text(changed(article(1), 1))
    async with DuplicateIndex.open(config) as slow, DuplicateIndex.open(config) as index:
        asleep, awake, ask = asyncio.Event(), asyncio.Event(), slow.store._shards.ask

        async def drowsy(calls, seconds):
            if calls[0].script == "settle" and not asleep.is_set():
                asleep.set()
                await awake.wait()
            return await ask(calls, seconds)

        slow.store._shards.ask = drowsy
        late = asyncio.create_task(slow.check("http://a/1", first))
        await asleep.wait()
        start_time = time.monotonic()
        other = await index.check("http://b/1", second)
        assert time.monotonic() - start_time > 0.5
        assert other.kind is Kind.UNIQUE
        awake.set()
        verdict = await late
        assert (verdict.kind, verdict.duplicate_of) == (Kind.NEAR, "http://b/1")
        assert (await index.verify()).faults == []


@pytest.mark.parametrize("url", ["http://a/1", "http://b/1"])
async def test_a_clock_that_is_set_back_holds_up_no_page(cluster_url: str, url: str) -> None:
    """What a dead worker was checking is not waited for until the node's clock is where it was."""
    page = text(article(1))
    # A lease of half an hour is what others see of one of a second when the clock loses as much.
    async with DuplicateIndex.open(configured(cluster_url, timeout=3600)) as dead:
        dead.store._shards.ask = dying(dead.store._shards.ask)
        with pytest.raises(ServerError, match="killed"):
            await dead.check("http://a/1", page)
    async with DuplicateIndex.open(configured(cluster_url, timeout=2)) as index:
        assert (await index.check(url, page)).kind is Kind.UNIQUE
        assert (await index.verify()).faults == []


async def test_a_late_answer_takes_no_page_out(cluster_url: str) -> None:
    """A page that was kept while its answer was lost, and came again, is found by its copies."""
    config, page = configured(cluster_url), text(article(1))
    async with DuplicateIndex.open(config) as slow, DuplicateIndex.open(config) as index:
        ask = slow.store._shards.ask

        async def late(calls, seconds):
            if calls[0].script == "settle":
                slow.store._shards.ask = ask
                await ask(calls, seconds)
                assert (await index.check("http://a/1", page)).kind is Kind.UNCHANGED
            return await ask(calls, seconds)

        slow.store._shards.ask = late
        assert (await slow.check("http://a/1", page)).duplicate_of is None
        await slow.store.finish_background()
        copy = await index.check("http://b/1", text(changed(article(1), 1)))
        assert copy.duplicate_of == "http://a/1"
        assert (await index.verify()).faults == []


async def test_a_late_answer_leaves_no_second_survivor(cluster_url: str) -> None:
    """Of a page that took another's place and came again before its answer that is a copy still."""
    config, words = configured(cluster_url), article(1)
    async with DuplicateIndex.open(config) as slow, DuplicateIndex.open(config) as index:
        await index.check("http://old/", text(changed(words, 1)))
        ask = slow.store._shards.ask

        async def late(calls, seconds):
            if calls[0].script == "settle":
                slow.store._shards.ask = ask
                await ask(calls, seconds)
                assert (await index.check("http://a/", text(words))).kind is Kind.UNCHANGED
            return await ask(calls, seconds)

        slow.store._shards.ask = late
        verdict = await slow.check("http://a/", text(words), preferred=True)
        assert (verdict.kind, verdict.replaces) == (Kind.UNIQUE, "http://old/")
        copy = await index.check("http://old/", text(changed(words, 1)))
        assert copy.duplicate_of == "http://a/"
        stats = await index.stats()
        assert (stats.kept, stats.verdicts) == (1, {"unique": 2, "unchanged": 2})
        assert (await index.verify()).faults == []


async def test_a_claim_that_comes_late_leaves_no_entry(cluster_url: str) -> None:
    """Given up by its worker, and carried out when the page has just left its places as a copy."""
    async with DuplicateIndex.open(configured(cluster_url)) as index:
        ask, claims = index.store._shards.ask, list[Call]()

        async def haunted(calls, seconds):
            replies = await ask(calls, seconds)
            claims.extend(call for call in calls if call.script == "claim")
            if calls[0].script == "drop":
                await ask(claims, seconds)
            return replies

        index.store._shards.ask = haunted
        for n in range(3):
            await index.check(f"http://{n}/", text(changed(article(1), 1, seed=n)))
            await index.store.finish_background()
        index.store._shards.ask = ask
        assert (await index.verify()).faults == []
        assert (await index.stats()).kept == 1


async def test_a_check_that_is_replayed_leaves_no_entry_of_others(
    cluster_url: str, tmp_path: Path
) -> None:
    """Its worker gave up on two pages at once; of the other, the text has changed meanwhile."""
    config = configured(cluster_url, timeout=3, data_dir=tmp_path)
    async with DuplicateIndex.open(config, spool=True) as index:
        ask = index.store._shards.ask
        index.store._shards.ask = dying(ask)
        with pytest.raises(ServerError, match="killed"):
            await index.check_many([(f"http://a/{n}", text(article(n))) for n in (1, 2)])
        index.store._shards.ask = ask
        await index.check("http://a/2", text(article(3)))  # waits for the lease of more than 1 s
        assert [verdict.url async for verdict in index.replay()] == ["http://a/1"]
        assert (await index.verify()).faults == []


async def test_a_closed_index_asks_nobody(cluster_url: str) -> None:
    """What is still under way when an index is closed fails; it opens no connection that stays."""
    async with DuplicateIndex.open(configured(cluster_url)) as index:
        pass
    replies = await index.store._shards.ask([Call("look", 0, bytes(5))], 1.0)
    assert [type(reply) for reply in replies] == [ServerError]


async def test_no_script_works_for_who_knows_no_index(
    cluster_url: str, cluster: list[Server]
) -> None:
    """A shard of an index that is not there is neither read nor made."""
    config = configured(cluster_url)
    async with open_server(config) as client:
        shards = Shards(client, config.namespace, 16, Terms(None, 5.0, 128), timeout=10.0)
        calls = [Call(name, 0, bytes(2)) for name in ("find", "look", "sweep", "done", "template")]
        for reply in await shards.ask(calls, 5.0):
            assert "deleted or replaced" in str(reply)
        await shards.close()
    assert not any(node.ask("KEYS", "*") for node in cluster)


async def test_copies_under_way_push_no_page_out(cluster_url: str) -> None:
    """A kept page is found by more copies at once than pages may stand under one key."""
    async with DuplicateIndex.open(configured(cluster_url)) as index:
        page = text(article(1))
        await index.check("http://a/1", page)
        for n in range(3):
            urls = [f"http://b/{n}/{m}" for m in range(60)]
            verdicts = await asyncio.gather(*(index.check(url, page) for url in urls))
            assert {v.duplicate_of for v in verdicts} == {"http://a/1"}
        assert (await index.verify()).faults == []
        assert (await index.stats()).kept == 1


async def test_stopped_processes_do_not_stop_others(cluster_url: str) -> None:
    """Workers stopped by a signal and continued: of each set one is kept, and all agree on it."""
    processes = [Endless(cluster_url, "unused", worker, 2, SHARDS) for worker in range(3)]
    for process in processes:
        process.read_lines()
    for process in processes:
        process.send(signal.SIGSTOP)
        await asyncio.sleep(0.3)
        process.send(signal.SIGCONT)
        await asyncio.sleep(0.1)
    for process in processes:
        process.kill()
    kept = await check_all(configured(cluster_url, timeout=4), range(12), range(3))
    assert kept == Counter(range(12))
