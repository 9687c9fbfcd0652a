"""The URLs of a site that a crawl knows: found, requested, or with the contents they had."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from .parts import UrlParts

_MOST_URLS: Final = 10_000  # of a site that are remembered; beyond them less is spared
_TWINS: Final = 3  # URLs with one content that a new one is compared with
_NEIGHBOURS: Final = 8  # URLs with other contents

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
        self._number = 0  # of URLs found
        self._pages: deque[tuple[UrlParts, int]] = deque()
        self._series: dict[str, _Series] = {}  # by stem
        self._names: set[str] = set()  # last segments of pages that came

    def sort_anew(self, stem: str | None = None) -> None:
        """Sort the URLs with a stem, or all, by keys that are others now."""
        for series in self._series.values() if stem is None else (self._series.get(stem),):
            if series is not None:
                series.sort(self._loose_key, self._strict_key)

    def _series_of(self, parts: UrlParts) -> _Series:
        series = self._series.get(parts.kind.stem)
        if series is None:
            series = self._series[parts.kind.stem] = _Series()
        return series

    def note_found(self, parts: UrlParts, page: int = 0) -> tuple[bool, bool]:
        """Note a URL that was found on a page: whether none before it may have its content, and
        whether it was not found before.
        """
        series, key = self._series_of(parts), self._loose_key(parts)
        is_first = key not in series.found
        known = series.urls.get(parts)
        if known is not None:
            known.recurs |= page not in (known.found_on, 0)
            known.found_on = known.found_on or page
        elif self._number < _MOST_URLS:
            self._number += 1
            series.urls[parts] = _Known(page)
            series.found.add(key)
        return is_first, known is None

    def recurs(self, parts: UrlParts) -> bool:
        """Whether a URL was found on several pages, as far as is remembered."""
        known = self._series_of(parts).urls.get(parts)
        return known is not None and known.recurs

    def note_request(self, parts: UrlParts) -> None:
        """Note that a URL is requested."""
        self.note_found(parts)
        series = self._series_of(parts)
        known = series.urls.get(parts)
        if known is not None:
            known.is_requested = True
            series.requested.add(self._loose_key(parts))

    def note_page(self, parts: UrlParts, content: int) -> None:
        """Note the content of a URL."""
        if len(self._names) < _MOST_URLS:
            self._names.add(parts.skeleton)
        if len(self._pages) >= _MOST_URLS:
            oldest, _ = self._pages.popleft()
            series = self._series_of(oldest)
            series.drop_oldest()
            if not (series.pages or series.urls):
                del self._series[oldest.kind.stem]
        self._pages.append((parts, content))
        series = self._series_of(parts)
        series.pages.append((parts, content))
        series.sort_in(parts, content, self._loose_key(parts), self._strict_key(parts))

    def forget_pages(self) -> None:
        """Forget the contents of URLs."""
        self._pages.clear()
        for series in self._series.values():
            series.pages.clear()
        self.sort_anew()

    def is_suspect(self, parts: UrlParts) -> bool:
        """Whether another URL was requested that may have its content."""
        series = self._series_of(parts)
        if self._loose_key(parts) not in series.requested:
            return False
        known = series.urls.get(parts)
        return known is None or not known.is_requested

    def find_fetched(self, parts: UrlParts) -> UrlParts | None:
        """The URL that has the content of this one, by the rules."""
        return self._series_of(parts).fetched.get(self._strict_key(parts))

    def key_uncompared(self, parts: UrlParts) -> Key | None:
        """What URLs share that have the content of this one by the rules; None if two had it."""
        key = self._strict_key(parts)
        return key if self._series_of(parts).fetches[key] < 2 else None

    def list_twins(self, parts: UrlParts, content: int) -> list[UrlParts]:
        """URLs that may have the content of this one, and had this."""
        return self._series_of(parts).twins.get((self._loose_key(parts), content), [])

    def list_neighbours(self, parts: UrlParts) -> list[UrlParts]:
        """The latest URLs of pages that may have the content of this one."""
        return list(self._series_of(parts).neighbours.get(self._loose_key(parts), ()))

    def is_nested(self, folders: str) -> bool:
        """Whether folders are names of pages, as those are that nested relative links add."""
        return all(folder in self._names for folder in folders.split("/")[1:])


@dataclass(slots=True)
class _Known:
    """A URL that was found: on which page first, whether on others, and whether it is requested."""

    found_on: int
    recurs: bool = False
    is_requested: bool = False


class _Series:
    """URLs with one stem."""

    def __init__(self) -> None:
        self.urls: dict[UrlParts, _Known] = {}
        self.pages: deque[tuple[UrlParts, int]] = deque()
        self.found: set[Key] = set()
        self.requested: set[Key] = set()
        self.twins: dict[Key, list[UrlParts]] = {}
        self.neighbours: dict[Key, deque[UrlParts]] = {}
        self.fetched: dict[Key, UrlParts] = {}
        self.fetches: Counter[Key] = Counter()

    def sort(self, loose_key: KeyFunction, strict_key: KeyFunction) -> None:
        self.found = {loose_key(parts) for parts in self.urls}
        self.requested = {
            loose_key(parts) for parts, known in self.urls.items() if known.is_requested
        }
        for urls in self.twins, self.neighbours, self.fetched, self.fetches:
            urls.clear()
        for parts, content in self.pages:
            self.sort_in(parts, content, loose_key(parts), strict_key(parts))

    def sort_in(self, parts: UrlParts, content: int, loose: Key, strict: Key) -> None:
        twins = self.twins.setdefault((loose, content), [])
        if len(twins) < _TWINS:
            twins.append(parts)
        self.neighbours.setdefault(loose, deque(maxlen=_NEIGHBOURS)).append(parts)
        self.fetched.setdefault(strict, parts)
        self.fetches[strict] += 1

    def drop_oldest(self) -> None:
        self.pages.popleft()
        for urls in self.twins, self.neighbours, self.fetched, self.fetches:
            while len(urls) > len(self.pages):
                del urls[next(iter(urls))]
