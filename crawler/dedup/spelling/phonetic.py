"""Correction by phonetic code, then edit distance (IARIA 2015, 978-1-61208-408-4, Figure 2)."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from ..errors import MissingExtra
from .nearby import BITS_SET, letters_of
from .phonetics import CODES
from .shape import code_points, split_batches

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .dictionary import Dictionary

# "In order to eliminate irrelevant results … a threshold of 2 is set for the distance."
_FARTHEST: Final = 2
_MOST_KEPT: Final = 1 << 16


class PhoneticRepair:
    """Corrects a word that the dictionary lacks by its phonetic code (Figure 2).

    It takes the dictionary word with the same code that is closest in edit distance; if there is
    none, the closest of all words, up to an edit distance of 2. Of equally close words it takes the
    more frequent one, which the paper leaves open.
    """

    def __init__(self, dictionary: Dictionary, name: str = "dsound") -> None:
        self._dictionary = dictionary
        self._code = CODES[name]
        self._kept: dict[str, str | None] = {}

    @cached_property
    def _same_code(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for word in self._dictionary.words:
            found.setdefault(self._code(word), []).append(word)
        return found

    @cached_property
    def _letters(self) -> NDArray[np.uint32]:
        words = self._dictionary.words
        width = max(map(len, words))
        return np.concatenate(
            [letters_of(code_points(part, width)) for part in split_batches(words)]
        )

    @cached_property
    def _lengths(self) -> NDArray[np.int32]:
        return np.array([len(word) for word in self._dictionary.words], np.int32)

    @cached_property
    def _words(self) -> NDArray[np.object_]:
        return np.array(self._dictionary.words, np.object_)

    def __call__(self, word: str) -> str | None:
        """The correction of *word*, in lower case; None if it is known or no word is similar."""
        if word in self._dictionary:
            return None
        kept = self._kept
        if word not in kept:
            if len(kept) > _MOST_KEPT:
                # A new cache, because another thread may still read the old one.
                kept = self._kept = {}
            kept[word] = self._find_closest(word)
        return kept[word]

    def _find_closest(self, word: str) -> str | None:
        try:
            from rapidfuzz.distance import Levenshtein
            from rapidfuzz.process import extractOne
        except ImportError as error:
            raise MissingExtra("Correction of words", "typos", error) from error
        own = self._code(word)
        same = self._same_code.get(own) if own else None
        if same:
            return extractOne(word, same, scorer=Levenshtein.distance)[0]
        # Each edit changes at most two of the letters that only one of the words has. So few words
        # are left to compare.
        differing = self._letters ^ letters_of(code_points([word], len(word)))
        apart = BITS_SET[differing & 0xFFFF] + BITS_SET[differing >> 16]
        near = (apart <= 2 * _FARTHEST) & (np.abs(self._lengths - len(word)) <= _FARTHEST)
        found = extractOne(
            word, self._words[near].tolist(), scorer=Levenshtein.distance, score_cutoff=_FARTHEST
        )
        return found[0] if found else None
