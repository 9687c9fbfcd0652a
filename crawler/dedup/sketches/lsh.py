"""Locality-sensitive hashing: bands of sketch values that similar texts are likely to share."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from . import hashing

if hashing.COMPILED:
    from . import _hashing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

KEY_BITS: Final = 32
TABLE_KEY_BITS: Final = 27  # bits of a key that the tables of an index use, see lua/layout.lua
TABLE_KEY_MASK: Final = (1 << TABLE_KEY_BITS) - 1
# More tables cost more memory than a low threshold is worth.
MOST_BANDS: Final = 32
# Points of the similarity axis at which the S-curve is summed to an area.
_STEPS: Final = 1000


class Bands(NamedTuple):
    """How many bands a sketch is cut into, and of how many values each."""

    bands: int
    rows: int


def collision_probability(
    similarity: ArrayLike, bands: int, rows: int, bits: int | Sequence[int] | None = None
) -> NDArray[np.float64]:
    """Probability that two texts share at least one band: the S-curve ``1 - (1 - p**r)**b``.

    Parameters
    ----------
    similarity
        Resemblance s of the two texts, any shape.
    bands, rows
        b bands of r values each.
    bits
        Only the low *bits* bits of each value are in the band, so that values agree with
        p = s + (1 - s) / 2**bits; otherwise p = s. If the values have different numbers of bits,
        one number for each of the r values: :func:`table_bits` returns those of an index.

    Returns
    -------
    numpy.ndarray
        float64 of the shape of *similarity*.

    Source: Leskovec, Rajaraman, Ullman, "Mining of massive datasets", section 3.4.2; for p, Li and
    König, "b-Bit minwise hashing", 2010.

    Examples
    --------
    >>> collision_probability([0.3, 0.8], bands=20, rows=5).round(4).tolist()
    [0.0475, 0.9996]
    """
    s = np.asarray(similarity, np.float64)
    if bits is None or isinstance(bits, int):
        p = s if bits is None else s + (1 - s) / 2.0**bits
        return np.asarray(1 - (1 - p**rows) ** bands)
    alike = np.prod([s + (1 - s) / 2.0**some for some in bits], axis=0)
    return np.asarray(1 - (1 - alike) ** bands)


def error_areas(
    threshold: float, bands: int, rows: int, bits: int | Sequence[int] | None = None
) -> tuple[float, float]:
    """Areas of false positives and false negatives of the S-curve at *threshold*.

    The first is the area under the curve left of the threshold, the second the area above it to
    its right: the probabilities of an error for a pair whose similarity is uniform on 0 … 1.
    """
    s = (np.arange(_STEPS) + 0.5) / _STEPS
    found = collision_probability(s, bands, rows, bits)
    below = s < threshold
    return float(found[below].sum() / _STEPS), float((1 - found[~below]).sum() / _STEPS)


@cache
def choose_bands(
    threshold: float,
    num_hashes: int,
    *,
    false_positives: float = 0.5,
    false_negatives: float = 0.5,
    tables: bool = False,
) -> Bands:
    """The bands and rows whose S-curve has the least weighted error at *threshold*.

    The curve is for the keys of :func:`band_keys`, which keep ``32 // rows`` bits of every value;
    with *tables*, it is for the tables of an index, see :func:`table_bits`.

    Parameters
    ----------
    threshold
        Similarity from which on pairs are wanted, between 0 and 1.
    num_hashes
        Values in a sketch; ``bands * rows`` is at most that.
    false_positives, false_negatives
        Weights of the two areas of :func:`error_areas`. Where candidates are verified, a false
        positive costs a comparison and a false negative a duplicate: weigh the latter more.

    Raises
    ------
    ValueError
        *threshold* is not between 0 and 1, *num_hashes* is not positive, or a weight is negative.

    Examples
    --------
    >>> choose_bands(0.8, 128)
    Bands(bands=8, rows=16)
    >>> choose_bands(0.8, 128, false_positives=0.1, false_negatives=0.9)
    Bands(bands=12, rows=10)
    """
    if not 0 < threshold < 1:
        raise ValueError(f"threshold must be between 0 and 1, not {threshold}")
    if num_hashes < 1:
        raise ValueError(f"num_hashes must be at least 1, not {num_hashes}")
    if min(false_positives, false_negatives) < 0:
        raise ValueError("the weights of errors must not be negative")

    def weigh_errors(choice: Bands) -> float:
        bits = table_bits(choice.rows) if tables else row_bits(choice.rows)
        positives, negatives = error_areas(threshold, *choice, bits)
        return false_positives * positives + false_negatives * negatives

    # More bands of as many rows would only move the curve; fewer may be better, so try them all.
    choices = (
        Bands(bands, rows)
        for rows in range(1, min(num_hashes, KEY_BITS) + 1)
        for bands in range(1, num_hashes // rows + 1)
    )
    return min(choices, key=weigh_errors)


@cache
def fewest_bands(threshold: float, num_hashes: int) -> Bands:
    """The fewest bands that find nearly every pair worth finding: each band costs memory.

    They find 95 % of the pairs at *threshold* and 99 % of those 0.05 above it. At half the
    threshold, as pages of one template can be, they make candidates of at most 10 % of the pairs.
    For low thresholds, no bands do all of that: then it is the choice of up to 32 bands that finds
    enough and makes the fewest such candidates. This is computed for whole keys; the tables of an
    index, which use 27 bits, find somewhat more of all pairs.

    Raises
    ------
    ValueError
        *threshold* is not above 0 and up to 1, or so low that *num_hashes* values are too few, or
        32 bands.

    Examples
    --------
    >>> fewest_bands(0.8, 256)
    Bands(bands=8, rows=5)
    """
    if not 0 < threshold <= 1:
        raise ValueError(f"threshold must be above 0 and up to 1, not {threshold}")

    def probability(similarity: float, choice: Bands) -> float:
        bits = row_bits(choice.rows)
        return float(collision_probability(similarity, choice.bands, choice.rows, bits))

    enough = []
    for rows in range(1, min(num_hashes, KEY_BITS) + 1):
        for bands in range(1, min(MOST_BANDS, num_hashes // rows) + 1):
            choice = Bands(bands, rows)
            above = min(1.0, threshold + 0.05)
            if probability(threshold, choice) >= 0.95 and probability(above, choice) >= 0.99:
                enough.append(choice)
                break
    if not enough:
        few = f"{num_hashes} values" if num_hashes < MOST_BANDS else f"{MOST_BANDS} bands"
        raise ValueError(f"{few} are too few for a threshold of {threshold}")
    selective = [choice for choice in enough if probability(threshold / 2, choice) <= 0.1]
    if selective:
        return min(selective, key=lambda choice: (choice.bands, choice.rows))
    return min(enough, key=lambda choice: probability(threshold / 2, choice))


def row_bits(rows: int) -> int:
    """Bits of each sketch value that go into a band's key of 32 bits.

    Raises
    ------
    ValueError
        *rows* is not from 1 to 32.
    """
    if not 1 <= rows <= KEY_BITS:
        raise ValueError(f"rows must be from 1 to {KEY_BITS}, not {rows}")
    return KEY_BITS // rows


def table_bits(rows: int) -> tuple[int, ...]:
    """Bits of each value of a band that count in an index, which uses the low 27 bits of a key.

    >>> table_bits(5), table_bits(8)
    ((3, 6, 6, 6, 6), (0, 3, 4, 4, 4, 4, 4, 4))
    """
    bits = row_bits(rows)
    return tuple(max(0, min(bits, TABLE_KEY_BITS - bits * after)) for after in range(rows)[::-1])


def band_keys(sketch: NDArray[np.unsignedinteger], bands: int, rows: int) -> NDArray[np.uint32]:
    """One 32-bit key a band: texts with an equal key at an equal place are candidates.

    Key i is made of the low ``32 // rows`` bits of ``sketch[i * rows : (i + 1) * rows]``, first
    value highest. Without the other bits, dissimilar texts share a key a little more often, see
    *bits* of :func:`collision_probability`; in return, keys need no second hash.

    Parameters
    ----------
    sketch
        Values with uniformly distributed low bits, shape (..., n) with n at least ``bands * rows``.
    bands, rows
        b bands of r values, 1 to 32, each.

    Returns
    -------
    numpy.ndarray
        uint32 of shape (..., bands).

    Raises
    ------
    ValueError
        The sketch is too short for the bands, or *rows* is out of range.

    Examples
    --------
    >>> keys = band_keys(np.array([1, 2, 3, 4], np.uint32), bands=2, rows=2)
    >>> [hex(key) for key in keys.tolist()]
    ['0x10002', '0x30004']
    """
    bits = row_bits(rows)
    if sketch.shape[-1] < bands * rows:
        raise ValueError(
            f"{bands} bands of {rows} rows need {bands * rows} values, the sketch has "
            f"{sketch.shape[-1]}"
        )
    if hashing.COMPILED and sketch.ndim == 1 and sketch.dtype == np.uint32:
        return _hashing.band_keys(np.ascontiguousarray(sketch, np.uint32), bands, rows)
    low = sketch[..., : bands * rows].astype(np.uint32) & np.uint32((1 << bits) - 1)
    shifts = np.arange((rows - 1) * bits, -1, -bits, dtype=np.uint32)
    placed = low.reshape(*low.shape[:-1], bands, rows) << shifts
    return np.asarray(np.bitwise_or.reduce(placed, axis=-1), np.uint32)
