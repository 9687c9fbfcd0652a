# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""The compiled form of :mod:`.model`, one tree after another, with the same numbers.

Trees are not checked, because the weights are a file of the package.
"""

from libc.math cimport exp, fabs
from libc.stdint cimport int64_t, uint16_t

import numpy as np

from . import model as by_numpy


cdef enum:
    SIDE_BY_SIDE = 16  # rows at a time, whose comparisons overlap in the processor
cdef double DOUBT = by_numpy.DOUBT, MOST = by_numpy.MOST


def score_units(model, const float[:, ::1] units, features):
    """Return the probabilities of main text, float32."""
    cdef const float[::1] bias = model.hidden_bias, output = model.output
    cdef double last = model.output_bias
    cdef Py_ssize_t n = units.shape[0], row, unit, doubtful = 0
    cdef double[::1] logits = np.empty(n)
    cdef int64_t[::1] rows = np.empty(n, np.int64)
    cdef float active
    for row in range(n):
        logits[row] = last
        for unit in range(units.shape[1]):
            active = units[row, unit] + bias[unit]
            if active > 0:
                logits[row] += active * output[unit]
        if fabs(logits[row]) < DOUBT:
            rows[doubtful] = row
            doubtful += 1
    cdef const double[::1] asked = sum_votes(model.forest, features, rows[:doubtful])
    for row in range(doubtful):
        logits[rows[row]] = (logits[rows[row]] + asked[row]) / 2
    found = np.empty(n, np.float32)
    cdef float[::1] likely = found
    for row in range(n):
        likely[row] = 1 / (1 + exp(-min(max(logits[row], -MOST), MOST)))
    return found


def sum_votes(forest, const float[:, ::1] features, const int64_t[::1] rows):
    """Return the log-odds of some rows of `features`, float64."""
    cdef const uint16_t[:, ::1] columns = forest.columns
    cdef const float[:, ::1] limits = forest.limits, answers = forest.answers
    cdef Py_ssize_t questions = columns.shape[1], n = rows.shape[0], tree, at, i
    cdef int depth = questions.bit_length(), level
    cdef const uint16_t* column
    cdef const float* limit
    cdef (const float*)[SIDE_BY_SIDE] row_of
    cdef int[SIDE_BY_SIDE] node
    cdef double[::1] found = np.zeros(n)
    for at in range(0, n, SIDE_BY_SIDE):
        for i in range(SIDE_BY_SIDE):  # places beyond the end repeat the last row
            row_of[i] = &features[rows[min(at + i, n - 1)], 0]
        for tree in range(columns.shape[0]):
            column, limit = &columns[tree, 0], &limits[tree, 0]
            for i in range(SIDE_BY_SIDE):
                node[i] = 0
            for level in range(depth):
                for i in range(SIDE_BY_SIDE):
                    node[i] = 2 * node[i] + 1 + (row_of[i][column[node[i]]] > limit[node[i]])
            for i in range(min(SIDE_BY_SIDE, n - at)):
                found[at + i] += answers[tree, node[i] - questions]
    return np.asarray(found)
