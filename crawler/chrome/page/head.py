"""Metadata and links of a page, as written there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

_NAME_READ: Final = 300  # characters
_WORDS_READ: Final = 1000  # characters of a list that should have a few; millions would fill memory
_COLON: Final = re.compile(r" ?: ?")
_LONGEST_DATE: Final = 100
_LINKS: Final = {"area": "href", "frame": "src"}  # what leads on, beside `a`, by which attribute
# As the HTML standard has it ("shared declarative refresh steps"): "0; url=/b", "0;/b", "0, '/b'".
_REFRESH: Final = re.compile(
    r"""\s*[\d.]+(?:\s*[;,]\s*|\s+)(?:url\s*=\s*)?+(?:"([^"]*)|'([^']*)|(.*))""", re.I | re.S
)
_NOTED: Final = ("canonical", "next", "prev", "alternate")
RECORD: Final = "\x1e"  # stands before each JSON-LD script, as RFC 7464 has it

# Names of meta tags that say when a page was published, the surest first.
DATES: Final = (
    "article:published_time", "datepublished", "dc.date.issued", "dcterms.issued", "dc.date",
    "dcterms.date", "dcterms.created",
)  # fmt: skip
# Of no vocabulary: what several systems call it, and some call so when it was changed or fetched.
OTHER_DATES: Final = (
    "citation_publication_date", "citation_date", "parsely-pub-date", "og:article:published_time",
    "published_time", "publish_date", "publishdate", "pub_date", "pubdate", "date",
)  # fmt: skip
_ALL_DATES: Final = frozenset({*DATES, "time", *OTHER_DATES})


@dataclass(slots=True)
class Head:
    """Metadata and links collected by the reader, for the functions of :mod:`.document`."""

    titles: list[str] = field(default_factory=list)
    # Of each link. As tuples they would be most of what Python's garbage collector looks at.
    hrefs: list[str] = field(default_factory=list)
    rels: list[str | None] = field(default_factory=list)
    base: str | None = None
    canonical: str | None = None
    metas: list[tuple[str, str]] = field(default_factory=list)  # name, content
    titled: bool = False
    data: list[str] = field(default_factory=list)  # JSON-LD, RECORD before each script
    dates: dict[str, str] = field(default_factory=dict)  # name in _ALL_DATES → first value

    def add_links(self, other: Head) -> None:
        """Add those links of another page that lead elsewhere."""
        met = set(self.hrefs)
        for href, rel in zip(other.hrefs, other.rels, strict=True):
            if href not in met:
                self.hrefs.append(href)
                self.rels.append(rel)

    def add(self, tag: str, attributes: Mapping[str, str]) -> list[str] | None:
        """Note an element; return where its text goes."""
        if tag == "meta":
            if content := attributes.get("content"):
                if attributes.get("http-equiv", "")[:_NAME_READ].strip().lower() == "refresh":
                    self._add_link(refresh_target(content), None)
                for key in ("property", "itemprop", "name"):
                    if name := attributes.get(key, "")[:_NAME_READ].strip().lower():
                        self._date(name, content)
                        if key == "name":
                            self.metas.append((name, content))
        elif tag == "link":
            words = split_words(attributes.get("rel", ""))
            if self.canonical is None and "canonical" in words:
                self.canonical = attributes.get("href", "").strip() or None
            if _is_page(words, attributes):
                self._add_link(attributes.get("href"), None)
        elif tag == "base":
            if self.base is None and "href" in attributes:
                self.base = attributes["href"].strip()
        elif tag in _LINKS:
            self._add_link(attributes.get(_LINKS[tag]), attributes.get("rel"))
        elif not self.titled:
            self.titled = True
            return self.titles
        return None

    def add_drawn(self, attributes: Mapping[str, str]) -> None:
        """Note a link in a drawing, which may have its URL in an attribute of XML."""
        href = attributes.get("href") or attributes.get("xlink:href")
        self._add_link(href, attributes.get("rel"))

    def _add_link(self, href: str | None, rel: str | None) -> None:
        if href is not None:
            self.hrefs.append(href)
            self.rels.append(rel)

    def time(self, attributes: Mapping[str, str]) -> None:
        """Note a time element if it has the date of publication."""
        if "pubdate" in attributes or "datepublished" in split_words(
            attributes.get("itemprop", "")
        ):
            self._date("time", attributes.get("datetime", ""))

    def _date(self, name: str, value: str) -> None:
        if name in _ALL_DATES and value and len(value) <= _LONGEST_DATE:
            self.dates.setdefault(name, value.strip())


def refresh_target(content: str) -> str:
    """Return the URL to which a page leads by its refresh; empty if it only reloads itself.

    >>> refresh_target("5; URL='/b'"), refresh_target("0;/b"), refresh_target("60; url=")
    ('/b', '/b', '')
    """
    found = _REFRESH.match(content)
    return (found[1] or found[2] or found[3] or "").strip() if found else ""


def is_noted(rel: str | None) -> bool:
    """Whether the head may take note of an element `link`; of most it does not."""
    return rel is not None and any(word in rel.lower() for word in _NOTED)


def _is_page(words: list[str], attributes: Mapping[str, str]) -> bool:
    """Whether an element `link` leads to another page: the next, the one before, a translation.

    >>> _is_page(["next"], {}), _is_page(["alternate"], {"type": "application/rss+xml"})
    (True, False)
    """
    is_near = "next" in words or "prev" in words
    return is_near or ("alternate" in words and "hreflang" in attributes)


def is_data(kind: str | None) -> bool:
    """Whether a script of that type is JSON-LD.

    >>> is_data("application/LD+JSON; charset=utf-8"), is_data("module"), is_data(None)
    (True, False, False)
    """
    return kind is not None and kind[:_NAME_READ].strip().lower().startswith("application/ld+json")


def split_words(value: str) -> list[str]:
    """Return the words of an attribute, in lower case.

    >>> split_words("NoFollow ugc")
    ['nofollow', 'ugc']
    """
    return value[:_WORDS_READ].lower().split()


def directives(value: str) -> list[str]:
    """Return the directives of a robots tag or header, each value with the name before it.

    >>> directives("NoIndex, max-image-preview: none")
    ['noindex', 'max-image-preview:none']
    """
    # Of a run of blanks only one is left: from each, all behind it would be looked through.
    spaced = " ".join(value[:_WORDS_READ].split())
    return split_words(_COLON.sub(":", spaced).replace(",", " "))
