# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""What :mod:`.reader` does, over a tree of lxml and compiled: no object of Python's for each tag.

Both find the same in a page, which a test compares; what is done and why stands there.
"""

from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int64_t, uintptr_t
from libc.stdlib cimport free, realloc
from libc.string cimport memchr, memcpy, strcmp, strlen
from lxml.includes.etreepublic cimport _Element
from lxml.includes.tree cimport (
    XML_CDATA_SECTION_NODE,
    XML_ELEMENT_NODE,
    XML_TEXT_NODE,
    xmlAttr,
    xmlNode,
)

import numpy as np

from . import reader
from .blocks import CHUNK, LIMIT, Flat, ints, squeeze
from .elements import DEEPEST, OPEN, Kinds, other_signs
from .head import RECORD, Head

cdef int INLINE = reader.INLINE, LINK = reader.LINK, BREAK = reader.BREAK, TIME = reader.TIME
cdef int HEAD = reader.HEAD, PRE = reader.PRE, BLOCK = reader.BLOCK
cdef int64_t OPEN_END = OPEN, MOST_BLOCKS = LIMIT
cdef Py_ssize_t LONG = CHUNK
cdef bint[256] is_mark = [code in b"<>=/'\" \t\n\v\f\r" for code in range(256)]
cdef enum:
    REMEMBERED = 256  # names of tags; a power of two


def walk(_Element root not None):
    """Return the blocks and the head of a page that is a tree, or of one of its elements."""
    cdef xmlNode* node = root._c_node
    cdef xmlNode* top = node
    cdef Walk found = Walk()
    if node == NULL:
        raise ValueError("an element that is part of no tree")
    if node.parent != NULL and node.parent.type != XML_ELEMENT_NODE:  # the page itself
        top = node.parent
        node = top.children
    while True:
        if node.type == XML_ELEMENT_NODE:
            if found.enter(node):
                if node.children != NULL:
                    node = node.children
                    continue
                found.leave(node)
        elif is_text(node):
            found.text.add(<const char*>node.content)
        while node != top and node.next == NULL:
            node = node.parent
            if node.type == XML_ELEMENT_NODE:
                found.leave(node)
        if node == top:
            break
        node = node.next
    found.part()
    return found.flat(), found.head


def is_crowded(bytes page not None, int64_t most):
    """Whether a tag of the page, in UTF-8, may have more than so many attributes.

    To build a tree takes libxml2 time quadratic in them.  Each place that may begin a tag does
    begin one here, each that may begin or end a value does both: what seems to be markup within a
    script, a comment or a value can hide no tag.
    """
    cdef const char* text = page
    cdef const char* end = text + len(page)
    cdef const char* at = text
    # How many there are by now, if this is between attributes, after the equals sign of one, or in
    # quotes; -1: it cannot be.
    cdef int64_t outside = -1, value = -1, double = -1, single = -1
    while at < end:
        if outside < 0 and double < 0 and single < 0:
            at = <const char*>memchr(at, b"<", end - at)
            if at == NULL:
                return False
        if not is_mark[<unsigned char>at[0]]:
            value = -1
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


cdef class Walk:
    """What has been found so far."""

    cdef object head, kinds
    cdef list texts
    cdef dict labels
    cdef Column words, linked, links, around
    cdef Column signs, of_kind, parents, firsts, ends
    cdef Text text
    cdef int64_t element, link_chars, link_count
    cdef Py_ssize_t linked_from
    cdef int link_depth, pre
    cdef const char* names[REMEMBERED]
    cdef int tags[REMEMBERED]

    def __cinit__(self):
        self.head, self.kinds = Head(), Kinds()
        self.texts, self.labels, self.text = [], {}, Text()
        self.words, self.linked, self.links, self.around = Column(), Column(), Column(), Column()
        self.signs, self.of_kind, self.parents = Column(), Column(), Column()
        self.firsts, self.ends = Column(), Column()
        self.append(0, 0)  # the page

    cdef int tag(self, xmlNode* node) except -1:
        """What the reader does at a tag of that name, of which a document has one copy."""
        cdef const char* name = <const char*>node.name
        cdef int place = (<uintptr_t>name >> 3 ^ <uintptr_t>name >> 11) & (REMEMBERED - 1)
        if self.names[place] != name:
            self.tags[place] = reader.TAGS.get(decoded(name), BLOCK)
            self.names[place] = name
        return self.tags[place]

    cdef bint enter(self, xmlNode* node) except -1:
        """Begin an element; return whether it has text to be read."""
        cdef int tag = self.tag(node)
        if tag == BLOCK or tag == PRE:
            self.part()
            self.begin(node)
            self.pre += tag == PRE
        elif tag == LINK:
            if not self.link_depth:
                self.linked_from = self.text.size
            self.link_depth += 1
            self.link_count += 1
            href = value(node, b"href")
            if href is not None:
                self.head.links.append((href, value(node, b"rel")))
        elif tag == BREAK:
            self.text.add(b"\n")
        elif tag == TIME:
            self.head.time(attributes(node))
        elif tag != INLINE:
            return self.skip(node, tag)
        return True

    cdef int leave(self, xmlNode* node) except -1:
        cdef int tag = self.tag(node)
        if tag == BLOCK or tag == PRE:
            self.part()
            self.ends.values[self.element] = len(self.texts)
            self.element = self.parents.values[self.element]
            self.pre -= tag == PRE
        elif tag == LINK:
            self.link_depth -= 1
            if not self.link_depth:
                self.link_chars += self.text.squeezed_from(self.linked_from)
        return 0

    cdef bint skip(self, xmlNode* node, int tag) except -1:
        cdef str name = decoded(<const char*>node.name)
        sink = None
        if name == "template":
            return value(node, b"shadowrootmode") is not None  # which browsers show
        if tag == HEAD:
            sink = self.head.add(name, attributes(node))
        elif name == "script" and value(node, b"type") == "application/ld+json":
            sink = self.head.data
            sink.append(RECORD)
        if sink is not None:
            gather(node, sink)
        return False

    cdef int begin(self, xmlNode* node) except -1:
        """Begin an element that parts blocks."""
        cdef xmlAttr* attribute = node.properties
        cdef int64_t bits = self.signs.values[self.element]
        cdef const char* name
        cdef str names = ""
        cdef dict others = None
        while attribute != NULL:
            name = <const char*>attribute.name
            if attribute.ns != NULL:
                pass
            elif strcmp(name, b"class") == 0:
                names = text_of(attribute.children)
            elif says(name):
                if others is None:
                    others = {}
                others[decoded(name)] = text_of(attribute.children)
            attribute = attribute.next
        if others is not None:
            bits |= <int64_t>other_signs(others)
        label = (<uintptr_t>node.name, names)
        kind = self.labels.get(label)
        if kind is None:
            kind = self.labels[label] = self.kinds.add(decoded(<const char*>node.name), names)
        self.append(bits | <int64_t>self.kinds.said[kind], kind)
        return 0

    cdef int append(self, int64_t signs, int64_t kind) except -1:
        cdef int64_t number = self.of_kind.size
        self.signs.add(signs)
        self.of_kind.add(kind)
        self.parents.add(self.element)
        self.firsts.add(len(self.texts))
        self.ends.add(OPEN_END)
        self.element = number
        return 0

    cdef int part(self) except -1:
        """End a block, if one has begun."""
        cdef Text text = self.text
        cdef str found
        cdef int64_t words
        if not text.size:
            return 0
        if self.link_depth:
            self.link_chars += text.squeezed_from(self.linked_from)
        self.linked_from = 0
        if self.pre or not text.is_ascii(0):
            found = text.decoded(0)
            if self.pre or len(found) > LONG:
                found = found.strip("\n").rstrip() if self.pre else squeeze(found)
                words = found.count(" ") + 1
            else:
                found = " ".join(parts := found.split())
                words = len(parts)
        else:
            words = text.squeeze()
            found = text.decoded(0)
        text.size = 0
        if found:
            self.texts.append(found)
            self.words.add(words)
            self.linked.add(self.link_chars)
            self.links.add(self.link_count)
            self.around.add(self.element)
            self.link_chars = self.link_count = 0
        return 0

    cdef object flat(self):
        """Return the page; containers are the elements of several blocks."""
        cdef Column depths = Column(), within = Column()
        cdef Column firsts = Column(), ends = Column(), parents = Column(), holders = Column()
        cdef int64_t number, parent, container, first, deepest = 0
        cdef int64_t last = min(<int64_t>len(self.texts), MOST_BLOCKS)
        for number in range(self.of_kind.size):
            parent, first = self.parents.values[number], self.firsts.values[number]
            container = within.values[parent] if number else 0
            if not number or (self.ends.values[number] - first > 1 and first < MOST_BLOCKS):
                parents.add(container)
                container = firsts.size
                firsts.add(first)
                ends.add(min(self.ends.values[number], last))
                holders.add(number)
            within.add(container)
            depths.add(depths.values[parent] + 1 if number else 0)
            deepest = max(deepest, depths.values[number])
        around, of_kind = self.around.array(), self.of_kind.array()
        return Flat(
            self.texts,
            words=self.words.array(),
            linked=self.linked.array(),
            links=self.links.array(),
            around=around,
            within=within.array()[around],
            codes=ints(self.kinds.codes)[of_kind],
            signs=self.signs.array(),
            depths=depths.array(),
            kinds=of_kind,
            outer=self.parents.array(),
            firsts=firsts.array(),
            ends=ends.array(),
            parents=parents.array(),
            holders=holders.array(),
            names=self.kinds.names,
            too_deep=deepest > DEEPEST,
        )


cdef class Column:
    """Numbers, one after another."""

    cdef int64_t* values
    cdef Py_ssize_t size, room

    def __dealloc__(self):
        free(self.values)

    cdef int add(self, int64_t value) except -1:
        cdef int64_t* values
        cdef Py_ssize_t room = 2 * self.room + 256
        if self.size == self.room:
            values = <int64_t*>realloc(self.values, room * sizeof(int64_t))
            if values == NULL:
                raise MemoryError
            self.values, self.room = values, room
        self.values[self.size] = value
        self.size += 1
        return 0

    cdef object array(self):
        found = np.empty(self.size, np.int64)
        cdef int64_t[::1] view = found
        if self.size:
            memcpy(&view[0], self.values, self.size * sizeof(int64_t))
        return found


cdef class Text:
    """The UTF-8 of a block that has begun."""

    cdef char* bytes
    cdef Py_ssize_t size, room

    def __dealloc__(self):
        free(self.bytes)

    cdef int add(self, const char* bytes) except -1:
        cdef char* wider
        cdef Py_ssize_t size = strlen(bytes) if bytes != NULL else 0
        cdef Py_ssize_t room = 2 * (self.size + size)
        if self.size + size > self.room:
            wider = <char*>realloc(self.bytes, room)
            if wider == NULL:
                raise MemoryError
            self.bytes, self.room = wider, room
        if size:
            memcpy(self.bytes + self.size, bytes, size)
        self.size += size
        return 0

    cdef str decoded(self, Py_ssize_t start):
        return PyUnicode_DecodeUTF8(self.bytes + start, self.size - start, b"replace")

    cdef bint is_ascii(self, Py_ssize_t start) noexcept:
        cdef Py_ssize_t at
        cdef char all_of_them = 0
        for at in range(start, self.size):
            all_of_them |= self.bytes[at]
        return not all_of_them & 0x80

    cdef int64_t squeeze(self) noexcept:
        """Make every run of white space one space, with none at the ends; count the words.

        Of a text in ASCII.
        """
        cdef Py_ssize_t at, length = 0
        cdef int64_t words = 0
        cdef bint between = True
        for at in range(self.size):
            if is_space(self.bytes[at]):
                between = True
                continue
            if between:
                between = False
                words += 1
                if length:
                    self.bytes[length] = b" "
                    length += 1
            self.bytes[length] = self.bytes[at]
            length += 1
        self.size = length
        return words

    cdef int64_t squeezed_from(self, Py_ssize_t start) except -1:
        """How many characters there are from `start` on, a run of white space counted as one."""
        cdef Py_ssize_t at
        cdef int64_t length = 0
        cdef bint between = False
        if not self.is_ascii(start):
            return len(" ".join(self.decoded(start).split()))
        for at in range(start, self.size):
            if is_space(self.bytes[at]):
                between = True
            else:
                length += 1 + (between and length > 0)
                between = False
        return length


cdef inline bint is_space(char char) noexcept:
    """Whether Python's `str.split` parts words there."""
    return char == 32 or 9 <= char <= 13 or 28 <= char <= 31


cdef inline bint is_letter(char char) noexcept:
    return b"a" <= (char | 32) <= b"z"


cdef inline bint is_text(xmlNode* node) noexcept:
    return node.type == XML_TEXT_NODE or node.type == XML_CDATA_SECTION_NODE


cdef inline bint says(const char* name) noexcept:
    """Whether an attribute of that name is one that `other_signs` reads."""
    return (
        strcmp(name, b"id") == 0
        or strcmp(name, b"role") == 0
        or strcmp(name, b"style") == 0
        or strcmp(name, b"hidden") == 0
        or strcmp(name, b"aria-hidden") == 0
    )


cdef inline str decoded(const char* text):
    return PyUnicode_DecodeUTF8(text, strlen(text), b"replace") if text != NULL else ""


cdef str text_of(xmlNode* node):
    """Return the text of a node and those after it."""
    if node == NULL:
        return ""
    if node.next == NULL:
        return decoded(<const char*>node.content) if is_text(node) else ""
    parts = []
    while node != NULL:
        if is_text(node):
            parts.append(decoded(<const char*>node.content))
        node = node.next
    return "".join(parts)


cdef object value(xmlNode* node, const char* name):
    """Return an attribute, or None."""
    cdef xmlAttr* attribute = node.properties
    while attribute != NULL:
        if attribute.ns == NULL and strcmp(<const char*>attribute.name, name) == 0:
            return text_of(attribute.children)
        attribute = attribute.next
    return None


cdef dict attributes(xmlNode* node):
    cdef xmlAttr* attribute = node.properties
    found = {}
    while attribute != NULL:
        if attribute.ns == NULL:
            found[decoded(<const char*>attribute.name)] = text_of(attribute.children)
        attribute = attribute.next
    return found


cdef int gather(xmlNode* top, list texts) except -1:
    """Append all text of an element."""
    cdef xmlNode* node = top
    while True:
        if is_text(node):
            texts.append(decoded(<const char*>node.content))
        if node.type == XML_ELEMENT_NODE and node.children != NULL:
            node = node.children
            continue
        while node != top and node.next == NULL:
            node = node.parent
        if node == top:
            return 0
        node = node.next
