"""Every sketching method behind the index: found, verified, updated and forgotten."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import numpy as np
import pytest

from crawler.dedup import ConfigError, DedupConfig, DuplicateIndex, Kind
from crawler.dedup.candidates import Rule
from crawler.dedup.fingerprint import Fingerprint, Fingerprinter
from crawler.dedup.sketches import METHODS, SmallestN
from crawler.dedup.sketches.odd import odd_sketch
from crawler.dedup.sketches.simhash import estimate_simhash
from crawler.dedup.store.messages import CheckRequest
from tests.support.texts import article, changed, text


@pytest.fixture
async def open_index(index_url: str) -> AsyncIterator[Callable[..., Any]]:
    """Opens an empty index with these settings, and sees at the end that it is sound."""
    async with AsyncExitStack() as stack:
        opened: list[DuplicateIndex] = []

        async def start(**values: Any) -> DuplicateIndex:
            config = DedupConfig(redis_url=index_url, seed=5, shards=16, **values)
            opened.append(await stack.enter_async_context(DuplicateIndex.open(config)))
            return opened[-1]

        yield start
        for index in opened:
            assert (await index.verify()).faults == []


@pytest.mark.parametrize("method", sorted(METHODS))
async def test_every_method_finds_a_near_copy(open_index, method: str) -> None:
    """A copy with one word of six hundred changed is found by each; an unlike page by none."""
    index = await open_index(method=method, namespace=method)
    words = article(1, 600)
    await index.check("http://a/1", text(words))
    near = await index.check("http://b/1", text(changed(words, 1)))
    assert (near.kind, near.duplicate_of) == (Kind.NEAR, "http://a/1")
    assert near.low <= near.similarity <= near.high
    assert near.similarity == pytest.approx(0.983, abs=0.02)
    assert (await index.check("http://c/1", text(article(2, 600)))).kind is Kind.UNIQUE
    assert (await index.check("http://b/1", text(changed(words, 1)))).kind is Kind.UNCHANGED
    assert await index.forget("http://a/1")
    assert (await index.check("http://b/1", text(changed(words, 1)))).kind is Kind.UPDATED
    stats = await index.stats()
    assert stats.parameters["method"] == method
    assert (stats.urls, stats.kept) == (2, 2)


@pytest.mark.parametrize("method", ["smallest", "modulo"])
async def test_inverted_indexes_grow_and_shrink(open_index, method: str) -> None:
    """With a table of all keys, splits and removals leave the index sound."""
    index = await open_index(method=method, num_hashes=64)
    pages = [(f"http://a/{n}", text(article(n, 120))) for n in range(150)]
    assert {v.kind for v in await index.check_many(pages)} == {Kind.UNIQUE}
    assert (await index.verify()).faults == []
    for url, _ in pages[::2]:
        assert await index.forget(url)
    again = await index.check_many(pages)
    assert [v.kind for v in again] == [Kind.UNIQUE, Kind.UNCHANGED] * 75


async def test_a_page_of_few_keys_is_found_by_all_of_them(open_index) -> None:
    """Where a kept page has fewer keys than DEDUP_MIN_MATCHES asks for, all of them are enough."""
    options = {"min_matches": 3, "score": "resemblance"}
    index = await open_index(method="modulo", method_options=options)
    hashes = np.random.default_rng(1).integers(2**63, size=40).astype(np.uint64)
    sketch = odd_sketch(hashes, level=0, bits=1024)
    kinds = []
    for keys in ([7], [7, 8, 9, 10, 11], [12], [7, 8, 13, 14, 15]):
        bands, exact = b"".join(key.to_bytes(4) for key in keys), bytes(keys).ljust(16)
        url = f"http://a/{len(kinds)}"
        page = Fingerprint(exact, 40, bands, (sketch,))
        request = CheckRequest(url, "a", len(kinds).to_bytes(4), page)
        kinds += [answer.kind for answer in await index.store.check([request])]
    assert kinds == ["unique", "near", "unique", "near"]


async def test_containment_finds_the_page_that_quotes(open_index) -> None:
    """Modulo sampling scores matched / available: a post is found in the page that holds it."""
    index = await open_index(
        method="modulo", method_options={"modulus": 1}, shingle_size=3, threshold=0.6
    )
    post, page = article(1, 30), article(2, 100)
    await index.check("http://a/page", text(page[:50] + post + page[50:]))
    found = await index.check("http://b/post", "RT @someone: " + text(post))
    assert (found.kind, found.duplicate_of) == (Kind.NEAR, "http://a/page")
    assert found.similarity == pytest.approx(28 / 30, abs=0.07)
    assert (await index.check("http://b/other", text(article(3, 30)))).kind is Kind.UNIQUE


async def test_a_long_page_is_found_to_contain_a_text(open_index) -> None:
    """A page of so many shingles that few of them are kept has all of a text, or half of it."""
    index = await open_index(method="modulo")
    text_words, page = article(1, 700), article(2, 5000)
    await index.check("http://a/page", text(page[:2000] + text_words + page[2000:]))
    half = text(text_words[:350] + article(3, 350))
    verdicts = [await index.check("http://b/whole", text(text_words)),
                await index.check("http://b/half", half),
                await index.check("http://b/foreign", text(article(4, 700)))]  # fmt: skip
    assert [v.kind for v in verdicts] == [Kind.NEAR, Kind.UNIQUE, Kind.UNIQUE]
    assert verdicts[0].similarity == 1.0
    # Of a short text too few shingles could be among those that are kept: that says nothing.
    assert (
        await index.check("http://b/short", text(text_words[:40]))
    ).duplicate_of != "http://a/page"


@pytest.mark.parametrize(("times", "least", "most"), [(8, 0.95, 1), (10, 0.87, 1), (20, 0.3, 0.5)])
def test_how_long_a_page_may_be_in_which_a_quotation_is_found(
    times: int, least: float, most: float
) -> None:
    """The sample of a page of many shingles is too small for a short quotation: see methods.md."""
    config = DedupConfig(method="modulo")
    method = METHODS["modulo"](seed=1, **config.sketch_options)
    rng = np.random.default_rng(times)
    found = []
    for count in np.geomspace(20, 4000, 400).astype(int):
        page = rng.integers(0, 1 << 64, count * times, np.uint64)
        ours, theirs = (
            np.unique(method.keys(method.sketch(shingles))).astype(">u4").tobytes()
            for shingles in (page[:count], page)
        )
        found.append(
            Rule.comparable(ours, theirs) > 0 and Rule(1, one_table=True).matches(ours, theirs) > 0
        )
    assert least <= np.mean(found) <= most


def two_stage(distance: int = 3) -> Callable[[str], Fingerprint]:
    """The fingerprints of the index that :func:`open_index` opens for that method."""
    options = {"distance": distance}
    return Fingerprinter(DedupConfig(method="two-stage", method_options=options), seed=5)


def differing(a: Fingerprint, b: Fingerprint) -> int:
    """Bits in which two stored sketches differ."""
    return (int.from_bytes(a.odd[0].bits) ^ int.from_bytes(b.odd[0].bits)).bit_count()


async def test_the_second_stage_must_agree(open_index) -> None:
    """Of pages that share supershingles with a kept one, those with a far simhash are kept."""
    fingerprint, words = two_stage(), article(1, 600)
    original = fingerprint(text(words))
    copies = [text(changed(words, places, seed)) for seed in range(8) for places in (2, 4, 6)]
    found = [copy for copy in copies if Rule(2).matches(fingerprint(copy).bands, original.bands)]
    near = [copy for copy in found if differing(fingerprint(copy), original) <= 3]
    far = [copy for copy in found if copy not in near]
    assert len(near) > 3
    assert len(far) > 3
    for number, copy in enumerate([*near[:4], *far[:4]]):
        index = await open_index(method="two-stage", namespace=f"stages-{number}")
        await index.check("http://a/1", text(words))
        kind = Kind.NEAR if copy in near else Kind.UNIQUE
        assert (await index.check("http://b/1", copy)).kind is kind
        await index.override("http://b/1", "drop")  # then whatever is most like it will do
        assert (await index.check("http://b/1", copy)).duplicate_of == "http://a/1"
    assert {len(one.bits) for one in await index.sample(9)} == {8}


@pytest.mark.parametrize("distance", [3, 10])
async def test_two_stages_choose_the_nearest_simhash(open_index, distance: int) -> None:
    """Kept pages, originals, similarities and intervals are those of all candidates' distances."""
    options = {"distance": distance}
    index = await open_index(method="two-stage", method_options=options, threshold=0.6)
    fingerprint = two_stage(distance)
    kept: list[tuple[str, Fingerprint]] = []
    copies = 0
    for url, page in visits(2):
        own, verdict = fingerprint(page), await index.check(url, page)
        if verdict.kind is not Kind.EXACT and own.odd:
            candidates = [
                (differing(own, other), number)
                for number, (_, other) in enumerate(kept)
                if other.odd and Rule(2).matches(own.bands, other.bands)
            ]
            bits, number = min(candidates, default=(64, 0))
            if bits <= distance:
                copies += 1
                found = estimate_simhash(bits, 64)
                assert (verdict.kind, verdict.duplicate_of) == (Kind.NEAR, kept[number][0])
                assert verdict.similarity == found.similarity
                assert (verdict.low, verdict.high) == (found.low, found.high)
            else:
                assert verdict.kind is Kind.UNIQUE
        if verdict.kind not in (Kind.EXACT, Kind.NEAR):
            kept.append((url, own))
    assert copies > 5


async def test_the_threshold_holds_with_two_stages(open_index) -> None:
    """A limit of more bits than the threshold allows lets no page through that is less like."""
    index = await open_index(method="two-stage", method_options={"distance": 30}, threshold=0.98)
    for url, page in visits(3):
        verdict = await index.check(url, page)
        if verdict.kind is Kind.NEAR:
            assert verdict.similarity >= 0.98


async def test_short_messages(open_index) -> None:
    """Reposts of a message are copies with the settings that the documentation advises."""
    index = await open_index(
        method="smallest",
        shingle_size=3,
        threshold=0.5,
        ignore={"case", "punctuation", "urls", "reposts"},
    )
    message = "1 Week 'til #phpnw09 - let me hear you say w00t!"
    await index.check("http://t/1", f"phpnw09: {message}")
    for n, repost in enumerate(
        (
            f"RT @phpnw09: {message} <- w00t!",
            f"RT @phpcodemonkey: RT @phpnw09: {message}",
            f"RT @phpnw09: {message} http://t.co/abc",
        )
    ):
        assert (await index.check(f"http://t/r{n}", repost)).duplicate_of == "http://t/1"
    other = "@loonytoons Well I've booked train tickets for saturday now, see you there #phpnw09"
    assert (await index.check("http://t/2", other)).kind is Kind.UNIQUE


@pytest.mark.parametrize(
    "settings",
    [
        {"method": "simhash", "num_hashes": 100},
        {"method": "fast", "method_options": {"modulus": 3}},
        {"method": "smallest", "method_options": {"min_matches": 99}},
        {"method": "smallest", "num_hashes": 512, "method_options": {"num_keys": 193}},
        {"method": "simhash", "method_options": {"distance": 6, "blocks": 12}},
        {"method": "two-stage", "method_options": {"distance": 65}},
        {"method": "minhash"},
        {"method_options": {"num_hashes": 10**12}},
        {"method_options": {"seed": 1}},
        {"method": "modulo", "method_options": {"modulus": 2.5}},
        {"method_options": {"bands": 3, "rows": 3}},
        {"method_options": "[1]"},
        {"method_options": "{"},
    ],
)
def test_options_that_do_not_fit_are_refused(settings: dict[str, Any]) -> None:
    """A method, its options and its size are checked together, before anything is opened."""
    with pytest.raises(ConfigError, match=r"^DEDUP_METHOD"):
        DedupConfig(**settings)


def test_keys_by_the_million_are_not_made() -> None:
    """Distance 10 in 40 blocks would be 847,660,528 keys: they are counted before they are made."""
    with pytest.raises(ConfigError, match=r"^DEDUP_METHOD simhash: .* makes 847,660,528 keys"):
        DedupConfig(method="simhash", method_options={"distance": 10, "blocks": 40})


def test_a_method_tells_its_most_keys() -> None:
    """A long text has as many, and an index takes as many as a record that is exported holds."""
    options = {"num_keys": 192}
    DedupConfig(method="smallest", num_hashes=512, method_options=options)
    shingles = np.arange(1, 5000, dtype=np.uint64)
    for method in (*(make() for make in METHODS.values()), SmallestN(512, **options)):
        assert len(method.keys(method.sketch(shingles))) <= method.most_keys
    assert len(method.keys(method.sketch(shingles))) == method.most_keys == 192


async def test_the_method_is_a_parameter_of_the_index(redis_url: str) -> None:
    """An index of one method is not opened with another."""
    async with DuplicateIndex.open(DedupConfig(redis_url=redis_url)):
        pass
    with pytest.raises(Exception, match="method: index fast, settings smallest"):
        async with DuplicateIndex.open(DedupConfig(redis_url=redis_url, method="smallest")):
            pass


def visits(seed: int) -> list[tuple[str, str]]:
    """Pages that differ from one another in nothing, little and much, in a random order."""
    chooser = random.Random(seed)
    pages = []
    for n in range(12):
        words = article(n, chooser.choice((3, 6, 9, 40, 150, 500)))
        copies = [changed(words, places, seed=n) for places in range(7) if len(words) > 56]
        parts = [
            words[: len(words) // 2],
            words[: len(words) * 9 // 10],
            words + article(n + 50, 20),
        ]
        pages += [text(page) for page in (words, *copies, *parts)]
    chooser.shuffle(pages)
    return [(f"http://a/{number}", page) for number, page in enumerate(pages)]


@pytest.mark.parametrize("method", sorted(METHODS))
async def test_a_cluster_says_what_a_server_says(
    redis_url: str, cluster_url: str, method: str
) -> None:
    """One page after the other, kinds and similarities are the same on both."""
    said = []
    for url in (redis_url, cluster_url):
        config = DedupConfig(redis_url=url, method=method, seed=5, shards=8, threshold=0.6)
        async with DuplicateIndex.open(config) as index:
            verdicts = [await index.check(*page) for page in visits(1)]
        said.append([(v.kind, v.similarity, v.low, v.high) for v in verdicts])
    assert said[0] == said[1]
    assert {kind for kind, *_ in said[0]} == {Kind.UNIQUE, Kind.EXACT, Kind.NEAR, Kind.SHORT}
