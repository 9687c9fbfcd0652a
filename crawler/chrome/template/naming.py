"""What a page is called: its heading, or its title without the site's name."""

from __future__ import annotations

import re
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..page.blocks import LIMIT, TAG_CODES, Flat
from ..page.signs import BIT
from .pairs import block_hash

_LEVELS: Final = tuple(TAG_CODES[tag] for tag in ("h1", "h2", "h3"))
_NEVER: Final = sum(BIT[sign] for sign in ("hidden", "nav", "footer", "c_footer", "c_consent"))
_READ: Final = 300  # characters
_BEGINNING: Final = 60  # characters
_MOST: Final = 4  # headings
PER_WORD: Final = 2.5  # characters in links, of blocks that are no links
# What parts a title from the name of its site, blanks on both sides, or a colon behind which it is.
_PART: Final = re.compile(r"\s+(?:[-–—―|•·»«:/\\]|::|<|>)+\s+")


def headings(flat: Flat, level: int = 1) -> NDArray[np.bool_]:
    """Return which blocks are headings of that level that are seen, and not of a menu or footer."""
    around = flat.around
    is_level = flat.codes[around] == _LEVELS[level - 1]
    found: NDArray[np.bool_] = is_level & (flat.signs[around] & _NEVER == 0)
    return found


def heading_of(flat: Flat, title: str, known: NDArray[np.bool_] | None = None) -> str:
    """Return the page's heading: that of the highest level that is not its template's.

    One below the first level has to be repeated by the title, which without the site's name is
    taken where there is none.
    """
    for level in range(1, len(_LEVELS) + 1):
        found = headings(flat, level)
        if known is not None:
            found &= ~known
        for at in np.flatnonzero(found[:LIMIT]).tolist():
            text = flat.texts[at]
            if level == 1 or text in title:
                return text[:_READ]
    return bare_title(title)


def bare_title(title: str) -> str:
    """Return a title without the name of its site: the longest of its parts.

    >>> bare_title("C++ keywords: bool - cppreference.com"), bare_title("Tea")
    ('C++ keywords: bool', 'Tea')
    """
    return max(_PART.split(title[:_READ]), key=len).strip()


def name_hash(flat: Flat, title: str) -> int:
    """Return a hash of what the page is called, digits folded: versions of a page have the same.

    That is its title and headings of the first level; if it has none of these, also how the first
    and the last of its blocks begin that are no links.
    """
    numbers = np.flatnonzero(headings(flat)[:LIMIT]).tolist()
    if not numbers:
        plain = (flat.signs[flat.around] & _NEVER == 0) & (flat.linked < PER_WORD * flat.words)
        numbers = np.flatnonzero(plain[:LIMIT])[[0, -1]].tolist() if plain[:LIMIT].any() else []
    beginnings = [flat.texts[at][:_BEGINNING] for at in numbers[:_MOST]]
    return block_hash("\n".join([title[:_READ], *beginnings]))
