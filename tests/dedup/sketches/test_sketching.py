"""What is compiled for sketches and keys finds what numpy does, to the last bit."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.dedup import DedupConfig
from crawler.dedup.fingerprint import Fingerprinter
from crawler.dedup.sketches import FastSimilaritySketch, hashing
from crawler.dedup.sketches.lsh import band_keys
from crawler.dedup.sketches.odd import odd_sketch
from tests.dedup.sketches.test_hashes import VALUES, by_both, same
from tests.support.texts import article, text

if not hashing.COMPILED:
    pytest.skip("not compiled here: python hatch_build.py", allow_module_level=True)


def random_hashes(count: int) -> np.ndarray:
    return np.random.default_rng(count).integers(0, 2**64, count, dtype=np.uint64)


@given(VALUES, st.integers(1, 300))
def test_fast_sketches_are_the_same(values: np.ndarray, bins: int) -> None:
    method = FastSimilaritySketch(bins, seed=3, rows=1)
    assert same(*by_both(lambda: method.sketch(values)))


@pytest.mark.parametrize("count", [1, 2, 3, 8, 40, 1000, 300_000])
@pytest.mark.parametrize("bins", [1, 255, 256, 700])
def test_rounds_without_end_and_texts_without_end(count: int, bins: int) -> None:
    """A few shingles take all rounds and the last ones; very many are taken in pieces by numpy."""
    method = FastSimilaritySketch(bins, rows=1)
    assert same(*by_both(lambda: method.sketch(random_hashes(count))))
    alike = np.repeat(random_hashes(count)[:5], 50)[::2]
    assert same(*by_both(lambda: method.sketch(alike)))


@given(st.lists(st.integers(0, 12), max_size=20))
def test_batches_are_the_same(counts: list[int]) -> None:
    offsets = np.cumsum([0, *counts])
    method = FastSimilaritySketch()
    found, expected = by_both(lambda: method.sketch_batch(random_hashes(offsets[-1]), offsets))
    assert len(found) == len(expected) == len([*pairwise(offsets)])
    assert all(map(same, found, expected))


@given(VALUES, st.integers(0, 63), st.integers(1, 2100))
def test_odd_sketches_are_the_same(values: np.ndarray, level: int, bits: int) -> None:
    found, expected = by_both(lambda: odd_sketch(values, level, bits))
    assert found == expected


def test_an_odd_sketch_has_bits_and_a_level() -> None:
    for level, bits in ((64, 512), (-1, 512), (0, 0)):
        with pytest.raises(ValueError, match="no odd sketch"):
            odd_sketch(random_hashes(3), level, bits)


@given(VALUES, st.integers(1, 40), st.integers(1, 32))
def test_band_keys_are_the_same(values: np.ndarray, bands: int, rows: int) -> None:
    if bands * rows <= values.size:
        for sketch in (values, values.astype(np.uint32)):
            assert same(*by_both(lambda sketch=sketch: band_keys(sketch, bands, rows)))


@pytest.mark.parametrize(
    "settings",
    [{}, {"threshold": 0.5, "verify_bits": 512}, {"bands": 12, "rows": 7}, {"shingle_step": 2}],
)
def test_fingerprints_are_the_same(settings: dict[str, object]) -> None:
    """One by one and in batches, of short texts and of long ones."""
    pages = [text(article(seed, seed % 40 * 20)) for seed in range(40)] + ["", "a b", "é " * 99]
    find = Fingerprinter(DedupConfig(**settings), seed=1)
    found, expected = by_both(lambda: [find(page) for page in pages])
    assert found == expected
    found, expected = by_both(lambda: find.many(pages))
    assert found == expected
