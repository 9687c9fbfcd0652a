# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""What :meth:`.normaliser.Normaliser.encode` does by default, compiled: one character after another.

Both write the same words, which a test compares; what they are and why stands there.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.string cimport memcpy

cdef enum:
    SPACE = 0x20
    POINTS = 0x20000  # beyond are Han that are seldom used, and nothing else that pages have
    LONGEST = 7
    UNKNOWN = 0, EMPTY = 1, SIGN = 254, MIXES = 255
    # The rules of :class:`.sign_words.Sign`.
    SEPARATOR = 1, DASH = 2, LONG_DASH = 3, LESS = 4, GREATER = 5, EQUAL = 6, TREND = 7, SYMBOL = 8
    ALWAYS = 9
    REACH = 40

# All zeros takes no memory: a page of it comes into being with the first of its characters.
cdef struct Written:
    unsigned char size  # of its bytes, and 1 more
    unsigned char[LONGEST] letters  # of a sign its rule, how many letters it has, and these
cdef Written[POINTS] known_plainly, known_with_signs


def encode(str text not None, by_itself, bint keep_signs=False):
    """The words of a text, one space between them, or None if a character needs its neighbours.

    `by_itself` says what is written for a character, or None; it is asked once for each. Of a sign
    that is a word in some places it says its rule and how it is written there.
    """
    cdef Written* known = &known_plainly[0]
    cdef Py_ssize_t index = -1
    if keep_signs:
        known = &known_with_signs[0]
    cdef Py_ssize_t size = 1
    cdef unsigned char last = SPACE, letter
    cdef unsigned char* found
    cdef Written* written
    cdef Py_UCS4 char
    cdef int at
    found = <unsigned char*>PyMem_Malloc(len(text) * LONGEST + 2)
    if found == NULL:
        raise MemoryError
    try:
        for char in text:
            index += 1
            if char >= POINTS:
                return None
            written = &known[char]
            if written.size == UNKNOWN:
                learn(written, by_itself(char))
            if written.size >= SIGN:
                if written.size == MIXES:
                    return None
                if counts(text, index, last, known, by_itself):
                    if written.letters[0] != SEPARATOR and last != SPACE:
                        found[size] = SPACE
                        size += 1
                    for at in range(written.letters[1]):
                        found[size] = last = written.letters[2 + at]
                        size += 1
                    if written.letters[0] == SEPARATOR:
                        continue
                found[size] = SPACE
                size += last != SPACE
                last = SPACE
                continue
            at = 0
            while at < written.size - EMPTY:
                letter = written.letters[at]
                found[size] = letter
                size += (letter != SPACE) | (last != SPACE)
                last = letter
                at += 1
                if written.size == EMPTY + 1:  # most are; the condition above takes twice as long
                    break
        if last == SPACE:
            size -= 1
        return PyBytes_FromStringAndSize(<char*>found + 1, max(size - 1, 0))
    finally:
        PyMem_Free(found)


def has_gaps(bytes encoded not None):
    """Whether there are spaces side by side."""
    cdef const unsigned char* text = encoded
    cdef unsigned char found = 0
    cdef Py_ssize_t at
    for at in range(1, len(encoded)):  # to the end, which compilers make sixteen steps at once of
        found |= (text[at - 1] == SPACE) & (text[at] == SPACE)
    return found != 0


def find_places(str text not None):
    """What :func:`.marks.find_places` finds."""
    cdef list hyphens = [], lines = [], ends = []
    cdef Py_ssize_t at = -1, hyphen = -1
    cdef Py_UCS4 char
    cdef int blanks = 0
    cdef bint in_line_start = True, opened = False, ended = False
    for char in text:
        at += 1
        if c"a" <= char <= c"z" or c"A" <= char <= c"Z":  # most
            in_line_start = ended = False
            blanks, hyphen = 0, -1
        elif char == c"\n":
            if hyphen >= 0 and at - hyphen <= 41:
                hyphens.append(hyphen)
            hyphen = -1
            in_line_start, opened, ended, blanks = True, False, False, 0
        elif char.isspace():
            blanks += 1
            if blanks > 8 or opened:
                in_line_start = False
            if blanks > 2:
                ended = False
        elif char.isdecimal():
            if in_line_start:
                lines.append(at)
            elif ended:
                ends.append(at)
            in_line_start = ended = False
            blanks, hyphen = 0, -1
        else:
            hyphen = at if char in (0x2D, 0x2010, 0xAC, 0x2E17, 0xAD) else -1
            if char in (0x2070, 0xb9, 0xb2, 0xb3, 0x2074, 0x2075, 0x2076, 0x2077, 0x2078, 0x2079):
                ends.append(at)
            if in_line_start and not opened and (char == c"[" or char == c"("):
                opened = True
            else:
                in_line_start = False
            blanks = 0
            ended = char in (
                0x2e, 0x2c, 0x3b, 0x3a, 0x21, 0x3f, 0x2026, 0x201d, 0x2019, 0x22,
                0xbb, 0x29, 0x3002, 0xff0c, 0x3001, 0xff1b, 0xff1a, 0xff01, 0xff1f, 0x300d,
                0x300f, 0xff09, 0x964, 0x61f, 0x60c, 0x6d4, 0x5d, 0xff3d, 0x3011,
            )
    return hyphens, lines, ends


cdef int learn(Written* written, found) except -1:
    cdef bytes letters
    if isinstance(found, tuple):
        letters = bytes((found[0], len(found[1]))) + found[1]
    else:
        letters = found
    if letters is None or len(letters) > LONGEST:
        written.size = MIXES
        return 0
    memcpy(written.letters, <const char*>letters, len(letters))
    written.size = SIGN if isinstance(found, tuple) else EMPTY + len(letters)
    return 0


cdef bint counts(str text, Py_ssize_t at, unsigned char last, Written* known, by_itself) except -1:
    """Whether the sign at a place is a word there: see :meth:`.sign_words._Place.is_counted`."""
    cdef int rule = known[text[at]].letters[0]
    cdef Py_ssize_t before, after
    cdef int previous = 0
    if rule == ALWAYS:
        return True
    after = step(text, at, 1, known, by_itself)
    if rule == SEPARATOR:
        return c"0" <= last <= c"9" and is_digit(text, after, known)
    before = step(text, at, -1, known, by_itself)
    if before >= 0:
        previous = rule_of(text[before], known)
    if rule == DASH:
        if last == SPACE and previous != DASH and previous != LONG_DASH:
            if is_digit(text, after, known):
                return True
            if after >= 0 and is_money(text[after]):
                if is_digit(text, step(text, after, 1, known, by_itself), known):
                    return True
        return is_alone(text, at, False, known, by_itself)
    if rule == LESS and before >= 0 and after >= 0 and is_space(text[before]):
        if is_space(text[after]):
            return True
    if rule == LESS or rule == TREND or (
        rule == GREATER and not (previous == DASH or LESS <= previous <= EQUAL)
    ):
        if after >= 0 and is_space(text[after]):
            after = step(text, after, 1, known, by_itself)
        if is_digit(text, after, known):
            return True
    return is_alone(text, at, rule == TREND or rule == SYMBOL, known, by_itself)


cdef Py_ssize_t step(str text, Py_ssize_t at, int by, Written* known, by_itself) except -2:
    """The place of the next visible character on one side, -1 if there is none."""
    cdef Written* written
    while True:
        at += by
        if not 0 <= at < len(text):
            return -1
        if text[at] >= POINTS:
            return at
        written = &known[text[at]]
        if written.size == UNKNOWN:
            learn(written, by_itself(text[at]))
        if written.size != EMPTY:
            return at


cdef bint is_alone(
    str text, Py_ssize_t at, bint among_symbols, Written* known, by_itself
) except -1:
    """Whether the line has nothing else but blanks, and symbols if they are asked for."""
    cdef int by, walked
    cdef Py_ssize_t place
    cdef Py_UCS4 char
    for by in range(-1, 2, 2):
        place = at
        for walked in range(REACH + 1):
            place = step(text, place, by, known, by_itself)
            if place < 0:
                break
            if walked == REACH:
                return False
            char = text[place]
            if char == c"\n":
                break
            if is_space(char) or char == c"\t" or char == c"\r":
                continue
            if not (among_symbols and rule_of(char, known) >= TREND):
                return False
            if known[char].letters[2] < 0x80:
                return False
    return True


cdef inline int rule_of(Py_UCS4 char, Written* known) noexcept:
    return known[char].letters[0] if char < POINTS and known[char].size == SIGN else 0


cdef inline bint is_digit(str text, Py_ssize_t at, Written* known):
    if at < 0 or text[at] >= POINTS or not EMPTY < known[text[at]].size < SIGN:
        return False
    return c"0" <= known[text[at]].letters[0] <= c"9"


cdef inline bint is_space(Py_UCS4 char) noexcept:
    return (
        char == 0x20 or char == 0xA0 or 0x2000 <= char <= 0x200A
        or char == 0x202F or char == 0x205F or char == 0x3000
    )


cdef inline bint is_money(Py_UCS4 char) noexcept:
    return char in (0x24, 0xA3, 0xA5, 0x20AC, 0x20B9, 0xFF04, 0xFE69, 0xFFE1, 0xFFE5)
