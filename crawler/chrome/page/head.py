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
                for key in ("property", "itemprop", "name"):
                    if name := attributes.get(key, "")[:_NAME_READ].strip().lower():
                        self._date(name, content)
                        if key == "name":
                            self.metas.append((name, content))
        elif tag == "link":
            if self.canonical is None and "canonical" in split_words(attributes.get("rel", "")):
                self.canonical = attributes.get("href", "").strip() or None
        elif tag == "base":
            if self.base is None and "href" in attributes:
                self.base = attributes["href"].strip()
        elif tag in _LINKS:
            if _LINKS[tag] in attributes:
                self.hrefs.append(attributes[_LINKS[tag]])
                self.rels.append(attributes.get("rel"))
        elif not self.titled:
            self.titled = True
            return self.titles
        return None

    def time(self, attributes: Mapping[str, str]) -> None:
        """Note a time element if it has the date of publication."""
        if "pubdate" in attributes or "datepublished" in split_words(
            attributes.get("itemprop", "")
        ):
            self._date("time", attributes.get("datetime", ""))

    def _date(self, name: str, value: str) -> None:
        if name in _ALL_DATES and value and len(value) <= _LONGEST_DATE:
            self.dates.setdefault(name, value.strip())


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
