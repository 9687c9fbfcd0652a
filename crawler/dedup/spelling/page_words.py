"""Finds the words of a page that may be corrected: no names, no code, no other languages."""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache, cached_property
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from .plain_letters import lower_letters
from .table import word_hashes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from .dictionary import Dictionary

_WORD: Final = re.compile(r"[^\W_]+")
_CODE: Final = "utf-32-le"
_ALL: Final = slice(None)
# Kinds of characters; all others are 0. The last three are in words: _ALPHANUMERIC is for digits,
# letters without case, and marks that do not compose with a letter, such as vowel signs.
_TECHNICAL, _APOSTROPHE, _DOT, _LINE_END, _SPACE, _ALPHANUMERIC, _CAPITAL, _LOWER = range(1, 9)
# Beside a technical character, a word is part of a number, a program's name, a URL or markup.
_KINDS: Final = {
    _TECHNICAL: "_@#/\\<>{}=$[]|~`^*+%&",
    _APOSTROPHE: "'’",
    _DOT: ".:",
    _LINE_END: "\n",
    _SPACE: " ",
}
_LONGEST: Final = 24
_CAMEL_CASE: Final = re.compile(r"[a-z]{2}[A-Z]+[a-z]{2}")
_CAPITALS: Final = re.compile("[A-Z]{3}")
# Words with letters misread as digits: "th4", "8tates"; but not "4th", "1990s", "A4".
_MISREAD: Final = re.compile(r"\d?[^\W\d]+\d?[^\W\d]*$")
_NUMBERED: Final = re.compile(r"\d+(?:st|nd|rd|th|s|d|m|am|pm)$|[^\W\d]\d$", re.IGNORECASE)
_QUOTES: Final = " \t\r\n\"'“”‘’()»«"
# "Mr. Smith" begins no sentence.
_LONGEST_ABBREVIATION: Final = 4
# The number of words to either side that show the language of a word; the share of them that must
# be function words of the language (in English prose every second is, in other languages one in
# ten); and the share that the dictionary must have.
_AROUND: Final = 16
_OWN_LANGUAGE: Final = (0.25, 0.6)
# The same shares for a page that is known to be full of errors, also in function words.
_BADLY_READ: Final = (0.15, 0.5)
# There must be so many times more function words of the language than of other languages.
_OWN_TO_FOREIGN: Final = 3
# So many most frequent words of a dictionary count as function words.
_FUNCTION_WORDS: Final = 150


# The words from the first place up to the second are replaced by the text.
Correction: TypeAlias = tuple[int, int, str]


class PageWords:
    """The words of a text.

    Attributes
    ----------
    starts, ends
        The places where each word begins and ends in the text.
    hashes
        The hashes of the words in lower case, see :func:`~.table.word_hashes`.
    numbers
        The numbers of the words in the dictionary; -1: not in it.
    """

    def __init__(self, text: str, dictionary: Dictionary) -> None:
        self.text = text
        # With padding, so that one character before and two after the text can be read.
        self._kinds = _classify_unicode().take(_code_points(f" {text}  "))
        within = self._kinds >= _ALPHANUMERIC
        bounds = np.flatnonzero(within[1:] != within[:-1])
        self.starts, self.ends = bounds[::2], bounds[1::2]
        self._lower = lower_letters(text)
        letters = _code_points(self._lower)[within[1:-2]]
        self.hashes = word_hashes(letters, self.ends - self.starts)
        self.numbers = dictionary.find_numbers(self.hashes)
        self._dictionary = dictionary

    def __len__(self) -> int:
        return len(self.starts)

    def words_at(self, places: NDArray[np.int64] | slice = _ALL) -> list[str]:
        """The words at *places*, in lower case."""
        starts, ends = self.starts[places].tolist(), self.ends[places].tolist()
        text = self._lower
        return [text[start:end] for start, end in zip(starts, ends, strict=True)]

    def find_touchable(
        self, places: NDArray[np.int64], *, noisy: bool = False
    ) -> NDArray[np.int64]:
        """Filter *places*: keep those of words that may be corrected if they are wrong.

        On a *noisy* page, names may be corrected, too, and fewer words must be of the language.
        """
        least, least_known = _BADLY_READ if noisy else _OWN_LANGUAGE
        first = np.maximum(places - _AROUND, 0)
        last = np.minimum(places + _AROUND + 1, len(self))
        count = last - first
        frequent, known, foreign = (sums[last] - sums[first] for sums in self._language)
        own = (
            (frequent >= least * count)
            & (known >= least_known * count)
            & (frequent > _OWN_TO_FOREIGN * foreign)
        )
        places = places[own]
        places = places[self._stand_alone(places)]
        starts, ends = self.starts[places], self.ends[places]
        others = self._others[ends]
        small = others == self._others[starts]
        name = (self._kinds[starts + 1] == _CAPITAL) & (others == self._others[starts + 1])
        right = small | (name & noisy)
        name &= self._follow_space(starts)
        for row in np.flatnonzero(~(right | name)).tolist():
            place, word = int(places[row]), self.text[starts[row] : ends[row]]
            right[row] = self._is_plain_word(place, word, noisy) and (
                noisy or not word[0].isupper() or self._begins_sentence(place)
            )
        found: NDArray[np.int64] = places[right]
        return found

    @cached_property
    def _language(self) -> tuple[NDArray[np.int64], ...]:
        """Cumulative counts of function words, known words, and function words of other languages.

        They are for the words before each word, and before the end.
        """
        known = self.numbers >= 0
        frequent = known & (self.numbers < _FUNCTION_WORDS)
        return (
            _count_before(frequent),
            _count_before(known),
            _count_before(self._dictionary.are_foreign(self.hashes)),
        )

    @cached_property
    def _others(self) -> NDArray[np.int64]:
        """Cumulative counts of characters other than lower-case letters, before each character."""
        return _count_before(self._kinds[1:-2] != _LOWER)

    def _stand_alone(self, places: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether words are neither short nor long, nor part of something longer."""
        starts, ends = self.starts[places], self.ends[places]
        lengths = ends - starts
        before, after = self._kinds[starts], self._kinds[ends + 1]
        further_before, further_after = self._kinds[starts - 1], self._kinds[ends + 2]
        apart = (lengths >= 2) & (lengths <= _LONGEST)
        apart &= (before != _TECHNICAL) & (after != _TECHNICAL) & (before != _APOSTROPHE)
        apart &= (before != _DOT) | (further_before < _ALPHANUMERIC)
        apart &= (after != _DOT) | (further_after < _ALPHANUMERIC)
        for row in np.flatnonzero(apart & (after == _APOSTROPHE)).tolist():
            # the "wasn" of "wasn't"
            apart[row] = not self.text.startswith("t", int(ends[row]) + 1)
        return apart

    def are_names(self, places: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether words begin with a capital letter inside a sentence."""
        starts = self.starts[places]
        capital = self._kinds[starts + 1] == _CAPITAL
        found: NDArray[np.bool_] = capital & self._follow_space(starts)
        for row in np.flatnonzero(capital & ~found).tolist():
            found[row] = not self._begins_sentence(int(places[row]))
        return found

    def _follow_space(self, starts: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether there is only a space between words and the words before, as in a sentence."""
        found: NDArray[np.bool_] = self._kinds[starts] == _SPACE
        found &= self._kinds[starts - 1] >= _ALPHANUMERIC
        return found

    def gap_after(self, place: int) -> str:
        """The text between a word and the next one."""
        return self.text[self.ends[place] : self.starts[place + 1]]

    @cached_property
    def partings(self) -> NDArray[np.int64]:
        """The places of words before a line end, of unknown words, and of words before these."""
        unknown = self.numbers < 0
        lines = np.flatnonzero(self._kinds == _LINE_END) - 1
        found = unknown[:-1] | unknown[1:]
        ended = np.searchsorted(self.starts, lines) - 1
        found[ended[(ended >= 0) & (ended < len(found))]] = True
        return np.flatnonzero(found)

    def _is_plain_word(self, place: int, word: str, noisy: bool) -> bool:
        """Whether the letters and capitals are typical of a word, not of a name or code."""
        if not word.isalpha() and not (noisy and _is_misread(word)):
            return False
        if word.islower():
            return True
        if _CAMEL_CASE.search(word):
            return False
        if not word[0].isupper() or word[1:].islower():
            return True
        return noisy and (self._in_capitals(place - 1) or self._in_capitals(place + 1))

    def _in_capitals(self, place: int) -> bool:
        """Whether the word at a place begins with three capital letters, as in a headline."""
        return 0 <= place < len(self) and bool(_CAPITALS.match(self.text, self.starts[place]))

    def _begins_sentence(self, place: int) -> bool:
        if not place:
            return True
        gap = self.gap_after(place - 1).strip(_QUOTES)
        if gap.endswith(("!", "?")):
            return True
        start, end = self.starts[place - 1], self.ends[place - 1]
        abbreviated = self.text[start].isupper() and end - start <= _LONGEST_ABBREVIATION
        return gap.endswith(".") and not abbreviated

    def rewrite_text(self, corrections: Sequence[Correction], most: float) -> str:
        """The text with *corrections*, in order, unless these are a larger share than *most*."""
        if sum(last - first for first, last, _ in corrections) > most * len(self):
            return self.text
        parts = []
        end = 0
        for first, last, word in corrections:
            start = self.starts[first]
            parts.append(self.text[end:start])
            parts.append(word.capitalize() if self.text[start].isupper() else word)
            end = self.ends[last - 1]
        return "".join([*parts, self.text[end:]])


@cache
def _classify_unicode() -> NDArray[np.uint8]:
    """The kind of every character of Unicode."""
    found = np.zeros(sys.maxunicode + 1, np.uint8)
    characters = np.arange(len(found), dtype="<u4").tobytes().decode(_CODE, "surrogatepass")
    for run in _WORD.finditer(characters):
        found[run.start() : run.end()] = [
            _ALPHANUMERIC + letter.isalpha() * (2 * letter.islower() + letter.isupper())
            for letter in run[0]
        ]
    categories = "".join(map(unicodedata.category, characters))  # two letters each, as in "Mn"
    found[np.frombuffer(categories[::2].encode(), np.uint8) == ord("M")] = _ALPHANUMERIC
    for kind, members in _KINDS.items():
        found[list(map(ord, members))] = kind
    return found


def _code_points(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode(_CODE, "surrogatepass"), "<u4")


def _count_before(flags: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The number of set flags before each place and before the end."""
    found = np.zeros(len(flags) + 1, np.int64)
    np.cumsum(flags, out=found[1:])
    return found


def _is_misread(word: str) -> bool:
    return not word.isdecimal() and bool(_MISREAD.match(word)) and not _NUMBERED.match(word)
