"""What an unknown or unlikely word may have been meant to be, and what speaks for each of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from .shape import skeletons

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .dictionary import Dictionary

FEATURES: Final = (
    "edits",
    "strokes",
    "other first letter",
    "other last letter",
    "same skeleton",
    "frequency",
    "two words",
    # That a word is right as it stands, though no dictionary has it, and its length …
    "unknown",
    "unknown letters",
    # … and though it is seldom.
    "known",
    "known letters",
)
# Natural logarithms, by feature; benchmarks/typos_fit.py makes them.
WEIGHTS: Final[dict[str, float]] = json.loads(
    Path(__file__).with_name("weights.json").read_text("utf-8")
)

_AT: Final = {name: column for column, name in enumerate(FEATURES)}
_MOST: Final = 8
_MOST_KEPT: Final = 1 << 15
# A word that was run together with another is more frequent than one in 60,000 words.
_PART_SELDOM: Final = -11.0


class Choice(NamedTuple):
    """What one word may have been meant to be, the word itself before all others.

    ``numbers``
        Of the first and the last word of each in the dictionary, which are one word or two; -1
        for a word itself that is not there. Of shape (choices, 2).
    ``features``
        What speaks for or against each, on whatever page; of shape (choices, ``len(FEATURES)``).
    """

    numbers: NDArray[np.int32]
    features: NDArray[np.float32]


class Choices:
    """Finds the choices of words, and keeps them."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._nearby = dictionary.nearby
        self._frequent = int(np.searchsorted(-dictionary.logs, -_PART_SELDOM))
        self._parts_of = dict(zip(dictionary.words, range(self._frequent), strict=False))
        offered = self._nearby.words
        self._first_letters = _letters_at(offered, 0)
        self._last_letters = _letters_at(offered, -1)
        self._skeletons = skeletons(offered)
        self._kept: dict[str, Choice] = {}

    def __call__(self, words: Sequence[str]) -> list[Choice]:
        """The choices of each of *words*."""
        kept = self._kept
        wanted = list(dict.fromkeys(word for word in words if word not in kept))
        if wanted:
            kept |= self._found(wanted)
        found = [kept[word] for word in words]
        if len(kept) > _MOST_KEPT:
            self._kept = {}
        return found

    @property
    def kept(self) -> int:
        """How many words are remembered."""
        return len(self._kept)

    def _found(self, words: list[str]) -> dict[str, Choice]:
        own = np.array([self._dictionary.number.get(word, -1) for word in words])
        known = own >= 0
        # A word that is itself in the dictionary is not two errors away from what was meant.
        like = self._nearby.find(words, np.where(known, 1, 2))
        asked, number = like.asked, like.numbers
        features = {
            "edits": like.edits,
            "strokes": like.strokes,
            "other first letter": _letters_at(words, 0)[asked] != self._first_letters[number],
            "other last letter": _letters_at(words, -1)[asked] != self._last_letters[number],
            "same skeleton": skeletons(words)[asked] == self._skeletons[number],
            "frequency": self._dictionary.logs[number],
        }
        score = sum(WEIGHTS[name] * values for name, values in features.items())
        order = np.lexsort((-score, asked))
        rank = np.arange(len(order)) - np.searchsorted(asked, asked)
        order, rank = order[rank < _MOST], rank[rank < _MOST]
        asked, number = asked[order], number[order]
        parts, likely = self._parts(words)
        two = np.flatnonzero(parts[:, 0] >= 0)
        # Of each word one row for itself, then those that are like it, then its two parts.
        counts = 1 + np.bincount(asked, minlength=len(words)) + (parts[:, 0] >= 0)
        ends = np.cumsum(counts)
        starts = ends - counts
        rows = np.zeros((ends[-1], len(FEATURES)), np.float32)
        numbers = np.zeros((len(rows), 2), np.int32)
        lengths = np.array([len(word) for word in words])
        numbers[starts] = own[:, None]
        rows[starts, _AT["known"]] = known
        rows[starts, _AT["unknown"]] = ~known
        rows[starts, _AT["known letters"]] = known * lengths
        rows[starts, _AT["unknown letters"]] = ~known * lengths
        rows[starts, _AT["frequency"]] = np.where(known, self._dictionary.logs[own], 0.0)
        places = starts[asked] + 1 + rank
        numbers[places] = number[:, None]
        for name, values in features.items():
            rows[places, _AT[name]] = values[order]
        numbers[ends[two] - 1] = parts[two]
        rows[ends[two] - 1, _AT["frequency"]] = likely[two]
        rows[ends[two] - 1, _AT["two words"]] = 1
        return {
            word: Choice(numbers[start:end], rows[start:end])
            for word, start, end in zip(words, starts.tolist(), ends.tolist(), strict=True)
        }

    def _parts(self, words: list[str]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The likeliest two frequent words that each of *words* is made of, and how likely.

        Their numbers, of shape (words, 2); -1 for a word that the dictionary has or that is not
        made of such.
        """
        number, logs = self._parts_of, self._dictionary.logs
        found = np.full((len(words), 2), -1, np.int64)
        likely = np.zeros(len(words))
        cuts = [
            (place, number[first], number[second])
            for place, word in enumerate(words)
            if word not in self._dictionary
            for cut in range(1, len(word))
            if (first := word[:cut]) in number and (second := word[cut:]) in number
        ]
        if cuts:
            place, first, second = np.array(cuts).T
            score = logs[first] + logs[second] + self._dictionary.gain(first, second)
            best = np.lexsort((-score, place))
            best = best[np.diff(place[best], prepend=-1) > 0]
            found[place[best]] = np.column_stack((first, second))[best]
            likely[place[best]] = score[best]
        return found, likely


def _letters_at(words: Sequence[str], place: int) -> NDArray[np.int64]:
    return np.array([ord(word[place]) for word in words])
