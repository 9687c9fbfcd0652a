"""Candidate corrections of unknown or unlikely words, with their features."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from .shape import code_points, hash_skeletons
from .table import hashes_of, hashes_of_cuts, mark_changes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .dictionary import Dictionary

FEATURES: Final = (
    "edits",
    # Letters that a choice has more, or fewer, than the word as read: letters are lost more often
    # than added.
    "letters more",
    "strokes",
    "other first letter",
    "other last letter",
    "same skeleton",
    "frequency",
    "two words",
    # For a word as it stands: it is not in the dictionary, and its length …
    "unknown",
    "unknown letters",
    # … or it is in the dictionary, and its length.
    "known",
    "known letters",
)
# Natural logarithms, by feature; benchmarks/spelling/fit.py makes them.
WEIGHTS: Final[dict[str, float]] = json.loads(
    Path(__file__).with_name("weights.json").read_text("utf-8")
)

_AT: Final = {name: column for column, name in enumerate(FEATURES)}
# Similar words that are kept for a word, the best ones.
_MOST: Final = 8
# Two words that were run together must each be more frequent than one in 60,000 words.
_PART_SELDOM: Final = -11.0


class WordChoice(NamedTuple):
    """The candidate corrections of words; the first choice of each word is the word itself.

    ``counts``
        The number of choices of each word, with the word itself.
    ``numbers``
        The numbers, in the dictionary, of the first and the last word of each choice, which is one
        word or two; -1 for a word itself that is not there. Shape (choices, 2).
    ``features``
        The features of each choice that do not depend on the page; shape (choices,
        ``len(FEATURES)``).
    """

    counts: NDArray[np.int64]
    numbers: NDArray[np.int32]
    features: NDArray[np.float32]


class Finder:
    """Finds the choices of many words at once."""

    def __init__(self, dictionary: Dictionary) -> None:
        self.dictionary = dictionary
        self.nearby = dictionary.nearby
        # How many of the words are frequent enough to be a part.
        self.frequent = int(np.searchsorted(-dictionary.logs, -_PART_SELDOM))
        offered = self.nearby.words
        self.skeletons = hash_skeletons(offered)
        self._lengths = np.array([len(word) for word in offered], np.int16)
        self._first_letters = _letters_at(offered, 0)
        self._last_letters = _letters_at(offered, -1)

    def __call__(self, words: list[str]) -> WordChoice:
        """The choices of all *words*, which are different, in one row."""
        own = self.dictionary.find_numbers(hashes_of(words))
        known = own >= 0
        # A word that is itself in the dictionary is at most one error away from the right one.
        like = self.nearby.find_nearby(words, np.where(known, 1, 2))
        asked, number = like.asked, like.numbers
        lengths = np.array([len(word) for word in words])
        features = {
            "edits": like.edits,
            "letters more": self._lengths[number] - lengths[asked],
            "strokes": like.strokes,
            "other first letter": _letters_at(words, 0)[asked] != self._first_letters[number],
            "other last letter": _letters_at(words, -1)[asked] != self._last_letters[number],
            "same skeleton": hash_skeletons(words)[asked] == self.skeletons[number],
            "frequency": self.dictionary.logs[number],
        }
        score = sum(WEIGHTS[name] * values for name, values in features.items())
        order = np.lexsort((-score, asked))
        count = np.bincount(asked, minlength=len(words))
        rank = np.arange(len(order)) - (np.cumsum(count) - count)[asked]
        order, rank = order[rank < _MOST], rank[rank < _MOST]
        asked, number = asked[order], number[order]
        parts, likely = self._find_parts(words, known)
        two = np.flatnonzero(parts[:, 0] >= 0)
        # Each word has a row for itself, then rows for similar words, then one for its two parts.
        counts = 1 + np.minimum(count, _MOST) + (parts[:, 0] >= 0)
        ends = np.cumsum(counts)
        starts = ends - counts
        rows = np.zeros((ends[-1], len(FEATURES)), np.float32)
        numbers = np.zeros((len(rows), 2), np.int32)
        numbers[starts] = own[:, None]
        rows[starts, _AT["known"]] = known
        rows[starts, _AT["unknown"]] = ~known
        rows[starts, _AT["known letters"]] = known * lengths
        rows[starts, _AT["unknown letters"]] = ~known * lengths
        rows[starts, _AT["frequency"]] = np.where(known, self.dictionary.logs[own], 0.0)
        places = starts[asked] + 1 + rank
        numbers[places] = number[:, None]
        for name, values in features.items():
            rows[places, _AT[name]] = values[order]
        numbers[ends[two] - 1] = parts[two]
        rows[ends[two] - 1, _AT["frequency"]] = likely[two]
        rows[ends[two] - 1, _AT["two words"]] = 1
        return WordChoice(counts, numbers, rows)

    def _find_parts(
        self, words: list[str], known: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The most probable two frequent words that make up each of *words*, and their score.

        Returns numbers of shape (words, 2), -1 for a word that is *known* or has no such parts, and
        log probabilities of shape (words,).
        """
        dictionary, logs = self.dictionary, self.dictionary.logs
        found = np.full((len(words), 2), -1, np.int64)
        likely = np.zeros(len(words))
        letters = code_points(words, max(map(len, words)))
        letters[known] = 0
        firsts, seconds = hashes_of_cuts(letters)
        row, cut = np.nonzero(letters[:, 1:])
        first = dictionary.find_numbers(firsts[row, cut])
        cuts = np.flatnonzero((first >= 0) & (first < self.frequent))
        second = dictionary.find_numbers(seconds[row[cuts], cut[cuts]])
        both = (second >= 0) & (second < self.frequent)
        place, first, second = row[cuts[both]], first[cuts[both]], second[both]
        score = logs[first] + logs[second] + dictionary.measure_gain(first, second)
        best = np.lexsort((-score, place))
        best = best[mark_changes(place[best])]
        place = place[best]
        found[place, 0], found[place, 1], likely[place] = first[best], second[best], score[best]
        return found, likely


def _letters_at(words: Sequence[str], place: int) -> NDArray[np.int32]:
    return np.array([ord(word[place]) for word in words], np.int32)
