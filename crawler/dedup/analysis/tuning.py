"""The pairs that bands find and miss, and their cost: the figures behind ``DEDUP_BANDS``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from ..sketches.lsh import (
    Bands,
    choose_bands,
    collision_probability,
    error_areas,
    fewest_bands,
    table_bits,
)
from ..sketches.odd import SIMHASH, deviation_of_odd
from ..sketches.simhash import estimate_simhash

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from ..config import DedupConfig
    from ..sketches.odd import OddSketch

# Bytes of the server's memory for a kept page whose URL has 60 characters, as Valkey 9 counts them
# (used_memory before and after 60,000 pages without similar pairs): 253 with 1 band, 331
# with 6, 407 with 12 and 555 with 24, all with 1024 bits to verify; 343 and 537 with 12 bands and
# 512 and 2048 bits. A straight line through them is never 3 % off. Tables grow in steps: an index
# of some thousand pages may take a fifth more.
_PAGE_BYTES: Final = 116.0
_BAND_BYTES: Final = 13.3
_BYTES_PER_VERIFY_BYTE: Final = 1.01

# Widths of the bins in which similarities are counted.
_BINS_IN_ONE: Final = 20
_SIGMAS: Final = 3.0


@dataclass(frozen=True, slots=True)
class Choice:
    """Bands of a sketch, with their expected errors and costs.

    Attributes
    ----------
    name
        Where they come from: ``set`` (the settings), ``fewest``
        (:func:`~.sketches.lsh.fewest_bands`) or ``weighed`` (:func:`~.sketches.lsh.choose_bands`).
    used
        Whether the index uses them.
    bands, rows
        b bands of r values each.
    false_positives, false_negatives
        Areas between the S-curve and the step at the threshold, see
        :func:`~.sketches.lsh.error_areas`.
    page_bytes, band_bytes
        Memory of the server for a kept page, and the bands' part of it.
    """

    name: str
    used: bool
    bands: int
    rows: int
    false_positives: float
    false_negatives: float
    page_bytes: int
    band_bytes: int

    def share_found(self, similarity: ArrayLike) -> NDArray[np.float64]:
        """The share of pairs of that *similarity* that an index finds: the S-curve."""
        return collision_probability(similarity, self.bands, self.rows, table_bits(self.rows))


def list_choices(
    config: DedupConfig, *, false_positives: float, false_negatives: float
) -> list[Choice]:
    """The bands of an index with that *config*, and those with the least weighted error.

    Bands that the settings name come first; then the fewest that find enough, if there are any.

    Raises
    ------
    ValueError
        A weight is negative, or both are 0.
    """
    if false_positives + false_negatives <= 0:
        raise ValueError("one of the weights of errors must be above 0")
    threshold, values = config.threshold, config.values
    made = []
    if config.bands:
        made.append(_make_choice("set", True, config.banding, config))
    try:
        made.append(
            _make_choice("fewest", not config.bands, fewest_bands(threshold, values), config)
        )
    except ValueError:  # too few values for the threshold, for which only set bands can do
        if not config.bands:
            raise
    if threshold < 1:  # otherwise every pair except equal texts is below the threshold
        weighed = choose_bands(
            threshold,
            values,
            false_positives=false_positives,
            false_negatives=false_negatives,
            tables=True,
        )
        made.append(_make_choice("weighed", False, weighed, config))
    return made


def _make_choice(name: str, used: bool, bands: Bands, config: DedupConfig) -> Choice:
    positives, negatives = error_areas(config.threshold, *bands, table_bits(bands.rows))
    band_bytes = _BAND_BYTES * bands.bands
    page_bytes = _PAGE_BYTES + band_bytes + _BYTES_PER_VERIFY_BYTE * config.sketch_bits / 8
    return Choice(name, used, *bands, positives, negatives, round(page_bytes), round(band_bytes))


def found_share(config: DedupConfig, similarity: float) -> float | None:
    """The share of pairs of that similarity that the bands of an index find; None without bands."""
    if not config.has_bands:
        return None
    bands, rows = config.banding
    return float(collision_probability(similarity, bands, rows, table_bits(rows)))


def pair_similarities(sketches: Sequence[OddSketch], bits: int) -> NDArray[np.float64]:
    """Similarities of all pairs of sketched pages with the same sampling level.

    Parameters
    ----------
    sketches
        Odd sketches, or simhashes, of *bits* bits.

    Returns
    -------
    numpy.ndarray
        float64 of shape (number of such pairs,): the estimates of
        :func:`~.sketches.odd.estimate_odd`, unreliable below :func:`floor_of_pairs`.
    """
    found = []
    for level in {sketch.level for sketch in sketches}:
        group = [sketch for sketch in sketches if sketch.level == level]
        packed = np.frombuffer(b"".join(sketch.bits for sketch in group), np.uint8)
        signs = np.unpackbits(packed).reshape(len(group), bits).astype(np.float32) * 2 - 1
        a, b = np.triu_indices(len(group), 1)
        differing = (bits - (signs @ signs.T)[a, b]) / 2
        if level == SIMHASH:
            found.append(_of_simhashes(bits)[differing.astype(np.intp)])
            continue
        odd = np.minimum(differing, (bits - 1) / 2).astype(np.float64)
        members = np.array([sketch.members for sketch in group], np.float64)
        one, other = members[a], members[b]
        bound = np.minimum(one, other) / np.maximum(np.maximum(one, other), 1)
        found.append(np.minimum(_estimate_resemblance(odd, one + other, bits), bound))
    return np.concatenate(found) if found else np.empty(0)


def _of_simhashes(bits: int) -> NDArray[np.float64]:
    """The estimates for each number of differing bits, from 0 on."""
    return np.array([estimate_simhash(distance, bits).similarity for distance in range(bits + 1)])


def floor_of_pairs(sketches: Iterable[OddSketch], bits: int) -> float:
    """The similarity below which some estimates of :func:`pair_similarities` say little.

    For odd sketches, it is :func:`floor_of_odd` of the sketch with the most members. In simhashes
    of two sets that share nothing, each bit differs with probability 1/2. For these, the floor is
    the estimate if three standard deviations fewer bits differ than expected.
    """
    most = 0
    for sketch in sketches:
        if sketch.level == SIMHASH:
            distance = max(0, math.floor((bits - _SIGMAS * math.sqrt(bits)) / 2))
            return estimate_simhash(distance, bits).similarity
        most = max(most, sketch.members)
    return floor_of_odd(most, bits)


def floor_of_odd(members: int, bits: int) -> float:
    """The similarity below which odd sketches of two sets of *members* members say little.

    It is the estimate for sets that share nothing if three standard deviations fewer bits differ
    than expected.

    >>> [round(floor_of_odd(members, 1024), 2) for members in (2000, 500, 10)]
    [0.54, 0.14, 0.07]
    """
    expected = bits / 2 * (1 - (1 - 2 / bits) ** (2 * members))
    odd = np.array(max(0.0, expected - _SIGMAS * deviation_of_odd(2 * members, bits)))
    return float(_estimate_resemblance(odd, np.array(2.0 * members), bits))


def _estimate_resemblance(
    odd: NDArray[np.float64], both: NDArray[np.float64], bits: int
) -> NDArray[np.float64]:
    difference = np.log(1 - 2 * odd / bits) / math.log(1 - 2 / bits)
    return np.maximum(0.0, (both - difference) / np.maximum(both + difference, 1))


@dataclass(frozen=True, slots=True)
class SimilarityBin:
    """Pairs in the index whose similarity is from ``low`` up to ``high``.

    ``near_duplicates`` counts the dropped pages, ``missed`` the pages that were missed besides, as
    expected from the S-curve; None where the sketches cannot tell. ``pairs`` counts pairs of a
    sample of kept pages.
    """

    low: float
    high: float
    near_duplicates: int
    missed: float | None
    pairs: int


def similarity_bins(
    choice: Choice, histogram: Mapping[str, int], pairs: Iterable[float], floor: float
) -> list[SimilarityBin]:
    """Count similarities in bins of 0.05 from *floor* on; the first bin has all below it.

    Parameters
    ----------
    histogram
        Similarities, rounded down to hundredths → numbers of near-duplicates.
    pairs
        Similarities of pairs of kept pages.

    Examples
    --------
    >>> lsh = Choice("set", True, 20, 5, 0.0, 0.0, 0, 0)
    >>> for one in similarity_bins(lsh, {"0.86": 7}, [0.1, 0.88], 0.84):
    ...     print(one.low, one.high, one.near_duplicates, one.pairs)
    0.0 0.85 0 1
    0.85 0.9 7 1
    0.9 0.95 0 0
    0.95 1.0 0 0
    """
    first = min(math.ceil(floor * _BINS_IN_ONE), _BINS_IN_ONE - 1)
    edges = [0.0, *(step / _BINS_IN_ONE for step in range(max(first, 1), _BINS_IN_ONE + 1))]
    # Values rounded down to hundredths are on average half a hundredth higher; 1.0 is in the last
    # bin.
    similar = np.array([float(name) + 0.005 for name in histogram])
    weights = np.array(list(histogram.values()))
    near, _ = np.histogram(np.minimum(similar, 1.0), edges, weights=weights)
    between, _ = np.histogram(np.fromiter(pairs, np.float64), edges)
    bins = []
    for i, (low, high) in enumerate(pairwise(edges)):
        found = float(choice.share_found((low + high) / 2)) if i else 0.0
        missed = near[i] * (1 / found - 1) if found else None
        bins.append(SimilarityBin(low, high, int(near[i]), missed, int(between[i])))
    return bins
