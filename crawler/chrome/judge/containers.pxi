"""Features of containers, as in `containers.describe_containers`; part of `_features.pyx`."""

cdef enum:
    WORDS, PROSE, LINKED, LENGTH, LINKS, BLOCKS, HEADS, SUMS  # columns
    RATIOS = 5, HELD = 13, SIZE_LEVELS = 3, SHARE_LEVELS = 2, LEVELS = 6, REGIONS = 3
cdef double TINY = by_numpy.TINY
cdef int64_t[SIZE_LEVELS] SIZES = by_numpy.SIZES.ravel().tolist()
cdef double[SHARE_LEVELS] SHARES = by_numpy.SHARES.ravel().tolist()
cdef double[REGIONS] REGION = by_numpy.REGIONS.ravel().tolist()


cdef class Containers:
    """Features of containers, and for each block the smallest ones around it of some sizes.

    `upto` are the sums of all blocks before each, of shape (blocks + 1, SUMS).
    """

    cdef const int64_t[::1] starts, stops
    cdef float[:, ::1] held
    cdef int64_t[:, ::1] levels
    cdef double[:, ::1] inside
    cdef int64_t[REGIONS] regions
    cdef int64_t[::1] begun, ended  # by block, numbers of containers

    def __init__(self, flat, const double[:, ::1] upto):
        cdef const int64_t[::1] parents = flat.parents, siblings = count_siblings(flat)
        cdef Py_ssize_t n = upto.shape[0] - 1, m = parents.shape[0], i, k
        cdef double* inside
        cdef float* held
        cdef double size
        self.starts, self.stops = flat.firsts, flat.ends
        self.inside, self.held = np.empty((m, SUMS)), np.empty((m, HELD), np.float32)
        self.levels = np.zeros((m, LEVELS), np.int64)
        self.begun, self.ended = np.zeros((2, n + 1), np.int64)
        for i in range(m):
            inside, held = &self.inside[i, 0], &self.held[i, 0]
            for k in range(SUMS):
                inside[k] = upto[self.stops[i], k] - upto[self.starts[i], k]
            size = self.stops[i] - self.starts[i]
            self.begun[self.starts[i]] += 1
            self.ended[self.stops[i]] += 1
            ratios(inside, held)
            for k in range(3):
                held[5 + k] = inside[k] / max(self.inside[0, k], TINY)
            held[8] = log1p(size)
            held[9] = self.starts[i] / <double>n
            held[10] = self.stops[i] / <double>n
            held[11] = log1p(siblings[i])
            held[12] = log1p(inside[WORDS] * (siblings[i] > FEW))
            if i:  # the page always holds enough
                for k in range(LEVELS):
                    self.levels[i, k] = self.levels[parents[i], k]
                for k in range(SIZE_LEVELS):
                    if size >= SIZES[k]:
                        self.levels[i, k] = i
                for k in range(SHARE_LEVELS):
                    if inside[WORDS] >= SHARES[k] * self.inside[0, WORDS]:
                        self.levels[i, SIZE_LEVELS + k] = i
                if siblings[i] > FEW:
                    self.levels[i, LEVELS - 1] = i
            for k in range(REGIONS):
                if not i or inside[PROSE] >= REGION[k] * (self.inside[0, PROSE] + TINY):
                    self.regions[k] = i

    cdef void describe(self, Py_ssize_t row, int64_t within, float* out) noexcept:
        """Write the features of the containers around a block."""
        cdef const float* held
        cdef int64_t container
        cdef Py_ssize_t k, i
        cdef float* place = out + LEVELS * HELD
        for k in range(LEVELS):
            container = self.levels[within, k]
            held = &self.held[container, 0]
            for i in range(HELD):
                out[i] = held[i]
            out += HELD
            place[k] = (row - self.starts[container]) / <double>max(
                self.stops[container] - self.starts[container], 1
            )
        place += LEVELS
        for k in range(REGIONS):
            container = self.regions[k]
            place[2 * k] = self.starts[container] <= row < self.stops[container]
            place[2 * k + 1] = self.inside[container, WORDS] / self.inside[0, WORDS]


cdef int64_t[::1] count_siblings(flat):
    """The compiled form of `features.count_siblings`."""
    cdef const int64_t[::1] parents = flat.parents, holders = flat.holders, kinds = flat.kinds
    cdef Py_ssize_t n = parents.shape[0], i
    cdef int64_t number = len(flat.names)
    cdef int64_t[::1] alike = np.empty(n, np.int64), counts = np.zeros(n, np.int64)
    for i in range(n):
        alike[i] = parents[i] * number + kinds[holders[i]]
    alike = first_equal(alike)
    for i in range(n):
        counts[alike[i]] += 1
    for i in range(n):
        alike[i] = counts[alike[i]]
    return alike


cdef inline void ratios(const double* sums, float* out) noexcept:
    """Prose and links per word; length, links and headings per block."""
    cdef double words = max(sums[WORDS], 1.0), blocks = max(sums[BLOCKS], 1.0)
    out[0], out[1] = sums[PROSE] / words, sums[LINKED] / words
    out[2], out[3], out[4] = sums[LENGTH] / blocks, sums[LINKS] / blocks, sums[HEADS] / blocks
