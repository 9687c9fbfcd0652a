"""Letters that are written in several ways, of which Unicode's normal forms know nothing."""

from __future__ import annotations

import re
from typing import Final

_OTHER_WRITINGS: Final = {
    # What Arabic and Persian keyboards, and Windows-1256, write for yeh and kaf.
    "ى": "ي",
    "ی": "ي",
    "ک": "ك",
    # Romanian s and t with a comma, which older encodings and keyboards write with a cedilla.
    "Ș": "Ş",
    "ș": "ş",
    "Ț": "Ţ",
    "ț": "ţ",
    # Letters without a vowel, of which older texts have the letter, its virama and a joiner
    # (The Unicode Standard, chapter 12): khanda ta of Bengali, the chillus of Malayalam.
    "ৎ": "ত\u09cd",
    "ൺ": "ണ\u0d4d",
    "ൻ": "ന\u0d4d",
    "ർ": "ര\u0d4d",
    "ൽ": "ല\u0d4d",
    "ൾ": "ള\u0d4d",
    "ൿ": "ക\u0d4d",
}
_DIGIT_BEYOND_ASCII: Final = re.compile(r"[^\D0-9]")


def one_writing(text: str) -> str:
    """*text* with one writing for each letter and digit that has several.

    >>> one_writing("کتابی ۱۲") == "كتابي 12"
    True
    >>> one_writing("științe") == one_writing("ştiinţe")
    True
    """
    for other, this in _OTHER_WRITINGS.items():  # `translate` would look up each letter
        text = text.replace(other, this)
    return _DIGIT_BEYOND_ASCII.sub(lambda found: str(int(found[0])), text)
