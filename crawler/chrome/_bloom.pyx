# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""What :mod:`.bloom` does, compiled: without numpy's price for each call.

Both find the same, which a test compares.
"""

from libc.stdint cimport uint64_t

import numpy as np

from . import bloom

cdef uint64_t ONE = bloom.MULTIPLIERS[0, 0], OTHER = bloom.MULTIPLIERS[1, 0]


def look_up(unsigned char[:, ::1] filters, const uint64_t[::1] numbers, int shift):
    found = np.empty((2, numbers.shape[0]), np.bool_)
    cdef unsigned char[:, ::1] known = found.view(np.uint8)
    cdef uint64_t one, other
    cdef Py_ssize_t i, k
    for i in range(numbers.shape[0]):
        one, other = ONE * numbers[i] >> shift, OTHER * numbers[i] >> shift
        for k in range(2):
            known[k, i] = bit(filters[k], one) & bit(filters[k], other)
    for i in range(numbers.shape[0]):  # only now, for they are seen all at once
        one, other = ONE * numbers[i] >> shift, OTHER * numbers[i] >> shift
        filters[0, one >> 3] |= 1 << (one & 7)
        filters[0, other >> 3] |= 1 << (other & 7)
    return found


cdef inline unsigned char bit(const unsigned char[::1] filter, uint64_t place) noexcept:
    return filter[place >> 3] >> (place & 7) & 1
