"""What is asked of the letters of words; part of `_choices.pyx`."""

cdef enum:
    LETTERS = 64  # of a word that is looked for: a bit for each
    LATIN = 256  # all others are their own stroke
    MOST_STROKES = 4  # of a letter
    STROKES = MOST_STROKES * (LETTERS + 3)  # of a word that is up to three edits away
    ASCII = 128

cdef enum:
    FORMS_OF_ONE = 9  # of a word, up to one letter of its beginning left out
    FORMS = 37  # … up to two

cdef struct Word:
    uint32_t letters[LETTERS]
    int length
    uint64_t hashed
    uint32_t strokes[STROKES]
    int stroked
    uint64_t strokes_hashed
    uint64_t buckets[FORMS]
    int ones, forms  # buckets of the former, and of both

cdef int[LATIN] STROKES_IN = [len(shape.strokes(chr(code))) for code in range(LATIN)]
cdef uint32_t[LATIN][MOST_STROKES] STROKES_OF = [
    [ord(stroke) for stroke in shape.strokes(chr(code)).ljust(MOST_STROKES, "\0")]
    for code in range(LATIN)
]
cdef uint32_t[ASCII] SOUNDS = shape.SOUNDS
cdef uint64_t[LETTERS] FACTOR = table.FACTORS, INVERSE = table.INVERSES
cdef int IN_SKELETON = shape.LONGEST


cdef int strokes_of(const uint32_t* letters, int length, uint32_t* strokes) noexcept nogil:
    """Put the strokes of a word there; return how many they are."""
    cdef int at, stroke, size = 0
    for at in range(length):
        if letters[at] >= LATIN:
            strokes[size] = letters[at]
            size += 1
            continue
        for stroke in range(STROKES_IN[letters[at]]):
            strokes[size] = STROKES_OF[letters[at]][stroke]
            size += 1
    return size


cdef uint64_t hash_of(const uint32_t* letters, int length) noexcept nogil:
    cdef uint64_t found = 0
    cdef int at
    for at in range(length):
        found += letters[at] * FACTOR[at & LETTERS - 1]
    return found


cdef uint32_t bits_of(const Word* word) noexcept nogil:
    cdef uint32_t found = 0
    cdef int at
    for at in range(word.length):
        found |= <uint32_t>1 << (word.letters[at] & 31)
    return found & ~<uint32_t>1


cdef inline int bits_set(uint32_t bits) noexcept nogil:
    bits -= bits >> 1 & 0x55555555
    bits = (bits & 0x33333333) + (bits >> 2 & 0x33333333)
    return ((bits + (bits >> 4) & 0x0F0F0F0F) * 0x01010101) >> 24


cdef uint64_t skeleton(const Word* word) noexcept nogil:
    cdef uint64_t found = word.letters[0] * FACTOR[0]
    cdef uint32_t letter, before = 0, after, sound
    cdef int at, place = 0
    for at in range(1, min(word.length, IN_SKELETON - 1)):
        letter = word.letters[at]
        after = word.letters[at + 1] if at + 1 < word.length else 0
        if letter == c"p" and after == c"h":
            letter = c"f"
        sound = SOUNDS[letter] if letter < ASCII else letter
        if letter == before or (letter == c"c" and after == c"k"):
            sound = 0
        if sound:
            place += 1
            found += sound * FACTOR[place]
        before = letter
    return found


cdef int distance(
    const Word* word, const uint64_t* places, const uint32_t* letters, int length
) noexcept nogil:
    """Edits between the word and another: optimal string alignment.

    A column of the matrix at a time, as bits (Hyyrö, "A bit-vector algorithm for computing
    Levenshtein and Damerau edit distances", 2003). *places* are those of each letter in the word.
    """
    cdef uint64_t up = ~<uint64_t>0, down = 0, equal = 0, before = 0, here, right, left
    cdef int last = word.length - 1, edits = word.length, at, place
    for at in range(length):
        if letters[at] < ASCII:
            here = places[letters[at]]
        else:
            here = 0
            for place in range(word.length):
                here |= <uint64_t>(word.letters[place] == letters[at]) << place
        equal = (((~equal & here) << 1) & before) | (((here & up) + up) ^ up) | here | down
        right = down | ~(equal | up)
        left = equal & up
        edits += <int>(right >> last & 1) - <int>(left >> last & 1)
        right = right << 1 | 1
        left <<= 1
        up = left | ~(equal | right)
        down = right & equal
        before = here
    return edits


cdef int within(
    const uint32_t* one, int ones, const uint32_t* other, int others, int most
) noexcept nogil:
    """Edits between two words, up to *most* + 1, which stands for all above.

    Optimal string alignment; what is equal at the beginning needs no edit, then each is tried.
    """
    cdef int found
    while ones and others and one[0] == other[0]:
        one += 1
        ones -= 1
        other += 1
        others -= 1
    if abs(ones - others) > most:
        return most + 1
    if not ones or not others:
        return ones + others
    if not most:
        return 1
    found = within(one + 1, ones - 1, other + 1, others - 1, most - 1)
    found = min(found, within(one + 1, ones - 1, other, others, most - 1))
    found = min(found, within(one, ones, other + 1, others - 1, most - 1))
    if ones > 1 and others > 1 and one[0] == other[1] and one[1] == other[0]:
        found = min(found, within(one + 2, ones - 2, other + 2, others - 2, most - 1))
    return found + 1
