"""Signs that carry meaning: which symbols are words, by what stands beside them."""

from __future__ import annotations

import re
import unicodedata
from enum import IntEnum
from functools import lru_cache
from typing import Final

from .segmentation import UNSPACED_LETTER


class Sign(IntEnum):
    """What decides whether a sign is a word. The compiled module knows them by their numbers."""

    SEPARATOR = 1  # within a number: 1.5, 1:5, 1/5
    DASH = 2  # -3, or alone in a cell
    LONG_DASH = 3  # alone in a cell
    LESS = 4  # <5, < 5, a < b, or alone in a cell
    GREATER = 5  # >5, > 5, or alone in a cell; between words it parts the steps of a path
    EQUAL = 6  # alone in a cell
    TREND = 7  # before a number, or among symbols alone in a cell
    SYMBOL = 8  # among symbols alone in a cell
    ALWAYS = 9


# Signs that stand for one another: fonts, keyboards and emoji differ, the meaning does not.
_WRITTEN: Final = dict.fromkeys("−–—", "-") | {
    "⁄": "/",
    "∕": "/",
    "٫": ".",
    "٬": ",",
    **dict.fromkeys("✔☑✅🗸🗹", "✓"),
    **dict.fromkeys("✘✖☒❌❎🗙🗴🗵🗶🗷", "✗"),
    **dict.fromkeys("⭐🌟✭✯✰🟊", "★"),
    "⚝": "☆",
    "⩽": "≤",
    "⩾": "≥",
}
_RULES: Final = (
    dict.fromkeys(".,:/⁄∕٫٬", Sign.SEPARATOR)
    | dict.fromkeys("-−–", Sign.DASH)
    | dict.fromkeys("▲▼△▽↑↓⇧⇩⬆⬇🔺🔻🔼🔽", Sign.TREND)
    | {"—": Sign.LONG_DASH, "<": Sign.LESS, ">": Sign.GREATER, "=": Sign.EQUAL}
)
# Symbols that prose and code have by the way, or that some copies write and others do not.
_NONE: Final = frozenset("|~^`°©®¦´¨¸¯℗↩↵⏎¶▶►❯›‹➤➜\ufffd\ufffc")
# What a check mark or a star is among symbols: the state of an item, wherever it stands.
_ALWAYS: Final = frozenset("+±∓×÷¬✓✗☐★☆⯨⯪👍👎")
_MATHEMATICS: Final = range(0x2200, 0x2300)
_BLANKS: Final = "\t\r "
_MONEY: Final = "$€£¥₹"
# As far as a line is looked at on either side, so that the time does not grow with its square.
_REACH: Final = 40

_SIGNS: Final = re.compile(r"[^\w\s'\"()!?;]")


@lru_cache(maxsize=4096)
def find_sign(char: str) -> tuple[Sign, str] | None:
    """The rule of a sign and how it is written; None for what is no sign.

    >>> find_sign("✔"), find_sign("−"), find_sign("*")
    ((<Sign.ALWAYS: 9>, '✓'), (<Sign.DASH: 2>, '-'), None)
    """
    if char in _NONE:
        return None
    written = _WRITTEN.get(char, char)
    if char in _RULES:
        return _RULES[char], written
    category = unicodedata.category(written)
    if written in _ALWAYS or category == "Sc" or ord(written) in _MATHEMATICS:
        return Sign.ALWAYS, written
    return (Sign.SYMBOL, written) if category[0] == "S" and category != "Sk" else None


def with_signs(text: str) -> str:
    """Normal, visible *text* in which the signs that count stand between spaces, and no others.

    >>> with_signs("-3 °C (+1.5), see C++ – or: ★★")
    ' - 3  C ( + 1.5), see C +  +   or   ★  ★ '
    """
    return _SIGNS.sub(_write_sign, text)


def _write_sign(found: re.Match[str]) -> str:
    known = find_sign(found[0])
    if known is None:
        # Marks and what is no sign are left to the table of characters.
        return found[0] if unicodedata.category(found[0])[0] not in "PS" else " "
    rule, written = known
    if not _Place(found.string, found.start()).is_counted(rule):
        return " "
    return written if rule is Sign.SEPARATOR else f" {written} "


class _Place:
    """A sign in its text."""

    def __init__(self, text: str, at: int) -> None:
        self._text, self._at = text, at

    def is_counted(self, rule: Sign) -> bool:
        """Whether the sign is a word here, or the part of a number."""
        before, after = self._char_at(-1), self._char_at(1)
        match rule:
            case Sign.SEPARATOR:
                return before in _DIGITS and after in _DIGITS
            case Sign.DASH:
                amount = after in _DIGITS or (after in _MONEY and self._char_at(2) in _DIGITS)
                return (amount and not _DASHES_OR_LETTER.match(before)) or self._is_alone()
            case Sign.LESS:
                between = before == " " and after == " "
                return between or self._is_before_number() or self._is_alone()
            case Sign.GREATER:
                arrow = before in _ARROWS
                return (self._is_before_number() and not arrow) or self._is_alone()
            case Sign.TREND:
                return self._is_before_number() or self._is_among_symbols()
            case Sign.SYMBOL:
                return self._is_among_symbols()
            case Sign.ALWAYS:
                return True
            case _:
                return self._is_alone()

    def _char_at(self, step: int) -> str:
        at = self._at + step
        return self._text[at] if 0 <= at < len(self._text) else "\n"

    def _is_before_number(self) -> bool:
        after = self._char_at(1)
        return (self._char_at(2) if after == " " else after) in _DIGITS

    def _is_alone(self) -> bool:
        """Whether the line has nothing else but blanks."""
        return not any(char.strip(_BLANKS) for char in self._rest_of_line())

    def _is_among_symbols(self) -> bool:
        """Whether the line has nothing else but symbols and blanks."""
        return all(char in _BLANKS or _is_symbol(char) for char in self._rest_of_line())

    def _rest_of_line(self) -> str:
        """The rest of the line; of a long one enough to be told from those of signs alone."""
        at = self._at
        before = self._text[max(0, at - _REACH) : at].rpartition("\n")
        after = self._text[at + 1 : at + 1 + _REACH].partition("\n")
        is_whole = (before[1] or at <= _REACH) and (after[1] or at + 1 + _REACH >= len(self._text))
        return before[2] + after[0] if is_whole else "…"


_DIGITS: Final = frozenset("0123456789")
_ARROWS: Final = frozenset("-−–=<>")
_DASHES_OR_LETTER: Final = re.compile(
    rf"[-−–—]|(?![{UNSPACED_LETTER}\u02bb-\u02bd])[\w\u0300-\u036f]"
)


def _is_symbol(char: str) -> bool:
    known = find_sign(char)
    return known is not None and not char.isascii() and known[0] >= Sign.TREND
