"""The text between tags, for pages or parts that are not parsed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from html.entities import html5
from itertools import islice
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .blocks import squeeze_spaces
from .elements import INLINE, LINK, READING, TAGS, TIME

MOST_ATTRIBUTES: Final = 99  # people write no links with more
# Attributes are stepped over one by one, for a value may hold what looks like another. In linear
# time: nothing is given back, and no value in quotes goes on behind the next tag. Groups are atomic
# here: before Python 3.11.5 a possessive `(…)*+` that backtracks within matches too much.
_VALUE: Final = rb"\s*+=\s*+(?:\"([^\"<]*+)\"|'([^'<]*+)'|(?![\"'])([^\s<>]++))"
_ATTRIBUTE: Final = rb"[\s/]*+[^\s/<>][^\s/<>=]*+(?>(?:" + _VALUE.replace(b"([", b"(?:[") + rb")?)"
_ANCHOR: Final = re.compile(
    rb"<a(?:rea)?(?=[\s/])((?>(?:%b){0,%d}))[\s/]*+>" % (_ATTRIBUTE, MOST_ATTRIBUTES), re.I
)
_HREF, _REL = (
    re.compile(
        rb"(?>(?:(?![\s/]*+%b[\s=])%b)*)[\s/]*+%b%b" % (name, _ATTRIBUTE, name, _VALUE), re.I
    )
    for name in (b"href", b"rel")
)

_COMMENT: Final = b"<!--"
_ENDS: Final = {  # in small letters
    b"<script": re.compile(b"</script"),
    b"<style": re.compile(b"</style"),
    b"<textarea": re.compile(b"</textarea"),
    _COMMENT: re.compile(b"(?<=<!--)-?>|--!?>"),  # "<!-->" is a whole comment, unlike "<!--!>"
}
_START: Final = re.compile(b"|".join(_ENDS))
MOST_SKIPPED: Final = 20_000  # scripts, styles, comments, textareas; later ones are taken for text
PIECE: Final = 1 << 20  # bytes that are looked at together
_LESS, _GREATER, _SPACE, _SLASH, _BANG, _QUESTION = (np.uint8(char) for char in b"<> /!?")
_LOWER, _A, _LETTERS = np.uint8(0x20), np.uint8(ord("a")), np.uint8(26)


def visible_part(data: bytes, before: bytes = b"") -> bytes:
    """Return the part of `data` outside scripts, styles, comments and textareas.

    Each of these is replaced by a space; unclosed ones last until the end. `before` is the page
    before it: a script may have begun there, or only a string in one that looks like the beginning
    of a style.

    >>> visible_part(b"tea<!-- leaves --><script>a</script>s", b"<p>")
    b'tea  </script>s'
    >>> visible_part(b"x</script><p>tea", b"<script>var a; ")
    b' </script><p>tea'
    """
    return b" ".join(_seen_since(before + data, len(before)))


def _seen_since(data: bytes, since: int) -> Iterator[bytes]:
    lower = data.lower()
    at = skipped = 0
    while skipped < MOST_SKIPPED and (start := _START.search(lower, at)) is not None:
        yield data[max(at, since) : start.start()]
        end = _ENDS[start[0]].search(lower, start.end())
        if end is None:
            return
        skipped += end.start() > since
        at = end.end() if start[0] == _COMMENT else end.start()
    yield data[max(at, since) :]


def _parts_outside_tags(data: bytes) -> Iterator[bytes]:
    page = np.frombuffer(data, np.uint8)
    inside = False
    for at in range(0, len(page), PIECE):
        chars, behind = page[at : at + PIECE], page[at + 1 : at + 1 + PIECE]
        opens = chars == _LESS
        opens[: len(behind)] &= _begin_tag(behind)  # "1 < 2" opens none
        opens[len(behind) :] = False
        marks = np.flatnonzero(opens | (chars == _GREATER))
        states = np.concatenate(([inside], opens[marks]))
        text = chars.copy()
        text[marks[states[:-1] & ~states[1:]]] = _SPACE  # the end of a tag
        lengths = np.diff(np.concatenate(([0], marks, [len(chars)])))
        yield np.compress(~np.repeat(states, lengths), text).tobytes()
        inside = bool(states[-1])
    if inside:
        yield b" "


def _begin_tag(chars: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Whether each can stand behind the sign that opens a tag."""
    letters = (chars | _LOWER) - _A < _LETTERS
    found: NDArray[np.bool_] = letters | (chars == _SLASH) | (chars == _BANG) | (chars == _QUESTION)
    return found


_MOST_ENTITIES: Final = 20_000  # of a piece; beyond that they stay as they are
_PIECE: Final = 1 << 20  # characters
# Python refuses to read thousands of digits; no character has so many.
_NO_CHARACTER: Final = re.compile(r"&#\d{640,}+;?", re.ASCII)
_TAG: Final = re.compile(r"<[a-zA-Z/!?][^<>]*>")
_WITHIN: Final = "|".join(
    tag for tag, kind in TAGS.items() if kind in (INLINE, READING, LINK, TIME)
)
# A semicolon is required: "?a=1&copy=2" is a URL with two parameters.
_REFERENCE: Final = re.compile(r"&(#?\w{1,31};)", re.ASCII)
_INLINE: Final = re.compile(rf"</?(?:{_WITHIN}|\w+:\w+)(?:[\s/][^<>]*)?>", re.I)


def split_lines(data: bytes) -> Iterator[str]:
    """Yield the texts between block tags; inline tags separate nothing.

    >>> list(split_lines(b"<div>un<b>break</b>able<div>H<sub>2</sub>O"))
    ['unbreakable', 'H2O']
    """
    text = data.decode("utf-8", "replace")
    for piece in filter(str.strip, _TAG.split(_INLINE.sub("", text))):
        line = squeeze_spaces(_unescape_text(piece))
        if line:
            yield line


def text_in_one_piece(data: bytes) -> str:
    """Return all text between tags in one piece, in linear time; a tag separates words.

    >>> text_in_one_piece(b"<p>1 < 2, <b>tea</b>time")
    '1 < 2, tea time'
    """
    text = squeeze_spaces(b"".join(_parts_outside_tags(data)).decode("utf-8", "replace"))
    if "&" not in text:
        return text
    pieces = (text[at : at + _PIECE] for at in range(0, len(text), _PIECE))
    return squeeze_spaces("".join(map(_unescape_text, pieces)))


def find_links(data: bytes, most: int) -> Iterator[tuple[str, str | None]]:
    """Yield the URL and the `rel` of each link among so many anchors, in linear time.

    >>> list(find_links(b"<a href=/tea>Tea</a> <a class=x rel='nofollow' href='/?a&amp;b'>", 10))
    [('/tea', None), ('/?a&b', 'nofollow')]
    """
    for tag in islice(_ANCHOR.finditer(data), most):
        if (href := _HREF.match(tag[1])) is not None:
            rel = _REL.match(tag[1])
            yield _attribute_value(href), rel and _attribute_value(rel)


def _attribute_value(attribute: re.Match[bytes]) -> str:
    quoted, single, bare = attribute.groups(b"")
    value = (quoted or single or bare).decode("utf-8", "replace")
    if not 0 < value.count("&") <= _MOST_ENTITIES:
        return value
    return _REFERENCE.sub(_referenced_character, value)


def _referenced_character(reference: re.Match[str]) -> str:
    text, name = reference[0], reference[1]
    return unescape(text) if name[0] == "#" else html5.get(name, text)


def _unescape_text(text: str) -> str:
    if text.count("&") > _MOST_ENTITIES:
        return text
    return unescape(_NO_CHARACTER.sub("\ufffd", text))
