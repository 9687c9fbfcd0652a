"""From a parser's events, or a tree, to blocks: in one pass, without a tree of our own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from lxml import etree

from .block_reader import BlockReader
from .blocks import LINE_BREAK, Flat, make_ints
from .elements import (
    BASE,
    BLOCK,
    BREAK,
    CUSTOM,
    DEEPEST,
    FORMULAS,
    HEAD,
    INLINE,
    LINK,
    PRE,
    RAISED,
    READING,
    TIME,
    kind_of,
)
from .head import RECORD, Head, is_data
from .hidden import NUMBER, replacement_text
from .pictures import DRAWN, VALUED, drawing_name, is_formula


def is_shown(tag: str, attributes: Mapping[str, str]) -> bool:
    """Whether a page shows the content of an element of a kind that it mostly does not show."""
    if tag == "template":
        return "shadowrootmode" in attributes
    return tag == "script" and is_formula(attributes)


class Reader(BlockReader):
    """A target for lxml's parser that collects the content of a page.

    No tree is built, which would take about as long as all the rest. `data` is a list's own
    `append`: half the texts only separate tags, and a Python call for each would cost more than
    sorting them out afterwards.
    """

    __slots__ = (
        "_deepest", "_drawn", "_formulas", "_head", "_is_note", "_leads_to_place", "_reading",
        "_reading_from", "_sink", "_skipped", "_skipped_from", "data",
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self._head = Head()
        self.data = self._pieces.append
        self._deepest = 0
        self._is_note = self._leads_to_place = False  # is a link superscript, with a fragment
        self._skipped = self._skipped_from = 0
        self._reading = self._reading_from = 0
        self._drawn: tuple[Mapping[str, str], str] | None = None  # a drawing, and what it uses
        self._sink: list[str] | None = None
        # Depths of open formulas, and what stands before their next part and those after it.
        self._formulas: list[tuple[int, str, str]] = []

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Begin an element."""
        if self._skipped:
            self._skipped += 1
            if self._drawn and tag == "use" and not self._drawn[1]:
                self._drawn = self._drawn[0], drawing_name(attributes)
            if self._drawn and tag == "a":
                self._head.add_drawn(attributes)
            return
        if self._dated:
            self._part_date()
        self._depth += 1
        self._deepest = max(self._deepest, self._depth)
        if self._formulas or tag in FORMULAS:
            self._part_formula(tag)
        kind = self._kind_of(tag)
        if self._reading:
            if kind == INLINE and tag != BASE:
                self._reading += 1
                return
            self._reading = 0
            del self._pieces[self._reading_from :]
        if kind >= PRE:
            self._start_block(tag, attributes, kind)
        elif kind == INLINE:
            if tag == RAISED:
                self._is_note = self._is_note or bool(self._link_depth)
                if not self._raised:
                    self._raised, self._raised_from = self._depth, len(self._pieces)
            if attributes and not self._hidden:
                self._read_picture(tag, attributes)
                self._begin_hidden(replacement_text(attributes, self._pre > 0))
        elif kind == READING:
            self._reading, self._reading_from = 1, len(self._pieces)
        elif kind == LINK:
            self._start_link(attributes)
        elif kind == BREAK:
            is_line = tag == "br" and not self._pre
            self._is_broken |= is_line
            self._pieces.append(LINE_BREAK if is_line else "\n")
        elif kind == TIME:
            self._head.time(attributes)
            # Bylines leave it to style sheets to part a date from the name before it.
            if self._ends_in_word():
                self._pieces.append(" ")
        elif not is_shown(tag, attributes):
            self._begin_sink(tag, attributes, kind)

    def end(self, tag: str) -> None:
        """End an element."""
        if self._skipped:
            self._skipped -= 1
            if not self._skipped:
                self._depth -= 1
                drawn, self._drawn = self._drawn, None
                text = "".join(self._pieces[self._skipped_from :]) if drawn else ""
                self._empty_into_sink()
                if drawn and not self._icon:
                    self._read_icon(DRAWN, drawn[0], text, drawn[1])
            return
        if self._dated:
            self._part_date()
        self._depth -= 1
        if self._formulas and self._depth < self._formulas[-1][0]:
            self._formulas.pop()
        if self._reading:
            self._reading -= 1
            if not self._reading:
                del self._pieces[self._reading_from :]
            return
        kind = self._kind_of(tag)
        if kind >= PRE:
            self._end_block(kind)
        elif kind == LINK and self._link_depth:
            self._end_link()
        elif kind == TIME:
            self._dated = len(self._pieces) if self._ends_in_word() else 0
        if self._depth < self._raised:
            self._end_raised()
        if self._depth < self._icon:
            self._icon = 0
        if self._hidden and self._depth < self._hidden.depth:
            self._end_hidden(self._hidden)

    def close(self) -> tuple[Flat, Head]:
        """Return what was read. The reader cannot be used again."""
        if self._skipped:
            self._empty_into_sink()
        if self._reading:
            del self._pieces[self._reading_from :]
        if self._dated:
            self._part_date()
        if self._hidden:
            self._end_hidden(self._hidden)
        if self._pieces:
            self._flush_block()
        counts, linked = make_ints(self._counts), make_ints(self._linked)
        links, around = make_ints(self._links), make_ints(self._around)
        flat = self._elements.flatten_page(
            self._texts, counts, linked, links, around, self._deepest > DEEPEST
        )
        flat.lines = self._lines
        found = flat, self._head
        # lxml's parser and its target hold each other; the page must not wait for the garbage
        # collector as well.
        for name in (*self.__slots__, *BlockReader.__slots__):
            delattr(self, name)
        return found

    def _kind_of(self, tag: str) -> int:
        kind = kind_of(tag)
        if kind == CUSTOM:
            return INLINE if self._elements.is_phrase(self._element) else BLOCK
        return kind

    def _start_block(self, tag: str, attributes: Mapping[str, str], kind: int) -> None:
        if self._hidden:
            self._end_hidden(self._hidden)
        self._end_text()
        self._element = self._elements.add_element(self._element, tag, attributes, len(self._texts))
        if kind == PRE:
            self._pre += 1

    def _end_block(self, kind: int) -> None:
        self._end_text()
        if self._element:
            self._elements.ends[self._element] = len(self._texts)
            self._element = self._elements.parents[self._element]
            if kind == PRE:
                self._pre -= 1

    def _part_formula(self, tag: str) -> None:
        """Write what stands before a part of a formula, and note a formula that has parts."""
        if self._formulas and self._formulas[-1][0] == self._depth - 1:
            depth, sign, later = self._formulas[-1]
            if sign:
                self._pieces.append(sign)
            self._formulas[-1] = depth, later, later
        if tag in FORMULAS:
            self._formulas.append((self._depth, *FORMULAS[tag]))

    def _start_link(self, attributes: Mapping[str, str]) -> None:
        if self._pre and not self._hidden and replacement_text(attributes, code=True) == NUMBER:
            self._begin_hidden(NUMBER)
        if not self._link_depth:
            # So do lists of links with the space between these.
            if self._link_end and self._link_end == len(self._pieces) and not self._pre:
                self._pieces.append(" ")
            self._linked_from = len(self._pieces)
            self._is_note = self._raised > 0
            self._leads_to_place = "#" in attributes.get("href", "")
        self._link_depth += 1
        self._now = self._now._replace(number=self._now.number + 1)
        if "href" in attributes:
            self._head.hrefs.append(attributes["href"])
            self._head.rels.append(attributes.get("rel"))

    def _end_link(self) -> None:
        self._link_depth -= 1
        if not self._link_depth:
            self._count_linked()
            if self._is_note and self._leads_to_place:
                self._mark_note(self._linked_from)
            size = len(self._pieces)
            self._link_end = size if size > self._linked_from else 0

    def _begin_sink(self, tag: str, attributes: Mapping[str, str], kind: int) -> None:
        """Begin an element that is not text; metadata goes into a sink."""
        if tag == DRAWN:
            self._drawn = attributes, ""
        elif tag in VALUED and not self._icon:
            self._read_icon(tag, attributes)
        self._skipped, self._skipped_from = 1, len(self._pieces)
        if kind == HEAD:
            self._sink = self._head.add(tag, attributes)
        elif tag == "script" and is_data(attributes.get("type")):
            self._sink = self._head.data
            self._sink.append(RECORD)

    def _empty_into_sink(self) -> None:
        if self._sink is not None:
            self._sink += self._pieces[self._skipped_from :]
            self._sink = None
        del self._pieces[self._skipped_from :]


def walk_tree(root: Any) -> tuple[Flat, Head]:
    """Read an existing tree, or one of its elements."""
    reader: Any = Reader()
    start, data, end = reader.start, reader.data, reader.end
    pages = [root] if root.getparent() is not None else [root, *root.itersiblings(etree.Element)]
    for page in pages:
        for event, element in etree.iterwalk(page, events=("start", "end", "comment", "pi")):
            named = isinstance(element.tag, str)  # an entity that was left as it stands is not
            if event == "start":
                if named:
                    start(_local_name(element.tag), element.attrib)
                    if element.text:
                        data(element.text)
                continue
            if event == "end" and named:
                end(_local_name(element.tag))
            if element.tail and element is not page:
                data(element.tail)
    found: tuple[Flat, Head] = reader.close()
    return found


def _local_name(tag: str) -> str:
    """Return a tag without its namespace, which XHTML read as XML has."""
    return tag.rpartition("}")[2] if tag[0] == "{" else tag


try:
    from ._reader import walk_tree  # noqa: F401

    COMPILED: Final = True
except ImportError:  # nothing is compiled here: pages take several times as long
    COMPILED: Final = False  # type: ignore[misc]
