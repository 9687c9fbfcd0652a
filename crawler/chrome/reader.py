"""From a parser's events, or a tree, to blocks: one pass, no tree of our own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from lxml import etree

from .blocks import CHUNK, LIMIT, Flat, ints, squeeze
from .elements import Elements
from .head import RECORD, Head

DEEPEST: Final = 2000  # libxml2 drops what lies deeper than 2,048 elements

_SKIPPED, _INLINE, _LINK, _BREAK, _TIME, _HEAD = range(6)  # all others make blocks
_SKIPPED_TAGS: Final = """
    script style template svg math iframe object embed canvas audio video map select datalist
    textarea input param source track applet frame frameset noframes progress meter rp
"""
_INLINE_TAGS: Final = """
    abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark nobr q ruby
    rb rt s samp small span strike strong sub sup tt u var wbr
"""
_HEAD_TAGS: Final = "title meta link base area"
_KINDS: Final[dict[str, int]] = {
    **dict.fromkeys(_SKIPPED_TAGS.split(), _SKIPPED),
    **dict.fromkeys(_INLINE_TAGS.split(), _INLINE),
    **dict.fromkeys(_HEAD_TAGS.split(), _HEAD),
    "a": _LINK,
    "br": _BREAK,
    "time": _TIME,
}


class Reader:
    """A target for lxml's parser: what a page holds, gathered while it is parsed.

    No tree is built, which takes about as long as all the gathering.  `start`, `data` and `end`
    are closures: they run a thousand times a page, and locals are twice as fast as attributes.
    Elements wait in `pending` until there is text in them; a third never have any.
    """

    __slots__ = ("close", "data", "end", "start")

    def __init__(self) -> None:
        head = Head()
        texts: list[str] = []
        counts: list[int] = []
        linked: list[int] = []
        links: list[int] = []
        around: list[int] = []
        within: list[int] = []
        firsts, ends, parents, holders = [0], [0], [0], [0]
        anchors = head.links
        elements = Elements()
        add = elements.add
        kind_of = _KINDS.get

        pieces: list[str] = []
        pending: list[tuple[str, Mapping[str, str]]] = []
        stack: list[tuple[int, int]] = []
        link_chars = link_count = link_depth = skipped = pre = 0
        element = container = 0
        too_deep = False
        sink: list[str] | None = None

        def enter() -> None:
            nonlocal element, container, pre, too_deep
            count = len(texts)
            for tag, attributes in pending:
                stack.append((element, container))
                element = add(element, tag, attributes)
                if count < LIMIT:
                    firsts.append(count)
                    parents.append(container)
                    holders.append(element)
                    container = len(ends)
                    ends.append(0)
                if tag == "pre":
                    pre += 1
            pending.clear()
            if len(stack) > DEEPEST:
                too_deep = True

        def flush() -> None:
            nonlocal link_chars, link_count
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
                if pending:
                    enter()
                texts.append(text)
                counts.append(count)
                linked.append(link_chars)
                links.append(link_count)
                around.append(element)
                within.append(container)
            link_chars = link_count = 0

        def start(tag: str, attributes: Mapping[str, str]) -> None:
            nonlocal link_depth, link_count, skipped, sink
            if skipped:
                skipped += 1
                return
            kind = kind_of(tag)
            if kind is None:
                if pieces:
                    flush()
                pending.append((tag, attributes))
                if tag == "pre" or len(pending) > DEEPEST:
                    enter()
            elif kind == _INLINE:
                return
            elif kind == _LINK:
                link_depth += 1
                link_count += 1
                if "href" in attributes:
                    anchors.append((attributes["href"], attributes.get("rel")))
            elif kind == _BREAK:
                pieces.append("\n")
            elif kind == _TIME:
                head.time(attributes)
            else:
                skipped = 1
                if kind == _HEAD:
                    sink = head.add(tag, attributes)
                elif tag == "script" and attributes.get("type") == "application/ld+json":
                    sink = head.data
                    sink.append(RECORD)

        def data(text: str) -> None:
            nonlocal link_chars
            if not skipped:
                if pieces or pre or not text.isspace():  # half the texts part block elements
                    pieces.append(text)
                    if link_depth:
                        link_chars += len(text.strip())
            elif sink is not None:
                sink.append(text)

        def end(tag: str) -> None:
            nonlocal element, container, pre, link_depth, skipped, sink
            if skipped:
                skipped -= 1
                if not skipped:
                    sink = None
                return
            kind = kind_of(tag)
            if kind is None:
                if pieces:
                    flush()
                if pending:
                    pending.pop()
                    return
                if not stack:
                    return
                inner = container
                element, container = stack.pop()
                if tag == "pre":
                    pre -= 1
                if inner == container:
                    return
                count = len(texts)
                held = count - firsts[inner]
                if held > 1 or inner < len(ends) - 1:
                    ends[inner] = count if count < LIMIT else LIMIT
                else:  # not worth a container, and the last one
                    if held:
                        within[-1] = container
                    firsts.pop()
                    ends.pop()
                    parents.pop()
                    holders.pop()
            elif kind == _LINK and link_depth:
                link_depth -= 1

        def close() -> tuple[Flat, Head]:
            nonlocal head, texts, anchors, pending, elements, add, sink
            if pieces:
                flush()
            last = min(len(texts), LIMIT)
            stops = [last, *(stop or last for stop in ends[1:])]
            flat = Flat(
                texts,
                words=ints(counts),
                linked=ints(linked),
                links=ints(links),
                around=ints(around),
                within=ints(within),
                codes=ints(elements.codes),
                signs=ints(elements.signs),
                depths=ints(elements.depths),
                kinds=ints(elements.kinds),
                firsts=ints(firsts),
                ends=ints(stops),
                parents=ints(parents),
                holders=ints(holders),
                too_deep=too_deep,
            )
            result = flat, head
            # lxml's parser and its target hold each other; the page must not wait for the
            # garbage collector as well.
            del head, texts, anchors, pending, elements, add, sink
            return result

        self.start, self.data, self.end, self.close = start, data, end, close

    def walk(self, root: Any) -> tuple[Flat, Head]:
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
        return self.close()


def _local(tag: str) -> str:
    """Return a tag without its namespace, which XHTML read as XML has."""
    return tag.rpartition("}")[2] if tag[0] == "{" else tag
