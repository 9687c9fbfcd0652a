"""What an unknown or unlikely word may have been meant to be, and how likely each of it is.

The weights, natural logarithms, are those of a softmax regression on news texts with made-up typos
and scanning errors, see ``benchmarks/typos_noise.py``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from .shape import skeleton

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .dictionary import Dictionary

_EDIT: Final = -2.70
_STROKE: Final = -1.96
_FIRST_LETTER: Final = -0.69
_SAME_SKELETON: Final = 0.88
_FREQUENCY: Final = 0.63
_SPLIT: Final = -5.42
# That a word is right as it stands, though no dictionary has it; the longer, the less probable …
_UNKNOWN: Final = -7.25
_UNKNOWN_LETTER: Final = -1.25
_NAME: Final = 2.42
# … and though it is seldom.
_KNOWN: Final = 2.08
# By the logarithm of the page's share of errors.
_ERRORS: Final = -0.47

_MOST: Final = 8
_MOST_KEPT: Final = 1 << 15
# A word that was run together with another is more frequent than one in 60,000 words.
_PART_SELDOM: Final = -11.0


@dataclass(frozen=True, slots=True)
class Choice:
    """What one word may have been meant to be: two words, or one that is the first and the last.

    ``first`` and ``last``
        Their numbers in the dictionary; before all others the word itself, -1 if it is not there.
    ``scores``
        Logarithms of how likely they are before the words around are looked at.
    """

    first: NDArray[np.int64]
    last: NDArray[np.int64]
    scores: NDArray[np.float64]

    def text(self, words: Sequence[str], number: int) -> str:
        """The choice of that *number*, out of the dictionary's *words*."""
        first, last = int(self.first[number]), int(self.last[number])
        return words[first] if first == last else f"{words[first]} {words[last]}"


class Choices:
    """Finds the choices of words, and keeps them."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._nearby = dictionary.nearby
        self._kept: dict[str, Choice] = {}
        self._skeletons: dict[str, int] = {}
        offered = self._nearby.words
        self._first_letters = _first_letters(offered)
        number = self._skeletons.setdefault
        self._skeleton = np.array([number(skeleton(word), at) for at, word in enumerate(offered)])

    def __call__(self, words: Sequence[str]) -> list[Choice]:
        """The choices of each of *words*."""
        kept = self._kept
        wanted = sorted(set(words) - kept.keys())
        for most in (1, 2):  # a word that is itself in the dictionary is not two errors away
            group = [word for word in wanted if (word in self._dictionary) == (most == 1)]
            if group:
                kept |= self._found(group, most)
        found = [kept[word] for word in words]
        if len(kept) > _MOST_KEPT:
            self._kept = {}
        return found

    @property
    def kept(self) -> int:
        """How many words are remembered."""
        return len(self._kept)

    def left_alone(
        self, words: Sequence[str], names: Sequence[bool], errors: float
    ) -> NDArray[np.float64]:
        """What being right scores for each of *words*, on a page with that share of errors."""
        number, logs = self._dictionary.number.get, self._dictionary.logs
        scores = [
            _KNOWN + _FREQUENCY * logs[known]
            if (known := number(word, -1)) >= 0
            else _UNKNOWN + _UNKNOWN_LETTER * len(word) + _NAME * name
            for word, name in zip(words, names, strict=True)
        ]
        return np.array(scores) + _ERRORS * math.log(errors)

    def _found(self, words: list[str], most: int) -> dict[str, Choice]:
        like = self._nearby.find(words, most)
        asked, number = like.asked, like.numbers
        skeletons = np.array([self._skeletons.get(skeleton(word), -1) for word in words])
        scores = (
            _EDIT * like.edits
            + _STROKE * np.minimum(like.strokes, like.edits)
            + _FIRST_LETTER * (_first_letters(words)[asked] != self._first_letters[number])
            + _SAME_SKELETON * (skeletons[asked] == self._skeleton[number])
            + _FREQUENCY * self._dictionary.logs[number]
        )
        order = np.lexsort((number, -scores, asked))
        cuts = np.searchsorted(asked, np.arange(len(words) + 1)).tolist()
        found = {}
        for place, word in enumerate(words):
            own = self._dictionary.number.get(word, -1)
            best = order[cuts[place] : min(cuts[place] + _MOST, cuts[place + 1])]
            first, last = [own, *number[best].tolist()], [own, *number[best].tolist()]
            score = [0.0, *scores[best].tolist()]
            if own < 0 and (parts := self._parts(word)):
                likely, one, other = parts
                first, last = [*first, one], [*last, other]
                score.append(_SPLIT + _FREQUENCY * likely)
            found[word] = Choice(np.array(first), np.array(last), np.array(score))
        return found

    def _parts(self, word: str) -> tuple[float, int, int] | None:
        """The likeliest two frequent words that *word* is made of, and how likely they are."""
        number, logs = self._dictionary.number.get, self._dictionary.logs
        pairs = [
            (first, second)
            for cut in range(1, len(word))
            if (first := number(word[:cut], -1)) >= 0
            and (second := number(word[cut:], -1)) >= 0
            and min(logs[first], logs[second]) > _PART_SELDOM
        ]
        if not pairs:
            return None
        ahead, behind = np.array(pairs).T
        likely = logs[ahead] + logs[behind] + self._dictionary.gain(ahead, behind)
        best = int(np.argmax(likely))
        return float(likely[best]), *pairs[best]


def _first_letters(words: Sequence[str]) -> NDArray[np.int64]:
    return np.array([ord(word[0]) for word in words])
