"""Words of one language with their frequencies, from packages or from a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from ..errors import InputError, MissingExtra
from .nearby import Nearby

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Dictionary", "dictionary"]

_WORDS: Final = "frequency_dictionary_en_82_765.txt"
_PAIRS: Final = "frequency_bigramdictionary_en_243_342.txt"
# Below one in ten million words, lists made from the web hold more misspellings than words.
_RAREST: Final = 1e-7
# Words that a correction may put in: the rest is known, but too rare to be what was meant.
_OFFERED: Final = 40_000
# Single letters are counted in book corpora as initials, formulas and list marks.
_LETTER: Final = 0.02
_SHIFT: Final = 20
# English word formation. With shorter stems, too many misspellings would be derivations.
_ENDINGS: Final = ("s", "d", "ed", "r", "er", "or", "rs", "ers", "ors", "ing", "ly", "able", "ness")
_BEGINNINGS: Final = ("re", "un", "de", "non", "pre", "sub", "co", "dis", "inter", "over", "multi")
_SHORTEST_STEM: Final = 6
# Share of the next word's probability that comes from the pair, if the pair is known.
_PAIR_WEIGHT: Final = 0.6


class Dictionary:
    """Words of a language, numbered from the most frequent on.

    Parameters
    ----------
    frequencies
        How often each word occurs; in any unit.
    pairs
        How often one word follows another, in the same unit.
    """

    def __init__(
        self,
        frequencies: Mapping[str, float],
        pairs: Iterable[tuple[str, str, float]] = (),
    ) -> None:
        total = sum(frequencies.values())
        ordered = sorted(frequencies, key=lambda word: (-frequencies[word], word))
        self.words = ordered
        self.number = {word: place for place, word in enumerate(ordered)}
        self.logs = np.log(np.array([frequencies[word] for word in ordered]) / total)
        self._read_pairs(pairs, frequencies)

    def _read_pairs(
        self, pairs: Iterable[tuple[str, str, float]], frequencies: Mapping[str, float]
    ) -> None:
        number = self.number
        found = sorted(
            (number[a] << _SHIFT | number[b], count / frequencies[a])
            for a, b, count in pairs
            if a in number and b in number
        )
        self._pairs = np.array([key for key, _ in found], np.int64)
        self._shares = np.array([share for _, share in found], np.float32)

    def __contains__(self, word: str) -> bool:
        return word in self.number

    def derives(self, word: str) -> bool:
        """Whether *word* is a regular derivation of a word that is not short.

        >>> dictionary().derives("redistributions"), dictionary().derives("redistribusions")
        (True, False)
        """
        stems = {word, *(word.removesuffix(ending) for ending in _ENDINGS if word.endswith(ending))}
        stems |= {
            stem.removeprefix(beginning)
            for stem in stems
            for beginning in _BEGINNINGS
            if stem.startswith(beginning)
        }
        return any(len(stem) >= _SHORTEST_STEM and stem in self.number for stem in stems)

    @cached_property
    def nearby(self) -> Nearby:
        """Look-up of the words that are like a given one; made when first used."""
        return Nearby(self.words[:_OFFERED])

    def gain(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.float64]:
        """How much more probable words *second* are after words *first* than anywhere.

        Parameters
        ----------
        first, second
            Numbers of words, of one length; -1 for any other word.

        Returns
        -------
        numpy.ndarray
            log P(second | first) / P(second), of that length; 0 where either is -1.
        """
        if not self._pairs.size:
            return np.zeros(len(first))
        key = first << _SHIFT | second
        place = np.minimum(np.searchsorted(self._pairs, key), self._pairs.size - 1)
        gained = np.full(len(key), np.log(1 - _PAIR_WEIGHT))
        known = np.flatnonzero(self._pairs[place] == key)
        ratio = self._shares[place[known]] / np.exp(self.logs[second[known]])
        gained[known] = np.log((1 - _PAIR_WEIGHT) + _PAIR_WEIGHT * ratio)
        gained[(first < 0) | (second < 0)] = 0.0
        return gained


@lru_cache(maxsize=4)
def dictionary(source: str = "en") -> Dictionary:
    """The dictionary of a language (a code such as ``"de"``) or of a file.

    English comes from symspellpy (82,765 words that are both in SCOWL and in Google Books n-grams,
    and their pairs; MIT) with the 29,000 most frequent of wordfreq; other languages from wordfreq
    (Apache-2.0, its data CC BY-SA 4.0). A file has a word a line, or a word and its frequency;
    where no frequencies are given, frequent words come first.

    Raises
    ------
    MissingExtra
        The package is not installed.
    InputError
        There is no such language or file.
    """
    if "/" in source or "." in source:
        return Dictionary(_of_file(Path(source)))
    if source == "en":
        return _english()
    return Dictionary(_of_language(source, "best"))


def _english() -> Dictionary:
    try:
        folder = resources.files("symspellpy")
    except ImportError as error:
        raise MissingExtra("The English dictionary", "typos", error) from error
    counts: dict[str, float] = {}
    for line in (folder / _WORDS).read_text("utf-8-sig").splitlines():
        word, count = line.split()
        counts[word] = float(count)
    total = sum(counts.values())
    for word, share in _of_language("en", "small").items():
        # Its words are of the web too, where what the other list lacks is rarer than here.
        counts.setdefault(word, share * total / 3)
    for word in counts:
        if len(word) == 1 and word not in "ai":
            counts[word] *= _LETTER
    lines = (folder / _PAIRS).read_text("utf-8-sig").splitlines()
    pairs = ((first, second, float(count)) for first, second, count in map(str.split, lines))
    return Dictionary(counts, pairs)


def _of_language(language: str, size: str) -> dict[str, float]:
    try:
        from wordfreq import available_languages, get_frequency_dict
    except ImportError as error:
        raise MissingExtra(f"The dictionary of {language!r}", "typos", error) from error
    known = available_languages("small")
    if language not in known:
        raise InputError(f"no dictionary for {language!r}; there are {', '.join(sorted(known))}")
    found = get_frequency_dict(language, size)
    return {word: share for word, share in found.items() if share >= _RAREST and word.isalpha()}


def _of_file(path: Path) -> dict[str, float]:
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the dictionary {path} cannot be read: {error}") from error
    found: dict[str, float] = {}
    for rank, line in enumerate(lines, 1):
        word, *count = line.lower().split()[:2] or [""]
        if word:
            # Zipf's law, for a list that only has an order.
            found[word] = float(count[0]) if count and count[0].isdecimal() else 1e6 / rank
    if not found:
        raise InputError(f"the dictionary {path} has no words")
    return found
