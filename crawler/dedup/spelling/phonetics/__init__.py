"""Phonetic codes: words that sound alike have the same one.

>>> load_code("dsound")("Rodgers"), load_code("dsound")("Rogers")
('602062', '602062')
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from .dsound import dsound
from .libraries import double_metaphone, soundex
from .phonex import phonex
from .phonix import phonix

__all__ = [
    "CODES",
    "Code",
    "double_metaphone",
    "dsound",
    "load_code",
    "phonex",
    "phonix",
    "soundex",
]

Code: TypeAlias = Callable[[str], str]

CODES: Final[dict[str, Code]] = {
    "dsound": dsound,
    "soundex": soundex,
    "phonex": phonex,
    "phonix": phonix,
    "metaphone": double_metaphone,
}


def load_code(name: str) -> Code:
    """The phonetic code *name*: a function of a word, ``""`` if the word has no Latin letter.

    Raises :class:`ValueError` if there is no such code.
    """
    try:
        return CODES[name]
    except KeyError:
        raise ValueError(f"no phonetic code {name!r}; there are {', '.join(CODES)}") from None
