"""Words of one language with their frequencies, from packages or from a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from importlib import resources
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import xxhash

from ..errors import InputError, MissingExtra
from .languages import FUNCTION_WORDS
from .nearby import Nearby
from .plain_letters import lower_letters, simplify_letters
from .shape import split_batches
from .table import Table, hashes_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WORDS: Final = "frequency_dictionary_en_82_765.txt"
_PAIRS: Final = "frequency_bigramdictionary_en_243_342.txt"
# Below one in ten million words, lists made from the web hold more misspellings than words.
_RAREST: Final = 1e-7
# The most frequent words, which a correction may put in; other languages have more, rare ones.
_OFFERED: Final = 80_000
# Single letters are counted in book corpora as initials, formulas and list marks.
_LETTER: Final = 0.02
SHIFT: Final = 20
_LONGEST: Final = 64  # letters of a word in a file; one of thousands would take gigabytes
_MOST: Final = 1e100  # an invalid frequency: sums of such numbers could be infinite
# English word formation. With shorter stems, too many misspellings would be derivations.
_ENDINGS: Final = ("s", "d", "ed", "r", "er", "or", "rs", "ers", "ors", "ing", "ly", "able", "ness")
_BEGINNINGS: Final = (
    "re",
    "un",
    "de",
    "non",
    "pre",
    "sub",
    "co",
    "dis",
    "inter",
    "over",
    "multi",
)
_ALL_ENDINGS: Final = frozenset(_ENDINGS)
_ALL_BEGINNINGS: Final = frozenset(_BEGINNINGS)
_SHORTEST_STEM: Final = 6
# About half of the pairs in a text are in the list.
_COVERED: Final = 0.5
# The gain of a pair that is not listed, and the weight of how much rarer than by chance it must be
# because it is not listed. (The list is from other texts than the pages.)
UNSEEN: Final = -1.0
UNSEEN_RAREST: Final = 0.6


# So many most frequent words of a language are never function words of another.
_OWN: Final = 1000


class Dictionary:
    """The words of a language, numbered from the most frequent one on.

    Parameters
    ----------
    frequencies
        The frequency of each word, in any unit.
    pairs
        First words, second words, and the frequency with which one follows the other, in any unit.

    Attributes
    ----------
    words
        The words in their order.
    digest
        Distinguishes files of one name; empty for words of a package.
    """

    digest = ""

    def __init__(
        self,
        frequencies: Mapping[str, float],
        pairs: tuple[Sequence[str], Sequence[str], Sequence[float]] = ((), (), ()),
    ) -> None:
        total = sum(frequencies.values())
        ordered = sorted(frequencies, key=lambda word: (-frequencies[word], word))
        self.words = ordered
        self.number = {word: place for place, word in enumerate(ordered)}
        self.logs = np.log(np.array([frequencies[word] for word in ordered]) / total)
        hashes = np.concatenate([hashes_of(part) for part in split_batches(ordered)])
        self.by_hash = Table(hashes, np.arange(len(ordered), dtype=np.int32))
        self.by_pair = self._load_pairs(*pairs)

    def _load_pairs(
        self, firsts: Sequence[str], seconds: Sequence[str], counts: Sequence[float]
    ) -> Table | None:
        first, second = (
            np.fromiter(map(self.number.get, words, repeat(-1)), np.int64, len(words))
            for words in (firsts, seconds)
        )
        known = (first >= 0) & (second >= 0)
        if not known.any():
            return None
        first, second, count = first[known], second[known], np.array(counts)[known]
        logs = np.log(count * (_COVERED / count.sum()))
        self.least = float(logs.min())
        gains = (logs - self.logs[first] - self.logs[second]).astype(np.float32)
        return Table((first << SHIFT | second).astype(np.uint64), gains)

    def find_numbers(self, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The numbers of words with these *hashes*; -1 for other words."""
        found = np.full(len(hashes), -1)
        self.by_hash.fill_values(hashes, found)
        return found

    def are_foreign(self, hashes: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Whether words with these *hashes* are function words of other languages."""
        found = np.zeros(len(hashes), np.int64)
        self._foreign.fill_values(hashes, found)
        return found > 0

    @cached_property
    def _foreign(self) -> Table:
        all_words = {lower_letters(simplify_letters(word)) for word in FUNCTION_WORDS}
        words = sorted(all_words.difference(self.words[:_OWN]))
        return Table(hashes_of(words), np.ones(len(words), np.int32))

    def __contains__(self, word: str) -> bool:
        return word in self.number

    def is_derived(self, word: str) -> bool:
        """Whether *word* is a regular derivation of a word that is not short.

        >>> words = load_dictionary()
        >>> words.is_derived("redistributions"), words.is_derived("redistribusions")
        (True, False)
        """
        if len(word) <= _SHORTEST_STEM or not (
            word.endswith(_ENDINGS) or word.startswith(_BEGINNINGS)
        ):
            return False
        stems = [word]
        if word.endswith(_ENDINGS):
            stems += [word[:-size] for size in (1, 2, 3, 4) if word[-size:] in _ALL_ENDINGS]
        if word.startswith(_BEGINNINGS):
            sizes = [size for size in (2, 3, 4, 5) if word[:size] in _ALL_BEGINNINGS]
            stems += [stem[size:] for stem in stems for size in sizes]
        return any(stem in self.number for stem in stems if len(stem) >= _SHORTEST_STEM)

    @cached_property
    def nearby(self) -> Nearby:
        """Finds the words that are similar to a given one; made when first used."""
        return Nearby(self.words[:_OFFERED])

    def measure_gain(
        self, first: NDArray[np.int64], second: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """How much more probable words *second* are after words *first* than anywhere.

        Parameters
        ----------
        first, second
            Numbers of words, of one length; -1 for any other word.

        Returns
        -------
        numpy.ndarray
            float64 of that length: log(P(second | first) / P(second)), 0 where either is -1. A
            pair that is not listed gets the lower a value the more often it would occur by chance.
        """
        if self.by_pair is None:
            return np.zeros(len(first))
        gained = np.minimum(0.0, self.least - self.logs[first] - self.logs[second])
        gained *= UNSEEN_RAREST
        gained += UNSEEN
        gained[(first < 0) | (second < 0)] = 0.0
        self.by_pair.fill_values((first << SHIFT | second).view(np.uint64), gained)
        return gained


def load_dictionary(source: str = "en") -> Dictionary:
    """The dictionary of a language (a code such as ``"de"``) or of a file.

    English comes from symspellpy (82,765 words that are both in SCOWL and in Google Books n-grams,
    and their pairs; MIT) with the 29,000 most frequent of wordfreq; other languages from wordfreq
    (Apache-2.0, its data CC BY-SA 4.0). A file has one word in each line, or a word and its
    frequency; without frequencies, frequent words come first. Longer words than 64 letters are
    left out.

    Raises
    ------
    MissingExtra
        The package is not installed.
    InputError
        There is no such language or file, or a word in it never occurs.
    """
    return _load_dictionary(source)


def is_file(source: str) -> bool:
    """Whether a dictionary comes from a file, not from a package."""
    return "/" in source or "." in source


@lru_cache(maxsize=4)
def _load_dictionary(source: str) -> Dictionary:
    if is_file(source):
        return _of_file(Path(source))
    if source == "en":
        return _load_english()
    return Dictionary(_of_language(source, "best"))


def _load_english() -> Dictionary:
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
        # wordfreq also counts the web, so words that the other list lacks are rarer than it says.
        counts.setdefault(word, share * total / 3)
    for word in counts:
        if len(word) == 1 and word not in "ai":
            counts[word] *= _LETTER
    pairs = (folder / _PAIRS).read_text("utf-8-sig").split()
    return Dictionary(counts, (pairs[::3], pairs[1::3], list(map(float, pairs[2::3]))))


def _of_language(language: str, size: str) -> dict[str, float]:
    try:
        from wordfreq import available_languages, get_frequency_dict
    except ImportError as error:
        raise MissingExtra(f"The dictionary of {language!r}", "typos", error) from error
    known = available_languages("small")
    if language not in known:
        raise InputError(f"no dictionary for {language!r}; there are {', '.join(sorted(known))}")
    shares = {
        word: share
        for word, share in get_frequency_dict(language, size).items()
        if share >= _RAREST and word.isalpha()
    }
    found: dict[str, float] = {}
    # All at once, as each call has a price.
    words = lower_letters(simplify_letters("\n".join(shares))).split("\n")
    for word, share in zip(words, shares.values(), strict=True):
        if word:  # empty for words of invisible letters, such as Hangul's fillers
            found[word] = found.get(word, 0.0) + share
    return found


def _of_file(path: Path) -> Dictionary:
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, ValueError) as error:  # not UTF-8, or a NUL in the name
        raise InputError(f"the dictionary {path} cannot be read: {error}") from error
    found: dict[str, float] = {}
    for rank, line in enumerate(lower_letters(simplify_letters(text)).splitlines(), 1):
        word, *count = line.split()[:2] or [""]
        if 0 < len(word) <= _LONGEST:
            # Zipf's law, for a list that only has an order.
            number = _parse_number(count[0] if count else "", 1e6 / rank)
            if not 0 < number < _MOST:
                raise InputError(
                    f"the dictionary {path} says in line {rank} that {word!r} occurs {count[0]:.9} "
                    "times: give each word a number above 0, or none"
                )
            found[word] = found.get(word, 0.0) + number
    if not found:
        raise InputError(f"the dictionary {path} has no words")
    words = Dictionary(found)
    words.digest = xxhash.xxh3_64_hexdigest(text.encode())
    return words


def _parse_number(text: str, otherwise: float) -> float:
    try:
        return float(text)
    except ValueError:
        return otherwise
