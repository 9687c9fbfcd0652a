# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The compiled form of functions in :mod:`.hashing`, :mod:`.fast`, :mod:`.odd` and :mod:`.lsh`.

A test compares the results of both; those modules explain them.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memset

import numpy as np
import xxhash

cdef extern from *:
    int __builtin_ctzll(unsigned long long) noexcept nogil

cdef enum:
    SPACE = 0x20
    LONGEST_WORD = 64
    JOINS = 12
    ORDER_BITS = 56
    RANKS = 254  # of rounds, in the high byte of a key: 0 for rounds long past, 255 for no key
cdef uint64_t SPACES = 0x2020202020202020ULL
cdef uint64_t MIX_1 = 0xBF58476D1CE4E5B9ULL, MIX_2 = 0x94D049BB133111EBULL
cdef uint64_t EMPTY = 0xFFFFFFFFFFFFFFFFULL, ORDER = 0x00FFFFFFFFFFFFFFULL
cdef uint64_t SPREAD = 0x9E3779B97F4A7C15ULL
cdef uint64_t[JOINS] JOIN = [
    0x6A09E667F3BCC90BULL, 0xBB67AE8584CAA73BULL, 0x3C6EF372FE94F82BULL, 0xA54FF53A5F1D36F3ULL,
    0x510E527FADE682D3ULL, 0x9B05688C2B3E6C1FULL, 0x1F83D9ABFB41BD6BULL, 0x5BE0CD19137E217BULL,
    0xCBBB9D5DC1059EDBULL, 0x629A292A367CD507ULL, 0x9159015A3070DD17ULL, 0x152FECD8F70E593BULL,
]


def word_hashes(bytes encoded not None, seed, uint64_t salt):
    cdef const unsigned char* text = encoded
    cdef Py_ssize_t size = len(encoded), count = size > 0 and text[0] != SPACE, at, start
    cdef uint64_t[::1] hash_of
    cdef Py_ssize_t[::1] start_of
    cdef uint64_t found, part
    cdef int length
    for at in range(1, size):
        count += (text[at] != SPACE) & (text[at - 1] == SPACE)
    hashes, starts = np.empty(count, np.uint64), np.empty(count, np.intp)
    hash_of, start_of = hashes, starts
    at = count = 0
    while at < size:
        if text[at] == SPACE:
            at += 1
            continue
        start, found, length = at, salt, 8
        while length == 8:
            part = eight(text + at, size - at)
            length = before_space(part)
            if length:
                found = stir(found ^ part & ~<uint64_t>0 >> 64 - 8 * length)
            at += length
        if at - start > LONGEST_WORD:
            found = xxhash.xxh3_64_intdigest(encoded[start:at], seed)
        hash_of[count], start_of[count] = found, start
        count += 1
    return hashes, starts


cdef inline uint64_t eight(const unsigned char* text, Py_ssize_t left) noexcept nogil:
    """The next eight bytes as a little-endian number, with spaces beyond the end."""
    cdef uint64_t found = SPACES
    cdef Py_ssize_t at
    if left >= 8:  # compiled to one load
        return (
            <uint64_t>text[0] | <uint64_t>text[1] << 8 | <uint64_t>text[2] << 16
            | <uint64_t>text[3] << 24 | <uint64_t>text[4] << 32 | <uint64_t>text[5] << 40
            | <uint64_t>text[6] << 48 | <uint64_t>text[7] << 56
        )
    for at in range(left):
        found ^= <uint64_t>(text[at] ^ SPACE) << 8 * at
    return found


cdef inline int before_space(uint64_t eight) noexcept nogil:
    """The number of bytes before the first space among eight (Hacker's Delight, 6-1)."""
    eight ^= SPACES
    eight = eight - 0x0101010101010101ULL & ~eight & 0x8080808080808080ULL
    return __builtin_ctzll(eight) >> 3 if eight else 8


def runs(const uint64_t[::1] tokens, Py_ssize_t size):
    cdef Py_ssize_t count = tokens.shape[0], length = count - size + 1, width = 1, covered = 0, at
    cdef Py_ssize_t level = 0
    if not 1 <= size <= count:
        raise ValueError(f"{count} tokens have no runs of {size}")
    found = np.empty(length, np.uint64)
    cdef uint64_t[::1] block = tokens.copy(), joined = found
    cdef uint64_t factor
    while True:
        factor = JOIN[level % JOINS]
        if size & width:
            if covered:
                for at in range(length):
                    joined[at] = joined[at] * factor + block[at + covered]
                level += 1
                factor = JOIN[level % JOINS]
            else:
                joined[:] = block[:length]
            covered += width
        if covered == size:
            return found
        for at in range(count - 2 * width + 1):
            block[at] = block[at] * factor + block[at + width]
        width *= 2
        level += 1


def mix(uint64_t[::1] values):
    """Mix the bits of each value in place."""
    cdef Py_ssize_t at
    cdef uint64_t value
    for at in range(values.shape[0]):
        value = values[at]
        value = (value ^ value >> 32) * MIX_1
        value = (value ^ value >> 29) * MIX_2
        values[at] = value ^ value >> 32


def unite(uint64_t[::1] values):
    """Move the distinct ones of sorted values to the front; return their number."""
    cdef Py_ssize_t at, count = 0
    for at in range(values.shape[0]):
        values[count] = values[at]
        count += at + 1 == values.shape[0] or values[at] != values[at + 1]
    return count


cdef inline uint64_t stir(uint64_t value) noexcept nogil:
    value *= MIX_1
    return (value ^ value >> 32) * MIX_2


def fast(const uint64_t[::1] shingles, const uint64_t[::1] factors):
    """The fast similarity sketch of one text; it has half as many values as there are factors."""
    cdef Py_ssize_t count = shingles.shape[0], bins = factors.shape[0] // 2, at, place
    cdef Py_ssize_t drawn = 0, left = bins
    values = np.empty(bins if count else 0, np.uint32)
    if not count:
        return values
    cdef uint64_t[::1] least = np.full(bins, EMPTY, np.uint64)
    cdef uint32_t[::1] found = values
    cdef uint64_t rank, factor, key
    while left and drawn < bins:
        rank, factor = 1 + drawn % RANKS, factors[drawn]
        if rank == 1:
            for place in range(bins):
                if least[place] != EMPTY:
                    least[place] &= ORDER
        for at in range(count):
            key = shingles[at] * factor
            place = (key >> 32) * bins >> 32
            key = key & ORDER | rank << ORDER_BITS
            left -= least[place] == EMPTY
            least[place] = min(least[place], key)
        drawn += 1
    for place in range(bins):
        key = least[place]
        if key == EMPTY:  # left for the last rounds
            factor = factors[bins + place]
            for at in range(count):
                key = min(key, shingles[at] * factor & ORDER)
        found[place] = (key & ORDER) * SPREAD >> 32
    return values


def odd(const uint64_t[::1] hashes, int level, Py_ssize_t bits):
    """The number of hashes that end in `level` zero bits, and their odd sketch."""
    if not 0 <= level < 64 or bits < 1:
        raise ValueError(f"no odd sketch has {bits} bits at level {level}")
    cdef Py_ssize_t members = 0, size = (bits + 7) // 8, at, place
    cdef uint64_t others = (<uint64_t>1 << level) - 1
    cdef bytes found = PyBytes_FromStringAndSize(NULL, size)
    cdef unsigned char* flipped = found
    memset(flipped, 0, size)
    for at in range(hashes.shape[0]):
        if not hashes[at] & others:
            place = (hashes[at] >> 32) * bits >> 32
            flipped[place >> 3] ^= 0x80 >> (place & 7)
            members += 1
    return members, found


def band_keys(const uint32_t[::1] sketch, Py_ssize_t bands, Py_ssize_t rows):
    cdef int bits = 32 // rows
    cdef uint64_t key, mask = (<uint64_t>1 << bits) - 1
    cdef Py_ssize_t band, row
    keys = np.empty(bands, np.uint32)
    cdef uint32_t[::1] found = keys
    for band in range(bands):
        key = 0
        for row in range(band * rows, (band + 1) * rows):
            key = key << bits | sketch[row] & mask
        found[band] = key
    return keys
