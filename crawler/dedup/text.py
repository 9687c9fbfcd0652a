"""Normalised words: what two texts must share to count as saying the same thing."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from .unspaced import UNSPACED, segmented

try:
    from .encode import encode, has_gaps

    COMPILED = True
except ImportError:  # then texts that are not all ASCII take some ten times as long
    COMPILED = False

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from .unspaced import Segmenter

__all__ = ["Normaliser", "normalise", "single_spaced", "words"]

_SPACE: Final = ord(" ")

_ASCII: Final = bytes(
    ord(chr(byte).lower()) if chr(byte).isalnum() or byte == ord("_") else _SPACE
    for byte in range(128)
).ljust(256)

# Typographic punctuation and the no-break space: all that is not ASCII in most English pages.
_TYPOGRAPHY: Final = "\u2019\u201c\u201d\u2018\u2013\u2014\u2026\xa0"

# What a code point does to the word it stands in.
_DROP, _GAP, _WORD, _ALONE, _MARK, _UNMET = range(6)

# Default_Ignorable_Code_Point (UAX #44) beyond the general category Cf.
_IGNORABLE: Final = (
    (0x034F, 0x034F),
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

# Longest run of combining marks kept (Stream-Safe Text Format, UAX #15 section 13): sorting a run
# of n marks takes CPython n² steps, which a page of nothing but marks would turn into hours.
_LONGEST_MARK_RUN: Final = 30
# Code points normalised at a time, so that the working arrays do not grow with the page.
_PIECE: Final = 1 << 18

_URL: Final = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
_REPOST: Final = re.compile(r"\b(?:RT|MT|via)\b[\s:]*@\w+:?|^\s*(?:RT|MT)\b:?", re.IGNORECASE)
_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_NUMBER: Final = r"\d+(?:[.,:/\-]\d+)*"
_DATE_OR_NUMBER: Final = re.compile(
    rf"{_NUMBER}\s?\b{_MONTH}(?:,?\s{_NUMBER})?|\b{_MONTH}\s{_NUMBER}(?:,\s?{_NUMBER})?|{_NUMBER}",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Normaliser:
    r"""How a text is cut into words before it is hashed.

    Always: Unicode NFKC; invisible characters (zero-width, soft hyphen, bidi controls) vanish
    without splitting the word around them; combining marks stay with their letter. A letter of a
    script that is written without spaces (Han, Kana, Thai, Khmer, …) is a word of its own.

    Parameters
    ----------
    fold_case
        ``Straße`` and ``STRASSE`` are one word (Unicode case folding).
    drop_punctuation
        Words are runs of letters, digits and ``_``, like ``\w+``; otherwise every punctuation mark
        and symbol is a word of its own.
    fold_accents
        ``é`` is ``e``; also Greek and Cyrillic accents, Hebrew points and Arabic vowel marks.
    fold_numbers
        Numbers, times and dates (with digits or English month names) all read ``0``: pages that
        differ only in a date or a counter become equal.
    drop_urls
        ``http://…``, ``https://…`` and ``www.…`` say nothing.
    drop_reposts
        ``RT @name:``, ``MT @name`` and ``via @name`` say nothing.
    segment
        Cuts a run of letters of unspaced scripts into words, for example ``rjieba.cut``; they are
        then kept together as it says.

    Examples
    --------
    >>> Normaliser()("A rose\u00ad\u200b is a ROSE, isn't it?")
    'a rose is a rose isn t it'
    >>> Normaliser(fold_numbers=True)("Seen 12,345 times, last on 3 May 2021 at 10:15")
    'seen 0 times last on 0 at 0'
    >>> Normaliser(drop_reposts=True, drop_urls=True)("RT @phpnw09: 1 Week 'til http://t.co/x")
    '1 week til'
    """

    fold_case: bool = True
    drop_punctuation: bool = True
    fold_accents: bool = False
    fold_numbers: bool = False
    drop_urls: bool = False
    drop_reposts: bool = False
    segment: Segmenter | None = None

    def __call__(self, text: str) -> str:
        """The words of *text*, one space between them."""
        return " ".join(self.words(text))

    def words(self, text: str) -> list[str]:
        """The words of *text*, in order."""
        return self.encode(text).decode().split()

    def encode(self, text: str) -> bytes:
        """The words of *text* in UTF-8, one or more spaces (0x20) between them.

        This is what the shingler reads: no Python object is made for a word.
        """
        if self.drop_urls:
            text = _URL.sub(" ", text)
        if self.drop_reposts:
            text = _REPOST.sub(" ", text)
        if self.fold_numbers:
            text = _DATE_OR_NUMBER.sub("0", text)
        if self.segment is not None:
            text = segmented(text, self.segment)
        if self.fold_case and self.drop_punctuation:
            if COMPILED and not (self.fold_accents or self.segment) and len(text) <= _PIECE:
                found = encode(text, _by_itself)
                if found is not None:
                    return found
            if not text.isascii():
                for char in _TYPOGRAPHY:
                    text = text.replace(char, " ")
            if text.isascii():
                return text.encode("ascii").translate(_ASCII)
        return b"".join(map(self._encode_piece, _pieces(text)))

    def _encode_piece(self, text: str) -> bytes:
        classes = _classes(self.drop_punctuation, self.fold_accents, self.segment is None)
        text = _visible(text, classes)
        if self.fold_accents:
            text = _visible(unicodedata.normalize("NFKD", text), classes)
        text = unicodedata.normalize("NFKC", text)
        if self.fold_case:
            text = unicodedata.normalize("NFKC", text.casefold())
        return _spaced(text, classes)


def normalise(text: str) -> str:
    """The words of *text* as the default :class:`Normaliser` sees them, one space between them.

    >>> normalise("  To be, or NOT to be?  ")
    'to be or not to be'
    >>> normalise("東京タワー is a tower")
    '東 京 タ ワ ー is a tower'
    """
    return Normaliser()(text)


def words(text: str) -> list[str]:
    """The words of *text*, in order, as the default :class:`Normaliser` sees them.

    >>> words("Füße & Hände")
    ['füsse', 'hände']
    """
    return Normaliser().words(text)


def single_spaced(encoded: bytes) -> bytes:
    """*encoded* words with exactly one space between them and none at the ends.

    >>> single_spaced(b"  to be  or ")
    b'to be or'
    """
    if COMPILED and not has_gaps(encoded):
        return encoded.strip(b" ")
    read = np.frombuffer(encoded + b" ", np.uint8)
    this, following = read[:-1], read[1:]
    spaced: bytes = this[(this != _SPACE) | (following != _SPACE)].tobytes()
    return spaced.lstrip()


def _by_itself(char: str) -> bytes | None:
    """What the default normaliser writes for *char* among any others; None if they have a say.

    NFKC of a text is that of its characters one by one, if none of them, decomposed, begins with
    what combines with a letter before it (UAX #15): a mark, a vowel or final of Hangul. Of scripts
    above the basic plane a few letters do, too, which are not told apart from others here.
    """
    if char.isascii() or char in _TYPOGRAPHY:  # before a table is made that they do not need
        return (char if char.isascii() else " ").encode("ascii").translate(_ASCII)
    classes = _classes(True, False, True)
    if classes.of_one(char) == _DROP:
        return b""
    first = unicodedata.normalize("NFKD", char)[0]
    if "\u1160" <= first <= "\u11ff" or "\U00010000" <= first < "\U0001d400":
        return None
    if unicodedata.category(first)[0] == "M":
        return None
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", char).casefold())
    found = {classes.of_one(letter) for letter in folded}
    if found == {_WORD}:
        return folded.encode()
    if found == {_ALONE} and len(folded) == 1:
        return f" {folded} ".encode()
    # The word that follows shows whether this ends in a letter that stands alone.
    written = Normaliser()._encode_piece(char + "a").removesuffix(b"a")
    return re.sub(b" +", b" ", written)


def _pieces(text: str) -> Iterator[str]:
    """Cut *text* at ASCII white space, or anywhere in a text that has none for too long."""
    start = 0
    while len(text) - start > _PIECE:
        end = max(text.rfind(space, start, start + _PIECE) for space in " \n") + 1
        end = end or start + _PIECE
        yield text[start:end]
        start = end
    yield text[start:]


def _visible(text: str, classes: _Classes) -> str:
    """*text* without invisible characters and without endless runs of combining marks.

    They go before normalisation: afterwards, what they stood between would no longer compose.
    """
    points = _code_points(text)
    found = classes.of(points)
    mark = found == _MARK
    keep = found != _DROP
    if mark.any():
        position = np.arange(len(points))
        letter = np.maximum.accumulate(np.where(mark, -1, position))
        keep &= position - letter <= _LONGEST_MARK_RUN
    return text if keep.all() else _text(points[keep])


def _spaced(text: str, classes: _Classes) -> bytes:
    """UTF-8 of normalised *text* with spaces for gaps and around letters that stand alone."""
    points = _code_points(text)
    found = classes.of(points)
    keep = found != _DROP
    if not keep.all():
        points, found = points[keep], found[keep]
    mark = found == _MARK
    if mark.any():
        # A mark belongs to the word of its letter; with no letter before it, it is a gap
        # ("it´s" normalises to "it", space, acute, "s").
        letter = np.maximum.accumulate(np.where(mark, 0, np.arange(len(found))))
        found = np.where(mark & (found[letter] == _MARK), _GAP, found[letter])
    points = np.where(found == _GAP, _SPACE, points)
    alone = found == _ALONE
    if alone.any():
        before = alone & ~mark
        before[1:] |= alone[:-1] & (found[1:] == _WORD)
        spaced = np.full(len(points) + np.count_nonzero(before), _SPACE, np.uint32)
        spaced[np.arange(len(points)) + np.cumsum(before)] = points
        points = spaced
    return _text(points).encode()


def _code_points(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")


def _text(points: NDArray[np.uint32]) -> str:
    return points.astype("<u4", copy=False).tobytes().decode("utf-32-le", "surrogatepass")


@lru_cache
def _classes(drop_punctuation: bool, fold_accents: bool, split_unspaced: bool) -> _Classes:
    return _Classes(drop_punctuation, fold_accents, split_unspaced)


class _Classes:
    """What code points do, each asked for when it is first met: for all it takes a fifth second."""

    def __init__(self, drop_punctuation: bool, fold_accents: bool, split_unspaced: bool) -> None:
        self._drop_punctuation = drop_punctuation
        self._unspaced = UNSPACED if split_unspaced else ()
        self._known = np.full(0x110000, _UNMET, np.uint8)
        for first, last in _IGNORABLE + (_ACCENTS if fold_accents else ()):
            self._known[first : last + 1] = _DROP

    def of(self, points: NDArray[np.uint32]) -> NDArray[np.uint8]:
        """What each of the code points does."""
        found = self._known.take(points)
        unmet = found == _UNMET
        if unmet.any():
            for point in set(points[unmet].tolist()):
                self._known[point] = self._ask(point)
            found = self._known.take(points)
        return found

    def of_one(self, char: str) -> int:
        """What one character does."""
        found = int(self._known[ord(char)])
        return self._ask(ord(char)) if found == _UNMET else found

    def _ask(self, point: int) -> int:
        found = _class(chr(point), self._drop_punctuation)
        if found == _WORD and any(first <= point <= last for first, last in self._unspaced):
            return _ALONE
        return found


def _class(char: str, drop_punctuation: bool) -> int:
    if char.isalnum() or char == "_":
        return _WORD
    category = unicodedata.category(char)
    if category in ("Cf", "Me"):  # format controls; enclosing marks such as a keycap's
        return _DROP
    if category in ("Mn", "Mc"):
        return _MARK
    return _ALONE if category[0] in "PS" and not drop_punctuation else _GAP
