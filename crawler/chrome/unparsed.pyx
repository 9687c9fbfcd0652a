# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""What is seen of what is not parsed, its text and its anchors, in a fifth of the time.

As :mod:`.anchors` and :mod:`.outside` find them, which a test compares.
"""

from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memchr, memcpy, strlen

from string import ascii_lowercase

import numpy as np

from .anchors import MOST_ATTRIBUTES
from .outside import MOST_UNSEEN

include "columns.pxi"

cdef int64_t MOST = MOST_ATTRIBUTES, UNSEEN = MOST_UNSEEN
cdef bint[256] is_space = [code in b" \t\n\v\f\r" for code in range(256)]
cdef bint[256] ends_value = [code in b" \t\n\v\f\r<>" for code in range(256)]
cdef bint[256] ends_name = [code in b" \t\n\v\f\r<>/=" for code in range(256)]

cdef bint[256] begins_tag = [
    chr(code) in "/!?" or chr(code | 32) in ascii_lowercase for code in range(256)
]

cdef const char* COMMENT = b"!--"
cdef const char* SCRIPT = b"script"
cdef const char* STYLE = b"style"
cdef const char* TEXTAREA = b"textarea"

cdef struct Attribute:
    const char* name
    const char* name_end
    const char* value  # NULL: has none
    const char* value_end


def anchors(bytes data not None, int64_t most):
    """Return address and `rel` of those that have one, among so many anchors."""
    cdef const char* at = data
    cdef const char* end = at + len(data)
    cdef const char* after
    cdef Attribute href, rel
    cdef list found = []
    while most > 0 and at < end:
        at = <const char*>memchr(at, b"<", end - at)
        if at == NULL:
            break
        at += 1
        after = behind_name(at, end)
        if after == NULL:
            continue
        after = read(after, end, &href, &rel)
        if after == NULL:
            continue
        at = after
        most -= 1
        if href.value != NULL:
            found.append((decoded(&href), None if rel.value == NULL else decoded(&rel)))
    return found


cdef inline object decoded(Attribute* of):
    return PyUnicode_DecodeUTF8(of.value, of.value_end - of.value, "replace")


cdef inline const char* behind_name(const char* at, const char* end) noexcept:
    """Return where the name of a link's tag ends, NULL if it is another's."""
    if at == end or at[0] | 32 != b"a":
        return NULL
    at += 1
    if end - at > 3 and at[0] | 32 == b"r" and at[1] | 32 == b"e" and at[2] | 32 == b"a":
        at += 3
    if at == end or not (is_space[<unsigned char>at[0]] or at[0] == b"/"):
        return NULL
    return at


cdef const char* read(
    const char* at, const char* end, Attribute* href, Attribute* rel
) noexcept:
    """Read a tag's attributes; return where it ends, NULL if it does not."""
    cdef Attribute found
    cdef int64_t number
    cdef bint had_href = False, had_rel = False
    href.value = href.value_end = rel.value = rel.value_end = NULL
    for number in range(MOST + 1):
        while at < end and (is_space[<unsigned char>at[0]] or at[0] == b"/"):
            at += 1
        if at == end or at[0] == b"<":
            return NULL
        if at[0] == b">":
            return at + 1
        at = attribute(at, end, &found)
        # The first of a name counts, be it without a value.
        if not had_href and is_named(&found, end, b"href"):
            href[0], had_href = found, True
        elif not had_rel and is_named(&found, end, b"rel"):
            rel[0], had_rel = found, True
    return NULL


cdef const char* attribute(const char* at, const char* end, Attribute* found) noexcept:
    """Read the attribute that begins here; return where what follows it begins."""
    cdef const char* close
    found.name = at
    at += 1  # whatever it is, it belongs to the name
    while at < end and not ends_name[<unsigned char>at[0]]:
        at += 1
    found.name_end = at
    found.value = NULL
    while at < end and is_space[<unsigned char>at[0]]:
        at += 1
    if at == end or at[0] != b"=":
        return found.name_end
    at += 1
    while at < end and is_space[<unsigned char>at[0]]:
        at += 1
    if at == end:
        return found.name_end
    close = at
    if at[0] == b'"' or at[0] == b"'":
        close += 1
        while close < end and close[0] != at[0] and close[0] != b"<":
            close += 1
        if close == end or close[0] == b"<":  # no value goes on behind the next tag
            return found.name_end
        found.value, found.value_end = at + 1, close
        return close + 1
    while close < end and not ends_value[<unsigned char>close[0]]:
        close += 1
    if close == at:
        return found.name_end
    found.value, found.value_end = at, close
    return close


cdef bint is_named(Attribute* found, const char* end, bytes name) noexcept:
    """Whether it is an attribute of that name, which an equals sign or a space follows."""
    cdef const char* wanted = name
    cdef Py_ssize_t i, size = len(name)
    if found.name_end - found.name != size or found.name_end == end:
        return False
    for i in range(size):
        if found.name[i] | 32 != wanted[i]:
            return False
    return found.name_end[0] == b"=" or is_space[<unsigned char>found.name_end[0]]


def outside(bytes data not None):
    """Return the text outside of tags, squeezed; a tag parts words."""
    cdef Text text = Text()
    text.append(data, len(data))
    cdef char* at = text.bytes
    cdef char* end = at + text.size
    cdef char* out = at
    while at < end:
        if at[0] == b"<" and at + 1 < end and begins_tag[<unsigned char>at[1]]:
            at = <char*>memchr(at, b">", end - at)
            out[0] = b" "
            if at == NULL:
                at = end
        else:
            out[0] = at[0]
        at += 1
        out += 1
    text.size = out - text.bytes
    text.squeeze()
    return text.decoded()


def seen_since(bytes data not None, Py_ssize_t since):
    """Return what stands outside of scripts, styles, comments and textareas, from `since` on."""
    cdef const char* begin = data
    cdef const char* end = begin + len(data)
    cdef const char* at = begin
    cdef const char* shown = begin + since  # from there on what was passed is to be returned
    cdef const char* name
    cdef const char* close
    cdef int64_t unseen = 0
    cdef Text found = Text()
    while at < end and unseen < UNSEEN:
        at = <const char*>memchr(at, b"<", end - at)
        if at == NULL:
            break
        name = hidden_name(at, end)
        if name == NULL:
            at += 1
            continue
        close = closing(at + 1 + strlen(name), end, name)
        if at > shown:
            found.append(shown, at - shown)
        if close == NULL:
            shown = end
            break
        found.add(b" ")
        unseen += close > begin + since
        at = behind(close) if name == COMMENT else close
        shown = max(at, begin + since)
    if end > shown:
        found.append(shown, end - shown)
    return found.bytes[: found.size]


cdef inline const char* hidden_name(const char* at, const char* end) noexcept:
    """Return the name of what begins there with "<" and is not seen, NULL if nothing does."""
    if is_there(at + 1, end, COMMENT):
        return COMMENT
    if is_there(at + 1, end, SCRIPT):
        return SCRIPT
    if is_there(at + 1, end, STYLE):
        return STYLE
    return TEXTAREA if is_there(at + 1, end, TEXTAREA) else <const char*>NULL


cdef inline bint is_there(const char* at, const char* end, const char* name) noexcept:
    """Whether a name stands there, in whatever letters."""
    while name[0] and at < end:
        if at[0] != name[0] and (at[0] | 32 != name[0] or name[0] < b"a"):
            return False
        at += 1
        name += 1
    return name[0] == 0


cdef const char* closing(const char* at, const char* end, const char* name) noexcept:
    """Return where the end of a script, style, textarea or comment begins, NULL if nowhere."""
    cdef bint is_comment = name == COMMENT
    if is_comment and at < end:
        if at[0] == b">" or at[0] == b"-" and at + 1 < end and at[1] == b">":
            return at
    while at < end:
        at = <const char*>memchr(at, b"-" if is_comment else b"<", end - at)
        if at == NULL or end - at < 3:
            return NULL
        if is_comment:
            if at[1] == b"-" and (at[2] == b">" or at[2] == b"!" and end - at > 3 and at[3] == b">"):
                return at
        elif at[1] == b"/" and is_there(at + 2, end, name):
            return at
        at += 1
    return NULL


cdef inline const char* behind(const char* close) noexcept:
    """Return what follows the end of a comment, which begins there."""
    while close[0] != b">":
        close += 1
    return close + 1
