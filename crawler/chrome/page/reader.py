"""From a parser's events, or a tree, to blocks: one pass, no tree of our own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from lxml import etree

from .blocks import CHUNK, Flat, ints, squeeze
from .elements import DEEPEST, Elements
from .head import RECORD, Head, is_data
from .hidden import MOST_UNSEEN, NUMBER, instead, is_gutter, is_number

# All others are blocks.
SKIPPED, INLINE, READING, LINK, BREAK, TIME, HEAD, PRE, BLOCK, CUSTOM = range(10)
# Annotations say a formula again, in TeX or another markup.
_SKIPPED_TAGS: Final = """
    script style template svg iframe object canvas audio video select datalist textarea input
    param applet frame frameset noframes noembed progress meter rp annotation annotation-xml
"""
# Behind `embed`, `source` and `track`, which nobody closes, libxml2 lets their parent's text follow
# inside of them.
_INLINE_TAGS: Final = """
    abbr acronym b bdi bdo big cite code data del dfn em embed font i img ins kbd label map mark
    nobr q ruby rb s samp small source span strike strong sub sup track tt u var wbr

    math maction menclose merror mfenced mfrac mi mmultiscripts mn mo mover mpadded mphantom
    mprescripts mroot mrow ms mspace msqrt mstyle msub msubsup msup mtable mtext mtr munder
    munderover none semantics
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
    "mtd": BREAK,
    "time": TIME,
    **dict.fromkeys(("pre", "xmp", "listing", "plaintext"), PRE),
    **dict.fromkeys(("output", "picture", "slot"), CUSTOM),
}


def kind_of(tag: str) -> int:
    """Return what is done at a tag; Word's `st1:place` and its like part no more than `span` does.

    Nor do tags of a site's own and pictures in paragraphs and headings; elsewhere they hold whole
    parts.

    >>> kind_of("p") == BLOCK, kind_of("st1:place") == INLINE, kind_of("user-mention") == CUSTOM
    (True, True, True)
    """
    return TAGS.get(tag, INLINE if ":" in tag else CUSTOM if "-" in tag else BLOCK)


def is_word(char: str) -> bool:
    """Whether a character is a letter or digit of ASCII: none is, if it is empty."""
    return char.isascii() and char.isalnum()


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
        dated = 0  # where a date has ended that a word may follow
        link_end = 0  # where a link has ended that another may follow
        unseen = unseen_from = unseen_chars = unseen_count = 0
        place = ""  # what is read for the element that is not seen
        spare: list[str] = []  # what was left out, if nothing else is there
        spare_chars = spare_count = 0
        sink: list[str] | None = None

        def part_date() -> None:
            nonlocal dated
            if len(pieces) > dated:
                if is_word(pieces[dated][:1]):
                    pieces.insert(dated, " ")
                dated = 0

        def flush() -> None:
            nonlocal link_chars, link_count, linked_from, spare_chars, spare_count, dated
            nonlocal link_end
            dated = link_end = 0
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
            if spare:
                if not text:
                    text = squeeze("".join(spare))
                    count = text.count(" ") + 1
                    link_chars += spare_chars
                    link_count += spare_count
                spare.clear()
                spare_chars = spare_count = 0
            if text:
                if not is_gutter(text, elements.signs[element], pre > 0):
                    texts.append(text)
                    counts.append(count)
                    linked.append(link_chars)
                    links.append(link_count)
                    around.append(element)
                link_chars = link_count = 0

        def end_unseen() -> None:
            nonlocal unseen, link_chars, link_count, linked_from, spare_chars, spare_count, dated
            nonlocal link_end
            unseen = 0
            text = "".join(pieces[unseen_from:])
            if (
                is_number(text)
                if place == NUMBER
                else place or len(" ".join(text.split())) <= MOST_UNSEEN
            ):
                if place != NUMBER and text:
                    spare.append(f"{text} ")
                    spare_count += link_count - unseen_count
                    chars = len(" ".join(text.split()))
                    spare_chars += chars if link_depth else link_chars - unseen_chars
                pieces[unseen_from:] = [" "] if place == " " else []
                linked_from = min(linked_from, unseen_from)
                link_chars, link_count = unseen_chars, unseen_count
                if dated > unseen_from:
                    dated = 0
                if link_end > unseen_from:
                    link_end = 0

        def start(tag: str, attributes: Mapping[str, str]) -> None:
            nonlocal element, link_depth, link_count, linked_from, skipped, skipped_from, pre, sink
            nonlocal depth, deepest, reading, reading_from, link_end
            nonlocal unseen, unseen_from, unseen_chars, unseen_count, place
            if skipped:
                skipped += 1
                return
            if dated:
                part_date()
            depth += 1
            if depth > deepest:
                deepest = depth
            kind = kind_of(tag)
            if kind == CUSTOM:
                kind = INLINE if elements.is_phrase(element) else BLOCK
            if reading:
                if kind == INLINE and tag != BASE:
                    reading += 1
                    return
                reading = 0
                del pieces[reading_from:]
            if kind >= PRE:
                if unseen:
                    end_unseen()
                if pieces:
                    if len(pieces) == 1 and not spare and pieces[0].isspace():
                        pieces.clear()
                        linked_from = link_end = 0
                    else:
                        flush()
                element = add(element, tag, attributes, len(texts))
                if kind == PRE:
                    pre += 1
            elif kind == INLINE:
                if attributes and not unseen and (read := instead(attributes, pre > 0)) is not None:
                    unseen, unseen_from, place = depth, len(pieces), read
                    unseen_chars, unseen_count = link_chars, link_count
            elif kind == READING:
                reading, reading_from = 1, len(pieces)
            elif kind == LINK:
                if pre and not unseen and instead(attributes, code=True) == NUMBER:
                    unseen, unseen_from, place = depth, len(pieces), NUMBER
                    unseen_chars, unseen_count = link_chars, link_count
                if not link_depth:
                    # So do lists of links with the space between these.
                    if link_end and link_end == len(pieces) and not pre:
                        pieces.append(" ")
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
                # Bylines leave it to style sheets to part a date from the name before it.
                if pieces and is_word(pieces[-1][-1:]):
                    pieces.append(" ")
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
            nonlocal reading, dated, link_end
            if skipped:
                skipped -= 1
                if not skipped:
                    depth -= 1
                    if sink is not None:
                        sink += pieces[skipped_from:]
                        sink = None
                    del pieces[skipped_from:]
                return
            if dated:
                part_date()
            depth -= 1
            if reading:
                reading -= 1
                if not reading:
                    del pieces[reading_from:]
                return
            kind = kind_of(tag)
            if kind == CUSTOM:
                kind = INLINE if elements.is_phrase(element) else BLOCK
            if kind >= PRE:
                if pieces:
                    if len(pieces) == 1 and not spare and pieces[0].isspace():
                        pieces.clear()
                        linked_from = link_end = 0
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
                    link_end = len(pieces) if len(pieces) > linked_from else 0
            elif kind == TIME:
                dated = len(pieces) if pieces and is_word(pieces[-1][-1:]) else 0
            if depth < unseen:
                end_unseen()

        def close() -> tuple[Flat, Head]:
            nonlocal head, texts, hrefs, rels, elements, add, pieces, sink
            if skipped:
                if sink is not None:
                    sink += pieces[skipped_from:]
                del pieces[skipped_from:]
            if reading:
                del pieces[reading_from:]
            if dated:
                part_date()
            if unseen:
                end_unseen()
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


try:
    from ._reader import walk  # noqa: F401

    COMPILED: Final = True
except ImportError:  # nothing is compiled here: pages take several times as long
    COMPILED: Final = False  # type: ignore[misc]
