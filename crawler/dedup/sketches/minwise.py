"""Minwise hashing: by k random permutations, or by one whose range is cut into k bins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from .hashing import SPREAD, draw_multipliers, draw_numbers
from .method import BandedMethod, SketchArray

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .hashing import ShingleArray

_32: Final = np.uint64(32)
_EMPTY: Final = np.uint64(2**64 - 1)
# Hashes held at once, so that a long text does not need shingles x permutations of memory.
_HELD: Final = 1 << 20


class MinwisePermutations(BandedMethod):
    """The smallest value of the shingles under each of k random permutations.

    Two texts agree on one with probability J, and k independent permutations are k Bernoulli
    trials: standard error sqrt(J(1-J)/k) (Broder, Charikar, Frieze, Mitzenmacher, "Min-wise
    independent permutations", 2000). The permutations are x → ax + b modulo 2**64 with a odd.

    A sketch is uint32 of shape (num_hashes,). The time is proportional to shingles x num_hashes:
    the fast similarity sketch is as good for a fraction of it.
    """

    name = "minwise"

    def __init__(
        self, num_hashes: int = 200, seed: int = 1, *, bands: int | None = None, rows: int = 5
    ) -> None:
        super().__init__(num_hashes, seed, bands=bands, rows=rows)
        drawn = draw_numbers(2 * num_hashes, seed)
        self._factors = drawn[:num_hashes] | np.uint64(1)
        self._terms = drawn[num_hashes:]

    def sketch(self, shingles: ShingleArray) -> SketchArray:
        if not shingles.size:
            return np.empty(0, np.uint32)
        least = np.full(self.num_hashes, _EMPTY)
        held = max(1, _HELD // self.num_hashes)
        for start in range(0, shingles.size, held):
            permuted = shingles[start : start + held, None] * self._factors + self._terms
            np.minimum(least, permuted.min(axis=0), out=least)
        return ((least * SPREAD) >> _32).astype(np.uint32)


class OnePermutation(BandedMethod):
    """One permutation whose range is cut into k bins, each keeping its smallest value.

    Source: Li, Owen, Zhang, "One permutation hashing", NIPS 2012. A bin that no shingle fell into
    takes the value of another bin, chosen at random but alike in all texts (Shrivastava, "Optimal
    densification for fast and accurate minwise hashing", ICML 2017). The variance is about
    J(1-J)/k if there are many times more shingles than bins. With a third as many shingles as bins
    it is a fifth above that, half at 20 shingles and two thirds at 5, and the interval is too
    narrow: with 50 shingles or fewer, a 95 % interval contains J nine times in ten.

    A sketch is uint32 of shape (num_hashes,).
    """

    name = "one-permutation"

    def __init__(
        self, num_hashes: int = 256, seed: int = 1, *, bands: int | None = None, rows: int = 5
    ) -> None:
        super().__init__(num_hashes, seed, bands=bands, rows=rows)
        self._factor = draw_multipliers(1, seed)[0]
        self._lenders = draw_multipliers(num_hashes, seed + 1)

    def sketch(self, shingles: ShingleArray) -> SketchArray:
        return self.sketch_batch(shingles, np.array([0, shingles.size]))[0]

    def sketch_batch(self, shingles: ShingleArray, offsets: NDArray[np.intp]) -> list[SketchArray]:
        bins = self.num_hashes
        counts = offsets[1:] - offsets[:-1]
        hashes = shingles * self._factor
        least = np.full(counts.size * bins, _EMPTY)
        first_bin = np.repeat(np.arange(counts.size) * bins, counts)
        np.minimum.at(least, first_bin + _bin_of(hashes, bins), hashes)
        filled = least != _EMPTY
        borrower = np.flatnonzero(~filled & np.repeat(counts > 0, bins))
        dice = self._lenders[borrower % bins]
        begin = borrower - borrower % bins
        while borrower.size:
            dice *= SPREAD
            dice ^= dice >> _32
            lender = begin + _bin_of(dice, bins)
            lends = filled[lender]
            if lends.any():
                least[borrower[lends]] = least[lender[lends]]
                borrower, begin, dice = (one[~lends] for one in (borrower, begin, dice))
        values = ((least * SPREAD) >> _32).astype(np.uint32).reshape(-1, bins)
        return [value if count else value[:0] for value, count in zip(values, counts, strict=True)]


def _bin_of(hashes: NDArray[np.uint64], bins: int) -> NDArray[np.int64]:
    return np.asarray((hashes >> _32) * np.uint64(bins) >> _32).view(np.int64)
