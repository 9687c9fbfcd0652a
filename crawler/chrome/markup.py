"""HTML cut into tags and the text between them, by the rules of the standard's tokeniser."""

from __future__ import annotations

import re
from html import unescape
from typing import Any, Final

# A quoted value is only what follows an equals sign: `<p title=it's>` ends at its bracket.  All
# repetitions are possessive and an unfinished tag ends with the page, so that time is linear.
_ATTRIBUTES: Final = (
    r"[^>\"']*+(?:(?:(?:(?<==)|(?<==\s))(?:\"[^\"]*+\"|'[^']*+')|[\"'])[^>\"']*+)*+"
)
_TOKEN: Final = re.compile(
    rf"""
    <(?:
        (?: ([sS](?i:cript|tyle))(?=[\s/>]) | (/?[a-zA-Z][^\s/>]*+) )
        ({_ATTRIBUTES}) (?:>|\Z)
        (?(1) (?:(?<=/>) | (?i:[^<]*+(?:<(?!/\1[\s/>])[^<]*+)*+)) )
      | !--(?: -?> | [^-]*+(?:-(?!-!?>)[^-]*+)*+(?:--!?>|\Z) )
      | (?:[!?]|/[^a-zA-Z>]) [^>]*+ (?:>|\Z)
      | />
    )
    """,
    re.VERBOSE,
)
_GROUPS: Final = _TOKEN.groups + 1
_ATTRIBUTE: Final = re.compile(r"([^\s/>=]++)(?:\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s>]++)))?")
_ATTRIBUTES_READ: Final = 50_000  # characters of a tag
_TAG: Final = re.compile(r"<[^>]*+>")


def tokens(html: str, most: int) -> tuple[list[str], list[Any], list[Any], str]:
    """Return texts, the names and the attributes of the tags after them, and what is left over.

    There is one text more than tags.  An end tag's name begins with a slash; the name of what
    is not a tag (a comment, a script with all it holds) is None.  After `most` tags the rest
    is left over, as it stands.

    >>> tokens("<p id=a>tea<!-- x --> time</p> now", 9)
    (['', 'tea', ' time', ' now'], ['p', None, '/p'], [' id=a', None, ''], '')
    """
    pieces = _TOKEN.split(html, most)
    names = pieces[2::_GROUPS]
    rest = ""
    if len(names) == most:
        rest, pieces[-1] = pieces[-1], ""
    return pieces[0::_GROUPS], names, pieces[3::_GROUPS], rest


def attributes(raw: str) -> dict[str, str]:
    """Return the attributes of a tag, the first of each name, names in lower case.

    >>> attributes(' HREF="/?a&amp;b" hidden href=c')
    {'href': '/?a&b', 'hidden': ''}
    """
    found: dict[str, str] = {}
    for name, double, single, bare in _ATTRIBUTE.findall(raw[:_ATTRIBUTES_READ]):
        value = double or single or bare
        found.setdefault(name.lower(), unescape(value) if "&" in value else value)
    return found


def untagged(html: str) -> str:
    """Return the text without tags, for what is not worth a closer look."""
    return _TAG.sub(" ", html)
