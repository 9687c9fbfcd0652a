# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""What :func:`.forest.votes` does, compiled: one tree after another, to the same numbers.

The trees are trusted to be whole: weights are files of the package.
"""

from libc.stdint cimport int64_t, uint16_t

import numpy as np


def votes(forest, const float[:, ::1] features, const int64_t[::1] rows):
    """Return the log-odds of some rows of `features`, float64."""
    cdef const uint16_t[:, ::1] columns = forest.columns
    cdef const float[:, ::1] limits = forest.limits, answers = forest.answers
    cdef Py_ssize_t questions = columns.shape[1], tree, i
    cdef int depth = questions.bit_length(), level, node
    cdef const uint16_t* column
    cdef const float* limit
    cdef const float* row
    cdef double[::1] found = np.zeros(rows.shape[0])
    for tree in range(columns.shape[0]):
        column, limit = &columns[tree, 0], &limits[tree, 0]
        for i in range(rows.shape[0]):
            row = &features[rows[i], 0]
            node = 0
            for level in range(depth):  # of a fixed number, so that rows overlap in the processor
                node = 2 * node + 1 + (row[column[node]] > limit[node])
            found[i] += answers[tree, node - questions]
    return np.asarray(found)
