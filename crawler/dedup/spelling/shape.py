"""What a word looks like to a reader of bad print: the strokes of its letters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from .table import FACTORS

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LETTERS: Final = str.maketrans(
    dict.fromkeys("ijlrtf", "i")
    | dict.fromkeys("nuvhkpxy", "ii")
    | {"m": "iii"}
    | {"w": "iiii", "d": "ci", "b": "ic", "q": "g"}
    | dict.fromkeys("aceoéèêëáàâóòôö", "c")
)
_WORD: Final = re.compile(r"[^\W\d_]+")
_DIGITS: Final = str.maketrans("01", "oi")
# Those that sound alike, and those that are hardly heard.
_ALIKE: Final = str.maketrans("cqzdvgaeiouyhw", "kkstfj" + "\0" * 8)
SOUNDS: Final = np.array([ord(chr(code).translate(_ALIKE)) for code in range(128)], np.uint32)
_C, _F, _H, _K, _P = map(ord, "cfhkp")
# Of longer words the beginnings are compared.
LONGEST: Final = 24
_WORDS_AT_A_TIME: Final = 8192
_ROUNDS: Final = re.compile(r"cc+")
_UPRIGHTS: Final = re.compile(r"i+")
_REPEATED: Final = re.compile(r"([^ic])\1+")
# Up to which numbers of uprights side by side count as one, as two (and the rest as three). Short
# words, of fewer strokes than eight, are known by the words around them.
_LONG: Final = 8
_OF_SHORT: Final = (3,)
_OF_LONG: Final = (2, 5)


def strokes(word: str) -> str:
    """The strokes of a lower-case *word*: ``i`` upright, ``c`` round, other letters themselves.

    Letters that scanners take for each other have the same: rn and m, cl and d, li and h, e and c
    and o, i and l and t.

    >>> strokes("member") == strokes("monibcr")
    True
    """
    return word.translate(_LETTERS)


def strokes_of(words: Sequence[str]) -> list[str]:
    """The :func:`strokes` of all *words*, of which none has a line end."""
    return strokes("\n".join(words)).split("\n") if words else []


def skeletons(words: Sequence[str]) -> NDArray[np.uint64]:
    """For each lower-case word a hash of its first letter and its consonants, those that sound
    alike as one; of shape (words,).

    >>> right, misspelt, other = skeletons(["necessary", "neccesary", "recessary"])
    >>> bool(right == misspelt), bool(right == other)
    (True, False)
    """
    return np.concatenate([_skeletons(part) for part in parts(words)])


def _skeletons(words: Sequence[str]) -> NDArray[np.uint64]:
    width = min(LONGEST, max(map(len, words), default=1) + 1)
    first, *_ = codes = code_points(words, width).T
    rest, after = codes[1:-1].copy(), codes[2:]
    rest[(rest == _P) & (after == _H)] = _F
    sounds = np.where(rest < len(SOUNDS), SOUNDS[np.minimum(rest, len(SOUNDS) - 1)], rest)
    sounds[(rest == _C) & (after == _K)] = 0
    sounds[1:][rest[1:] == rest[:-1]] = 0
    place = np.cumsum(sounds != 0, axis=0)
    hashed: NDArray[np.uint64] = (sounds * FACTORS[place]).sum(axis=0, dtype=np.uint64)
    hashed += first * FACTORS[0]
    return hashed


def parts(words: Sequence[str]) -> Iterator[Sequence[str]]:
    """*words*, so many at a time that arrays of all their letters stay small; at least one part."""
    for start in range(0, max(1, len(words)), _WORDS_AT_A_TIME):
        yield words[start : start + _WORDS_AT_A_TIME]


def code_points(words: Sequence[str], width: int) -> NDArray[np.uint32]:
    """Those of the beginnings of *words*, filled up with 0; of shape (words, *width*)."""
    return np.array(words, f"<U{width}").view("<u4").reshape(len(words), width)


def shapes(text: str, *, blurred: bool = False) -> str:
    """*text* with every word replaced by its strokes, a run of round ones counting once.

    The digits 0 and 1 are taken for letters. Of upright strokes side by side it counts in short
    words only whether they are few or many. *blurred*: in long words, too, and letters that are
    doubled count once.

    >>> shapes("The modern house") == shapes("Tlie modem housc")
    True
    >>> shapes("Room 23, dining"), shapes("Room 23, dining", blurred=True)
    ('ici 23, ciiiiiiig', 'ici 23, ciiig')
    """
    text = text.lower().translate(_DIGITS)
    return _WORD.sub(lambda word: _shape(word[0], blurred), text)


@lru_cache(1 << 16)
def _shape(word: str, blurred: bool) -> str:
    found = strokes(word)
    short = len(found) < _LONG
    found = _ROUNDS.sub("c", found)
    if not (short or blurred):
        return found
    most = _OF_SHORT if short else _OF_LONG
    found = _UPRIGHTS.sub(lambda run: "i" * (1 + sum(len(run[0]) > limit for limit in most)), found)
    return _REPEATED.sub(r"\1", found)
