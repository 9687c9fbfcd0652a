# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""What :class:`.vocabulary.Words` does, compiled: no string of Python's for each word.

On pages of many sites most names are met for the first time.  Both find the same, which a test
compares.
"""

from libc.stdint cimport uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcmp, memcpy

import numpy as np

cdef enum:
    LONGEST = 32  # letters; longer words have no value

cdef struct Slot:
    Py_ssize_t size
    char word[LONGEST]
    double value


cdef class Words:
    """Values of words in a hash table of which less than half is used."""

    cdef readonly object values
    cdef Slot* slots
    cdef uint64_t mask

    def __cinit__(self, values):
        cdef uint64_t count = 2
        cdef bytes word
        cdef Slot* slot
        while count < 2 * <uint64_t>len(values):
            count *= 2
        self.slots = <Slot*>calloc(count, sizeof(Slot))
        if self.slots == NULL:
            raise MemoryError
        self.mask, self.values = count - 1, values
        for name, value in values.items():
            word = name.encode()
            if not 0 < len(word) <= LONGEST:
                raise ValueError(f"no word of up to {LONGEST} letters: {name}")
            slot = self.slot(word, len(word))
            slot.size, slot.value = len(word), value
            memcpy(slot.word, <const char*>word, len(word))

    def __dealloc__(self):
        free(self.slots)

    cdef Slot* slot(self, const char* word, Py_ssize_t size) noexcept:
        """Where the word is, or would be."""
        cdef uint64_t hashed = 0xCBF29CE484222325ULL  # FNV-1a
        cdef Py_ssize_t at
        cdef Slot* slot
        for at in range(size):
            hashed = (hashed ^ <unsigned char>word[at]) * 0x100000001B3ULL
        while True:
            slot = &self.slots[hashed & self.mask]
            if not slot.size or (slot.size == size and not memcmp(slot.word, word, size)):
                return slot
            hashed += 1

    def bits(self, str names not None):
        cdef bytes text = names.encode("utf-8", "replace")
        cdef const char* at = text
        cdef const char* end = at + len(text)
        cdef char word[LONGEST]
        cdef Py_ssize_t size
        cdef uint64_t found = 0
        while size := next_word(&at, end, word):
            if size <= LONGEST:
                found |= <uint64_t>self.slot(word, size).value
        return found

    def means(self, list attributes not None):
        found = np.empty(len(attributes))
        cdef double[::1] mean_of = found
        cdef Py_ssize_t at
        for at in range(mean_of.shape[0]):
            mean_of[at] = self.mean(attributes[at])
        return found

    cdef double mean(self, str names) except? -1:
        cdef bytes text = names.encode("utf-8", "replace")
        cdef const char* at = text
        cdef const char* end = at + len(text)
        cdef char word[LONGEST]
        cdef Py_ssize_t size, count = 0
        cdef double total = 0
        while size := next_word(&at, end, word):
            count += 1
            if size <= LONGEST:
                total += self.slot(word, size).value
        return total / count if count else 0.0


cdef Py_ssize_t next_word(const char** place, const char* end, char* word) noexcept:
    """Put the next word there in lower case, as far as there is room; its size, 0: there is none.

    That is what `[A-Z]?[a-z]+|[A-Z]+` matches.
    """
    cdef const char* at = place[0]
    cdef const char* start
    cdef Py_ssize_t size = 0
    while at < end and not is_lower(at[0]) and not is_upper(at[0]):
        at += 1
    start = at
    if at < end and is_upper(at[0]) and not (at + 1 < end and is_lower(at[1])):
        while at < end and is_upper(at[0]):
            at += 1
    elif at < end:
        at += 1
        while at < end and is_lower(at[0]):
            at += 1
    for size in range(min(at - start, <Py_ssize_t>LONGEST)):
        word[size] = start[size] | 32
    place[0] = at
    return at - start


cdef inline bint is_lower(char char) noexcept:
    return b"a" <= char <= b"z"


cdef inline bint is_upper(char char) noexcept:
    return b"A" <= char <= b"Z"
