"""Hashes of all words of a text at once, and a table from hashes to values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from ..errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LONGEST: Final = 64
# Powers of an odd number (splitmix64's increment), for polynomial hashes. With multiples instead,
# there would be only ten thousand different hashes.
FACTORS: Final = np.array([pow(0x9E3779B97F4A7C15, k + 1, 1 << 64) for k in range(_LONGEST)], "u8")
INVERSES: Final = np.array([pow(int(factor), -1, 1 << 64) for factor in FACTORS], "u8")
# Fibonacci's hash, see Knuth 6.4.
ODD: Final = np.uint64(0x9E3779B97F4A7C15)
_BUCKETS_A_KEY: Final = 2
# A span packs the start of a bucket's keys and their number, which is hardly ever above eight.
COUNT_BITS: Final = 6
MOST_COUNTED: Final = (1 << COUNT_BITS) - 1


def word_hashes(letters: NDArray[np.uint32], lengths: NDArray[np.int64]) -> NDArray[np.uint64]:
    """A hash for each word, from *letters*: the code points of one word after another.

    Words of more than 64 letters have one, too, but not the hash of two words joined together.
    """
    if not len(lengths):
        return FACTORS[:0]  # reduceat needs a place to begin
    starts = np.cumsum(lengths) - lengths
    place = np.arange(len(letters)) - np.repeat(starts, lengths)
    place &= _LONGEST - 1
    hashed: NDArray[np.uint64] = np.add.reduceat(letters * FACTORS[place], starts)
    return hashed


def hashes_of(words: Sequence[str]) -> NDArray[np.uint64]:
    """The :func:`word_hashes` of *words*."""
    letters = np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), "<u4")
    return word_hashes(letters, np.fromiter(map(len, words), np.int64, len(words)))


def hashes_of_cuts(
    letters: NDArray[np.uint32],
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """The hashes of the beginnings and the ends of words, cut after each letter.

    *letters* are of shape (words, most letters), padded with 0, and so are both results. A cut
    after the word gives the whole word and an empty end.
    """
    places = np.arange(letters.shape[1]) & (_LONGEST - 1)
    first: NDArray[np.uint64] = np.cumsum(letters * FACTORS[places], axis=1, dtype=np.uint64)
    return first, (first[:, -1:] - first) * INVERSES[places]


def whole_hashes(
    first: NDArray[np.uint64], lengths: NDArray[np.int64], second: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    """The hashes of the concatenations of *first* words, of those *lengths*, and *second* words."""
    hashed: NDArray[np.uint64] = first + second * FACTORS[(lengths - 1) & (_LONGEST - 1)]
    return hashed


class Table:
    """A value for each of many different *keys*, 64-bit integers.

    Raises :class:`InputError` for keys that were chosen so that very many share a bucket.
    """

    def __init__(self, keys: NDArray[np.uint64], values: NDArray[np.float32 | np.int32]) -> None:
        bits = max(1, (_BUCKETS_A_KEY * len(keys)).bit_length())
        self.unused = np.uint64(64 - bits)
        bucket = self._bucket_of(keys)
        order = np.argsort(bucket, kind="stable")
        self.keys, self.values = keys[order], values[order]
        counts = np.bincount(bucket, minlength=1 << bits)
        if counts.max() > MOST_COUNTED:
            raise InputError("the dictionary holds words that were made to collide: use another")
        spans = np.cumsum(counts, dtype=np.uint32)
        spans -= counts.astype(np.uint32)
        spans <<= COUNT_BITS
        self.spans = spans | counts.astype(np.uint32)

    def _bucket_of(self, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        found: NDArray[np.int64] = ((keys * ODD) >> self.unused).view(np.int64)
        return found

    def fill_values(self, keys: NDArray[np.uint64], found: NDArray[np.float64 | np.int64]) -> None:
        """Put the values of the known ones of *keys* into their places in *found*."""
        if not self.keys.size:
            return
        spans = self.spans.take(self._bucket_of(keys))
        first = spans >> COUNT_BITS
        # For an empty bucket, this compares a key of another bucket, which cannot be equal.
        same = self.keys.take(first, mode="clip") == keys
        met = np.flatnonzero(same)
        found[met] = self.values.take(first.take(met))
        more = spans & MOST_COUNTED > 1
        more &= ~same
        met = np.flatnonzero(more)
        starts = first.take(met).astype(np.int64) + 1
        counts = (spans.take(met) & MOST_COUNTED).astype(np.int64) - 1
        place, met = expand_ranges(starts, counts), np.repeat(met, counts)
        same = self.keys.take(place) == keys.take(met)
        found[met[same]] = self.values.take(place[same])


def expand_ranges(first: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The consecutive numbers of ranges that begin at each *first*, one range after another.

    >>> expand_ranges(np.array([7, 2]), np.array([2, 3])).tolist()
    [7, 8, 2, 3, 4]
    """
    before = np.cumsum(counts) - counts
    return np.repeat(first - before, counts) + np.arange(counts.sum())


def mark_changes(values: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each of *values* differs from the one before.

    >>> mark_changes(np.array([7, 7, 2])).tolist()
    [True, False, True]
    """
    found = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=found[1:])
    return found
