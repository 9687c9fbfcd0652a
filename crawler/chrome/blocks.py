"""One walk over lxml's tree: flat text blocks, and the ranges of blocks that elements span."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from lxml import etree

from .vocabulary import BIT, HIDDEN, ROLE_BITS, TAG_BITS, name_bits

SKIPPED: Final = frozenset(
    "script style template head svg math iframe object embed canvas audio video map select "
    "datalist textarea input param source track area base link meta title applet frame "
    "frameset noframes progress meter rp".split()
)
INLINE: Final = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark nobr q "
    "ruby rb rt s samp small span strike strong sub sup time tt u var wbr".split()
)
# Wrappers whose text is the block itself: the tag the model is told about.
TAGS: Final = (
    "p", "li", "h1", "h2", "h3", "td", "th", "div", "pre", "dt", "dd", "figcaption",
    "section", "body", "other",
)  # fmt: skip
_TAG_CODE: Final = {tag: code for code, tag in enumerate(TAGS)} | {
    "h4": 4, "h5": 4, "h6": 4, "summary": 4, "article": 12, "main": 12, "caption": 11,
}  # fmt: skip
_OTHER: Final = len(TAGS) - 1


@dataclass(slots=True)
class Flat:
    """The page as parallel lists: blocks in reading order, then the containers around them."""

    texts: list[str] = field(default_factory=list)
    linked: list[int] = field(default_factory=list)  # characters inside links
    links: list[int] = field(default_factory=list)  # number of links
    tags: list[int] = field(default_factory=list)
    signs: list[int] = field(default_factory=list)  # bits of all ancestors
    depth: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)  # containers in document order
    ends: list[int] = field(default_factory=list)
    own: list[int] = field(default_factory=list)  # bits of the container itself


def _signs(tag: str, attributes: dict[str, str]) -> int:
    """Return what an element says about its text: tag, role, class words, hiding."""
    bits = TAG_BITS.get(tag, 0)
    for key, value in attributes:
        if key == "class" or key == "id":
            bits |= name_bits(value)
        elif key == "role":
            bits |= ROLE_BITS.get(value, 0)
        elif key == "hidden" or (key == "aria-hidden" and value == "true"):
            bits |= HIDDEN
        elif key == "style":
            compact = value[:200].replace(" ", "").lower()
            if "display:none" in compact or "visibility:hidden" in compact:
                bits |= HIDDEN
    return bits


def flatten(root: Any) -> Flat:
    """Return the visible text of the tree as flat blocks."""
    flat = Flat()
    texts, linked, links = flat.texts, flat.linked, flat.links
    tags, signs, depths = flat.tags, flat.signs, flat.depth
    starts, ends, owns = flat.starts, flat.ends, flat.own

    pieces: list[str] = []
    add = pieces.append
    link_chars = link_count = link_depth = 0
    pre = 0
    current, tag_code, depth = 0, _OTHER, 0
    stack: list[tuple[int, int, int]] = []

    def flush() -> None:
        nonlocal link_chars, link_count
        joined = "".join(pieces)
        pieces.clear()
        if pre:
            text = joined.strip("\n").rstrip()
        else:
            text = " ".join(joined.split())
        if text and not text.isspace():
            texts.append(text)
            linked.append(min(link_chars, len(text)))
            links.append(link_count)
            tags.append(tag_code)
            signs.append(current)
            depths.append(depth)
        link_chars = link_count = 0

    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        tag = element.tag
        if event == "start":
            if tag.__class__ is not str or tag in SKIPPED:
                walk.skip_subtree()
                continue
            if tag in INLINE:
                if tag == "a":
                    link_depth += 1
                    link_count += 1
            elif tag == "br":
                add("\n")
            else:
                if pieces:
                    flush()
                stack.append((current, tag_code, len(starts)))
                depth += 1
                own = _signs(tag, element.items())
                current |= own
                tag_code = _TAG_CODE.get(tag, _OTHER)
                starts.append(len(texts))
                ends.append(0)
                owns.append(own)
                if tag == "pre":
                    pre += 1
            text = element.text
            if text:
                add(text)
                if link_depth:
                    link_chars += len(text.strip())
            continue
        if tag.__class__ is str and tag not in SKIPPED:
            if tag in INLINE:
                if tag == "a":
                    link_depth -= 1
            elif tag != "br":
                if pieces:
                    flush()
                current, tag_code, container = stack.pop()
                depth -= 1
                ends[container] = len(texts)
                if tag == "pre":
                    pre -= 1
        tail = element.tail
        if tail and element is not root:
            add(tail)
            if link_depth:
                link_chars += len(tail.strip())
    if pieces:
        flush()
    return flat
