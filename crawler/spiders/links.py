"""Which links of a page are new: each is resolved once in a crawl, not once on every page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from urllib.parse import urljoin, urlsplit

_SCHEMES = ("http://", "https://")


class NewLinks:
    """Turns links as they stand in pages into addresses, leaving out those met before.

    Pages of one site share most of their links. What is remembered of a link is a 64-bit hash, so
    that a crawl of a million links needs some tens of megabytes; two links with one hash, of which
    the second would be missed, are not to be expected below a billion links.
    """

    def __init__(self) -> None:
        self._texts: set[int] = set()
        self._urls: set[int] = set()

    def resolve(self, hrefs: Iterable[str], base: str) -> Iterator[str]:
        """Yield the new http and https addresses among ``hrefs``, without fragments.

        >>> new = NewLinks()
        >>> list(new.resolve(["b", "/c#top", "mailto:x@example.com"], "http://example.com/a/"))
        ['http://example.com/a/b', 'http://example.com/c']
        >>> list(new.resolve(["../c", "/c", "d"], "http://example.com/a/"))
        ['http://example.com/a/d']
        """
        parts = urlsplit(base)
        site = f"{parts.scheme}://{parts.netloc}"
        folder = base.partition("?")[0].rpartition("/")[0]
        for href in hrefs:
            text = href.partition("#")[0]
            if not text:
                continue
            if text.startswith(_SCHEMES):
                key = hash(text)
            elif text[0] == "?":
                key = hash((base, text))
            else:
                key = hash((site if text[0] == "/" else folder, text))
            if key in self._texts:
                continue
            self._texts.add(key)
            try:
                url = urljoin(base, text)
            except ValueError:  # "http://[" and its like
                continue
            if url.count("/") == 2:
                url += "/"  # a bare host
            if url.startswith(_SCHEMES) and hash(url) not in self._urls:
                self._urls.add(hash(url))
                yield url
