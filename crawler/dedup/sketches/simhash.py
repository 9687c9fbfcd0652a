"""Simhash: one bit for each random direction; similar pages differ in few bits."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from .hashing import SPREAD, draw_multipliers, sorted_unique
from .method import Method, SketchArray
from .similarity import Estimate, Interval
from .supershingles import Supershingles

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .hashing import ShingleArray

_WORD_BITS: Final = 64
_32: Final = np.uint64(32)
# Shingles whose bits are unpacked at once.
_HELD: Final = 1 << 16
# The most values in a supershingle of two-stage: six of them have as many values as a sketch may.
_MOST_ROWS: Final = 4096 // 6
# An index takes some 200. The limit is here because the choices of blocks can be millions.
_MOST_TABLES: Final = 1000


class Simhash(Method):
    """The signs of the sum of all shingles' random ±1 vectors.

    Two bits differ with probability θ/π, θ being the angle between the sets as vectors (Charikar,
    "Similarity estimation techniques from rounding algorithms", STOC 2002, section 3). So the share
    of differing bits estimates the cosine c, and for sets of one size J = c / (2 - c). For fewer
    than some twenty shingles the estimate is too high, by .1 at four: many sums are 0, whose bit is
    0.

    Pages within *distance* differing bits are found by tables. If the bits are cut into *blocks*,
    at least ``blocks - distance`` blocks of two such pages are equal, and each choice of so many
    blocks is a key (Manku, Jain, Das Sarma, "Detecting near-duplicates for web crawling", WWW 2007,
    section 3). There are as many keys as choices, so distances much above 3 are costly to find.
    Distance 3 of 64 is a J of about 0.98, and J = 0.8 a distance of about 10.

    A sketch is uint64 of shape (num_hashes // 64,).

    Parameters
    ----------
    num_hashes
        Bits, a multiple of 64.
    seed
        Chooses the directions.
    distance
        Differing bits within which every pair is a candidate.
    blocks
        More than *distance*. More blocks make more and longer keys, with fewer false candidates.

    Raises
    ------
    ValueError
        A number is out of range, or they make more than 1,000 keys.
    """

    name = "simhash"
    dtype = np.dtype(np.uint64)

    def __init__(
        self, num_hashes: int = 64, seed: int = 1, *, distance: int = 3, blocks: int = 5
    ) -> None:
        if num_hashes < 1 or num_hashes % _WORD_BITS:
            raise ValueError(f"num_hashes must be a multiple of 64 for simhash, not {num_hashes}")
        if not 0 <= distance < blocks <= num_hashes:
            raise ValueError(
                f"blocks must be more than distance and at most {num_hashes}, not {blocks}"
            )
        self.tables: int = math.comb(blocks, distance)
        if self.tables > _MOST_TABLES:
            raise ValueError(
                f"distance {distance} in {blocks} blocks makes {self.tables:,} keys, more than "
                f"{_MOST_TABLES:,}: lower one of them"
            )
        self.num_hashes = num_hashes
        self.shape = (num_hashes // _WORD_BITS,)
        self._factors = draw_multipliers(num_hashes // _WORD_BITS, seed)
        block_of = np.arange(num_hashes) * blocks // num_hashes
        chosen = combinations(range(blocks), blocks - distance)
        masks = np.stack([np.isin(block_of, choice) for choice in chosen])
        self._masks = np.packbits(masks, axis=1, bitorder="little").view("<u8").astype(np.uint64)
        self._key_factors = draw_multipliers(num_hashes // _WORD_BITS, seed + 1)

    def sketch(self, shingles: ShingleArray) -> SketchArray:
        if not shingles.size:
            return np.empty(0, np.uint64)
        shingles = sorted_unique(shingles.copy())
        ones = np.zeros(self.num_hashes, np.int64)
        for start in range(0, shingles.size, _HELD):
            hashes = shingles[start : start + _HELD, None] * self._factors
            hashes ^= hashes >> _32  # low bits of a product only depend on low bits of the factors
            bits = np.unpackbits(hashes.astype("<u8").view(np.uint8), axis=1, bitorder="little")
            ones += bits.sum(axis=0, dtype=np.int64)
        signs = np.packbits(2 * ones > shingles.size, bitorder="little")
        return signs.view("<u8").astype(np.uint64)

    def keys(self, sketch: SketchArray) -> NDArray[np.uint32]:
        if not sketch.size:
            return np.empty(0, np.uint32)
        hashed = ((sketch & self._masks) * self._key_factors).sum(axis=1, dtype=np.uint64)
        hashed ^= hashed >> _32  # otherwise the highest bits would only affect the highest bits
        return np.asarray((hashed * SPREAD) >> _32, np.uint32)

    def _estimate_nonempty(
        self, a: SketchArray, b: SketchArray, confidence: float, interval: Interval
    ) -> Estimate:
        distance = hamming_distance(a, b)
        return estimate_simhash(distance, self.num_hashes, confidence=confidence, interval=interval)


def estimate_simhash(
    distance: int, bits: int, *, confidence: float = 0.95, interval: Interval = "wilson"
) -> Estimate:
    """The resemblance of two sets of one size whose simhashes differ in *distance* of *bits* bits.

    Each bit is a Bernoulli trial that comes out equal with probability 1 - θ/π (Charikar 2002,
    section 3). The interval of this probability is transformed to J; the error is from the delta
    method.

    >>> round(estimate_simhash(3, 64).similarity, 3), round(estimate_simhash(10, 64).similarity, 2)
    (0.979, 0.79)
    """
    share = Estimate.of_proportion(bits - distance, bits, confidence, interval)
    angle = math.pi * (1 - share.similarity)
    slope = 2 * math.pi * math.sin(angle) / (2 - math.cos(angle)) ** 2
    return share.through(_resemblance_from_bits, slope)


def hamming_distance(a: SketchArray, b: SketchArray) -> int:
    """Number of bits in which two sketches differ."""
    return int(np.unpackbits((a ^ b).view(np.uint8)).sum())


def _resemblance_from_bits(equal_share: float) -> float:
    """J of two sets of one size whose simhashes have this share of bits in common."""
    cosine = max(0.0, math.cos(math.pi * (1 - equal_share)))
    return cosine / (2 - cosine)


class TwoStage(Method):
    """Supershingles find candidates, and simhash must agree: Henzinger's combination.

    On 1.6 billion pages, the two alone had a precision of 0.38 and 0.50, and both together 0.79,
    because they fail on different pairs (Henzinger, "Finding near-duplicate web pages: a
    large-scale evaluation of algorithms", SIGIR 2006, section 4.3). The similarity of a pair is the
    lower one of the two estimates, with its error and interval; hers is a yes or no, without any.

    An index finds candidates by the supershingles and stores the simhash beside them: a candidate
    is a copy if the simhashes differ in at most *distance* bits.

    A sketch is uint64: the supershingles, then the simhash.

    Parameters
    ----------
    num_hashes
        Bits of the simhash, a multiple of 64; Henzinger's has 384.
    seed
        Chooses the hash functions.
    rows, min_matches
        As in :class:`Supershingles`; there are six.
    distance
        The most differing bits of copies, as in :class:`Simhash`: 3 of 64 are a J of about 0.98.
    """

    name = "two-stage"
    dtype = np.dtype(np.uint64)

    def __init__(
        self,
        num_hashes: int = 64,
        seed: int = 1,
        *,
        rows: int = 14,
        min_matches: int = 2,
        distance: int = 3,
    ) -> None:
        if not 1 <= rows <= _MOST_ROWS:
            raise ValueError(f"rows must be from 1 to {_MOST_ROWS}, not {rows}")
        self.first = Supershingles(6 * rows, seed, rows=rows, min_matches=min_matches)
        self.second = Simhash(num_hashes, seed)
        if not 0 <= distance <= num_hashes:
            raise ValueError(f"distance must be from 0 to {num_hashes}, not {distance}")
        # Between this distance and the next, so that no rounding decides.
        self.least_similarity = _resemblance_from_bits(1 - (distance + 0.5) / num_hashes)
        self.tables: int = self.first.tables
        self.shape = (self.tables + num_hashes // _WORD_BITS,)
        self.min_matches = min_matches

    def sketch(self, shingles: ShingleArray) -> SketchArray:
        return np.concatenate((self.first.sketch(shingles), self.second.sketch(shingles)))

    def keys(self, sketch: SketchArray) -> NDArray[np.uint32]:
        return self.first.keys(sketch[: self.tables])

    def simhash_part(self, sketch: SketchArray) -> SketchArray:
        """The second part of a sketch, by which candidates are verified."""
        return sketch[self.tables :]

    def _estimate_nonempty(
        self, a: SketchArray, b: SketchArray, confidence: float, interval: Interval
    ) -> Estimate:
        cut = self.tables
        return min(
            self.first._estimate_nonempty(a[:cut], b[:cut], confidence, interval),
            self.second._estimate_nonempty(a[cut:], b[cut:], confidence, interval),
            key=lambda estimate: estimate.similarity,
        )
