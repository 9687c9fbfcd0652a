"""What an index says of pages, one after another and at once."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Iterator
from dataclasses import fields, make_dataclass, replace
from pathlib import Path

import pytest

from crawler.dedup import (
    DedupConfig,
    DuplicateIndex,
    Kind,
    Verdict,
    jaccard,
    shingle_hashes,
)
from crawler.dedup.errors import InputError
from tests.support.texts import article, changed, text


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
