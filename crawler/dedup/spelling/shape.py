"""What a word looks like to a reader of bad print: the strokes of its letters."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_LETTERS: Final = str.maketrans(
    dict.fromkeys("ijlrtf", "i")
    | dict.fromkeys("nuvhkpxy", "ii")
    | {"m": "iii"}
    | {"w": "iiii", "d": "ci", "b": "ic", "q": "g"}
    | dict.fromkeys("aceoéèêëáàâóòôö", "c")
)
_WORD: Final = re.compile(r"[^\W\d_]+")
_DIGITS: Final = str.maketrans("01", "oi")
_SOUNDS: Final = str.maketrans("cqzdvg", "kkstfj", "aeiouyhw")
_DOUBLED: Final = re.compile(r"(.)\1+")
_ROUNDS: Final = re.compile(r"cc+")
_UPRIGHTS: Final = re.compile(r"i+")
_REPEATED: Final = re.compile(r"([^ic])\1+")
# Up to which numbers of uprights side by side count as one, as two (and the rest as three). Short
# words, of fewer strokes than eight, are known by the words around them.
_LONG: Final = 8
_BLURRED: Final = {False: (3,), True: (2, 5)}


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
    return word[0] + _DOUBLED.sub(r"\1", rest).translate(_SOUNDS)


def shapes(text: str, *, blurred: bool = False) -> str:
    """*text* with every word replaced by its strokes, a run of round ones counting once.

    The digits 0 and 1 are taken for letters. *blurred*: of upright strokes side by side it counts
    only whether they are few or many, and letters that are doubled count once.

    >>> shapes("The modern house") == shapes("Tlie modem housc")
    True
    >>> shapes("Room 23"), shapes("Room 23", blurred=True)
    ('iciii 23', 'ici 23')
    """
    text = text.lower().translate(_DIGITS)
    return _WORD.sub(lambda word: _shape(word[0], blurred), text)


@lru_cache(1 << 16)
def _shape(word: str, blurred: bool) -> str:
    found = strokes(word)
    if not blurred:
        return _ROUNDS.sub("c", found)
    most = _BLURRED[len(found) >= _LONG]
    found = _UPRIGHTS.sub(
        lambda run: "i" * (1 + sum(len(run[0]) > limit for limit in most)), _ROUNDS.sub("c", found)
    )
    return _REPEATED.sub(r"\1", found)
