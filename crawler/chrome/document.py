"""One parse per page: the tree, and what a crawler asks of it besides the main text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from lxml import etree

from .encoding import decode

# libxml2 compares every attribute of a tag with all earlier ones: a tag of a million attributes
# takes hours.  Such tags lose their attributes before they are parsed.
_WINDOW: Final = 4096
_LONG_TAG: Final = re.compile(rb"<([a-zA-Z][^\s<>]{0,40})[\s/][^<>]{%d,}>?" % _WINDOW)


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """A parsed page.

    `root` is the `html` element, `encoding` the one its bytes were read with.
    """

    root: Any
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
        encoding, data = "utf-8", html.encode("utf-8", "replace")
    else:
        encoding, text = decode(html, content_type)
        data = html if encoding == "utf-8" and html[:3] != b"\xef\xbb\xbf" else text.encode()
    if b"\0" in data:
        data = data.replace(b"\0", b" ")
    if any(data.find(b">", at, at + _WINDOW) < 0 for at in range(0, len(data) - _WINDOW, _WINDOW)):
        data = _LONG_TAG.sub(rb"<\1>", data)
    # `huge_tree` lifts the depth limit from 256, after which libxml2 drops the rest of the page.
    parser = etree.HTMLParser(
        encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.LxmlError:
        root = None
    return Document(etree.Element("html") if root is None else root, encoding, url)


def title(document: Document) -> str:
    """Return the text of the first title element outside the body's drawings."""
    for element in document.root.iter("title"):
        parent = element.getparent()
        if parent is None or parent.tag != "svg":
            return " ".join("".join(element.itertext()).split())
    return ""


def base(document: Document) -> str | None:
    """Return the href of the base element, against which links are to be joined."""
    for element in document.root.iter("base"):
        href: str | None = element.get("href")
        if href is not None:
            return href.strip()
    return None


def links(document: Document) -> Iterator[Link]:
    """Yield the links of the page in its order.

    >>> list(links(parse('<a href="/b" rel="nofollow ugc">b</a>')))
    [Link(href='/b', nofollow=True)]
    """
    for element in document.root.iter("a", "area"):
        href = element.get("href")
        if href:
            yield Link(href.strip(), "nofollow" in (element.get("rel") or "").lower().split())


def robots(document: Document, agent: str = "robots") -> Robots:
    """Return what `<meta name="robots">` (or the one that names `agent`) forbids.

    >>> robots(parse('<meta name="robots" content="noindex, follow">'))
    Robots(noindex=True, nofollow=False)
    """
    words: set[str] = set()
    for element in document.root.iter("meta"):
        if (element.get("name") or "").strip().lower() in ("robots", agent.lower()):
            words.update((element.get("content") or "").lower().replace(",", " ").split())
    none = "none" in words
    return Robots(none or "noindex" in words, none or "nofollow" in words)


def canonical(document: Document) -> str | None:
    """Return the address the page names as its own (`rel=canonical`), not joined."""
    for element in document.root.iter("link"):
        if "canonical" in (element.get("rel") or "").lower().split():
            href: str | None = element.get("href")
            if href and href.strip():
                return href.strip()
    return None
