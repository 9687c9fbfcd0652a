"""Odd sketches: a set in a kilobit, made to tell whether two sets are nearly equal.

Each member flips one bit, so that the exclusive or of two sketches is the sketch of the symmetric
difference, and the number of its odd bits tells how large that difference is. At resemblances
near a duplicate threshold this is far more precise than b-bit minwise values of the same size.

Source: M. Mitzenmacher, R. Pagh, N. Pham: Efficient estimation for high similarities using odd
sketches, WWW 2014. There the members are minwise values; here they are the shingles themselves, or
a fixed sample of them where a page has more than the sketch can hold apart.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from . import hashing
from .simhash import estimate_simhash
from .similarity import Estimate, z_score

if hashing.COMPILED:
    from ._hashing import odd as members_and_bits

# The error is smallest where the difference at the threshold fills this part of the bits: fewer
# members are a smaller sample, more of them collide (section 3.2, minimised numerically).
_BEST_FILL = 0.44
_MAX_SAMPLED = 1 << 15  # keeps counts within two bytes
_MOST_MEMBERS = (1 << 16) - 1
LEVELS = range(64)  # of hashes of 64 bits
# Stands for a level where the bits are a simhash, of 0 members; as in similarity.lua.
SIMHASH = 254


class OddSketch(NamedTuple):
    """A sketch of the ``members`` members whose hash ends in ``level`` zero bits.

    At the level :data:`SIMHASH`, the bits are a simhash instead. It is stored and compared in the
    same way, only the estimate from the number of differing bits is another.
    """

    level: int
    members: int
    bits: bytes


def sampling_level(count: float, bits: int, threshold: float) -> int:
    """The number of halvings after which a set of `count` members fits a sketch of `bits` bits.

    >>> sampling_level(500, 1024, 0.8), sampling_level(50_000, 1024, 0.8)
    (0, 5)
    """
    best = min(_BEST_FILL * bits * (1 + threshold) / (2 * max(1 - threshold, 1e-9)), _MAX_SAMPLED)
    return max(0, math.ceil(math.log2(count / best))) if count > best else 0


def odd_sketch(hashes: npt.NDArray[np.uint64], level: int, bits: int) -> OddSketch:
    """Make the odd sketch of a set at one sampling level.

    Parameters
    ----------
    hashes
        uint64 of shape (n,): distinct and well mixed, in any order.
    level
        Only hashes that end in so many zero bits are sampled; 0 samples all.
    bits
        The size of the sketch, in bits.
    """
    if hashing.COMPILED:
        return OddSketch(level, *members_and_bits(np.ascontiguousarray(hashes), level, bits))
    sample = hashes[hashes & np.uint64((1 << level) - 1) == 0] if level else hashes
    # The upper half picks the bit, because the lower half picks the sample.
    places = (sample >> np.uint64(32)) * np.uint64(bits) >> np.uint64(32)
    odd = np.bincount(places.astype(np.intp), minlength=bits) & 1
    return OddSketch(level, len(sample), np.packbits(odd.astype(np.uint8)).tobytes())


def odd_sketches(
    hashes: npt.NDArray[np.uint64], bits: int, threshold: float, least: float | None = None
) -> tuple[OddSketch, ...]:
    """Sketches of a set at every level at which a similar set may be stored, its own level first.

    A set of resemblance `threshold` has between ``threshold`` and ``1 / threshold`` times as many
    members. With a low threshold that range is wide: levels at which this set has too many members
    for a sketch are left out. `least` is the lowest resemblance to be measured, if that is not the
    `threshold` for which the other sketches were stored.
    """
    least = least or threshold
    count = len(hashes)
    own = sampling_level(count, bits, threshold)
    lowest = sampling_level(count * least, bits, threshold)
    most = min(count / least, 2.0 ** len(LEVELS))  # there are no more hashes
    highest = sampling_level(most, bits, threshold)
    others = (level for level in range(lowest, highest + 1) if level != own)
    sketches = (odd_sketch(hashes, level, bits) for level in (own, *others))
    return tuple(one for one in sketches if one.members <= _MOST_MEMBERS)


def estimate_odd(
    odd: int, members_a: int, members_b: int, level: int, *, bits: int, confidence: float = 0.95
) -> Estimate:
    """Estimate the Jaccard resemblance of two sets whose sketches differ in `odd` of `bits` bits.

    The error has two parts: members of the difference that fall on one bit (variance of the odd
    bits: section 3.1 of the paper), and above level 0 the sample (binomial).

    Parameters
    ----------
    odd
        The Hamming distance of the sketches, in bits.
    members_a, members_b
        How many members of each set were sampled at `level`.
    level
        The level of both; for :data:`SIMHASH`, :func:`~.simhash.estimate_simhash` is called.
    bits
        The size of a sketch.
    confidence
        The probability that the interval holds the resemblance, between 0 and 1.

    >>> estimate_odd(0, 500, 500, 0, bits=1024).similarity
    1.0
    """
    if level == SIMHASH:
        return estimate_simhash(odd, bits, confidence=confidence)
    if members_a + members_b == level == 0:
        return Estimate.certain(1.0)  # two empty sets are equal
    both = members_a + members_b
    if 2 * odd >= bits or both == 0:
        return Estimate(0.0, 0.0, 1.0, 1.0)
    similarity, difference = _estimate_resemblance(odd, both, bits)
    decay = (1 - 2 / bits) ** difference
    deviation = deviation_of_odd(difference, bits)
    slope = 2 * both / (both + difference) ** 2
    sampling = 0.0
    if level:
        union = (both + difference) / 2
        # The number of differing members is not known better than to one (rule of succession).
        spread = max(similarity * (1 - similarity), 1 / union)
        sampling = math.sqrt(spread * (1 - 0.5**level) / union)
    # The ends of the interval of odd bits are transformed, because near half of all bits, the slope
    # alone describes the curve badly. Two members on one bit hide each other: half of that step is
    # the continuity correction.
    z = z_score(confidence)
    least, _ = _estimate_resemblance(odd + z * deviation, both, bits)
    most, _ = _estimate_resemblance(odd - z * deviation, both, bits)
    low = similarity - math.hypot(similarity - least, z * sampling) - slope
    high = similarity + math.hypot(most - similarity, z * sampling) + slope
    error = math.hypot(slope * deviation / decay, sampling)
    # The sizes bound the resemblance: exactly if all members are sampled.
    bound = min(members_a, members_b) / max(members_a, members_b)
    high = min(high, 1.0 if level else bound)
    return Estimate(min(similarity, bound), max(0.0, min(low, bound)), high, error)


def deviation_of_odd(members: float, bits: int) -> float:
    """The standard deviation of the number of odd bits in a sketch of `members` (section 3.1)."""
    mean = bits / 2 * (1 - 2 / bits) ** members
    square = bits / 4 + bits * (bits - 1) / 4 * (1 - 4 / bits) ** members
    return math.sqrt(max(0.0, square - mean**2))


def _estimate_resemblance(odd: float, both: int, bits: int) -> tuple[float, float]:
    """The resemblance of sets of `both` members together, and the size of their difference."""
    if 2 * odd >= bits:
        return 0.0, math.inf
    difference = math.log(1 - 2 * max(0.0, odd) / bits) / math.log(1 - 2 / bits)
    return max(0.0, (both - difference) / (both + difference)), difference


def measure_difference(
    known: OddSketch, other: Iterable[OddSketch], *, differ: bool = False
) -> tuple[int, int] | None:
    """Hamming distance at the common level, and the number of sampled shingles of *other* there.

    None if the two have no level in common. Two whole sets of one size that are known to `differ`
    differ in at least two shingles. If these fall on one bit, the sketches are equal, and count as
    differing in two bits. Of thousands of pages with six shingles, five of them the same, one in
    forty has such a partner.
    """
    for sketch in other:
        if sketch.level == known.level:
            odd = (int.from_bytes(known.bits) ^ int.from_bytes(sketch.bits)).bit_count()
            if differ and odd == 0 == known.level and sketch.members == known.members:
                odd = 2
            return odd, sketch.members
    return None


def compare_odd(
    known: OddSketch,
    other: Iterable[OddSketch],
    *,
    bits: int,
    differ: bool = False,
    confidence: float = 0.95,
) -> Estimate | None:
    """Estimate the resemblance of a stored set to another set with sketches of several levels.

    `differ` says that the sets are known to be unequal, see :func:`measure_difference`. None if
    they have no level in common: sets of such different sizes are not similar.
    """
    found = measure_difference(known, other, differ=differ)
    if found is None:
        return None
    return estimate_odd(*found, known.members, known.level, bits=bits, confidence=confidence)
