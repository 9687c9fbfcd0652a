"""The anchors of pages, or parts of pages, that are not parsed."""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

MOST_ATTRIBUTES: Final = 99  # a link with more is none for people
# Attributes are stepped over one by one, for a value may hold what looks like another. In linear
# time: nothing is given back, and no value in quotes goes on behind the next tag.
_VALUE: Final = rb"\s*+=\s*+(?:\"([^\"<]*+)\"|'([^'<]*+)'|(?![\"'])([^\s<>]++))"
_ATTRIBUTE: Final = rb"[\s/]*+[^\s/<>][^\s/<>=]*+(?:" + _VALUE.replace(b"([", b"(?:[") + rb")?+"
_ANCHOR: Final = re.compile(
    rb"<a(?:rea)?(?=[\s/])((?:%b){0,%d}+)[\s/]*+>" % (_ATTRIBUTE, MOST_ATTRIBUTES), re.I
)
_HREF, _REL = (
    re.compile(rb"(?:(?![\s/]*+%b[\s=])%b)*+[\s/]*+%b%b" % (name, _ATTRIBUTE, name, _VALUE), re.I)
    for name in (b"href", b"rel")
)


def anchors(data: bytes, most: int) -> list[tuple[str, str | None]]:
    """Return address and `rel` of those that have one, among so many anchors.

    >>> anchors(b"<a href=/tea>Tea</a> <a class=x rel='nofollow' href='/?a&amp;b'>", 10)
    [('/tea', None), ('/?a&amp;b', 'nofollow')]
    """
    found = []
    for tag in islice(_ANCHOR.finditer(data), most):
        if (href := _HREF.match(tag[1])) is not None:
            rel = _REL.match(tag[1])
            found.append((_value(href), rel and _value(rel)))
    return found


def _value(attribute: re.Match[bytes]) -> str:
    quoted, single, bare = attribute.groups(b"")
    return (quoted or single or bare).decode("utf-8", "replace")
