"""What a page holds: flat text blocks, the ranges of blocks that elements span, its links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from lxml import etree

from .vocabulary import HIDDEN, ROLE_BITS, TAG_BITS, name_bits

LIMIT: Final = 20_000  # blocks judged by what surrounds them; a feature row is 1 kB
DEEPEST: Final = 2000  # libxml2 drops what lies deeper than 2,048 elements

_SKIPPED, _INLINE, _LINK, _BREAK, _BLOCK, _HEAD = range(6)
_SKIPPED_TAGS: Final = """
    script style template svg math iframe object embed canvas audio video map select datalist
    textarea input param source track applet frame frameset noframes progress meter rp
"""
_INLINE_TAGS: Final = """
    abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark nobr q ruby
    rb rt s samp small span strike strong sub sup time tt u var wbr
"""
_HEAD_TAGS: Final = "title meta link base area"
_KINDS: Final[dict[str, int]] = {
    **dict.fromkeys(_SKIPPED_TAGS.split(), _SKIPPED),
    **dict.fromkeys(_INLINE_TAGS.split(), _INLINE),
    **dict.fromkeys(_HEAD_TAGS.split(), _HEAD),
    "a": _LINK,
    "br": _BREAK,
}

# The element directly around a block, as far as the model tells them apart.
TAGS: Final = (
    "p", "li", "h1", "h2", "h3", "td", "th", "div", "pre", "dt", "dd", "figcaption",
    "section", "body", "other",
)  # fmt: skip
_OTHER: Final = len(TAGS) - 1
_TAG_CODES: Final = {tag: code for code, tag in enumerate(TAGS)} | {
    "h4": 4, "h5": 4, "h6": 4, "summary": 4, "caption": 11, "article": 12, "main": 12,
}  # fmt: skip

_STYLE_READ: Final = 200
_NAME_READ: Final = 300  # longer class lists are generated; their ends say nothing new
_CHUNK: Final = 1 << 16


@dataclass(slots=True)
class Flat:
    """The page as parallel lists: blocks in reading order, then the containers around them.

    A container is an element with at least one block inside: blocks `starts[i]` to `ends[i]`.
    Containers stand in document order, so that inner ones follow outer ones.
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
    too_deep: bool = False

    def append(self, text: str) -> None:
        """Add a block of which nothing but its text is known."""
        if not self.starts:
            self.starts, self.ends, self.keys = [0], [0], [0]
        self.texts.append(text)
        self.tags.append(_OTHER)
        for zeros in (self.linked, self.links, self.signs, self.depths):
            zeros.append(0)
        self.ends[0] = min(len(self.texts), LIMIT)


@dataclass(slots=True)
class Head:
    """What the page says of itself and where it leads, as it stands there."""

    titles: list[str] = field(default_factory=list)
    links: list[tuple[str, str | None]] = field(default_factory=list)  # href, rel
    base: str | None = None
    canonical: str | None = None
    metas: list[tuple[str, str]] = field(default_factory=list)  # name, content
    titled: bool = False

    def add(self, tag: str, attributes: Mapping[str, str]) -> bool:
        """Take note of an element; return whether its text is the title."""
        if tag == "meta":
            name, content = attributes.get("name"), attributes.get("content")
            if name and content:
                self.metas.append((name[:_NAME_READ].strip().lower(), content))
        elif tag == "link":
            if self.canonical is None and "canonical" in attributes.get("rel", "").lower().split():
                self.canonical = attributes.get("href", "").strip() or None
        elif tag == "base":
            if self.base is None and "href" in attributes:
                self.base = attributes["href"].strip()
        elif tag == "area":
            if "href" in attributes:
                self.links.append((attributes["href"], attributes.get("rel")))
        elif not self.titled:
            self.titled = True
            return True
        return False


class Reader:
    """A target for lxml's parser: what a page holds, gathered while it is parsed.

    No tree is built, which takes about as long as all the gathering.  `start`, `data` and `end`
    are closures: they run a thousand times a page, and locals are twice as fast as attributes.
    """

    __slots__ = ("close", "data", "end", "flat", "head", "start")

    def __init__(self) -> None:
        self.flat = flat = Flat()
        self.head = head = Head()
        texts, linked, links = flat.texts, flat.linked, flat.links
        tags, signs, depths = flat.tags, flat.signs, flat.depths
        starts, ends, keys = flat.starts, flat.ends, flat.keys
        anchors = head.links
        kind_of = _KINDS.get

        pieces: list[str] = []
        stack: list[tuple[int, int, int, int]] = []
        link_chars = link_count = link_depth = skipped = 0
        current, code, container, pre = 0, _OTHER, -1, 0
        titling = False

        def flush() -> None:
            nonlocal link_chars, link_count
            joined = pieces[0] if len(pieces) == 1 else "".join(pieces)
            pieces.clear()
            text = joined.strip("\n").rstrip() if pre else squeeze(joined)
            if text and not text.isspace():
                texts.append(text)
                linked.append(link_chars)
                links.append(link_count)
                tags.append(code)
                signs.append(current)
                depths.append(len(stack))
            link_chars = link_count = 0

        def start(tag: str, attributes: Mapping[str, str]) -> None:
            nonlocal current, code, container, pre, link_depth, link_count, skipped, titling
            if skipped:
                skipped += 1
                return
            kind = kind_of(tag, _BLOCK)
            if kind == _INLINE:
                return
            if kind == _LINK:
                link_depth += 1
                link_count += 1
                if "href" in attributes:
                    anchors.append((attributes["href"], attributes.get("rel")))
            elif kind == _BLOCK:
                if pieces:
                    flush()
                stack.append((current, code, container, pre))
                code = _TAG_CODES.get(tag, _OTHER)
                names = None
                if attributes:
                    own, names = _signs(tag, attributes)
                    current |= own
                else:
                    current |= TAG_BITS.get(tag, 0)
                if tag == "pre":
                    pre = 1
                if len(texts) < LIMIT:
                    keys.append(hash((container, tag, names)))
                    container = len(starts)
                    starts.append(len(texts))
                    ends.append(-1)
                if len(stack) > DEEPEST:
                    flat.too_deep = True
            elif kind == _BREAK:
                pieces.append("\n")
            else:
                skipped = 1
                if kind == _HEAD:
                    titling = head.add(tag, attributes)

        def data(text: str) -> None:
            nonlocal link_chars
            if not skipped:
                if pieces or pre or not text.isspace():  # half the texts part block elements
                    pieces.append(text)
                    if link_depth:
                        link_chars += len(text.strip())
            elif titling:
                head.titles.append(text)

        def end(tag: str) -> None:
            nonlocal current, code, container, pre, link_depth, skipped, titling
            if skipped:
                skipped -= 1
                if not skipped:
                    titling = False
                return
            kind = kind_of(tag, _BLOCK)
            if kind == _BLOCK:
                if pieces:
                    flush()
                if not stack:
                    return
                if container >= 0 and ends[container] < 0:
                    if starts[container] == len(texts):  # empty, and so the last one
                        del starts[container:], ends[container:], keys[container:]
                    else:
                        ends[container] = min(len(texts), LIMIT)
                current, code, container, pre = stack.pop()
            elif kind == _LINK and link_depth:
                link_depth -= 1

        def close() -> None:
            if pieces:
                flush()
            if texts and not starts:  # a lone inline element
                starts.append(0)
                ends.append(-1)
                keys.append(0)
            last = min(len(texts), LIMIT)
            flat.ends[:] = [last if stop < 0 else stop for stop in ends]

        self.start, self.data, self.end, self.close = start, data, end, close

    def walk(self, root: Any) -> None:
        """Read a tree that somebody else has parsed."""
        start, data, end = self.start, self.data, self.end
        for event, element in etree.iterwalk(root, events=("start", "end", "comment", "pi")):
            if event == "start":
                start(_local(element.tag), element.attrib)
                if element.text:
                    data(element.text)
                continue
            if event == "end":
                end(_local(element.tag))
            if element.tail and element is not root:
                data(element.tail)
        self.close()


def _local(tag: str) -> str:
    """Return a tag without its namespace, which XHTML read as XML has."""
    return tag.rpartition("}")[2] if tag[0] == "{" else tag


def _signs(tag: str, attributes: Mapping[str, str]) -> tuple[int, str | None]:
    """Return what an element says of its text (tag, role, names, hiding), and its class."""
    bits = TAG_BITS.get(tag, 0)
    names = None
    for key, value in attributes.items():
        if key == "class":
            names = value[:_NAME_READ]
            bits |= name_bits(names)
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
    return bits, names


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
