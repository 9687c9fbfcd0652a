"""Fast similarity sketching: the accuracy of minwise permutations for the price of one hash."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from . import hashing
from .hashing import SPREAD, draw_multipliers
from .method import BandedMethod, SketchArray

if hashing.COMPILED:
    from . import _hashing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .hashing import ShingleArray

_EMPTY: Final = np.uint64(2**64 - 1)
_32: Final = np.uint64(32)
# A key has the round in its upper eight bits and a hash in the lower 56. So the least key of a bin
# is from the first round that reached it, and has the smallest hash of that round.
_ORDER_BITS: Final = np.uint64(56)
_ORDER: Final = np.uint64((1 << 56) - 1)
_MOST_ROUNDS: Final = 255
# Rounds of many texts are drawn together until they throw this many shingles at each bin. Fewer
# cost more calls of numpy, more cost unused hashes.
_THROWN_AT_EACH: Final = 2
# Shingles of one text worked on at a time.
_PIECE: Final = 1 << 18


class FastSimilaritySketch(BandedMethod):
    """Fast similarity sketching (Dahlgaard, Knudsen, Thorup, FOCS 2017, algorithm 1).

    All shingles are thrown into the n bins, round after round with a new hash function, until no
    bin is empty; after n rounds, the n-th more fill one bin each. A bin keeps the shingle of the
    first round that reached it; of several, the one with the smallest hash. Values of two sketches
    agree with probability J as those of n independent permutations do, with a variance that is
    never above J(1-J)/n and well below it once shingles are not many times the bins. Errors and
    intervals are those of n independent trials, so they are slightly too wide.

    A hash function of a round is multiplication by an odd number modulo 2**64, the high bits being
    the bin: shingle hashes are random already, which is what pairwise independence needs to behave
    like full randomness (Mitzenmacher, Vadhan, "Why simple hash functions work", 2008).

    A sketch is uint32 of shape (num_hashes,): 32 bits of the winner's hash, independent of its
    rank.
    """

    name = "fast"

    def __init__(
        self, num_hashes: int = 256, seed: int = 1, *, bands: int | None = None, rows: int = 5
    ) -> None:
        super().__init__(num_hashes, seed, bands=bands, rows=rows)
        self._multipliers = draw_multipliers(2 * num_hashes, seed)
        # So many shingles for each bin leave none of the n bins empty with probability exp(-1/e³),
        # 0.95 (coupon collector): rounds of a single text are drawn all at once.
        self._thrown_at_all = math.ceil(math.log(num_hashes)) + 3

    def sketch(self, shingles: ShingleArray) -> SketchArray:
        if hashing.COMPILED:
            return _hashing.fast(np.ascontiguousarray(shingles), self._multipliers)
        return self.sketch_batch(shingles, np.array([0, shingles.size]))[0]

    def sketch_batch(self, shingles: ShingleArray, offsets: NDArray[np.intp]) -> list[SketchArray]:
        if hashing.COMPILED:
            return super().sketch_batch(shingles, offsets)
        bins = self.num_hashes
        counts = offsets[1:] - offsets[:-1]
        least = np.full(counts.size * bins, _EMPTY)
        text = np.repeat(np.arange(counts.size), counts)
        first_bin = (text * bins).view(np.uint64)
        unfinished = counts > 0
        empty = None
        drawn = 0
        while shingles.size and drawn < bins:
            texts = int(np.count_nonzero(unfinished))
            thrown = max(_THROWN_AT_EACH * texts, self._thrown_at_all) * bins
            rounds = max(1, min(thrown // shingles.size, bins - drawn, _MOST_ROUNDS))
            for start in range(0, shingles.size, _PIECE):
                part = slice(start, start + _PIECE)
                self._throw_shingles(shingles[part], first_bin[part], drawn, rounds, least, empty)
            drawn += rounds
            empty = least == _EMPTY
            if not empty.any():
                break
            unfinished = empty.reshape(-1, bins).any(axis=1)
            if not unfinished.all():
                needed = unfinished[text]
                shingles, first_bin, text = shingles[needed], first_bin[needed], text[needed]
        if shingles.size and drawn == bins:
            self._fill_bins(shingles, text, least)
        values = (((least & _ORDER) * SPREAD) >> _32).astype(np.uint32).reshape(-1, bins)
        return [value if count else value[:0] for value, count in zip(values, counts, strict=True)]

    def _throw_shingles(
        self,
        shingles: ShingleArray,
        first_bin: NDArray[np.uint64],
        drawn: int,
        rounds: int,
        least: NDArray[np.uint64],
        empty: NDArray[np.bool_] | None,
    ) -> None:
        """Throw shingles into bins for some rounds and keep the least key of each empty bin."""
        hashes = shingles * self._multipliers[drawn : drawn + rounds, None]
        bins = hashes >> _32
        bins *= np.uint64(self.num_hashes)
        bins >>= _32
        bins += first_bin
        hashes &= _ORDER
        hashes |= np.arange(rounds, dtype=np.uint64)[:, None] << _ORDER_BITS
        places, keys = bins.view(np.int64).ravel(), hashes.ravel()
        if empty is not None:
            still = np.flatnonzero(empty[places])
            places, keys = places[still], keys[still]
        np.minimum.at(least, places, keys)

    def _fill_bins(
        self, shingles: ShingleArray, text: NDArray[np.intp], least: NDArray[np.uint64]
    ) -> None:
        """The last rounds: in round n + i all shingles of a text are in bin i."""
        starts = np.flatnonzero(np.diff(text, prepend=-1)).tolist()
        for start, end in pairwise([*starts, text.size]):
            number = int(text[start])
            own = least[number * self.num_hashes : (number + 1) * self.num_hashes]
            still = np.flatnonzero(own == _EMPTY)
            factors = self._multipliers[self.num_hashes + still]
            own[still] = ((shingles[start:end, None] * factors) & _ORDER).min(axis=0)
