"""What an unknown or unlikely word may have been meant to be, and what speaks for each of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from .nearby import ranges
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
class Offers:
    """What each of some words may have been meant to be: two words, or one that is both of them.

    Of each word first itself, then the choices, and all of these one after another.

    ``first`` and ``last``
        Their numbers in the dictionary; -1 for a word itself that is not there.
    ``features``
        What speaks for or against each, on whatever page; of shape (choices, ``len(FEATURES)``).
    ``counts``
        How many each word has.
    """

    first: NDArray[np.int64]
    last: NDArray[np.int64]
    features: NDArray[np.float32]
    counts: NDArray[np.int64]


class Choices:
    """Finds the choices of words, and keeps them."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._nearby = dictionary.nearby
        self._frequent = int(np.searchsorted(-dictionary.logs, -_PART_SELDOM))
        self._parts_of = dict(zip(dictionary.words, range(self._frequent), strict=False))
        self._skeletons: dict[str, int] = {}
        offered = self._nearby.words
        self._first_letters = _letters_at(offered, 0)
        self._last_letters = _letters_at(offered, -1)
        number = self._skeletons.setdefault
        self._skeleton = np.array([number(skeleton(word), at) for at, word in enumerate(offered)])
        # By word, a place in the next two, which say where its rows are in the others.
        self._kept: dict[str, int] = {}
        self._starts = np.empty(_MOST_KEPT, np.int64)
        self._counts = np.empty(_MOST_KEPT, np.int64)
        rows = _MOST_KEPT * (_MOST + 2)
        self._first = np.empty(rows, np.int32)
        self._last = np.empty(rows, np.int32)
        self._features = np.empty((rows, len(FEATURES)), np.float32)

    def __call__(self, words: Sequence[str]) -> Offers:
        """The choices of each of *words*, of which up to ``_MOST_KEPT`` are different."""
        kept = self._kept
        wanted = list(dict.fromkeys(word for word in words if word not in kept))
        if len(kept) + len(wanted) > _MOST_KEPT:
            kept.clear()
            wanted = list(dict.fromkeys(words))
        if wanted:
            self._keep(wanted, self._found(wanted))
        places = np.fromiter(map(kept.__getitem__, words), np.int64, len(words))
        counts = self._counts[places]
        rows = ranges(self._starts[places], counts)
        return Offers(
            self._first[rows].astype(np.int64),
            self._last[rows].astype(np.int64),
            self._features[rows],
            counts,
        )

    @property
    def kept(self) -> int:
        """How many words are remembered."""
        return len(self._kept)

    def _keep(self, words: list[str], found: Offers) -> None:
        before = len(self._kept)
        place = slice(before, before + len(words))
        start = int(self._starts[before - 1] + self._counts[before - 1]) if before else 0
        self._starts[place] = start + np.cumsum(found.counts) - found.counts
        self._counts[place] = found.counts
        rows = slice(start, start + len(found.first))
        self._first[rows], self._last[rows] = found.first, found.last
        self._features[rows] = found.features
        self._kept.update(zip(words, range(before, before + len(words)), strict=True))

    def _found(self, words: list[str]) -> Offers:
        own = np.array([self._dictionary.number.get(word, -1) for word in words])
        known = own >= 0
        # A word that is itself in the dictionary is not two errors away from what was meant.
        like = self._nearby.find(words, np.where(known, 1, 2))
        asked, number = like.asked, like.numbers
        skeletons = np.array([self._skeletons.get(skeleton(word), -1) for word in words])
        features = {
            "edits": like.edits,
            "strokes": like.strokes,
            "other first letter": _letters_at(words, 0)[asked] != self._first_letters[number],
            "other last letter": _letters_at(words, -1)[asked] != self._last_letters[number],
            "same skeleton": skeletons[asked] == self._skeleton[number],
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
        first = np.zeros(len(rows), np.int64)
        lengths = np.array([len(word) for word in words])
        first[starts] = own
        rows[starts, _AT["known"]] = known
        rows[starts, _AT["unknown"]] = ~known
        rows[starts, _AT["known letters"]] = known * lengths
        rows[starts, _AT["unknown letters"]] = ~known * lengths
        rows[starts, _AT["frequency"]] = np.where(known, self._dictionary.logs[own], 0.0)
        places = starts[asked] + 1 + rank
        first[places] = number
        for name, values in features.items():
            rows[places, _AT[name]] = values[order]
        last = first.copy()
        first[ends[two] - 1], last[ends[two] - 1] = parts[two].T
        rows[ends[two] - 1, _AT["frequency"]] = likely[two]
        rows[ends[two] - 1, _AT["two words"]] = 1
        return Offers(first, last, rows, counts)

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
