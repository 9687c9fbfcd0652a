# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""What :mod:`.choice` does to each page, compiled: without numpy's price for each call.

Both find the same but for rounding, which a test compares; what it is and why stands there.
"""

from libc.math cimport exp, log
from libc.stdint cimport int64_t, uint64_t

import numpy as np

from . import choice

include "equal.pxi"

cdef double TINY = choice.TINY, MOSTLY = choice.MOSTLY, BONUS = exp(choice.BONUS)
cdef double[::1] WORLDS = np.exp(choice.WORLDS)


def settle(const float[::1] likely, flat):
    cdef Py_ssize_t n = likely.shape[0], i
    cdef const int64_t[::1] within = flat.within, around = flat.around, kinds = flat.kinds
    cdef int64_t kinds_number = len(flat.names)
    cdef int64_t[::1] group = np.empty(n, np.int64)
    cdef double[::1] odds = np.zeros(n), members = np.zeros(n)
    found = np.empty(n)
    cdef double[::1] settled = found
    for i in range(n):
        group[i] = within[i] * kinds_number + kinds[around[i]]
    group = first_equal(group)
    for i in range(n):
        odds[group[i]] += log(min(max(likely[i], TINY), 1 - TINY) / min(max(1 - likely[i], TINY), 1))
        members[group[i]] += 1
    for i in range(n):
        settled[i] = 1 / (1 + exp(-odds[group[i]] / members[group[i]]))
    return found


def choose(likely, const double[::1] sizes):
    cdef const double[::1] chance = likely
    cdef const int64_t[::1] order = np.argsort(-likely, kind="stable")
    cdef Py_ssize_t n = chance.shape[0], world, i
    cdef double taken, right, wanted, best = -1, least = 0
    cdef double[::1] gained = np.empty(n), expected = np.zeros(n)
    for world in range(WORLDS.shape[0]):
        wanted = taken = right = 0
        for i in range(n):
            gained[i] = (sizes[order[i]] + 1) * moved(chance[order[i]], WORLDS[world])
            wanted += gained[i]
        for i in range(n):
            taken += sizes[order[i]] + 1
            right += gained[i]
            expected[i] += right / (taken + wanted)
    for i in range(n):
        if expected[i] > best:
            best, least = expected[i], chance[order[i]]
    return likely >= least


cdef inline double moved(double chance, double odds) noexcept:
    """A likelihood whose odds are so many times as high."""
    return chance * odds / (1 - chance + chance * odds)


def between(const double[::1] settled, kept, known, const double[::1] sizes):
    cdef const unsigned char[::1] is_kept = kept.view(np.uint8), is_known = known.view(np.uint8)
    cdef Py_ssize_t n = settled.shape[0], start = 0, i, k
    cdef double new = 0, new_kept = 0, odds
    found = np.empty(n)
    cdef double[::1] judged = found
    for i in range(n + 1):
        if i < n and not is_known[i]:
            new += sizes[i]
            new_kept += sizes[i] * is_kept[i]
            continue
        for k in range(start, i):  # what stands since the last block of the template
            odds = settled[k] / (1 - settled[k])
            if new_kept / max(new, 1.0) >= MOSTLY:
                odds *= BONUS
            judged[k] = odds / (1 + odds)
        if i < n:
            judged[i] = 0
        start, new, new_kept = i + 1, 0, 0
    return found
