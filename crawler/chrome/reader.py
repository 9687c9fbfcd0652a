"""From a parser's events, or a tree, to blocks: one pass, no tree of our own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from lxml import etree

from .blocks import CHUNK, LIMIT, OTHER, TAG_CODES, Flat, squeeze
from .head import RECORD, Head
from .vocabulary import HIDDEN, ROLE_BITS, TAG_BITS, name_bits

DEEPEST: Final = 2000  # libxml2 drops what lies deeper than 2,048 elements

_SKIPPED, _INLINE, _LINK, _BREAK, _TIME, _BLOCK, _HEAD = range(7)
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

_STYLE_READ: Final = 200
_NAME_READ: Final = 300  # longer class lists are generated; their ends say nothing new


class Reader:
    """A target for lxml's parser: what a page holds, gathered while it is parsed.

    No tree is built, which takes about as long as all the gathering.  `start`, `data` and `end`
    are closures: they run a thousand times a page, and locals are twice as fast as attributes.
    Elements wait in `pending` until there is text in them; a third never have any.
    """

    __slots__ = ("close", "data", "end", "start")

    def __init__(self) -> None:
        flat, head = Flat(), Head()
        blocks, within = flat.blocks, flat.within
        containers, ends = flat.containers, flat.ends
        anchors = head.links
        kind_of, code_of, bits_of = _KINDS.get, TAG_CODES.get, TAG_BITS.get

        pieces: list[str] = []
        pending: list[tuple[str, Mapping[str, str]]] = []
        stack: list[tuple[int, int, int, str]] = []
        link_chars = link_count = link_depth = skipped = pre = 0
        current, code, container = 0, OTHER, 0
        label = ""
        sink: list[str] | None = None

        def enter() -> None:
            nonlocal current, code, container, pre, label
            for tag, attributes in pending:
                stack.append((current, code, container, label))
                code = code_of(tag, OTHER)
                current |= bits_of(tag, 0)
                label = tag
                if attributes:
                    names = attributes.get("class")
                    if names:
                        label = f"{tag} {names}"
                        current |= name_bits(names[:_NAME_READ])
                    if names is None or len(attributes) > 1:
                        current |= _signs(attributes)
                if len(blocks) < LIMIT:
                    containers.append((len(blocks), container, label))
                    container = len(ends)
                    ends.append(0)
                if tag == "pre":
                    pre += 1
            pending.clear()
            if len(stack) > DEEPEST:
                flat.too_deep = True

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
                depth = len(stack)
                blocks.append((text, count, link_chars, link_count, code, current, depth, label))
                within.append(container)
            link_chars = link_count = 0

        def start(tag: str, attributes: Mapping[str, str]) -> None:
            nonlocal link_depth, link_count, skipped, sink
            if skipped:
                skipped += 1
                return
            kind = kind_of(tag, _BLOCK)
            if kind == _BLOCK:
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
            nonlocal current, code, container, pre, label, link_depth, skipped, sink
            if skipped:
                skipped -= 1
                if not skipped:
                    sink = None
                return
            kind = kind_of(tag, _BLOCK)
            if kind == _BLOCK:
                if pieces:
                    flush()
                if pending:
                    pending.pop()
                    return
                if not stack:
                    return
                inner = container
                current, code, container, label = stack.pop()
                if tag == "pre":
                    pre -= 1
                if inner == container:
                    return
                count = len(blocks)
                held = count - containers[inner][0]
                if held > 1 or inner < len(ends) - 1:
                    ends[inner] = count if count < LIMIT else LIMIT
                else:  # not worth a container, and the last one
                    if held:
                        within[-1] = container
                    containers.pop()
                    ends.pop()
            elif kind == _LINK and link_depth:
                link_depth -= 1

        def close() -> tuple[Flat, Head]:
            nonlocal flat, head, blocks, within, containers, ends, anchors, pending, sink
            if pieces:
                flush()
            last = min(len(blocks), LIMIT)
            ends[:] = [stop or last for stop in ends]
            ends[0] = last
            result = flat, head
            # lxml's parser and its target hold each other; the page must not wait for the
            # garbage collector as well.
            del flat, head, blocks, within, containers, ends, anchors, pending, sink
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


def _signs(attributes: Mapping[str, str]) -> int:
    """Return what an element says of its text besides its class: id, role, hiding."""
    bits = 0
    for key, value in attributes.items():
        if key == "id":
            bits |= name_bits(value[:_NAME_READ])
        elif key == "role":
            bits |= ROLE_BITS.get(value, 0)
        elif key == "hidden" or (key == "aria-hidden" and value == "true"):
            bits |= HIDDEN
        elif key == "style":
            compact = value[:_STYLE_READ].replace(" ", "").lower()
            if "display:none" in compact or "visibility:hidden" in compact:
                bits |= HIDDEN
    return bits
