"""Which of two copies is kept: the first, or another that ranks before it."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from crawler.dedup import DedupConfig, DuplicateIndex, Kind, ServerError
from crawler.dedup.exchange.requests import request_of
from crawler.dedup.store.messages import Gone
from tests.support.indexes import opened
from tests.support.texts import article, changed, text

COPY, ORIGINAL = "http://copy/", "http://original/"
FIRST, SECOND, THIRD = (text(changed(article(1), 1, seed=seed)) for seed in range(3))
OTHER = text(article(2))
NEWS = datetime(2026, 5, 1, tzinfo=UTC)


async def test_a_page_takes_the_place_of_the_copy_that_names_it(index_url: str) -> None:
    """With DEDUP_PREFER canonical the page that its copy names as canonical is kept."""
    async with opened(index_url, prefer="canonical") as index:
        await index.check(COPY, FIRST, canonical=ORIGINAL)
        verdict = await index.check(ORIGINAL, SECOND)
        assert (verdict.kind, verdict.replaces) == (Kind.UNIQUE, COPY)
        deposed = await index.show(COPY)
        assert deposed is not None
        assert (deposed.kind, deposed.duplicate_of) == (Kind.NEAR, ORIGINAL)
        assert deposed.similarity is not None
        assert deposed.similarity > 0.8
        again = await index.check(COPY, FIRST, canonical=ORIGINAL)
        assert (again.kind, again.standing, again.duplicate_of) == (
            Kind.UNCHANGED, Kind.NEAR, ORIGINAL,
        )  # fmt: skip
        assert again.canonical == ORIGINAL
        assert (await index.check("http://third/", THIRD)).duplicate_of == ORIGINAL
        assert (await index.stats()).kept == 1


async def test_the_first_page_stays_where_nothing_is_preferred(index_url: str) -> None:
    """Unset, DEDUP_PREFER leaves the first page in its place whatever date or copy comes later."""
    async with opened(index_url) as index:
        await index.check(COPY, FIRST, canonical=ORIGINAL, date=NEWS)
        verdict = await index.check(ORIGINAL, SECOND, date=NEWS - timedelta(days=1))
        assert (verdict.kind, verdict.duplicate_of) == (Kind.NEAR, COPY)
        assert verdict.replaces is None


async def test_the_earlier_page_takes_the_place_of_a_later_copy(index_url: str) -> None:
    """With DEDUP_PREFER earlier the date decides; a page without one takes no place."""
    async with opened(index_url, prefer="earlier") as index:
        await index.check(COPY, FIRST, date=NEWS)
        assert (await index.check("http://undated/", SECOND)).kind is Kind.NEAR
        later = await index.check("http://later/", SECOND, date=NEWS + timedelta(days=1))
        assert later.duplicate_of == COPY
        earlier = await index.check(ORIGINAL, FIRST, date=NEWS - timedelta(days=1))
        assert (earlier.kind, earlier.replaces) == (Kind.UNIQUE, COPY)
        deposed = await index.show(COPY)
        assert deposed is not None
        assert (deposed.kind, deposed.duplicate_of) == (Kind.EXACT, ORIGINAL)


@pytest.mark.parametrize("date", [datetime.min, datetime.max], ids=["min", "max"])
async def test_dates_at_the_ends_of_the_calendar(redis_url: str, date: datetime) -> None:
    """They count as very early and very late, whatever they are in UTC."""
    async with opened(redis_url, prefer="earlier") as index:
        await index.check(COPY, FIRST, date=NEWS)
        verdict = await index.check(ORIGINAL, SECOND, date=date)
        assert verdict.replaces == (COPY if date < datetime(2026, 1, 1) else None)


async def test_a_copy_of_a_deposed_page_goes_over_to_the_new_one(index_url: str) -> None:
    """What copied the page that lost its place is compared with the new one when it comes again."""
    async with opened(index_url, prefer="earlier") as index:
        await index.check(COPY, FIRST, date=NEWS)
        await index.check("http://third/", THIRD)
        await index.check(ORIGINAL, SECOND, date=NEWS - timedelta(days=1))
        third = await index.show("http://third/")
        assert third is not None
        assert third.duplicate_of is None
        again = await index.check("http://third/", THIRD)
        assert (again.kind, again.duplicate_of) == (Kind.UNCHANGED, ORIGINAL)


async def test_a_known_canonical_url_stands_in_the_verdict(index_url: str) -> None:
    """A page that names another page of the index as canonical says so; an unknown one does not."""
    async with opened(index_url) as index:
        await index.check(ORIGINAL, FIRST, canonical=ORIGINAL)
        assert (await index.check(COPY, OTHER, canonical=ORIGINAL)).canonical == ORIGINAL
        assert (await index.check("http://x/", "", canonical="http://nowhere/")).canonical is None


async def test_an_expired_canonical_url_is_not_known(
    index_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether its memory was given back already or not."""
    now = time.time()
    async with opened(index_url, ttl=60) as index:
        for number in range(40):
            await index.check(f"{ORIGINAL}{number}", text(article(number)))
        monkeypatch.setattr(time, "time", lambda: now + 120)
        for number in range(40):
            canonical = f"{ORIGINAL}{39 - number}"
            assert (await index.check(COPY, OTHER, canonical=canonical)).canonical is None


async def test_a_preferred_page_takes_the_place_of_what_it_copied(index_url: str) -> None:
    """A copy that was dropped is kept when somebody prefers it, and the other becomes its copy."""
    async with opened(index_url) as index:
        await index.check(ORIGINAL, FIRST)
        await index.check(COPY, SECOND)
        verdict = await index.check(COPY, SECOND, preferred=True)
        assert (verdict.kind, verdict.replaces) == (Kind.UPDATED, ORIGINAL)
        assert (await index.check(COPY, SECOND, preferred=True)).kind is Kind.UNCHANGED
        deposed = await index.show(ORIGINAL)
        assert deposed is not None
        assert deposed.duplicate_of == COPY


async def test_a_preferred_page_stays_unchanged(index_url: str) -> None:
    """A page whose site has a template is preferred by its text without that, and is the same page
    when it is crawled again.
    """
    async with opened(index_url) as index:
        await index.check(ORIGINAL, FIRST, whole="menu " + FIRST)
        await index.check(COPY, SECOND, whole="menu " + SECOND)
        assert (await index.prefer(COPY, SECOND)).replaces == ORIGINAL
        verdict = await index.check(COPY, SECOND, whole="menu " + SECOND)
        assert (verdict.kind, verdict.standing) == (Kind.UNCHANGED, Kind.UNIQUE)
        exact = await index.check("http://third/", SECOND, whole="menu " + SECOND)
        assert (exact.kind, exact.duplicate_of) == (Kind.EXACT, COPY)


async def test_a_copy_takes_the_place_of_a_page_that_is_gone(index_url: str) -> None:
    """A text outlives its URL: a copy that comes after that is gone is kept."""
    async with opened(index_url) as index:
        await index.check(ORIGINAL, FIRST)
        assert await index.gone(ORIGINAL)
        assert not await index.gone("http://nowhere/")
        record = await index.show(ORIGINAL)
        assert record is not None
        assert record.gone is not None
        moved = await index.check("http://moved/", FIRST)
        assert (moved.kind, moved.replaces) == (Kind.UNIQUE, ORIGINAL)
        record = await index.show(ORIGINAL)
        assert record is not None
        assert record.gone is not None
        assert record.duplicate_of == "http://moved/"


async def test_times_beyond_four_bytes_are_the_nearest_that_these_hold(index_url: str) -> None:
    """As of a clock that was never set, or of milliseconds taken for seconds."""
    async with opened(index_url) as index:
        await index.check(ORIGINAL, FIRST)
        assert not await index.gone(ORIGINAL, -1)
        assert await index.gone(ORIGINAL, int(time.time() * 1000))


async def test_a_copy_that_was_dropped_is_kept_when_its_original_is_gone(index_url: str) -> None:
    """The copy finds out at its next visit."""
    async with opened(index_url) as index:
        await index.check(ORIGINAL, FIRST)
        await index.check(COPY, SECOND)
        await index.gone(ORIGINAL)
        verdict = await index.check(COPY, SECOND)
        assert (verdict.kind, verdict.replaces) == (Kind.UPDATED, ORIGINAL)


async def test_a_gone_page_that_comes_back_is_not_gone(index_url: str) -> None:
    """A page that was reported gone and is fetched again stands as before."""
    async with opened(index_url) as index:
        await index.check(ORIGINAL, FIRST)
        await index.gone(ORIGINAL)
        assert (await index.check(ORIGINAL, FIRST)).kind is Kind.UNCHANGED
        record = await index.show(ORIGINAL)
        assert record is not None
        assert record.gone is None
        assert (await index.check(COPY, SECOND)).duplicate_of == ORIGINAL


async def test_a_page_that_is_kept_and_preferred_takes_the_place(index_url: str) -> None:
    """Both wishes are obeyed: it is kept, and the page that it is like becomes its copy."""
    async with opened(index_url) as index:
        await index.check(ORIGINAL, FIRST)
        await index.check(COPY, SECOND)
        await index.override(COPY, "keep")
        assert (await index.prefer(COPY, SECOND)).replaces == ORIGINAL
        record = await index.show(ORIGINAL)
        assert record is not None
        assert record.duplicate_of == COPY
        assert (await index.stats()).kept == 1


@pytest.mark.parametrize("words", [FIRST, "four words are short"])
async def test_all_of_several_kept_pages_with_one_text_are_exact(
    index_url: str, words: str
) -> None:
    """Beside one that is gone the other is named as exact; so is each that loses its place."""
    async with opened(index_url) as index:
        await index.check(ORIGINAL, words)
        await index.override(COPY, "keep")
        await index.check(COPY, words)
        await index.gone(ORIGINAL)
        verdict = await index.check("http://third/", words)
        assert (verdict.kind, verdict.duplicate_of) == (Kind.EXACT, COPY)
        await index.prefer("http://third/", words)
        for loser in (ORIGINAL, COPY):
            record = await index.show(loser)
            assert record is not None
            assert (record.kind, record.duplicate_of) == (Kind.EXACT, "http://third/")


async def test_a_page_that_is_to_be_dropped_takes_no_place(index_url: str) -> None:
    """It makes no page its copy, least of all one that is hardly like it, whatever its claims."""
    like = text(changed(article(1), 20))
    async with opened(index_url, prefer="earlier", bands=40, rows=2) as index:
        await index.check(ORIGINAL, FIRST, date=NEWS)
        assert (await index.check(COPY, like)).kind is Kind.UNIQUE
        await index.override(COPY, "drop")
        dropped = await index.check(COPY, like, date=NEWS - timedelta(days=1))
        assert (dropped.duplicate_of, dropped.replaces) == (ORIGINAL, None)
        assert (await index.prefer(COPY, like)).duplicate_of == ORIGINAL
        record = await index.show(ORIGINAL)
        assert record is not None
        assert record.kind is Kind.UNIQUE


async def test_a_page_seen_later_is_not_gone(index_url: str) -> None:
    """A report that comes late, as one that was kept while the server was away, changes nothing."""
    async with opened(index_url) as index:
        await index.check(ORIGINAL, FIRST)
        late = Gone(ORIGINAL, int(time.time()) - 60)
        assert await index.store.gone([late]) == [False]
        assert (await index.check(COPY, SECOND)).duplicate_of == ORIGINAL
        assert await index.store.gone([late._replace(since=int(time.time()) + 60)]) == [True]
        assert (await index.check("http://third/", FIRST)).replaces == ORIGINAL


async def test_an_overruled_copy_is_kept_from_its_next_visit_on(index_url: str) -> None:
    """A person's `keep` is obeyed although the page is like another; taken back, it ends."""
    async with opened(index_url) as index:
        await index.check(ORIGINAL, FIRST)
        await index.check(COPY, SECOND)
        await index.override(COPY, "keep")
        assert await index.overrides() == {COPY: "keep"}
        assert (await index.check(COPY, SECOND)).kind is Kind.UPDATED
        assert (await index.check(COPY, SECOND)).kind is Kind.UNCHANGED
        assert (await index.stats()).kept == 2
        await index.override(COPY, None)
        assert await index.overrides() == {}
        for _ in range(2):
            verdict = await index.check(COPY, SECOND)
            assert (verdict.standing, verdict.duplicate_of) == (Kind.NEAR, ORIGINAL)
        assert (await index.stats()).kept == 1


async def test_an_overruled_page_is_taken_for_a_copy(index_url: str) -> None:
    """A person's `drop` makes a page the copy of what is most like it, under the threshold too."""
    async with opened(index_url, threshold=0.99, bands=10, rows=6) as index:
        await index.check(ORIGINAL, FIRST)
        assert (await index.check(COPY, SECOND)).kind is Kind.UNIQUE
        await index.override(COPY, "drop")
        await index.override("http://like-nothing/", "drop")
        verdict = await index.check(COPY, SECOND)
        assert (verdict.standing, verdict.duplicate_of) == (Kind.NEAR, ORIGINAL)
        assert (await index.check("http://like-nothing/", OTHER)).kind is Kind.UNIQUE
        await index.override(COPY, None)
        assert (await index.check(COPY, SECOND)).kind is Kind.UPDATED
        assert (await index.check(COPY, SECOND)).kind is Kind.UNCHANGED
        assert (await index.stats()).kept == 3


async def test_a_page_that_no_other_is_like_keeps_its_number_and_its_copies(index_url: str) -> None:
    """A `drop` that cannot be obeyed waits: who reads clusters by their numbers sees no change."""
    async with opened(index_url) as index:
        number = (await index.check(ORIGINAL, FIRST)).cluster
        await index.check(COPY, SECOND)
        await index.override(ORIGINAL, "drop")
        for _ in range(2):
            verdict = await index.check(ORIGINAL, FIRST)
            assert (verdict.kind, verdict.cluster) == (Kind.UNCHANGED, number)
        record = await index.show(COPY)
        assert record is not None
        assert (record.duplicate_of, record.cluster) == (ORIGINAL, number)
        await index.override(COPY, "keep")
        await index.check(COPY, SECOND)
        assert (await index.check(ORIGINAL, FIRST)).duplicate_of == COPY


async def test_a_confirmation_that_is_taken_back_changes_nothing(index_url: str) -> None:
    """The page and its copies stay what they were, and the index forgets that there was one."""
    async with opened(index_url) as index:
        pages = {ORIGINAL: FIRST, COPY: SECOND, "http://other/": OTHER}
        for url, words in pages.items():
            await index.check(url, words)
        for url, decision in ((ORIGINAL, "keep"), (COPY, "drop"), ("http://unseen/", "drop")):
            await index.override(url, decision)
            await index.override(url, None)
            await index.override(url, None)
        for _ in range(2):
            standing = [(await index.check(url, pages[url])).standing for url in pages]
            assert standing == [Kind.UNIQUE, Kind.NEAR, Kind.UNIQUE]
        assert (await index.check("http://unseen/", text(article(3)))).kind is Kind.UNIQUE
        assert (await index.show(COPY)).duplicate_of == ORIGINAL


async def test_what_was_taken_back_is_decided_anew_by_whoever_gets_to_it(
    cluster_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a cluster a check that ended before its decision leaves that to the next one."""
    config = DedupConfig(redis_url=cluster_url, shards=4, timeout=1, data_dir=tmp_path)
    async with DuplicateIndex.open(config) as index:

        async def lost(*known: Any) -> None:
            raise ServerError("no answer")

        await index.check(ORIGINAL, FIRST)
        await index.override(COPY, "keep")
        assert (await index.check(COPY, SECOND)).kind is Kind.UNIQUE
        await index.override(COPY, None)
        with monkeypatch.context() as patch:
            patch.setattr(index.store, "_settle_attempt", lost)
            with pytest.raises(ServerError):
                await index.check(COPY, SECOND)
        for _ in range(2):
            verdict = await index.check(COPY, SECOND)
            assert (verdict.standing, verdict.duplicate_of) == (Kind.NEAR, ORIGINAL)
        await index.override(COPY, "keep")
        assert (await index.check(COPY, SECOND)).standing is Kind.UNIQUE
        assert (await index.verify()).faults == []


@pytest.mark.parametrize("claim", ["gone", "earlier", "later first", "preferred"])
async def test_of_winners_that_come_at_once_one_is_kept(index_url: str, claim: str) -> None:
    """Pages that all rank before the kept one have one survivor among them."""
    prefer = "earlier" if claim in ("earlier", "later first") else ""
    rivals = 5
    days = {"earlier": range(1, rivals + 1), "later first": range(rivals, 0, -1)}
    config = DedupConfig(redis_url=index_url, shards=8, prefer=prefer)
    async with DuplicateIndex.open(config) as one, DuplicateIndex.open(config) as two:
        for number in range(8):
            words = article(10 + number)
            urls = [f"http://{rival}/{number}" for rival in range(rivals + 1)]
            await one.check(urls[0], text(words), date=NEWS)
            if claim == "gone":
                await one.gone(urls[0])
            dates = [NEWS - timedelta(days=day) for day in days.get(claim, [0] * rivals)]
            await asyncio.gather(
                *(
                    (one if rival % 2 else two).check(
                        url,
                        text(changed(words, 1, seed=rival)),
                        date=date,
                        preferred=claim == "preferred",
                    )
                    for rival, (url, date) in enumerate(zip(urls[1:], dates, strict=True))
                )
            )
            records = [await one.show(url) for url in urls]
            kept = [page.url for page in records if page and page.kind is Kind.UNIQUE]
            assert len(kept) == 1
            if claim == "earlier":
                assert kept == [urls[-1]]
            elif claim == "later first":
                assert kept == [urls[1]]
        assert (await one.verify()).faults == []


async def test_an_answer_that_was_lost_tells_of_the_replaced_page_again(index_url: str) -> None:
    """The same check tried again says again whose place the page took."""
    async with opened(index_url, prefer="earlier") as index:
        await index.check(COPY, FIRST, date=NEWS)
        request = request_of(index.config, ORIGINAL, index.fingerprint(SECOND))._replace(rank=b"1")
        for _ in range(2):
            (answer,) = await index.store.check([request])
            assert (answer.kind, answer.replaces) == ("unique", COPY)
        assert sum((await index.stats()).verdicts.values()) == 2


async def test_an_answer_that_got_lost_leaves_one_page_in_the_place(
    cluster_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a cluster the winner of a place ends what it began when its check is tried again."""
    config = DedupConfig(redis_url=cluster_url, shards=4, prefer="earlier", data_dir=tmp_path)
    async with DuplicateIndex.open(config, spool=True) as index:

        async def lost(*known: Any) -> None:
            raise ServerError("no answer")

        await index.check(COPY, FIRST, date=NEWS)
        with monkeypatch.context() as patch:
            patch.setattr(index.store, "_depose_page", lost)
            with pytest.raises(ServerError):
                await index.check(ORIGINAL, SECOND, date=NEWS - timedelta(days=1))
        assert (await index.stats()).kept == 2
        (verdict,) = [verdict async for verdict in index.replay()]
        assert (verdict.url, verdict.replaces) == (ORIGINAL, COPY)
        assert (await index.stats()).kept == 1
        deposed = await index.show(COPY)
        assert deposed is not None
        assert (deposed.kind, deposed.duplicate_of) == (Kind.NEAR, ORIGINAL)
        assert (await index.verify()).faults == []
