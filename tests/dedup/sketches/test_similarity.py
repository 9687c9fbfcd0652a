"""Exact similarities are set arithmetic; estimates come with intervals that keep their word."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.dedup.sketches.similarity import Estimate, containment, estimate, jaccard, z_score

SETS = st.sets(st.integers(0, 30) | st.integers(0, 2**64 - 1))


def array(values: set[int]) -> np.ndarray:
    return np.array(sorted(values), np.uint64)


@given(SETS, SETS)
def test_jaccard_and_containment_are_those_of_the_sets(a: set[int], b: set[int]) -> None:
    union, shared = len(a | b), len(a & b)
    assert jaccard(array(a), array(b)) == (shared / union if union else 1.0)
    assert containment(array(a), array(b)) == (shared / len(a) if a else 1.0)


@given(st.integers(0, 500), st.integers(1, 500), st.floats(0.01, 0.999))
def test_an_interval_holds_its_estimate(hits: int, trials: int, confidence: float) -> None:
    hits = min(hits, trials)
    for interval in ("wilson", "normal"):
        found = Estimate.of_proportion(hits, trials, confidence, interval)
        assert 0 <= found.low <= found.similarity <= found.high <= 1


def test_the_normal_interval_is_the_textbook_one() -> None:
    found = Estimate.of_proportion(160, 200, 0.95, "normal")
    error = math.sqrt(0.8 * 0.2 / 200)
    assert found.error == pytest.approx(error)
    assert found.low == pytest.approx(0.8 - 1.959964 * error)
    assert found.high == pytest.approx(0.8 + 1.959964 * error)


def test_certainty_is_not_claimed_from_agreement_alone() -> None:
    """Where p(1-p) is 0, the textbook's interval is a point; Wilson's is the rule of three."""
    assert Estimate.of_proportion(256, 256, interval="normal").low == 1.0
    assert 0.98 < Estimate.of_proportion(256, 256).low < 1.0
    assert 0.0 < Estimate.of_proportion(0, 256).high < 0.02
    assert Estimate.of_proportion(0, 0) == Estimate(0.0, 0.0, 1.0, 1.0)


@pytest.mark.parametrize("p", [0.02, 0.5, 0.8, 0.97])
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_intervals_hold_the_truth_as_often_as_they_say(p: float, confidence: float) -> None:
    hits = np.random.default_rng(1).binomial(256, p, 4000).tolist()
    found = [Estimate.of_proportion(count, 256, confidence) for count in hits]
    held = sum(one.low <= p <= one.high for one in found) / len(found)
    assert held == pytest.approx(confidence, abs=0.07)  # counts are whole numbers


@pytest.mark.parametrize("bits", [1, 4, 8])
def test_chance_agreement_of_few_bits_is_taken_out(bits: int) -> None:
    draw = np.random.default_rng(bits)
    a = draw.integers(0, 2**32, 200_000, dtype=np.uint32)
    b = np.where(draw.random(a.size) < 0.7, a, draw.integers(0, 2**32, a.size, dtype=np.uint32))
    found = estimate(a, b, bits=bits)
    assert found.similarity == pytest.approx(0.7, abs=5 * found.error)
    assert found.error > estimate(a, b).error
    assert estimate(a, a, bits=bits).similarity == 1.0


def test_higher_confidence_is_a_wider_interval() -> None:
    a = np.arange(100, dtype=np.uint32)
    b = np.where(a < 80, a, a + 1000)
    narrow, wide = (estimate(a, b, confidence=confidence) for confidence in (0.5, 0.99))
    assert wide.low < narrow.low < 0.8 < narrow.high < wide.high
    assert z_score(0.6827) == pytest.approx(1, abs=1e-3)


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(ValueError, match="shapes"):
        estimate(np.zeros(3, np.uint32), np.zeros(4, np.uint32))
    for confidence in (0.0, 1.0, 95.0):
        with pytest.raises(ValueError, match="confidence"):
            Estimate.of_proportion(1, 2, confidence)


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
def test_bits_are_those_of_a_value(dtype: type[np.uint32] | type[np.uint64]) -> None:
    """All of them compare as without, and none or more are refused."""
    a, most = np.arange(100, dtype=dtype), 8 * np.dtype(dtype).itemsize
    assert estimate(a, a[::-1].copy(), bits=most).similarity == pytest.approx(0)
    for bits in (0, -1, most + 1):
        with pytest.raises(ValueError, match=f"bits must be from 1 to {most}, not {bits}"):
            estimate(a, a, bits=bits)
