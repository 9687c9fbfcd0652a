"""The block that is being read: its pieces of text, and what is put in the place of some."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .blocks import CHUNK, part_lines, squeeze_spaces
from .elements import LONGEST_NOTE, WHITE, Elements
from .hidden import MOST_HIDDEN, NUMBER, is_gutter, is_number
from .pictures import CELLS, ITEM, MOST_ICONS, formula_text, icon_text, item_sign


def is_word(char: str) -> bool:
    """Whether a character is a letter or digit of ASCII: none is, if it is empty."""
    return char.isascii() and char.isalnum()


class BlockReader:
    """Collects the blocks of a page; what begins and ends them is up to a subclass."""

    __slots__ = (
        "_around", "_counts", "_dated", "_depth", "_element", "_elements", "_hidden", "_icon",
        "_icons", "_is_broken", "_lines", "_link_depth", "_link_end", "_linked", "_linked_from",
        "_links", "_now", "_pieces", "_pre", "_raised", "_raised_from", "_spare", "_spared",
        "_texts",
    )  # fmt: skip

    def __init__(self) -> None:
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
        self._now = Links(0, 0)  # of these pieces
        self._element = self._depth = self._pre = 0
        self._link_depth = self._linked_from = 0
        self._link_end = 0  # where the last link has ended, as another may follow directly
        # Depth and first piece of a superscript, such as the number of a note.
        self._raised = self._raised_from = 0
        self._dated = 0  # where a date has ended, as a word may follow directly
        self._hidden: Hidden | None = None  # the hidden element that is being read
        self._spare: list[str] = []  # hidden text, in case there is nothing else
        self._spared = Links(0, 0)  # of that
        self._icon = self._icons = 0  # depth of one that was read, and how many there may be

    def _count_linked(self) -> None:
        chars = len(" ".join("".join(self._pieces[self._linked_from :]).split()))
        self._now = self._now._replace(chars=self._now.chars + chars)

    def _end_raised(self) -> None:
        """End a superscript; a number with a space in front is a verse's, not an exponent.

        Digits that follow others stay apart from them, in 10⁵ and in prices.
        """
        self._raised = 0
        pieces, at = self._pieces, self._raised_from - 1
        while at >= 0 and not pieces[at]:
            at -= 1
        if at < 0 or pieces[at][-1] in WHITE:
            self._mark_note(self._raised_from)
        elif is_number(pieces[at][-1]):
            at = self._raised_from
            while at < len(pieces) and not pieces[at]:
                at += 1
            if at < len(pieces) and is_number(pieces[at][0]):
                pieces[at] = f" {pieces[at]}"

    def _mark_note(self, start: int) -> None:
        """Put the number of a note or a verse into brackets, unless there is more than a number."""
        if self._pre or self._hidden:
            return
        text = "".join(self._pieces[start:])
        number = text.rstrip(WHITE)
        if number.isascii() and number.isdecimal() and len(number) <= LONGEST_NOTE:
            self._pieces[start:] = [f"[{number}]" + " " * (number != text)]
            self._dated = self._link_end = 0  # what follows a bracket is apart

    def _read_picture(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Read a formula that is a picture, or else an icon and none of those within it."""
        formula = formula_text(attributes) if tag == "img" and not self._pre else ""
        if formula:
            self._pieces.append(formula)
        elif not self._icon and self._read_icon(tag, attributes):
            self._icon = self._depth

    def _read_icon(
        self, tag: str, attributes: Mapping[str, str], text: str = "", name: str = ""
    ) -> bool:
        """Read an icon that is all of a cell, or that stands before an item; if there is one."""
        if self._link_depth or self._pre or self._hidden or self._icons == MOST_ICONS:
            return False
        codes = self._elements.codes_around(self._element)
        is_item = codes[0] == ITEM
        if not is_item and CELLS.isdisjoint(codes):
            return False
        if not all(not piece or piece.isspace() for piece in self._pieces):
            return False
        self._icons += 1
        found = (item_sign if is_item else icon_text)(tag, attributes, text, name)
        if not found:
            return False
        self._pieces.append(f"{found} " if is_item else " ")
        if not is_item:  # for if nothing else is there
            self._spare.append(f"{found} ")
        return True

    def _begin_hidden(self, place: str | None) -> None:
        """Begin a hidden element within text, in whose place something is read, if anything."""
        if place is not None:
            self._hidden = Hidden(self._depth, len(self._pieces), place, self._now)

    def _end_hidden(self, hidden: Hidden) -> None:
        self._hidden = None
        begin, place = hidden.begin, hidden.place
        text = "".join(self._pieces[begin:])
        single = " ".join(text.split())
        if place == NUMBER:
            is_left_out = is_number(text)
        else:
            is_left_out = bool(place) or len(single) <= MOST_HIDDEN
        if not is_left_out:
            return
        if place != NUMBER and text:
            self._spare.append(f"{text} ")
            chars = len(single) if self._link_depth else self._now.chars - hidden.links.chars
            count = self._now.number - hidden.links.number
            self._spared = Links(self._spared.chars + chars, self._spared.number + count)
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
        self._raised = self._icon = self._icons = 0
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
                self._now = Links(now.chars + spared.chars, now.number + spared.number)
            self._spare.clear()
            self._spared = Links(0, 0)
        if not text:
            return
        if not is_gutter(text, self._elements.signs[self._element], self._pre > 0):
            self._texts.append(text)
            self._counts.append(text.count(" ") + 1)
            self._linked.append(self._now.chars)
            self._links.append(self._now.number)
            self._around.append(self._element)
        self._now = Links(0, 0)

    def _squeezed_text(self, joined: str) -> str:
        if self._pre:
            return joined.strip("\n").rstrip()
        return squeeze_spaces(joined) if len(joined) > CHUNK else " ".join(joined.split())


class Links(NamedTuple):
    """Characters in links, and links."""

    chars: int
    number: int


class Hidden(NamedTuple):
    """A hidden element within text: its depth, its first piece, and what is read in its place."""

    depth: int
    begin: int
    place: str
    links: Links  # before it
