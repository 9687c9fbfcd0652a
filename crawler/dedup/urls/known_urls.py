"""The URLs of a site that a crawl knows: found, requested, or with the contents they had."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from typing import Any, Final

import xxhash

from .parts import UrlParts

_MOST_URLS: Final = 10_000  # of a site that are remembered; beyond them less is spared
_TWINS: Final = 3  # URLs with one content that a new one is compared with
_NEIGHBOURS: Final = 8  # URLs with other contents
_SHELVES: Final = 256  # of URLs that are sorted anew together

Key = tuple[Any, ...]
KeyFunction = Callable[[UrlParts], Key]


class KnownUrls:
    """Finds the URLs that may have the content of another, and those that have it by the rules.

    Parameters
    ----------
    loose_key
        Gives what URLs share that may have one content; they always have one stem.
    strict_key
        Gives what URLs share that have one content by the rules.
    """

    def __init__(self, loose_key: KeyFunction, strict_key: KeyFunction) -> None:
        self._loose_key = loose_key
        self._strict_key = strict_key
        self.size = 0  # how many URLs are remembered
        self._pages: deque[tuple[UrlParts, int]] = deque()
        self._shelves: dict[int, _Shelf] = {}
        self._names: set[str] = set()  # last segments of pages that came

    def sort_anew(self, stem: str | None = None) -> None:
        """Sort the URLs with a stem, or all, by keys that are others now."""
        for shelf in self._shelves.values() if stem is None else (self._shelf_of(stem),):
            shelf.sort(self._loose_key, self._strict_key)

    def _shelf_of(self, stem: str) -> _Shelf:
        number = xxhash.xxh32_intdigest(stem.encode("utf-8", "replace")) % _SHELVES
        shelf = self._shelves.get(number)
        if shelf is None:
            shelf = self._shelves[number] = _Shelf()
        return shelf

    def note_found(self, parts: UrlParts) -> tuple[bool, bool]:
        """Note a URL that was found: whether none before it may have its content, and whether it
        was not found before.
        """
        shelf, key = self._shelf_of(parts.kind.stem), self._loose_key(parts)
        is_first, is_fresh = key not in shelf.found, parts not in shelf.urls
        if is_fresh and self.size < _MOST_URLS:
            self.size += 1
            shelf.urls[parts] = False
            shelf.found.add(key)
        return is_first, is_fresh

    def note_request(self, parts: UrlParts) -> None:
        """Note that a URL is requested."""
        self.note_found(parts)
        shelf = self._shelf_of(parts.kind.stem)
        if parts in shelf.urls:
            shelf.urls[parts] = True
            shelf.requested.add(self._loose_key(parts))

    def note_page(self, parts: UrlParts, content: int) -> None:
        """Note the content of a URL."""
        if len(self._names) < _MOST_URLS:
            self._names.add(parts.skeleton)
        if len(self._pages) >= _MOST_URLS:
            oldest, _ = self._pages.popleft()
            self._shelf_of(oldest.kind.stem).drop_oldest()
        self._pages.append((parts, content))
        shelf = self._shelf_of(parts.kind.stem)
        shelf.pages.append((parts, content))
        shelf.sort_in(parts, content, self._loose_key(parts), self._strict_key(parts))

    def forget_pages(self) -> None:
        """Forget the contents of URLs."""
        self._pages.clear()
        for shelf in self._shelves.values():
            shelf.pages.clear()
        self.sort_anew()

    def is_suspect(self, parts: UrlParts) -> bool:
        """Whether another URL was requested that may have its content."""
        shelf = self._shelf_of(parts.kind.stem)
        if self._loose_key(parts) not in shelf.requested:
            return False
        return not shelf.urls.get(parts)

    def find_fetched(self, parts: UrlParts) -> UrlParts | None:
        """The URL that has the content of this one, by the rules."""
        return self._shelf_of(parts.kind.stem).fetched.get(self._strict_key(parts))

    def key_uncompared(self, parts: UrlParts) -> Key | None:
        """What URLs share that have the content of this one by the rules; None if two had it."""
        key = self._strict_key(parts)
        return key if self._shelf_of(parts.kind.stem).fetches[key] < 2 else None

    def list_twins(self, parts: UrlParts, content: int) -> list[UrlParts]:
        """URLs that may have the content of this one, and had this."""
        return self._shelf_of(parts.kind.stem).twins.get((self._loose_key(parts), content), [])

    def list_neighbours(self, parts: UrlParts) -> list[UrlParts]:
        """The latest URLs of pages that may have the content of this one."""
        return list(self._shelf_of(parts.kind.stem).neighbours.get(self._loose_key(parts), ()))

    def is_nested(self, folders: str) -> bool:
        """Whether folders are names of pages, as those are that nested relative links add."""
        return all(folder in self._names for folder in folders.split("/")[1:])


class _Shelf:
    """URLs with some of the stems: most stems have but one."""

    def __init__(self) -> None:
        self.urls: dict[UrlParts, bool] = {}  # that were found; whether they are requested
        self.pages: deque[tuple[UrlParts, int]] = deque()
        self.found: set[Key] = set()
        self.requested: set[Key] = set()
        self.twins: dict[Key, list[UrlParts]] = {}
        self.neighbours: dict[Key, list[UrlParts]] = {}
        self.fetched: dict[Key, UrlParts] = {}
        self.fetches: Counter[Key] = Counter()

    def sort(self, loose_key: KeyFunction, strict_key: KeyFunction) -> None:
        self.found = {loose_key(parts) for parts in self.urls}
        self.requested = {
            loose_key(parts) for parts, is_requested in self.urls.items() if is_requested
        }
        for urls in self.twins, self.neighbours, self.fetched, self.fetches:
            urls.clear()
        for parts, content in self.pages:
            self.sort_in(parts, content, loose_key(parts), strict_key(parts))

    def sort_in(self, parts: UrlParts, content: int, loose: Key, strict: Key) -> None:
        twins = self.twins.setdefault((loose, content), [])
        if len(twins) < _TWINS:
            twins.append(parts)
        neighbours = self.neighbours.setdefault(loose, [])
        neighbours.append(parts)
        del neighbours[:-_NEIGHBOURS]
        self.fetched.setdefault(strict, parts)
        self.fetches[strict] += 1

    def drop_oldest(self) -> None:
        self.pages.popleft()
        for urls in self.twins, self.neighbours, self.fetched, self.fetches:
            while len(urls) > len(self.pages):
                del urls[next(iter(urls))]
