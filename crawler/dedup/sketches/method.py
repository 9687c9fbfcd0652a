"""The interface of all sketching methods, so that one index serves them all."""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .lsh import band_keys, row_bits
from .similarity import Estimate, Interval, estimate

if TYPE_CHECKING:
    from .hashing import ShingleArray

SketchArray: TypeAlias = NDArray[Any]  # uint32 or uint64, as the method's dtype says


class Method(ABC):
    """A sketching method: makes a sketch of a set of shingles, and compares two sketches.

    Every method finds candidates in one way: a sketch has *keys*, 32-bit numbers, and two pages
    are candidates when they share at least :attr:`min_matches` of them, or all of them if either
    has fewer. Candidates are then compared by :meth:`estimate`.

    Attributes
    ----------
    name
        How settings call the method.
    dtype
        The dtype of the values of a sketch.
    tables
        Number of keys of every sketch, where key i is only ever compared with the other page's
        key i. ``None``: a sketch has any number of keys, all in one table (an inverted index).
    min_matches
        The least number of keys that candidates share.
    by_keys
        Whether an index compares candidates by the share of a page's keys that the other has, and
        not by their odd sketches.
    least_similarity
        The lowest similarity of copies in an index, whatever its threshold.
    shape
        The shape of sketches that :meth:`estimate` compares; None if it depends on the text, or if
        any two sketches of one shape can be compared.
    """

    name: ClassVar[str]
    dtype: ClassVar[np.dtype[np.uint32] | np.dtype[np.uint64]] = np.dtype(np.uint32)
    tables: int | None
    min_matches: int = 1
    by_keys: bool = False
    least_similarity: float = 0.0
    shape: tuple[int] | None = None

    @abstractmethod
    def __init__(self, num_hashes: int = 256, seed: int = 1) -> None: ...

    @abstractmethod
    def sketch(self, shingles: ShingleArray) -> SketchArray:
        """The sketch of a set of shingles, given in any order and with or without repetitions.

        A text without shingles has the empty sketch, of shape (0,).
        """

    def sketch_batch(self, shingles: ShingleArray, offsets: NDArray[np.intp]) -> list[SketchArray]:
        """Sketches of many sets; the i-th is ``shingles[offsets[i] : offsets[i + 1]]``."""
        return [self.sketch(shingles[start:end]) for start, end in pairwise(offsets.tolist())]

    @property
    def most_keys(self) -> int:
        """The largest number of keys of a sketch; methods with one table define their own."""
        assert self.tables is not None
        return self.tables

    @property
    def fewest_keys(self) -> int:
        """The least number of keys of a page that an index compares by more than its exact hash."""
        return 1

    @abstractmethod
    def keys(self, sketch: SketchArray) -> NDArray[np.uint32]:
        """The keys by which pages with similar sketches find each other; none if it is empty."""

    def estimate(
        self,
        a: SketchArray,
        b: SketchArray,
        *,
        confidence: float = 0.95,
        interval: Interval = "wilson",
    ) -> Estimate:
        """The resemblance of the texts of two sketches.

        For texts without shingles it is as in :func:`~..similarity.jaccard`: 1 if neither has any,
        0 if only one has none.

        Raises
        ------
        ValueError
            The shape or the sample of the sketches is not that of this method.
        """
        if a.size and b.size:
            if self.shape and not a.shape == b.shape == self.shape:
                raise ValueError(
                    f"sketches of shape {self.shape} compare, not {a.shape} and {b.shape}"
                )
            return self._estimate_nonempty(a, b, confidence, interval)
        return Estimate.certain(float(a.size == b.size))

    @abstractmethod
    def _estimate_nonempty(
        self, a: SketchArray, b: SketchArray, confidence: float, interval: Interval
    ) -> Estimate:
        """The resemblance of texts that both have shingles."""


class BandedMethod(Method):
    """A method whose values agree with probability J, found by bands of them.

    Parameters
    ----------
    num_hashes
        Values in a sketch, at least 1.
    seed
        Chooses the hash functions. Sketches compare only under the same seed.
    bands, rows
        b bands of r values make the keys. Default: 8 bands of 5, or as many as fit.

    Raises
    ------
    ValueError
        A number is out of range, or the bands need more values than there are.
    """

    def __init__(
        self, num_hashes: int = 256, seed: int = 1, *, bands: int | None = None, rows: int = 5
    ) -> None:
        if num_hashes < 1:
            raise ValueError(f"num_hashes must be at least 1, not {num_hashes}")
        rows = min(rows, num_hashes) if bands is None else rows
        bands = min(8, num_hashes // max(1, rows)) if bands is None else bands
        row_bits(rows)
        if bands < 1 or bands * rows > num_hashes:
            raise ValueError(f"{bands} bands of {rows} rows do not fit {num_hashes} values")
        self.num_hashes = num_hashes
        self.seed = seed
        self.bands = bands
        self.rows = rows
        self.tables = bands

    def keys(self, sketch: SketchArray) -> NDArray[np.uint32]:
        if not sketch.size:
            return np.empty(0, np.uint32)
        return band_keys(sketch, self.bands, self.rows)

    def _estimate_nonempty(
        self, a: SketchArray, b: SketchArray, confidence: float, interval: Interval
    ) -> Estimate:
        return estimate(a, b, confidence=confidence, interval=interval)
