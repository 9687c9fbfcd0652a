"""What a word looks like in bad print: the strokes of its letters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from typing import TYPE_CHECKING, Final

import numpy as np

from .table import FACTORS

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Letters that look like one stroke, or like a letter in `_STROKES` that represents others.
_LETTERS: Final = str.maketrans(
    dict.fromkeys("ijlrtf", "i")
    | dict.fromkeys("nuvhkpxy", "n")
    | {"q": "g"}
    | dict.fromkeys("aceoéèêëáàâóòôö", "c")
)
_STROKES: Final = (("n", "ii"), ("m", "iii"), ("w", "iiii"), ("d", "ci"), ("b", "ic"))
_WORD: Final = re.compile(r"([^\W_]+)")
# Digits that count as letters. In words with digits all strokes count, otherwise 10 would equal
# 100, and 3.1 would equal 3.11.
DIGITS: Final = str.maketrans("01", "oi")
_DIGIT: Final = re.compile(r"\d")
# Letters that sound alike, and letters that are hardly heard.
_ALIKE: Final = str.maketrans("cqzdvgaeiouyhw", "kkstfj" + "\0" * 8)
SOUNDS: Final = np.array([ord(chr(code).translate(_ALIKE)) for code in range(128)], np.uint32)
_C, _F, _H, _K, _P = map(ord, "cfhkp")
# Only so many first letters of a word are compared.
LONGEST: Final = 24
_WORDS_AT_A_TIME: Final = 8192
_ROUNDS: Final = re.compile(r"cc+")
_REPEATED: Final = re.compile(r"([^ic\n])\1+")
# The numbers of adjacent uprights that count as three, two and one. Short words have fewer strokes
# than eight; the words around them help to tell them apart.
LONG: Final = 8
_OF_SHORT: Final = ((re.compile("i{4,}"), "2"), (re.compile("i+"), "1"))
_OF_LONG: Final = (
    (re.compile("i{6,}"), "3"),
    (re.compile("i{3,}"), "2"),
    (re.compile("i+"), "1"),
)
_MOST_KEPT: Final = 1 << 16


def draw_strokes(word: str) -> str:
    """The strokes of a lower-case *word*: ``i`` upright, ``c`` round, other letters themselves.

    Letters that scanners confuse have the same strokes: rn and m, cl and d, li and h, e and c and
    o, i and l and t.

    >>> draw_strokes("member") == draw_strokes("monibcr")
    True
    """
    word = word.translate(_LETTERS)
    for letter, found in _STROKES:
        word = word.replace(letter, found)
    return word


def strokes_of(words: Sequence[str]) -> list[str]:
    """The strokes of all *words*, see :func:`draw_strokes`; none may contain a line end."""
    return draw_strokes("\n".join(words)).split("\n") if words else []


def hash_skeletons(words: Sequence[str]) -> NDArray[np.uint64]:
    """For each lower-case word, a hash of its first letter and its consonants; shape (words,).

    Consonants that sound alike are equal.

    >>> right, misspelt, other = hash_skeletons(["necessary", "neccesary", "recessary"])
    >>> bool(right == misspelt), bool(right == other)
    (True, False)
    """
    return np.concatenate([_hash_part(part) for part in split_batches(words)])


def _hash_part(words: Sequence[str]) -> NDArray[np.uint64]:
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


def split_batches(words: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield *words* in parts so small that arrays of all their letters stay small; at least one."""
    for start in range(0, max(1, len(words)), _WORDS_AT_A_TIME):
        yield words[start : start + _WORDS_AT_A_TIME]


def code_points(words: Sequence[str], width: int) -> NDArray[np.uint32]:
    """The code points of the first letters of *words*, padded with 0; shape (words, *width*)."""
    return np.array(words, f"<U{width}").view("<u4").reshape(len(words), width)


class Shapes:
    """Writes every word of a text as its strokes, a run of round ones as one.

    The digits 0 and 1 count as letters, and numbers keep all their strokes. In short words,
    adjacent upright strokes only count as few or many; with *blurred* also in long words, and
    doubled letters count once. The shapes of the latest words are cached.

    >>> sharp, blurred = Shapes(), Shapes(blurred=True)
    >>> sharp("The modern house") == sharp("Tlie modem housc")
    True
    >>> sharp("Room 23, dining"), blurred("Room 23, dining")
    ('ici 23, ciiiiiiig', 'ici 23, ciiig')
    >>> sharp("3.1, $10"), sharp("3.11, $100"), sharp("$lO")
    ('3.i, $ic', '3.ii, $icc', '$ic')
    """

    def __init__(self, *, blurred: bool = False) -> None:
        self._blurred = blurred
        self._kept: dict[str, str] = {}

    def __call__(self, text: str) -> str:
        text = text.lower()
        parted = _WORD.split(text)
        words, kept = parted[1::2], self._kept
        if len(kept) > _MOST_KEPT:
            # A new cache, because another thread may still read the old one.
            kept = self._kept = {}
        if new := [word for word in dict.fromkeys(words) if word not in kept]:
            numbers = [word for word in new if _DIGIT.search(word)]
            kept |= ((word, draw_strokes(word.translate(DIGITS))) for word in numbers)
            others = [word for word in new if word not in kept]
            kept |= zip(others, self._find_shapes(others), strict=True)
        parted[1::2] = [kept[word] for word in words]
        return "".join(parted)

    def _find_shapes(self, words: Sequence[str]) -> list[str]:
        drawn = strokes_of(words)
        short = [len(word) < LONG for word in drawn]
        lines = ["\n".join(compress(drawn, short))]
        lines.append("\n".join(word for word in drawn if len(word) >= LONG))
        lines = [_ROUNDS.sub("c", line) for line in lines]
        lines[0] = _merge_strokes(lines[0], _OF_SHORT)
        if self._blurred:
            lines[1] = _merge_strokes(lines[1], _OF_LONG)
        of_long, of_short = (iter(line.split("\n")) for line in reversed(lines))
        return [next(of_short if is_short else of_long) for is_short in short]


def _merge_strokes(words: str, kinds: Iterable[tuple[re.Pattern[str], str]]) -> str:
    """*words* with fewer uprights, and with doubled letters written once."""
    for uprights, number in kinds:
        words = uprights.sub(number, words)
    for number in "123":
        words = words.replace(number, "i" * int(number))
    return _REPEATED.sub(r"\1", words)
