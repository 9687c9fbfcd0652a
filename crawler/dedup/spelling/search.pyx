# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""What :class:`.choices.Finder` does with arrays of all words, compiled: one word after another.

Both find the same to the last bit, which a test compares; what is done and why stands there.
"""

from cpython.unicode cimport PyUnicode_4BYTE_KIND, PyUnicode_FromKindAndData
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memmove, memset

import numpy as np

from . import dictionary, nearby, shape, table
from .choices import FEATURES, WEIGHTS, Choice

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define PREFETCH(place) __builtin_prefetch(place)
    #else
    #define PREFETCH(place)
    #endif
    """
    void prefetch "PREFETCH"(const void*) noexcept nogil

include "letters.pxi"
include "lookup.pxi"

cdef enum:
    PREFIX = 8
    FORMS_OF_ONE = 9  # of a word, up to one letter of its prefix left out
    FORMS = 37  # … up to two
    MOST = 8
    ROWS = MOST + 2
    SCORED = 7  # features, the first ones
    SEEN = 256  # a power of two
    WAITING = 64

cdef int COLUMNS = len(FEATURES), FREQUENCY = FEATURES.index("frequency")
cdef int TWO_WORDS = FEATURES.index("two words")
cdef int KNOWN = FEATURES.index("known"), KNOWN_LETTERS = FEATURES.index("known letters")
cdef int UNKNOWN = FEATURES.index("unknown"), UNKNOWN_LETTERS = FEATURES.index("unknown letters")
cdef int SHORT = nearby.SHORT, LONG = nearby.LONG, FREQUENT = nearby.FREQUENT
cdef uint64_t MIXING = table.FACTORS[1]
cdef int UNUSED_BITS = nearby.UNUSED_BITS, SHIFT = dictionary.SHIFT
cdef double UNSEEN = dictionary.UNSEEN, UNSEEN_RAREST = dictionary.UNSEEN_RAREST

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
    uint32_t strokes[STROKES]
    int stroked
    int most, farthest  # edits
    int32_t seen[SEEN]  # numbers, each at its last bits
    int64_t waiting[WAITING]
    int waits
    int size
    Like best[MOST]


cdef class Search:
    """Finds the choices of words of up to LETTERS letters, as the `finder` does."""

    cdef dict number, alike
    cdef Lookup words, pairs
    cdef const double[::1] logs
    cdef const int32_t[::1] numbers
    cdef const float[::1] gains
    cdef double least
    cdef int64_t frequent
    cdef const uint32_t[::1] codes, starts  # of the letters of all words that are offered
    cdef const uint32_t[::1] letters
    cdef const int32_t[::1] number_alike
    cdef const uint64_t[::1] skeletons
    cdef Groups of_strokes, of_one, of_two
    cdef const uint64_t[:, ::1] factors  # of each form, by letter
    cdef const int64_t[::1] fewest  # letters of words that have the form
    cdef double weights[SCORED]
    cdef int near, far

    def __init__(self, finder):
        known, like = finder.dictionary, finder.nearby
        self.number, self.logs = known.number, known.logs
        self.words, self.numbers = Lookup(known.by_hash), known.by_hash.values
        self.frequent = finder.frequent
        if known.by_pair is not None:
            self.pairs, self.gains = Lookup(known.by_pair), known.by_pair.values
            self.least = known.least
        self.alike, self.number_alike = like.alike, like.number_alike
        self.codes = np.frombuffer("".join(like.words).encode("utf-32-le", "surrogatepass"), "<u4")
        self.starts = np.cumsum([0, *map(len, like.words)], dtype=np.uint32)
        self.letters, self.skeletons = like.letters, finder.skeletons
        self.of_strokes = Groups(like.of_strokes)
        self.of_one, self.of_two = Groups(like.of_form[1]), Groups(like.of_form[2])
        factors, self.fewest = nearby.left_out(2)
        self.factors = np.ascontiguousarray(factors.T)
        self.weights = [WEIGHTS[name] for name in FEATURES[:SCORED]]
        self.near, self.far = nearby.MOST_COMPARED

    def __call__(self, list words not None):
        cdef Py_ssize_t count = len(words), place, row = 0
        cdef int64_t[::1] counts = np.empty(count, np.int64)
        cdef int32_t[:, ::1] numbers = np.empty((count * ROWS, 2), np.int32)
        cdef float[:, ::1] features = np.zeros((count * ROWS, COLUMNS), np.float32)
        cdef Word* asked = <Word*>malloc(count * sizeof(Word) + 1)
        if asked == NULL:
            raise MemoryError
        try:
            for place in range(count):
                self.read(&asked[place], words[place])
            with nogil:
                for place in range(count):
                    counts[place] = self.choices(
                        &asked[place], &numbers[row, 0], &features[row, 0]
                    )
                    row += counts[place]
        finally:
            free(asked)
        return Choice(np.asarray(counts), np.asarray(numbers[:row]), np.asarray(features[:row]))

    cdef int read(self, Word* word, str text) except -1:
        cdef uint32_t strokes[STROKES]
        cdef Py_ssize_t at
        if not 0 < len(text) <= LETTERS:
            raise ValueError(f"no word of up to {LETTERS} letters: {text}")
        word.length = <int>len(text)
        for at in range(word.length):
            word.letters[at] = <uint32_t>text[at]
        at = strokes_of(word.letters, word.length, strokes)
        word.number = self.number.get(text, -1)
        word.alike = self.alike.get(PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, strokes, at), -1)
        return 0

    cdef int choices(self, const Word* word, int32_t* numbers, float* features) noexcept nogil:
        """Put in rows of its own what the word may be; return how many rows that are."""
        cdef Found found
        cdef int row, column
        cdef int64_t first, second
        cdef double likely
        cdef bint known = word.number >= 0
        numbers[0] = numbers[1] = word.number
        features[KNOWN if known else UNKNOWN] = 1
        features[KNOWN_LETTERS if known else UNKNOWN_LETTERS] = word.length
        if known:
            features[FREQUENCY] = self.logs[word.number]
        self.find(&found, word)
        for row in range(found.size):
            numbers += 2
            features += COLUMNS
            numbers[0] = numbers[1] = found.best[row].number
            for column in range(SCORED):
                features[column] = found.best[row].values[column]
        row = 1 + found.size
        if not known and self.parts(word, &first, &second, &likely):
            numbers[2], numbers[3] = first, second
            features[COLUMNS + FREQUENCY] = likely
            features[COLUMNS + TWO_WORDS] = 1
            row += 1
        return row

    cdef void find(self, Found* found, const Word* word) noexcept nogil:
        """Find what is like a word: first the buckets of its forms, for memory takes its time."""
        cdef uint64_t buckets[FORMS]
        cdef int count = 0, ones = 0, form, at, length = min(word.length, PREFIX)
        cdef uint64_t hashed
        self.begin(found, word)
        for form in range(FORMS_OF_ONE if found.most == 1 else FORMS):
            if length < self.fewest[form]:
                continue
            hashed = 0
            for at in range(length):
                hashed += word.letters[at] * self.factors[form, at]
            hashed ^= hashed >> 29
            buckets[count] = hashed * MIXING >> UNUSED_BITS
            if form < FORMS_OF_ONE:
                prefetch(&self.of_one.starts[buckets[count]])
                ones += 1
            if found.most > 1:
                prefetch(&self.of_two.starts[buckets[count]])
            count += 1
        if word.alike >= 0:
            at = self.of_strokes.starts[word.alike]
            while at < <int>self.of_strokes.starts[word.alike + 1]:
                self.take(found, self.of_strokes.numbers[at])
                at += 1
        self.of_forms(found, self.of_one, buckets, ones, 1)
        if found.most > 1:
            self.of_forms(found, self.of_two, buckets, count, 2)
        self.compare(found)

    cdef void begin(self, Found* found, const Word* word) noexcept nogil:
        cdef int at
        found.word = word
        found.most = min(1 if word.number >= 0 else 2, 1 + (word.length > SHORT))
        found.farthest = found.most + (word.length >= LONG and found.most > 1)
        found.bits = bits_of(word)
        found.skeleton = skeleton(word)
        found.stroked = strokes_of(word.letters, word.length, found.strokes)
        found.waits = found.size = 0
        memset(found.seen, -1, sizeof(found.seen))
        memset(found.places, 0, sizeof(found.places))
        for at in range(word.length):
            if word.letters[at] < ASCII:
                found.places[word.letters[at]] |= <uint64_t>1 << at

    cdef void of_forms(
        self, Found* found, Groups groups, const uint64_t* buckets, int count, int edits
    ) noexcept nogil:
        """Take those of the words in the buckets that may be so many edits away."""
        cdef Fewest near, far
        cdef Fewest* fewest
        cdef int form, apart
        cdef uint32_t number
        cdef Py_ssize_t at
        near.size = far.size = 0
        near.most, far.most = self.near, self.far
        for form in range(count):
            prefetch(&groups.numbers[groups.starts[buckets[form]]])
        for form in range(count):
            for at in range(groups.starts[buckets[form]], groups.starts[buckets[form] + 1]):
                number = groups.numbers[at]
                apart = bits_set(self.letters[number] ^ found.bits)
                if apart > 2 * edits:
                    continue
                if edits == 1:
                    self.take(found, number)
                else:
                    fewest = &near if apart <= 2 else &far
                    put(fewest, number)
        if edits > 1:
            for at in range(near.size):
                self.take(found, near.numbers[at])
            for at in range(far.size):
                self.take(found, far.numbers[at])

    cdef inline void take(self, Found* found, uint32_t number) noexcept nogil:
        """Have a word compared, but hardly any twice."""
        if found.seen[number & SEEN - 1] == <int32_t>number:
            return
        found.seen[number & SEEN - 1] = number
        prefetch(&self.codes[self.starts[number]])
        if found.waits == WAITING:
            self.compare(found)
        found.waiting[found.waits] = number
        found.waits += 1

    cdef void compare(self, Found* found) noexcept nogil:
        """Put those that wait, and are like the word, among the best."""
        cdef const Word* word = found.word
        cdef uint32_t strokes[STROKES]
        cdef uint32_t number
        cdef const uint32_t* letters
        cdef int waits, length, allowed, edits, stroked, at
        cdef bint same
        cdef Like like
        for waits in range(found.waits):
            number = found.waiting[waits]
            letters = &self.codes[self.starts[number]]
            length = self.starts[number + 1] - self.starts[number]
            same = self.number_alike[number] == word.alike
            allowed = found.farthest if number < FREQUENT else 1
            if not same and abs(length - word.length) > allowed:
                continue
            edits = distance(word, found.places, letters, length)
            if not edits or not (same or edits <= allowed):
                continue
            like.number = number
            like.values[0] = edits
            like.values[1] = length - word.length
            like.values[2] = 0 if same else edits
            if not same and edits > 1:
                stroked = strokes_of(letters, length, strokes)
                like.values[2] = within(found.strokes, found.stroked, strokes, stroked, edits - 1)
            like.values[3] = letters[0] != word.letters[0]
            like.values[4] = letters[length - 1] != word.letters[word.length - 1]
            like.values[5] = self.skeletons[number] == found.skeleton
            like.values[6] = self.logs[number]
            like.score = 0
            for at in range(SCORED):
                like.score += self.weights[at] * like.values[at]
            keep(found, &like)
        found.waits = 0

    cdef bint parts(
        self, const Word* word, int64_t* first, int64_t* second, double* likely
    ) noexcept nogil:
        """Whether the word is made of two frequent ones, the likeliest of these, and how likely."""
        cdef uint64_t hashes[LETTERS]
        cdef uint64_t hashed = 0
        cdef int64_t one, other
        cdef double score
        cdef bint found = False
        cdef int at
        for at in range(word.length):
            hashed += word.letters[at] * FACTOR[at]
            hashes[at] = hashed
            prefetch(self.words.span(hashed))
        for at in range(word.length - 1):
            one = self.part(hashes[at])
            if one < 0:
                continue
            other = self.part((hashed - hashes[at]) * INVERSE[at])
            if other < 0:
                continue
            score = self.logs[one] + self.logs[other] + self.gain(one, other)
            if not found or score > likely[0]:
                first[0], second[0], likely[0] = one, other, score
                found = True
        return found

    cdef inline int64_t part(self, uint64_t hashed) noexcept nogil:
        """The number of a frequent word; -1: it is none."""
        cdef Py_ssize_t place = self.words.place(hashed)
        return self.numbers[place] if place >= 0 and self.numbers[place] < self.frequent else -1

    cdef inline double gain(self, int64_t first, int64_t second) noexcept nogil:
        cdef Py_ssize_t place
        if self.pairs is None:
            return 0
        place = self.pairs.place(first << SHIFT | second)
        if place >= 0:
            return self.gains[place]
        return min(0.0, self.least - self.logs[first] - self.logs[second]) * UNSEEN_RAREST + UNSEEN


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
