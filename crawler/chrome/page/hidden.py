"""Inline text that is left out: hidden words, visual duplicates, line numbers of code."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from .blocks import CHUNK
from .elements import NAME_READ, STYLE_READ, hides_element
from .signs import BIT, HIDDEN

MOST_HIDDEN: Final = 200  # characters; more may appear after a click on "read more"
NUMBER: Final = "0"  # stands for the number of a line of code
UNQUOTED: Final = "data-nosnippet"  # an attribute that such numbers have in Rust's manuals
BESIDE: Final = HIDDEN | BIT["table"]  # signs of where the numbers of lines may stand
_NUMBERS: Final = re.compile(r"(?:(?<![a-z])(?:line-?(?:nos?|number)|lnt?)|LineNo)(?![a-z])")
_OF_CODE: Final = re.compile(r"(?<![a-z])linenos?(?![a-z])")  # other names may be of bus lines
_DIGITS: Final = 9  # no code has more lines


def replacement_text(attributes: Mapping[str, str], code: bool = False) -> str | None:
    """Return the replacement text of a hidden inline element; None if it is visible.

    Elements hidden from assistive technology are icons with letters as names, and visual duplicates
    of a text or formula. They are visible, so they separate words. All of it is read after all if a
    block has nothing else, because scripts may show it. The attribute `hidden` means nothing within
    text: scripts use it to show one of several elements. Elements that number lines of code are
    `NUMBER`, if they only hold a number.

    >>> hidden, unspoken = {"style": "display:none"}, {"aria-hidden": "true"}
    >>> replacement_text(hidden), replacement_text(unspoken), replacement_text({})
    ('', ' ', None)
    """
    if attributes.get("aria-hidden") == "true":
        return " "
    style = attributes.get("style", "")
    if hides_element(style):
        return ""
    if is_line_number(attributes.get("class", ""), code):
        return NUMBER
    if code and (is_unselected(style) or UNQUOTED in attributes):
        return NUMBER
    return None


def is_line_number(names: str, code: bool = True) -> bool:
    """Whether a class marks a line number; only sure ones count if nothing marks this as code.

    >>> is_line_number("linenos"), is_line_number("hljs ln")
    (True, True)
    >>> is_line_number("language-css line-numbers")
    False
    >>> is_line_number("lineno", code=False), is_line_number("line-number", code=False)
    (True, False)
    """
    return (_NUMBERS if code else _OF_CODE).search(names[:NAME_READ]) is not None


def is_unselected(style: str) -> bool:
    """Whether a style attribute excludes its element from copying, as for Hugo's line numbers."""
    style = style[:STYLE_READ]
    return "select" in style and "user-select:none" in "".join(style.split())


def is_number(text: str) -> bool:
    """Whether a text consists of digits.

    >>> is_number(" 12"), is_number("12,"), is_number("")
    (True, False, False)
    """
    text = text.strip()
    return text.isascii() and text.isdecimal()


def is_gutter(text: str, signs: int, code: bool) -> bool:
    r"""Whether a block has the line numbers of code beside it: in a table, or hidden.

    In code, each number has its own line: "1 2" is what example programs read and write.

    >>> is_gutter(" 9\n10", BIT["table"], True), is_gutter("9 10", BIT["table"], True)
    (True, False)
    """
    if not signs & (BESIDE if code else HIDDEN) or not is_number(text[:_DIGITS].lstrip()[:1]):
        return False
    lines = text[:CHUNK].split("\n" if code else None)
    lines = [line.strip() for line in lines if line.strip()]
    if len(lines) < 2 or len(text) > CHUNK or not is_number(lines[0][:_DIGITS]):
        return False
    first = int(lines[0][:_DIGITS])
    return lines == [str(number) for number in range(first, first + len(lines))]
