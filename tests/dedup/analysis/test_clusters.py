"""Clusters of a collection: no chains, nothing lost, the same as a crawl would keep."""

from __future__ import annotations

import random
import time
from itertools import combinations

import numpy as np
import pytest

from crawler.dedup import DedupConfig, DuplicateIndex, Kind, jaccard, shingle_hashes
from crawler.dedup.analysis.clustering import cluster_texts, similar_pairs
from crawler.dedup.analysis.exact_pairs import exact_pairs
from crawler.dedup.candidates import Rule
from crawler.dedup.fingerprint import EXACT_BYTES, Fingerprint, Fingerprinter, make_sketcher
from crawler.dedup.sketches import METHODS
from crawler.dedup.sketches.odd import OddSketch
from tests.support.texts import article, changed, text

BITS = 1024


def sketched(texts, threshold=0.8):
    return list(map(Fingerprinter(DedupConfig(threshold=threshold), seed=1), texts))


def clustered(texts, threshold=0.8):
    """Each cluster as the numbers of its texts, the representative first."""
    found = cluster_texts(sketched(texts, threshold), threshold=threshold, bits=BITS)
    return [[one.representative, *(member.number for member in one.members)] for one in found]


def collection(originals=40, seed=1):
    """Originals, some with copies at several distances, shuffled."""
    rng = random.Random(seed)
    texts = [text(article(i, rng.choice([60, 300, 900]))) for i in range(originals)]
    for i in range(0, originals, 2):
        words = texts[i].split()
        for copy in range(rng.randrange(4)):
            texts.append(text(changed(words, rng.randrange(len(words) // 20), seed=copy)))
    rng.shuffle(texts)
    return texts


def drifting(steps=40):
    """Texts of which each is much like the one before, the last nothing like the first."""
    words = article(1, 400)
    texts = [text(words)]
    for step in range(steps):
        words = words[10:] + article(100 + step, 10)
        texts.append(text(words))
    return texts


def test_unlike_texts_never_chain():
    """Every member is like its representative, and as like any other member as the metric says."""
    texts = drifting()
    sets = [shingle_hashes(one) for one in texts]
    assert jaccard(sets[0], sets[-1]) == 0
    for members in clustered(texts):
        for member in members[1:]:
            assert jaccard(sets[members[0]], sets[member]) >= 0.8 - 0.05
        for a, b in combinations(members, 2):
            assert jaccard(sets[a], sets[b]) >= 0.6 - 0.1
    linked = {0}  # single linkage puts all of them into one cluster
    for pair in similar_pairs(sketched(texts), threshold=0.8, bits=BITS):
        linked |= {pair.first, pair.second} if {pair.first, pair.second} & linked else set()
    assert linked == set(range(len(texts)))


@pytest.mark.parametrize("threshold", [0.5, 0.8])
def test_similar_pairs_are_those_of_all_pairs(threshold):
    """Without comparing all pairs, nearly all similar ones are found, and only such."""
    texts = collection(originals=80)
    sets = [shingle_hashes(one) for one in texts]
    found = {
        (pair.first, pair.second): pair.estimate
        for pair in similar_pairs(sketched(texts, threshold), threshold=threshold, bits=BITS)
    }
    exact = {(a, b): jaccard(sets[a], sets[b]) for a, b in combinations(range(len(texts)), 2)}
    assert all(exact[pair] >= threshold - 0.05 for pair in found)
    wanted = [pair for pair, similarity in exact.items() if similarity >= threshold + 0.05]
    assert len(wanted) > 20
    assert sum(pair in found for pair in wanted) >= 0.98 * len(wanted)
    inside = [one.low - 1e-9 <= exact[pair] <= one.high + 1e-9 for pair, one in found.items()]
    assert np.mean(inside) > 0.85


def test_every_text_is_in_one_cluster_and_the_first_stands_for_it():
    """Nothing is lost, nothing comes twice; the representative came before its members."""
    found = clustered(collection())
    assert sorted(number for one in found for number in one) == list(range(len(collection())))
    assert all(one == sorted(one) for one in found)
    assert [one[0] for one in found] == sorted(one[0] for one in found)
    assert found == clustered(collection())


async def test_representatives_are_what_a_crawl_keeps(redis_url):
    """An index that sees the texts in this order keeps the representatives and no other."""
    texts = collection(seed=2)
    async with DuplicateIndex.open(DedupConfig(redis_url=redis_url)) as index:
        fingerprints = [index.fingerprint(one) for one in texts]
        verdicts = [await index.check(f"http://a/{i}", one) for i, one in enumerate(texts)]
    kept = [i for i, verdict in enumerate(verdicts) if verdict.kind is Kind.UNIQUE]
    found = cluster_texts(fingerprints, threshold=0.8, bits=BITS)
    assert [one.representative for one in found] == kept
    for one in found:
        for member in one.members:
            verdict = verdicts[member.number]
            assert verdict.duplicate_of == f"http://a/{one.representative}"
            assert member.estimate.similarity == verdict.similarity


@pytest.mark.parametrize("one_table", [False, True])
def test_no_text_is_no_cluster(one_table):
    rule = Rule(one_table=one_table)
    assert cluster_texts([], threshold=0.8, bits=BITS, rule=rule) == []
    assert list(similar_pairs([], threshold=0.8, bits=BITS, rule=rule)) == []


def test_texts_too_short_for_a_shingle():
    """They are similar if they have the same words; texts without words are like no other."""
    assert clustered(["Tea!", "tea", "", "a cup of tea", "", "TEA"]) == [[0, 1, 5], [2], [3], [4]]
    assert clustered([]) == []
    assert clustered([""]) == [[0]]


def test_a_copy_of_a_member_joins_its_cluster():
    """Copies of one text never part, also where that text is no representative."""
    words = article(1)
    copy = text(changed(words, 4))
    assert clustered([text(words), copy, text(article(2)), copy.upper()]) == [[0, 1, 3], [2]]


def test_a_hostile_collection_ends_in_seconds():
    """Texts that all share bands without being similar cost no quadratic time."""
    rng = np.random.default_rng(1)
    bands = rng.bytes(4 * 12)
    hostile = [
        Fingerprint(rng.bytes(EXACT_BYTES), 500, bands, (OddSketch(0, 500, rng.bytes(BITS // 8)),))
        for _ in range(5_000)
    ]
    alike = [
        Fingerprint(rng.bytes(EXACT_BYTES), 500, one.bands, one.odd) for one in hostile[:1] * 20_000
    ]
    start = time.process_time()
    assert len(cluster_texts(hostile, threshold=0.8, bits=BITS)) == 5_000
    assert [len(one.members) for one in cluster_texts(alike, threshold=0.8, bits=BITS)] == [19_999]
    assert time.process_time() - start < 20


@pytest.mark.parametrize("method", sorted(METHODS))
async def test_representatives_are_what_a_crawl_keeps_by_every_method(redis_url, method):
    """Also with keys in one table, with several keys to share, and with containment."""
    config = DedupConfig(redis_url=redis_url, seed=1, method=method, threshold=0.7)
    texts = [*collection(12), "too short", "too short", "", article(1, 300)[0]]
    texts += [text(article(99, 8)), text(article(99, 8) + article(98, 200))]
    rule, bits = Rule.of(make_sketcher(config, seed=1).method), config.sketch_bits
    fingerprints = list(map(Fingerprinter(config, seed=1), texts))
    found = cluster_texts(fingerprints, threshold=0.7, bits=bits, rule=rule)
    async with DuplicateIndex.open(config) as index:
        verdicts = [await index.check(f"http://a/{n}", one) for n, one in enumerate(texts)]
    kept = {n for n, verdict in enumerate(verdicts) if verdict.duplicate_of is None}
    assert {one.representative for one in found} == kept
    pairs = {(a, b): e.similarity for a, b, e in
             similar_pairs(fingerprints, threshold=0.7, bits=bits, rule=rule)}  # fmt: skip
    members = {(one.representative, m.number): m for one in found for m in one.members}
    assert members.keys() <= pairs.keys()
    for (_, number), member in members.items():
        assert member.estimate.similarity == pytest.approx(verdicts[number].similarity)


@pytest.mark.parametrize("threshold", [0.05, 0.3, 0.5, 0.8, 1.0])
def test_exact_pairs_are_those_of_all_pairs(threshold, monkeypatch):
    """None is missed and none is wrong, in the order of similar pairs, however little is held."""
    monkeypatch.setattr("crawler.dedup.analysis.exact_pairs._MOST_AT_ONCE", 100)
    rng = random.Random(threshold)
    bases = [rng.sample(range(200), rng.randrange(40)) for _ in range(20)]
    sets = []
    for _ in range(80):
        near = {*rng.choice(bases), *rng.sample(range(220), rng.randrange(4))}
        gone = set(rng.sample(sorted(near), min(len(near), rng.randrange(3))))
        sets.append(np.array(sorted(near - gone), np.uint64))
    expected = [
        (a, b, similarity)
        for b in range(len(sets))
        for a in range(b)
        if sets[a].size and sets[b].size
        if (similarity := jaccard(sets[a], sets[b])) >= threshold
    ]
    found = [(a, b, known.similarity) for a, b, known in exact_pairs(sets, threshold)]
    assert found == expected
    assert expected


@pytest.mark.parametrize("sets", [[], [[]], [[], [], [7], []]])
def test_exact_pairs_of_hardly_anything(sets):
    """Texts without shingles are like no other."""
    assert list(exact_pairs([np.array(one, np.uint64) for one in sets], 0.8)) == []


def test_exact_pairs_of_texts():
    """Short texts are similar if their words are equal, others by all their shingles."""
    fingerprint = Fingerprinter(DedupConfig(), seed=1)
    long = article(1)
    near = changed(long, 2)
    texts = ["Red tea", text(long), "red, tea!", "", text(near), "", "green tea"]
    pairs = list(exact_pairs(list(map(fingerprint.shingles, texts)), 0.5))
    similarity = jaccard(shingle_hashes(text(long)), shingle_hashes(text(near)))
    assert [(a, b, known.similarity) for a, b, known in pairs] == [(0, 2, 1.0), (1, 4, similarity)]
