# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""The compiled form of :meth:`.normaliser.Normaliser.encode`, as far as settings are the defaults.

It reads one character after another. A test compares the words of both; `normaliser.py` and
`sign_words.py` explain them.
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
    SEPARATOR = 1, DASH = 2, LONG_DASH = 3, LESS = 4, GREATER = 5, EQUAL = 6, MARK = 7, STAR = 8
    UNIT = 9, SHARP = 10, TWICE = 11, NOT = 12, TREND = 13, SYMBOL = 14, ALWAYS = 15
    REACH = 40
    MOST = 3, MOST_DASHES = 2, MOST_STARS = 5

# All zeros takes no memory: a page of it comes into being with the first of its characters.
cdef struct Written:
    unsigned char size  # of its bytes, and 1 more
    # Of a sign its rule and of how many signs it is (times 16), how many bytes it has and those
    # behind it (times 16), and these.
    unsigned char[LONGEST] letters
cdef Written[POINTS] known_plainly, known_with_signs


def encode(str text not None, by_itself, bint keep_signs=False):
    """The words of a text, one space between them, or None if a character needs its neighbours.

    `by_itself` says what is written for a character, or None; it is asked once for each. Of a sign
    that is a word in some places it says its rule and how it is written there.
    """
    cdef Written* known = &known_plainly[0]
    cdef Py_ssize_t index = -1, unit = -2  # the place of the unit that was a word last
    if keep_signs:
        known = &known_with_signs[0]
    cdef Py_ssize_t size = 1
    cdef unsigned char last = SPACE, letter
    cdef unsigned char* found
    cdef Written* written
    cdef Py_UCS4 char
    cdef int at, end
    found = <unsigned char*>PyMem_Malloc(len(text) * LONGEST + 2)
    if found == NULL:
        raise MemoryError
    found[0] = SPACE
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
                at, end = 2, 2 + (written.letters[1] & 15)
                if counts(text, index, last, found[size - 1 - (last != SPACE)], unit, known, by_itself):
                    if written.letters[0] & 15 == UNIT and written.letters[1] < 16:
                        unit = index
                    if written.letters[0] & 15 != SEPARATOR and last != SPACE:
                        found[size] = SPACE
                        size += 1
                    while at < end:
                        found[size] = last = written.letters[at]
                        size += 1
                        at += 1
                    if written.letters[0] & 15 == SEPARATOR:
                        continue
                found[size] = SPACE
                size += last != SPACE
                last = SPACE
                at = end
                end += written.letters[1] >> 4
                while at < end:
                    found[size] = last = written.letters[at]
                    size += 1
                    at += 1
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
        rule, sign, behind = found
        signs = len(sign) if rule == SEPARATOR else sign.count(b" ") + 1
        letters = bytes((rule | signs << 4, len(sign) | len(behind) << 4)) + sign + behind
    else:
        letters = found
    if letters is None or len(letters) > LONGEST:
        written.size = MIXES
        return 0
    memcpy(written.letters, <const char*>letters, len(letters))
    written.size = SIGN if isinstance(found, tuple) else EMPTY + len(letters)
    return 0


cdef bint counts(
    str text, Py_ssize_t at, unsigned char last, unsigned char before_last, Py_ssize_t unit,
    Written* known, by_itself,
) except -1:
    """Whether the sign at a place is a word there: see :meth:`.sign_words._Place.is_counted`.

    `last` and `before_last` have been written before it, `unit` is the place of a unit that was.
    """
    cdef int rule = rule_of(text[at], known)
    cdef Py_ssize_t before, after
    cdef int previous, following
    cdef bint lone = last in b" .,:/"  # no letter of its line is right before it
    if rule == ALWAYS:
        return True
    if rule == SEPARATOR and not c"0" <= last <= c"9" and not (
        last == SPACE and is_point(text[at], known)
    ):
        return False  # as the dots that some write for empty lines
    after = step(text, at, 1, known, by_itself)
    before = step(text, at, -1, known, by_itself)
    previous = rule_of(text[before], known) if before >= 0 else 0
    following = rule_of(text[after], known) if after >= 0 else 0
    if rule == DASH:
        if last == SPACE and previous != DASH and previous != LONG_DASH:
            if after >= 0 and is_money(text[after]):
                after = step(text, after, 1, known, by_itself)
            if begins_number(text, after, known, by_itself):
                return True
        return lone and is_alone(text, at, MOST_DASHES, known, by_itself)
    if rule == LONG_DASH:
        return lone and is_alone(text, at, MOST_DASHES, known, by_itself)
    if rule == STAR:
        if lone and is_alone(text, at, MOST_STARS, known, by_itself):
            return True
        return (previous == STAR or c"0" <= last <= c"9") and is_among(
            text, at, True, known, by_itself
        )
    if rule == TREND or rule == SYMBOL:
        if rule == TREND and is_before_number(text, after, known, by_itself):
            return True
        return is_among(text, at, False, known, by_itself)
    if rule == SEPARATOR:
        if known[text[at]].letters[1] != 1 or not is_digit(text, after, known):
            return False
        if c"0" <= last <= c"9" or before < 0 or opens(text[before]):
            return True
        return previous == DASH or LESS <= previous <= EQUAL
    elif rule == LESS:
        if following == EQUAL or is_before_number(text, after, known, by_itself):
            return True
        if before >= 0 and after >= 0 and is_space(text[before]) and is_space(text[after]):
            return True
    elif rule == GREATER:
        if following == EQUAL:
            return True
        if not (previous == DASH or LESS <= previous <= EQUAL):
            if is_before_number(text, after, known, by_itself):
                return True
    elif rule == EQUAL:
        if following == EQUAL and before >= 0 and text[before] != c"\n" and previous != EQUAL:
            after = step(text, after, 1, known, by_itself)
            if after >= 0 and text[after] != c"\n" and rule_of(text[after], known) != EQUAL:
                return True
    elif rule == UNIT:
        if before >= 0 and before == unit:
            return True
        if before >= 0 and is_space(text[before]):
            before = step(text, before, -1, known, by_itself)
        if ends_in_digit(text, before, known):
            return True
        if is_digit(text, after, known) and known[text[at]].letters[2] not in (0xC2, 0xCA):
            return True  # neither a degree nor a prime
    elif rule == SHARP:
        if (c"a" <= last <= c"z" or last == c"_") and before_last == SPACE:
            return True
    elif rule == TWICE:
        if is_same(text, at, before, known):
            before = step(text, before, -1, known, by_itself)
            if not is_same(text, at, after, known) and not is_same(text, at, before, known):
                return True
        elif is_same(text, at, after, known):
            if not is_same(text, at, step(text, after, 1, known, by_itself), known):
                return True
    elif rule == NOT:
        if following == EQUAL:
            if before < 0 or not is_exclamation(text[before], known):
                return True
        elif begins_with_letter(text, after, known) and (before < 0 or opens(text[before])):
            return True
    return lone and is_alone(text, at, MOST, known, by_itself)


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


cdef Py_ssize_t skip_blanks(
    str text, Py_ssize_t place, int by, int* left, Written* known, by_itself
) except -2:
    """The next character that is no blank, a line's end among them; -1 at the end of the text.

    Each step takes one off what is `left`; below 0 it was too far.
    """
    while True:
        place = step(text, place, by, known, by_itself)
        if place < 0:
            return -1
        left[0] -= 1
        if left[0] < 0 or text[place] == c"\n" or not is_blank(text[place]):
            return place


cdef bint is_alone(str text, Py_ssize_t at, int most, Written* known, by_itself) except -1:
    """Whether the line has at most so many signs and nothing else but blanks."""
    cdef int by, left, signs = known[text[at]].letters[0] >> 4, before = signs
    cdef Py_ssize_t place
    cdef Py_UCS4 char
    cdef int seen = comment_part(text[at], known)
    if known[text[at]].letters[1] >> 4:
        return False
    for by in range(-1, 2, 2):
        place, left = at, REACH
        while True:
            place = skip_blanks(text, place, by, &left, known, by_itself)
            if left < 0:
                return False
            if place < 0 or text[place] == c"\n":
                break
            char = text[place]
            if not rule_of(char, known) or known[char].letters[1] >> 4:
                return False
            signs += known[char].letters[0] >> 4
            seen |= comment_part(char, known)
            if by < 0:
                before = 0
        if signs > most:
            return False
    return seen != 3 and not (before and place >= 0 and leads(text, at, place, known, by_itself))


cdef inline int comment_part(Py_UCS4 char, Written* known) noexcept:
    """1 for a slash, 2 for an asterisk."""
    if not rule_of(char, known) or known[char].letters[1] != 1:
        return 0
    return (known[char].letters[2] == c"/") + 2 * (known[char].letters[2] == c"*")


cdef bint leads(
    str text, Py_ssize_t at, Py_ssize_t place, Written* known, by_itself
) except -1:
    """Whether the sign of one line begins the next one, too, with a space behind it."""
    cdef bint found = False
    cdef int walked
    if known[text[at]].letters[1] != 1 or known[text[at]].letters[2] not in b"*#/;%->":
        return False
    for walked in range(REACH):
        place = step(text, place, 1, known, by_itself)
        if place < 0 or text[place] == c"\n":
            return False
        if is_same(text, at, place, known):
            found = True
        elif found or not is_blank(text[place]):
            return found and (is_space(text[place]) or comment_part(text[place], known) == 1)
    return False


cdef bint is_among(str text, Py_ssize_t at, bint numbers, Written* known, by_itself) except -1:
    """Whether the line has nothing else but symbols and blanks, or numbers, signs and blanks."""
    cdef int by, left
    cdef Py_ssize_t place
    cdef Py_UCS4 char
    cdef bint found = not numbers
    for by in range(-1, 2, 2):
        place, left = at, REACH
        while True:
            place = skip_blanks(text, place, by, &left, known, by_itself)
            if left < 0:
                return False
            if place < 0 or text[place] == c"\n":
                break
            char = text[place]
            if numbers:
                if rule_of(char, known):
                    if known[char].letters[1] >> 4:
                        return False
                elif not (is_digit(text, place, known) and ends_in_digit(text, place, known)):
                    return False
                else:
                    found = True
            elif rule_of(char, known) < TREND or known[char].letters[2] < 0x80:
                return False
    return found


cdef bint is_before_number(str text, Py_ssize_t after, Written* known, by_itself) except -1:
    if after >= 0 and is_space(text[after]):
        after = step(text, after, 1, known, by_itself)
    return begins_number(text, after, known, by_itself)


cdef bint begins_number(str text, Py_ssize_t at, Written* known, by_itself) except -1:
    if at >= 0 and is_point(text[at], known):
        at = step(text, at, 1, known, by_itself)
    return is_digit(text, at, known)


cdef inline bint is_point(Py_UCS4 char, Written* known) noexcept:
    return (
        rule_of(char, known) == SEPARATOR
        and known[char].letters[1] == 1
        and known[char].letters[2] == c"."
    )


cdef inline bint is_same(str text, Py_ssize_t at, Py_ssize_t other, Written* known) noexcept:
    """Whether two places have the sign of one byte that the first has."""
    if other < 0 or rule_of(text[other], known) != rule_of(text[at], known):
        return False
    return known[text[other]].letters[1] == 1 and (
        known[text[other]].letters[2] == known[text[at]].letters[2]
    )


cdef inline int rule_of(Py_UCS4 char, Written* known) noexcept:
    return known[char].letters[0] & 15 if char < POINTS and known[char].size == SIGN else 0


cdef inline bint is_digit(str text, Py_ssize_t at, Written* known):
    if at < 0 or text[at] >= POINTS or not EMPTY < known[text[at]].size < SIGN:
        return False
    return c"0" <= known[text[at]].letters[0] <= c"9"


cdef inline bint ends_in_digit(str text, Py_ssize_t at, Written* known):
    if at < 0 or text[at] >= POINTS or not EMPTY < known[text[at]].size < SIGN:
        return False
    return c"0" <= known[text[at]].letters[known[text[at]].size - EMPTY - 1] <= c"9"


cdef inline bint begins_with_letter(str text, Py_ssize_t at, Written* known):
    if at < 0 or text[at] >= POINTS or not EMPTY < known[text[at]].size < SIGN:
        return False
    return c"a" <= known[text[at]].letters[0] <= c"z" or known[text[at]].letters[0] == c"_"


cdef inline bint is_exclamation(Py_UCS4 char, Written* known) noexcept:
    """Whether it ends in an exclamation or question mark."""
    cdef int end
    if not rule_of(char, known):
        return False
    end = known[char].letters[1 + (known[char].letters[1] & 15)]
    return end == c"!" or end == c"?"


cdef inline bint opens(Py_UCS4 char) noexcept:
    return char in (0x9, 0xA, 0x28, 0x207D, 0x208D, 0xFE59, 0xFF08) or is_space(char)


cdef inline bint is_blank(Py_UCS4 char) noexcept:
    return is_space(char) or char == c"\t" or char == c"\r"


cdef inline bint is_space(Py_UCS4 char) noexcept:
    return (
        char == 0x20 or char == 0xA0 or 0x2000 <= char <= 0x200A
        or char == 0x202F or char == 0x205F or char == 0x3000
    )


cdef inline bint is_money(Py_UCS4 char) noexcept:
    return char in (0x24, 0xA3, 0xA5, 0x20AC, 0x20B9, 0xFF04, 0xFE69, 0xFFE1, 0xFFE5)
