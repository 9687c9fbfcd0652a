# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""What :func:`.forest.votes` does, compiled: one block after another, to the same numbers.

The trees are trusted to be whole: weights are files of the package.
"""

from libc.stdint cimport int16_t, int64_t, uint16_t

import numpy as np


def votes(forest, const float[:, ::1] features, const int64_t[::1] rows):
    """Return the log-odds of some rows of `features`, float64."""
    cdef const uint16_t[:, ::1] columns = forest.columns
    cdef const float[:, ::1] limits = forest.limits, answers = forest.answers
    cdef const int16_t[:, :, ::1] children = forest.children
    cdef Py_ssize_t trees = columns.shape[0], tree, i
    cdef const float* row
    cdef double total
    cdef int16_t node
    cdef double[::1] found = np.empty(rows.shape[0])
    for i in range(rows.shape[0]):
        row = &features[rows[i], 0]
        total = 0
        for tree in range(trees):
            node = 0
            while node >= 0:
                node = children[tree, node, row[columns[tree, node]] > limits[tree, node]]
            total += answers[tree, ~node]
        found[i] = total
    return np.asarray(found)
