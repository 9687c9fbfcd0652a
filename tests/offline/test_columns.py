"""What tasks compute on columns is what the index computes of each page."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest

from crawler.dedup import DedupConfig, Kind
from crawler.dedup.analysis.comparison import compare_texts
from crawler.dedup.fingerprint import NO_OWN, Fingerprinter
from crawler.dedup.sketches.odd import compare_odd
from crawler.offline.columns import FIRST, LATEST, cells_of, pairs_in_buckets, verify_pairs
from crawler.offline.spark_queries import walk_pairs
from tests.support.texts import article, changed, text


def unlike(count: int) -> dict[str, list[bytes]]:
    """The cells of pairs of which neither headings nor words are equal."""
    own = [NO_OWN] * count
    hashes = {"new_exact": [b"new"] * count, "stored_exact": [b"stored"] * count}
    return {"new_own": own, "stored_own": own, **hashes}


def batches(rows: list[tuple[int, int]], size: int) -> list[pa.RecordBatch]:
    table = pa.table(
        {"bucket": [one for one, _ in rows], "text": [one for _, one in rows]},
        schema=pa.schema([("bucket", pa.int64()), ("text", pa.int64())]),
    )
    return table.to_batches(max_chunksize=size)


def pairs(rows: list[tuple[int, int]], size: int) -> list[tuple[int, int]]:
    found = []
    for batch in pairs_in_buckets(batches(rows, size)):
        found += list(zip(batch["new"].to_pylist(), batch["stored"].to_pylist(), strict=True))
    return found


@pytest.mark.parametrize("size", [1, 2, 7, 16, 17, 1000])
def test_pairs_do_not_depend_on_how_rows_are_cut(size: int) -> None:
    """All pairs of a bucket up to 17 texts; of larger ones each with the first and the latest."""
    rng = np.random.default_rng(1)
    sizes = [1, 2, 16, 17, 18, 60, 1, 3, 200]
    rows = [
        (bucket, int(one))
        for bucket, count in enumerate(sizes)
        for one in np.sort(rng.choice(10_000, count, replace=False))
    ]
    expected = []
    for bucket in range(len(sizes)):
        texts = [one for number, one in rows if number == bucket]
        for rank, new in enumerate(texts):
            before = set(texts[:rank][:FIRST]) | set(texts[:rank][-LATEST:])
            expected += [(new, stored) for stored in before]
    assert sorted(pairs(rows, size)) == sorted(expected)


def test_a_crowded_bucket_costs_no_square() -> None:
    """A million texts in one bucket make sixteen pairs each, and are never held at once."""
    schema = pa.schema([("bucket", pa.int64()), ("text", pa.int64())])
    most = 0

    def rows() -> Iterator[pa.RecordBatch]:
        for start in range(0, 1_000_000, 10_000):
            texts = np.arange(start, start + 10_000)
            yield pa.RecordBatch.from_arrays(
                [pa.array(np.full(10_000, 7)), pa.array(texts)], schema=schema
            )

    count = 0
    for batch in pairs_in_buckets(rows()):
        count += batch.num_rows
        most = max(most, batch.num_rows)
    pairs_of_all = (FIRST + LATEST) * 1_000_000
    assert pairs_of_all - 1000 < count <= pairs_of_all
    assert most <= (FIRST + LATEST) * 10_000


def test_pairs_are_verified_as_the_index_does() -> None:
    """Similarities are those of the odd sketches, bit for bit, at the level of the stored one."""
    fingerprint = Fingerprinter(DedupConfig(), seed=5)
    words = article(1, 2600)  # near a size from which on only a sample is sketched
    texts = [text(words[: 2600 - cut]) for cut in range(0, 800, 100)]
    texts += [text(changed(words, places)) for places in (1, 30, 60, 200)] + [text(article(2))]
    sketches = [fingerprint(one).odd for one in texts]
    assert len({one[0].level for one in sketches}) > 1
    packed = [
        b"".join(one.level.to_bytes(1) + one.members.to_bytes(2) + one.bits for one in odd)
        for odd in sketches
    ]
    asked = [(a, b) for a in range(len(texts)) for b in range(len(texts)) if a != b]
    batch = pa.RecordBatch.from_pydict(
        {
            "new": [a for a, _ in asked],
            "stored": [b for _, b in asked],
            "hits": [1] * len(asked),
            "new_odd": [packed[a] for a, _ in asked],
            "stored_odd": [packed[b] for _, b in asked],
            **unlike(len(asked)),
        }
    )
    (found,) = verify_pairs([batch], threshold=0.8, bits=1024, bands=8)
    similar = {(row["new"], row["stored"]): row["similarity"] for row in found.to_pylist()}
    expected = {}
    for a, b in asked:
        estimate = compare_odd(sketches[b][0], sketches[a], bits=1024)
        if estimate is not None and estimate.similarity >= 0.8:
            expected[a, b] = estimate.similarity
    assert similar == expected
    assert len(expected) > 20


def test_equal_sketches_of_texts_that_differ() -> None:
    """Of few shingles of which one differs, told by a band; of two with all bands nothing is."""
    fingerprint = Fingerprinter(DedupConfig(), seed=5)
    same = "one two three four five six seven eight nine"
    first: dict[bytes, str] = {}
    for number in range(200):
        one, (sketch,) = f"{same} {number}", fingerprint(f"{same} {number}").odd
        if (other := first.setdefault(sketch.bits, one)) != one:
            break
    assert compare_texts(one, other, DedupConfig(seed=5)).verdict is Kind.UNIQUE
    odd = sketch.level.to_bytes(1) + sketch.members.to_bytes(2) + sketch.bits
    batch = pa.RecordBatch.from_pydict(
        {"new": [1, 2], "stored": [0, 0], "hits": [7, 8], "new_odd": [odd] * 2}
        | {"stored_odd": [odd] * 2, **unlike(2)}
    )
    (found,) = verify_pairs([batch], threshold=0.8, bits=1024, bands=8)
    assert [(row["new"], row["similarity"]) for row in found.to_pylist()] == [(2, 1.0)]


def test_pages_with_other_headings_are_no_copies() -> None:
    """Where they have few words of their own, or one host and a template that nobody knows.

    So it is also where their words are equal.
    """
    fingerprint = Fingerprinter(DedupConfig(), seed=5)
    page = fingerprint.with_own(fingerprint(text(article(1))), "Red", 300, 0)
    stored = cells_of(page, "http://site/red")
    others = [
        (("Blue", 300, 0), "http://elsewhere/"),
        (("Blue", 30, 0), "http://elsewhere/"),
        (("Blue", 900, 0), "http://site/blue"),
        (("Red", 30, 0), "http://site/print"),
    ]
    new = [cells_of(fingerprint.with_own(page, *own), url) for own, url in others]
    assert [cells[0] == stored[0] for cells in new] == [False, False, False, True]
    batch = pa.RecordBatch.from_pydict(
        {"new": range(4), "stored": [9] * 4, "hits": [8] * 4, "new_odd": [one[3] for one in new]}
        | {"stored_odd": [stored[3]] * 4}
        | {"new_own": [one[4] for one in new], "stored_own": [stored[4]] * 4}
        | {"new_exact": [one[0] for one in new], "stored_exact": [stored[0]] * 4}
    )
    (found,) = verify_pairs([batch], threshold=0.8, bits=1024, bands=8)
    assert found["new"].to_pylist() == [0, 3]
    assert found["is_exact"].to_pylist() == [True, True]


def test_a_text_like_a_dropped_one_is_kept() -> None:
    """Being like a page that is itself a copy is no reason to be dropped: clusters do not chain."""
    chain = pa.table({"new": [2, 3, 4, 5, 5], "stored": [1, 2, 3, 2, 4]})
    assert walk_pairs(chain)["new"].to_pylist() == [2, 4]
