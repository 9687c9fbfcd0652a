"""What a page holds: flat text blocks, the ranges of blocks that elements span, its links."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from html import unescape
from itertools import islice
from typing import Final

from .elements import (
    BODY,
    BREAK,
    CLOSE,
    INLINE,
    KINDS,
    LINK,
    LINK_END,
    NOTHING,
    OPEN,
    OPENED,
    OTHER,
    RULE,
    SKIPPED,
    Open,
    left_open,
)
from .markup import tokens, untagged
from .vocabulary import CODE, HIDDEN, ROLE_BITS, name_bits

LIMIT: Final = 10_000  # blocks judged by what surrounds them; a feature row is 1 kB
_MOST_TAGS: Final = 100_000  # what follows is one block
_DEEPEST: Final = 200  # containers deeper than this are not told apart

_TOLD: Final = re.compile(
    r"[\s\"'/](class|id|role|style|hidden|aria-hidden)(?![^\s=/])"
    r"(?:\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s>]++)))?",
    re.IGNORECASE,
)
_READ: Final = 10_000  # characters of a tag
_STYLE_READ: Final = 200
_NAME_READ: Final = 300  # longer class lists are generated; their ends say nothing new
_CACHED: Final = 500  # characters of attributes; longer ones hardly come back
_CHUNK: Final = 1 << 16


@dataclass(slots=True)
class Flat:
    """The page as parallel lists: blocks in reading order, then the containers around them.

    A container is an element with at least one block inside: blocks `starts[i]` to `ends[i]`.
    Inner ones follow outer ones; the first is the page.
    """

    texts: list[str] = field(default_factory=list)
    linked: list[int] = field(default_factory=list)  # characters inside links
    links: list[int] = field(default_factory=list)  # number of links
    tags: list[int] = field(default_factory=list)  # positions in TAGS
    signs: list[int] = field(default_factory=list)  # bits of all ancestors
    depths: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    keys: list[int] = field(default_factory=list)  # equal for siblings of one tag and class


@dataclass(slots=True)
class Head:
    """What the page says of itself and where it leads: tags with their attributes as they stand."""

    title: str | None = None
    tags: list[tuple[str, str]] = field(default_factory=list)  # meta, link, base
    links: list[str] = field(default_factory=list)


def read(html: str) -> tuple[Flat, Head]:
    """Read a page, tag by tag.  Elements nobody closed end as the standard says, or nearly so.

    One long loop: it runs two thousand times a page, and a call would double its time.
    """
    flat, head = Flat(), Head()
    texts, linked, links = flat.texts, flat.linked, flat.links
    tags, signs, depths = flat.tags, flat.signs, flat.depths
    ranges: list[tuple[int, int, int]] = []  # start, end and key of containers, inner ones first
    pieces: list[str] = []  # the running text
    link_chars = link_count = 0
    linking = -1  # how many elements were open when the link began
    stack: list[Open] = [("", 0, 0, 0, None)]
    current, code, count = 0, BODY, 0
    titling = False
    endless: set[str] = set()
    kind_of = KINDS.get

    parts, names, raws, rest = tokens(html, _MOST_TAGS)
    names.append("/")  # the page ends all elements
    raws.append("")
    stream = zip(range(len(names)), parts, names, raws, strict=True)
    for number, text, name, raw in stream:
        if text:
            if titling:
                titling = False
                if head.title is None:
                    head.title = text
            elif pieces or not text.isspace() or current & CODE:  # half the texts part elements
                pieces.append(text)
                if linking >= 0:
                    link_chars += len(text.strip())
        kind = kind_of(name)
        if kind is None:
            name = name.lower()
            kind = kind_of(name, CLOSE if name[0] == "/" else OPEN)
        if kind == INLINE:
            continue
        if kind < RULE:
            if kind == LINK:
                link_count += 1
                linking = -1
                if "href" in raw or "HREF" in raw:
                    linking = len(stack)
                    head.links.append(raw)
            elif kind == LINK_END:
                linking = -1
            elif kind == BREAK:
                pieces.append("\n")
            elif kind == SKIPPED:
                if name not in endless and raw[-1:] != "/":
                    try:  # the end tag is likely to be written as the start tag is
                        ahead = names.index(f"/{names[number]}", number) - number
                        next(islice(stream, ahead, ahead), None)
                    except ValueError:  # nobody closed it
                        endless.add(name)
            elif name == "title":
                titling = True
            elif name == "area":
                head.links.append(raw)
            else:
                head.tags.append((name, raw))
            continue

        if pieces:
            joined = pieces[0] if len(pieces) == 1 else "".join(pieces)
            pieces.clear()
            if "&" in joined:
                joined = unescape(joined)
            text = joined.strip("\n").rstrip() if current & CODE else squeeze(joined)
            if text and not text.isspace():
                texts.append(text)
                linked.append(link_chars)
                links.append(link_count)
                tags.append(code)
                signs.append(current)
                depths.append(len(stack))
                count += 1
            link_chars = link_count = 0

        if kind == OPEN:
            end_tag, own_code, own, ended = OPENED.get(name) or (f"/{name}", OTHER, 0, NOTHING)
            least = len(stack)
            while stack[least - 1][0] in ended:
                least -= 1
        elif kind == RULE:
            continue
        elif stack[-1][0] == name:
            least = len(stack) - 1
        else:
            least = left_open(stack, name)
        while len(stack) > least:
            ended_by, current, code, start, classes = stack.pop()
            depth = len(stack)
            if start < count and depth < _DEEPEST:
                ranges.append((start, count, hash((depth, stack[-1][3], ended_by, classes))))
        if linking > least:
            linking = -1
        if kind == OPEN:
            classes = None
            if raw:
                said, classes = _signs(raw) if len(raw) < _CACHED else _signs.__wrapped__(raw)
                own |= said
            stack.append((end_tag, current, code, count, classes))
            code = own_code
            current |= own

    if rest and (text := squeeze(untagged(rest))):
        texts.append(text)
        tags.append(OTHER)
        for zeros in (linked, links, signs, depths):
            zeros.append(0)
    while stack:
        ended_by, _, _, start, classes = stack.pop()
        if start < len(texts) and len(stack) < _DEEPEST:
            ranges.append((start, len(texts), hash((len(stack), start, ended_by, classes))))
    for start, stop, key in reversed(ranges):
        if start < LIMIT:
            flat.starts.append(start)
            flat.ends.append(min(stop, LIMIT))
            flat.keys.append(key)
    return flat, head


@lru_cache(maxsize=1 << 14)
def _signs(raw: str) -> tuple[int, str | None]:
    """Return what an element's attributes say of its text (role, names, hiding); its class."""
    classes: str | None
    if raw[:8] == ' class="' and raw.count('"') == 2 and raw[-1] == '"':
        classes = raw[8:-1][:_NAME_READ]
        return name_bits(classes), classes
    bits = 0
    classes = None
    for name, double, single, bare in _TOLD.findall(raw[:_READ]):
        key, value = name.lower(), double or single or bare
        if key == "class":
            classes = value[:_NAME_READ]
            bits |= name_bits(classes)
        elif key == "id":
            bits |= name_bits(value[:_NAME_READ])
        elif key == "role":
            bits |= ROLE_BITS.get(value, 0)
        elif key == "hidden" or (key == "aria-hidden" and value == "true"):
            bits |= HIDDEN
        elif key == "style":
            compact = value[:_STYLE_READ].replace(" ", "").lower()
            if "display:none" in compact or "visibility:hidden" in compact:
                bits |= HIDDEN
    return bits, classes


def squeeze(text: str, piece: int = _CHUNK) -> str:
    """Return the text with every run of white space as one space, none at its ends.

    Long texts go piece by piece: a list of all words of 50 MB takes a gigabyte.
    """
    if len(text) <= piece:
        return " ".join(text.split())
    parts: list[str] = []
    for at in range(0, len(text), piece):
        chunk = text[at : at + piece]
        if parts and (chunk[0].isspace() or text[at - 1].isspace()) and parts[-1] != " ":
            parts.append(" ")
        words = " ".join(chunk.split())
        if words:
            parts.append(words)
    return "".join(parts).strip()
