"""One parse for each page: its blocks, and what a crawler needs besides the main text."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from lxml import etree

from . import unparsed
from .blocks import Flat, flat_lines, squeeze_spaces
from .encoding import as_builtin, decode_body
from .head import Head, directives, split_words
from .limits import bound_page
from .mojibake import mend_mojibake
from .reader import COMPILED, Reader, walk_tree

TREES: Final = (etree._Element, etree._ElementTree)
"""Types of pages that somebody else has parsed, for `read_tree` and `strip_chrome`."""
MOST_LINKS: Final = 25_000  # in the part that is not parsed, anchors without a URL included
_STEP: Final = 65_536  # bytes, for a page in steps: about two milliseconds


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """A parsed page: its blocks, links and metadata.

    Attributes
    ----------
    flat, head
        Its blocks and its metadata, for the functions of this package.
    encoding
        The encoding that it was decoded from.
    url
        Its URL, if known.
    is_binary
        Whether it is not a page but a file, such as a PDF or an image.
    """

    flat: Flat
    head: Head
    encoding: str
    url: str | None = None
    is_binary: bool = False


class Link(NamedTuple):
    """A link of the page.

    Attributes
    ----------
    href
        The URL as written in the page, without spaces around it: neither joined with the base
        nor cleaned.
    nofollow
        Whether the link's `rel` says so.
    """

    href: str
    nofollow: bool


class Robots(NamedTuple):
    """What the page's own meta tags forbid.

    Attributes
    ----------
    noindex
        Whether the page may not be indexed.
    nofollow
        Whether its links may not be followed.
    """

    noindex: bool
    nofollow: bool


def parse(
    html: str | bytes,
    *,
    url: str | None = None,
    content_type: str | None = None,
    text: str | None = None,
    known: Callable[[str], tuple[Flat, Head] | None] | None = None,
) -> Document:
    """Parse a page once, for links, robots, title and main text alike.

    Anything parses: an empty or broken page gives an empty document.

    Parameters
    ----------
    html
        The page, as text or bytes.
    url
        Its URL, for the document.
    content_type
        The value of the HTTP header ``Content-Type``. It counts for bytes only.
    text
        The decoded text, if *html* is UTF-8 that the caller has decoded.
    known
        Takes the text of a page that :func:`is_harmless`, and returns the result of `walk_tree` if
        it has that already, or None.

    Returns
    -------
    Document
        For :func:`strip_chrome`, :func:`links`, :func:`robots` and the other functions here.

    Examples
    --------
    >>> title(parse("<title>Tea &amp; cake</title>"))
    'Tea & cake'
    """
    html = as_builtin(html)
    encoding, text, whole = _decode_html(html, content_type, text)
    if known is not None and COMPILED and (found := known(text)) is not None:
        return Document(*found, encoding, url)
    data, rest, crowded = bound_page(whole)
    reader, parser = _new_parser(crowded)
    read: Any
    try:
        read = etree.fromstring(data, parser)
    except etree.LxmlError:
        read = None
    except UnicodeDecodeError:
        read = _read_untagged(data)
    return _make_document(read, reader, data, rest, encoding, url)


def parse_in_steps(
    html: str | bytes, *, url: str | None = None, content_type: str | None = None
) -> Generator[None, None, Document]:
    """Parse a page like :func:`parse`, yielding every few milliseconds.

    Parameters
    ----------
    html, url, content_type
        As in :func:`parse`.

    Yields
    ------
    None
        Whenever some 64 KiB are parsed, so that other work can go on meanwhile.

    Returns
    -------
    Document
        The value of the generator: ``document = yield from parse_in_steps(html)``.
    """
    encoding, _, whole = _decode_html(as_builtin(html), content_type)
    data, rest, crowded = bound_page(whole)
    reader, parser = _new_parser(crowded)
    read: Any
    try:
        for start in range(0, len(data), _STEP):
            if start:
                yield
            parser.feed(data[start : start + _STEP])
        read = parser.close()
    except etree.LxmlError:
        read = None
    except UnicodeDecodeError:
        read = _read_untagged(data)
    return _make_document(read, reader, data, rest, encoding, url)


def _make_document(
    read: Any, reader: Any, data: bytes, rest: bytes, encoding: str, url: str | None
) -> Document:
    is_binary = not data and rest != b""  # nothing of a file is parsed
    return Document(*_read_whole(read, reader, data, rest), encoding, url, is_binary)


def _decode_html(
    html: str | bytes, content_type: str | None, known: str | None = None
) -> tuple[str, str, bytes]:
    """Return a page's encoding, its text, and the text in UTF-8; `known` is the text of UTF-8."""
    encoding = "utf-8"
    if isinstance(html, str):
        text, whole = html, html.encode("utf-8", "replace")
    elif known is not None:
        text, whole = known, html
    else:
        encoding, text = decode_body(html, content_type)
        plain = encoding == "utf-8" and html[:3] != b"\xef\xbb\xbf"
        whole = html if plain else text.encode()
    mended = mend_mojibake(whole)
    return encoding, text if mended is whole else mended.decode("utf-8", "replace"), mended


def _new_parser(crowded: bool) -> tuple[Any, etree.HTMLParser]:
    reader: Any = Reader()  # its methods are attributes, which lxml's stubs do not foresee
    # Without a tree, attributes take linear time, since libxml2 2.14.
    target = None if COMPILED and not crowded else reader
    # `huge_tree` lifts the depth limit from 256, after which libxml2 drops the rest of the page.
    return reader, etree.HTMLParser(
        target=target, encoding="utf-8", huge_tree=True, collect_ids=False
    )


def _read_whole(read: Any, reader: Any, data: bytes, rest: bytes) -> tuple[Flat, Head]:
    """Return blocks and metadata of a page: of `data`, which was parsed, and of the `rest`.

    `read` is a tree, the reader's result, or None if the parser has given up.
    """
    flat, head = walk_tree(read) if isinstance(read, etree._Element) else read or reader.close()
    if flat.too_deep:
        flat, beyond = _read_untagged(data)
        head.add_links(beyond)  # without those that have "<" in an attribute
    if rest:
        seen = unparsed.visible_part(rest, data)
        # One block only: hundreds of thousands would cost more than they are worth.
        if text := unparsed.text_in_one_piece(seen):
            flat.append(text)
        if data:  # a file has no links
            _add_links(head, seen)
    return flat, head


def _read_untagged(data: bytes) -> tuple[Flat, Head]:
    """Return lines and links of a page that is too deep, or whose reader lxml has closed already.

    It does so where it cannot decode a piece, in which an older libxml2 has cut a character.
    """
    head, seen = Head(), unparsed.visible_part(data)
    _add_links(head, seen)
    return flat_lines(list(unparsed.split_lines(seen))), head


def _add_links(head: Head, seen: bytes) -> None:
    for href, rel in unparsed.find_links(seen, MOST_LINKS):
        head.hrefs.append(href)
        head.rels.append(rel)


def read_tree(root: Any, url: str | None = None) -> Document:
    """Read a page that is already parsed: an element or tree of lxml or Beautiful Soup.

    Raises :class:`TypeError` for other types.
    """
    if is_soup(root):
        return parse(root.decode(), url=url)
    if not isinstance(root, TREES):
        kind = f"{type(root).__module__}.{type(root).__qualname__}"
        raise TypeError(
            f"a page is a str, bytes, a Document or a tree of lxml or bs4, not a {kind}"
        )
    if isinstance(root, etree._ElementTree):
        root = root.getroot()
    if root is None or not isinstance(root.tag, str):  # an empty tree, or a comment
        return parse("", url=url)
    flat, head = walk_tree(root)
    return Document(flat, head, "utf-8", url)


def is_soup(value: Any) -> bool:
    """Whether a value is a page, or a part of one, parsed by Beautiful Soup."""
    bs4 = sys.modules.get("bs4")  # imported if such objects exist
    return bs4 is not None and isinstance(value, bs4.Tag)


def title(document: Document) -> str:
    """Return the text of the page's title element; titles inside SVG do not count."""
    return squeeze_spaces("".join(document.head.titles))


def base(document: Document) -> str | None:
    """Return the `href` of the base element, to join links with; None if there is none."""
    return document.head.base


def links(document: Document) -> Iterator[Link]:
    """Yield the links of the page in their order.

    Examples
    --------
    >>> list(links(parse('<a href="/b" rel="nofollow ugc">b</a>')))
    [Link(href='/b', nofollow=True)]
    """
    head = document.head
    for href, rel in zip(head.hrefs, head.rels, strict=True):
        if href := href.strip():
            # Search engines take commas between the words, too.
            yield Link(href, rel is not None and "nofollow" in split_words(rel.replace(",", " ")))


def robots(document: Document, agent: str = "robots") -> Robots:
    """Return what the page's `<meta name="robots">` forbids.

    Parameters
    ----------
    document
        The page.
    agent
        The name of a crawler: a tag that names it counts as well.

    Returns
    -------
    Robots
        A header ``X-Robots-Tag`` has no effect here.

    Examples
    --------
    >>> robots(parse('<meta name="robots" content="noindex, follow">'))
    Robots(noindex=True, nofollow=False)
    """
    said: set[str] = set()
    names = "robots", agent.lower()
    for name, content in document.head.metas:
        if name in names:
            said.update(directives(content))
    return Robots(bool(said & {"noindex", "none"}), bool(said & {"nofollow", "none"}))


def canonical(document: Document) -> str | None:
    """Return the URL that the page names as canonical, as written; None if it names none."""
    return document.head.canonical
