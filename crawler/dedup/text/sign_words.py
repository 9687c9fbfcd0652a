"""Signs that carry meaning: which symbols are words, depending on their neighbours."""

from __future__ import annotations

import re
import unicodedata
from enum import IntEnum
from functools import lru_cache
from typing import Final

from .segmentation import UNSPACED_LETTER


class Sign(IntEnum):
    """The rule by which a sign is a word. The compiled module knows the rules by number.

    With all rules but the last three, signs are also words if a line, or a table cell, has a few
    signs and nothing else.
    """

    SEPARATOR = 1  # within a number: 1.5, 1:5, 1/5; a point also before one: .5
    DASH = 2  # -3
    LONG_DASH = 3
    LESS = 4  # <5, < 5, <=, a < b
    GREATER = 5  # >5, > 5, >=; between words it separates the steps of a path
    EQUAL = 6  # a == b; others are assignments, and lines below headings
    MARK = 7
    STAR = 8  # after a number, in a line without words
    UNIT = 9  # after a number, with or without a space: 5%, 5 °C, 5′ 3″; also %5
    SHARP = 10  # after a letter that is a word: C#, F♯
    TWICE = 11  # &&, ||
    NOT = 12  # !=, !x
    TREND = 13  # before a number, or among symbols alone in a cell
    SYMBOL = 14  # among symbols alone in a cell
    ALWAYS = 15


# Signs with one meaning in different fonts, keyboards and emoji.
_WRITTEN: Final = dict.fromkeys("−–—", "-") | {
    "⁄": "/",
    "∕": "/",
    "٫": ".",
    "٬": ",",
    "٪": "%",
    "′": "ʹ",
    "♯": "#",
    **dict.fromkeys("✔☑✅🗸🗹", "✓"),
    **dict.fromkeys("✘✖☒❌❎🗙🗴🗵🗶🗷", "✗"),
    **dict.fromkeys("⭐🌟✭✯✰🟊", "★"),
    "⚝": "☆",
    **dict(zip("♤♡♢♧", "♠♥♦♣", strict=True)),
    "⩽": "≤",
    "⩾": "≥",
}
_RULES: Final = (
    dict.fromkeys(".,:/⁄∕٫٬", Sign.SEPARATOR)
    | dict.fromkeys("-−–", Sign.DASH)
    | dict.fromkeys("▲▼△▽↑↓⇧⇩⬆⬇🔺🔻🔼🔽", Sign.TREND)
    | dict.fromkeys("%٪‰‱°′", Sign.UNIT)
    | dict.fromkeys("#♯♭♮", Sign.SHARP)
    | dict.fromkeys("&|", Sign.TWICE)
    | {"—": Sign.LONG_DASH, "<": Sign.LESS, ">": Sign.GREATER, "=": Sign.EQUAL}
    | {"*": Sign.STAR, "!": Sign.NOT}
)
# Symbols that carry no meaning in prose and code, or that only some copies have.
_NONE: Final = frozenset("_'\"`©®¦´¨¸¯℗↩↵⏎¶▶►❯›‹➤➜\ufffd\ufffc")
# Symbols that are words everywhere, such as check marks and stars, which show the state of an item,
# the tones of a phonetic transcription, the pieces of chess, suits, sexes and dice.
_ALWAYS: Final = frozenset("+±∓×÷¬✓✗☐★☆⯨⯪👍👎˥˦˧˨˩꜒꜓꜔꜕꜖♔♕♖♗♘♙♚♛♜♝♞♟♠♥♦♣♂♀⚀⚁⚂⚃⚄⚅")
# Not quotes and brackets.
_CATEGORIES: Final = frozenset(["Po", "Pd", "Sm", "Sc", "So"])
_MATHEMATICS: Final = range(0x2200, 0x2300)
_BRAILLE: Final = range(0x2801, 0x2900)  # all letters of a text
_BLANKS: Final = "\t\r "
_MONEY: Final = "$€£¥₹"
# Characters of a line that are read on either side, so that time does not grow with its square.
_REACH: Final = 40
# The most signs alone in a line that are words: more are a ruler. Ratings go up to five stars.
_MOST: Final = 3
_MOST_DASHES: Final = 2
_MOST_STARS: Final = 5
# Signs that begin lines of comments, quotes and lists, also lines without text.
_LEADERS: Final = "*#/;%->"

_UNITS: Final = "%٪‰‱°′"
_SIGNS: Final = re.compile(rf"[{_UNITS}]+|[^\w\s'\"()]")
# Names of operators and destructors in C++, Pike, Haskell, OCaml and Ruby. What a word follows is a
# dash or a quotation mark of prose, and a backtick behind a word or signs is Markdown's.
_OPERATOR_SIGNS: Final = r"(?:[-+*/%&|^~!=<>\[\]]|\(\))++(?! *\w)"
_OPERATOR: Final = re.compile(
    rf"(?:\boperator *+|(?<=\w)#){_OPERATOR_SIGNS}|(?<![\w)`])`++{_OPERATOR_SIGNS}(?!`)|"
    r"\( *+[-+*/%&|^~!=<>]++ *\)|::~(?=\w)"
)
# Signs that a heading is about, as in "The ; sign". Straight quotes behind words are closing ones.
_QUOTED: Final = re.compile(
    rf"(?<=[「『“„«‘(]|(?<![^\W{UNSPACED_LETTER}])['\"`])[^\w\s]{{1,3}}(?=[」』”“»’'\"`)])"
)
# Numbers that would be marks in a text. Behind "Why?", [1] is one in a heading, too.
_NUMBERED: Final = re.compile(r"(?:[【〔]|(?<![!-~])\[)[^\W\d]{0,2}(\d{1,4})[\]】〕]")
# In front of a heading, geometric shapes are bullets. Elsewhere some signs link to it, edit, print
# or open it, or a menu, and bars stand between its parts.
_BULLETS: Final = re.compile(r"^[\s\u25a0-\u25ff]+|[🔗⚓☰✎✏🖨▴▸▾◂│┃]")


@lru_cache(maxsize=4096)
def find_sign(char: str) -> tuple[Sign, str] | None:
    """The rule of a sign and its spelling; None for other characters.

    >>> find_sign("✔"), find_sign("−"), find_sign("(")
    ((<Sign.ALWAYS: 15>, '✓'), (<Sign.DASH: 2>, '-'), None)
    """
    if char in _NONE:
        return None
    written = _WRITTEN.get(char, char)
    if char in _RULES:
        return _RULES[char], written
    category = unicodedata.category(written)
    if written in _ALWAYS or category == "Sc" or ord(written) in _MATHEMATICS:
        return Sign.ALWAYS, written
    if ord(written) in _BRAILLE:
        return Sign.ALWAYS, written
    if category not in _CATEGORIES:
        return None
    return Sign.MARK if category[0] == "P" or char in "~^" else Sign.SYMBOL, written


def find_heading_signs(heading: str) -> str:
    """What no words tell apart in a heading: operators, signs in quotes, marks, and pictures.

    >>> find_heading_signs("Size::operator += (int)"), find_heading_signs("Tour operator - Harbour")
    ('operator+=', '')
    >>> [find_heading_signs(title) for title in ("『雪国』【2】", "「→」キー", "天気：☂", "■ 天気")]
    ['2', '→', '☂', '']
    """
    operators = "".join(_OPERATOR.findall(heading)).replace(" ", "")
    text = unicodedata.normalize("NFKC", heading)
    quoted, numbers = _QUOTED.findall(text), _NUMBERED.findall(text)
    pictures = [char for char in _BULLETS.sub("", text) if unicodedata.category(char) == "So"]
    known = map(find_sign, "".join([*quoted, *pictures]))
    # What counts always is among the words.
    signs = (sign[1] for sign in known if sign and sign[0] is not Sign.ALWAYS)
    return operators + "".join([*numbers, *signs])


def with_signs(text: str) -> str:
    """Normal, visible *text* with spaces around the signs that count, and without others.

    >>> with_signs("-3 °C (+1.5), see C++ – or: ★★")
    ' - 3   ° C ( + 1.5)  see C +  +    or   ★  ★ '
    """
    return _SIGNS.sub(_write_sign, text)


def _write_sign(found: re.Match[str]) -> str:
    known = find_sign(found[0][0])
    if known is None:
        # Marks and other characters are left to the table of characters.
        return found[0] if unicodedata.category(found[0])[0] not in "PS" else " "
    if known[0] is Sign.UNIT:
        return _write_units(found)
    rule, written = known
    if not _Place(found.string, found.start()).is_counted(rule):
        return " "
    return written if rule is Sign.SEPARATOR else f" {written} "


def _write_units(found: re.Match[str]) -> str:
    """Write adjacent units; each one counts if the unit before it does."""
    written = " "
    for at in range(found.start(), found.end()):
        if written != " " or _Place(found.string, at).is_counted(Sign.UNIT):
            known = find_sign(found.string[at])
            written += f" {known[1]} " if known else ""
    return written


class _Place:
    """A sign in its text."""

    def __init__(self, text: str, at: int) -> None:
        self._text, self._at = text, at

    def is_counted(self, rule: Sign) -> bool:
        """Whether the sign is a word here, or part of a number."""
        before, after = self._char_at(-1), self._char_at(1)
        match rule:
            case Sign.ALWAYS:
                return True
            case Sign.SYMBOL:
                return self._is_among_symbols()
            case Sign.TREND:
                return self._is_before_number() or self._is_among_symbols()
            case Sign.DASH:
                amount = self._begins_number(2 if after in _MONEY else 1)
                found = amount and not _DASHES_OR_LETTER.match(before)
                return found or self._is_alone(_MOST_DASHES)
            case Sign.LONG_DASH:
                return self._is_alone(_MOST_DASHES)
            case Sign.SEPARATOR:
                is_within = before in _DIGITS or (self._begins_number(0) and before in _OPENING)
                return is_within and after in _DIGITS
            case Sign.STAR:
                behind = before == "*" or before in _DIGITS
                return self._is_alone(_MOST_STARS) or (behind and self._is_among_numbers())
        return self._is_told_by(rule, before, after) or self._is_alone(_MOST)

    def _is_told_by(self, rule: Sign, before: str, after: str) -> bool:
        """Whether the neighbouring characters make the sign a word."""
        match rule:
            case Sign.LESS:
                return (before == " " and after == " ") or after == "=" or self._is_before_number()
            case Sign.GREATER:
                return after == "=" or (before not in _ARROWS and self._is_before_number())
            case Sign.EQUAL:
                # The first of two equal signs with operands; a ruler of signs has none.
                beyond = self._char_at(2)
                return after == "=" and before not in "=\n" and beyond not in "=\n"
            case Sign.UNIT:
                behind = self._char_at(-2) if before == " " else before
                return behind in _DIGITS or (self._char_at(0) in "%‰‱٪" and after in _DIGITS)
            case Sign.SHARP:
                return bool(_LETTER.match(before)) and not _WORD.match(self._char_at(-2))
            case Sign.TWICE:
                this = self._char_at(0)
                return (before == this and this not in (after, self._char_at(-2))) or (
                    after == this and this not in (before, self._char_at(2))
                )
            case Sign.NOT:
                if after == "=":
                    return before not in "!?"
                return before in " \t\n(" and bool(_LETTER.match(after))
        return False

    def _char_at(self, step: int) -> str:
        at = self._at + step
        return self._text[at] if 0 <= at < len(self._text) else "\n"

    def _is_before_number(self) -> bool:
        return self._begins_number(2 if self._char_at(1) == " " else 1)

    def _begins_number(self, step: int) -> bool:
        """Whether a number begins there, perhaps with its point: .5."""
        char = self._char_at(step)
        return (self._char_at(step + 1) if char in _POINTS else char) in _DIGITS

    def _is_alone(self, most: int) -> bool:
        """Whether the line has at most so many signs, and otherwise only blanks."""
        before, after = self._line()
        others = (before + after).translate(_NO_BLANKS)
        if len(others) >= most or any(find_sign(char) is None for char in others):
            return False
        if "*" in (line := others + self._char_at(0)) and not _SLASHES.isdisjoint(line):
            return False  # the beginning or the end of a comment
        # An empty line of a comment leads the next line, which has text.
        return before.strip(_BLANKS) != "" or not self._leads_next_line()

    def _leads_next_line(self) -> bool:
        this = find_sign(self._char_at(0))
        if this is None or this[1] not in _LEADERS:
            return False
        found = _NEXT_LINE.match(self._text, self._at)
        following = found[1].lstrip(_BLANKS) if found else ""
        rest = following.lstrip("".join(char for char in following if find_sign(char) == this))
        return rest != following and rest.startswith((" ", "/"))

    def _is_among_numbers(self) -> bool:
        """Whether the line has a number, signs and blanks, and nothing else."""
        line = "".join(self._line())
        return any(char in _DIGITS for char in line) and all(
            char in _BLANKS or char in _DIGITS or find_sign(char) for char in line
        )

    def _is_among_symbols(self) -> bool:
        """Whether the line has nothing else but symbols and blanks."""
        return all(char in _BLANKS or _is_symbol(char) for char in "".join(self._line()))

    def _line(self) -> tuple[str, str]:
        """The line before and after the sign; letters in place of a line that is too long."""
        at = self._at
        before = self._text[max(0, at - _REACH) : at].rpartition("\n")
        after = self._text[at + 1 : at + 1 + _REACH].partition("\n")
        is_whole = (before[1] or at <= _REACH) and (after[1] or at + 1 + _REACH >= len(self._text))
        return (before[2], after[0]) if is_whole else ("a", "a")


_DIGITS: Final = frozenset("0123456789")
_SLASHES: Final = frozenset("/⁄∕")
_POINTS: Final = frozenset(".٫")
_OPENING: Final = frozenset(" \t\n(-−–=<>")  # in front of a number
_ARROWS: Final = frozenset("-−–=<>")
_LETTER: Final = re.compile("[A-Za-z_]")
_NO_BLANKS: Final = str.maketrans("", "", _BLANKS)
_NEXT_LINE: Final = re.compile(rf".[^\n]{{0,{_REACH}}}\n([^\n]{{0,{_REACH}}})")
_WORD: Final = re.compile(rf"(?![{UNSPACED_LETTER}\u02bb-\u02bd])[\w\u0300-\u036f]")
_DASHES_OR_LETTER: Final = re.compile(rf"[-−–—]|{_WORD.pattern}")


def _is_symbol(char: str) -> bool:
    known = find_sign(char)
    return known is not None and not char.isascii() and known[0] >= Sign.TREND
