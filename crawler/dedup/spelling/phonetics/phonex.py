"""Phonex (Lait and Randell, "An assessment of name matching algorithms", 1996)."""

from __future__ import annotations

from typing import Final

from .letters import to_latin

_BEGINNINGS: Final = {"kn": "n", "ph": "f", "wr": "r"}
_FIRST: Final = str.maketrans("eiouypvkqjz", "aaaaabfccgs")
_DIGITS: Final = str.maketrans("bpfvcskgjqxzdtlmnraehiouwy", "11112222222233455600000000")
_VOWELS: Final = frozenset("aeiouy")


def phonex(word: str) -> str:
    """The Phonex code of *word*: a letter and three digits, like Soundex, but closer to English.

    >>> phonex("Wright"), phonex("Philp") == phonex("Filp")
    ('R230', True)
    """
    letters = to_latin(word).rstrip("s")
    letters = _BEGINNINGS.get(letters[:2], letters[:2]) + letters[2:]
    letters = letters.removeprefix("h")
    if not letters:
        return ""
    letters = letters[0].translate(_FIRST) + letters[1:]
    found = letters[0].upper()
    skip = False
    for place in range(1, len(letters)):
        if skip:
            skip = False
            continue
        letter, following = letters[place], letters[place + 1 : place + 2]
        digit = letter.translate(_DIGITS)
        if letter in "dt" and following == "c":
            digit = "0"
        elif letter in "lr" and following and following not in _VOWELS:
            digit = "0"  # not spoken before a consonant
        elif letter in "mn":
            skip = following in ("d", "g")
        if digit not in ("0", found[-1]):
            found += digit
    return found[:4].ljust(4, "0")
