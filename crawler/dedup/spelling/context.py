"""What was meant: the most probable words, given those that were read and the words around them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from .choices import Choices

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .choices import Choice
    from .dictionary import Dictionary
    from .page import Correction, Page

# A page with a smaller share of different unknown words is left alone. Even if each of them were
# an error, J5 of it and its copy without errors would be .985^5 / (2 - .985^5) = .86.
_NOISY: Final = 0.015
# On other pages, short words that the dictionary has are suspected as well, unless they are more
# frequent than one in 36,000 words. Long ones are hardly ever misread as each other.
_SELDOM: Final = -10.5
_SHORT: Final = 5
# A page of more different doubtful words is a book or an attack; each takes some 20 microseconds
# when first seen.
_MOST_DOUBTFUL: Final = 3_000
# So many words broken at the ends of lines show that a text was taken from print.
_BROKEN: Final = 4
_HYPHENS: Final = "-\u00ad"
_SHORTEST_JOINED: Final = 4
# Natural logarithms: how much more probable the whole must be than its halves, if one of them is no
# word and if both are; how probable a word is that no dictionary has, by its length.
_JOIN: Final = 8.0
_JOIN_WORDS: Final = 11.0
_UNKNOWN: Final = -14.0
_UNKNOWN_LETTER: Final = -2.5
# Words are chosen by their neighbours, which are then chosen by them; later rounds change nothing.
_ROUNDS: Final = 3
_CONTEXT: Final = 0.40


class Reader:
    """Finds the corrections of one page after another."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._choices = Choices(dictionary)

    def errors(self, page: Page) -> float:
        """Share of the words that are probably errors; 0 for a page that is to be left alone."""
        derives = self._dictionary.derives
        strange = {
            page.words[place]
            for place, number in enumerate(page.numbers)
            if number < 0 and page.touchable(place) and not derives(page.words[place])
        }
        share = len(strange) / max(1, len(page.words))
        return share if share > _NOISY else 0.0

    def broken(self, page: Page) -> bool:
        """Whether words are broken at the ends of lines, as in print."""
        halves = (
            page.words[place] + page.words[place + 1]
            for place, pair in enumerate(zip(page.numbers, page.numbers[1:], strict=False))
            if min(pair) < 0
            and (gap := page.gap(place))[:1] in _HYPHENS
            and "\n" in gap
            and _nothing_else(gap)
        )
        return sum(whole in self._dictionary for whole in halves) >= _BROKEN

    def joined(self, page: Page) -> list[Correction]:
        """Words whose halves stand apart: at the ends of lines, or where a scanner saw a gap."""
        found: list[Correction] = []
        number = self._dictionary.number.get
        after = 0
        for place, pair in enumerate(zip(page.numbers, page.numbers[1:], strict=False)):
            gap = page.gap(place)
            if place < after or not _nothing_else(gap) or (gap == " " and min(pair) >= 0):
                continue
            whole = page.words[place] + page.words[place + 1]
            if (
                len(whole) >= _SHORTEST_JOINED
                and (one := number(whole, -1)) >= 0
                and page.touchable(place, noisy=True)
                and self._better_joined(page, place, one)
            ):
                after = place + 2
                found.append((place, after, whole))
        return found

    def _better_joined(self, page: Page, place: int, whole: int) -> bool:
        logs = self._dictionary.logs
        first, second = page.numbers[place : place + 2]
        if min(first, second) < 0:
            apart = sum(
                logs[half] if half >= 0 else _UNKNOWN + _UNKNOWN_LETTER * len(word)
                for half, word in zip((first, second), page.words[place : place + 2], strict=True)
            )
            return bool(logs[whole] - _JOIN > apart)
        together = self._dictionary.gain(np.array([first]), np.array([second]))[0]
        return bool(logs[whole] - _JOIN_WORDS > logs[first] + logs[second] + together)

    def replaced(self, page: Page, errors: float) -> list[Correction]:
        """Words instead of which others were meant, on a page with that share of errors."""
        dictionary = self._dictionary
        numbers = np.array(page.numbers, np.int64)
        logs = np.where(numbers < 0, -np.inf, dictionary.logs[numbers])
        places = [
            place
            for place in np.flatnonzero(logs < _SELDOM).tolist()
            if (
                len(page.words[place]) <= _SHORT
                if numbers[place] >= 0
                else not dictionary.derives(page.words[place])
            )
            and page.touchable(place, noisy=True)
        ]
        words = [page.words[place] for place in places]
        if not 0 < len(set(words)) <= _MOST_DOUBTFUL:
            return []
        names = [page.name(place) for place in places]
        choices = self._choices(words)
        left = self._choices.left_alone(words, names, errors)
        best = self._most_probable(numbers, np.array(places), choices, left)
        return [
            (place, place + 1, choice.text(dictionary.words, number))
            for place, choice, number in zip(places, choices, best, strict=True)
            if number
        ]

    def _most_probable(
        self,
        numbers: NDArray[np.int64],
        places: NDArray[np.int64],
        choices: list[Choice],
        left: NDArray[np.float64],
    ) -> list[int]:
        """Which of its choices each place most probably has: iterated conditional modes.

        Besag, "On the statistical analysis of dirty pictures" (1986): with the most probable
        neighbours so far taken for granted, all places at once.
        """
        counts = np.array([len(choice.scores) for choice in choices])
        starts = np.cumsum(counts) - counts
        first = np.concatenate([choice.first for choice in choices])
        last = np.concatenate([choice.last for choice in choices])
        scores = np.concatenate([choice.scores for choice in choices])
        scores[starts] += left
        before = np.concatenate(([-1], numbers, [-1]))  # of each place the neighbours, by number
        after = before.copy()
        row = np.repeat(places + 1, counts)
        gain = self._dictionary.gain
        best = starts
        for _ in range(_ROUNDS):
            fit = gain(before[row - 1], first) + gain(last, after[row + 1])
            total = scores + _CONTEXT * fit
            top = np.repeat(np.maximum.reduceat(total, starts), counts)
            highest = np.flatnonzero(total == top)
            best_before, best = best, highest[np.searchsorted(highest, starts)]
            if np.array_equal(best, best_before):
                break
            before[places + 1], after[places + 1] = last[best], first[best]
        chosen: list[int] = (best - starts).tolist()
        return chosen


def _nothing_else(gap: str) -> bool:
    """Whether what stands between two halves is but a hyphen and white space."""
    return gap == " " or not gap.strip().strip(_HYPHENS).strip()
