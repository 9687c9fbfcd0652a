# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""What :mod:`.pairs` does, compiled: one block after another.

Both find the same, which a test compares; what it is and why stands there.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int64_t, uint32_t, uint64_t

import numpy as np
import xxhash

from . import pairs as by_numpy
from .pairs import Pairs

cdef enum:
    ALIKE = 1, SAME = 2, OFTEN = 4, SURE = 8, LISTED = 16
cdef object KEPT = by_numpy.KEPT, OF_ALL = by_numpy.OF_ALL, OF_SOME = by_numpy.OF_SOME, TOLD = by_numpy.TOLD
cdef object digest = xxhash.xxh3_64_intdigest
cdef uint64_t EDGE = by_numpy.EDGE
cdef Py_ssize_t ROWS = by_numpy.ROWS


def pair_hashes(list texts not None):
    cdef Py_ssize_t n = len(texts), i
    cdef uint64_t[::1] same = np.empty(n, np.uint64), alike = np.empty(n, np.uint64)
    cdef bytes text
    cdef bint has_digits, differ = False
    for i in range(n):
        text = small((<str>texts[i]).encode("utf-8", "replace"), &has_digits)
        alike[i] = same[i] = digest(text)
        if has_digits:
            alike[i] = digest(folded(text))
            differ = True
    pairs = of_neighbours(same)
    return Pairs(of_neighbours(alike) if differ else pairs, pairs)


cdef bytes small(bytes text, bint* has_digits):
    """With letters of ASCII in lower case; and put whether there are digits."""
    cdef const unsigned char* letters = text
    cdef Py_ssize_t size = len(text), at
    cdef bytes found = PyBytes_FromStringAndSize(NULL, size)
    cdef unsigned char* out = found
    cdef unsigned char seen = 0
    for at in range(size):
        out[at] = letters[at] + 32 * (b"A" <= letters[at] <= b"Z")
        seen |= b"0" <= letters[at] <= b"9"
    has_digits[0] = seen
    return found


cdef bytes folded(bytes text):
    """With one character, which no text has, for all digits."""
    cdef const unsigned char* letters = text
    cdef Py_ssize_t size = len(text), at
    cdef bytes found = PyBytes_FromStringAndSize(NULL, size)
    cdef unsigned char* out = found
    for at in range(size):
        out[at] = 1 if b"0" <= letters[at] <= b"9" else letters[at]
    return found


cdef list of_neighbours(const uint64_t[::1] hashes):
    cdef Py_ssize_t n = hashes.shape[0], i
    cdef uint64_t before = EDGE, after
    cdef list found = []
    for i in range(n + 1):
        after = hashes[i] if i < n else EDGE
        found.append(<uint32_t>(before * 3 + after >> 16))
        before = after
    return found


def lesson(pairs, alone):
    cdef const unsigned char[::1] kept = alone.view(np.uint8)
    cdef list alike = pairs.alike, same = pairs.same
    cdef Py_ssize_t i
    cdef dict found = {}, times = {}
    for i in range(len(same)):
        if not either(kept, i):
            found[alike[i]] = False
    for i in range(len(same)):
        pair = same[i]
        if either(kept, i):
            times[pair] = times.get(pair, 0) + 1
        elif same is not alike:
            found[pair] = False
    for pair, number in times.items():
        if number > ROWS:
            found.pop(pair, None)
        else:
            found[pair] = True
    return found


def hits(pairs, kept, template):
    cdef const unsigned char[::1] is_kept = kept.view(np.uint8)
    cdef list alike = pairs.alike, same = pairs.same
    cdef Py_ssize_t n = is_kept.shape[0], i
    cdef unsigned char hit, bits
    cdef set menus = None
    found = np.zeros(n, np.uint8)
    cdef unsigned char[::1] of = found
    for i in range(n + 1):
        pair = same[i]
        bits = SAME * (pair in template)
        if either(is_kept, i):
            bits |= OFTEN * (pair | KEPT in template)
            bits |= SURE * (pair | OF_ALL in template or pair ^ TOLD in template)
            bits |= LISTED * (pair | OF_SOME in template)
        if bits and 0 < i < n and is_kept[i - 1] and is_kept[i]:
            if menus is None:
                menus = cut_pairs(same, is_kept)
            if pair in menus:
                bits = 0
        hit = bits | ALIKE * (alike[i] in template)
        if i:
            of[i - 1] |= hit
        if i < n:
            of[i] |= hit
    return found


cdef set cut_pairs(list pairs, const unsigned char[::1] kept):
    """Those pairs of which the page alone keeps no block."""
    cdef Py_ssize_t i
    return {pairs[i] for i in range(len(pairs)) if not either(kept, i)}


cdef inline bint either(const unsigned char[::1] kept, Py_ssize_t pair) noexcept:
    """Whether a block of that pair is kept."""
    return (pair > 0 and kept[pair - 1]) or (pair < kept.shape[0] and kept[pair])
