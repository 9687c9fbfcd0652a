"""The letters of a word that a phonetic code reads."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

# Latin letters that are not a letter from a to z with an accent.
_SPELT_OUT: Final = str.maketrans(
    {"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ħ": "h", "ı": "i"}
)
_OTHERS: Final = re.compile("[^a-z]+")
# No word is longer; rules that look ahead would be slow for a megabyte of one letter.
_LONGEST = 64


def to_latin(word: str) -> str:
    """The letters a to z of *word*, accents dropped, other Latin letters spelt out, in lower case.

    >>> to_latin("O'Çonnor-2"), to_latin("Łódź"), to_latin("Straße")
    ('oconnor', 'lodz', 'strasse')
    """
    word = word[:_LONGEST]
    if not word.isascii():
        word = unicodedata.normalize("NFKD", word.casefold()).translate(_SPELT_OUT)
    return _OTHERS.sub("", word.lower())
