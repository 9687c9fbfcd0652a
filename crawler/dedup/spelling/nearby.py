"""Which words of a dictionary are like a given one, for many words at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..errors import MissingExtra
from .shape import strokes

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Only so many first letters take part in the look-up; the rest is compared afterwards. SymSpell
# takes 7; 8 halves the time for a tenth more memory here.
_PREFIX: Final = 8
# One error is all that a word of so few letters can have and still be known again.
_SHORT: Final = 4
# Two errors are looked for in the most frequent words only: of a rare one, too little is left.
_FREQUENT: Final = 20_000
# Of the words with the same strokes, the most frequent; of short ones there are up to 160.
_MOST_OF_STROKES: Final = 8
_WORDS_AT_A_TIME: Final = 8192
# Powers of an odd number (splitmix64's increment): a polynomial hash. Multiples of one would leave
# but ten thousand different hashes.
_FACTORS: Final = np.array([pow(0x9E3779B97F4A7C15, k + 1, 1 << 64) for k in range(_PREFIX)], "u8")
_BITS_SET: Final = np.array([bin(value).count("1") for value in range(1 << 13)], np.int64)
_29: Final = np.uint64(29)


@dataclass(frozen=True, slots=True)
class Likeness:
    """Pairs of a word that was asked for and one that is like it, int arrays of one length.

    ``asked``, in order, and ``numbers`` say which; ``edits`` apart in letters (optimal string
    alignment) and in ``strokes``.
    """

    asked: NDArray[np.int64]
    numbers: NDArray[np.int64]
    edits: NDArray[np.int64]
    strokes: NDArray[np.int64]


class Nearby:
    """Finds *words* within two edits, or of the same strokes.

    Garbe's symmetric deletes ("1000x faster spelling correction", 2012): two words within n edits
    share a form of themselves with up to n letters left out. The forms of all words are hashed to
    64 bits and sorted, 12 bytes each; a page's words are looked up together. *words* come with the
    most frequent first.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self.words = words
        self._texts = np.array(words, np.object_)
        self._strokes = np.array([strokes(word) for word in words], np.object_)
        self._same_strokes: dict[str, list[int]] = {}
        for number, form in enumerate(self._strokes):
            same = self._same_strokes.setdefault(form, [])
            if len(same) < _MOST_OF_STROKES:
                same.append(number)
        self._first_of_same = np.array([self._same_strokes[form][0] for form in self._strokes])
        self._letters = _letters(words)
        self._forms = {
            1: _sorted_forms(words, 1, shortest=1),
            2: _sorted_forms(words[:_FREQUENT], 2, shortest=_SHORT - 1),
        }

    def find(self, words: Sequence[str], most: int | NDArray[np.int64] = 2) -> Likeness:
        """What is like each of *words*, up to *most* edits away (1 or 2, for all or for each of
        them) or of the same strokes.

        Short words are given one edit, and none is like itself.
        """
        distance, of_pairs = _rapidfuzz()
        edits_of = np.minimum(most, [1 + (len(word) > _SHORT) for word in words])
        found = []
        for allowed in (1, 2):
            group = np.flatnonzero(edits_of == allowed)
            asked, number = self._candidates([words[place] for place in group.tolist()], allowed)
            found.append((group[asked], number))
        asked, number = (np.concatenate(both) for both in zip(*found, strict=True))
        order = np.argsort(asked, kind="stable")
        asked, number = asked[order], number[order]
        own = np.array([strokes(word) for word in words], np.object_)
        same = np.array([self._same_strokes.get(form, (-1,))[0] for form in own])
        edits = of_pairs(
            np.array(words, np.object_)[asked].tolist(),
            self._texts[number].tolist(),
            scorer=distance,
        )
        alike = (edits <= edits_of[asked]) | (same[asked] == self._first_of_same[number])
        alike &= edits > 0
        asked, number, edits = asked[alike], number[alike], edits[alike]
        apart = of_pairs(own[asked].tolist(), self._strokes[number].tolist(), scorer=distance)
        return Likeness(asked, number, edits, apart)

    def _candidates(
        self, words: list[str], most: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Pairs (place in *words*, number of a word that may be like it), in order, each once."""
        keys, starts, numbers = self._forms[most]
        rows, forms = _forms_of(words, most)
        order = np.argsort(forms)  # neighbours are found with the memory that is at hand
        rows, forms = rows[order], forms[order]
        place = np.searchsorted(keys, forms)
        hit = keys[np.minimum(place, len(keys) - 1)] == forms
        rows, place = rows[hit], place[hit]
        first, count = starts[place], starts[place + 1] - starts[place]
        asked = np.repeat(rows, count)
        skipped = np.repeat(first - np.cumsum(count) + count, count)
        number = numbers[skipped + np.arange(len(skipped))].astype(np.int64)
        # A letter that only one of them has takes an edit, which puts in and takes out at most one.
        differing = self._letters[number] ^ _letters(words)[asked]
        near = _BITS_SET[differing & 0x1FFF] + _BITS_SET[differing >> 13] <= 2 * most
        pairs = asked[near] << 32 | number[near]
        alike = [
            place << 32 | other
            for place, word in enumerate(words)
            for other in self._same_strokes.get(strokes(word), ())
        ]
        pairs = np.concatenate((pairs, np.array(alike, np.int64)))
        pairs.sort()
        pairs = pairs[np.diff(pairs, prepend=-1) > 0]
        return pairs >> 32, pairs & 0xFFFFFFFF


def _letters(words: Sequence[str]) -> NDArray[np.int64]:
    """Which letters each word has, a bit for each; others than a to z share the bits."""
    found = np.zeros(len(words), np.int64)
    for row, word in enumerate(words):
        mask = 0
        for letter in word:
            mask |= 1 << (ord(letter) - 97) % 26
        found[row] = mask
    return found


def _forms_of(words: Sequence[str], most: int) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Hashes of the beginnings of *words* with up to *most* letters left out, and of which word."""
    letters = np.zeros((len(words), _PREFIX + 1), np.uint64)
    for row, word in enumerate(words):
        beginning = word[:_PREFIX]
        letters[row, : len(beginning)] = list(map(ord, beginning))
    lengths = np.count_nonzero(letters, axis=1)
    rows, hashes = [], []
    for length in range(_PREFIX + 1):
        of_length = np.flatnonzero(lengths == length)
        columns = _columns(length, most)
        forms = (letters[of_length][:, columns] * _FACTORS).sum(2, dtype="u8")
        hashes.append(forms.ravel())
        rows.append(np.repeat(of_length, len(columns)))
    found = np.concatenate(hashes)
    found ^= found >> _29
    found *= _FACTORS[1]
    return np.concatenate(rows), found


@cache
def _columns(length: int, most: int) -> NDArray[np.int64]:
    """The letters of each form, for words of *length*; the column after the last is empty."""
    return np.array(
        [
            [place for place in range(length) if place not in left_out]
            + [_PREFIX] * (_PREFIX - length + count)
            for count in range(min(most, length) + 1)
            for left_out in combinations(range(length), count)
        ]
    )


def _sorted_forms(
    words: Sequence[str], most: int, shortest: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.uint32]]:
    """Forms of *words* of at least *shortest* letters, in order, each once; where the numbers of
    the words that have it begin, and after the last of them the end; the numbers.
    """
    keys, numbers = [], []
    for start in range(0, len(words), _WORDS_AT_A_TIME):
        rows, forms = _forms_of(words[start : start + _WORDS_AT_A_TIME], most)
        long = np.array([len(word) >= shortest for word in words[start : start + _WORDS_AT_A_TIME]])
        keys.append(forms[long[rows]])
        numbers.append((rows[long[rows]] + start).astype(np.uint32))
    key, number = np.concatenate(keys), np.concatenate(numbers)
    order = np.lexsort((number, key))
    key, number = key[order], number[order]
    new = np.ones(key.size, np.bool_)
    new[1:] = (key[1:] != key[:-1]) | (number[1:] != number[:-1])
    key, number = key[new], number[new]
    starts = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1], [True])))
    return key[starts[:-1]], starts, number


def _rapidfuzz() -> tuple[Callable[..., Any], Callable[..., Any]]:
    try:
        from rapidfuzz.distance import OSA
        from rapidfuzz.process import cpdist
    except ImportError as error:
        raise MissingExtra("Correction of words", "typos", error) from error
    return OSA.distance, cpdist
