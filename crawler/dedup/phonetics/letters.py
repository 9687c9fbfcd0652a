"""What a phonetic code reads of a word."""

from __future__ import annotations

import unicodedata

# No word is longer; rules that look ahead would take their time over a megabyte of one letter.
_LONGEST = 64


def latin(word: str) -> str:
    """The letters a to z of *word*, accents dropped, in lower case.

    >>> latin("O'Çonnor-2")
    'oconnor'
    """
    word = word[:_LONGEST]
    if not word.isascii():
        word = unicodedata.normalize("NFKD", word)
    return "".join(letter for letter in word.lower() if "a" <= letter <= "z")
