"""Tables and groups of which one entry after another is asked; part of `search.pyx`."""

cdef enum:
    FEW = 16  # no fewer than the most that are compared

cdef uint64_t ODD = table.ODD
cdef int COUNT_BITS = table.COUNT_BITS
cdef uint32_t MOST_COUNTED = table.MOST_COUNTED


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


cdef class Groups:
    """As `nearby.Groups`."""

    cdef const uint32_t[::1] starts, numbers

    def __init__(self, groups):
        self.starts, self.numbers = groups


# The smallest of the numbers that are put in, each once, in order.
cdef struct Fewest:
    int most, size
    int64_t numbers[FEW]


cdef inline void put(Fewest* fewest, int64_t number) noexcept nogil:
    cdef int at = fewest.size
    while at and fewest.numbers[at - 1] > number:
        at -= 1
    if at == fewest.most or (at and fewest.numbers[at - 1] == number):
        return
    fewest.size = min(fewest.size + 1, fewest.most)
    memmove(
        &fewest.numbers[at + 1], &fewest.numbers[at], (fewest.size - at - 1) * sizeof(int64_t)
    )
    fewest.numbers[at] = number
