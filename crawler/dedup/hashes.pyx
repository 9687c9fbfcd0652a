# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""What :mod:`.hashing` does with numpy, compiled; both find the same, which a test compares."""

from libc.stdint cimport uint64_t

import numpy as np
import xxhash

cdef extern from *:
    int __builtin_ctzll(unsigned long long) noexcept nogil

cdef enum:
    SPACE = 0x20
    LONGEST_WORD = 64
    JOINS = 8
cdef uint64_t SPACES = 0x2020202020202020ULL
cdef uint64_t MIX_1 = 0xBF58476D1CE4E5B9ULL, MIX_2 = 0x94D049BB133111EBULL
cdef uint64_t[JOINS] JOIN = [
    0x6A09E667F3BCC90BULL, 0xBB67AE8584CAA73BULL, 0x3C6EF372FE94F82BULL, 0xA54FF53A5F1D36F3ULL,
    0x510E527FADE682D3ULL, 0x9B05688C2B3E6C1FULL, 0x1F83D9ABFB41BD6BULL, 0x5BE0CD19137E217BULL,
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
    """The next eight bytes as a number, the first its lowest, and spaces beyond the end."""
    cdef uint64_t found = SPACES
    cdef Py_ssize_t at
    if left >= 8:  # compilers make one load of it
        return (
            <uint64_t>text[0] | <uint64_t>text[1] << 8 | <uint64_t>text[2] << 16
            | <uint64_t>text[3] << 24 | <uint64_t>text[4] << 32 | <uint64_t>text[5] << 40
            | <uint64_t>text[6] << 48 | <uint64_t>text[7] << 56
        )
    for at in range(left):
        found ^= <uint64_t>(text[at] ^ SPACE) << 8 * at
    return found


cdef inline int before_space(uint64_t eight) noexcept nogil:
    """How many of eight bytes are before the first space (Hacker's Delight, 6-1)."""
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
    """Put what is mixed of each value into its place."""
    cdef Py_ssize_t at
    cdef uint64_t value
    for at in range(values.shape[0]):
        value = values[at]
        value = (value ^ value >> 32) * MIX_1
        value = (value ^ value >> 29) * MIX_2
        values[at] = value ^ value >> 32


def unite(uint64_t[::1] values):
    """Move the different ones of sorted values to the front; return how many they are."""
    cdef Py_ssize_t at, count = 0
    for at in range(values.shape[0]):
        values[count] = values[at]
        count += at + 1 == values.shape[0] or values[at] != values[at + 1]
    return count


cdef inline uint64_t stir(uint64_t value) noexcept nogil:
    value *= MIX_1
    return (value ^ value >> 32) * MIX_2
