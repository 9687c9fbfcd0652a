"""The odd sketch: how well it knows the resemblance of two sets, and that it says so."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.dedup.analysis.tuning import floor_of_odd
from crawler.dedup.sketches.odd import estimate_odd, odd_sketch, odd_sketches, sampling_level


def differing(a: bytes, b: bytes) -> int:
    return (int.from_bytes(a) ^ int.from_bytes(b)).bit_count()


def count_common(size: int, resemblance: float) -> int:
    """How many elements two sets of `size` share that have (nearly) the resemblance given."""
    return round(2 * size * resemblance / (1 + resemblance))


def pair(rng: np.random.Generator, size: int, resemblance: float) -> tuple[np.ndarray, np.ndarray]:
    """Two sets of `size` random hashes each with (nearly) the resemblance given.

    Of so few hashes of 64 bits no two are equal.
    """
    common = count_common(size, resemblance)
    hashes = rng.integers(0, 2**64, 2 * size - common, dtype=np.uint64)
    return hashes[:size], hashes[size - common :]


@pytest.mark.parametrize("size", [20, 300, 2000, 10_000])
@pytest.mark.parametrize("resemblance", [0.75, 0.8, 0.95])
def test_the_interval_holds_the_resemblance(size: int, resemblance: float) -> None:
    """At 95 % confidence the interval misses the exact value in about one case of twenty."""
    rng = np.random.default_rng(size)
    level = sampling_level(size, 1024, 0.8)
    missed, errors = 0, []
    common = count_common(size, resemblance)
    exact = common / (2 * size - common)
    for _ in range(200):
        a, b = pair(rng, size, resemblance)
        first, second = odd_sketch(a, level, 1024), odd_sketch(b, level, 1024)
        odd = differing(first.bits, second.bits)
        found = estimate_odd(odd, first.members, second.members, level, bits=1024)
        missed += not found.low <= exact + 1e-9 <= found.high + 2e-9
        errors.append(found.similarity - exact)
    assert missed <= 24  # 200 cases at 5 %: 10, and four standard deviations more
    assert abs(np.mean(errors)) < 0.005
    assert np.std(errors) < 0.02


@pytest.mark.parametrize(("size", "larger"), [(6, 8), (100, 126), (600, 752)])
def test_sizes_bound_the_resemblance(size: int, larger: int) -> None:
    """A set within one with over a quarter more members is never estimated at four fifths."""
    rng = np.random.default_rng(size)
    held = 0
    for _ in range(1000):
        hashes = rng.integers(0, 2**64, larger, dtype=np.uint64)
        part, whole = odd_sketch(hashes[:size], 0, 1024), odd_sketch(hashes, 0, 1024)
        odd = differing(part.bits, whole.bits)
        both = [
            estimate_odd(odd, a.members, b.members, 0, bits=1024)
            for a, b in ((part, whole), (whole, part))
        ]
        assert both[0] == both[1]
        assert both[0].similarity <= size / larger < 0.8
        held += both[0].low <= size / larger + 1e-9 <= both[0].high + 2e-9
    assert held >= 1000 * 0.93


@pytest.mark.parametrize("threshold", [0.8, 0.95])
@pytest.mark.parametrize("resemblance", [0.0, 0.3])
def test_the_interval_of_unlike_pages_is_wide(threshold: float, resemblance: float) -> None:
    """Where nearly half of the bits are odd, two pages can share anything or nothing."""
    rng = np.random.default_rng(5)
    level = sampling_level(4000, 1024, threshold)
    held = 0
    for _ in range(200):
        sketches = [odd_sketch(one, level, 1024) for one in pair(rng, 4000, resemblance)]
        odd = differing(*(one.bits for one in sketches))
        found = estimate_odd(odd, *(one.members for one in sketches), level, bits=1024)
        held += found.low <= resemblance + 1e-3 and resemblance - 1e-3 <= found.high
    assert held >= 200 * 0.92


@given(st.integers(1, 2000), st.integers(0, 3), st.sampled_from([512, 1024]))
def test_equal_sets_have_resemblance_one(size: int, level: int, bits: int) -> None:
    """A set compared with itself in another order: the sketches are equal, the estimate is 1."""
    hashes = np.random.default_rng(size).integers(0, 2**64, size, dtype=np.uint64)
    sketch = odd_sketch(hashes, level, bits)
    assert odd_sketch(hashes[::-1], level, bits) == sketch
    if sketch.members:
        found = estimate_odd(0, sketch.members, sketch.members, level, bits=bits)
        assert (found.similarity, found.high) == (1.0, 1.0)


@given(st.floats(1, 10**7), st.sampled_from([0.5, 0.8, 0.95]))
def test_a_page_brings_the_level_of_every_page_it_may_duplicate(
    size: float, threshold: float
) -> None:
    """Sets as similar as the threshold share a level, whichever of them came first."""
    small = sampling_level(size * threshold, 512, threshold)
    large = sampling_level(size, 512, threshold)
    levels = range(small, sampling_level(size / threshold, 512, threshold) + 1)
    assert large in levels
    assert len(levels) <= 1 + np.ceil(2 * np.log2(1 / threshold) + 1)


def test_all_levels_are_sketched_once() -> None:
    """The page's own level comes first, then the others that a duplicate may have."""
    hashes = np.arange(1, 2400, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    sketches = odd_sketches(hashes, 1024, 0.8)
    levels = [sketch.level for sketch in sketches]
    assert levels[0] == sampling_level(len(hashes), 1024, 0.8)
    assert sorted(levels) == list(range(min(levels), max(levels) + 1))
    assert len(levels) == 2
    assert [sketch.members for sketch in sketches] == sorted(
        (sketch.members for sketch in sketches), reverse=levels[0] < levels[1]
    )


def test_what_shares_nothing_is_not_similar() -> None:
    """A saturated sketch says nothing and is given no similarity."""
    assert estimate_odd(512, 4000, 4000, 0, bits=1024).similarity == 0.0


@pytest.mark.parametrize("size", [20, 100, 500, 2000])
def test_sets_that_share_nothing_are_below_the_floor(size: int) -> None:
    """Hardly one is above it, and not for the floor's being high: short texts are told well."""
    rng = np.random.default_rng(size)
    found = []
    for _ in range(500):
        sketches = [odd_sketch(one, 0, 1024) for one in pair(rng, size, 0.0)]
        odd = differing(*(one.bits for one in sketches))
        found.append(estimate_odd(odd, size, size, 0, bits=1024).similarity)
    floor = floor_of_odd(size, 1024)
    assert np.mean(np.array(found) > floor + 0.01) < 0.01
    assert floor < max(found) + 0.05


@pytest.mark.parametrize("threshold", [5e-324, 1e-30, 1e-9, 0.001, 1.0])
def test_a_large_page_fits_whatever_the_threshold(threshold: float) -> None:
    """Levels and members have room where they are stored, and the page's own sketch is there."""
    hashes = np.random.default_rng(1).integers(0, 2**64, 300_000, dtype=np.uint64)
    sketches = odd_sketches(hashes, 4096, threshold)
    assert sketches[0].level == sampling_level(len(hashes), 4096, threshold)
    assert all(one.members < 1 << 16 and one.level < 250 for one in sketches)
