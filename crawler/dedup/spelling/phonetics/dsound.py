"""DSound, a phonetic code made for finding near duplicates (IARIA 2015, 978-1-61208-408-4)."""

from __future__ import annotations

import re
from typing import Final

from .letters import to_latin

_SILENT: Final = re.compile(r"^(?:kn|gn|pn|ae|wr)")
_SPECIAL: Final = (
    (re.compile(r"dg(?=[ei])"), "2"),
    (re.compile(r"gh"), "00"),
    (re.compile(r"t(?=i[ao])"), "2"),
)
_DIGITS: Final = str.maketrans("aehiouwybfpvcgjkqsxzdtlmnr", "00000000111122222222334556")
_RUN: Final = re.compile(r"(.)\1+")


def dsound(word: str) -> str:
    """The DSound code of *word* (Table I of the paper): a digit for each sound, of any length.

    1. kn-, gn-, pn-, ae- and wr- lose their first letter; x- becomes s-, wh- becomes w-.
    2. dg in -dge-, -dgi- is 2; gh in -gh- is 0; t in -tia-, -tio- is 2.
    3. aehiouwy 0, bfpv 1, cgjkqsxz 2, dt 3, l 4, mn 5, r 6; a run of one digit becomes one digit.

    The table survives with damage. It is read here as follows: "ac-" as ae-, the rule of Metaphone
    beside the same four others; "achiouwy" as aehiouwy, because c is under 2 and e would be
    missing; "cgikqgsxz" as cgjkqsxz, for the same two reasons; the letter of 4 as l, the only one
    left. The first letter is coded like any other and zeros are kept, otherwise "Rodgers" could not
    be 602062. Runs of zeros are reduced like others, because "repeated digits are removed" names no
    exception.

    >>> dsound("Rodgers"), dsound("Houghton"), dsound("Attention")
    ('602062', '0305', '0305205')
    """
    letters = to_latin(word)
    if _SILENT.match(letters):
        letters = letters[1:]
    elif letters.startswith("x"):
        letters = "s" + letters[1:]
    elif letters.startswith("wh"):
        letters = "w" + letters[2:]
    for pattern, digit in _SPECIAL:
        letters = pattern.sub(digit, letters)
    return _RUN.sub(r"\1", letters.translate(_DIGITS))
