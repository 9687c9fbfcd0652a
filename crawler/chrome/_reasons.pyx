# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""What :mod:`.reasons` does, compiled: both say the same, which a test compares."""

from libc.stdint cimport int64_t

import numpy as np

from . import reasons as by_numpy

cdef int64_t[::1] SIGNS = np.array([sign for sign, _ in by_numpy.SAID], np.int64)
cdef list SAID = [reason for _, reason in by_numpy.SAID]
cdef str TEMPLATE = by_numpy.TEMPLATE
cdef tuple KEPT = by_numpy.KEPT, CUT = by_numpy.CUT


def reasons(flat, const Py_ssize_t[::1] numbers, kept, known):
    cdef const int64_t[::1] signs = flat.signs, around = flat.around, linked = flat.linked
    cdef const unsigned char[::1] is_kept = kept.view(np.uint8)
    cdef const unsigned char[::1] is_known = (known if known is not None else kept).view(np.uint8)
    cdef bint template = known is not None, by_links
    cdef list texts = flat.texts, found = []
    cdef Py_ssize_t k, i
    for k in range(numbers.shape[0]):
        i = numbers[k]
        by_links = 2 * linked[i] > len(<str>texts[i])
        if template and is_known[i]:
            found.append(TEMPLATE)
        elif is_kept[i]:
            found.append(KEPT[by_links])
        else:
            found.append(said(signs[around[i]]) or CUT[by_links])
    return found


cdef str said(int64_t signs):
    """The first of what is said around a block."""
    cdef Py_ssize_t i
    for i in range(SIGNS.shape[0]):
        if signs & SIGNS[i]:
            return SAID[i]
    return None
