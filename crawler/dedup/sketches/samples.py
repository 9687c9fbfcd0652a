"""Samples of the shingles themselves: the N smallest, or those that are 0 modulo p."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from .hashing import draw_multipliers, sorted_unique
from .lsh import TABLE_KEY_BITS, TABLE_KEY_MASK
from .method import Method, SketchArray
from .similarity import Estimate, Interval, jaccard

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .hashing import ShingleArray

_32: Final = np.uint64(32)
_KEY: Final = np.uint64(TABLE_KEY_MASK)
FEWEST: Final = 8  # values of a sample that a comparison needs, as in similarity.lua


class SmallestN(Method):
    """The N smallest shingle hashes; an inverted index of the smallest ones finds candidates.

    The N smallest values of the union of two sketches are a random sample of the union of the
    texts. The share of them that is in both sketches estimates J with a standard error of at most
    sqrt(J(1-J)/N) (Broder 1997, theorem 1; Thorup, "Bottom-k and priority sampling, set similarity
    and subset sums with minimal independence", STOC 2013). Texts of fewer than N shingles are
    compared exactly.

    A sketch is uint64 of shape (N or fewer,), sorted.

    Parameters
    ----------
    num_hashes
        N.
    seed
        Chooses which shingles are small.
    num_keys
        The number of smallest values that are keys.
    min_matches
        The least number of keys that candidates share.
    """

    name = "smallest"
    dtype = np.dtype(np.uint64)
    tables = None

    def __init__(
        self, num_hashes: int = 256, seed: int = 1, *, num_keys: int = 16, min_matches: int = 4
    ) -> None:
        if num_hashes < 1:
            raise ValueError(f"num_hashes must be at least 1, not {num_hashes}")
        if not 1 <= min_matches <= num_keys:
            raise ValueError(f"min_matches must be from 1 to num_keys, not {min_matches}")
        self.num_hashes = num_hashes
        self.num_keys = num_keys
        self.min_matches = min_matches
        self._factor = draw_multipliers(1, seed)[0]

    def sketch(self, shingles: ShingleArray) -> SketchArray:
        return sorted_unique(shingles * self._factor)[: self.num_hashes].copy()

    @property
    def most_keys(self) -> int:
        return min(self.num_keys, self.num_hashes)

    def keys(self, sketch: SketchArray) -> NDArray[np.uint32]:
        return sketch[: self.num_keys].astype(np.uint32)

    def _estimate_nonempty(
        self, a: SketchArray, b: SketchArray, confidence: float, interval: Interval
    ) -> Estimate:
        if max(a.size, b.size) < self.num_hashes:
            return Estimate.certain(jaccard(a, b))
        sample = sorted_unique(np.concatenate((a, b)))[: self.num_hashes]
        in_both = np.isin(sample, a, assume_unique=True) & np.isin(sample, b, assume_unique=True)
        return Estimate.of_proportion(
            int(np.count_nonzero(in_both)), sample.size, confidence, interval
        )


class ModuloSample(Method):
    """The shingles whose hash is 0 modulo p; an inverted index of them finds candidates.

    The score of a page for a text is matched / available: the share of the text's sampled shingles
    that the page has. It estimates the *containment* of the text in the page, so that a post is
    found in the page that quotes it; ``score="resemblance"`` divides by the union instead. Each
    sampled shingle is a Bernoulli trial (Broder 1997, section 3, MOD).

    The sample grows with the text, as containment needs. Beyond *num_hashes* values, p doubles
    until they fit; two sketches are compared at the larger p. Each doubling keeps the half of the
    values with the smaller keys. So the keys in an index alone show which of them another page
    could have.

    A sketch is uint64 of shape (1 + values,): p, then the sampled hashes, sorted.

    Parameters
    ----------
    num_hashes
        The most values that are kept.
    seed
        Chooses which shingles are sampled.
    modulus
        p. For short texts with few shingles, 1 keeps them all. Otherwise, with containment as the
        score, an index only finds exact copies of a text with fewer than eight values.
    min_matches
        The least number of keys that candidates share.
    score
        ``"containment"`` or ``"resemblance"``.
    """

    name = "modulo"
    dtype = np.dtype(np.uint64)
    tables = None

    def __init__(
        self,
        num_hashes: int = 256,
        seed: int = 1,
        *,
        modulus: int = 3,
        min_matches: int = 1,
        score: Literal["containment", "resemblance"] = "containment",
    ) -> None:
        if num_hashes < 1:
            raise ValueError(f"num_hashes must be at least 1, not {num_hashes}")
        if not 1 <= modulus < 1 << 32:
            raise ValueError(f"modulus must be from 1 to 2**32 - 1, not {modulus}")
        if min_matches < 1:
            raise ValueError(f"min_matches must be at least 1, not {min_matches}")
        if score not in ("containment", "resemblance"):
            raise ValueError(f"score must be 'containment' or 'resemblance', not {score!r}")
        self.num_hashes = num_hashes
        self.modulus = modulus
        self.min_matches = min_matches
        self.by_keys = score == "containment"
        self._factor = draw_multipliers(1, seed)[0]

    def sketch(self, shingles: ShingleArray) -> SketchArray:
        hashes = shingles * self._factor
        # The upper half decides, because keys are from the lower half and must stay random.
        kept = sorted_unique(hashes[(hashes >> _32) % np.uint64(self.modulus) == 0])
        doublings = 0
        while kept.size > self.num_hashes:
            doublings += 1
            kept = _halve_sample(kept, doublings)
        if not shingles.size:
            return np.empty(0, np.uint64)
        return np.concatenate((np.array([self.modulus << doublings], np.uint64), kept))

    @property
    def most_keys(self) -> int:
        return self.num_hashes

    @property
    def fewest_keys(self) -> int:
        # One or two sampled shingles, such as a phrase of a site, say nothing of a short text.
        return FEWEST if self.by_keys and self.modulus > 1 else 1

    def keys(self, sketch: SketchArray) -> NDArray[np.uint32]:
        return (sketch[1:] & _KEY).astype(np.uint32)

    def _estimate_nonempty(
        self, a: SketchArray, b: SketchArray, confidence: float, interval: Interval
    ) -> Estimate:
        """The score of the page with sketch *b* for the text with sketch *a*."""
        for modulus in (int(a[0]), int(b[0])):
            if modulus not in (self.modulus << times for times in range(TABLE_KEY_BITS + 1)):
                raise ValueError(f"a sample's modulus {modulus} is not {self.modulus} times 2**n")
        doublings = (max(int(a[0]), int(b[0])) // self.modulus).bit_length() - 1
        ours, theirs = _halve_sample(a[1:], doublings), _halve_sample(b[1:], doublings)
        matched = int(np.count_nonzero(np.isin(ours, theirs, assume_unique=True)))
        available = ours.size
        if not self.by_keys:
            available += theirs.size - matched
        return Estimate.of_proportion(matched, available, confidence, interval)


def _halve_sample(hashes: NDArray[np.uint64], times: int) -> NDArray[np.uint64]:
    return np.asarray(hashes[(hashes & _KEY) >> np.uint64(TABLE_KEY_BITS - times) == 0], np.uint64)
