# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The compiled form of :func:`.features.describe_blocks`, one row after another.

A test compares the numbers of both; :mod:`.features` explains them.
"""

from cpython.unicode cimport Py_UNICODE_TOLOWER
from libc.math cimport log, log1p
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

import numpy as np

from . import containers as by_numpy
from . import (features, phrases)
from ..page.blocks import TAGS
from ..page.signs import SIGNS

include "equal.pxi"
include "containers.pxi"
include "phrases.pxi"

cdef enum:
    OWN = 9, PLACE = 10, SHARED = 4, NAMED = 5  # columns
    FIRST_HEADING = 2, LAST_HEADING = 4
    WINDOW_COUNT = 7, NEIGHBOUR_COUNT = 4, WHOLE = 13
cdef int TAG_COUNT = len(TAGS), SIGN_COUNT = len(SIGNS)
cdef int PAGE = WHOLE + 2 * TAG_COUNT
cdef int COLUMNS = (
    OWN + PLACE + TAG_COUNT + SIGN_COUNT + WINDOW_COUNT * RATIOS + NEIGHBOUR_COUNT * 4
    + SHARED + NAMED + LEVELS * (HELD + 1) + 2 * REGIONS + PHRASED + PAGE
)
cdef int[WINDOW_COUNT][2] WINDOWS = features.WINDOWS
cdef int[NEIGHBOUR_COUNT] NEIGHBOURS = features.NEIGHBOURS
cdef int[3] PASSED = [WORDS, PROSE, BLOCKS]
cdef int[SHARED] KIN = [BLOCKS, WORDS, PROSE, LINKED]
cdef str ENDERS = "".join(features.ENDERS)
cdef bint[0x10000] is_stop = [chr(code) in features.STOPS for code in range(0x10000)]
cdef Py_ssize_t SHORT = features.SHORT
cdef double MOST_NAMED = features.MOST_NAMED
cdef int FEW = by_numpy.FEW, MANY = features.MANY, LONG_WORDS = features.LONG_WORDS
cdef float MOSTLY_LINKED = features.MOSTLY_LINKED, LITTLE_LINKED = features.LITTLE_LINKED


def describe_blocks(flat, str title not None, scores):
    """Return features of the first `JUDGED` blocks, float32, one row for each."""
    cdef Py_ssize_t n = min(<Py_ssize_t>len(flat.texts), <Py_ssize_t>features.LIMIT), row, i, at
    cdef Py_ssize_t judged = min(n, <Py_ssize_t>features.JUDGED)
    cdef const int64_t[::1] around = flat.around, codes = flat.codes, signs = flat.signs
    cdef const int64_t[::1] kinds = flat.kinds, within = flat.within
    cdef const int64_t[::1] links = flat.links, depths = flat.depths
    cdef double[:, ::1] kin = np.zeros((len(flat.names), SHARED)), names = of_names(flat, scores)
    cdef double[:, ::1] upto = np.zeros((n + 1, SUMS))
    found = np.empty((n, COLUMNS), np.float32)
    cdef float[:, ::1] rows = found
    cdef Containers containers
    cdef const double* total = &upto[n, 0]
    cdef double* sums
    cdef double held
    cdef double[SUMS] inside
    cdef float* out
    cdef int64_t element, code, first = -1, heading = -1, since

    own(rows, upto, flat.texts, flat.words, flat.linked, title)
    for row in range(n):
        element = around[row]
        code = codes[element]
        rows[row, 5], rows[row, 8] = log1p(links[row]), depths[element]
        sums = &upto[row + 1, 0]
        sums[HEADS] = FIRST_HEADING <= code <= LAST_HEADING
        for i in range(SHARED):
            kin[kinds[element], i] += sums[KIN[i]]
        for i in range(SUMS):
            sums[i] += upto[row, i]
        if first < 0 and code == FIRST_HEADING:
            first = row
    cdef const float[::1] page = of_page(rows, upto, kin, codes, around)
    containers = Containers(flat, upto)
    of_phrases(rows[:judged], COLUMNS - PAGE - PHRASED, flat.texts)
    for row in range(judged):
        element = around[row]
        code = codes[element]
        out = &rows[row, OWN]
        for i in range(3):
            out[i] = upto[row, PASSED[i]]
            out[i] = out[i] / max(total[PASSED[i]], TINY)
        since = row - first if first >= 0 else 0
        out[3] = log1p(since) if since >= 0 else -log1p(-since)
        out[4] = since >= 0
        if FIRST_HEADING <= code <= LAST_HEADING:
            heading = row
        out[5] = log1p(row - heading)
        out[6], out[7] = containers.begun[row], containers.ended[row]
        out[8] = row > 0 and codes[around[row - 1]] == code
        out[9] = row < n - 1 and codes[around[row + 1]] == code
        out += PLACE
        for i in range(TAG_COUNT):
            out[i] = i == code
        out += TAG_COUNT
        for i in range(SIGN_COUNT):
            out[i] = signs[element] >> i & 1
        out += SIGN_COUNT
        for i in range(WINDOW_COUNT):
            for at in range(SUMS):
                inside[at] = upto[min(max(row + WINDOWS[i][1], 0), n), at]
                inside[at] -= upto[min(max(row + WINDOWS[i][0], 0), n), at]
            ratios(inside, out)
            out += RATIOS
        for i in range(NEIGHBOUR_COUNT):
            at = row + NEIGHBOURS[i]
            out[0] = out[1] = out[2] = out[3] = 0
            if 0 <= at < n:
                out[0], out[1], out[2] = rows[at, 0], rows[at, 1], rows[at, 2]
                out[3] = codes[around[at]]
            out += 4
        sums = &kin[kinds[element], 0]
        held = max(sums[1], TINY)
        out[0], out[1] = log1p(sums[0]), held / total[WORDS]
        out[2], out[3] = sums[2] / held, sums[3] / held
        out += SHARED
        for i in range(NAMED):
            out[i] = names[element, i]
        containers.describe(row, within[row], out + NAMED)
        memcpy(&rows[row, COLUMNS - PAGE], &page[0], PAGE * sizeof(float))
    return found[:judged]


def text_lengths(list texts not None):
    """Return how many characters each text has."""
    cdef Py_ssize_t i
    found = np.empty(len(texts))
    cdef double[::1] sizes = found
    for i in range(sizes.shape[0]):
        sizes[i] = len(<str>texts[i])
    return found


cdef int own(
    float[:, ::1] rows,
    double[:, ::1] upto,
    list texts,
    const int64_t[::1] counts,
    const int64_t[::1] linked,
    str title,
) except -1:
    """Write each block's own features, except links and depth, and the columns to be summed."""
    cdef Py_ssize_t row, length
    cdef double words, prose, share, stops
    cdef double* sums
    cdef float* out
    cdef dict copies = {}
    cdef str text
    cdef bint ends
    for text in texts[: rows.shape[0]]:
        copies[text] = copies.get(text, 0) + 1
    for row in range(rows.shape[0]):
        text, out, sums = texts[row], &rows[row, 0], &upto[row + 1, 0]
        length = len(text)
        words = length / 2.0 if length > 12 * counts[row] else counts[row]
        stops = stops_of(text) if length > SHORT else 0
        ends = text[length - 1] in ENDERS
        share = min(linked[row] / <double>length, 1.0)
        prose = min(words / 20, 1.0) * (1 - share) * (stops > 0 or ends)
        out[0], out[1], out[2], out[3] = log1p(words), share, prose, stops / words
        out[4] = ends
        out[6] = log(copies[text])
        out[7] = 8 < length < 200 and length <= len(title) and text in title
        sums[WORDS], sums[PROSE], sums[LINKED] = words, prose * words, out[1] * words
        sums[LENGTH], sums[LINKS], sums[BLOCKS] = out[0], out[1] > MOSTLY_LINKED, 1
    return 0


cdef const float[::1] of_page(
    const float[:, ::1] rows,
    const double[:, ::1] upto,
    const double[:, ::1] kin,
    const int64_t[::1] codes,
    const int64_t[::1] around,
):
    """Features of the whole page, as `features._describe_page` returns them."""
    cdef Py_ssize_t n = rows.shape[0], i
    cdef const double* total = &upto[n, 0]
    cdef double held = max(total[WORDS], TINY), words, most = 0, depth = 0
    cdef double blocks = 0, of_kind = 0, listed = 0
    cdef Py_ssize_t long_ones = 0, unlinked = 0, many = 0
    cdef double[:, ::1] tags = np.zeros((2, TAG_COUNT))
    cdef float[::1] found = np.empty(PAGE, np.float32)
    for i in range(n):
        words = upto[i + 1, WORDS] - upto[i, WORDS]  # exact, as words are counted in halves
        most = max(most, words)
        depth += rows[i, 8]
        long_ones += words > LONG_WORDS
        unlinked += words > LONG_WORDS and rows[i, 1] < LITTLE_LINKED
        tags[0, codes[around[i]]] += words
        tags[1, codes[around[i]]] += 1
    for i in range(kin.shape[0]):
        blocks = max(blocks, kin[i, 0])
        of_kind = max(of_kind, kin[i, 1])
        if kin[i, 0] >= MANY:
            many += 1
            listed += kin[i, 1]
    found[0], found[1], found[2] = log1p(n), log1p(total[WORDS]), log1p(total[PROSE])
    found[3], found[4], found[5] = total[PROSE] / held, total[LINKED] / held, depth / n
    found[6], found[7], found[8] = log1p(most), log1p(long_ones), log1p(unlinked)
    found[9], found[10] = log1p(blocks), of_kind / held
    found[11], found[12] = log1p(many), listed / held
    for i in range(TAG_COUNT):
        found[WHOLE + i] = tags[0, i] / held
        found[WHOLE + TAG_COUNT + i] = tags[1, i] / n
    return found


cdef Py_ssize_t stops_of(str text) except -1:
    """The number of commas and ends of sentences; in Thai and Lao, of spaces after letters."""
    cdef Py_ssize_t found = 0, at
    cdef Py_UCS4 char, before = 0
    for char in text:
        found += char == u"," or (char == u" " and before == u".")
        found += 127 < char < 0x10000 and is_stop[char]
        found += char == u" " and 0x0E00 <= before <= 0x0EFF
        before = char
    return found


cdef double[:, ::1] of_names(flat, scores):
    """For each element the scores of classes, as `features.describe_names` returns them."""
    cdef const int64_t[::1] kinds = flat.kinds, depths = flat.depths
    cdef int64_t[::1] outer = flat.outer.copy(), further = flat.outer.copy()
    cdef Py_ssize_t n = outer.shape[0], i
    cdef list names = flat.names
    cdef double[::1] score = scores.mean_values(names)
    cdef double[::1] total = np.empty(n), sums = np.empty(n)
    cdef double[:, ::1] found = np.empty((n, NAMED))
    cdef int64_t deepest = 0, parent
    for i in range(n):
        parent = outer[i]
        found[i, 0] = total[i] = score[kinds[i]]
        deepest = max(deepest, depths[i])
        found[i, 1] = found[i, 0] if names[kinds[i]] or not i else found[parent, 1]
        found[i, 3] = max(found[i, 0], found[parent, 3]) if i else found[i, 0]
        found[i, 4] = min(found[i, 0], found[parent, 4]) if i else found[i, 0]
    while deepest:  # adds in the same order as numpy
        for i in range(n):
            sums[i] = total[i] + total[outer[i]]
            further[i] = outer[outer[i]]
        total, sums = sums, total
        outer, further = further, outer
        deepest >>= 1
    for i in range(n):
        found[i, 2] = min(max(total[i], -MOST_NAMED), MOST_NAMED)
    return found
