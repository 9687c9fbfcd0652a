# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""What :mod:`.counting` does, compiled; both find the same, which a test compares.

And tags of so many attributes that to build a tree would take hours: libxml2's time for that is
quadratic in the attributes of a tag.  Where nothing is compiled, no tree is built.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memchr, memcpy

# The zero that stands behind every page is one, too.
cdef bint[256] is_mark = [code in b"<>=/'\" \t\n\v\f\r\0" for code in range(256)]
cdef bint[256] is_space = [code in b" \t\n\v\f\r\0" for code in range(256)]
cdef enum:
    RUN = 255  # so many are counted in a byte


def is_crowded(bytes page not None, int64_t most):
    """Whether a tag of the page, in UTF-8, may have more than so many attributes.

    Each place that may begin a tag does begin one here, each that may begin or end a value does
    both: what seems to be markup within a script, a comment or a value can hide no tag.
    """
    cdef const char* text = page
    cdef const char* end = text + len(page)
    cdef const char* at = text
    cdef const char* close
    # How many there are by now, if this is between attributes, after the equals sign of one, or in
    # quotes; -1: it cannot be.
    cdef int64_t outside = -1, value = -1, double = -1, single = -1
    while at < end:
        if outside < 0 and double < 0 and single < 0:
            at = <const char*>memchr(at, b"<", end - at)
            if at == NULL:
                return False
            if is_letter(at[1]):
                close = <const char*>memchr(at, b">", end - at)
                if close != NULL and close - at <= most:
                    if is_closed(at, close, b'"') and is_closed(at, close, b"'"):
                        at = close + 1  # as of nearly all tags, nothing of this one goes on
                        continue
        if not is_mark[<unsigned char>at[0]]:
            value = -1
            while not is_mark[<unsigned char>at[1]]:
                at += 1
        elif at[0] == b'"':
            outside, double = max(outside, double), value
            value = -1
        elif at[0] == b"'":
            outside, single = max(outside, single), value
            value = -1
        elif at[0] == b"<":
            value = -1
            if is_letter(at[1]):
                outside = max(outside, 0)
        elif at[0] == b">":
            outside = value = -1
        elif outside >= 0:
            outside += 1
            if at[0] == b"=":
                value = outside
            elif at[0] == b"/":
                value = -1
            if outside > most:
                return True
        at += 1
    return False


cdef inline bint is_closed(const char* start, const char* end, char quote) noexcept:
    """Whether no value in such quotes goes on at the end: the last of them follows no equals sign."""
    if memchr(start, quote, end - start) == NULL:  # looked for in words at a time
        return True
    while end[0] != quote:
        end -= 1
    end -= 1
    while is_space[<unsigned char>end[0]]:
        end -= 1
    return end[0] != b"="


cdef inline bint is_letter(char char) noexcept:
    return b"a" <= (char | 32) <= b"z"


def count(bytes page not None, unsigned char first, unsigned char last):
    """Count the bytes from `first` to `last`."""
    cdef const unsigned char* text = page
    cdef unsigned char span = last - first
    cdef Py_ssize_t size = len(page), at = 0, found = 0
    cdef unsigned char some
    while at < size:
        some = 0
        for at in range(at, min(at + RUN, size)):  # compilers make sixteen steps at once of it
            some += <unsigned char>(text[at] - first) <= span
        found += some
        at += 1
    return found


def utf8_errors(bytes page not None):
    """Count what Python would put a replacement for, and the characters beyond ASCII."""
    cdef const unsigned char* at = page
    cdef const unsigned char* end = at + len(page)
    cdef Py_ssize_t errors = 0, beyond = 0
    cdef uint64_t word
    cdef unsigned char first, low, high
    cdef int left  # bytes that the character still lacks
    while at < end:
        if end - at >= 8:
            memcpy(&word, at, 8)
            if not word & <uint64_t>0x8080808080808080:
                at += 8
                continue
        first = at[0]
        at += 1
        if first < 0x80:
            continue
        beyond += 1
        left, low, high = 0, 0x80, 0xbf
        if 0xc2 <= first <= 0xdf:
            left = 1
        elif 0xe0 <= first <= 0xef:
            left = 2
            if first == 0xe0:
                low = 0xa0  # else two bytes would do
            elif first == 0xed:
                high = 0x9f  # else half of a pair of UTF-16
            elif first == 0xef and end - at >= 2 and at[0] == 0xbf and at[1] == 0xbd:
                errors += 1  # the replacement itself
        elif 0xf0 <= first <= 0xf4:
            left = 3
            if first == 0xf0:
                low = 0x90
            elif first == 0xf4:
                high = 0x8f  # else beyond Unicode
        else:
            errors += 1
            continue
        while left and at < end and low <= at[0] <= high:
            left, low, high = left - 1, 0x80, 0xbf
            at += 1
        errors += left > 0
    return errors, beyond
