# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""What :mod:`.reader` does, over a tree of lxml and compiled: no object of Python's for each tag.

Both find the same in a page, which a test compares; what is done and why stands there.
"""

from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int64_t, uint64_t, uintptr_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, strcmp, strlen
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
from .blocks import LIMIT, OTHER, TAG_CODES, Flat
from .elements import DEEPEST, NAME_READ, OPEN, hides
from .head import RECORD, Head, is_data
from .vocabulary import HIDDEN, NAMES, ROLE_BITS, TAG_BITS

include "nodes.pxi"
include "columns.pxi"

cdef int INLINE = reader.INLINE, READING = reader.READING, LINK = reader.LINK
cdef int BREAK = reader.BREAK, TIME = reader.TIME, HEAD = reader.HEAD
cdef int PRE = reader.PRE, BLOCK = reader.BLOCK
cdef bytes BASE_TAG = reader.BASE.encode()
cdef const char* BASE = BASE_TAG
cdef int64_t OPEN_END = OPEN, MOST_BLOCKS = LIMIT, MOST_DEEP = DEEPEST
cdef int64_t HIDDEN_BIT = HIDDEN
cdef Py_ssize_t READ = NAME_READ
# Of each tag that means something.
cdef dict MEANT = {
    tag: (reader.kind_of(tag), TAG_CODES.get(tag, OTHER), TAG_BITS.get(tag, 0))
    for tag in (*reader.TAGS, *TAG_CODES, *TAG_BITS)
}
cdef enum:
    REMEMBERED_BITS = 8, REMEMBERED = 256  # tags; a power of two
    TRIED = 8  # places for each: pages for people have some thirty tags

cdef struct Tag:
    const char* name
    int action  # what the reader does at it
    int64_t code, signs


def walk(_Element root not None):
    """Return the blocks and the head of a page that is a tree, or of one of its elements."""
    cdef xmlNode* node = root._c_node
    cdef xmlNode* top = node
    cdef Walk found = Walk()
    cdef int64_t depth = 0, deepest = 0
    if node == NULL:
        raise ValueError("an element that is part of no tree")
    if node.parent != NULL and node.parent.type != XML_ELEMENT_NODE:  # the page itself
        top = node.parent
        node = top.children
    while True:
        if node.type == XML_ELEMENT_NODE:
            deepest = max(deepest, depth + 1)
            if found.enter(node):
                if node.children != NULL:
                    node = node.children
                    depth += 1
                    continue
                found.leave(node)
        elif is_text(node):
            found.text.add(<const char*>node.content)
        while node != top and node.next == NULL:
            node = node.parent
            depth -= 1
            if node.type == XML_ELEMENT_NODE:
                found.leave(node)
        if node == top:
            break
        node = node.next
    found.end_reading()
    found.part()
    return found.flat(deepest > MOST_DEEP), found.head


cdef class Walk:
    """What has been found so far."""

    cdef object head
    cdef list texts, hrefs, rels, classes
    cdef dict kinds  # by class, of each name of a tag
    cdef list kinds_at  # of each tag that is remembered
    cdef Column words, linked, links, around
    cdef Column signs, of_kind, parents, firsts, ends
    cdef Column codes, said  # of each tag and class
    cdef Text text
    cdef int64_t element, link_chars, link_count
    cdef Py_ssize_t linked_from, reading_from
    cdef xmlNode* reading  # the element that has begun
    cdef int link_depth, pre
    cdef Tag[REMEMBERED] tags

    def __cinit__(self):
        self.head = Head()
        self.hrefs, self.rels = self.head.hrefs, self.head.rels
        self.texts, self.text = [], Text()
        self.kinds, self.kinds_at = {}, [None] * REMEMBERED
        self.words, self.linked, self.links, self.around = Column(), Column(), Column(), Column()
        self.signs, self.of_kind, self.parents = Column(), Column(), Column()
        self.firsts, self.ends = Column(), Column()
        self.classes, self.codes, self.said = [""], Column(), Column()
        self.codes.add(OTHER)
        self.said.add(0)
        self.append(0, 0)  # the page

    cdef int place(self, xmlNode* node) except -1:
        """Where a tag of that name is remembered; of a name a document has one copy."""
        cdef const char* name = <const char*>node.name
        # Names stand side by side in memory, so that only all bits tell them apart.
        cdef int place = <uint64_t><uintptr_t>name * 0x9E3779B97F4A7C15ULL >> 64 - REMEMBERED_BITS
        cdef int tried
        for tried in range(TRIED):
            if self.tags[place].name == name:
                return place
            if self.tags[place].name == NULL:
                break
            place = (place + 1) & (REMEMBERED - 1)
        self.remember(place, name)
        return place

    cdef int remember(self, int place, const char* name) except -1:
        cdef Tag* tag = &self.tags[place]
        cdef str read = decoded(name)
        meant = MEANT.get(read)
        if meant is None:
            meant = reader.kind_of(read), OTHER, 0
        tag.action, tag.code, tag.signs = meant
        self.kinds_at[place] = self.kinds.setdefault(<uintptr_t>name, {})
        tag.name = name
        return 0

    cdef bint enter(self, xmlNode* node) except -1:
        """Begin an element; return whether it has text to be read."""
        cdef int place = self.place(node)
        cdef int action = self.tags[place].action
        if self.reading != NULL and (action != INLINE or strcmp(<const char*>node.name, BASE) == 0):
            self.end_reading()
        if action == BLOCK or action == PRE:
            self.part()
            self.begin(node, place)
            self.pre += action == PRE
        elif action == READING:
            self.reading, self.reading_from = node, self.text.size
        elif action == LINK:
            if not self.link_depth:
                self.linked_from = self.text.size
            self.link_depth += 1
            self.link_count += 1
            href = value(node, b"href")
            if href is not None:
                self.hrefs.append(href)
                self.rels.append(value(node, b"rel"))
        elif action == BREAK:
            self.text.add(b"\n")
        elif action == TIME:
            self.head.time(attributes(node))
        elif action != INLINE:
            return self.skip(node, action)
        return True

    cdef int leave(self, xmlNode* node) except -1:
        cdef int action = self.tags[self.place(node)].action
        if node == self.reading:
            self.end_reading()
        elif action == BLOCK or action == PRE:
            self.part()
            self.ends.values[self.element] = len(self.texts)
            self.element = self.parents.values[self.element]
            self.pre -= action == PRE
        elif action == LINK:
            self.link_depth -= 1
            if not self.link_depth:
                self.link_chars += self.text.squeezed_from(self.linked_from)
        return 0

    cdef void end_reading(self) noexcept:
        if self.reading != NULL:
            self.text.size = self.reading_from
            self.reading = NULL

    cdef bint skip(self, xmlNode* node, int action) except -1:
        cdef str name = decoded(<const char*>node.name)
        sink = None
        if name == "template":
            return value(node, b"shadowrootmode") is not None  # which browsers show
        if action == HEAD:
            if name == "link" and "canonical" not in (value(node, b"rel") or "").lower():
                return False  # as of most, the head takes no note of it
            sink = self.head.add(name, attributes(node))
        elif name == "script" and is_data(value(node, b"type")):
            sink = self.head.data
            sink.append(RECORD)
        if sink is not None:
            gather(node, sink)
        return False

    cdef int begin(self, xmlNode* node, int place) except -1:
        """Begin an element that parts blocks."""
        cdef xmlAttr* attribute = node.properties
        cdef int64_t bits = self.signs.values[self.element]
        cdef const char* name
        cdef str names = ""
        cdef dict kinds = self.kinds_at[place]
        cdef int64_t kind
        while attribute != NULL:
            name = <const char*>attribute.name
            if attribute.ns != NULL:
                pass
            elif strcmp(name, b"class") == 0:
                names = text_of(attribute.children)
            elif strcmp(name, b"id") == 0:
                bits |= <int64_t>NAMES.bits(text_of(attribute.children)[:READ])
            elif strcmp(name, b"role") == 0:
                bits |= <int64_t>ROLE_BITS.get(text_of(attribute.children), 0)
            elif strcmp(name, b"hidden") == 0:
                bits |= HIDDEN_BIT
            elif strcmp(name, b"aria-hidden") == 0:
                if text_of(attribute.children) == "true":
                    bits |= HIDDEN_BIT
            elif strcmp(name, b"style") == 0 and hides(text_of(attribute.children)):
                bits |= HIDDEN_BIT
            attribute = attribute.next
        known = kinds.get(names)
        if known is None:
            kind = kinds[names] = self.new_kind(&self.tags[place], names[:READ])
        else:
            kind = known
        self.append(bits | self.said.values[kind], kind)
        return 0

    cdef int64_t new_kind(self, const Tag* tag, str names) except -1:
        self.codes.add(tag.code)
        self.classes.append(names)
        self.said.add(tag.signs | <int64_t>NAMES.bits(names))
        return self.codes.size - 1

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
        if self.pre:
            found = text.decoded().strip("\n").rstrip()
            words = found.count(" ") + 1
        else:
            words = text.squeeze()
            found = text.decoded()
        text.size = 0
        if found:
            self.texts.append(found)
            self.words.add(words)
            self.linked.add(self.link_chars)
            self.links.add(self.link_count)
            self.around.add(self.element)
            self.link_chars = self.link_count = 0
        return 0

    cdef object flat(self, bint too_deep):
        """Return the page; containers are the elements of several blocks."""
        cdef Column depths = Column(), within = Column()
        cdef Column firsts = Column(), ends = Column(), parents = Column(), holders = Column()
        cdef int64_t number, parent, container, first
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
        around, of_kind = self.around.array(), self.of_kind.array()
        return Flat(
            self.texts,
            words=self.words.array(),
            linked=self.linked.array(),
            links=self.links.array(),
            around=around,
            within=within.array()[around],
            codes=self.codes.array()[of_kind],
            signs=self.signs.array(),
            depths=depths.array(),
            kinds=of_kind,
            outer=self.parents.array(),
            firsts=firsts.array(),
            ends=ends.array(),
            parents=parents.array(),
            holders=holders.array(),
            names=self.classes,
            too_deep=too_deep,
        )
