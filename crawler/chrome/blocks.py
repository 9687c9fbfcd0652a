"""What a page holds: flat text blocks, and the ranges of blocks that elements span."""

from __future__ import annotations

from typing import Final

LIMIT: Final = 5000  # blocks judged by what surrounds them; a feature row is 1 kB
CHUNK: Final = 1 << 16  # characters

# The element directly around a block, as far as the model tells them apart.
TAGS: Final = (
    "p", "li", "h1", "h2", "h3", "td", "th", "div", "pre", "dt", "dd", "figcaption",
    "section", "body", "other",
)  # fmt: skip
OTHER: Final = len(TAGS) - 1
TAG_CODES: Final = {tag: code for code, tag in enumerate(TAGS)} | {
    "h4": 4, "h5": 4, "h6": 4, "summary": 4, "caption": 11, "article": 12, "main": 12,
}  # fmt: skip


class Flat:
    """The page as lists: blocks in reading order, and the containers around them.

    A container is an element with several blocks inside.  Containers stand in document order,
    so that inner ones follow outer ones; the first is the page.
    """

    __slots__ = ("blocks", "containers", "ends", "too_deep", "within")

    def __init__(self) -> None:
        # text, words, characters inside links, links, position in TAGS, signs, depth, label
        self.blocks: list[tuple[str, int, int, int, int, int, int, str]] = []
        self.within: list[int] = []  # of each block the innermost container
        # first block, container around it, label
        self.containers: list[tuple[int, int, str]] = [(0, 0, "")]
        self.ends: list[int] = [0]  # of each container the number of the block after it
        self.too_deep = False

    @property
    def texts(self) -> list[str]:
        """The blocks' texts."""
        return [block[0] for block in self.blocks]

    def append(self, text: str) -> None:
        """Add a block of which nothing but its text is known."""
        self.blocks.append((text, text.count(" ") + 1, 0, 0, OTHER, 0, 0, ""))
        self.within.append(0)
        self.ends[0] = min(len(self.blocks), LIMIT)


def squeeze(text: str, piece: int = CHUNK) -> str:
    """Return the text with every run of white space as one space, none at its ends.

    Long texts go piece by piece: a list of all words of 50 MB takes a gigabyte.
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
