"""Hashes of words, of characters and of runs of either, in numpy; and random numbers of a seed.

If it is compiled, `_hashing.pyx` does the same without numpy's cost for each call.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np
import xxhash
from numpy.typing import NDArray

try:
    from . import _hashing

    COMPILED = True
except ImportError:  # then a page's hashes take several times as long
    COMPILED = False

ShingleArray: TypeAlias = NDArray[np.uint64]

_SPACE: Final = 0x20
# Words are read eight bytes at a time; each step is one numpy operation over all words that long.
# Longer words are few, and cheaper to hash one by one.
_LONGEST_WORD: Final = 64

_BYTES_KEPT: Final = np.array([(1 << 8 * kept) - 1 for kept in range(9)], np.uint64)

# Odd multipliers: the first two from splitmix64 (Steele, Lea, Flood 2014), the others are the
# first 64 bits of the fractional parts of square roots of primes, made 3 modulo 4.
_MIX_1: Final = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2: Final = np.uint64(0x94D049BB133111EB)
_JOIN: Final = tuple(
    np.uint64(value | 3)
    for value in (
        0x6A09E667F3BCC908, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1,
        0x510E527FADE682D1, 0x9B05688C2B3E6C1F, 0x1F83D9ABFB41BD6B, 0x5BE0CD19137E2179,
        0xCBBB9D5DC1059ED8, 0x629A292A367CD507, 0x9159015A3070DD17, 0x152FECD8F70E5939,
    )
)  # fmt: skip
SPREAD: Final = np.uint64(0x9E3779B97F4A7C15)  # 2**64 divided by the golden ratio
_32: Final = np.uint64(32)
_29: Final = np.uint64(29)


def word_hashes(encoded: bytes, seed: int) -> tuple[ShingleArray, NDArray[np.intp]]:
    """Hash the words of a text.

    Parameters
    ----------
    encoded
        UTF-8 of the words, one or more spaces (0x20) between them.
    seed
        Another seed gives other hashes.

    Returns
    -------
    hashes
        uint64 of shape (words,), in order, with repetitions.
    starts
        intp of shape (words,): the byte of *encoded* where each word begins.
    """
    if COMPILED:
        return _hashing.word_hashes(encoded, seed, _make_salt(seed))
    padded = b" " + encoded + b" " * 8
    space = np.frombuffer(padded, np.uint8) == _SPACE
    edges = np.flatnonzero(space[1:] != space[:-1])
    starts, lengths = edges[::2] + 1, edges[1::2] - edges[::2]
    # The eight bytes that begin at each place of the text, as one number, without a copy.
    eight = np.ndarray((len(padded) - 7,), "<u8", padded, 0, (1,))
    found = _stir_bytes(
        (eight[starts] & _BYTES_KEPT.take(np.minimum(lengths, 8))) ^ _make_salt(seed)
    )
    longer = np.flatnonzero(lengths > 8)
    read = 8
    while longer.size and read < _LONGEST_WORD:
        left = lengths[longer] - read
        more = eight[starts[longer] + read] & _BYTES_KEPT.take(np.minimum(left, 8))
        found[longer] = _stir_bytes(found[longer] ^ more)
        longer = longer[left > 8]
        read += 8
    for place in longer.tolist():
        word = padded[starts[place] : starts[place] + lengths[place]]
        found[place] = xxhash.xxh3_64_intdigest(word, seed)
    return found, starts - 1


def character_hashes(text: str, seed: int) -> ShingleArray:
    """Hash the characters of *text*: uint64 of shape (characters,), in order."""
    points = np.frombuffer(text.encode("utf-32-le"), "<u4").astype(np.uint64)
    return _stir_bytes(points ^ _make_salt(seed))


@lru_cache
def _make_salt(seed: int) -> np.uint64:
    return np.uint64(xxhash.xxh3_64_intdigest(b"shingle", seed))


def hash_runs(tokens: ShingleArray, size: int) -> ShingleArray:
    """Hash every run of *size* consecutive tokens along the last axis.

    Returns uint64 of shape (…, tokens - size + 1). Runs of doubling length are joined as ``left *
    multiplier + right``, with another multiplier for each length. So 2 * log2(size) operations are
    enough, and texts that collide under one polynomial modulo 2**64 (Thue-Morse words) do not.
    No multiplier comes twice in a size of an index, or two places of a run would weigh alike.
    """
    if COMPILED and tokens.ndim == 1:
        return _hashing.runs(tokens, size)
    block, width = tokens, 1
    joined, covered = tokens[..., :0], 0
    level = 0
    while True:
        if size & width:
            if covered:
                length = tokens.shape[-1] - covered - width + 1
                joined = (
                    joined[..., :length] * _JOIN[level % len(_JOIN)]
                    + block[..., covered : covered + length]
                )
                level += 1
            else:
                joined = block
            covered += width
        if covered == size:
            return joined
        block = block[..., :-width] * _JOIN[level % len(_JOIN)] + block[..., width:]
        width *= 2
        level += 1


def _stir_bytes(values: ShingleArray) -> ShingleArray:
    """Mix bits in place, so that sums of word hashes collide no more than random numbers."""
    values *= _MIX_1
    values ^= values >> _32
    values *= _MIX_2
    return values


def mix_bits(values: ShingleArray) -> ShingleArray:
    """Spread every bit over all 64, in place (a finaliser in the manner of splitmix64)."""
    if COMPILED:
        _hashing.mix(values)
        return values
    values ^= values >> _32
    values *= _MIX_1
    values ^= values >> _29
    values *= _MIX_2
    values ^= values >> _32
    return values


def sorted_unique(values: ShingleArray) -> ShingleArray:
    """*values* in order, each once. Sorts in place; numpy.unique takes ten times as long."""
    values.sort()
    if COMPILED:
        return values[: _hashing.unite(values)]
    new = np.ones(values.size, np.bool_)
    np.not_equal(values[1:], values[:-1], out=new[1:])
    return values if new.all() else values[new]


def number_repeats(values: ShingleArray) -> ShingleArray:
    """Replace each repeated occurrence of a value by a distinct value: uint64, same shape."""
    order = np.argsort(values, kind="stable")
    ranked = values[order]
    new = np.ones(ranked.size, np.bool_)
    np.not_equal(ranked[1:], ranked[:-1], out=new[1:])
    place = np.arange(ranked.size)
    occurrence = (place - np.maximum.accumulate(np.where(new, place, 0))).astype(np.uint64)
    again = occurrence > 0
    found = values.copy()
    found[order[again]] = mix_bits(ranked[again] + occurrence[again] * _JOIN[0])
    return found


def draw_numbers(count: int, seed: int) -> NDArray[np.uint64]:
    """*count* random numbers of 64 bits, the same on every machine; uint64 of shape (count,).

    numpy's generators may change their streams between releases, and an index outlives those.
    """
    return np.array(
        [xxhash.xxh3_64_intdigest(place.to_bytes(8, "little"), seed) for place in range(count)],
        np.uint64,
    )


def draw_multipliers(count: int, seed: int) -> NDArray[np.uint64]:
    """*count* random odd numbers of 64 bits; uint64 of shape (count,)."""
    return draw_numbers(count, seed) | np.uint64(1)
