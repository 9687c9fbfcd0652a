"""From a parser's events, or a tree, to blocks: one pass, no tree of our own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from lxml import etree

from .blocks import CHUNK, Flat, ints, squeeze
from .elements import DEEPEST, Elements
from .head import RECORD, Head, is_data

SKIPPED, INLINE, READING, LINK, BREAK, TIME, HEAD, PRE, BLOCK = range(9)  # all others are blocks
_SKIPPED_TAGS: Final = """
    script style template svg math iframe object canvas audio video select datalist textarea input
    param applet frame frameset noframes noembed progress meter rp
"""
# Behind `embed`, `source` and `track`, which nobody closes, libxml2 lets their parent's text follow
# inside of them.
_INLINE_TAGS: Final = """
    abbr acronym b bdi bdo big cite code data del dfn em embed font i img ins kbd label map mark
    nobr q ruby rb s samp small source span strike strong sub sup track tt u var wbr
"""
# What stands above letters would part the words that it is a reading of.  Nobody has to close it,
# so one ends at whatever cannot be in it.
_READING_TAGS: Final = "rt rtc"
BASE: Final = "rb"
_HEAD_TAGS: Final = "title meta link base area"
TAGS: Final[dict[str, int]] = {
    **dict.fromkeys(_SKIPPED_TAGS.split(), SKIPPED),
    **dict.fromkeys(_INLINE_TAGS.split(), INLINE),
    **dict.fromkeys(_READING_TAGS.split(), READING),
    **dict.fromkeys(_HEAD_TAGS.split(), HEAD),
    "a": LINK,
    "br": BREAK,
    "time": TIME,
    "pre": PRE,
}


def kind_of(tag: str) -> int:
    """Return what is done at a tag; Word's `st1:place` and its like part no more than `span` does.

    >>> kind_of("p") == BLOCK, kind_of("st1:place") == INLINE
    (True, True)
    """
    return TAGS.get(tag, INLINE if ":" in tag else BLOCK)


class Reader:
    """A target for lxml's parser: what a page holds, gathered while it is parsed.

    No tree is built, which takes about as long as all the gathering.  `start` and `end` are
    closures: they run a thousand times a page, and locals are twice as fast as attributes.  `data`
    is a list's own `append`: half the texts only part tags, and a call of Python's for each would
    cost more than to sort them out afterwards.
    """

    __slots__ = ("close", "data", "end", "start")

    def __init__(self) -> None:
        head = Head()
        texts: list[str] = []
        counts: list[int] = []
        linked: list[int] = []
        links: list[int] = []
        around: list[int] = []
        elements = Elements()
        add, parents, ends = elements.add, elements.parents, elements.ends
        hrefs, rels = head.hrefs, head.rels

        pieces: list[str] = []
        link_chars = link_count = link_depth = linked_from = skipped = skipped_from = pre = 0
        element = depth = deepest = reading = reading_from = 0
        sink: list[str] | None = None

        def flush() -> None:
            nonlocal link_chars, link_count, linked_from
            if link_depth:
                link_chars += len(" ".join("".join(pieces[linked_from:]).split()))
                linked_from = 0
            joined = pieces[0] if len(pieces) == 1 else "".join(pieces)
            pieces.clear()
            if pre or len(joined) > CHUNK:
                text = joined.strip("\n").rstrip() if pre else squeeze(joined)
                count = text.count(" ") + 1
            else:
                words = joined.split()
                text = " ".join(words)
                count = len(words)
            if text:
                texts.append(text)
                counts.append(count)
                linked.append(link_chars)
                links.append(link_count)
                around.append(element)
                link_chars = link_count = 0

        def start(tag: str, attributes: Mapping[str, str]) -> None:
            nonlocal element, link_depth, link_count, linked_from, skipped, skipped_from, pre, sink
            nonlocal depth, deepest, reading, reading_from
            if skipped:
                skipped += 1
                return
            depth += 1
            if depth > deepest:
                deepest = depth
            kind = kind_of(tag)
            if reading:
                if kind == INLINE and tag != BASE:
                    reading += 1
                    return
                reading = 0
                del pieces[reading_from:]
            if kind >= PRE:
                if pieces:
                    if len(pieces) == 1 and pieces[0].isspace():
                        pieces.clear()
                        linked_from = 0
                    else:
                        flush()
                element = add(element, tag, attributes, len(texts))
                if kind == PRE:
                    pre += 1
            elif kind == INLINE:
                return
            elif kind == READING:
                reading, reading_from = 1, len(pieces)
            elif kind == LINK:
                if not link_depth:
                    linked_from = len(pieces)
                link_depth += 1
                link_count += 1
                if "href" in attributes:
                    hrefs.append(attributes["href"])
                    rels.append(attributes.get("rel"))
            elif kind == BREAK:
                pieces.append("\n")
            elif kind == TIME:
                head.time(attributes)
            elif tag != "template" or "shadowrootmode" not in attributes:  # which browsers show
                skipped = 1
                skipped_from = len(pieces)
                if kind == HEAD:
                    sink = head.add(tag, attributes)
                elif tag == "script" and is_data(attributes.get("type")):
                    sink = head.data
                    sink.append(RECORD)

        def end(tag: str) -> None:
            nonlocal element, link_chars, link_depth, linked_from, skipped, pre, sink, depth
            nonlocal reading
            if skipped:
                skipped -= 1
                if not skipped:
                    depth -= 1
                    if sink is not None:
                        sink += pieces[skipped_from:]
                        sink = None
                    del pieces[skipped_from:]
                return
            depth -= 1
            if reading:
                reading -= 1
                if not reading:
                    del pieces[reading_from:]
                return
            kind = kind_of(tag)
            if kind >= PRE:
                if pieces:
                    if len(pieces) == 1 and pieces[0].isspace():
                        pieces.clear()
                        linked_from = 0
                    else:
                        flush()
                if element:
                    ends[element] = len(texts)
                    element = parents[element]
                    if kind == PRE:
                        pre -= 1
            elif kind == LINK and link_depth:
                link_depth -= 1
                if not link_depth:
                    link_chars += len(" ".join("".join(pieces[linked_from:]).split()))

        def close() -> tuple[Flat, Head]:
            nonlocal head, texts, hrefs, rels, elements, add, pieces, sink
            if skipped:
                if sink is not None:
                    sink += pieces[skipped_from:]
                del pieces[skipped_from:]
            if reading:
                del pieces[reading_from:]
            if pieces:
                flush()
            blocks = ints(counts), ints(linked), ints(links), ints(around)
            result = elements.flat(texts, *blocks, deepest > DEEPEST), head
            # lxml's parser and its target hold each other; the page must not wait for the
            # garbage collector as well.
            del head, texts, hrefs, rels, elements, add, pieces, sink
            return result

        self.start, self.data, self.end, self.close = start, pieces.append, end, close


def walk(root: Any) -> tuple[Flat, Head]:
    """Read a tree that is there already, or one of its elements."""
    reader: Any = Reader()
    start, data, end = reader.start, reader.data, reader.end
    pages = [root] if root.getparent() is not None else [root, *root.itersiblings(etree.Element)]
    for page in pages:
        for event, element in etree.iterwalk(page, events=("start", "end", "comment", "pi")):
            named = isinstance(element.tag, str)  # an entity that was left as it stands is not
            if event == "start":
                if named:
                    start(_local(element.tag), element.attrib)
                    if element.text:
                        data(element.text)
                continue
            if event == "end" and named:
                end(_local(element.tag))
            if element.tail and element is not page:
                data(element.tail)
    found: tuple[Flat, Head] = reader.close()
    return found


def _local(tag: str) -> str:
    """Return a tag without its namespace, which XHTML read as XML has."""
    return tag.rpartition("}")[2] if tag[0] == "{" else tag
