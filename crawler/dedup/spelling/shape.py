"""What a word looks like to a reader of bad print: the strokes of its letters."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_LETTERS: Final = str.maketrans(
    dict.fromkeys("ijlrtf", "i")
    | dict.fromkeys("nuvhk", "ii")
    | {"m": "iii"}
    | {"w": "iiii", "d": "ci", "b": "ic"}
    | dict.fromkeys("aceoéèêëáàâóòôö", "c")
)
_WORD: Final = re.compile(r"[^\W\d_]+")
_DIGITS: Final = str.maketrans("01", "oi")
_ALIKE_SOUNDS: Final = str.maketrans("cqzdvg", "kkstfj")
_SILENT: Final = re.compile(r"[aeiouyhw]+")
_DOUBLED: Final = re.compile(r"(.)\1+")
_ROUNDS: Final = re.compile(r"cc+")
_RUNS: Final = re.compile(r"cc+|ii+")


@lru_cache(1 << 16)
def strokes(word: str) -> str:
    """The strokes of a lower-case *word*: ``i`` upright, ``c`` round, other letters themselves.

    Letters that scanners take for each other have the same: rn and m, cl and d, li and h, e and c
    and o, i and l and t.

    >>> strokes("member") == strokes("monibcr")
    True
    """
    return word.translate(_LETTERS)


def skeleton(word: str) -> str:
    """The first letter of a lower-case *word* and its consonants, those that sound alike as one.

    >>> skeleton("government") == skeleton("govermant"), skeleton("necessary"), skeleton("nesesary")
    (False, 'nksr', 'nssr')
    """
    rest = word[1:].replace("ck", "k").replace("ph", "f")
    return word[0] + _SILENT.sub("", _DOUBLED.sub(r"\1", rest).translate(_ALIKE_SOUNDS))


def shapes(text: str, *, blurred: bool = False) -> str:
    """*text* with every word replaced by its strokes, a run of round ones counting once.

    The digits 0 and 1 are taken for letters. *blurred*: a run of upright strokes counts once, too.

    >>> shapes("The modern house") == shapes("Tlie modem housc")
    True
    >>> shapes("Room 23"), shapes("Room 23", blurred=True)
    ('iciii 23', 'ici 23')
    """
    text = text.lower().translate(_DIGITS)
    return _WORD.sub(lambda word: _shape(word[0], blurred), text)


@lru_cache(1 << 16)
def _shape(word: str, blurred: bool) -> str:
    return (_RUNS if blurred else _ROUNDS).sub(lambda run: run[0][0], strokes(word))
