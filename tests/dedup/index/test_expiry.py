"""What is not seen for long expires, and gives its memory back."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from crawler.dedup import (
    DedupConfig,
    DuplicateIndex,
    Kind,
)
from tests.conftest import Server
from tests.support.texts import article, changed, text


@pytest.fixture
def pass_time(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Lets seconds pass for who checks pages, whose clock says when they were seen."""
    clock, ahead = time.time, [0.0]
    monkeypatch.setattr(time, "time", lambda: clock() + sum(ahead))
    return ahead.append


async def test_what_is_not_seen_expires(index_url: str, pass_time: Callable[[float], None]) -> None:
    """After DEDUP_TTL a page counts no more; one that is seen again and again stays."""
    config = DedupConfig(redis_url=index_url, shards=8, ttl=2)
    async with DuplicateIndex.open(config) as index:
        await index.check_many([(f"http://a/{n}", text(article(n))) for n in range(40)])
        for _ in range(3):
            pass_time(1.1)
            assert (await index.check("http://a/0", text(article(0)))).kind is Kind.UNCHANGED
        assert (await index.check("http://b/0", text(article(0)))).kind is Kind.EXACT
        assert (await index.check("http://b/1", text(article(1)))).kind is Kind.UNIQUE
        assert (await index.check("http://a/2", text(article(2)))).kind is Kind.UNIQUE
        assert (await index.stats()).urls <= 10  # the memory is given back as well
        assert (await index.verify()).faults == []


async def test_the_shortest_time_holds(index_url: str, pass_time: Callable[[float], None]) -> None:
    """What one crawl lets expire is gone for those that would keep it."""
    config = DedupConfig(redis_url=index_url, shards=8, seed=1)
    pages = [(f"http://a/{n}", text(article(n))) for n in range(40)]
    async with DuplicateIndex.open(config) as index:
        await index.check_many(pages)
        pass_time(2.1)
        assert (await index.check("http://b/1", pages[1][1])).kind is Kind.EXACT
        async with DuplicateIndex.open(replace(config, ttl=1)) as other:
            for n in range(40):
                await other.check("http://b/", f"and is checked for the {n}th time")
        assert (await index.stats()).urls <= 10
        assert (await index.check("http://b/2", pages[2][1])).kind is Kind.UNIQUE


@pytest.mark.parametrize("places", [0, 10])
async def test_a_clock_that_is_behind_lets_nothing_expire(
    index_url: str, monkeypatch: pytest.MonkeyPatch, places: int
) -> None:
    """Who checks a page by such a clock, unchanged or updated, does not make it seen long ago."""
    clock, day = time.time, 86_400
    config = DedupConfig(redis_url=index_url, shards=8, ttl=30 * day)
    url, before, after = "http://a/1", text(article(1)), text(changed(article(1), places))
    async with DuplicateIndex.open(config) as index:
        await index.check(url, before)
        seen = await index.show(url)
        monkeypatch.setattr(time, "time", lambda: clock() - 40 * day)
        assert (await index.check(url, after)).kind is not Kind.UNIQUE
        monkeypatch.setattr(time, "time", clock)
        shown = await index.show(url)
        assert seen is not None
        assert shown is not None
        assert shown.last_seen >= seen.last_seen
        assert (await index.check("http://b/1", after)).kind is Kind.EXACT
        assert (await index.check(url, after)).kind is Kind.UNCHANGED
        assert (await index.verify()).faults == []


async def test_memory_of_what_expired_is_given_back(
    index_url: str, pass_time: Callable[[float], None]
) -> None:
    """An index whose pages come and go stays as large as what is alive."""
    async with DuplicateIndex.open(DedupConfig(redis_url=index_url, shards=8, ttl=1)) as index:
        for start in range(0, 2000, 500):
            pages = [(f"http://a/{n}", f"page {n} is short") for n in range(start, start + 500)]
            await index.check_many(pages)
            pass_time(2.1)
        for n in range(60):
            await index.check("http://b/", f"and is checked for the {n}th time")
        assert (await index.stats()).urls < 500
        assert (await index.verify()).faults == []


async def test_an_index_ages_well(
    server: Server, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many numbers of pages are given, what expires is given back, drawn and weighed."""
    clock = time.time()
    async with DuplicateIndex.open(DedupConfig(redis_url=redis_url, ttl=1000)) as index:
        for turn in range(5):
            monkeypatch.setattr(time, "time", lambda turn=turn: clock + 2000 * turn)
            pages = [(f"http://a/{turn}/{n}", text(article(n, 50))) for n in range(400)]
            await index.check_many(pages)
            stats = await index.stats()
            assert stats.urls < 800
            assert stats.bytes_per_page is not None
            assert 250 < stats.bytes_per_page < 600
            assert len(await index.sample(100)) == 100
            server.ask("HINCRBY", "{dedup}:state", "next", 10**8)
        assert (await index.verify()).faults == []
