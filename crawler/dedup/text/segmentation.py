"""Segmentation of scripts that are written without spaces between words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pkgutil import resolve_name
from typing import Final, TypeAlias
from unicodedata import normalize

from ..errors import ConfigError, MissingExtra

Segmenter: TypeAlias = Callable[[str], Iterable[str]]

# Letters of scripts without spaces between words. Korean and Tibetan do separate words.
UNSPACED: Final = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x1950, 0x19DF),  # Tai Le, New Tai Lue
    (0x1A20, 0x1AAF),  # Tai Tham
    (0x1B00, 0x1B7F),  # Balinese
    (0x2E80, 0x2FDF),  # Han radicals
    (0x3005, 0x30FF),  # Han marks, Hiragana, Katakana
    (0x3100, 0x312F),  # Bopomofo
    (0x31A0, 0x31FF),  # Bopomofo, Katakana extensions
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),  # Han
    (0xA980, 0xA9FF),  # Javanese, Myanmar
    (0xAA60, 0xAADF),  # Myanmar, Tai Viet
    (0xF900, 0xFAFF),  # Han compatibility
    (0x1B000, 0x1B16F),  # Kana
    (0x20000, 0x33479),  # Han
)
# The same within a regular expression's [].
UNSPACED_LETTER: Final = "".join(f"{chr(first)}-{chr(last)}" for first, last in UNSPACED)
# A segmenter may take the square of a run's length. No sentence is longer than this.
_RUN: Final = re.compile(f"[{UNSPACED_LETTER}]{{1,1000}}")
# Letters that NFKC decomposes and dictionaries do not: am of Thai and of Lao, ho no, ho mo.
_PARTED: Final = {normalize("NFKC", letter): letter for letter in "\u0e33\u0eb3\u0edc\u0edd"}
_SAMPLE: Final = "東京都"  # a text to try a function before it gets pages


def make_segmenter(setting: str | Segmenter) -> Segmenter:
    """The segmenter that a setting names: ``icu``, the path of a function, or a function.

    Raises
    ------
    ConfigError
        There is no such function, or it does not split a text into words.
    MissingExtra
        The library of ``icu`` is not installed.
    """
    if callable(setting):
        return _try_segmenter(setting, getattr(setting, "__qualname__", repr(setting)))
    if setting == "icu":
        return _load_icu()
    try:
        found = resolve_name(setting)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(
            f"DEDUP_SEGMENT expects icu or the path of a function, not {setting!r}: {error}"
        ) from None
    if not callable(found):
        raise ConfigError(f"DEDUP_SEGMENT expects a function, and {setting} is not one")
    return _try_segmenter(found, setting)


def _try_segmenter(segment: Segmenter, name: str) -> Segmenter:
    try:
        " ".join(segment(_SAMPLE))
    except Exception as error:
        raise ConfigError(
            f"DEDUP_SEGMENT expects a function from a text to its words; {name} fails with "
            f"{_SAMPLE!r}: {type(error).__name__}: {error}"
        ) from error
    return segment


def segment_text(text: str, segment: Segmenter) -> str:
    """*text* with spaces between the words that *segment* finds in its unspaced runs.

    Its input is the result of :func:`~.normaliser.compose_text`, so the spelling of letters and
    zero-width spaces make no difference.

    >>> segment_text("Tokyo is 東京都, they say", lambda run: (run[:2], run[2:]))
    'Tokyo is  東京 都 , they say'
    """
    if text.isascii():
        return text
    for parted, letter in _PARTED.items():
        text = text.replace(parted, letter)
    return _RUN.sub(lambda run: f" {' '.join(segment(run[0]))} ", text)


def _load_icu() -> Segmenter:
    """The dictionaries of ICU for Chinese, Japanese, Thai, Lao, Khmer and Burmese."""
    try:
        from icu4py.breakers import WordBreaker
    except ImportError as error:
        raise MissingExtra("DEDUP_SEGMENT icu", "segment", error) from error

    # The words depend on the script, not on the locale.
    return lambda run: WordBreaker(run, "en")
