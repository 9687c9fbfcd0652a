# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""What :class:`.shape.Shapes` does, compiled: one letter after another, and nothing remembered.

Both write the same, which a test compares; what is done and why stands there.
"""

from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.unicode cimport Py_UNICODE_ISALNUM, Py_UNICODE_ISDECIMAL

from . import shape

cdef extern from "Python.h":
    enum:
        PyUnicode_4BYTE_KIND
    object PyUnicode_FromKindAndData(int kind, const void* buffer, Py_ssize_t size)

cdef enum:
    DRAWN = 256  # letters that may have other strokes than themselves
    MOST = 4  # strokes of a letter

cdef Py_ssize_t LONG = shape.LONG
cdef Py_UCS4[DRAWN][MOST] strokes
cdef int[DRAWN] counts
for code in range(DRAWN):
    drawn = shape.strokes(chr(code).translate(shape.DIGITS))
    counts[code] = len(drawn)
    for place, stroke in enumerate(drawn):
        strokes[code][place] = stroke


def draw(str text not None, bint blurred):
    """Return the lower-case text with every word replaced by its shape."""
    cdef Py_ssize_t size = 0, room = 1, start, end = 0, length = len(text)
    cdef Py_UCS4* found
    cdef Py_UCS4 char
    cdef bint is_number
    for char in text:
        room += counts[char] if char < DRAWN else 1
    found = <Py_UCS4*>PyMem_Malloc(room * sizeof(Py_UCS4))
    if found == NULL:
        raise MemoryError
    try:
        while end < length:
            start, is_number = size, False
            while end < length and Py_UNICODE_ISALNUM(text[end]):
                is_number |= Py_UNICODE_ISDECIMAL(text[end])
                size += put(text[end], found + size)
                end += 1
            if is_number:
                continue
            if size > start:
                size = start + simpler(found + start, size - start, blurred)
            else:
                found[size] = text[end]
                size += 1
                end += 1
        return PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, found, size)
    finally:
        PyMem_Free(found)


cdef inline int put(Py_UCS4 char, Py_UCS4* found) noexcept:
    cdef int place
    if char >= DRAWN:
        found[0] = char
        return 1
    for place in range(counts[char]):
        found[place] = strokes[char][place]
    return counts[char]


cdef Py_ssize_t simpler(Py_UCS4* word, Py_ssize_t length, bint blurred) noexcept:
    """Put the word's shape in its place; return how long that is."""
    cdef Py_ssize_t at = 0, size = 0, run, kept
    cdef bint is_short = length < LONG
    cdef Py_UCS4 stroke
    while at < length:
        stroke, run = word[at], 1
        while at + run < length and word[at + run] == stroke:
            run += 1
        at += run
        kept = 1
        if stroke != u"c" and not (is_short or blurred):
            kept = run
        elif stroke == u"i" and is_short:
            kept = 1 + (run > 3)
        elif stroke == u"i":
            kept = 1 + (run > 2) + (run > 5)
        for run in range(kept):
            word[size + run] = stroke
        size += kept
    return size
