"""Known phrases of boilerplate in many languages: related pages, comments, log in.

`phrases.txt` has the phrases of each kind. The weights of the kinds are learnt with the rest.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..page.blocks import Floats

READ: Final = 64  # characters of a block; a text of no more is short
MOST_WORDS: Final = 6  # of what a block begins with
LETTERS: Final = range(2, 9)  # of that, where words are not parted, or take endings as in Korean
UNSPACED: Final = "\u2e80"  # and all letters above
FAR: Final = 300  # blocks; what a page does not have is as far away
DISTANCES: Final = np.log1p(np.arange(FAR + 1)).astype(np.float32)

_WORD: Final = re.compile(r"(?:[^\W\d_]|©)+")


def first_words(text: str) -> list[str]:
    """Return the runs of letters at the beginning of a text, in lower case.

    >>> first_words("12 Comments – don't miss them")
    ['comments', 'don', 't', 'miss', 'them']
    """
    # Letter by letter, as the compiled module does; a final sigma is as any.
    return _WORD.findall(text[:READ].replace("İ", "i").replace("Σ", "σ").lower())


def _read_phrases() -> tuple[tuple[str, ...], dict[str, int]]:
    kinds: list[str] = []
    phrases: dict[str, int] = {}
    for line in Path(__file__).with_name("phrases.txt").read_text("utf-8").splitlines():
        if line.startswith("["):
            kinds.append(line.strip("[]"))
        elif line:
            for phrase in line.split("|"):
                key = " ".join(first_words(phrase))
                phrases[key] = phrases.get(key, 0) | 1 << len(kinds) - 1
    return tuple(kinds), phrases


KINDS, PHRASES = _read_phrases()


def phrase_kinds(text: str) -> tuple[int, int]:
    """Return the kinds of phrase that a text is or begins with, one bit for each of KINDS.

    >>> found = phrase_kinds("Related posts")
    >>> [[KINDS[i] for i in range(len(KINDS)) if bits >> i & 1] for bits in found]
    [['related'], ['related']]
    >>> phrase_kinds("A recipe for tea")
    (0, 0)
    """
    found = first_words(text)
    if not found:
        return 0, 0
    whole = PHRASES.get(" ".join(found), 0) if len(text) <= READ else 0
    begins = 0
    for end in range(1, min(len(found), MOST_WORDS) + 1):
        begins = PHRASES.get(" ".join(found[:end]), begins)
    if not begins and found[0][0] >= UNSPACED:
        for end in LETTERS:
            begins = PHRASES.get(found[0][:end], begins)
    return whole, begins


def describe_phrases(texts: list[str]) -> list[Floats]:
    """Return features of phrases for each block: its own, and the distance of the nearest."""
    n = len(texts)
    own = np.array([phrase_kinds(text) for text in texts], np.int64)
    short = np.fromiter((len(text) <= READ for text in texts), bool, n)
    hit = _bit_columns(np.where(short, own[:, 0] | own[:, 1], own[:, 0])) > 0
    row = np.arange(n)[:, None]
    before = np.maximum.accumulate(np.where(hit, row, -FAR), 0)
    after = np.minimum.accumulate(np.where(hit, row, n + FAR)[::-1], 0)[::-1]
    return [
        _bit_columns(own[:, 0]),
        _bit_columns(own[:, 1]),
        DISTANCES[np.minimum(row - before, FAR)],
        DISTANCES[np.minimum(after - row, FAR)],
    ]


def _bit_columns(sets: NDArray[np.int64]) -> Floats:
    """Return a column for each kind."""
    return (sets[:, None] >> np.arange(len(KINDS)) & 1).astype(np.float32)
