"""The best words of those that are compared, and the most frequent; part of `_choices.pyx`."""

cdef enum:
    FEW = 16  # no fewer than the most that are compared
    MOST = 8
    SCORED = 7  # features, the first ones
    SEEN = 256  # a power of two
    WAITING = 64

# The smallest of the numbers that are put in, each once, in order.
cdef struct Fewest:
    int most, size
    int64_t numbers[FEW]

# A word of the dictionary that another may have been meant to be.
cdef struct Like:
    double score
    int64_t number
    double values[SCORED]  # in the order of FEATURES

# What is found for one word.
cdef struct Found:
    const Word* word
    uint32_t bits
    uint64_t skeleton
    uint64_t places[ASCII]  # of each letter in the word, a bit for each
    int64_t alike  # the number of its strokes, or -1
    int most, farthest  # edits
    int32_t seen[SEEN]  # numbers, each at its last bits
    int64_t waiting[WAITING]
    int waits
    int size
    Like best[MOST]


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


cdef inline void keep(Found* found, const Like* like) noexcept nogil:
    cdef int at = found.size
    while at and not comes_before(&found.best[at - 1], like):
        at -= 1
    if at == MOST or (at < found.size and found.best[at].number == like.number):
        return
    found.size = min(found.size + 1, MOST)
    memmove(&found.best[at + 1], &found.best[at], (found.size - at - 1) * sizeof(Like))
    found.best[at] = like[0]


cdef inline bint comes_before(const Like* one, const Like* other) noexcept nogil:
    """Whether one word is better than another, or as good and more frequent."""
    return one.score > other.score or (one.score == other.score and one.number < other.number)
