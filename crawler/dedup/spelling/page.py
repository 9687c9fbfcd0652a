"""Which words of a page may be corrected at all: not names, not code, not another language."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from .dictionary import Dictionary

WORD: Final = re.compile(r"[^\W_]+")
_LONGEST: Final = 24
# Beside one of these, a word is part of a number, a name of a program, an address or markup.
_TECHNICAL: Final = frozenset("_@#/\\<>{}=$[]|~`^*+%&")
_DOTS: Final = frozenset(".:-")
_APOSTROPHES: Final = frozenset("'’")
_CAMEL_CASE: Final = re.compile(r"[a-z]{2}[A-Z]+[a-z]{2}")
_LINE_END: Final = re.compile("\n")
_CAPITALS: Final = re.compile("[A-Z]{3}")
# Letters that were read as digits: "th4", "8tates"; but not "4th", "1990s", "A4".
_MISREAD: Final = re.compile(r"\d?[^\W\d]+\d?[^\W\d]*$")
_NUMBERED: Final = re.compile(r"\d+(?:st|nd|rd|th|s|d|m|am|pm)$|[^\W\d]\d$", re.IGNORECASE)
_QUOTES: Final = " \t\r\n\"'“”‘’()»«"
# "Mr. Smith" begins no sentence.
_LONGEST_ABBREVIATION: Final = 4
# Words to either side by which the language of a word is told, and the share of them that must be
# function words of it (in English prose every second is, in sentences of other languages one in
# ten), and the share that the dictionary must have.
_AROUND: Final = 16
_OWN_LANGUAGE: Final = (0.25, 0.6)
# … where a page is known to be full of errors, which spoil function words as well.
_BADLY_READ: Final = (0.15, 0.5)
# The most frequent words of a dictionary, without which hardly a sentence can do.
_FUNCTION_WORDS: Final = 150


# The words from the first place up to the second are to be replaced.
Correction: TypeAlias = tuple[int, int, str]


class Page:
    """The words of a text.

    Attributes
    ----------
    places
        Where each begins and ends in the text.
    words
        The words, in lower case.
    numbers
        Their numbers in the dictionary; -1: not in it.
    """

    def __init__(self, text: str, dictionary: Dictionary) -> None:
        self.text = text
        self.places = [match.span() for match in WORD.finditer(text)]
        self.words = [text[start:end].lower() for start, end in self.places]
        number = dictionary.number.get
        self.numbers = [number(word, -1) for word in self.words]

    def touchable(self, place: int, *, noisy: bool = False) -> bool:
        """Whether the word may be corrected, were it wrong.

        Names may be if the page is *noisy*, and less need be left of the language.
        """
        share, known = self._language
        least, least_known = _BADLY_READ if noisy else _OWN_LANGUAGE
        return (
            bool(share[place] >= least and known[place] >= least_known)
            and self._plain(place, noisy)
            and (noisy or not self.name(place))
        )

    @cached_property
    def _language(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """For each word, the share of function words around it, and of words that are known."""
        numbers = np.array(self.numbers, np.int64)
        place = np.arange(len(numbers))
        first = np.maximum(place - _AROUND, 0)
        last = np.minimum(place + _AROUND + 1, len(numbers))

        def share(flags: NDArray[np.bool_]) -> NDArray[np.float64]:
            total = np.concatenate(([0], np.cumsum(flags)))
            part: NDArray[np.float64] = (total[last] - total[first]) / (last - first)
            return part

        return share((numbers >= 0) & (numbers < _FUNCTION_WORDS)), share(numbers >= 0)

    def name(self, place: int) -> bool:
        """Whether the word begins with a capital letter though it begins no sentence."""
        return self.capitalised(place) and not self._begins_sentence(place)

    def capitalised(self, place: int) -> bool:
        """Whether the word begins with a capital letter."""
        return self.text[self.places[place][0]].isupper()

    def gap(self, place: int) -> str:
        """What stands between a word and the next."""
        return self.text[self.places[place][1] : self.places[place + 1][0]]

    @cached_property
    def partings(self) -> list[int]:
        """Places after which a line ends, or that are, or are before, an unknown word."""
        unknown = np.flatnonzero(np.array(self.numbers, np.int64) < 0)
        lines = np.array([match.start() for match in _LINE_END.finditer(self.text)], np.int64)
        ended = np.searchsorted(np.array([start for start, _ in self.places]), lines) - 1
        found = np.unique(np.concatenate((unknown - 1, unknown, ended)))
        places: list[int] = found[(found >= 0) & (found < len(self.words) - 1)].tolist()
        return places

    def _plain(self, place: int, noisy: bool) -> bool:
        text, (start, end) = self.text, self.places[place]
        word = text[start:end]
        if not 2 <= len(word) <= _LONGEST:
            return False
        if not word.isalpha() and not (noisy and _misread(word)):
            return False
        before = text[start - 1] if start else " "
        after = text[end] if end < len(text) else " "
        if before in _TECHNICAL or after in _TECHNICAL or before in _APOSTROPHES:
            return False
        if after in _APOSTROPHES and text[end + 1 : end + 2] == "t":  # the "wasn" of "wasn't"
            return False
        if before in _DOTS and start > 1 and text[start - 2].isalnum() and before != "-":
            return False
        if after in _DOTS and end + 1 < len(text) and text[end + 1].isalnum() and after != "-":
            return False
        if word.islower():
            return True
        if _CAMEL_CASE.search(word):
            return False
        if not word[0].isupper() or word[1:].islower():
            return True
        return noisy and (self._in_capitals(place - 1) or self._in_capitals(place + 1))

    def _in_capitals(self, place: int) -> bool:
        """Whether there is a word that begins with three capital letters, as in a headline."""
        return 0 <= place < len(self.places) and bool(
            _CAPITALS.match(self.text, self.places[place][0])
        )

    def _begins_sentence(self, place: int) -> bool:
        if not place:
            return True
        gap = self.gap(place - 1).strip(_QUOTES)
        if gap.endswith(("!", "?")):
            return True
        start, end = self.places[place - 1]
        abbreviated = self.text[start].isupper() and end - start <= _LONGEST_ABBREVIATION
        return gap.endswith(".") and not abbreviated

    def rewritten(self, corrections: Sequence[Correction], most: float) -> str:
        """The text with *corrections*, in order, unless they are more than that share of it."""
        if sum(last - first for first, last, _ in corrections) > most * len(self.words):
            return self.text
        parts = []
        end = 0
        for first, last, word in corrections:
            parts.append(self.text[end : self.places[first][0]])
            parts.append(word.capitalize() if self.capitalised(first) else word)
            end = self.places[last - 1][1]
        return "".join([*parts, self.text[end:]])


def _misread(word: str) -> bool:
    return bool(_MISREAD.match(word)) and not _NUMBERED.match(word)
