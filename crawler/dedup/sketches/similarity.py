"""The similarity of two sets: exact, or estimated from their sketches with a known error."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from .hashing import ShingleArray

Interval: TypeAlias = Literal["wilson", "normal"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A similarity estimated from two sketches.

    Attributes
    ----------
    similarity
        The estimate, 0 to 1.
    low, high
        Ends of the confidence interval, 0 to 1.
    error
        Standard error of the estimate; nan if unknown.
    """

    similarity: float
    low: float
    high: float
    error: float = math.nan

    @classmethod
    def of_proportion(
        cls, hits: float, trials: int, confidence: float = 0.95, interval: Interval = "wilson"
    ) -> Estimate:
        """Estimate a probability from *hits* in *trials*.

        ``"normal"`` is p ± z·sqrt(p(1-p)/n), the interval of most textbooks and lectures, which
        has no width at 0 and 1. ``"wilson"`` (Wilson, "Probable inference, the law of succession,
        and statistical inference", 1927) has one there. It holds p as often as the *confidence*
        says on average over p, but within 1/n of 0 and 1, at 95 %, at worst in 83 % of cases. The
        standard error is sqrt(p(1-p)/n) with both.

        Raises
        ------
        ValueError
            *confidence* is not between 0 and 1.

        Examples
        --------
        >>> found = Estimate.of_proportion(160, 200)
        >>> round(found.low, 3), round(found.high, 3), round(found.error, 3)
        (0.739, 0.85, 0.028)
        >>> Estimate.of_proportion(200, 200, interval="normal").low
        1.0
        >>> round(Estimate.of_proportion(200, 200).low, 3)
        0.981
        """
        z = z_score(confidence)
        if not trials:
            return cls(0.0, 0.0, 1.0, 1.0)
        p = hits / trials
        error = math.sqrt(p * (1 - p) / trials)
        if interval == "normal":
            return cls(p, max(0.0, p - z * error), min(1.0, p + z * error), error)
        shrink = 1 + z * z / trials
        centre = (p + z * z / (2 * trials)) / shrink
        half = z / shrink * math.sqrt(p * (1 - p) / trials + z * z / (4 * trials * trials))
        # At 0 and 1, rounding must not move an end past the estimate.
        return cls(p, max(0.0, min(p, centre - half)), min(1.0, max(p, centre + half)), error)

    @classmethod
    def certain(cls, similarity: float) -> Estimate:
        """An exact estimate: its interval has no width."""
        return cls(similarity, similarity, similarity, 0.0)

    def through(self, function: Callable[[float], float], slope: float) -> Estimate:
        """The estimate of a monotonic *function* of the estimated value, limited to 0 … 1.

        The function is applied to the ends of the interval. The error follows from the delta method
        (Casella, Berger, "Statistical inference", 2002, section 5.5.4), with the function's *slope*
        at the estimate.
        """
        ends = sorted(min(1.0, max(0.0, function(end))) for end in (self.low, self.high))
        value = min(1.0, max(0.0, function(self.similarity)))
        return Estimate(value, ends[0], ends[1], abs(slope) * self.error)


def z_score(confidence: float) -> float:
    """The number of standard deviations around a normal mean that hold *confidence* of it.

    >>> round(z_score(0.95), 2)
    1.96
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, not {confidence}")
    return NormalDist().inv_cdf((1 + confidence) / 2)


def jaccard(a: ShingleArray, b: ShingleArray) -> float:
    """Resemblance of two sets: the size of the intersection divided by that of the union.

    Parameters
    ----------
    a, b
        uint64 of shapes (m,) and (n,), sorted and without repetitions, as :func:`shingle_hashes`
        returns them. This is not checked.

    Returns
    -------
    float
        0 to 1. Two empty sets are equal: 1.

    Source: Broder, "On the resemblance and containment of documents", 1997, section 2.

    Examples
    --------
    >>> jaccard(np.array([1, 2, 3, 4], np.uint64), np.array([2, 4, 5, 6, 7, 8], np.uint64))
    0.25
    """
    shared = _count_shared(a, b)
    union = a.size + b.size - shared
    return shared / union if union else 1.0


def containment(a: ShingleArray, b: ShingleArray) -> float:
    """The share of *a* that is in *b*: the size of the intersection divided by the size of *a*.

    Parameters
    ----------
    a, b
        As in :func:`jaccard`: uint64 of shapes (m,) and (n,), sorted and without repetitions.

    Returns
    -------
    float
        0 to 1. The empty set is contained in every set: 1.

    Source: Broder, "On the resemblance and containment of documents", 1997, section 2.

    Examples
    --------
    >>> containment(np.array([1, 2], np.uint64), np.array([2, 3, 4], np.uint64))
    0.5
    """
    return _count_shared(a, b) / a.size if a.size else 1.0


def _count_shared(a: ShingleArray, b: ShingleArray) -> int:
    both = np.concatenate((a, b))
    both.sort()
    return int(np.count_nonzero(both[1:] == both[:-1]))


def estimate(
    a: NDArray[np.unsignedinteger],
    b: NDArray[np.unsignedinteger],
    *,
    confidence: float = 0.95,
    interval: Interval = "wilson",
    bits: int | None = None,
) -> Estimate:
    """Estimate the resemblance of two texts from sketches whose values agree with probability J.

    This holds for the fast similarity sketch, minwise permutations and one-permutation hashing:
    the share of equal values is an unbiased estimate of J with standard error at most
    sqrt(J(1-J)/n). Other sketches are compared by ``Sketcher.estimate``.

    Parameters
    ----------
    a, b
        Sketches of one sketcher, uint32 or uint64, of equal shape (n,).
    confidence
        Probability that the interval holds the true resemblance.
    interval
        ``"wilson"`` or ``"normal"``, see :meth:`Estimate.of_proportion`.
    bits
        Compare the low *bits* bits of the values only and correct for the chance 2**-bits of
        agreeing by accident (Li and König, "b-Bit minwise hashing", 2010, theorem 1).

    Returns
    -------
    Estimate
        The resemblance, its interval and its standard error, all from 0 to 1. Two sketches of
        shape (0,), as texts without words have, are equal: 1, as :func:`jaccard` says.

    Raises
    ------
    ValueError
        The sketches differ in shape, *confidence* is not between 0 and 1, or the values have
        fewer *bits*.

    Examples
    --------
    >>> a, b = np.arange(200, dtype=np.uint32), np.arange(200, dtype=np.uint32)
    >>> b[:40] += 1000
    >>> found = estimate(a, b, interval="normal")
    >>> found.similarity, round(found.low, 3), round(found.high, 3)
    (0.8, 0.745, 0.855)
    """
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(f"sketches of different shapes do not compare: {a.shape} and {b.shape}")
    if bits is not None and not 1 <= bits <= 8 * a.itemsize:
        raise ValueError(f"bits must be from 1 to {8 * a.itemsize}, not {bits}")
    if not a.size:
        return Estimate.certain(1.0)
    if bits is None:
        return Estimate.of_proportion(int(np.count_nonzero(a == b)), a.size, confidence, interval)
    different = (a ^ b) & a.dtype.type((1 << bits) - 1)
    agreed = a.size - int(np.count_nonzero(different))
    chance = 2.0**-bits
    return Estimate.of_proportion(agreed, a.size, confidence, interval).through(
        lambda p: (p - chance) / (1 - chance), 1 / (1 - chance)
    )
