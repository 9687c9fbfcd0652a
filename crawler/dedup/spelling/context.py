"""What was meant: the most probable words, given those that were read and the words around them."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from .dictionary import Dictionary
    from .nearby import Likeness
    from .page import Page

# A correction: the words from `first` up to `last` of the page are to be replaced.
Correction = tuple[int, int, str]

# All weights are natural logarithms. They were set on 30 pairs of clean and mistyped or misread
# texts, where the result hardly changes when any of them is changed by a quarter.
_EDIT: Final = 6.5
_STROKE: Final = 3.0
# Words whose strokes are the same: each edit after the first is as good as half of one.
_LOOK_ALIKE: Final = 0.5
_JOIN: Final = 2.0
_SPLIT: Final = 10.0
# A word that no dictionary has, as a name or a term: less probable the longer it is.
_UNKNOWN: Final = 14.0
_UNKNOWN_LETTER: Final = 2.5
# From this share of unknown words on, words that the dictionary has are suspected as well, unless
# they are more frequent than one in 8,000 words.
_NOISY: Final = 0.025
_SELDOM: Final = -9.0
_FEWEST_ERRORS: Final = 0.002
# A page of more different ones is no text, or long; looking each up takes a millisecond.
_MOST_UNKNOWN: Final = 2_000

_CHOICES: Final = 4
_CHOICES_OF_KNOWN: Final = 2
_PATHS: Final = 2
_PART_SELDOM: Final = -11.0
_SHORTEST_JOINED: Final = 4


class Reader:
    """Finds the corrections of one page after another, keeping what it looked up."""

    _MOST_KEPT: Final = 1 << 16

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._nearby = dictionary.nearby
        self._choices: dict[str, list[tuple[int, float]]] = {}

    def corrections(self, page: Page) -> list[Correction]:
        """The corrections of *page*, in order."""
        derives = self._dictionary.derives
        unknown = [
            place
            for place, number in enumerate(page.numbers)
            if number < 0 and page.touchable(place) and not derives(page.words[place])
        ]
        rate = len(unknown) / max(1, len(page.words))
        if rate <= _NOISY:
            # Where few words are unknown, these are terms if they come twice, and names.
            often = Counter(page.words[place] for place in unknown)
            unknown = [
                place
                for place in unknown
                if often[page.words[place]] == 1 and not page.capitalised(place)
            ]
        if not 0 < len({page.words[place] for place in unknown}) <= _MOST_UNKNOWN:
            return []
        doubtful = set(unknown)
        if rate > _NOISY:
            logs = self._dictionary.logs
            doubtful.update(
                place
                for place, number in enumerate(page.numbers)
                if number >= 0 and logs[number] < _SELDOM and page.touchable(place)
            )
        self._look_up({page.words[place] for place in doubtful})
        return _Lattice(self._dictionary, page, self._choices, doubtful, rate).read()

    def _look_up(self, words: set[str]) -> None:
        if len(self._choices) > self._MOST_KEPT:
            self._choices.clear()
        wanted = sorted(words - self._choices.keys())
        for most in (1, 2):  # a word that is itself in the dictionary is not two errors away
            group = [word for word in wanted if (word in self._dictionary) == (most == 1)]
            found = self._nearby.find(group, most)
            self._choices.update(zip(group, map(self._best, found), strict=True))

    def _best(self, like: Likeness) -> list[tuple[int, float]]:
        edits, apart = like.edits, like.strokes
        costs = np.where(
            apart == 0,
            _EDIT * (1 + _LOOK_ALIKE * (edits - 1)),
            _EDIT * edits + _STROKE * np.minimum(apart, edits),
        )
        logs = self._dictionary.logs
        total = costs - np.fromiter((logs[number] for number in like.numbers), float, len(edits))
        order = np.argsort(total, kind="stable")[:_CHOICES]
        return [(int(like.numbers[place]), float(costs[place])) for place in order]


# A path's end: probability, the path before it, and what its last step replaced.
_Path = tuple[float, "_Path | None", Correction | None]


class _Lattice:
    """Viterbi's algorithm over the doubtful stretches of a page."""

    def __init__(
        self,
        dictionary: Dictionary,
        page: Page,
        choices: dict[str, list[tuple[int, float]]],
        doubtful: set[int],
        rate: float,
    ) -> None:
        self._dictionary = dictionary
        self._page = page
        self._choices = choices
        self._doubtful = doubtful
        self._error = math.log(max(rate, _FEWEST_ERRORS))
        self._right = math.log1p(-min(rate, 0.5))
        self._noisy = rate > _NOISY

    def read(self) -> list[Correction]:
        found: list[Correction] = []
        last = -1
        for place in sorted(self._doubtful):
            start = place - 1 if place and self._joined(place - 1) >= 0 else place
            start = max(start, 0)
            if start < last:
                continue
            path, last = self._stretch(start)
            while path is not None:
                _, path_before, step = path
                if step is not None:
                    found.append(step)
                path = path_before
        return sorted(found)

    def _stretch(self, start: int) -> tuple[_Path | None, int]:
        """The best path from *start* to the first place where only one word is possible."""
        numbers = self._page.numbers
        before = numbers[start - 1] if start else -1
        ends: dict[int, dict[int, _Path]] = {start: {before: (0.0, None, None)}}
        place = start
        while True:
            paths = ends.pop(place, {})
            certain = place >= len(numbers) or not (
                place in self._doubtful or self._joined(place) >= 0
            )
            if certain and not ends:
                break
            ranked = sorted(paths.items(), key=lambda path: -path[1][0])[:_PATHS]
            for last, path in ranked:
                self._extend(ends, place, last, path, certain)
            place += 1
        following = numbers[place] if place < len(numbers) else -1
        best = max(
            paths.items(),
            key=lambda path: path[1][0] + (self._after(path[0], following)),
        )
        return best[1], place

    def _extend(
        self,
        ends: dict[int, dict[int, _Path]],
        place: int,
        last: int,
        path: _Path,
        certain: bool,
    ) -> None:
        page, dictionary = self._page, self._dictionary
        score = path[0]

        def add(to: int, number: int, gained: float, step: Correction | None) -> None:
            paths = ends.setdefault(to, {})
            total = score + gained
            if number not in paths or total > paths[number][0]:
                paths[number] = (total, path, step)

        number, word = page.numbers[place], page.words[place]
        if number >= 0:
            add(place + 1, number, self._right + self._after(last, number), None)
        else:
            strange = _UNKNOWN + _UNKNOWN_LETTER * len(word) if place in self._doubtful else 0.0
            add(place + 1, -1, self._right - strange, None)
        if certain:
            return
        if place in self._doubtful:
            most = _CHOICES if number < 0 else _CHOICES_OF_KNOWN
            for choice, cost in self._choices.get(word, [])[
                :most
            ]:  # unless another thread cleared it
                gained = self._error - cost + self._after(last, choice)
                add(place + 1, choice, gained, (place, place + 1, dictionary.words[choice]))
            if number < 0 and self._noisy:
                for first, second in self._parts(word):
                    gained = self._after(last, first) + self._after(first, second)
                    both = f"{dictionary.words[first]} {dictionary.words[second]}"
                    step = (place, place + 1, both)
                    add(place + 1, second, self._error - _SPLIT + gained, step)
        joined = self._joined(place)
        if joined >= 0:
            gained = self._error - _JOIN + self._after(last, joined)
            add(place + 2, joined, gained, (place, place + 2, dictionary.words[joined]))

    def _after(self, last: int, number: int) -> float:
        return self._dictionary.after(last, number) if number >= 0 else 0.0

    def _joined(self, place: int) -> int:
        """The number of the word that this and the next make, if one of them is doubtful; -1."""
        page = self._page
        if place + 1 >= len(page.words) or not (
            place in self._doubtful or place + 1 in self._doubtful
        ):
            return -1
        whole = page.words[place] + page.words[place + 1]
        number = self._dictionary.number.get(whole, -1)
        if number < 0 or len(whole) < _SHORTEST_JOINED or not page.touchable(place):
            return -1
        return number if _only_line_end(page.gap(place)) else -1

    def _parts(self, word: str) -> list[tuple[int, int]]:
        """The likeliest two frequent words that *word* is made of, if any."""
        number, logs = self._dictionary.number, self._dictionary.logs
        found = [
            (logs[first] + logs[second], first, second)
            for cut in range(1, len(word))
            if (first := number.get(word[:cut], -1)) >= 0
            and (second := number.get(word[cut:], -1)) >= 0
            and min(logs[first], logs[second]) > _PART_SELDOM
        ]
        return [max(found)[1:]] if found else []


def _only_line_end(gap: str) -> bool:
    return not gap.replace("-", "").replace("\u00ad", "").strip()
