"""What an unknown or unlikely word may have been meant to be, and what speaks for each of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from .shape import skeleton

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


@dataclass(frozen=True, slots=True)
class Choice:
    """What one word may have been meant to be: two words, or one that is the first and the last.

    ``first`` and ``last``
        Their numbers in the dictionary; before all others the word itself, -1 if it is not there.
    ``features``
        What speaks for or against each, on whatever page; of shape (choices, ``len(FEATURES)``).
    """

    first: NDArray[np.int64]
    last: NDArray[np.int64]
    features: NDArray[np.float32]

    def text(self, words: Sequence[str], number: int) -> str:
        """The choice of that *number*, out of the dictionary's *words*."""
        first, last = int(self.first[number]), int(self.last[number])
        return words[first] if first == last else f"{words[first]} {words[last]}"


class Choices:
    """Finds the choices of words, and keeps them."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._nearby = dictionary.nearby
        self._weights = np.array([WEIGHTS[name] for name in FEATURES], np.float32)
        self._kept: dict[str, Choice] = {}
        self._frequent = int(np.searchsorted(-dictionary.logs, -_PART_SELDOM))
        self._skeletons: dict[str, int] = {}
        offered = self._nearby.words
        self._first_letters = _letters_at(offered, 0)
        self._last_letters = _letters_at(offered, -1)
        number = self._skeletons.setdefault
        self._skeleton = np.array([number(skeleton(word), at) for at, word in enumerate(offered)])

    def __call__(self, words: Sequence[str]) -> list[Choice]:
        """The choices of each of *words*."""
        kept = self._kept
        wanted = sorted(set(words) - kept.keys())
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
        skeletons = np.array([self._skeletons.get(skeleton(word), -1) for word in words])
        features = np.zeros((len(asked), len(FEATURES)), np.float32)
        features[:, _AT["edits"]] = like.edits
        features[:, _AT["strokes"]] = np.minimum(like.strokes, like.edits)
        first, last = _letters_at(words, 0), _letters_at(words, -1)
        features[:, _AT["other first letter"]] = first[asked] != self._first_letters[number]
        features[:, _AT["other last letter"]] = last[asked] != self._last_letters[number]
        features[:, _AT["same skeleton"]] = skeletons[asked] == self._skeleton[number]
        features[:, _AT["frequency"]] = self._dictionary.logs[number]
        order = np.lexsort((number, -(features @ self._weights), asked))
        rank = np.arange(len(order)) - np.searchsorted(asked, asked)
        order = order[rank < _MOST]
        parts, likely = self._parts(words)
        # Of each word one row for itself, then those that are like it, then its two parts.
        like_it = np.bincount(asked[order], minlength=len(words))
        ends = np.cumsum(1 + like_it + (parts[:, 0] >= 0))
        starts = np.concatenate(([0], ends[:-1]))
        rows = np.zeros((ends[-1], len(FEATURES)), np.float32)
        first = np.zeros(len(rows), np.int64)
        lengths = np.array([len(word) for word in words])
        first[starts] = own
        rows[starts, _AT["known"]] = known
        rows[starts, _AT["unknown"]] = ~known
        rows[starts, _AT["known letters"]] = known * lengths
        rows[starts, _AT["unknown letters"]] = ~known * lengths
        rows[starts, _AT["frequency"]] = np.where(known, self._dictionary.logs[own], 0.0)
        places = starts[asked[order]] + 1 + rank[rank < _MOST]
        first[places], rows[places] = number[order], features[order]
        last = first.copy()
        two = np.flatnonzero(parts[:, 0] >= 0)
        first[ends[two] - 1], last[ends[two] - 1] = parts[two].T
        rows[ends[two] - 1, _AT["frequency"]] = likely[two]
        rows[ends[two] - 1, _AT["two words"]] = 1
        return {
            word: Choice(first[start:end], last[start:end], rows[start:end])
            for word, start, end in zip(words, starts.tolist(), ends.tolist(), strict=True)
        }

    def _parts(self, words: list[str]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The likeliest two frequent words that each of *words* is made of, and how likely.

        Their numbers, of shape (words, 2); -1 for a word that the dictionary has or that is not
        made of such.
        """
        number, logs = self._dictionary.number.get, self._dictionary.logs
        found = np.full((len(words), 2), -1, np.int64)
        likely = np.zeros(len(words))
        cuts = [
            (place, first, second)
            for place, word in enumerate(words)
            if word not in self._dictionary
            for cut in range(1, len(word))
            if 0 <= (first := number(word[:cut], -1)) < self._frequent
            and 0 <= (second := number(word[cut:], -1)) < self._frequent
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
