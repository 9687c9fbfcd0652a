"""The URLs of a site that a crawl has found, requested or fetched, and their contents."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import xxhash

from .parts import PREFIX, UrlParts

_MOST_URLS: Final = 10_000  # remembered of a site; beyond them less is spared
_COPIES: Final = 3  # URLs with the same content that a new one is compared with
_NEIGHBOURS: Final = 8  # latest URLs of any content that it is compared with
_SHELVES: Final = 256  # groups of URLs; a group is sorted anew as a whole

Key = tuple[Any, ...]
KeyFunction = Callable[[UrlParts], Key]


def hash_key(key: Key) -> int:
    """A number for a key, the same in all processes."""
    return xxhash.xxh3_64_intdigest(repr(key).encode("utf-8", "replace"))


class Firsts(NamedTuple):
    """Whether a URL that was found is the first of its name, of its page, and at all.

    Names that differ from the first digit on are one: a series without end has new ones. It is the
    first of its page if no earlier URL may have its content.
    """

    of_name: bool
    of_page: bool
    of_url: bool


class KnownUrls:
    """Finds URLs that may have the same content, and URLs that have it according to the rules.

    The former share a `loose_key` and have the same stem, the latter share a `strict_key`.
    """

    def __init__(self, loose_key: KeyFunction, strict_key: KeyFunction) -> None:
        self._loose_key = loose_key
        self._strict_key = strict_key
        self.size = 0  # how many URLs are remembered
        self._pages: deque[tuple[UrlParts, int]] = deque()
        self._shelves: dict[int, _Shelf] = {}
        # A page of each loose key, from before all were forgotten.
        self._former: dict[Key, UrlParts] = {}
        self._names: set[str] = set()  # last segments of pages that came

    def sort_anew(self, stem: str | None = None) -> None:
        """Sort the URLs with this stem again, or all, as their keys have changed."""
        for shelf in self._shelves.values() if stem is None else (self._shelf_of(stem),):
            shelf.sort(self._loose_key, self._strict_key)

    def _shelf_of(self, stem: str) -> _Shelf:
        number = xxhash.xxh32_intdigest(stem.encode("utf-8", "replace")) % _SHELVES
        shelf = self._shelves.get(number)
        if shelf is None:
            shelf = self._shelves[number] = _Shelf()
        return shelf

    def note_found(self, parts: UrlParts) -> Firsts:
        """Note a URL that was found; returns in what it is the first."""
        shelf, key = self._shelf_of(parts.kind.stem), self._loose_key(parts)
        first = Firsts(
            of_name=parts.kind.stem not in shelf.names,
            of_page=key not in shelf.found,
            of_url=parts not in shelf.urls,
        )
        if first.of_url and self.size < _MOST_URLS:
            self.size += 1
            shelf.urls[parts] = False
            shelf.found.add(key)
            shelf.names.add(parts.kind.stem)
        return first

    def note_request(self, parts: UrlParts) -> None:
        """Note that a URL is requested."""
        self.note_found(parts)
        shelf = self._shelf_of(parts.kind.stem)
        if parts in shelf.urls:
            shelf.urls[parts] = True
            shelf.requested.add(self._loose_key(parts))

    def note_page(self, parts: UrlParts, content: int) -> None:
        """Note the content of a fetched page."""
        if len(self._names) < _MOST_URLS:
            self._names.add(parts.skeleton)
        if len(self._pages) >= _MOST_URLS:
            oldest, _ = self._pages.popleft()
            self._shelf_of(oldest.kind.stem).drop_oldest()
        self._pages.append((parts, content))
        shelf = self._shelf_of(parts.kind.stem)
        shelf.pages.append((parts, content))
        shelf.sort_in(parts, content, self._loose_key(parts), self._strict_key(parts))

    def list_pages(self) -> list[UrlParts]:
        """The URLs of the latest pages."""
        return [parts for parts, _ in self._pages]

    def forget_pages(self) -> None:
        """Forget the contents of URLs."""
        self._former = {self._loose_key(parts): parts for parts, _ in self._pages}
        self._pages.clear()
        for shelf in self._shelves.values():
            shelf.pages.clear()
        self.sort_anew()

    def is_suspect(self, parts: UrlParts) -> bool:
        """Whether another URL that may have the same content was requested."""
        shelf = self._shelf_of(parts.kind.stem)
        if self._loose_key(parts) not in shelf.requested:
            return False
        return not shelf.urls.get(parts)

    def is_requested(self, parts: UrlParts) -> bool:
        """Whether a URL was requested."""
        return self._shelf_of(parts.kind.stem).urls.get(parts, False)

    def list_fetched(self, parts: UrlParts) -> list[UrlParts]:
        """Fetched URLs that have the same content if the rules cover their values."""
        return self._shelf_of(parts.kind.stem).fetched.get(self._strict_key(parts), [])

    def count_compared(self) -> int:
        """How many URLs were fetched that shared their strict key with one fetched before."""
        return sum(shelf.fetches.total() - len(shelf.fetches) for shelf in self._shelves.values())

    def list_copies(self, parts: UrlParts, content: int) -> list[UrlParts]:
        """Fetched URLs with the same loose key that had this content."""
        return self._shelf_of(parts.kind.stem).copies.get((self._loose_key(parts), content), [])

    def list_neighbours(self, parts: UrlParts) -> list[UrlParts]:
        """The latest fetched URLs with the same loose key."""
        return list(self._shelf_of(parts.kind.stem).neighbours.get(self._loose_key(parts), ()))

    def find_former(self, parts: UrlParts) -> UrlParts | None:
        """A URL with the same loose key that was fetched before pages were last forgotten."""
        return self._former.get(self._loose_key(parts)) if self._former else None

    def is_page(self, name: str) -> bool:
        """Whether a page came whose URL ends with this name."""
        return name in self._names

    def is_nested(self, folders: str) -> bool:
        """Whether all folders are names of pages, as those that nested relative links add."""
        return all(folder in self._names for folder in folders.split("/")[1:])


class _Shelf:
    """The URLs of some stems: most stems have a single URL."""

    def __init__(self) -> None:
        self.urls: dict[UrlParts, bool] = {}  # that were found; True if requested
        self.pages: deque[tuple[UrlParts, int]] = deque()
        self.found: set[Key] = set()
        self.names: set[str] = set()
        self.requested: set[Key] = set()
        self.copies: dict[Key, list[UrlParts]] = {}
        self.neighbours: dict[Key, list[UrlParts]] = {}
        self.fetched: dict[Key, list[UrlParts]] = {}
        self.fetches: Counter[Key] = Counter()

    def sort(self, loose_key: KeyFunction, strict_key: KeyFunction) -> None:
        self.found = {loose_key(parts) for parts in self.urls}
        self.requested = {
            loose_key(parts) for parts, is_requested in self.urls.items() if is_requested
        }
        for urls in self.copies, self.neighbours, self.fetched, self.fetches:
            urls.clear()
        for parts, content in self.pages:
            self.sort_in(parts, content, loose_key(parts), strict_key(parts))

    def sort_in(self, parts: UrlParts, content: int, loose: Key, strict: Key) -> None:
        _add_copy(self.copies.setdefault((loose, content), []), parts)
        neighbours = self.neighbours.setdefault(loose, [])
        neighbours.append(parts)
        del neighbours[:-_NEIGHBOURS]
        _add_copy(self.fetched.setdefault(strict, []), parts)
        self.fetches[strict] += 1

    def drop_oldest(self) -> None:
        self.pages.popleft()
        for urls in self.copies, self.neighbours, self.fetched, self.fetches:
            while len(urls) > len(self.pages):
                del urls[next(iter(urls))]


def _add_copy(copies: list[UrlParts], parts: UrlParts) -> None:
    """Add a URL to a few; those with the shortest folders stay, for others nest in them."""
    copies.append(parts)
    copies.sort(key=lambda one: len(dict(one.features).get(PREFIX, "")))
    del copies[_COPIES:]
