"""Finds equal numbers; part of `_features.pyx` and `_selection.pyx`."""


cdef int64_t[::1] first_equal(const int64_t[::1] numbers):
    """The compiled form of `features.first_equal`, with a hash table at most half full."""
    cdef Py_ssize_t n = numbers.shape[0], at
    cdef int64_t[::1] found = np.empty(n, np.int64)
    cdef int bits = 1
    while (<Py_ssize_t>1 << bits) < 2 * n:
        bits += 1
    cdef int64_t[::1] slots = np.full(<Py_ssize_t>1 << bits, -1, np.int64)
    cdef uint64_t slot
    for at in range(n):
        slot = <uint64_t>numbers[at] * 0x9E3779B97F4A7C15ULL >> (64 - bits)
        while slots[slot] >= 0 and numbers[slots[slot]] != numbers[at]:
            slot = (slot + 1) & (<uint64_t>slots.shape[0] - 1)
        if slots[slot] < 0:
            slots[slot] = at
        found[at] = slots[slot]
    return found
