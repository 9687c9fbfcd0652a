"""The sitemaps of a crawl: which of them are read, and the URLs in one.

A sitemap is XML, a feed, or a list of lines (sitemaps.org, "Protocol").
"""

from __future__ import annotations

import logging
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Final

from lxml import etree
from scrapy.utils.gz import gunzip
from scrapy.utils.sitemap import Sitemap
from w3lib.url import safe_url_string

from ..dedup.identity import resolved
from ..wording import counted, shell_word
from .arguments import host_of
from .links import NewLinks
from .robots import first_lines

logger = logging.getLogger(__name__)

USUAL_PATH: Final = "/sitemap.xml"

# Far more than sites have: an index must not name other indexes (sitemaps.org), and a crawl takes
# weeks for so many files and URLs. Endless sitemaps are cut off there.
_MOST_LEVELS: Final = 3  # of indexes in indexes
_MOST_INDEXES: Final = 100
_MOST_FILES: Final = 10_000
_MOST_URLS: Final = 1_000_000

# An ampersand that a sitemap has not escaped: lxml would leave it out, with the name behind it.
_AMPERSAND = re.compile(rb"&(?!#?\w+;)")
# A line of robots.txt that names a sitemap, maybe behind a byte order mark.
_NAMED = re.compile(rb"(?:^(?:\xef\xbb\xbf)?|[\r\n])[ \t]*sitemap[ \t]*:([^\r\n]+)", re.IGNORECASE)
_GZIP: Final = b"\x1f\x8b\x08"
_VERBATIM: Final = (b"<![CDATA[", b"\0")  # sections in which nothing is escaped, and UTF-16
# RSS of all versions, and Atom.
_OF_FEEDS = etree.XPath(
    "//*[local-name() = 'item']/*[local-name() = 'link']/text()"
    " | //*[local-name() = 'entry']"
    "/*[local-name() = 'link' and (not(@rel) or @rel = 'alternate')]/@href"
)


def read_sitemap(body: bytes, most: int = 0) -> tuple[bool, Iterator[str]]:
    r"""Whether a sitemap is an index of other sitemaps, and its URLs.

    Of a sitemap in gzip, at most so many bytes are unpacked; 0 for all. Raises ``ValueError`` or
    lxml's ``XMLSyntaxError`` if it is not a sitemap, and what `gunzip` raises.

    >>> of_sitemaps, urls = read_sitemap(b"https://example.com/a\nhttps://example.com/b\n")
    >>> of_sitemaps, list(urls)
    (False, ['https://example.com/a', 'https://example.com/b'])
    """
    if body.startswith(_GZIP):
        body = gunzip(body, max_size=most)
    text = body.removeprefix(BOM_UTF8).lstrip()
    if text.startswith(b"http"):
        lines = map(str.strip, text.decode("utf-8", "replace").splitlines())
        return False, (line for line in lines if line.startswith("http"))
    if not any(mark in text for mark in _VERBATIM):
        text = _AMPERSAND.sub(b"&amp;", text)
    try:
        sitemap = Sitemap(text)
    except StopIteration:
        raise ValueError("it is empty, or not XML") from None
    if sitemap.type in ("urlset", "sitemapindex"):
        # Translations are often named beside their original only.
        found = (url for entry in sitemap for url in (entry["loc"], *entry.get("alternate", ())))
        return sitemap.type == "sitemapindex", found
    if sitemap.type not in ("rss", "RDF", "feed"):
        raise ValueError(f"it is a document of the type {sitemap.type!r}")
    parser = etree.XMLParser(recover=True, resolve_entities=False, no_network=True)
    linked: Any = _OF_FEEDS(etree.fromstring(text, parser))
    return False, (str(url).strip() for url in linked)


def list_sitemaps(robots: bytes) -> list[str]:
    r"""The sitemaps that a robots.txt names; without any, the usual URL.

    >>> list_sitemaps(b"\xef\xbb\xbfSitemap: /a.xml\rsitemap : /b.xml # all"), list_sitemaps(b"")
    (['/a.xml', '/b.xml'], ['/sitemap.xml'])
    """
    lines = (line.decode("utf-8", "replace") for line in _NAMED.findall(first_lines(robots)))
    return [line.partition(" #")[0].strip() for line in lines] or [USUAL_PATH]


class SitemapLimits:
    """Limits for the sitemaps of a crawl, which may be endless.

    With `max_pages`, no more files than that are read. They do not count as pages, so that five
    pages are five pages.
    """

    def __init__(self, max_pages: int | None = None) -> None:
        self._files = min(max_pages or _MOST_FILES, _MOST_FILES)
        self._of_max_pages = self._files == max_pages
        self._indexes = _MOST_INDEXES
        self._urls = _MOST_URLS
        self._has_told = False

    def new_files(self, urls: Iterable[str]) -> Iterator[str]:
        """Yield the URLs of sitemaps up to the limit."""
        for url in urls:
            if self._files == 0:
                name = "max_pages" if self._of_max_pages else "the limit of a crawl"
                self._tell_limit(f"{url} and all others exceed {name}")
                return
            self._files -= 1
            yield url

    def new_pages(self, urls: Iterable[str]) -> Iterator[str]:
        """Yield the URLs of pages up to the limit."""
        for url in urls:
            if self._urls == 0:
                self._tell_limit(f"they hold more than {_MOST_URLS:,} URLs; {url} is the next")
                return
            self._urls -= 1
            yield url

    def of_index(self, urls: Iterable[str], source: str, level: int) -> list[str]:
        """The URLs in an index that is nested below `level` indexes; none beyond a limit."""
        if level >= _MOST_LEVELS:
            led = counted(level, "index", "indexes")
            self._tell_limit(f"{source} is an index nested below {led}")
            return []
        if self._indexes == 0:
            self._tell_limit(f"{source} is an index, and {_MOST_INDEXES} have been read already")
            return []
        self._indexes -= 1
        return list(islice(urls, self._files + 1))

    def _tell_limit(self, reason: str) -> None:
        if not self._has_told:
            self._has_told = True
            logger.warning("Not all sitemaps are read: %s", reason)


class Sitemaps:
    """Finds the new sitemaps of a crawl, on its hosts and on those of sitemaps that it was given.

    `is_crawled` returns whether a URL is on a host that is crawled.
    """

    def __init__(
        self, given: Iterable[str], limits: SitemapLimits, is_crawled: Callable[[str], bool]
    ) -> None:
        self._limits = limits
        self._is_crawled = is_crawled
        self._hosts = {host_of(url) for url in given}
        self._links = NewLinks(self.are_here)

    def are_here(self, url: str) -> bool:
        """Whether sitemaps are read on the host of a URL."""
        return self._is_crawled(url) or host_of(url) in self._hosts

    def look_again(self) -> None:
        """Forget which sitemaps were left out: more hosts are crawled now."""
        self._links.look_again()

    def take_new(self, urls: list[str], base: str) -> Iterator[str]:
        """Yield the new ones of the sitemaps that a file names; log if some are elsewhere."""
        yield from self._limits.new_files(self._links.resolve_links(urls, base))
        whole = (resolved(base, url) for url in urls)
        others = (safe_url_string(url) for url in whole if url and not self.are_here(url))
        if other := next(filter(None, map(shell_word, others)), None):
            logger.warning(
                "%s names sitemaps on another host; to read those, too: -a sitemap=%s",
                base,
                other,
            )
