"""Dropped pages that a crawl remembers, and the kept pages that it has seen."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING, Final, NamedTuple

from ...dedup.identity import host
from ...latest import Latest

if TYPE_CHECKING:
    from scrapy import Request

_MOST_SEEN: Final = 100_000  # kept pages that a crawl remembers to have seen, some 100 bytes each
_MOST_HOSTS: Final = 10_000  # visited hosts that a crawl remembers


class Dropped(NamedTuple):
    """A dropped page: its request, None without one, its original and its text.

    ``is_early`` means that the template of the original's host was hardly known at that time. With
    ``is_contained``, the original is the page that contains this one.
    """

    request: Request | None
    original: str
    text: int  # its hash
    is_early: bool = False
    is_contained: bool = False


def hash_text(text: str) -> int:
    """A hash of a text that is the same in all processes."""
    return int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest())


class LatestCopies:
    """Remembers the latest dropped copies, whose originals may still change or be replaced.

    A page that replaces the original need not be like all of its copies.
    """

    def __init__(self, most: int) -> None:
        self._copies: Latest[str, Dropped] = Latest(most)

    def add(self, url: str, page: Dropped) -> None:
        """Remember a copy."""
        self._copies[url] = page

    def list_copies(self) -> dict[str, Dropped]:
        """The copies that are remembered, none of which has to be requested as it stands."""
        return {url: page._replace(is_early=False) for url, page in self._copies.items()}

    def take(self, original: str) -> dict[str, Dropped]:
        """Hand over the copies of a page, by URL."""
        found = {url: page for url, page in self._copies.items() if page.original == original}
        for url in found:
            del self._copies[url]
        return found


class DroppedPages:
    """Remembers dropped pages until it is known what has become of their originals.

    When it is full, pages whose originals are on hosts that the crawl has not visited, such as
    those of a mirror, are forgotten first: these originals stand. URLs have the form by which the
    index knows them.

    Parameters
    ----------
    most
        How many pages are remembered at once; 0 for none.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._pages: dict[str, Dropped] = {}
        self._has_elsewhere = True  # there may be pages whose originals are on hosts not visited
        # Pages forgotten for lack of room, by the host of the original, visited or not.
        self._forgotten: Counter[str] = Counter()
        self._hosts: dict[str, None] = {}
        self._seen: Latest[int, None] = Latest(_MOST_SEEN)  # hashes of URLs
        # Hashes of URLs whose responses gave no item → time.
        self._empty: Latest[int, int] = Latest(_MOST_SEEN)

    def __len__(self) -> int:
        return len(self._pages)

    def note_visit(self, url: str) -> tuple[str, ...]:
        """Note that a page with this URL came; return the hosts that were visited."""
        here = host(url)
        if len(self._hosts) < _MOST_HOSTS:
            self._hosts[here] = None
        return (here, *self._hosts)

    @property
    def hosts(self) -> list[str]:
        """The visited hosts."""
        return list(self._hosts)

    def note_hosts(self, hosts: Iterable[str]) -> None:
        """Note hosts that the crawl has visited before a pause."""
        self._hosts.update(dict.fromkeys(hosts))

    def is_visited(self, url: str) -> bool:
        """Whether the crawl has seen a page of the URL's host."""
        return host(url) in self._hosts

    def note_kept(self, url: str) -> None:
        """Note that this process itself has seen a kept page."""
        self._seen[hash(url)] = None

    def has_seen(self, url: str) -> bool:
        """Whether this process itself has seen a kept page, as far as it remembers."""
        return hash(url) in self._seen

    def note_empty(self, url: str) -> None:
        """Note that a response gave no item."""
        self._empty[hash(url)] = int(time.time())

    def find_emptied(self, pages: Iterable[Dropped]) -> dict[str, int]:
        """The originals of `pages` whose responses gave this process no item → the time."""
        originals = {page.original for page in pages if not self.has_seen(page.original)}
        return {url: self._empty[hash(url)] for url in originals if hash(url) in self._empty}

    def add_page(self, url: str, page: Dropped) -> None:
        """Remember a page if there is room for it."""
        has_room = url in self._pages or len(self._pages) < self.most
        is_elsewhere = not self.is_visited(page.original)
        if has_room or (not is_elsewhere and self._make_room()):
            self._pages[url] = page
            self._has_elsewhere |= is_elsewhere
        else:
            self._forgotten[host(page.original)] += 1

    def _make_room(self) -> bool:
        """Forget the pages whose originals are on hosts that were not visited, if there are any."""
        if not self._has_elsewhere:
            return False
        self._has_elsewhere = False
        pages = self._pages
        elsewhere = [url for url in pages if not self.is_visited(pages[url].original)]
        for url in elsewhere:
            self._forgotten[host(pages.pop(url).original)] += 1
        return bool(elsewhere)

    @property
    def forgotten(self) -> int:
        """How many pages of visited hosts were forgotten for lack of room."""
        return sum(count for name, count in self._forgotten.items() if name in self._hosts)

    def discard_page(self, url: str) -> None:
        """Forget a page."""
        self._pages.pop(url, None)

    def put_back(self, pages: Mapping[str, Dropped]) -> None:
        """Remember pages again, except those that have come again."""
        self._pages = {**pages, **self._pages}

    def put_back_some(self, pages: Mapping[str, Dropped]) -> None:
        """Remember pages again like :meth:`put_back`, but fill at most half of the room."""
        some = zip(range(self.most // 2 - len(self._pages)), pages.items(), strict=False)
        self.put_back(dict(page for _, page in some))

    def take_pages(self) -> dict[str, Dropped]:
        """Hand over all pages."""
        pages, self._pages = self._pages, {}
        self._has_elsewhere = True
        return pages

    def list_pages(self) -> dict[str, Dropped]:
        """The pages that are remembered."""
        return dict(self._pages)
