"""What a crawl knows of time: records that nobody has confirmed since it began."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from crawler.dedup import DedupConfig, DuplicateIndex, Kind
from crawler.dedup.exchange.requests import request_of
from crawler.dedup.export.transfer import export_index, import_index
from crawler.dedup.store.messages import UNANNOUNCED, Crawl, Original
from tests.support.indexes import opened
from tests.support.texts import article, changed, text

A, B, C = (f"http://site/{name}" for name in "abc")
MIRROR = "http://mirror/a"
FIRST, SECOND, THIRD = (text(article(number)) for number in range(3))
LIKE_FIRST = text(changed(article(0), 1))


async def crawled(index: DuplicateIndex, *pages: tuple[str, str]) -> list[Kind]:
    """The verdicts of a crawl that has ended."""
    await index.begin_crawl()
    kinds = [(await index.check(url, words)).kind for url, words in pages]
    await index.end_crawl()
    return kinds


async def test_a_kept_page_is_not_deposed_by_a_stale_record(index_url: str) -> None:
    """Texts that move on by one URL are kept in each crawl, in either order."""
    async with opened(index_url) as index:
        await crawled(index, (A, FIRST), (B, SECOND), (C, THIRD))
        assert await crawled(index, (A, SECOND), (B, THIRD), (C, FIRST)) == [Kind.UPDATED] * 3
        assert await crawled(index, (C, SECOND), (B, FIRST), (A, THIRD)) == [Kind.UPDATED] * 3
        assert (await index.stats()).kept == 3


async def test_of_two_pages_with_one_text_one_is_kept(index_url: str) -> None:
    """A record that was contested is decided anew when its page comes with the same text."""
    async with opened(index_url) as index:
        await crawled(index, (A, FIRST), (B, SECOND))
        assert await crawled(index, (A, SECOND), (B, SECOND)) == [Kind.UPDATED, Kind.EXACT]
        assert (await index.stats()).kept == 1
        assert await crawled(index, (B, SECOND), (A, SECOND)) == [Kind.UNCHANGED] * 2
        assert (await index.stats()).kept == 1


async def test_a_new_page_is_the_copy_of_an_unconfirmed_record(index_url: str) -> None:
    """It is dropped, and says so, until the record's page was seen, or is found to be another."""
    async with opened(index_url) as index:
        await crawled(index, (A, FIRST), (B, SECOND))
        await index.begin_crawl()
        copy, other = await index.check(C, LIKE_FIRST), await index.check(MIRROR, SECOND)
        assert (copy.kind, copy.duplicate_of, copy.unconfirmed) == (Kind.NEAR, A, True)
        assert (other.kind, other.unconfirmed) == (Kind.EXACT, True)
        unconfirmed = {C: Original("unconfirmed", A), MIRROR: Original("unconfirmed", B)}
        assert await index.originals([C, MIRROR]) == unconfirmed
        assert (await index.check(A, FIRST)).kind is Kind.UNCHANGED
        assert (await index.check(B, THIRD)).kind is Kind.UPDATED
        found = await index.originals([C, MIRROR, A])
        assert [one.state for one in found.values()] == ["confirmed", "lost", "confirmed"]
        again = await index.check(C, LIKE_FIRST)
        assert (again.kind, again.standing, again.unconfirmed) == (Kind.REPEATED, Kind.NEAR, False)
        assert (await index.check(MIRROR, SECOND)).kind is Kind.UPDATED


async def test_the_original_that_is_gone_is_lost(index_url: str) -> None:
    async with opened(index_url) as index:
        await crawled(index, (A, FIRST), (C, LIKE_FIRST))
        await index.begin_crawl()
        copy = await index.check(C, LIKE_FIRST)
        assert (copy.kind, copy.standing, copy.unconfirmed) == (Kind.UNCHANGED, Kind.NEAR, True)
        assert await index.gone(A)
        assert (await index.originals([C]))[C].state == "lost"
        assert (await index.check(C, LIKE_FIRST)).replaces == A


async def test_unconfirmed_records_of_a_host_give_way(index_url: str) -> None:
    """Only those of hosts that the crawl visits: a mirror of another stays an original."""
    async with opened(index_url) as index:
        await crawled(index, (A, FIRST), (MIRROR, SECOND))
        await index.begin_crawl()
        for url, words in ((C, FIRST), (B, SECOND)):
            assert (await index.check(url, words)).unconfirmed
        kept = await index.check(C, FIRST, final=["other", "site"])
        assert (kept.kind, kept.replaces) == (Kind.UPDATED, None)
        assert (await index.check(B, SECOND, final=["site"])).kind is Kind.REPEATED
        late = await index.check(A, FIRST)
        assert (late.kind, late.duplicate_of) == (Kind.EXACT, C)


async def test_the_confirmed_of_two_originals_stands_for_a_page(index_url: str) -> None:
    """Be it less like the page than one that may have another text by now."""
    async with opened(index_url) as index:
        await crawled(index, (A, FIRST), (B, SECOND))
        await index.begin_crawl()
        assert (await index.check(B, LIKE_FIRST)).kind is Kind.UPDATED
        copy = await index.check(C, FIRST)
        assert (copy.kind, copy.duplicate_of, copy.unconfirmed) == (Kind.NEAR, B, False)


async def test_a_page_that_comes_again_in_a_crawl_is_repeated(index_url: str) -> None:
    """So is its copy; in the next crawl they are unchanged, and without a crawl they always are."""
    async with opened(index_url) as index:
        assert await crawled(index, (A, FIRST), (A, FIRST), (B, FIRST), (B, FIRST)) == [
            Kind.UNIQUE, Kind.REPEATED, Kind.EXACT, Kind.REPEATED,
        ]  # fmt: skip
        assert await crawled(index, (A, FIRST), (B, FIRST)) == [Kind.UNCHANGED] * 2
        assert (await index.check(A, FIRST)).kind is Kind.UNCHANGED
        assert (await index.stats()).verdicts[Kind.REPEATED] == 2


async def test_a_lost_answer_leaves_a_page_that_came_twice(index_url: str) -> None:
    """A client that gets no answer sends both checks again: the first must not be repeated."""
    async with opened(index_url) as index:
        for expected in (Kind.UNIQUE, Kind.UNCHANGED):
            await index.begin_crawl()
            page = index.fingerprint(FIRST)
            requests = [request_of(index.config, A, page, crawl=index.crawl) for _ in range(2)]
            for _ in range(3):
                answers = await index.store.check(requests)
                assert [one.kind for one in answers] == [expected, Kind.REPEATED]
            await index.end_crawl()


@pytest.mark.parametrize("begins", [True, False])
@pytest.mark.parametrize("change", ["forgotten", "gone", "another text", "replaced"])
async def test_a_lost_answer_about_a_copy_whose_original_is_lost_meanwhile(
    index_url: str, change: str, begins: bool
) -> None:
    """The check that is sent again must not drop the page: no other stands for it any more."""
    async with opened(index_url) as index:
        if begins:
            await index.begin_crawl()
        await index.check(A, FIRST)
        page = index.fingerprint(LIKE_FIRST)
        request = request_of(index.config, B, page, crawl=index.crawl)
        (answer,) = await index.store.check([request])
        assert (answer.kind, answer.duplicate_of) == (Kind.NEAR, A)
        if change == "forgotten":
            await index.forget(A)
        elif change == "gone":
            assert await index.gone(A)
        elif change == "another text":
            await index.check(A, SECOND)
        else:
            assert (await index.prefer(C, FIRST)).replaces == A
            await index.forget(C)
        for _ in range(2):
            (again,) = await index.store.check([request])
            assert (again.kind, again.standing) == (Kind.UPDATED, Kind.UNIQUE)


async def test_crawls_beside_each_other(index_url: str) -> None:
    """What began a moment ago confirms records of the other, and repeats none of its pages."""
    async with opened(index_url) as one, opened(index_url) as other:
        first, second = await one.begin_crawl(), await other.begin_crawl()
        assert (first.start, first.number + 1) == (second.start, second.number)
        await one.check(A, FIRST)
        assert not (await other.check(B, FIRST)).unconfirmed
        assert (await other.check(A, FIRST)).kind is Kind.UNCHANGED
        await one.end_crawl()
        await other.end_crawl()
        third = await one.begin_crawl()
        assert third.start > first.start
        assert (await other.begin_crawl(third))[:3] == third[:3]
        assert (await other.check(A, FIRST)).kind is Kind.UNCHANGED
        assert (await one.check(A, FIRST)).kind is Kind.REPEATED


async def test_crawls_with_one_name_are_one(index_url: str) -> None:
    async with opened(index_url, crawl="monday") as one, opened(index_url, crawl="monday") as other:
        assert (await one.begin_crawl())[:3] == (await other.begin_crawl())[:3]
        await one.check(A, FIRST)
        await one.end_crawl()
        assert (await other.check(A, FIRST)).kind is Kind.REPEATED


@pytest.mark.parametrize("hours", [-3, 3])
async def test_no_clock_has_to_be_right(
    index_url: str, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    """A crawler whose clock is hours off knows what came before its crawl; so do others."""
    async with opened(index_url) as index:
        await crawled(index, (A, FIRST), (B, SECOND))
        now = time.time
        monkeypatch.setattr(time, "time", lambda: now() + 3600 * hours)
        assert await crawled(index, (A, SECOND), (A, SECOND), (B, FIRST)) == [
            Kind.UPDATED, Kind.REPEATED, Kind.UPDATED,
        ]  # fmt: skip
        monkeypatch.undo()
        assert await crawled(index, (A, FIRST), (B, SECOND)) == [Kind.UPDATED] * 2


async def test_a_page_that_is_checked_late_was_seen_in_its_crawl(index_url: str) -> None:
    """One that got no answer at first is of the crawl that fetched it, not of that which asks."""
    async with opened(index_url) as index:
        await index.begin_crawl()
        request = request_of(index.config, A, index.fingerprint(FIRST), crawl=index.crawl)
        await index.end_crawl()
        assert await crawled(index, (B, SECOND)) == [Kind.UNIQUE]
        await index.store.check([request._replace(since=request.crawl)])
        assert await crawled(index, (B, FIRST), (A, FIRST)) == [Kind.UPDATED, Kind.EXACT]


async def test_orphans_are_copies_whose_text_nobody_has(index_url: str) -> None:
    """Of an original that is gone, forgotten or changed, unless another page has the text."""
    async with opened(index_url) as index:
        await crawled(index, (A, FIRST), (B, SECOND), (C, THIRD))
        await crawled(
            index, (f"{A}/print", LIKE_FIRST), (f"{B}/print", SECOND), (f"{C}/print", THIRD)
        )
        assert [one async for one in index.orphans()] == []
        later = int(time.time()) + 60  # crawls in one second begin one after the other
        await index.gone(A, later)
        await index.check(B, text(article(7)))
        await index.forget(C)
        found = {one.url: one.original async for one in index.orphans()}
        assert found == {f"{A}/print": A, f"{B}/print": None, f"{C}/print": None}
        await index.check("http://elsewhere/", SECOND)
        await index.gone(f"{C}/print", later)
        await index.prefer(f"{A}/print", LIKE_FIRST)
        assert [one async for one in index.orphans()] == []


async def test_a_page_that_is_decided_anew_keeps_its_copies(redis_url: str) -> None:
    """They go on as copies of the page with this number, and need not be asked for again."""
    async with opened(redis_url) as index:
        await index.check(A, FIRST, heading="A", learnt=0)
        await index.check(B, FIRST, heading="A", learnt=0)
        await index.begin_crawl()
        again = LIKE_FIRST.partition(" ")[2]
        await index.check(A, again, whole=FIRST, heading="A", own_words=600, learnt=20)
        assert (await index.originals([B]))[B].state == "confirmed"


async def test_what_a_killed_crawl_has_kept_comes_once_more(index_url: str) -> None:
    """As `updated`, for nobody knows whether it was passed on; copies and older pages do not."""
    async with opened(index_url) as index:
        await crawled(index, (A, FIRST))
        killed = await index.begin_crawl()
        assert [(await index.check(url, SECOND)).kind for url in (B, C)] == [
            Kind.UNIQUE,
            Kind.EXACT,
        ]
        await index.begin_crawl(killed=killed)
        for kinds in [
            [Kind.UNCHANGED, Kind.UPDATED, Kind.UNCHANGED],
            [Kind.REPEATED] * 3,
        ]:
            pages = (A, FIRST), (B, SECOND), (C, SECOND)
            assert [(await index.check(url, words)).kind for url, words in pages] == kinds


def wait(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Let time pass, by the clocks of crawlers, which the server goes by."""
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + seconds)


@pytest.mark.parametrize("is_known", [True, False])
async def test_what_a_killed_crawl_has_kept_comes_in_any_later_crawl(
    index_url: str, monkeypatch: pytest.MonkeyPatch, is_known: bool
) -> None:
    """Once, whether another knows of the kill or only that it has not ended, and after a pause."""
    async with opened(index_url) as index:
        await crawled(index, (A, FIRST))
        killed = await index.begin_crawl()
        assert (await index.check(B, SECOND)).kind is Kind.UNIQUE
        assert (await index.check(C, THIRD)).kind is Kind.UNIQUE
        wait(monkeypatch, 15)
        paused = await index.begin_crawl(killed=killed if is_known else None)
        assert (await index.check(A, FIRST)).kind is Kind.UNCHANGED
        await index.end_crawl()
        await index.begin_crawl(paused)
        assert (await index.check(B, SECOND)).kind is Kind.UPDATED
        await index.end_crawl()
        pages = (A, FIRST), (B, SECOND), (C, THIRD)
        assert await crawled(index, *pages) == [Kind.UNCHANGED, Kind.UNCHANGED, Kind.UPDATED]
        assert await crawled(index, *pages) == [Kind.UNCHANGED] * 3


async def test_a_crawl_that_ends_late_was_not_killed(
    index_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(index_url) as one, opened(index_url) as other:
        await one.begin_crawl()
        assert (await one.check(A, FIRST)).kind is Kind.UNIQUE
        assert (await one.check(B, SECOND)).kind is Kind.UNIQUE
        wait(monkeypatch, 15)
        await other.begin_crawl()
        assert (await other.check(A, FIRST)).kind is Kind.UPDATED
        await one.end_crawl()
        assert await crawled(other, (B, SECOND)) == [Kind.UNCHANGED]


async def test_what_is_kept_before_the_crawl_could_be_announced(index_url: str) -> None:
    async with opened(index_url) as index:
        index.crawl = UNANNOUNCED
        assert (await index.check(A, FIRST)).kind is Kind.UNIQUE
        assert (await index.check(A, FIRST)).kind is Kind.UNCHANGED
        for kind in (Kind.UPDATED, Kind.UNCHANGED):
            assert await crawled(index, (A, FIRST)) == [kind]


async def test_imported_pages_are_those_of_a_crawl_that_has_ended(
    index_url: str, tmp_path: Path
) -> None:
    async with opened(index_url, namespace="source") as index:
        assert await crawled(index, (A, FIRST)) == [Kind.UNIQUE]
        await export_index(index, tmp_path / "index.jsonl.gz")
    await import_index(DedupConfig(redis_url=index_url, shards=4), tmp_path / "index.jsonl.gz")
    async with opened(index_url) as index:
        assert await crawled(index, (A, FIRST)) == [Kind.UNCHANGED]


async def test_so_many_crawls_are_remembered(redis_url: str) -> None:
    async with opened(redis_url) as index:
        for number in range(1000, 1102):
            crawl = await index.begin_crawl(killed=Crawl(number, number))
            await index.end_crawl()
        numbers = {crawl.unended[at : at + 2] for at in range(0, len(crawl.unended), 2)}
        assert numbers == {number.to_bytes(2) for number in range(1003, 1102)}  # and this crawl


async def test_a_worker_of_a_named_crawl_that_was_killed(index_url: str) -> None:
    """What it had kept comes once more, what others have kept is confirmed all the same."""
    async with (
        opened(index_url, crawl="monday") as killed,
        opened(index_url, crawl="monday") as two,
    ):
        crawl = await killed.begin_crawl()
        await two.begin_crawl()
        assert (await killed.check(A, FIRST)).kind is Kind.UNIQUE
        assert (await two.check(B, SECOND)).kind is Kind.UNIQUE
        await killed.begin_crawl(killed=crawl)
        assert (await killed.check(A, FIRST)).kind is Kind.UPDATED
        assert (await killed.check(A, FIRST)).kind is Kind.REPEATED
        copy = await killed.check(C, SECOND)
        assert (copy.kind, copy.duplicate_of, copy.unconfirmed) == (Kind.EXACT, B, False)
        await killed.end_crawl()
        await two.end_crawl()
