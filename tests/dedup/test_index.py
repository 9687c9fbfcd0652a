"""The index against a real server: every verdict, and what a page's second visit brings."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import fields, make_dataclass, replace
from pathlib import Path

import pytest

from crawler.dedup import (
    ConfigError,
    DedupConfig,
    DuplicateIndex,
    Kind,
    ParameterMismatch,
    ServerError,
    Verdict,
    jaccard,
    shingle_hashes,
)
from crawler.dedup.errors import InputError
from crawler.dedup.store.records import read_records
from tests.conftest import Server
from tests.support.texts import article, changed, text


@pytest.fixture
def config(index_url: str) -> DedupConfig:
    return DedupConfig(redis_url=index_url, shards=8, seed=1)


@pytest.fixture
async def index(config: DedupConfig) -> AsyncIterator[DuplicateIndex]:
    async with DuplicateIndex.open(config) as opened:
        yield opened
        assert (await opened.verify()).faults == []


def test_a_verdict_as_plain_values() -> None:
    """All of its fields, in their order, and nothing that JSON or YAML would not take as it is."""
    verdict = Verdict(Kind.UNCHANGED, "/b", "/a", 0.9, 0.8, 1.0, 7, Kind.NEAR, "/c", "/d")
    found = verdict.to_dict()
    optional = ("contains", "contained_in")  # of indexes with DEDUP_CONTAINMENT alone
    assert list(found) == [one.name for one in fields(Verdict) if one.name not in optional]
    assert list(found.values()) == [
        "unchanged", "/b", "/a", 0.9, 0.8, 1.0, 7, "near", "/c", "/d", False,
    ]  # fmt: skip
    assert {type(value) for value in found.values()} == {str, float, int, bool}
    derived = make_dataclass("Derived", [("found_by", str, "me")], bases=(Verdict,), frozen=True)
    assert derived(Kind.UNIQUE, "/b").to_dict() == {
        **Verdict(Kind.UNIQUE, "/b").to_dict(), "found_by": "me",
    }  # fmt: skip


async def test_no_index_is_made_for_a_dictionary_that_is_none(
    config: DedupConfig, tmp_path: Path
) -> None:
    """Who mends the setting would be told that the index has another one."""
    words = tmp_path / "words.txt"
    words.write_text("zemlja 500\n", encoding="utf-8")
    misspelt = replace(config, correct="typos:/no/such/words.txt")
    with pytest.raises(InputError, match="DEDUP_CORRECT"):
        async with DuplicateIndex.open(misspelt):
            pass
    async with DuplicateIndex.open(replace(config, correct=f"typos:{words}")) as index:
        assert (await index.check("http://a/1", text(article(1)))).kind is Kind.UNIQUE


async def test_a_page_like_no_other_is_unique(index: DuplicateIndex) -> None:
    """A page that shares nothing with a kept page is kept, with no similarity to speak of."""
    await index.check("http://a/1", text(article(1)))
    verdict = await index.check("http://a/2", text(article(2)))
    assert (verdict.kind, verdict.duplicate_of, verdict.similarity) == (Kind.UNIQUE, None, None)


async def test_pages_of_a_template_with_a_word_of_their_own_are_kept(redis_url: str) -> None:
    """Five of seven shingles are the same, whatever bits of a sketch the two others fall on."""
    same = "one two three four five six seven eight nine"
    pages = [(f"http://a/{number}", f"{same} {number}") for number in range(1000)]
    async with DuplicateIndex.open(DedupConfig(redis_url=redis_url)) as index:
        assert {verdict.kind for verdict in await index.check_many(pages)} == {Kind.UNIQUE}


async def test_the_same_words_are_an_exact_copy(index: DuplicateIndex) -> None:
    """Case, punctuation and white space do not make another page."""
    words = article(1)
    await index.check("http://a/1", text(words))
    verdict = await index.check("http://b/1", "\n".join(words).upper() + " !")
    assert (verdict.kind, verdict.duplicate_of) == (Kind.EXACT, "http://a/1")
    assert (verdict.similarity, verdict.low, verdict.high) == (1.0, 1.0, 1.0)


async def test_what_is_long_is_read_in_a_thread(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The event loop is not held up by a long page of which the template takes out the most."""
    threads = []
    async with DuplicateIndex.open(DedupConfig(redis_url=redis_url)) as index:
        exact = index.fingerprint.exact

        def noted(words: str) -> bytes:
            threads.append(threading.current_thread())
            return exact(words)

        monkeypatch.setattr(index.fingerprint, "exact", noted)
        await index.check("http://a/1", text(article(1)), whole="menu " * 50_000)
    assert len(threads) == 1
    assert threads[0] is not threading.main_thread()


async def test_a_near_copy_has_a_similarity_and_its_interval(index: DuplicateIndex) -> None:
    """The estimate lies near the exact Jaccard resemblance and its interval around it."""
    original, copy = article(1), changed(article(1), 5)
    exact = jaccard(shingle_hashes(text(original)), shingle_hashes(text(copy)))
    await index.check("http://a/1", text(original))
    verdict = await index.check("http://b/1", text(copy))
    assert (verdict.kind, verdict.duplicate_of) == (Kind.NEAR, "http://a/1")
    assert verdict.similarity == pytest.approx(exact, abs=0.03)
    assert verdict.low is not None
    assert verdict.high is not None
    assert 0.8 < verdict.low <= verdict.similarity <= verdict.high <= 1


async def test_a_page_below_the_threshold_is_kept(index: DuplicateIndex) -> None:
    """Half a text in common is not a near-duplicate at 0.8."""
    await index.check("http://a/1", text(article(1)))
    verdict = await index.check("http://a/2", text(article(1)[:150] + article(2)[:150]))
    assert verdict.kind is Kind.UNIQUE


async def test_the_most_similar_page_is_named(index: DuplicateIndex) -> None:
    """Of several kept pages that are alike, the verdict names the one most alike."""
    words = article(1, 400)
    await index.check("http://a/far", text(changed(words, 9, seed=1)))
    await index.check("http://a/near", text(changed(words, 12, seed=2)))
    between = changed(words, 12, seed=2)
    between[399] = "last"
    verdict = await index.check("http://b/1", text(between))
    assert verdict.duplicate_of == "http://a/near"


@pytest.mark.parametrize("seen", ["", "some words", "five words and no more"])
async def test_short_pages_are_compared_exactly(index: DuplicateIndex, seen: str) -> None:
    """A text too short for a shingle is `short`; only the same words again make it a copy."""
    first = await index.check("http://a/1", seen)
    other = await index.check("http://a/2", seen + " more" if seen else "four words in here")
    assert (first.kind, other.kind) == (Kind.SHORT, Kind.SHORT) or len(seen.split()) == 5
    again = await index.check("http://a/3", seen)
    assert again.kind is (Kind.EXACT if seen else Kind.SHORT)


async def test_pages_without_words_are_not_copies_of_each_other(index: DuplicateIndex) -> None:
    """Two pages of which nothing could be read tell nothing of each other."""
    kinds = [(await index.check(f"http://a/{n}", "  \n ")).kind for n in range(3)]
    assert kinds == [Kind.SHORT] * 3


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


async def test_of_concurrent_copies_one_survives(index: DuplicateIndex) -> None:
    """Near-duplicates checked at the same moment: exactly one is kept."""
    groups = [[text(changed(article(n), 1, seed=s)) for s in range(6)] for n in range(40)]
    pages = [
        (f"http://h{n}-{s}/", t) for n, group in enumerate(groups) for s, t in enumerate(group)
    ]
    random.Random(1).shuffle(pages)
    verdicts = await asyncio.gather(*(index.check(*page) for page in pages))
    kept = [v.url for v in verdicts if v.duplicate_of is None]
    assert len(kept) == 40
    assert len({url.partition("-")[0] for url in kept}) == 40


async def test_check_many_keeps_the_order(index: DuplicateIndex) -> None:
    """Pages of one call are checked in the order given: the first of a pair is kept."""
    pages = [(f"http://a/{n}", text(article(n % 50))) for n in range(100)]
    verdicts = await index.check_many(pages)
    assert [v.kind for v in verdicts] == [Kind.UNIQUE] * 50 + [Kind.EXACT] * 50
    assert [v.url for v in verdicts] == [url for url, _ in pages]


async def test_check_many_leaves_nothing_behind(index: DuplicateIndex) -> None:
    """Where the pages break off, those before are checked when the caller hears of it."""

    def pages() -> Iterator[tuple[str, str]]:
        yield "http://a/1", text(article(1))
        raise EOFError

    with pytest.raises(EOFError):
        await index.check_many(pages())
    assert await index.show("http://a/1") is not None


async def test_a_long_text_keeps_its_place(index: DuplicateIndex) -> None:
    """Of two copies the first is kept, though it is longer and takes more time to read."""
    whole = text(article(1, 40_000))
    pages = [("http://a/1", whole[:200_500]), ("http://b/1", whole[:199_500])]
    verdicts = await index.check_many(pages)
    assert [one.duplicate_of for one in verdicts] == [None, "http://a/1"]


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


async def test_other_parameters_are_refused(config: DedupConfig, index: DuplicateIndex) -> None:
    """An index is not opened with parameters that it was not made with; the error names them."""
    other = DedupConfig(redis_url=config.redis_url, shards=8, threshold=0.9, seed=7)
    with pytest.raises(
        ParameterMismatch, match=r"seed.*secret.*threshold: index 0.8, settings 0.9; bands"
    ):
        async with DuplicateIndex.open(other):
            pass
    apart = DedupConfig(redis_url=config.redis_url, shards=8, threshold=0.9, namespace="apart")
    async with DuplicateIndex.open(apart) as opened:
        await opened.check("http://a/1", text(article(1)))
        assert (await opened.stats()).kept == 1
    assert (await index.stats()).kept == 0


async def test_another_format_is_no_matter_of_settings(server: Server, redis_url: str) -> None:
    """An index of an earlier version is refused for its format; no setting would open it."""
    config = DedupConfig(redis_url=redis_url)
    async with DuplicateIndex.open(config):
        pass
    server.ask("HSET", "{dedup}:params", "format", "2", "bands", "10", "digest", "another")
    with pytest.raises(ParameterMismatch, match=r"has format 2, .* as the changelog") as caught:
        async with DuplicateIndex.open(config):
            pass
    assert "settings" not in str(caught.value)


async def test_who_only_reads_makes_none(index_url: str) -> None:
    """An index that is not there has no pages, and whoever makes it has settings of their own."""
    asked = DedupConfig(redis_url=index_url, threshold=0.7)
    async with DuplicateIndex.open(asked, make=False) as index:
        assert await index.show("http://a/") is None
        assert (await index.stats()).urls == 0
        assert (await index.verify()).faults == []
        async with DuplicateIndex.open(DedupConfig(redis_url=index_url)) as other:
            assert (await other.check("http://a/", text(article(1)))).kind is Kind.UNIQUE
    with pytest.raises(ParameterMismatch, match="threshold"):
        async with DuplicateIndex.open(asked, make=False):
            pass
    async with DuplicateIndex.open(DedupConfig(redis_url=index_url), make=False) as index:
        assert await index.show("http://a/") is not None


@pytest.mark.parametrize("seed", [None, 5])
async def test_an_index_that_is_made_while_it_is_read(index_url: str, seed: int | None) -> None:
    """Who opened it before finds its pages, by the seed that it has drawn, and checks with it."""
    config = DedupConfig(redis_url=index_url, shards=8, seed=seed)
    url, words = "http://a/", text(article(1))
    for number, first in enumerate(("show", "gone", "forget", "verify", "check")):
        named = replace(config, namespace=f"n{number}")
        async with DuplicateIndex.open(named, make=False) as index:
            assert not await index.gone(url)
            assert not await index.forget(url)
            assert await index.show(url) is None
            with pytest.raises(ServerError, match="there is no index"):
                await index.check(url, words)
            async with DuplicateIndex.open(named) as other:
                await other.check(url, words)
            if first == "verify":
                assert (await index.verify()).faults == []
            elif first == "check":
                assert (await index.check("http://b/", words)).duplicate_of == url
                assert (await index.verify()).faults == []
            else:
                assert await getattr(index, first)(url)


async def test_an_index_that_was_made_anew_forgets_nothing_for_who_had_the_old_one(
    index_url: str,
) -> None:
    """Its URLs are looked up by another seed: that a page is not there would be wrong."""
    config, url = DedupConfig(redis_url=index_url, shards=8), "http://a/"
    async with DuplicateIndex.open(config) as old:
        for keys in (old.store.head, *old.store.shards):  # all that there is of one without pages
            await old.store._client.delete(keys.params)
        async with DuplicateIndex.open(config) as new:
            await new.check(url, text(article(1)))
            with pytest.raises(ServerError, match="deleted or replaced"):
                await old.forget(url)
            assert await new.show(url) is not None


async def test_an_index_that_is_made_otherwise_while_it_is_read(index_url: str) -> None:
    """It is refused, as when it is opened."""
    asked = DedupConfig(redis_url=index_url, shards=8, threshold=0.7)
    async with DuplicateIndex.open(asked, make=False) as index:
        async with DuplicateIndex.open(DedupConfig(redis_url=index_url, shards=8)):
            pass
        for _ in range(2):
            with pytest.raises(ParameterMismatch, match="threshold"):
                await index.show("http://a/")


async def test_an_index_draws_its_seed(index_url: str, config: DedupConfig) -> None:
    """Indexes hash differently, so that nobody can prepare pages that collide in all of them."""
    seeds = set()
    for namespace in ("a", "b"):
        for _ in range(2):
            named = DedupConfig(redis_url=index_url, shards=8, namespace=namespace)
            async with DuplicateIndex.open(named) as index:
                seeds.add((await index.stats()).parameters["seed"])
    assert len(seeds) == 2


async def test_a_secret_seed_is_not_stored(index_url: str) -> None:
    """A seed that is set stands in no key of the server; without it the index does not open."""
    config = DedupConfig(redis_url=index_url, shards=8, seed=123456789012345)
    async with DuplicateIndex.open(config) as index:
        await index.check("http://a/1", text(article(1)))
        assert "123456789012345" not in str(await index.stats())
    async with DuplicateIndex.open(config) as index:
        assert (await index.check("http://b/1", text(article(1)))).kind is Kind.EXACT
    with pytest.raises(ParameterMismatch, match=r"seed: index secret:.* DEDUP_SEED to the number"):
        async with DuplicateIndex.open(DedupConfig(redis_url=index_url, shards=8)):
            pass


async def test_a_seed_that_was_drawn_stands_in_no_error(index_url: str) -> None:
    """Errors are logged, and who knows the seed can prepare pages that collide."""
    async with DuplicateIndex.open(DedupConfig(redis_url=index_url, shards=8)) as index:
        seed = str((await index.stats()).parameters["seed"])
    with pytest.raises(ParameterMismatch, match="seed: index drawn:") as refused:
        async with DuplicateIndex.open(DedupConfig(redis_url=index_url, shards=8, seed=1)):
            pass
    assert seed not in str(refused.value)


async def test_an_index_deleted_in_use_is_an_error(index_url: str) -> None:
    """Nothing is decided against an index whose keys somebody has deleted."""
    async with DuplicateIndex.open(DedupConfig(redis_url=index_url, shards=8)) as index:
        await index.check("http://a/1", text(article(1)))
        async for key in index.store._client.scan_iter():
            await index.store._client.delete(key)
        with pytest.raises(ServerError, match="deleted or replaced"):
            await index.check("http://a/2", text(article(2)))
        with pytest.raises(ServerError, match="deleted or replaced"):  # and it is kept for later
            await index.gone("http://a/1")


def test_settings_that_do_not_fit_each_other_are_refused() -> None:
    """Bands must fit the sketch; the error names the settings."""
    with pytest.raises(ConfigError, match="DEDUP_BANDS"):
        DedupConfig(bands=50, rows=10)
