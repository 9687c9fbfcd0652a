# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""The compiled form of :mod:`.reader`, over a tree of lxml: no Python object for each tag.

A test compares both. The reasons for what is done stand in `reader.py` and `block_reader.py`.
"""

from cpython.bytearray cimport PyByteArray_FromStringAndSize
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int64_t, uint64_t, uintptr_t
from libc.stdlib cimport free, realloc
from libc.string cimport memchr, memcpy, memmove, strcmp, strlen, strstr
from lxml.includes.etreepublic cimport _Element
from lxml.includes.tree cimport (
    XML_CDATA_SECTION_NODE,
    XML_ELEMENT_NODE,
    XML_TEXT_NODE,
    xmlAttr,
    xmlNode,
)

import numpy as np

from . import elements
from .blocks import (LIMIT, LINE_BREAK, OTHER, TAG_CODES, Flat, part_lines)
from .elements import (
    DEEPEST, MOST_KINDS, OPEN, PHRASES, class_signs, hides_element, id_signs,
    is_hidden, read_names,
)
from .head import (RECORD, Head, is_data, is_noted)
from .hidden import (BESIDE, MOST_HIDDEN, is_gutter, is_number, is_unselected, is_line_number)
from .hidden import UNQUOTED as UNQUOTED_NAME
from .pictures import (
    CELLS, DRAWN, ITEM, MOST_ICONS, VALUED, drawing_name, formula_text, icon_text, is_formula,
    item_sign,
)
from .signs import (HIDDEN, ROLE_BITS, TAG_BITS)

include "pxi/nodes.pxi"
include "pxi/columns.pxi"
include "pxi/tags.pxi"

cdef int INLINE = elements.INLINE, READING = elements.READING, LINK = elements.LINK
cdef int BREAK = elements.BREAK, TIME = elements.TIME, HEAD = elements.HEAD
cdef int PRE = elements.PRE, BLOCK = elements.BLOCK, CUSTOM = elements.CUSTOM
cdef bytes BASE_TAG = elements.BASE.encode()
cdef const char* BASE = BASE_TAG
cdef bytes RAISED_TAG = elements.RAISED.encode()
cdef const char* RAISED = RAISED_TAG
cdef Py_ssize_t NOTE_SIZE = elements.LONGEST_NOTE
cdef bytes UNQUOTED_BYTES = UNQUOTED_NAME.encode()
cdef const char* UNQUOTED = UNQUOTED_BYTES
cdef int64_t OPEN_END = OPEN, MOST_BLOCKS = LIMIT, MOST_DEEP = DEEPEST, KINDS = MOST_KINDS
cdef int64_t HIDDEN_BIT = HIDDEN, HIDDEN_CHARS = MOST_HIDDEN
cdef bytes LINE_END_BYTES = LINE_BREAK.encode()
cdef const char* LINE_END = LINE_END_BYTES
cdef int64_t GUTTER_BITS = BESIDE
cdef bint[16] is_phrase = [code in PHRASES for code in range(16)]  # a tag of that code

def walk_tree(_Element root not None):
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
            found.read(<const char*>node.content)
        while node != top and node.next == NULL:
            node = node.parent
            depth -= 1
            if node.type == XML_ELEMENT_NODE:
                found.leave(node)
        if node == top:
            break
        node = node.next
    found.end_reading()
    end_hidden(found)
    found.part()
    return flat(found, deepest > MOST_DEEP), found.head


cdef class Walk:
    """What has been found so far."""

    cdef object head
    cdef list texts, hrefs, rels, classes
    cdef Column words, linked, links, around
    cdef Column signs, of_kind, parents, firsts, ends
    cdef Column codes, said  # of each tag and class
    cdef Text text
    cdef int64_t element, link_chars, link_count
    cdef int64_t hidden_chars, hidden_count, spare_chars, spare_count
    cdef Text spare  # what was left out, if nothing else is there
    cdef Py_ssize_t dated  # where a date has ended that a word may follow
    cdef Py_ssize_t link_end  # where a link has ended that another may follow
    cdef Py_ssize_t linked_from, reading_from, hidden_from
    cdef xmlNode* reading  # the element that has begun
    cdef xmlNode* hidden
    cdef bint apart, number  # whether what is hidden parts words, or is a number
    cdef int link_depth, pre
    cdef xmlNode* raised
    cdef Py_ssize_t raised_from
    cdef xmlNode* icon  # that was read; those within it are not
    cdef int icons  # of the block, so far
    cdef Column formulas  # open ones: node, sign before the next part, sign before those after it
    cdef bint is_note, leads_to_place  # whether a link is raised, and has a fragment
    cdef bint broken  # whether the block has line breaks
    cdef dict lines
    cdef Tags tags

    def __cinit__(self):
        self.head = Head()
        self.hrefs, self.rels = self.head.hrefs, self.head.rels
        self.texts, self.text, self.spare, self.tags = [], Text(), Text(), Tags()
        self.words, self.linked, self.links, self.around = Column(), Column(), Column(), Column()
        self.signs, self.of_kind, self.parents = Column(), Column(), Column()
        self.firsts, self.ends, self.formulas = Column(), Column(), Column()
        self.lines = {}
        self.classes, self.codes, self.said = [""], Column(), Column()
        self.codes.add(OTHER)
        self.said.add(0)
        self.append(0, 0)  # the page

    cdef bint enter(self, xmlNode* node) except -1:
        """Begin an element; return whether it has text to be read."""
        cdef int place = self.tags.place(node)
        cdef int action = self.action(place)
        if self.formulas.size or self.tags.known[place].first != NULL:
            self.part_formula(node, &self.tags.known[place])
        if self.reading != NULL and (action != INLINE or strcmp(<const char*>node.name, BASE) == 0):
            self.end_reading()
        if action == INLINE:
            if self.reading == NULL and strcmp(<const char*>node.name, RAISED) == 0:
                self.is_note = self.is_note or self.link_depth > 0
                if self.raised == NULL:
                    self.raised, self.raised_from = node, self.text.size
            if node.properties != NULL and self.hidden == NULL and self.reading == NULL:
                read_picture(self, node)
                look(self, node)
        elif action == BLOCK or action == PRE:
            end_hidden(self)
            self.part()
            self.begin(node, place)
            self.pre += action == PRE
        elif action == READING:
            self.reading, self.reading_from = node, self.text.size
        elif action == LINK:
            if self.pre and self.hidden == NULL:
                look(self, node, link=True)
            if not self.link_depth:
                if self.link_end and self.link_end == self.text.size and not self.pre:
                    self.text.add(b" ")
                self.linked_from = self.text.size
            href = value(node, b"href")
            if not self.link_depth:
                self.is_note = self.raised != NULL
                self.leads_to_place = href is not None and "#" in href
            self.link_depth += 1
            self.link_count += 1
            if href is not None:
                self.hrefs.append(href)
                self.rels.append(value(node, b"rel"))
        elif action == BREAK:
            if self.pre or strcmp(<const char*>node.name, b"br"):
                self.text.add(b"\n")
            else:
                self.broken = True
                self.text.add(LINE_END)
        elif action == TIME:
            self.head.time(attributes(node))
            if self.text.ends_in_word():
                self.text.add(b" ")
        else:
            return self.skip(node, action)
        return True

    cdef inline int read(self, const char* content) except -1:
        if self.dated:
            if self.dated == self.text.size and content != NULL and is_word(content[0]):
                self.text.add(b" ")
            self.dated = 0
        return self.text.add(content)

    cdef int leave(self, xmlNode* node) except -1:
        cdef int action = self.action(self.tags.place(node))
        if self.formulas.size and self.formulas.values[self.formulas.size - 3] == <int64_t>node:
            self.formulas.size -= 3
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
                if self.is_note and self.leads_to_place:
                    self.mark_note(self.linked_from)
                self.link_end = self.text.size if self.text.size > self.linked_from else 0
        elif action == TIME:
            self.dated = self.text.size if self.text.ends_in_word() else 0
        if node == self.raised:
            self.raised = NULL
            if not self.raised_from or self.text.white_before(self.raised_from):
                self.mark_note(self.raised_from)
            else:
                self.part_raised(self.raised_from)
        if node == self.icon:
            self.icon = NULL
        if node == self.hidden:
            end_hidden(self)
        return 0

    cdef int mark_note(self, Py_ssize_t start) except -1:
        cdef Text text = self.text
        cdef Py_ssize_t at, end = text.size
        cdef int white = text.white_before(end) if end > start else 0
        if self.pre or self.hidden != NULL:
            return 0
        while white and end > start:
            end -= white
            white = text.white_before(end) if end > start else 0
        if not 0 < end - start <= NOTE_SIZE:
            return 0
        for at in range(start, end):
            if not is_digit(text.bytes[at]):
                return 0
        white = end < text.size
        text.size = end
        text.add(b"] " if white else b"]")
        text.insert(start, b"[")
        self.dated = self.link_end = 0
        return 0

    cdef int part_raised(self, Py_ssize_t start) except -1:
        cdef Text text = self.text
        if start < text.size and is_digit(text.bytes[start - 1]) and is_digit(text.bytes[start]):
            text.insert(start, b" ")
            self.dated += self.dated > start
            self.link_end += self.link_end > start
        return 0

    cdef int part_formula(self, xmlNode* node, const Tag* tag) except -1:
        cdef Column formulas = self.formulas
        cdef int64_t* last = formulas.values + formulas.size - 3
        if formulas.size and last[0] == <int64_t>node.parent:
            if (<const char*>last[1])[0]:
                self.read(<const char*>last[1])
            last[1] = last[2]
        if tag.first != NULL:
            formulas.add(<int64_t>node)
            formulas.add(<int64_t>tag.first)
            formulas.add(<int64_t>tag.later)
        return 0

    cdef inline int action(self, int place) noexcept:
        cdef int action = self.tags.known[place].action
        if action == CUSTOM:
            return INLINE if is_phrase[self.codes.values[self.of_kind.values[self.element]]] else BLOCK
        return action

    cdef void end_reading(self) noexcept:
        if self.reading != NULL:
            self.text.size = self.reading_from
            self.reading = NULL

    cdef bint skip(self, xmlNode* node, int action) except -1:
        cdef str name = decoded(<const char*>node.name)
        sink = None
        if name == "template":
            return value(node, b"shadowrootmode") is not None  # which browsers show
        if name == "script" and is_formula(attributes(node)):
            return True
        if self.icon == NULL and (name == DRAWN or name in VALUED):
            read_icon(self, node, name)
        if name == DRAWN:
            add_drawn_links(self, node)
        if action == HEAD:
            if name == "link" and not is_noted(value(node, b"rel")):
                return False
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
        cdef str names = "", id = ""
        cdef object hidden = None
        cdef dict kinds = self.tags.kinds_at[place]
        cdef int64_t kind
        while attribute != NULL:
            name = <const char*>attribute.name
            if attribute.ns != NULL:
                pass
            elif strcmp(name, b"class") == 0:
                if self.codes.size < KINDS:
                    names = text_of(attribute.children)
            elif strcmp(name, b"id") == 0:
                id = text_of(attribute.children)
                bits |= <int64_t>id_signs(id)
            elif strcmp(name, b"role") == 0:
                bits |= <int64_t>ROLE_BITS.get(text_of(attribute.children), 0)
            elif strcmp(name, b"hidden") == 0:
                hidden = text_of(attribute.children)
            elif strcmp(name, b"popover") == 0:
                bits |= HIDDEN_BIT
            elif strcmp(name, b"aria-hidden") == 0:
                if text_of(attribute.children) == "true":
                    bits |= HIDDEN_BIT
            elif strcmp(name, b"style") == 0 and hidden_by(attribute):
                bits |= HIDDEN_BIT
            attribute = attribute.next
        if hidden is not None and is_hidden(hidden, id):
            bits |= HIDDEN_BIT
        known = kinds.get(names)
        if known is None:
            kind = kinds[names] = self.new_kind(&self.tags.known[place], names)
        else:
            kind = known
        self.append(bits | self.said.values[kind], kind)
        return 0

    cdef int64_t new_kind(self, const Tag* tag, str names) except -1:
        cdef str name = decoded(tag.name)
        if "-" in name:
            names = f"{name} {names}" if names else name
        names = read_names(names)
        self.codes.add(tag.code)
        self.classes.append(names)
        self.said.add(tag.signs | <int64_t>class_signs(names))
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
        cdef str found, lines = ""
        cdef int64_t words, signs
        self.raised = self.icon = NULL
        self.icons = 0
        if not text.size:
            return 0
        if self.link_depth:
            self.link_chars += text.squeezed_from(self.linked_from)
        self.linked_from = self.dated = self.link_end = 0
        if self.pre:
            found = text.decoded().strip("\n").rstrip()
            words = found.count(" ") + 1
        else:
            if self.broken or text.has_hyphen_at_end():
                lines = part_lines(text.decoded())
            words = text.squeeze()
            found = text.decoded()
            if found and "\n" in lines:
                self.lines[len(self.texts)] = lines
        self.broken = False
        text.size = 0
        if self.spare.size:
            if not found:
                words = self.spare.squeeze()
                found = self.spare.decoded()
                self.link_chars += self.spare_chars
                self.link_count += self.spare_count
            self.spare.size = self.spare_chars = self.spare_count = 0
        if found:
            signs = self.signs.values[self.element]
            if not (signs & GUTTER_BITS and is_gutter(found, signs, self.pre > 0)):
                self.texts.append(found)
                self.words.add(words)
                self.linked.add(self.link_chars)
                self.links.add(self.link_count)
                self.around.add(self.element)
            self.link_chars = self.link_count = 0
        return 0


include "pxi/hidden.pxi"
include "pxi/pictures.pxi"
include "pxi/flat.pxi"
