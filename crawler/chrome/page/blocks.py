"""The content of a page: flat text blocks, and the ranges of blocks of elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Final

import numpy as np
from numpy.typing import NDArray

# Arrays: of counts and places, of features, and of sums.
Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
Wide = NDArray[np.float64]

LIMIT: Final = 4000  # blocks of a page that are analysed in full, not only text and links
JUDGED: Final = 1250  # blocks judged by what surrounds them; a feature row is 1 kB
CHUNK: Final = 1 << 16  # characters
LINE_BREAK: Final = "\x1f"  # marks a line break while a block is read; it is white space

# Tags of the element directly around a block that the model distinguishes.
TAGS: Final = (
    "p", "li", "h1", "h2", "h3", "td", "th", "div", "pre", "dt", "dd", "figcaption",
    "section", "body", "other",
)  # fmt: skip
OTHER: Final = len(TAGS) - 1
TAG_CODES: Final = {tag: code for code, tag in enumerate(TAGS)} | {
    "h4": 4, "h5": 4, "h6": 4, "summary": 4, "caption": 11, "article": 12, "main": 12,
}  # fmt: skip


@dataclass(slots=True)
class Flat:
    """The page as columns: blocks in reading order, with elements and containers.

    An element has text inside, a container several blocks. Both are in document order, so inner
    ones follow outer ones; the first of each is the page.
    """

    texts: list[str]
    # Of each block:
    words: Ints
    linked: Ints  # characters inside links
    links: Ints
    around: Ints  # the innermost element
    within: Ints  # the innermost container
    # Of each element:
    codes: Ints  # positions in TAGS
    signs: Ints  # bits of SIGNS and MARKS, with those of the elements around it
    depths: Ints
    kinds: Ints  # a number for all of one tag and class
    outer: Ints  # the elements around them
    # Of each container:
    firsts: Ints  # their first blocks
    ends: Ints  # the numbers of the blocks after them
    parents: Ints  # the containers around them
    holders: Ints  # their elements
    # Of each kind:
    names: list[str]  # its class, after the tag if that is a custom element
    too_deep: bool = False  # to be judged
    has_rest: bool = False  # as its last block: all text that was not parsed
    # Blocks of several lines, parted by line ends, by their numbers.
    lines: dict[int, str] = field(default_factory=dict)
    _signs_of_blocks: Ints | None = field(default=None, init=False, repr=False)

    @property
    def signs_of_blocks(self) -> Ints:
        """The signs of the element around each block."""
        if self._signs_of_blocks is None:
            self._signs_of_blocks = self.signs[self.around]
        return self._signs_of_blocks

    def append(self, text: str) -> None:
        """Add the text of the page that was not parsed: a block that has nothing else."""
        self.has_rest = True
        self.texts.append(text)
        self.words = np.append(self.words, text.count(" ") + 1)
        for name in ("linked", "links", "around", "within"):
            setattr(self, name, np.append(getattr(self, name), 0))
        self._signs_of_blocks = None
        self.ends[0] = min(len(self.texts), LIMIT)


def flat_lines(texts: list[str]) -> Flat:
    """Return blocks that have nothing but their texts."""
    none, page = np.zeros(len(texts), np.int64), np.zeros(1, np.int64)
    words = make_ints([text.count(" ") + 1 for text in texts])
    ends = page + min(len(texts), LIMIT)
    blocks = (none, none, none, none)
    elements = (page + OTHER, page, page, page, page)
    return Flat(texts, words, *blocks, *elements, page, ends, page, page, [""])


def leave_out_blocks(flat: Flat, cut: NDArray[np.bool_]) -> Flat:
    """Return the page without some of its blocks, at most `LIMIT` of them."""
    left = ~cut
    before = np.concatenate(([0], np.cumsum(left)))
    firsts, ends = before[flat.firsts], before[flat.ends]
    stays = ends - firsts > 1  # as a container
    stays[0] = True
    # Of each the nearest one around it that stays: each turn doubles the number of steps taken.
    near = np.where(stays, np.arange(len(stays)), flat.parents)
    while not stays[near].all():
        near = near[near]
    near = (np.cumsum(stays) - 1)[near]
    return replace(
        flat,
        texts=list(compress(flat.texts, left)),
        words=flat.words[left],
        linked=flat.linked[left],
        links=flat.links[left],
        around=flat.around[left],
        within=near[flat.within[left]],
        firsts=firsts[stays],
        ends=ends[stays],
        parents=near[flat.parents[stays]],
        holders=flat.holders[stays],
        has_rest=flat.has_rest and bool(left[-1]),
        lines={},
    )


def make_ints(values: Sequence[int]) -> Ints:
    """Return numbers as an array, faster than numpy does."""
    return np.fromiter(values, np.int64, len(values))


def part_lines(text: str) -> str:
    r"""Return the text with single spaces and the line ends that a reader sees.

    Line ends in the source do not count, but one after a hyphen may divide a word.

    >>> part_lines(f"A {LINE_BREAK} nee-\ndle\nis thin")
    'A\nnee-\ndle is thin'
    """
    parts = text.replace("-\n", f"-{LINE_BREAK}").split(LINE_BREAK)
    return "\n".join(line for part in parts if (line := squeeze_spaces(part)))


def squeeze_spaces(text: str, piece: int = CHUNK) -> str:
    """Return the text with single spaces, and none at its ends.

    Long texts are processed in pieces: a list of all words of 50 MB takes a gigabyte.
    """
    if len(text) <= piece:
        return " ".join(text.split())
    parts: list[str] = []
    for at in range(0, len(text), piece):
        chunk = text[at : at + piece]
        if parts and (chunk[0].isspace() or text[at - 1].isspace()) and parts[-1] != " ":
            parts.append(" ")
        words = " ".join(chunk.split())
        if words:
            parts.append(words)
    return "".join(parts).strip()
