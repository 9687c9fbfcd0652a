"""How code points affect words: part of a word, between words, or ignored."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from .segmentation import UNSPACED
from .sign_words import find_sign

if TYPE_CHECKING:
    from numpy.typing import NDArray

_OTHER_WRITINGS: Final = {
    # What Arabic and Persian keyboards, and Windows-1256, write for yeh and kaf.
    "ى": "ي",
    "ی": "ي",
    "ک": "ك",
    # Romanian s and t with a comma, which older encodings and keyboards write with a cedilla.
    "Ș": "Ş",
    "ș": "ş",
    "Ț": "Ţ",
    "ț": "ţ",
    # Letters without a vowel, which older texts write as the letter, its virama and a joiner (The
    # Unicode Standard, chapter 12): khanda ta of Bengali, the chillus of Malayalam.
    "ৎ": "ত\u09cd",
    "ൺ": "ണ\u0d4d",
    "ൻ": "ന\u0d4d",
    "ർ": "ര\u0d4d",
    "ൽ": "ല\u0d4d",
    "ൾ": "ള\u0d4d",
    "ൿ": "ക\u0d4d",
}
_DIGIT_BEYOND_ASCII: Final = re.compile(r"[^\D0-9]")


def one_writing(text: str) -> str:
    """*text* with one form for each letter and digit that has several.

    >>> one_writing("کتابی ۱۲") == "كتابي 12"
    True
    >>> one_writing("științe") == one_writing("ştiinţe")
    True
    """
    for other, this in _OTHER_WRITINGS.items():  # `translate` would look up each letter
        text = text.replace(other, this)
    return _DIGIT_BEYOND_ASCII.sub(lambda found: str(int(found[0])), text)


_SPACE: Final = ord(" ")

# The effect of a code point on words.
DROP, GAP, WORD, ALONE, MARK, _UNMET = range(6)

# Default_Ignorable_Code_Point (UAX #44) beyond the general category Cf, and the Arabic tatweel,
# which makes a word as long as a line.
_IGNORABLE: Final = (
    (0x034F, 0x034F),
    (0x0640, 0x0640),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFFA0, 0xFFA0),
    (0xE0000, 0xE0FFF),
)
# Marks that an accent-blind reader does without. Vowel signs of Indic and Thai are not among them.
_ACCENTS: Final = (
    (0x0300, 0x036F),
    (0x0591, 0x05BD),
    (0x05BF, 0x05C7),
    (0x0610, 0x061A),
    (0x064B, 0x065F),
    (0x0670, 0x0670),
    (0x06D6, 0x06ED),
    (0x1AB0, 0x1AFF),
    (0x1DC0, 0x1DFF),
)

# Apostrophes within words of Ukrainian, Uzbek, Hawaiian and others, which are letters in Unicode.
# Most pages write the apostrophe that is punctuation.
_APOSTROPHES: Final = "\u02bb\u02bc\u02bd"

# Longest run of combining marks kept (Stream-Safe Text Format, UAX #15 section 13): sorting a run
# of n marks takes CPython n² steps, which would be hours for a page of marks alone.
_LONGEST_MARK_RUN: Final = 30


@lru_cache
def load_characters(
    drop_punctuation: bool, fold_accents: bool, split_unspaced: bool, keep_signs: bool = False
) -> Characters:
    """The characters under these rules of a :class:`~crawler.dedup.text.Normaliser`."""
    return Characters(drop_punctuation, fold_accents, split_unspaced, keep_signs)


class Characters:
    """How code points affect words, looked up at first use: all at once would take 0.2 seconds."""

    def __init__(
        self, drop_punctuation: bool, fold_accents: bool, split_unspaced: bool, keep_signs: bool
    ) -> None:
        self._drop_punctuation = drop_punctuation
        self._keep_signs = keep_signs  # keeps all: signs that do not count are removed before
        self._unspaced = UNSPACED if split_unspaced else ()
        self._known = np.full(0x110000, _UNMET, np.uint8)
        for first, last in _IGNORABLE + (_ACCENTS if fold_accents else ()):
            self._known[first : last + 1] = DROP

    def drop_invisible(self, text: str) -> str:
        """*text* without invisible characters and without endless runs of combining marks.

        This is done before normalisation, because the characters around them would not compose
        afterwards.
        """
        points = _code_points(text)
        found = self.classify_points(points)
        mark = found == MARK
        keep = found != DROP
        if mark.any():
            position = np.arange(len(points))
            letter = np.maximum.accumulate(np.where(mark, -1, position))
            keep &= position - letter <= _LONGEST_MARK_RUN
        return text if keep.all() else _decode_points(points[keep])

    def encode_spaced(self, text: str) -> bytes:
        """UTF-8 of normalised *text* with spaces for gaps and around letters that are words."""
        points = _code_points(text)
        found = self.classify_points(points)
        keep = found != DROP
        if not keep.all():
            points, found = points[keep], found[keep]
        mark = found == MARK
        if mark.any():
            # A mark belongs to the word of its letter; with no letter before it, it is a gap
            # ("it´s" normalises to "it", space, acute, "s").
            letter = np.maximum.accumulate(np.where(mark, 0, np.arange(len(found))))
            found = np.where(mark & (found[letter] == MARK), GAP, found[letter])
        points = np.where(found == GAP, _SPACE, points)
        alone = found == ALONE
        if alone.any():
            before = alone & ~mark
            before[1:] |= alone[:-1] & (found[1:] == WORD)
            spaced = np.full(len(points) + np.count_nonzero(before), _SPACE, np.uint32)
            spaced[np.arange(len(points)) + np.cumsum(before)] = points
            points = spaced
        return _decode_points(points).encode()

    def classify_text(self, text: str) -> bytes:
        """The effect of each character of *text*, one byte for each."""
        return self.classify_points(_code_points(text)).tobytes()

    def classify_points(self, points: NDArray[np.uint32]) -> NDArray[np.uint8]:
        """The effect of each code point: uint8 of the shape of *points*."""
        found = self._known.take(points)
        unmet = found == _UNMET
        if unmet.any():
            for point in set(points[unmet].tolist()):
                self._known[point] = self._classify_point(point)
            found = self._known.take(points)
        return found

    def of_one(self, char: str) -> int:
        """The effect of one character."""
        found = int(self._known[ord(char)])
        return self._classify_point(ord(char)) if found == _UNMET else found

    def _classify_point(self, point: int) -> int:
        if self._keep_signs and find_sign(chr(point)) is not None:
            return WORD
        found = _classify_char(chr(point), self._drop_punctuation)
        if found == WORD and any(first <= point <= last for first, last in self._unspaced):
            return ALONE
        return found


def _classify_char(char: str, drop_punctuation: bool) -> int:
    if (char.isalnum() or char == "_") and char not in _APOSTROPHES:
        return WORD
    category = unicodedata.category(char)
    if category in ("Cf", "Me"):  # format controls; enclosing marks such as a keycap's
        return DROP
    if category in ("Mn", "Mc"):
        return MARK
    sign = category[0] in "PS" or char in _APOSTROPHES
    return ALONE if sign and not drop_punctuation else GAP


def _code_points(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")


def _decode_points(points: NDArray[np.uint32]) -> str:
    return points.astype("<u4", copy=False).tobytes().decode("utf-32-le", "surrogatepass")
