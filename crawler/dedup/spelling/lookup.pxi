"""A table of which one key after another is asked; part of `_table.pyx` and `_choices.pyx`."""

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define PREFETCH(place) __builtin_prefetch(place)
    #else
    #define PREFETCH(place)
    #endif
    """
    void prefetch "PREFETCH"(const void*) noexcept nogil

# As in :mod:`.table` and in :mod:`.dictionary`.
cdef uint64_t ODD = 0x9E3779B97F4A7C15ULL
cdef enum:
    COUNT_BITS = 6
    MOST_COUNTED = (1 << COUNT_BITS) - 1
    SHIFT = 20
cdef double UNSEEN = -1, UNSEEN_RAREST = 0.6


cdef class Lookup:
    """A :class:`.table.Table`, but for its values."""

    cdef const uint64_t[::1] keys
    cdef const uint32_t[::1] spans
    cdef int unused

    def __init__(self, table):
        self.keys, self.spans, self.unused = table.keys, table.spans, table.unused

    cdef inline const uint32_t* span(self, uint64_t key) noexcept nogil:
        return &self.spans[key * ODD >> self.unused]

    cdef inline Py_ssize_t place(self, uint64_t key) noexcept nogil:
        """Where the value of the key stands; -1: nowhere."""
        cdef uint32_t span = self.span(key)[0]
        cdef Py_ssize_t at
        for at in range(span >> COUNT_BITS, (span >> COUNT_BITS) + (span & MOST_COUNTED)):
            if self.keys[at] == key:
                return at
        return -1


cdef class Gains:
    """What :meth:`.dictionary.Dictionary.gain` says of one pair."""

    cdef Lookup pairs
    cdef const float[::1] values
    cdef const double[::1] logs
    cdef double least

    def __init__(self, dictionary):
        self.pairs, self.values = Lookup(dictionary.by_pair), dictionary.by_pair.values
        self.logs, self.least = dictionary.logs, dictionary.least

    cdef inline uint64_t key(self, int64_t first, int64_t second) noexcept nogil:
        return first << SHIFT | second

    cdef inline double of(self, int64_t first, int64_t second) noexcept nogil:
        cdef Py_ssize_t place
        if first < 0 or second < 0:
            return 0
        place = self.pairs.place(self.key(first, second))
        if place >= 0:
            return self.values[place]
        return min(0.0, self.least - self.logs[first] - self.logs[second]) * UNSEEN_RAREST + UNSEEN
