"""Phonetic codes that libraries compute, which the extra ``typos`` installs."""

from __future__ import annotations

from ...errors import MissingExtra
from .letters import to_latin


def soundex(word: str) -> str:
    """The American Soundex code of *word* (US patents 1261167 and 1435663): a letter, three digits.

    >>> soundex("Rodgers"), soundex("Rojers")
    ('R326', 'R262')
    """
    try:
        import jellyfish
    except ImportError as error:
        raise MissingExtra("Soundex", "typos", error) from error
    return jellyfish.soundex(to_latin(word))


def double_metaphone(word: str) -> str:
    """The primary Double Metaphone code of *word* (Philips, C/C++ Users Journal, June 2000).

    >>> double_metaphone("Thomas"), double_metaphone("Rogers")
    ('TMS', 'RKRS')
    """
    try:
        from doublemetaphone import doublemetaphone
    except ImportError as error:
        raise MissingExtra("Double Metaphone", "typos", error) from error
    primary: str = doublemetaphone(to_latin(word))[0]
    return primary
