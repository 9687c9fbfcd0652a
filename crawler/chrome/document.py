"""One parse per page: its blocks, and what a crawler asks of it besides the main text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from typing import Any, NamedTuple

from lxml import etree

from .blocks import Flat, Head, read, squeeze
from .encoding import decode
from .markup import attributes


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """A page that has been read: its blocks, its links, what it says of itself."""

    flat: Flat
    head: Head
    encoding: str
    url: str | None = None


class Link(NamedTuple):
    """A link as it stands in the page: not joined with the base, not cleaned."""

    href: str
    nofollow: bool


class Robots(NamedTuple):
    """What the page's own meta tags forbid."""

    noindex: bool
    nofollow: bool


def parse(
    html: str | bytes, *, url: str | None = None, content_type: str | None = None
) -> Document:
    """Parse a page once, for links, robots, title and main text alike.

    `content_type` is the value of the HTTP header; it counts for bytes only.  Anything parses:
    an empty or broken page gives an empty document.

    >>> title(parse("<title>Tea &amp; cake</title>"))
    'Tea & cake'
    """
    if isinstance(html, str):
        encoding, text = "utf-8", html
        if not text.isascii():
            text = text.encode("utf-8", "replace").decode()  # lone surrogates
    else:
        encoding, text = decode(html, content_type)
        text = text.removeprefix("\ufeff")
    if "\0" in text:
        text = text.replace("\0", " ")
    flat, head = read(text)
    return Document(flat, head, encoding, url)


def read_tree(root: Any, url: str | None = None) -> Document:
    """Read a page that is an lxml tree already: an element, or a tree of them.

    It is written out and read as any page, which takes less time than a walk over its elements.
    """
    top = root.getroot() if hasattr(root, "getroot") else root
    html = etree.tostring(top, encoding="unicode", method="html", with_tail=False)
    return parse(html, url=url)


def title(document: Document) -> str:
    """Return the text of the page's title element, which a title in a drawing is not."""
    return squeeze(unescape(document.head.title or ""))


def base(document: Document) -> str | None:
    """Return the href of the base element, against which links are to be joined."""
    for found in _tags(document, "base"):
        if "href" in found:
            return found["href"].strip()
    return None


def links(document: Document) -> Iterator[Link]:
    """Yield the links of the page in its order.

    >>> list(links(parse('<a href="/b" rel="nofollow ugc">b</a>')))
    [Link(href='/b', nofollow=True)]
    """
    for raw in document.head.links:
        found = attributes(raw)
        if href := found.get("href", "").strip():
            yield Link(href, "nofollow" in found.get("rel", "").lower().split())


def robots(document: Document, agent: str = "robots") -> Robots:
    """Return what `<meta name="robots">` (or one that names `agent`) forbids.

    >>> robots(parse('<meta name="robots" content="noindex, follow">'))
    Robots(noindex=True, nofollow=False)
    """
    words: set[str] = set()
    for found in _tags(document, "meta"):
        if found.get("name", "").strip().lower() in ("robots", agent.lower()):
            words.update(found.get("content", "").lower().replace(",", " ").split())
    return Robots(bool(words & {"noindex", "none"}), bool(words & {"nofollow", "none"}))


def canonical(document: Document) -> str | None:
    """Return the address the page names as its own (`rel=canonical`), not joined."""
    for found in _tags(document, "link"):
        if "canonical" in found.get("rel", "").lower().split() and found.get("href", "").strip():
            return found["href"].strip()
    return None


def _tags(document: Document, name: str) -> Iterator[dict[str, str]]:
    """Yield the attributes of the page's tags of one name."""
    return (attributes(raw) for tag, raw in document.head.tags if tag == name)
