"""New links of pages: each is resolved once in a crawl, not once on every page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from urllib.parse import quote, urljoin, urlsplit

from ..dedup.identity import LONGEST_URL, resolved, slashed

_MOST_TEXTS = 1 << 19  # remembered links in the form in which pages have them
_MOST_SITES = 4096  # hosts for which the result of `is_here` is remembered
_SCHEMES = ("http://", "https://")
_ABSOLUTE = re.compile("https?://[^/?]{1,1000}")
_BARE = re.compile(r"[a-z]+://[^/?]*(?=\?|\Z)")  # a host without a path
_BEYOND = re.compile(r"[^\x00-\x7f]+")  # ASCII
# Links that mean the same on all pages of a folder. Others, such as queries, blanks or a scheme
# without a host, depend on the page. A link with a tab or a line break, which browsers leave out,
# may be any of these.
_OF_FOLDER = re.compile(r"(?!https?:|//(?:[/?]|$))[\w./%~-][^\t\r\n]*\Z", re.IGNORECASE)
# Paths that only have to be appended to their folder: no segment is empty or begins with a dot.
_SEGMENT = r"[\w%~-][\w.%~-]*+"
_PLAIN = re.compile(rf"/?(?>(?:{_SEGMENT}/)*)(?>(?:{_SEGMENT})?)(?:(?<=.)\?[!-~]+)?\Z")


class NewLinks:
    """Resolves the links of pages, without those that were seen before.

    `is_here` returns whether a URL is on a host that is crawled; others are left out.

    Pages of a site share most of their links. Each URL is remembered by a 64-bit hash, so a million
    take some tens of megabytes. A collision would lose a URL, but is not to be expected below a
    billion URLs. Up to half a million links in the form in which pages have them are remembered,
    too.
    """

    def __init__(self, is_here: Callable[[str], bool]) -> None:
        self._is_here = is_here
        # Most pages have many links to a few other hosts.
        self._is_site_here = lru_cache(_MOST_SITES)(is_here)
        self._texts: set[int] = set()
        self.urls: set[int] = set()  # hashes

    def look_again(self) -> None:
        """Forget which links were left out: more hosts are crawled now."""
        self._texts.clear()
        self._is_site_here.cache_clear()

    def resolve_links(self, hrefs: Iterable[str], base: str) -> Iterator[str]:
        """Yield the new http and https URLs among ``hrefs``, without fragments.

        >>> new = NewLinks(lambda url: url.startswith("http://example.com/"))
        >>> list(new.resolve_links(["b", "/c#top", "http://example.org/"], "http://example.com/a/"))
        ['http://example.com/a/b', 'http://example.com/c']
        >>> list(new.resolve_links(["../c", "/c", "d"], "http://example.com/a/"))
        ['http://example.com/a/d']
        """
        parts = urlsplit(base)
        site = f"{parts.scheme}://{parts.netloc}"
        folder = urljoin(base, ".")
        for href in hrefs:
            text = slashed(href.partition("#")[0])
            if not text:
                continue
            absolute = _ABSOLUTE.match(text)
            if absolute:
                key = hash(text)
            elif _OF_FOLDER.match(text):
                key = hash((site if text[0] == "/" else folder, text))
            else:
                key = hash((base, text))
            if key in self._texts:
                continue
            if len(self._texts) >= _MOST_TEXTS:
                self._texts.clear()  # links that come again are then parsed again
            self._texts.add(key)
            if absolute and not self._is_site_here(f"{absolute[0]}/"):
                continue  # most links to other hosts need no parsing
            url: str | None
            if len(text) <= LONGEST_URL and _PLAIN.match(text):
                url = (site if text[0] == "/" else folder) + text
            else:
                url = resolved(base, text)
            if url is None:
                continue
            if bare := _BARE.match(url):
                url = f"{bare[0]}/{url[bare.end() :]}"
            if not url.startswith(_SCHEMES) or hash(url) in self.urls:
                continue
            if absolute or self._is_here(url):
                self.urls.add(hash(url))
                yield url


def encode_link(href: str, encoding: str) -> str:
    """A link in the encoding of its page: browsers use it for non-ASCII characters of the query.

    >>> encode_link("/чай?q=чай", "cp1251")
    '/чай?q=%F7%E0%E9'
    """
    if href.isascii() or encoding.startswith("utf") or len(href) > LONGEST_URL:
        return href

    def sent_form(found: re.Match[str]) -> str:  # what the encoding lacks, as a character reference
        return quote(found[0].encode(encoding, "xmlcharrefreplace"))

    path, mark, query = href.partition("?")
    return path + mark + _BEYOND.sub(sent_form, query)
