"""Pages by their URLs: updated, forgotten, shown, and in canonical form."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from crawler.dedup import (
    DedupConfig,
    DuplicateIndex,
    Kind,
)
from crawler.dedup.store.records import read_records
from tests.conftest import Server
from tests.support.texts import article, changed, text


async def test_the_same_url_is_never_its_own_copy(index: DuplicateIndex) -> None:
    """A second visit is `unchanged`, a changed text `updated`, and its own old text is no rival."""
    words = article(1)
    first = await index.check("http://a/1", text(words))
    second = await index.check("http://a/1", text(words))
    third = await index.check("http://a/1", text(changed(words, 1)))
    fourth = await index.check("http://a/1", text(words))
    kinds = [verdict.kind for verdict in (first, second, third, fourth)]
    assert kinds == [Kind.UNIQUE, Kind.UNCHANGED, Kind.UPDATED, Kind.UPDATED]


async def test_an_unchanged_copy_stays_a_copy(index: DuplicateIndex) -> None:
    """A page dropped in the first crawl says so in the second: it still has an original."""
    await index.check("http://a/1", text(article(1)))
    first = await index.check("http://b/1", text(changed(article(1), 3)))
    again = await index.check("http://b/1", text(changed(article(1), 3)))
    assert (again.kind, again.standing) == (Kind.UNCHANGED, Kind.NEAR)
    assert (again.duplicate_of, again.similarity) == ("http://a/1", first.similarity)


@pytest.mark.parametrize("end", ["forgotten", "updated"])
async def test_a_copy_is_free_when_its_original_goes(index: DuplicateIndex, end: str) -> None:
    """No text is lost: when the kept page goes, the next of its copies to come is kept."""
    await index.check("http://a/1", text(article(1)))
    await index.check("http://b/1", text(article(1)))
    await index.check("http://c/1", text(article(1)))
    if end == "forgotten":
        assert await index.forget("http://a/1")
    else:
        await index.check("http://a/1", text(article(2)))
    freed = await index.check("http://b/1", text(article(1)))
    other = await index.check("http://c/1", text(article(1)))
    assert (freed.kind, freed.standing) == (Kind.UPDATED, Kind.UNIQUE)
    assert (other.kind, other.standing) == (Kind.UNCHANGED, Kind.EXACT)
    assert other.duplicate_of == "http://b/1"


async def test_many_pages_are_forgotten_at_once(index: DuplicateIndex) -> None:
    """Each has its own answer, one that is named twice too; of what is left out copies stay."""
    urls = [f"http://a/{number}" for number in range(300)]
    await index.check_many((url, url * 9) for url in urls)
    await index.check("http://b/copy", urls[0] * 9)
    await index.check("http://b/other", urls[200] * 9)
    asked = [*urls[:200], "http://b/other", "http://b/never-seen", urls[7]]
    forgotten = await asyncio.gather(*map(index.forget, asked))
    assert forgotten == [True] * 201 + [False, False]
    asked = [*urls[198:], "http://b/copy", "http://b/never-seen"]
    left_out = await asyncio.gather(*map(index.leave_out, asked))
    assert left_out == [False] * 2 + [True] * 100 + [False, False]
    audit = await index.verify()
    assert (audit.faults, audit.urls, audit.kept) == ([], 1, 0)
    freed = await index.check("http://b/copy", urls[0] * 9)
    assert (freed.kind, freed.duplicate_of) == (Kind.UPDATED, None)


async def test_an_update_may_make_a_page_a_copy(index: DuplicateIndex) -> None:
    """The new text of a known URL is checked against all others."""
    await index.check("http://a/1", text(article(1)))
    await index.check("http://b/1", text(article(2)))
    verdict = await index.check("http://b/1", text(article(1)))
    assert (verdict.kind, verdict.duplicate_of) == (Kind.EXACT, "http://a/1")
    freed = await index.check("http://c/1", text(article(2)))
    assert freed.kind is Kind.UNIQUE


async def test_urls_are_compared_in_canonical_form(index: DuplicateIndex) -> None:
    """Fragment and order of the query's arguments do not make another page."""
    await index.check("http://a/1?x=1&y=2#top", text(article(1)))
    assert (await index.check("http://a/1?y=2&x=1", text(article(1)))).kind is Kind.UNCHANGED


@pytest.mark.parametrize(
    "url",
    ["", "no url", "http://[", "http://a/" + "x" * 5000, "http://a/\ud800", "http://ä.de/ü?\0"],
)
async def test_any_url_is_a_name(index: DuplicateIndex, url: str) -> None:
    """What is no URL, or a hostile one, is still the name of a page."""
    await index.check(url, text(article(1)))
    assert (await index.check(url, text(article(1)))).kind is Kind.UNCHANGED
    assert (await index.check("http://other/", text(article(1)))).kind is Kind.EXACT
    assert await index.forget(url)
    assert await index.show(url) is None


async def test_urls_that_differ_in_their_beginning_are_several(index: DuplicateIndex) -> None:
    """The usual beginnings are stored as a number, and come back as they were."""
    schemes = ("http://", "https://", "ftp://")
    urls = [f"{scheme}{www}a.example/" for scheme in schemes for www in ("", "www.")]
    for url in urls:
        await index.check(url, text(article(1)))
    assert (await index.check("http://b.example/", text(article(1)))).duplicate_of == urls[0]
    for url in urls:
        assert (await index.check(url, text(article(1)))).kind is Kind.UNCHANGED
    records = read_records(index.store, odd_bytes=128)
    assert {record.url async for record in records} == {*urls, "http://b.example/"}


async def test_long_urls_of_one_beginning_differ(index: DuplicateIndex) -> None:
    """URLs that are cut in the index are told apart all the same."""
    start = "http://a/" + "x" * 3000
    await index.check(start + "1", text(article(1)))
    assert (await index.check(start + "2", text(article(2)))).kind is Kind.UNIQUE
    assert (await index.check(start + "1", text(article(1)))).kind is Kind.UNCHANGED


async def test_show_tells_what_was_decided(index: DuplicateIndex) -> None:
    """The record of a copy names its original and keeps the evidence."""
    await index.check("http://a/1", text(article(1)))
    verdict = await index.check("http://b/1", text(changed(article(1), 3)))
    record = await index.show("http://b/1")
    assert record is not None
    assert (record.kind, record.duplicate_of) == (Kind.NEAR, "http://a/1")
    assert (record.similarity, record.low, record.high) == (
        verdict.similarity,
        verdict.low,
        verdict.high,
    )
    assert record.words == 600
    assert record.first_seen <= record.last_seen
    assert await index.show("http://never/") is None


async def test_statistics_add_up(index: DuplicateIndex) -> None:
    """Each check counts once, under its verdict and under its host."""
    await index.check("http://a/1", text(article(1)))
    await index.check("http://b/1", text(changed(article(1), 3)))
    await index.check("http://b/2", text(article(1)))
    await index.check("http://b/2", text(article(1)))
    await index.check("http://c/", "short")
    stats = await index.stats()
    assert stats.verdicts == {"unique": 1, "near": 1, "exact": 1, "unchanged": 1, "short": 1}
    assert stats.hosts["b"] == {"near": 1, "exact": 1, "unchanged": 1}
    assert (stats.urls, stats.kept, sum(stats.histogram.values())) == (4, 2, 1)
    assert stats.memory_bytes is not None
    assert stats.memory_bytes > 0
    assert stats.parameters["threshold"] == "0.8"


async def test_similarities_are_rounded_down(index_url: str) -> None:
    """Each near-duplicate counts at the hundredth that its verdict has, whichever that is."""
    config = DedupConfig(redis_url=index_url, shards=4, threshold=0.4, bands=40, rows=2)
    async with DuplicateIndex.open(config) as index:
        await index.check("http://a/", text(article(1)))
        copies = [(f"http://b/{n}", text(changed(article(1), n))) for n in range(20, 48)]
        found = [verdict.similarity for verdict in await index.check_many(copies)]
        hundredths = Counter(f"{int(similarity * 100) / 100:.2f}" for similarity in found)
        assert hundredths.keys() & {"0.57", "0.58"}  # a hundred times these are less than 57 and 58
        assert (await index.stats()).histogram == hundredths


@pytest.mark.parametrize("name", ["hosts", "templates", "overrides"])
async def test_memory_beside_the_pages(server: Server, redis_url: str, name: str) -> None:
    """What an index keeps of hosts and of wishes is weighed, and is no page's part."""
    async with DuplicateIndex.open(DedupConfig(redis_url=redis_url)) as index:
        await index.check_many([(f"http://a/{n}", text(article(n))) for n in range(20)])
        before = await index.stats()
        server.ask("HSET", f"{{dedup}}:{name}", "b" * 1_000_000 + " unique", 1)
        after = await index.stats()
        assert before.memory_bytes is not None
        assert after.memory_bytes is not None
        assert after.memory_bytes > before.memory_bytes + 1_000_000
        assert after.bytes_per_page == before.bytes_per_page
