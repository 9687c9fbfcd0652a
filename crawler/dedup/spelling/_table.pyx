# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""What :mod:`.table` does with numpy, compiled; both find the same, which a test compares."""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

import numpy as np

include "lookup.pxi"

cdef enum:
    LONGEST = 64
    AT_A_TIME = 64

ctypedef fused Value:
    float
    int32_t

ctypedef fused Found:
    double
    int64_t


def fill(
    Lookup table not None, const Value[::1] values, const uint64_t[:] keys, Found[:] found
):
    """Put the values of those `keys` that there are into their places in `found`."""
    cdef Py_ssize_t start = 0, end, at, place
    if keys.shape[0] != found.shape[0]:
        raise ValueError("a place for each key, and no other")
    with nogil:
        while start < keys.shape[0]:
            end = min(start + <Py_ssize_t>AT_A_TIME, keys.shape[0])
            for at in range(start, end):
                prefetch(table.span(keys[at]))
            for at in range(start, end):
                place = table.span(keys[at])[0] >> COUNT_BITS
                if place < table.keys.shape[0]:
                    prefetch(&table.keys[place])
            for at in range(start, end):
                place = table.place(keys[at])
                if place >= 0:
                    found[at] = <Found>values[place]
            start = end


def gain(Gains gains not None, const int64_t[:] first, const int64_t[:] second):
    cdef double[::1] found = np.empty(first.shape[0])
    cdef Py_ssize_t start = 0, end, at
    if first.shape[0] != second.shape[0]:
        raise ValueError("a second word for each first one")
    with nogil:
        while start < first.shape[0]:
            end = min(start + <Py_ssize_t>AT_A_TIME, first.shape[0])
            for at in range(start, end):
                prefetch(gains.pairs.span(gains.key(first[at], second[at])))
            for at in range(start, end):
                found[at] = gains.of(first[at], second[at])
            start = end
    return np.asarray(found)


def word_hashes(const uint32_t[:] letters, const int64_t[:] lengths):
    cdef uint64_t[::1] found = np.empty(lengths.shape[0], np.uint64)
    cdef uint64_t hashed, factor
    cdef int64_t length, at, start = 0
    cdef Py_ssize_t word
    with nogil:
        for word in range(lengths.shape[0]):
            length = min(lengths[word], letters.shape[0] - start)
            hashed, factor = 0, ODD
            for at in range(length):
                hashed += letters[start + at] * factor
                factor = factor * ODD if (at + 1) % LONGEST else ODD
            found[word] = hashed
            start += length
    return np.asarray(found)
