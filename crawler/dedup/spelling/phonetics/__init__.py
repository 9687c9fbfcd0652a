"""Phonetic codes: words that sound alike have the same one.

>>> dsound("Rodgers"), dsound("Rogers")
('602062', '602062')
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from .dsound import dsound
from .libraries import double_metaphone, soundex
from .phonex import phonex
from .phonix import phonix

__all__ = ["CODES", "double_metaphone", "dsound", "phonex", "phonix", "soundex"]

CODES: Final[dict[str, Callable[[str], str]]] = {
    "dsound": dsound,
    "soundex": soundex,
    "phonex": phonex,
    "phonix": phonix,
    "metaphone": double_metaphone,
}
"""Each takes a word, and gives "" if the word has no Latin letter."""
