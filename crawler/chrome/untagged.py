"""The text between tags, of pages or parts of pages that are not worth, or not fit for, parsing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from html.entities import html5
from typing import Final

from .blocks import squeeze
from .reader import INLINE, LINK, READING, TAGS, TIME
from .twins import anchors, outside, seen_since

_MOST_ENTITIES: Final = 20_000  # of a piece; beyond that they stay as they are
_PIECE: Final = 1 << 20  # characters
# Python refuses to read thousands of digits; no character has so many.
_NO_CHARACTER: Final = re.compile(r"&#\d{640,}+;?", re.ASCII)
_TAG: Final = re.compile(r"<[a-zA-Z/!?][^<>]*>")
_WITHIN: Final = "|".join(
    tag for tag, kind in TAGS.items() if kind in (INLINE, READING, LINK, TIME)
)
# Without a semicolon it is none in an address: "?a=1&copy=2" has two parameters.
_REFERENCE: Final = re.compile(r"&(#?\w{1,31};)", re.ASCII)
_INLINE: Final = re.compile(rf"</?(?:{_WITHIN}|\w+:\w+)(?:[\s/][^<>]*)?>", re.I)


def lines(data: bytes) -> Iterator[str]:
    """Yield the texts between block tags; inline ones part nothing.

    >>> list(lines(b"<div>un<b>break</b>able<div>H<sub>2</sub>O"))
    ['unbreakable', 'H2O']
    """
    text = data.decode("utf-8", "replace")
    for piece in filter(str.strip, _TAG.split(_INLINE.sub("", text))):
        line = squeeze(_unescaped(piece))
        if line:
            yield line


def seen(data: bytes, before: bytes = b"") -> bytes:
    """Return what of `data` stands outside of scripts, styles, comments and textareas.

    `before` is what the page has before it: there a script may have begun, or only a string in one
    that looks like the beginning of a style.

    >>> seen(b"x</script><p>tea", b"<script>var a; ")
    b' </script><p>tea'
    """
    return seen_since(before + data, len(before))


def whole(data: bytes) -> str:
    """Return all text between tags in one piece, in linear time.

    >>> whole(b"<p>1 < 2, <b>tea</b>")
    '1 < 2, tea'
    """
    text = outside(data)
    if "&" not in text:
        return text
    pieces = (text[at : at + _PIECE] for at in range(0, len(text), _PIECE))
    return squeeze("".join(map(_unescaped, pieces)))


def links(data: bytes, most: int) -> Iterator[tuple[str, str | None]]:
    """Yield the address and the `rel` of each link among so many anchors, in linear time.

    >>> list(links(b"<a href=/tea>Tea</a> <a class=x rel='nofollow' href='/?a&amp;b'>", 10))
    [('/tea', None), ('/?a&b', 'nofollow')]
    """
    for href, rel in anchors(data, most):
        yield _unreferenced(href), rel and _unreferenced(rel)


def _unreferenced(value: str) -> str:
    return _REFERENCE.sub(_character, value) if 0 < value.count("&") <= _MOST_ENTITIES else value


def _character(reference: re.Match[str]) -> str:
    text, name = reference[0], reference[1]
    return unescape(text) if name[0] == "#" else html5.get(name, text)


def _unescaped(text: str) -> str:
    if text.count("&") > _MOST_ENTITIES:
        return text
    return unescape(_NO_CHARACTER.sub("\ufffd", text))
