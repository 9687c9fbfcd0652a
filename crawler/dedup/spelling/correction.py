"""Correction of texts before they are compared, so that copies with typos are found.

>>> correct = load_corrector("typos")
>>> correct("He brougth forth on this continnent a new nation")
'He brought forth on this continent a new nation'
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, Protocol

import numpy as np

from ..text.normaliser import Normaliser
from .context import MOST_DOUBTFUL, ContextReader
from .dictionary import is_file, load_dictionary
from .page_words import Correction, PageWords
from .phonetic import PhoneticRepair
from .phonetics import CODES
from .plain_letters import simplify_letters
from .shape import Shapes

NAMES: Final = ("typos", "scans", "bad-scans", *CODES)

# To be raised with every change that corrects any text differently.
_VERSIONS: Final = {"typos": 10, "scans": 11, "bad-scans": 10} | dict.fromkeys(CODES, 6)
# Longer texts are books, dumps and attacks; correcting them would hold the crawl for seconds.
_LONGEST: Final = 1_000_000
# A page with a larger share of corrections is not text in the dictionary's language, and is kept.
_MOST_CORRECTED: Final = 0.45
_PLAIN: Final = Normaliser()
_SOFT_HYPHEN_AT_LINE_END: Final = re.compile("(\u00ad+(?=\\s))")


class Corrector(Protocol):
    """Corrects a page's text before it is hashed and shingled."""

    def __call__(self, text: str) -> str: ...


def parse_setting(value: str) -> tuple[str, str]:
    """The method and the dictionary that ``"typos"`` or ``"typos:de"`` names.

    Raises :class:`ValueError` if there is no such method.
    """
    name, _, source = value.partition(":")
    if name not in NAMES:
        raise ValueError(f"expects one of {', '.join(NAMES)}, or with a dictionary as typos:de")
    return name, source or "en"


def version_setting(value: str) -> str:
    """The setting with its version, which an index stores: differently corrected texts never mix.

    For a file of words, it includes a digest of the content, because the name stays when words are
    added. Raises the errors of :func:`~.spelling.dictionary.load_dictionary`.

    >>> version_setting("typos:de"), version_setting("dsound")
    ('typos:de, version 10', 'dsound, version 6')
    """
    name, source = parse_setting(value)
    found = f"{value}, version {_VERSIONS[name]}"
    return f"{found}, words {load_dictionary(source).digest}" if is_file(source) else found


@lru_cache(maxsize=8)
def load_corrector(value: str, normaliser: Normaliser = _PLAIN) -> Corrector:
    """The corrector of a name, with its dictionary loaded.

    Parameters
    ----------
    value
        ``"typos"``: on pages with many words that the dictionary lacks, these and unlikely words
        are replaced by the most probable ones. ``"scans"``: the same, then all words are written as
        their strokes, so that letters that scanners confuse are equal; adjacent upright strokes in
        short words only count as few or many. ``"bad-scans"``: in long words, too. The name of a
        phonetic code: the method of the DSound paper, see
        :class:`~.spelling.phonetic.PhoneticRepair`. After a colon, the dictionary: see
        :func:`~.spelling.dictionary.load_dictionary`.
    normaliser
        Reduces texts before they are written as strokes.

    Raises
    ------
    ValueError
        There is no such method.
    MissingExtra
        A package that it needs is not installed.
    InputError
        There is no such dictionary.
    """
    name, source = parse_setting(value)
    if name == "typos":
        return ContextCorrector(source)
    if name in ("scans", "bad-scans"):
        spelling, shapes = ContextCorrector(source), Shapes(blurred=name == "bad-scans")
        return lambda text: shapes(normaliser.reduce_text(spelling(text)))
    return PhoneticCorrector(source, name)


class ContextCorrector:
    """Corrects words by similar words and by the words around them.

    Attributes
    ----------
    dictionary
        The words that it knows.
    reader
        Finds the corrections.
    """

    def __init__(self, source: str = "en") -> None:
        self.dictionary = load_dictionary(source)
        self.reader = ContextReader(self.dictionary)

    def __call__(self, text: str) -> str:
        """*text* with its typos corrected; names, code and other languages are left alone."""
        text = _read_letters(text)
        for page, corrections in self.correct_in_steps(text):
            text = page.rewrite_text(corrections, _MOST_CORRECTED)
        return text

    def correct_in_steps(self, text: str) -> Iterator[tuple[PageWords, list[Correction]]]:
        """Yield the page with corrections that join halves of words, then one that replaces words.

        Yields nothing for a text that is not corrected.
        """
        if len(text) > _LONGEST:
            return
        page, reader = PageWords(text, self.dictionary), self.reader
        errors = reader.error_share(page)
        if not errors and not reader.has_broken_words(page):
            return
        joined = reader.join_halves(page)
        yield page, joined
        if errors:
            if joined:
                page = PageWords(page.rewrite_text(joined, _MOST_CORRECTED), self.dictionary)
            yield page, reader.replace_words(page, errors)


class PhoneticCorrector:
    """Corrects words that the dictionary lacks by a phonetic code, then by edit distance."""

    def __init__(self, source: str = "en", name: str = "dsound") -> None:
        self._dictionary = load_dictionary(source)
        self._repair = PhoneticRepair(self._dictionary, name)

    def __call__(self, text: str) -> str:
        """*text* with its typos corrected; names, code and other languages are left alone."""
        text = _read_letters(text)
        if len(text) > _LONGEST:
            return text
        page = PageWords(text, self._dictionary)
        return page.rewrite_text(list(self._find_corrections(page)), _MOST_CORRECTED)

    def _find_corrections(self, page: PageWords) -> Iterator[Correction]:
        places = page.find_touchable(np.flatnonzero(page.numbers < 0))
        words = page.words_at(places)
        if len(set(words)) > MOST_DOUBTFUL:
            return
        for place, wrong in zip(places.tolist(), words, strict=True):
            word = self._repair(wrong)
            if word is not None:
                yield place, place + 1, word


def correct_towards(
    text: str, reference: str, *, name: str = "dsound", size: int = 3, source: str = "en"
) -> str:
    """*text*, corrected where it fails to match *reference* (the DSound paper, Figures 1 and 2).

    A word is replaced, by :class:`~.spelling.phonetic.PhoneticRepair`, if it is in a shingle of
    *size* words that *reference* lacks, and neither in *reference* nor in the dictionary of
    *source*. Shingle the result and *reference* again to see how similar they are.

    >>> correct_towards("a new nashon, conceived in libberty", "a new nation, conceived in liberty")
    'a new nation, conceived in liberty'
    """
    words = load_dictionary(source)
    repair = PhoneticRepair(words, name)
    page, other = (
        PageWords(_read_letters(text), words),
        PageWords(_read_letters(reference), words).words_at(),
    )
    matched, read = set(_list_runs(other, size)), page.words_at()
    unmatched = {
        place + offset
        for place, run in enumerate(_list_runs(read, size))
        if run not in matched
        for offset in range(size)
    }
    right = set(other)
    found = []
    for place in sorted(unmatched):
        word = read[place] if place < len(read) else ""
        instead = repair(word) if word and word not in right else None
        if instead is not None:
            found.append((place, place + 1, instead))
    return page.rewrite_text(found, most=1.0)


def _read_letters(text: str) -> str:
    """*text* with its letters simplified by :func:`~.plain_letters.simplify_letters`.

    Soft hyphens at the end of a line stay, because they are visible there.
    """
    if text.isascii() or len(text) > _LONGEST:
        return text
    parts = _SOFT_HYPHEN_AT_LINE_END.split(text)
    parts[::2] = map(simplify_letters, parts[::2])
    return "".join(parts)


def _list_runs(words: list[str], size: int) -> Iterator[tuple[str, ...]]:
    for start in range(max(1, len(words) - size + 1)):
        yield tuple(words[start : start + size])
