# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""The compiled form of :class:`.signs.Words`, without a Python string for each word.

In a crawl of many sites, most class names are new.  A test compares the results of both.
"""

from cpython.bytearray cimport PyByteArray_AS_STRING
from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcmp, memcpy

import numpy as np

cdef enum:
    LONGEST = 32  # letters; longer words have no value

cdef struct Entry:
    double value
    Py_ssize_t size
    char word[LONGEST]

cdef struct Slot:
    uint32_t hashed  # bits of the hash that do not decide the slot
    uint32_t number  # of its entry; 0 if the slot is free


cdef class Words:
    """Values of words in a hash table that is less than half full.

    Most words have no value, which the slots alone tell; these are few enough for a cache.
    """

    cdef readonly object values
    cdef Slot* slots
    cdef Entry* entries
    cdef uint64_t mask

    def __cinit__(self, values):
        cdef uint64_t count = 2, hashed
        cdef uint32_t number
        cdef bytes word
        cdef Entry* entry
        cdef Slot* slot
        while count < 2 * <uint64_t>len(values):
            count *= 2
        self.slots = <Slot*>calloc(count, sizeof(Slot))
        self.entries = <Entry*>calloc(len(values) + 1, sizeof(Entry))  # the first is for no word
        if self.slots == NULL or self.entries == NULL:
            raise MemoryError
        self.mask, self.values = count - 1, values
        for number, (name, value) in enumerate(values.items(), 1):
            word = name.encode()
            if not 0 < len(word) <= LONGEST:
                raise ValueError(f"no word of up to {LONGEST} letters: {name}")
            entry = &self.entries[number]
            entry.size, entry.value = len(word), value
            memcpy(entry.word, <const char*>word, len(word))
            hashed = hash_of(word, len(word))
            slot = self.slot(word, len(word), hashed)
            slot.hashed, slot.number = hashed >> 32, number

    def __dealloc__(self):
        free(self.slots)
        free(self.entries)

    cdef Slot* slot(self, const char* word, Py_ssize_t size, uint64_t hashed) noexcept:
        """The slot of a word, or the free one where it would be."""
        cdef uint64_t place = hashed
        cdef Slot* slot
        cdef Entry* entry
        while True:
            slot = &self.slots[place & self.mask]
            entry = &self.entries[slot.number]
            if not slot.number or (
                slot.hashed == hashed >> 32
                and entry.size == size
                and not memcmp(entry.word, word, size)
            ):
                return slot
            place += 1

    cdef double value(self, const char* word, Py_ssize_t size) noexcept:
        if size > LONGEST:
            return 0
        return self.entries[self.slot(word, size, hash_of(word, size)).number].value

    def bits(self, str names not None):
        cdef bytes text = names.encode("utf-8", "replace")
        cdef const char* at = text
        cdef const char* end = at + len(text)
        cdef char word[LONGEST]
        cdef Py_ssize_t size
        cdef uint64_t found = 0
        while size := next_word(&at, end, word):
            found |= <uint64_t>self.value(word, size)
        return found

    def mean_values(self, list attributes not None):
        cdef bytearray found = bytearray(len(attributes) * sizeof(double))
        cdef double* mean_of = <double*>PyByteArray_AS_STRING(found)
        cdef Py_ssize_t at
        for at in range(len(attributes)):
            mean_of[at] = self.mean(attributes[at])
        return np.frombuffer(found)

    cdef double mean(self, str names) except? -1:
        cdef bytes text = names.encode("utf-8", "replace")
        cdef const char* at = text
        cdef const char* end = at + len(text)
        cdef char word[LONGEST]
        cdef Py_ssize_t size, count = 0
        cdef double total = 0
        while size := next_word(&at, end, word):
            count += 1
            total += self.value(word, size)
        return total / count if count else 0.0


cdef inline uint64_t hash_of(const char* word, Py_ssize_t size) noexcept:
    """FNV-1a."""
    cdef uint64_t hashed = 0xCBF29CE484222325ULL
    cdef Py_ssize_t at
    for at in range(size):
        hashed = (hashed ^ <unsigned char>word[at]) * 0x100000001B3ULL
    return hashed


cdef Py_ssize_t next_word(const char** place, const char* end, char* word) noexcept:
    """Write the next word in lower case, up to LONGEST letters; returns its size, 0 at the end.

    A word is what `[A-Z]?[a-z]+|[A-Z]+` matches.
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
