"""A cache of the candidate corrections of words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .choices import FEATURES, Finder, WordChoice
from .table import expand_ranges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .dictionary import Dictionary

_MOST_KEPT: Final = 1 << 15
# A word has up to eight choices, itself and its two parts.
_COUNT_BITS: Final = 4
_MOST_COUNTED: Final = (1 << _COUNT_BITS) - 1


class Choices:
    """Finds the candidate corrections of words, and caches them."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._found: Callable[[list[str]], WordChoice] = Finder(dictionary)
        self._kept = _Kept()

    def __call__(self, words: Sequence[str]) -> WordChoice:
        """The choices of all *words*, in one row."""
        kept, different = self._kept, list(dict.fromkeys(words))
        wanted = [word for word in different if word not in kept.spans]
        if len(kept.spans) + len(wanted) > _MOST_KEPT:
            # A new cache, because another thread may still read the old one.
            kept = self._kept = _Kept()
            wanted = different
        if wanted:
            kept.add_choices(wanted, self._found(wanted))
        return kept.choices_of(words)


class _Kept:
    """The choices of many words, one after another in arrays that grow."""

    def __init__(self) -> None:
        # For each word, the start and the number of its choices, packed into an int.
        self.spans: dict[str, int] = {}
        self._numbers = np.zeros((0, 2), np.int32)
        self._features = np.zeros((0, len(FEATURES)), np.float32)
        self._used = 0
        self._adding = Lock()

    def add_choices(self, words: Sequence[str], choices: WordChoice) -> None:
        with self._adding:
            starts = self._used + np.cumsum(choices.counts) - choices.counts
            self._numbers = self._extend_rows(self._numbers, choices.numbers)
            self._features = self._extend_rows(self._features, choices.features)
            self._used += len(choices.numbers)
            spans = starts << _COUNT_BITS | choices.counts
            self.spans |= zip(words, spans.tolist(), strict=True)

    def _extend_rows(self, rows: NDArray[Any], more: NDArray[Any]) -> NDArray[Any]:
        end = self._used + len(more)
        if end > len(rows):
            # A new array, because threads may still read the old one.
            before, rows = rows, np.empty((end + end // 4, *rows.shape[1:]), rows.dtype)
            rows[: self._used] = before[: self._used]
        rows[self._used : end] = more
        return rows

    def choices_of(self, words: Sequence[str]) -> WordChoice:
        spans = np.fromiter(map(self.spans.__getitem__, words), np.int64, len(words))
        counts = spans & _MOST_COUNTED
        rows = expand_ranges(spans >> _COUNT_BITS, counts)
        return WordChoice(counts, self._numbers[rows], self._features[rows])
