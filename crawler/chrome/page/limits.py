"""How much of a page is parsed: hostile pages take lxml for ever, or more memory than there is."""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

import numpy as np

from .encoding import count_bytes, is_binary

# libxml2 compares every attribute of a tag with all earlier ones: a tag of a million attributes
# takes hours.  Such tags lose their attributes before they are parsed.
_VALUE: Final = rb"=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s\"'>]*+)"
_CROWDED: Final = re.compile(
    rb"<([a-zA-Z][^\s<>/]{0,40})"
    rb"(?:[\s/]++[^\s<>=/\"']++(?:\s*+" + _VALUE + rb")?+){500}(?:[^<>=\"']++|" + _VALUE + rb")*+"
)
# As HTML reads them: a quote hides the end of a tag only if it begins a value.
_BLANK: Final = rb" \t\n\r\f"
_ATTRIBUTE: Final = re.compile(
    rb"[^/>%b][^=/>%b]*+(?:[%b]*+=[%b]*+(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z)|[^>%b]*+))?+"
    % ((_BLANK,) * 5)
)
# What comes before, such as a script, may hide the beginning of a tag or not: tags within tags are
# found, too.  With < first, a search skips to it.
_TAG: Final = re.compile(
    rb"<(?=([a-zA-Z][^/>%b]*+)((?:[/%b]++|%b)*+))" % (_BLANK, _BLANK, _ATTRIBUTE.pattern)
)
# libxml2 ignores the end of a template in which one of these is open, and takes the rest of a page
# for the template's. HTML leaves out the ends of rows and cells.
_MAY_STAY_OPEN: Final = re.compile(rb"<(/?)(?:div|t(?:able|body|foot|head|[dhr]))(?=[\s/>])", re.I)
_TEMPLATE: Final = re.compile(
    rb"<!--(?:[^-]++|-(?!->))*+|<(script|style|textarea|title)(?=[\s/>])(?:[^<]++|<(?!/\1))*+"
    rb"|<(?P<end>/?)template(?=[\s/>])(?P<attributes>[^>]*+)(?:>|\Z)",
    re.I,
)
_MAY_BE_TEMPLATE: Final = re.compile(rb"<template", re.I)
MOST_TAGS: Final = 25_000  # of what follows only text and links are taken; long pages have 5,000
MOST_ENTITIES: Final = 50_000  # each is a call of its own, as a tag is
_FREE_TAGS: Final = 2000
_MANY_TAGS: Final = 14_000
_APART: Final = 15, 22  # bytes from tag to tag, beyond the free ones, and beyond many
_MOST_WITHIN: Final = 2  # times what tags within tags make of a page
_HARMLESS: Final = 8000  # attributes in each tag of a small page cost a fifth of a second
_SMALL: Final = 100_000  # bytes
_MOST_HIDDEN: Final = 32  # ends in a row, until none is looked for
_BEFORE_VALUE: Final = b"= \t\n\r\f\v"
_LESS, _AND = b"<&"
_UNREADABLE: Final = bytes(
    code for code in range(256) if not 32 <= code < 127 and code not in b"\t\n\r"
)


def bound_page(data: bytes) -> tuple[bytes, bytes, bool]:
    """Return the part of a page that is parsed, and what follows it.

    And whether a tag of that part may have very many attributes.
    """
    if b"\0" in data:
        data = data.replace(b"\0", b"")
    if is_binary(data):
        return b"", data.translate(None, _UNREADABLE), False
    if _MAY_BE_TEMPLATE.search(data):
        data = _empty_templates(data)
    whole = data
    if (tags := count_bytes(data, _LESS, _LESS)) > _FREE_TAGS:
        data = data[: _too_dense(data, min(tags, MOST_TAGS))]
        if tags > MOST_TAGS and count_bytes(data, _LESS, _LESS) > MOST_TAGS:
            data = data[: _find_mark(data, b"<", MOST_TAGS)]
    if len(data) > 3 * MOST_ENTITIES and count_bytes(data, _AND, _AND) > MOST_ENTITIES:
        data = data[: _find_mark(data, b"&", MOST_ENTITIES)]
    rest = whole[len(data) :]
    # In a longer page there can be more such tags, so each must have fewer.
    most = _HARMLESS * _SMALL // max(len(data), _SMALL)
    if crowded := _is_crowded(data, most):
        data = _CROWDED.sub(rb"<\1", data)
    return data, rest, crowded


def is_harmless(data: bytes) -> bool:
    """Whether any parser may read a page as it is: it is text, and within all limits."""
    bounded, _, crowded = bound_page(data)
    return bounded is data and not crowded


def _empty_templates(data: bytes) -> bytes:
    """Return a page without the content of templates that libxml2 might not end."""
    parts: list[bytes] = []
    done = begin = depth = 0
    for tag in _TEMPLATE.finditer(data):
        if tag["end"] is None:
            continue
        if not tag["end"]:
            if depth or b"shadowrootmode" not in tag["attributes"].lower():  # that is shown
                begin = begin if depth else tag.end()
                depth += 1
        elif depth:
            depth -= 1
            if not depth and _has_open(data[begin : tag.start()]):
                parts.append(data[done:begin])
                done = tag.start()
    return b"".join((*parts, data[done:])) if parts else data


def _has_open(part: bytes) -> bool:
    return sum(-1 if tag[1] else 1 for tag in _MAY_STAY_OPEN.finditer(part)) > 0


def _too_dense(data: bytes, number: int) -> int:
    """Return where there are more of so many tags than text could need, the length if nowhere.

    That can only be near the beginning.
    """
    beginning = np.frombuffer(data, np.uint8)[: (number - _FREE_TAGS) * max(_APART)]
    tags = np.flatnonzero(beginning == ord("<"))
    before = np.arange(len(tags))
    beyond = np.flatnonzero(tags < (before - _FREE_TAGS) * np.where(before < _MANY_TAGS, *_APART))
    return int(tags[beyond[0]]) if len(beyond) else len(data)


def _find_mark(data: bytes, mark: bytes, number: int) -> int:
    """Return where the mark stands that has so many before it."""
    return len(data) - len(data.split(mark, number)[-1]) - 1


def _is_crowded(data: bytes, most: int) -> bool:
    """Return whether a tag may have more than `most` attributes, which take two bytes or more."""
    begin = seen = 0
    while len(data) - begin > 2 * most:
        end = _find_end(data, begin, begin + most)
        # Mostly less than such a tag, so that no tag is looked at.
        for found in _TAG.finditer(data, begin, end) if end - begin > 2 * most else ():
            seen += 1 + len(found[1]) + len(found[2])
            if seen > _MOST_WITHIN * len(data):
                return True
            if len(found[2]) > 2 * most and any(islice(_ATTRIBUTE.finditer(found[2]), most, None)):
                return True
        begin = end + 1
    return False


def _find_end(data: bytes, begin: int, start: int) -> int:
    """Return where from `start` on any tag that has begun after `begin` ends, or the length.

    A quote hides a > if it follows an equals sign and is the last of its kind before.
    """
    end = start - 1
    for _ in range(_MOST_HIDDEN):
        if (end := data.find(b">", end + 1)) < 0:
            break
        quotes = data.rfind(b'"', begin, end), data.rfind(b"'", begin, end)
        if all(quote <= begin or data[quote - 1] not in _BEFORE_VALUE for quote in quotes):
            return end
    return len(data)
