# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""What :class:`.choices.Finder` does with arrays of all words, compiled: one word after another.

Both find the same to the last bit, which a test compares; what is done and why stands there.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memmove, memset

import numpy as np

from . import nearby, shape, table
from .choices import FEATURES, WEIGHTS, Choice

include "letters.pxi"
include "lookup.pxi"
include "best.pxi"

cdef enum:
    PREFIX = 8
    ROWS = MOST + 2  # for the word itself and for two others

cdef int COLUMNS = len(FEATURES), FREQUENCY = FEATURES.index("frequency")
cdef int TWO_WORDS = FEATURES.index("two words")
cdef int KNOWN = FEATURES.index("known"), KNOWN_LETTERS = FEATURES.index("known letters")
cdef int UNKNOWN = FEATURES.index("unknown"), UNKNOWN_LETTERS = FEATURES.index("unknown letters")
cdef int SHORT = nearby.SHORT, LONG = nearby.LONG, FREQUENT = nearby.FREQUENT
cdef uint64_t MIXING = table.FACTORS[1]
cdef int UNUSED_BITS = nearby.UNUSED_BITS

# A word that may be meant; together, for memory is read by such pieces.
cdef struct Offered:
    uint64_t skeleton
    double log
    uint32_t start
    int32_t length
    int64_t alike


cdef class Groups:
    """As `nearby.Groups`."""

    cdef const uint32_t[::1] starts, numbers

    def __init__(self, groups):
        self.starts, self.numbers = groups


cdef class Search:
    """Finds the choices of words of up to LETTERS letters, as the `finder` does."""

    cdef Lookup words, alike
    cdef const double[::1] logs
    cdef const int32_t[::1] numbers
    cdef Gains gains
    cdef int64_t frequent
    cdef const int32_t[::1] alike_numbers
    cdef const uint32_t[::1] letters  # of each of the words that are offered, as bits
    cdef const Offered[::1] offered
    cdef const uint32_t[::1] codes
    cdef Groups of_strokes, of_one, of_two
    cdef const uint64_t[:, ::1] factors  # of each form, by letter
    cdef const int64_t[::1] fewest  # letters of words that have the form
    cdef double weights[SCORED]
    cdef int near, far

    def __init__(self, finder):
        known, like = finder.dictionary, finder.nearby
        self.logs = known.logs
        self.words, self.numbers = Lookup(known.by_hash), known.by_hash.values
        self.frequent = finder.frequent
        self.gains = Gains(known) if known.by_pair is not None else None
        self.alike, self.alike_numbers = Lookup(like.alike), like.alike.values
        self.codes = np.frombuffer("".join(like.words).encode("utf-32-le", "surrogatepass"), "<u4")
        self.letters = like.letters
        lengths = np.array([len(word) for word in like.words], np.int32)
        types = {"skeleton": "u8", "log": "f8", "start": "u4", "length": "i4", "alike": "i8"}
        offered = np.empty(len(lengths), [*types.items()])
        offered["skeleton"], offered["log"] = finder.skeletons, known.logs[: len(lengths)]
        offered["start"], offered["length"] = np.cumsum(lengths) - lengths, lengths
        offered["alike"] = like.number_alike
        self.offered = offered
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
                for place in range(min(count, <Py_ssize_t>2)):
                    self.hash(&asked[place])
                for place in range(count):
                    if place + 2 < count:
                        self.hash(&asked[place + 2])
                    if place + 1 < count:
                        self.fetch(&asked[place + 1])
                    counts[place] = self.choices(&asked[place], &numbers[row, 0], &features[row, 0])
                    row += counts[place]
        finally:
            free(asked)
        return Choice(np.asarray(counts), np.asarray(numbers[:row]), np.asarray(features[:row]))

    cdef int read(self, Word* word, str text) except -1:
        cdef Py_ssize_t at
        if not 0 < len(text) <= LETTERS:
            raise ValueError(f"no word of up to {LETTERS} letters: {text}")
        word.length = <int>len(text)
        for at in range(word.length):
            word.letters[at] = <uint32_t>text[at]
        return 0

    cdef void hash(self, Word* word) noexcept nogil:
        """Find out where in the tables the word is, if it is there, and have memory brought in."""
        cdef int form, at, length = min(word.length, PREFIX)
        cdef uint64_t hashed
        word.hashed = hash_of(word.letters, word.length)
        prefetch(self.words.span(word.hashed))
        word.stroked = strokes_of(word.letters, word.length, word.strokes)
        word.strokes_hashed = hash_of(word.strokes, word.stroked)
        prefetch(self.alike.span(word.strokes_hashed))
        word.ones = word.forms = 0
        for form in range(FORMS if word.length > SHORT else FORMS_OF_ONE):
            if length < self.fewest[form]:
                continue
            hashed = 0
            for at in range(length):
                hashed += word.letters[at] * self.factors[form, at]
            hashed ^= hashed >> 29
            hashed = hashed * MIXING >> UNUSED_BITS
            if form < FORMS_OF_ONE:
                prefetch(&self.of_one.starts[hashed])
                word.ones += 1
            prefetch(&self.of_two.starts[hashed])
            word.buckets[word.forms] = hashed
            word.forms += 1

    cdef void fetch(self, const Word* word) noexcept nogil:
        cdef int form
        for form in range(word.ones):
            prefetch(&self.of_one.numbers[self.of_one.starts[word.buckets[form]]])
        for form in range(word.forms):
            prefetch(&self.of_two.numbers[self.of_two.starts[word.buckets[form]]])

    cdef int choices(self, const Word* word, int32_t* numbers, float* features) noexcept nogil:
        """Put in rows of its own what the word may be; return how many rows that are."""
        cdef Found found
        cdef int row, column
        cdef int64_t first, second
        cdef double likely
        cdef int64_t number = self.number(word.hashed)
        cdef bint known = number >= 0
        numbers[0] = numbers[1] = number
        features[KNOWN if known else UNKNOWN] = 1
        features[KNOWN_LETTERS if known else UNKNOWN_LETTERS] = word.length
        if known:
            features[FREQUENCY] = self.logs[number]
        self.find(&found, word, known)
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

    cdef void find(self, Found* found, const Word* word, bint known) noexcept nogil:
        """Compare the word with those that are like it."""
        cdef const uint32_t* starts = &self.of_strokes.starts[0]
        cdef Py_ssize_t at
        self.begin(found, word, known)
        if found.alike >= 0:
            for at in range(starts[found.alike], starts[found.alike + 1]):
                self.take(found, self.of_strokes.numbers[at])
        self.of_forms(found, self.of_one, word.ones, 1)
        if found.most > 1:
            self.of_forms(found, self.of_two, word.forms, 2)
        self.compare(found)

    cdef void begin(self, Found* found, const Word* word, bint known) noexcept nogil:
        cdef Py_ssize_t at = self.alike.place(word.strokes_hashed)
        found.word = word
        found.alike = self.alike_numbers[at] if at >= 0 else -1
        found.most = min(1 if known else 2, 1 + (word.length > SHORT))
        found.farthest = found.most + (word.length >= LONG and found.most > 1)
        found.bits = bits_of(word)
        found.skeleton = skeleton(word)
        found.waits = found.size = 0
        memset(found.seen, -1, sizeof(found.seen))
        memset(found.places, 0, sizeof(found.places))
        for at in range(word.length):
            if word.letters[at] < ASCII:
                found.places[word.letters[at]] |= <uint64_t>1 << at

    cdef void of_forms(self, Found* found, Groups groups, int count, int edits) noexcept nogil:
        """Take those of the words in the buckets that may be so many edits away."""
        cdef Fewest near, far
        cdef Fewest* fewest
        cdef int form, apart
        cdef uint64_t bucket
        cdef uint32_t number
        cdef Py_ssize_t at
        near.size = far.size = 0
        near.most, far.most = self.near, self.far
        for form in range(count):
            bucket = found.word.buckets[form]
            for at in range(groups.starts[bucket], groups.starts[bucket + 1]):
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
        prefetch(&self.offered[number])
        if found.waits == WAITING:
            self.compare(found)
        found.waiting[found.waits] = number
        found.waits += 1

    cdef void compare(self, Found* found) noexcept nogil:
        """Put those that wait, and are like the word, among the best."""
        cdef const Word* word = found.word
        cdef uint32_t strokes[STROKES]
        cdef int64_t number
        cdef const Offered* offered
        cdef const uint32_t* letters
        cdef int waits, length, allowed, edits, stroked, at
        cdef bint same
        cdef Like like
        for waits in range(found.waits):
            prefetch(&self.codes[self.offered[found.waiting[waits]].start])
        for waits in range(found.waits):
            number = found.waiting[waits]
            offered = &self.offered[number]
            letters, length = &self.codes[offered.start], offered.length
            same = offered.alike == found.alike
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
                like.values[2] = within(word.strokes, word.stroked, strokes, stroked, edits - 1)
            like.values[3] = letters[0] != word.letters[0]
            like.values[4] = letters[length - 1] != word.letters[word.length - 1]
            like.values[5] = offered.skeleton == found.skeleton
            like.values[6] = offered.log
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
            one = self.number(hashes[at])
            if not 0 <= one < self.frequent:
                continue
            other = self.number((hashed - hashes[at]) * INVERSE[at])
            if not 0 <= other < self.frequent:
                continue
            score = self.logs[one] + self.logs[other]
            if self.gains is not None:
                score += self.gains.of(one, other)
            if not found or score > likely[0]:
                first[0], second[0], likely[0] = one, other, score
                found = True
        return found

    cdef inline int64_t number(self, uint64_t hashed) noexcept nogil:
        """That of a word in the dictionary; -1: it is not there."""
        cdef Py_ssize_t place = self.words.place(hashed)
        return self.numbers[place] if place >= 0 else -1
