# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The compiled form of :mod:`.selection`, without numpy's cost for each call.

A test compares the results of both, which differ in rounding only; :mod:`.selection` explains them.
"""

from libc.math cimport exp, log, pow, sqrt
from libc.stdint cimport int64_t, uint64_t

import numpy as np

from . import selection
from ..page.blocks import JUDGED

include "equal.pxi"

cdef double TINY = selection.TINY
cdef double HELD = selection.HELD, INSIDE = selection.INSIDE, OUTSIDE = selection.OUTSIDE
cdef double ALIKE = selection.ALIKE, SHORT = selection.SHORT, LONG = selection.LONG
cdef double LATER = selection.LATER
cdef Py_ssize_t FIRST_ONES = JUDGED
cdef double SURER = selection.SURER
cdef double[::1] WORLDS = np.exp(np.multiply(selection.WORLDS, selection.SURER))


def settle_probabilities(const float[::1] likely, flat, const double[::1] sizes):
    cdef Py_ssize_t n = likely.shape[0], i
    cdef const int64_t[::1] within = flat.within, around = flat.around, kinds = flat.kinds
    cdef const int64_t[::1] outer = flat.outer, labelled = selection.group_labels(flat)
    cdef int64_t many = len(flat.names), above
    cdef int64_t[::1] alike = np.empty(n, np.int64), kin = np.empty(n, np.int64)
    cdef double[::1] odds = np.empty(n), weights = np.empty(n), ones = np.ones(n), shared
    for i in range(n):
        above = outer[around[i]]
        alike[i] = (kinds[around[i]] * many + kinds[above]) * many + kinds[outer[above]]
        kin[i] = (within[i] * many + labelled[kinds[around[i]]]) * many + kinds[above]
        odds[i] = log(min(max(likely[i], TINY), 1 - TINY) / min(max(1 - likely[i], TINY), 1))
        weights[i] = sqrt(min(sizes[i] + SHORT, LONG)) * (1 if i < FIRST_ONES else LATER)
    shared = mean(odds, first_equal(alike), weights)
    for i in range(n):
        odds[i] += (ALIKE if i < FIRST_ONES else 1) * (shared[i] - odds[i])
    shared = mean(odds, first_equal(kin), ones)
    found = np.empty(n)
    cdef double[::1] settled = found
    for i in range(n):
        settled[i] = 1 / (1 + exp(-shared[i]))
    return found


cdef double[::1] mean(
    const double[::1] values, const int64_t[::1] groups, const double[::1] weights
):
    """The mean of each value's group."""
    cdef Py_ssize_t n = values.shape[0], i
    cdef double[::1] sums = np.zeros(n), counts = np.zeros(n), found = np.empty(n)
    for i in range(n):
        sums[groups[i]] += values[i] * weights[i]
        counts[groups[i]] += weights[i]
    for i in range(n):
        found[i] = sums[groups[i]] / counts[groups[i]]
    return found


def choose_blocks(likely, const double[::1] sizes):
    cdef const double[::1] chance = likely
    cdef const int64_t[::1] order = np.argsort(-likely, kind="stable")
    cdef Py_ssize_t n = chance.shape[0], world, i, longest = 0
    cdef bint split
    cdef double taken = 0, sure, best = -1, least = 0
    cdef double[::1] right = np.empty(n), wrong = np.empty(n)
    cdef double[::1] chances = np.empty(n), expected = np.zeros(n)
    for i in range(n):
        right[i], wrong[i] = pow(chance[order[i]], SURER), pow(1 - chance[order[i]], SURER)
        taken += sizes[order[i]] + 1
        if sizes[order[i]] > sizes[order[longest]]:
            longest = i
    split = 2 * (sizes[order[longest]] + 1) > taken
    for world in range(WORLDS.shape[0]):
        for i in range(n):
            chances[i] = right[i] * WORLDS[world] / (wrong[i] + right[i] * WORLDS[world])
        sure = chances[longest]
        if not split:
            expect(expected, 1, chances, sizes, order)
            continue
        chances[longest] = 1
        expect(expected, sure, chances, sizes, order)
        chances[longest] = 0
        expect(expected, 1 - sure, chances, sizes, order)
    for i in range(n):
        if i + 1 < n and chance[order[i + 1]] == chance[order[i]]:
            continue  # equally likely blocks stay together
        if expected[i] > best:
            best, least = expected[i], chance[order[i]]
    return likely >= least


cdef void expect(
    double[::1] expected,
    double weight,
    const double[::1] chances,
    const double[::1] sizes,
    const int64_t[::1] order,
) noexcept:
    """Add half of the expected F1, times `weight`, for each number of blocks to keep."""
    cdef Py_ssize_t n = order.shape[0], i
    cdef double wanted = 0, taken = 0, right = 0
    for i in range(n):
        wanted += (sizes[order[i]] + 1) * chances[i]
    for i in range(n):
        taken += sizes[order[i]] + 1
        right += (sizes[order[i]] + 1) * chances[i]
        expected[i] += weight * right / (taken + wanted)


def raise_inside(settled, kept, flat, const double[::1] sizes):
    cdef const unsigned char[::1] is_kept = kept.view(np.uint8)
    cdef const int64_t[::1] firsts = flat.firsts, ends = flat.ends
    cdef Py_ssize_t n = sizes.shape[0], i, end, first = 0, last = n
    cdef double[::1] before = np.empty(n + 1)
    before[0] = 0
    for i in range(n):
        before[i + 1] = before[i] + sizes[i] * is_kept[i]
    for i in range(firsts.shape[0]):
        end = ends[i] if ends[i] < ends[0] else n
        if end - firsts[i] < last - first:
            if before[end] - before[firsts[i]] >= HELD * before[n]:
                first, last = firsts[i], end
    cdef double outside = 1 - <double>(last - first) / n
    if not outside:
        return settled
    cdef double bonus = exp(INSIDE * min(outside / OUTSIDE, 1)), odds
    found = settled.copy()
    cdef double[::1] judged = found
    for i in range(first, last):
        odds = judged[i] / (1 - judged[i]) * bonus
        judged[i] = odds / (1 + odds)
    return found
