"""The most probable words, given the words as read and the words around them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from .choices import FEATURES, WEIGHTS
from .kept import Choices
from .table import whole_hashes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .dictionary import Dictionary
    from .page_words import Correction, PageWords

# A page with a smaller share of different unknown words is left alone. Even if each of them were
# an error, J5 of it and its copy without errors would be .985^5 / (2 - .985^5) = .86.
_NOISY: Final = 0.015
# On other pages, two kinds of known words are suspected as well: short ones, unless they are more
# frequent than one in 36,000 words, and words that hardly ever stand beside their neighbours.
_SELDOM: Final = -10.5
_SHORT: Final = 5
_UNLIKELY: Final = -3.0
# A suspected word is skipped if its own score is hardly ever beaten. The limit is the first number
# plus the second times the logarithm of the page's share of errors.
_HARDLY_BEATEN: Final = (-4.1, 0.6)
# Frequent words resemble many other frequent words, and so are beaten more often.
_FREQUENT: Final = 200
_HARDLY_BEATEN_FREQUENT: Final = -4.0
# A page with more different doubtful words is a book or an attack; each takes some 5 microseconds
# when first seen, 20 without compiled modules.
MOST_DOUBTFUL: Final = 3_000
_MOST_DERIVED: Final = 1 << 13
# So many words broken at the ends of lines show that a text was taken from print.
_BROKEN: Final = 4
_HYPHENS: Final = "-\u00ad"
_MISREAD_HYPHENS: Final = frozenset(("'\n", ".\n", ",\n", "*\n", '"\n'))
_SHORTEST_JOINED: Final = 4
# Natural logarithms: how much more probable the whole must be than its halves, if one of them is
# unknown and if both are words; and the probability of an unknown word, by its length.
_JOIN: Final = 6.0
_JOIN_WORDS: Final = 8.0
_UNKNOWN: Final = -14.0
_UNKNOWN_LETTER: Final = -2.5
# Words are chosen by their neighbours, which are then chosen by them; later rounds change nothing.
_ROUNDS: Final = 3

# Features of a choice that depend on the page: whether the word as it stands is a name, the
# logarithm of the page's share of errors, how often the page has the unknown word and the choice,
# and the fit of the choice to its neighbours.
PAGE_FEATURES: Final = ("name", "log errors", "repeated", "on the page", "context")


@dataclass(frozen=True, slots=True)
class Doubts:
    """The doubtful words of a page, and all choices of all of them in one row.

    ``numbers``
        The numbers of all words of the page in the dictionary; -1: not in it.
    ``places``
        The places of the doubtful words among these.
    ``first``, ``last``, ``features``
        The first and last words and the features of all choices, see :class:`~.choices.Choice`. The
        features are FEATURES and then PAGE_FEATURES without the context.
    ``counts``, ``starts``
        For each doubtful word, the number of its choices, and the row in which they begin.
    """

    numbers: NDArray[np.int64]
    places: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    features: NDArray[np.float32]
    counts: NDArray[np.int64]
    starts: NDArray[np.int64]


class ContextReader:
    """Finds the corrections of one page after another."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._choices = Choices(dictionary)
        # A page's unknown words are looked up twice, and come again on other pages.
        self._derives = lru_cache(_MOST_DERIVED)(dictionary.is_derived)
        *weights, self._context = (WEIGHTS[name] for name in (*FEATURES, *PAGE_FEATURES))
        self._weights = np.array(weights, np.float32)

    def error_share(self, page: PageWords) -> float:
        """The share of words that are probably errors; 0 for a page that needs no correction."""
        derives = self._derives
        unknown = np.flatnonzero(page.numbers < 0)
        if len(unknown) <= _NOISY * len(page):
            return 0.0
        strange = set(page.words_at(page.find_touchable(unknown)))
        share = sum(not derives(word) for word in strange) / max(1, len(page))
        return share if share > _NOISY else 0.0

    def has_broken_words(self, page: PageWords) -> bool:
        """Whether words are broken at the ends of lines, as in print."""
        numbers, places = page.numbers, page.partings
        places = places[np.minimum(numbers[places], numbers[places + 1]) < 0]
        places = places[self._find_wholes(page, places) >= 0]
        gaps = map(page.gap_after, places.tolist())
        broken = (gap[0] in _HYPHENS and "\n" in gap and _nothing_else(gap) for gap in gaps)
        return sum(broken) >= _BROKEN

    def _find_wholes(self, page: PageWords, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers of the words that those at *places* make with the next ones; -1: none."""
        lengths = page.ends[places] - page.starts[places]
        wholes = whole_hashes(page.hashes[places], lengths, page.hashes[places + 1])
        return self._dictionary.find_numbers(wholes)

    def join_halves(self, page: PageWords) -> list[Correction]:
        """Join words that are split at the end of a line, or where a scanner saw a gap."""
        found: list[Correction] = []
        places = page.partings
        wholes = self._find_wholes(page, places)
        kept = wholes >= 0
        places, wholes = places[kept], wholes[kept]
        kept = self._better_joined(page, places, wholes)
        halves = [
            (place, whole)
            for place, whole in zip(places[kept].tolist(), wholes[kept].tolist(), strict=True)
            if self._is_parted(page, place)
        ]
        if not halves:
            return found
        places = np.array([place for place, _ in halves])
        touchable = set(page.find_touchable(places, noisy=True).tolist())
        after = 0
        for place, whole in halves:
            if place >= after and place in touchable:
                after = place + 2
                found.append((place, after, self._dictionary.words[whole]))
        return found

    def _is_parted(self, page: PageWords, place: int) -> bool:
        """Whether the gap after the word may be only a line end, or a scanner's gap."""
        gap = page.gap_after(place)
        if page.numbers[place : place + 2].min() >= 0 and (gap == " " or gap in _MISREAD_HYPHENS):
            return False
        return _nothing_else(gap)

    def _better_joined(
        self, page: PageWords, places: NDArray[np.int64], wholes: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Whether *wholes* are not short, and more probable than the two words at *places*."""
        logs, numbers = self._dictionary.logs, page.numbers
        lengths = page.ends - page.starts
        alone = np.where(numbers >= 0, logs[numbers], _UNKNOWN + _UNKNOWN_LETTER * lengths)
        first, second = numbers[places], numbers[places + 1]
        apart = alone[places] + alone[places + 1] + self._dictionary.measure_gain(first, second)
        least = np.where(np.minimum(first, second) < 0, _JOIN, _JOIN_WORDS)
        long = lengths[places] + lengths[places + 1] >= _SHORTEST_JOINED
        better: NDArray[np.bool_] = long & (logs[wholes] - least > apart)
        return better

    def find_doubts(
        self, page: PageWords, errors: float, *, thorough: bool = False
    ) -> Doubts | None:
        """The doubtful words of a page with that share of errors; None if there are none.

        With *thorough*, words are included that are hardly ever errors.
        """
        places = self._find_doubtful(page, errors, thorough)
        words = page.words_at(places)
        if not 0 < len(set(words)) <= MOST_DOUBTFUL:
            return None
        counts, numbers, of_words = self._choices(words)
        first, last = numbers.astype(np.int64).T
        starts = np.cumsum(counts) - counts
        features = np.zeros((len(first), len(FEATURES) + len(PAGE_FEATURES) - 1), np.float32)
        features[:, : len(FEATURES)] = of_words
        name, log_errors, repeated, on_the_page = features[:, len(FEATURES) :].T
        unknown = page.numbers[places] < 0
        name[starts[unknown]] = page.are_names(places[unknown])
        log_errors[starts] = np.log(errors)
        times = Counter(words)
        repeated[starts] = np.log([times[word] for word in words]) * unknown
        own, often = np.unique(page.numbers, return_counts=True)
        place = np.minimum(np.searchsorted(own, first), len(own) - 1)
        seen = often[place] * ((own[place] == first) & (first == last))
        on_the_page[:] = np.log1p(seen)
        on_the_page[starts] = 0
        return Doubts(page.numbers, places, first, last, features, counts, starts)

    def _find_doubtful(self, page: PageWords, errors: float, thorough: bool) -> NDArray[np.int64]:
        """Places of unknown words, of rare short words, and of words unlikely in their context."""
        dictionary, numbers = self._dictionary, page.numbers
        around = np.concatenate(([-1], numbers, [-1]))
        gains = dictionary.measure_gain(around[:-1], around[1:])
        fit = gains[:-1] + gains[1:]
        lengths = page.ends - page.starts
        seldom = (dictionary.logs[numbers] < _SELDOM) & (lengths <= _SHORT)
        suspected = seldom | (fit < _UNLIKELY)
        if not thorough:
            suspected &= self._may_be_beaten(numbers, lengths, fit, float(np.log(errors)))
        places = page.find_touchable(np.flatnonzero((numbers < 0) | suspected), noisy=True)
        derives = self._derives
        wrong = [
            number >= 0 or not derives(word)
            for word, number in zip(page.words_at(places), numbers[places].tolist(), strict=True)
        ]
        return places[np.array(wrong, np.bool_)]

    def _may_be_beaten(
        self,
        numbers: NDArray[np.int64],
        lengths: NDArray[np.int64],
        fit: NDArray[np.float64],
        log_errors: float,
    ) -> NDArray[np.bool_]:
        """Whether the scores of dictionary words as they stand are so low that another may win."""
        scores = self._context * fit + WEIGHTS["frequency"] * self._dictionary.logs[numbers]
        scores += WEIGHTS["known letters"] * lengths
        scores += WEIGHTS["known"] + WEIGHTS["log errors"] * log_errors
        least, by_errors = _HARDLY_BEATEN
        limits = (_HARDLY_BEATEN_FREQUENT, least + by_errors * log_errors)
        return scores < np.where(numbers < _FREQUENT, *limits)

    def replace_words(self, page: PageWords, errors: float) -> list[Correction]:
        """The corrections of words on a page with that share of errors."""
        doubts = self.find_doubts(page, errors)
        if doubts is None:
            return []
        best, _ = self.most_probable(doubts)
        return [
            (place, place + 1, self.choice_text(doubts, row))
            for place, row, start in zip(
                doubts.places.tolist(), best.tolist(), doubts.starts.tolist(), strict=True
            )
            if row > start
        ]

    def choice_text(self, doubts: Doubts, row: int) -> str:
        """The text of the choice in that *row*, unless it is the word itself."""
        words = self._dictionary.words
        first, last = int(doubts.first[row]), int(doubts.last[row])
        return words[first] if first == last else f"{words[first]} {words[last]}"

    def most_probable(self, doubts: Doubts) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The row of the most probable choice of each word, and the fit of all choices.

        Iterated conditional modes (Besag, "On the statistical analysis of dirty pictures", 1986):
        each round takes the most probable neighbours so far for granted, for all places at once.
        """
        starts, first, last = doubts.starts, doubts.first, doubts.last
        scores = doubts.features @ self._weights
        before = np.concatenate(([-1], doubts.numbers, [-1]))  # the neighbours of each place
        after = before.copy()
        row = np.repeat(doubts.places + 1, doubts.counts)
        gain = self._dictionary.measure_gain
        best = starts
        fit = np.zeros(len(first))
        stale = np.arange(len(first))
        for _ in range(_ROUNDS):
            at = row[stale]
            gains = gain(
                np.concatenate((before[at - 1], last[stale])),
                np.concatenate((first[stale], after[at + 1])),
            )
            fit[stale] = gains[: len(at)] + gains[len(at) :]
            total = scores + self._context * fit
            top = np.repeat(np.maximum.reduceat(total, starts), doubts.counts)
            highest = np.flatnonzero(total == top)
            best_before, best = best, highest[np.searchsorted(highest, starts)]
            changed = np.zeros(len(before), np.bool_)
            changed[doubts.places[best != best_before] + 1] = True
            stale = np.flatnonzero(changed[row - 1] | changed[row + 1])
            if not stale.size:
                break
            before[doubts.places + 1], after[doubts.places + 1] = last[best], first[best]
        return best, fit


def _nothing_else(gap: str) -> bool:
    """Whether there are only a hyphen and white space between two halves of a word."""
    return gap == " " or not gap.strip().strip(_HYPHENS).strip() or gap in _MISREAD_HYPHENS
