# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""What :meth:`.normaliser.Normaliser.encode` does by default, compiled: one character after another.

Both write the same words, which a test compares; what they are and why stands there.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.string cimport memcpy

cdef enum:
    SPACE = 0x20
    POINTS = 0x20000  # beyond are Han that are seldom used, and nothing else that pages have
    LONGEST = 7
    UNKNOWN = 0, EMPTY = 1, MIXES = 255

# All zeros takes no memory: a page of it comes into being with the first of its characters.
cdef struct Written:
    unsigned char size  # of its bytes, and 1 more
    unsigned char[LONGEST] letters
cdef Written[POINTS] known


def encode(str text not None, by_itself):
    """The words of a text, one space between them, or None if a character needs its neighbours.

    `by_itself` says what is written for a character, or None; it is asked once for each.
    """
    cdef Py_ssize_t size = 1
    cdef unsigned char last = SPACE, letter
    cdef unsigned char* found
    cdef Written* written
    cdef Py_UCS4 char
    cdef int at
    found = <unsigned char*>PyMem_Malloc(len(text) * LONGEST + 2)
    if found == NULL:
        raise MemoryError
    try:
        for char in text:
            if char >= POINTS:
                return None
            written = &known[char]
            if written.size == UNKNOWN:
                learn(char, by_itself(char))
            if written.size == MIXES:
                return None
            at = 0
            while at < written.size - EMPTY:
                letter = written.letters[at]
                found[size] = letter
                size += (letter != SPACE) | (last != SPACE)
                last = letter
                at += 1
                if written.size == EMPTY + 1:  # most are; the condition above takes twice as long
                    break
        if last == SPACE:
            size -= 1
        return PyBytes_FromStringAndSize(<char*>found + 1, max(size - 1, 0))
    finally:
        PyMem_Free(found)


def has_gaps(bytes encoded not None):
    """Whether there are spaces side by side."""
    cdef const unsigned char* text = encoded
    cdef unsigned char found = 0
    cdef Py_ssize_t at
    for at in range(1, len(encoded)):  # to the end, which compilers make sixteen steps at once of
        found |= (text[at - 1] == SPACE) & (text[at] == SPACE)
    return found != 0


cdef int learn(Py_UCS4 char, bytes found) except -1:
    cdef Written* written = &known[char]
    if found is None or len(found) > LONGEST:
        written.size = MIXES
        return 0
    memcpy(written.letters, <const char*>found, len(found))
    written.size = EMPTY + len(found)
    return 0
