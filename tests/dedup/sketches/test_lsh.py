"""Bands find pairs as often as the S-curve says, and the curve is chosen with its costs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.dedup.sketches.lsh import (
    TABLE_KEY_BITS,
    Bands,
    band_keys,
    choose_bands,
    collision_probability,
    error_areas,
    fewest_bands,
    row_bits,
    table_bits,
)


@given(st.integers(1, 32), st.integers(1, 20), st.randoms(use_true_random=False))
def test_a_key_is_the_low_bits_of_its_rows(rows: int, bands: int, draw: object) -> None:
    values = [draw.getrandbits(32) for _ in range(bands * rows + 3)]  # type: ignore[attr-defined]
    bits = 32 // rows
    expected = []
    for band in range(bands):
        key = 0
        for value in values[band * rows : (band + 1) * rows]:
            key = key << bits | value & ((1 << bits) - 1)
        expected.append(key)
    keys = band_keys(np.array(values, np.uint32), bands, rows)
    assert keys.dtype == np.uint32
    assert keys.tolist() == expected


def test_keys_of_many_sketches_at_once() -> None:
    sketches = np.random.default_rng(1).integers(0, 2**32, (5, 100), dtype=np.uint32)
    one_by_one = [band_keys(sketch, 12, 7).tolist() for sketch in sketches]
    assert band_keys(sketches, 12, 7).tolist() == one_by_one


@pytest.mark.parametrize(("bands", "rows"), [(12, 7), (20, 5), (3, 16), (2, 32)])
@pytest.mark.parametrize("similarity", [0.0, 0.3, 0.8, 0.9])
def test_pairs_collide_as_often_as_the_curve_says(bands: int, rows: int, similarity: float) -> None:
    draw = np.random.default_rng(2)
    a, b = draw.integers(0, 2**32, (2, 20_000, bands * rows), dtype=np.uint32)
    b = np.where(draw.random(a.shape) < similarity, a, b)
    collided = (band_keys(a, bands, rows) == band_keys(b, bands, rows)).any(axis=1).mean()
    expected = float(collision_probability(similarity, bands, rows, bits=row_bits(rows)))
    assert collided == pytest.approx(expected, abs=4 * np.sqrt(0.25 / 20_000))


@pytest.mark.parametrize(("bands", "rows"), [(8, 5), (32, 8), (15, 16), (3, 32), (9, 1)])
@pytest.mark.parametrize("similarity", [0.3, 0.7, 0.9])
def test_the_tables_find_as_often_as_their_curve_says(
    bands: int, rows: int, similarity: float
) -> None:
    """They tell 27 bits of a key apart: of bands of 8 values the first does not count."""
    draw = np.random.default_rng(4)
    a, b = draw.integers(0, 2**32, (2, 5000, bands * rows), dtype=np.uint32)
    b = np.where(draw.random(a.shape) < similarity, a, b)
    differ = band_keys(a, bands, rows) ^ band_keys(b, bands, rows)
    differ &= np.uint32((1 << TABLE_KEY_BITS) - 1)
    expected = float(collision_probability(similarity, bands, rows, bits=table_bits(rows)))
    found = (differ == 0).any(axis=1).mean()
    assert found == pytest.approx(expected, abs=4 * np.sqrt(0.25 / 5000))


def test_default_bands_find_what_they_promise() -> None:
    found = collision_probability([0.8, 0.85], bands=12, rows=7, bits=row_bits(7))
    assert found[0] >= 0.95
    assert found[1] >= 0.99


@given(
    st.floats(0.05, 0.95), st.integers(1, 64), st.floats(0.05, 1), st.sampled_from([1.0, 3.0, 20.0])
)
def test_chosen_bands_have_the_least_weighted_error(
    threshold: float, num_hashes: int, positives: float, negatives: float
) -> None:
    chosen = choose_bands(
        threshold, num_hashes, false_positives=positives, false_negatives=negatives
    )

    def cost(bands: int, rows: int) -> float:
        areas = error_areas(threshold, bands, rows, row_bits(rows))
        return positives * areas[0] + negatives * areas[1]

    assert chosen.bands * chosen.rows <= num_hashes
    assert cost(*chosen) == min(
        cost(bands, rows)
        for rows in range(1, min(32, num_hashes) + 1)
        for bands in range(1, num_hashes // rows + 1)
    )


@pytest.mark.parametrize("threshold", [0.4, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0])
def test_the_fewest_bands_keep_their_promises(threshold: float) -> None:
    bands, rows = fewest_bands(threshold, 256)

    def found(similarity: float, bands: int) -> float:
        return float(collision_probability(similarity, bands, rows, row_bits(rows)))

    above = min(1.0, threshold + 0.05)
    assert bands * rows <= 256
    assert found(threshold, bands) >= 0.95
    assert found(above, bands) >= 0.99
    fewer = bands - 1
    assert not fewer or found(threshold, fewer) < 0.95 or found(above, fewer) < 0.99


def test_dearer_misses_choose_a_curve_further_left() -> None:
    fair = choose_bands(0.8, 256)
    keen = choose_bands(0.8, 256, false_positives=0.05, false_negatives=0.95)
    assert collision_probability(0.8, *keen) > collision_probability(0.8, *fair)


def test_areas_are_those_under_and_over_a_step() -> None:
    """One band of one row finds a pair with probability s: two triangles."""
    positives, negatives = error_areas(0.4, bands=1, rows=1)
    assert positives == pytest.approx(0.4**2 / 2, abs=1e-6)
    assert negatives == pytest.approx(0.6**2 / 2, abs=1e-6)


def test_numbers_out_of_range_are_named() -> None:
    with pytest.raises(ValueError, match="84 values"):
        band_keys(np.zeros(83, np.uint32), 12, 7)
    for rows in (0, 33):
        with pytest.raises(ValueError, match="rows"):
            band_keys(np.zeros(99, np.uint32), 1, rows)
    for threshold in (0.0, 1.0):
        with pytest.raises(ValueError, match="threshold"):
            choose_bands(threshold, 128)
    with pytest.raises(ValueError, match="num_hashes"):
        choose_bands(0.5, 0)
    with pytest.raises(ValueError, match="weights"):
        choose_bands(0.5, 16, false_positives=-1)
    assert choose_bands(0.5, 1) == Bands(1, 1)
