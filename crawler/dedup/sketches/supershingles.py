"""Supershingles: shingles of the sketch, so that a few equal numbers mean near copies."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from .fast import FastSimilaritySketch
from .hashing import draw_multipliers
from .method import Method, SketchArray
from .similarity import Estimate, Interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .hashing import ShingleArray

_32: Final = np.uint64(32)
_ONE_DEVIATION: Final = math.erf(math.sqrt(0.5))  # share of a normal distribution within one


class Supershingles(Method):
    """Hashes of runs of minwise values; the look-up alone nearly decides.

    The 84 values of a sketch are cut into 6 runs of 14. A run is equal with probability J**14, so
    pages that share two of six are near copies: at J = 0.95 nine tenths of pairs do, at 0.8 one in
    forty (Broder, "Identifying and filtering near-duplicate documents", CPM 2000, section 3;
    Fetterly, Manasse, Najork, "On the evolution of clusters of near-duplicate web pages", 2003).
    Shorter runs find less similar pages.

    The share of equal runs to the power of 1/14 is a coarse estimate of J, with seven possible
    values. The runs are Bernoulli trials; the interval of their share is transformed by the same
    root, and the error follows from the delta method. If no run is equal, the error is the root of
    Wilson's upper end at one standard deviation.

    A sketch is uint64 of shape (num_hashes // rows,).

    Parameters
    ----------
    num_hashes
        The number of minwise values, which are not kept.
    seed
        Chooses the hash functions.
    rows
        Values in a supershingle.
    min_matches
        The least number of supershingles that candidates share.
    """

    name = "supershingles"
    dtype = np.dtype(np.uint64)

    def __init__(
        self, num_hashes: int = 84, seed: int = 1, *, rows: int = 14, min_matches: int = 2
    ) -> None:
        if not 1 <= rows <= num_hashes:
            raise ValueError(f"rows must be from 1 to num_hashes ({num_hashes}), not {rows}")
        if not 1 <= min_matches <= num_hashes // rows:
            raise ValueError(f"min_matches must be from 1 to {num_hashes // rows}")
        self.rows = rows
        self.tables: int = num_hashes // rows
        self.shape = (self.tables,)
        self.min_matches = min_matches
        self._values = FastSimilaritySketch(self.tables * rows, seed)
        self._factors = draw_multipliers(rows, seed + 1)

    def sketch(self, shingles: ShingleArray) -> SketchArray:
        values = self._values.sketch(shingles)
        runs = values.reshape(-1, self.rows).astype(np.uint64)
        sums = (runs * self._factors).sum(axis=1, dtype=np.uint64)
        return np.asarray(sums ^ (sums >> _32), np.uint64)

    def keys(self, sketch: SketchArray) -> NDArray[np.uint32]:
        return sketch.astype(np.uint32)

    def _estimate_nonempty(
        self, a: SketchArray, b: SketchArray, confidence: float, interval: Interval
    ) -> Estimate:
        shared = int(np.count_nonzero(a == b))
        runs = Estimate.of_proportion(shared, a.size, confidence, interval)
        root = 1 / self.rows
        if not shared:
            end = Estimate.of_proportion(0, a.size, _ONE_DEVIATION).high
            return replace(runs.through(lambda p: p**root, 0.0), error=end**root)
        return runs.through(lambda p: p**root, root * runs.similarity ** (root - 1))
