"""Teasers of other pages below a heading of the template, such as "Related articles"."""

from __future__ import annotations

import re
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..judge.phrases import KINDS, READ, phrase_kinds
from ..page.blocks import LIMIT, TAG_CODES, TAGS, Flat, Ints, Wide
from .pairs import PROSE

_RELATED: Final = 1 << KINDS.index("related")
_LETTER: Final = re.compile(r"[^\W\d_]")
_NONE: Final = 5  # the level of other blocks
_LEVELS: Final = np.full(len(TAGS), _NONE)
_LEVELS[[TAG_CODES[f"h{level}"] for level in range(1, 5)]] = range(1, 5)
_LEAST_LINKED: Final = 1 / 3  # of a section's text: forums have "Recommended posts" above all posts


def find_teasers(flat: Flat, known: NDArray[np.bool_], sizes: Wide) -> NDArray[np.bool_]:
    """Return which blocks are below such a heading; `known` are the blocks of the template.

    They differ on each page and at each visit, so no pair of them comes back, and prices, dates and
    names between their links look like facts of the page. A section ends with its container, at a
    heading of the same level, and at running text.
    """
    found = np.zeros(len(known), bool)
    levels = _LEVELS[flat.codes[flat.around]]
    prose = (sizes >= PROSE) & (3 * flat.linked < sizes)
    near = known[:LIMIT]  # containers of later blocks are unknown
    for at in np.flatnonzero(near[:-1]).tolist():
        text = flat.texts[at]
        # A date above the first teaser is known, too: digits are ignored.
        if (
            (near[at + 1] and _LETTER.search(flat.texts[at + 1]))
            or len(text) > READ
            or 2 * flat.linked[at] >= len(text)
            or not phrase_kinds(text)[0] & _RELATED
        ):
            continue
        section = slice(at + 1, _section_end(flat, at, levels, prose))
        if flat.linked[section].sum() > _LEAST_LINKED * sizes[section].sum():
            found[section] = True
    return found


def _section_end(flat: Flat, at: int, levels: Ints, prose: NDArray[np.bool_]) -> int:
    """Return the number of the block after the section whose heading is block `at`."""
    container = int(flat.within[at])
    while container and flat.ends[container] <= at + 1:  # ends with the heading
        container = int(flat.parents[container])
    is_heading = levels[at] < _NONE
    if not is_heading and flat.firsts[container] < at:
        return at  # a line like any other, whose section has no clear end
    end = int(flat.ends[container])
    inside = slice(at + 1, end)
    stops = np.flatnonzero(prose[inside] | (is_heading & (levels[inside] <= levels[at])))
    return at + 1 + int(stops[0]) if len(stops) else end
