"""Crawls that have not ended: what they were the last to keep may be in no feed."""

from __future__ import annotations

from typing import Any

import pytest

from crawler.dedup import DuplicateIndex, Kind, ServerError
from crawler.dedup.store.messages import Crawl
from tests.conftest import Server
from tests.dedup.test_crawls import FIRST, SECOND, THIRD, A, B, C, crawled, opened, wait


@pytest.mark.parametrize("which", ["one", "other", "none"])
@pytest.mark.parametrize("seconds", [0, 15])
async def test_what_one_crawl_has_left_to_another(
    index_url: str, monkeypatch: pytest.MonkeyPatch, seconds: int, which: str
) -> None:
    """Of two that run together, one sees what the other has kept, which never ends, or ends later:
    the page is in the feed of neither, or of the other.
    """
    async with opened(index_url) as one, opened(index_url) as other:
        await crawled(one, (A, FIRST))
        await one.begin_crawl()
        wait(monkeypatch, seconds)
        killed = await other.begin_crawl()
        assert (await one.check(A, FIRST)).kind is Kind.UNCHANGED
        assert (await one.check(C, THIRD)).kind is Kind.UNIQUE
        assert (await other.check(B, SECOND)).kind is Kind.UNIQUE
        for _ in range(2):
            assert (await one.check(B, SECOND)).kind is Kind.UNCHANGED
        assert (await other.check(B, SECOND)).kind is Kind.REPEATED
        await one.end_crawl()
        if which == "other":
            await other.end_crawl()
        wait(monkeypatch, 15)
        await one.begin_crawl(killed=killed if which == "one" else None)
        pages = (A, FIRST), (B, SECOND), (C, THIRD)
        left = Kind.UNCHANGED if which == "other" else Kind.UPDATED
        expected = [Kind.UNCHANGED, left, Kind.UNCHANGED]
        assert [(await one.check(*page)).kind for page in pages] == expected
        await one.end_crawl()
        assert await crawled(one, *pages) == [Kind.UNCHANGED] * 3


@pytest.mark.parametrize("ended", [0, 1])
async def test_a_worker_of_a_named_crawl_that_nobody_knows_to_be_killed(
    index_url: str, monkeypatch: pytest.MonkeyPatch, ended: int
) -> None:
    """The crawl has not ended before all its workers have, whenever they came."""
    async with (
        opened(index_url, crawl="monday") as one,
        opened(index_url, crawl="monday") as two,
        opened(index_url, crawl="tuesday") as next_one,
    ):
        await one.begin_crawl()
        assert (await one.check(A, FIRST)).kind is Kind.UNIQUE
        wait(monkeypatch, 15)
        paused = await two.begin_crawl()
        assert (await two.check(A, FIRST)).kind is Kind.REPEATED
        await two.end_crawl()
        await two.begin_crawl(paused)
        await two.end_crawl()
        if ended:
            await one.end_crawl()
        expected = Kind.UNCHANGED if ended else Kind.UPDATED
        assert await crawled(next_one, (A, FIRST), (A, FIRST)) == [expected, Kind.REPEATED]
    async with opened(index_url) as index:
        assert await crawled(index, (A, FIRST)) == [Kind.UNCHANGED]


async def test_a_worker_that_begins_anew_is_the_only_one_to_be_waited_for(
    index_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(index_url, crawl="monday") as killed, opened(index_url) as index:
        crawl = await killed.begin_crawl()
        await killed.begin_crawl(killed=crawl)
        assert (await killed.check(A, FIRST)).kind is Kind.UNIQUE
        await killed.end_crawl()
        wait(monkeypatch, 15)
        assert (await index.begin_crawl()).unended == crawl.number.to_bytes(2)


def lose_answers(index: DuplicateIndex) -> None:
    """Make each call about a crawl come twice, and the first start fail after that."""
    ask, started = index.store._eval_crawl, []

    async def twice(*call: Any) -> Any:
        await ask(*call)
        answer = await ask(*call)
        if call[1] == "begin" and not started:
            started.append(call)
            raise ServerError("timed out")
        return answer

    index.store._eval_crawl = twice  # type: ignore[method-assign]


@pytest.mark.parametrize("name", [None, "monday"])
async def test_starts_and_ends_without_an_answer_count_once(
    index_url: str, monkeypatch: pytest.MonkeyPatch, name: str | None
) -> None:
    """A crawl that has ended is not taken for one under way, nor the reverse."""
    async with (
        opened(index_url, crawl=name) as one,
        opened(index_url, crawl=name) as two,
        opened(index_url) as index,
    ):
        crawls = []
        for worker in (one, two):
            lose_answers(worker)
            with pytest.raises(ServerError):
                await worker.begin_crawl()
            crawls.append(await worker.begin_crawl())
        assert crawls[1].number - crawls[0].number == (name is None)
        await one.end_crawl()
        wait(monkeypatch, 15)
        assert (await index.begin_crawl()).unended == crawls[1].number.to_bytes(2)
        await index.end_crawl()
        await two.end_crawl()
        await two.begin_crawl(crawls[1])
        await two.end_crawl()
        assert (await index.begin_crawl()).unended == b""


async def test_a_process_of_an_earlier_version_hides_no_end(server: Server) -> None:
    """It writes the number of processes, but not which they are."""
    async with opened(server.url, crawl="monday") as one, opened(server.url, crawl="monday") as two:
        crawl = await one.begin_crawl()
        entry = "{dedup}:crawls", f"@{crawl.number}"
        server.ask("HSET", *entry, f"2 {crawl.start}")
        await two.begin_crawl()
        await one.end_crawl()
        await two.end_crawl()
        assert server.ask("HGET", *entry) == b"1 %d" % crawl.start


async def test_a_page_that_is_contested_still_comes_once_more(index_url: str) -> None:
    """Another has taken its text and left it again, so that it is decided anew."""
    async with opened(index_url) as index:
        killed = await index.begin_crawl()
        assert (await index.check(A, FIRST)).kind is Kind.UNIQUE
        assert (await index.check(B, SECOND)).kind is Kind.UNIQUE
        await index.begin_crawl(killed=killed)
        assert (await index.check(B, FIRST)).kind is Kind.UPDATED
        await index.end_crawl()
        pages = (B, THIRD), (A, FIRST)
        assert await crawled(index, *pages) == [Kind.UPDATED] * 2
        assert await crawled(index, *pages) == [Kind.UNCHANGED] * 2


async def test_a_crawl_gets_no_number_of_one_that_is_remembered(index_url: str) -> None:
    """As in a new index, which is told of a crawl that was killed with the old one."""
    async with opened(index_url) as index:
        await index.begin_crawl(killed=Crawl(2, 1))
        await index.end_crawl()
        assert await crawled(index, (A, FIRST)) == [Kind.UNIQUE]
        assert await crawled(index, (A, FIRST)) == [Kind.UNCHANGED]
