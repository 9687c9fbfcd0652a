"""From a parser's events, or a tree, to blocks: in one pass, without a tree of our own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from lxml import etree

from .blocks import CHUNK, LINE_BREAK, Flat, make_ints, part_lines, squeeze_spaces
from .elements import (
    BASE,
    BLOCK,
    BREAK,
    CUSTOM,
    DEEPEST,
    HEAD,
    INLINE,
    LINK,
    LONGEST_NOTE,
    PRE,
    RAISED,
    READING,
    TIME,
    WHITE,
    Elements,
    kind_of,
)
from .head import RECORD, Head, is_data
from .hidden import MOST_UNSEEN, NUMBER, is_gutter, is_number, replacement_text


def is_word(char: str) -> bool:
    """Whether a character is a letter or digit of ASCII: none is, if it is empty."""
    return char.isascii() and char.isalnum()


class Reader:
    """A target for lxml's parser that collects the content of a page.

    No tree is built, which would take about as long as all the rest. `data` is a list's own
    `append`: half the texts only separate tags, and a Python call for each would cost more than
    sorting them out afterwards.
    """

    __slots__ = (
        "_around", "_counts", "_dated", "_deepest", "_depth", "_element", "_elements", "_head",
        "_hidden", "_is_broken", "_is_note", "_leads_to_place", "_lines", "_link_depth",
        "_link_end", "_linked", "_linked_from", "_links", "_now", "_pieces", "_pre", "_raised",
        "_raised_from", "_reading", "_reading_from", "_sink", "_skipped", "_skipped_from", "_spare",
        "_spared", "_texts", "data",
    )  # fmt: skip

    def __init__(self) -> None:
        self._head = Head()
        self._elements = Elements()
        # Of each block: text, words, characters in links, links, the element around it.
        self._texts: list[str] = []
        self._counts: list[int] = []
        self._linked: list[int] = []
        self._links: list[int] = []
        self._around: list[int] = []
        self._lines: dict[int, str] = {}
        self._is_broken = False  # whether the block has line breaks
        self._pieces: list[str] = []  # of the block that is being read
        self.data = self._pieces.append
        self._now = _Links(0, 0)  # of these pieces
        self._element = self._depth = self._deepest = self._pre = 0
        self._link_depth = self._linked_from = 0
        self._link_end = 0  # where the last link has ended, as another may follow directly
        # Depth and first piece of a superscript, such as the number of a note.
        self._raised = self._raised_from = 0
        self._is_note = self._leads_to_place = False  # is a link superscript, with a fragment
        self._dated = 0  # where a date has ended, as a word may follow directly
        self._skipped = self._skipped_from = 0
        self._reading = self._reading_from = 0
        self._hidden: _Hidden | None = None  # the hidden element that is being read
        self._spare: list[str] = []  # hidden text, in case there is nothing else
        self._spared = _Links(0, 0)  # of the hidden text
        self._sink: list[str] | None = None

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Begin an element."""
        if self._skipped:
            self._skipped += 1
            return
        if self._dated:
            self._part_date()
        self._depth += 1
        self._deepest = max(self._deepest, self._depth)
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
        elif tag != "template" or "shadowrootmode" not in attributes:  # which browsers show
            self._begin_sink(tag, attributes, kind)

    def end(self, tag: str) -> None:
        """End an element."""
        if self._skipped:
            self._skipped -= 1
            if not self._skipped:
                self._depth -= 1
                self._empty_into_sink()
            return
        if self._dated:
            self._part_date()
        self._depth -= 1
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
        for name in self.__slots__:
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

    def _end_raised(self) -> None:
        """End a superscript; a number with a space in front is a verse's, not an exponent."""
        self._raised = 0
        at = self._raised_from - 1
        while at >= 0 and not self._pieces[at]:
            at -= 1
        if at < 0 or self._pieces[at][-1] in WHITE:
            self._mark_note(self._raised_from)

    def _mark_note(self, start: int) -> None:
        """Put the number of a note or a verse into brackets, unless there is more than a number."""
        if self._pre or self._hidden:
            return
        text = "".join(self._pieces[start:])
        number = text.rstrip(WHITE)
        if number.isascii() and number.isdecimal() and len(number) <= LONGEST_NOTE:
            self._pieces[start:] = [f"[{number}]" + " " * (number != text)]

    def _count_linked(self) -> None:
        chars = len(" ".join("".join(self._pieces[self._linked_from :]).split()))
        self._now = self._now._replace(chars=self._now.chars + chars)

    def _begin_sink(self, tag: str, attributes: Mapping[str, str], kind: int) -> None:
        """Begin an element that is not text; metadata goes into a sink."""
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

    def _begin_hidden(self, place: str | None) -> None:
        """Begin a hidden element within text, in whose place something is read, if anything."""
        if place is not None:
            self._hidden = _Hidden(self._depth, len(self._pieces), place, self._now)

    def _end_hidden(self, hidden: _Hidden) -> None:
        self._hidden = None
        begin, place = hidden.begin, hidden.place
        text = "".join(self._pieces[begin:])
        single = " ".join(text.split())
        if place == NUMBER:
            is_left_out = is_number(text)
        else:
            is_left_out = bool(place) or len(single) <= MOST_UNSEEN
        if not is_left_out:
            return
        if place != NUMBER and text:
            self._spare.append(f"{text} ")
            chars = len(single) if self._link_depth else self._now.chars - hidden.links.chars
            count = self._now.number - hidden.links.number
            self._spared = _Links(self._spared.chars + chars, self._spared.number + count)
        self._pieces[begin:] = [" "] if place == " " else []
        self._linked_from = min(self._linked_from, begin)
        self._now = hidden.links
        if self._dated > begin:
            self._dated = 0
        if self._link_end > begin:
            self._link_end = 0

    def _ends_in_word(self) -> bool:
        return bool(self._pieces) and is_word(self._pieces[-1][-1:])

    def _part_date(self) -> None:
        """Part a date from the word that follows it."""
        if len(self._pieces) > self._dated:
            if is_word(self._pieces[self._dated][:1]):
                self._pieces.insert(self._dated, " ")
            self._dated = 0

    def _end_text(self) -> None:
        """End the block that is being read, if there is more than white space."""
        pieces = self._pieces
        self._raised = 0
        if len(pieces) == 1 and not self._spare and pieces[0].isspace():
            pieces.clear()
            self._linked_from = self._link_end = 0
            self._is_broken = False
        elif pieces:
            self._flush_block()

    def _flush_block(self) -> None:
        self._dated = self._link_end = 0
        if self._link_depth:
            self._count_linked()
            self._linked_from = 0
        joined = self._pieces[0] if len(self._pieces) == 1 else "".join(self._pieces)
        self._pieces.clear()
        text = self._squeezed_text(joined)
        if text and not self._pre and (self._is_broken or "-\n" in joined):
            lines = part_lines(joined)
            if "\n" in lines:
                self._lines[len(self._texts)] = lines
        self._is_broken = False
        if self._spare:
            if not text:
                text = squeeze_spaces("".join(self._spare))
                now, spared = self._now, self._spared
                self._now = _Links(now.chars + spared.chars, now.number + spared.number)
            self._spare.clear()
            self._spared = _Links(0, 0)
        if not text:
            return
        if not is_gutter(text, self._elements.signs[self._element], self._pre > 0):
            self._texts.append(text)
            self._counts.append(text.count(" ") + 1)
            self._linked.append(self._now.chars)
            self._links.append(self._now.number)
            self._around.append(self._element)
        self._now = _Links(0, 0)

    def _squeezed_text(self, joined: str) -> str:
        if self._pre:
            return joined.strip("\n").rstrip()
        return squeeze_spaces(joined) if len(joined) > CHUNK else " ".join(joined.split())


class _Links(NamedTuple):
    """Characters in links, and links."""

    chars: int
    number: int


class _Hidden(NamedTuple):
    """A hidden element within text: its depth, its first piece, and what is read in its place."""

    depth: int
    begin: int
    place: str
    links: _Links  # before it


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
