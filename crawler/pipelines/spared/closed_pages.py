"""Pages that robots tags close, `noindex` and `nofollow`, and the URLs that lead to such only."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ...dedup.urls.parts import UrlParts

CLOSED: Final = "dedup_closed"
"""Key in the meta of a request whose page says that neither it nor its links may be used."""

NOINDEX: Final = "noindex"
"""The first word of a reason not to fetch a closed page."""

_ENOUGH: Final = 30  # closed pages, and no other, before the next is not fetched
_MOST: Final = 1 << 14


class ClosedPages:
    """Learns which URLs lead to closed pages.

    A wiki has a form to edit, a history and the like of each page: `?title=tea&action=edit`. So
    URLs of one kind count together that have the same arguments, and one of these with one word for
    a value. Values with digits number articles and their sections, some of which may be open.
    """

    def __init__(self) -> None:
        self.names: set[str] = set()  # of groups that lead to closed pages, as reasons
        self._seen: dict[str, float] = {}  # closed pages; minus infinity after any other

    def note_page(self, parts: UrlParts, *, is_closed: bool) -> bool:
        """Note a page; returns whether URLs that seemed to lead to closed pages do not."""
        known = len(self.names)
        for name in _list_groups(parts):
            if name in self._seen or len(self._seen) < _MOST:
                number = self._seen.get(name, 0) + 1 if is_closed else -math.inf
                self._seen[name] = number
                if number >= _ENOUGH:
                    self.names.add(name)
                elif not is_closed:
                    self.names.discard(name)
        return len(self.names) < known

    def find_name(self, parts: UrlParts) -> str | None:
        """What a URL has in common with closed pages; None if it may lead to others."""
        if not self.names:
            return None
        return next((name for name in _list_groups(parts) if name in self.names), None)


def _list_groups(parts: UrlParts) -> Iterator[str]:
    """The names of a URL's groups: one for each argument with its value."""
    given = [(name, value) for name, value in parts.features if name[:1] == "?"]
    kind, names = "/".join(parts.kind), "".join(name for name, _ in given)
    words = ((name, value) for name, value in given if not any(map(str.isdigit, value)))
    return (f"{NOINDEX} {kind}{names} {name}={value}" for name, value in words)
