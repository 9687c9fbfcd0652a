"""Pictures that are read: formulas, emoji, and icons alone in a cell or before an item."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Final

from .blocks import TAG_CODES
from .elements import NAME_READ, hides_element

# Where icons are read, by the tag of the element directly around them, or of the one around that.
CELLS: Final = frozenset(TAG_CODES[tag] for tag in ("td", "th", "dd"))
ITEM: Final = TAG_CODES["li"]
DRAWN: Final = "svg"
VALUED: Final = frozenset(("input", "meter", "progress"))  # what shows a value
MOST_ICONS: Final = 64  # elements at the beginning of a block that may be icons
LONGEST_LABEL: Final = 40  # characters; longer ones describe photographs
_LONGEST_FORMULA: Final = 1000
_SHOWN: Final = "MathJax-Element"  # ids of formulas that stand beside themselves
_SIZES: Final = range(3, 65)  # pixels; others are spacers, or photographs
CHECK, CROSS, OPEN_BOX = "✓", "✗", "☐"
_FORMULA: Final = re.compile(
    r"(?<![^\s_-])(?:math|latex|mimetex|mathtex|tex(?:image|render)?"
    r"|(?:inline|display|numbered)?(?:formula|equation)(?:inl|dsp)?)(?![^\s_-])",
    re.IGNORECASE,
)
_TEX: Final = re.compile(r"\$.+\$$|\\[(\[]|\{?\\(?:display|text)style\b|\\begin\b", re.DOTALL)
_DELIMITERS: Final = (("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]"))
_STYLED: Final = re.compile(r"\{?\s*\\(?:display|text)style\b\s*(.*)", re.DOTALL)
# Of what has no meaning, and what a picture says beside the words: the icons of notes in manuals.
_NO_LABEL: Final = re.compile(
    r"(?:spacer|blank|clear|pixel|shim|transparent|logo|icon|image|picture|photo|avatar|bullet)"
    r"(?:\.\w+)?$|\[.*\]$",
    re.IGNORECASE,
)
_NAMED: Final = re.compile(
    r"(?<![a-z])(?:"
    r"(?P<check>check(?:ed|mark)?|tick|ok|yes|true|correct)"
    r"|(?P<cross>times|close|cross|xmark|remove|false|wrong|no(?=-alt|\s|$)"
    # Not of `fa-x-twitter`, or of what is moved along the x axis.
    r"|(?<=[_-])(?<!twitter.)x(?=[\s_]|$|-(?:lg|mark|circle|square|octagon|bold|fill|icon|small)))"
    r"|(?P<half>star[_-]half)|(?P<empty>star[_-](?:o|border|outline|empty)|(?:far|regular) fa-star)"
    r"|(?P<star>star)"
    r"|(?P<up>(?:arrow|caret|trend|trending)[_-]up)|(?P<down>(?:arrow|caret|trend|trending)[_-]down)"
    r")(?![a-z])",
    re.IGNORECASE,
)
_SIGNS: Final = {
    "check": CHECK, "cross": CROSS, "half": "⯪", "empty": "☆", "star": "★", "up": "▲", "down": "▼",
}  # fmt: skip
_FILE: Final = re.compile(r"([^/?#]{1,40})\.\w{2,4}(?:[?#]|$)")


def formula_text(attributes: Mapping[str, str]) -> str:
    r"""The formula or emoji that a picture shows, in TeX or what else its text is; or nothing.

    >>> formula_text({"class": "latex", "alt": "x^2"}), formula_text({"alt": r"$a \\ne b$"})
    ('x^2', 'a \\\\ne b')
    >>> formula_text({"class": "mwe-math-fallback-image-inline", "alt": r"{\displaystyle x=5}"})
    'x=5'
    >>> formula_text({"alt": "👍"}), formula_text({"alt": "A cat"}), formula_text({"alt": "$5"})
    ('👍', '', '')
    """
    text = attributes.get("alt", "").strip()
    if not 0 < len(text) <= _LONGEST_FORMULA or hides_element(attributes.get("style", "")):
        return ""
    if is_emoji(text):
        return text
    if not _TEX.match(text) and not _FORMULA.search(attributes.get("class", "")[:NAME_READ]):
        return ""
    for begin, end in _DELIMITERS:
        if text.startswith(begin) and text.endswith(end) and len(text) > len(begin + end):
            text = text[len(begin) : -len(end)].strip()
            break
    if styled := _STYLED.match(text):
        text = styled[1].removesuffix("}") if text[0] == "{" else styled[1]
    return text.strip()


def is_emoji(text: str) -> bool:
    """Whether a picture's text begins with an emoji or another symbol, and has no word.

    >>> is_emoji("❤\ufe0f"), is_emoji("🇫🇷"), is_emoji("→"), is_emoji("© Ann"), is_emoji("\ufffd")
    (True, True, False, False, False)
    """
    is_symbol = unicodedata.category(text[0]) == "So" and "\ufffd" not in text
    return is_symbol and len(text) <= LONGEST_LABEL and not any(map(str.isalnum, text))


def is_formula(attributes: Mapping[str, str]) -> bool:
    """Whether a script is a formula that the page shows, and has not shown yet.

    >>> is_formula({"type": "math/tex; mode=display"}), is_formula({"type": "text/javascript"})
    (True, False)
    """
    is_math = attributes.get("type", "").lstrip()[:5].lower() == "math/"
    return is_math and not attributes.get("id", "").startswith(_SHOWN)


def icon_text(tag: str, attributes: Mapping[str, str], text: str = "", name: str = "") -> str:
    """Return what an icon says in a cell: its label, or a sign for its name; empty if nothing.

    `text` is the text in a drawing, and `name` that of another drawing in it.

    >>> icon_text("img", {"alt": "Yes"}), icon_text("i", {"class": "fas fa-times text-danger"})
    ('Yes', '✗')
    >>> icon_text("svg", {"class": "icon"}, name="#icon-check"), icon_text("i", {"class": "big"})
    ('✓', '')
    """
    if hides_element(attributes.get("style", "")):
        return ""
    if tag in ("meter", "progress"):
        return attributes.get("value", "")[:LONGEST_LABEL].strip()
    if tag == "img" and not _is_small(attributes):
        return ""
    labels = attributes.get("aria-label"), attributes.get("alt"), text, attributes.get("title")
    for label in () if tag == "input" else labels:
        words = " ".join((label or "")[: 2 * LONGEST_LABEL].split())
        if 0 < len(words) <= LONGEST_LABEL and not _NO_LABEL.match(words):
            return words
    return icon_sign(tag, attributes, name)


def item_sign(tag: str, attributes: Mapping[str, str], text: str = "", name: str = "") -> str:
    """Return the sign of an icon before the text of an item; empty if it may be a bullet.

    >>> item_sign("i", {"class": "fa fa-times"}), item_sign("i", {"class": "fa fa-check"})
    ('✗', '')
    >>> item_sign("input", {"type": "checkbox", "disabled": "", "checked": ""})
    '✓'
    """
    found = icon_sign(tag, attributes, name)
    if hides_element(attributes.get("style", "")):
        return ""
    return found if found == (CHECK if tag == "input" else CROSS) else ""


def icon_sign(tag: str, attributes: Mapping[str, str], name: str = "") -> str:
    """Return the sign that an icon's class, or the name of its picture, speaks of.

    A box that nobody can change shows whether something is so.

    >>> icon_sign("span", {"class": "glyphicon glyphicon-ok"}), icon_sign("img", {"src": "/no.png"})
    ('✓', '✗')
    >>> [icon_sign("i", {"class": f"fa fa-{name}"}) for name in ("star", "star-o", "star-half")]
    ['★', '☆', '⯪']
    """
    if tag == "input":
        is_box = attributes.get("type", "").lower() in ("checkbox", "radio")
        found = CHECK if "checked" in attributes else OPEN_BOX
        return found if is_box and "disabled" in attributes else ""
    names = [attributes.get("class", ""), attributes.get("data-icon", ""), name.rpartition("#")[2]]
    if tag == "img":
        file = _FILE.search(attributes.get("src", "")[-NAME_READ:])
        names.append(file[1] if file else "")
    kinds = [found.lastgroup for name in names for found in _NAMED.finditer(name[:NAME_READ])]
    return _SIGNS[kinds[-1] or ""] if kinds else ""


def drawing_name(attributes: Mapping[str, str]) -> str:
    """Return the name of the drawing that an element `use` puts in its place."""
    return attributes.get("href") or attributes.get("xlink:href") or ""


def _is_small(attributes: Mapping[str, str]) -> bool:
    """Whether a picture may be an icon by its width and height, as far as these are known."""
    sizes = [attributes.get(side, "").removesuffix("px") for side in ("width", "height")]
    known = [int(size) for size in sizes if size.isascii() and size.isdecimal() and len(size) < 6]
    return all(size in _SIZES for size in known)
