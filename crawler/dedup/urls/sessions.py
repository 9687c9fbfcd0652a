"""Tells session ids from names that look like them, such as the hash of a revision."""

from __future__ import annotations

from typing import Final

import xxhash

from ...latest import Latest
from .parts import UrlParts, is_session_like

_SEVERAL: Final = 3  # pages with a value that is then a name; a page may link to itself
_MOST: Final = 1 << 12  # values
_NAME: Final = (0,) * _SEVERAL  # in place of a name's pages, which take more memory


class SessionValues:
    """Remembers on which pages values were found that look drawn by a machine.

    A session id is drawn for one visitor or link. What several pages have is a name, whatever it
    looks like: a repository has each file under the hashes of all revisions.
    """

    def __init__(self) -> None:
        self._found_on: Latest[int, tuple[int, ...]] = Latest(_MOST)

    def note_found(self, parts: UrlParts, found_on: int) -> None:
        """Note the values of a URL that was found on a page."""
        for _, value in parts.features:
            if is_session_like(value):
                key = _digest(value)
                pages = self._found_on.get(key, ())
                if len(pages) < _SEVERAL and found_on not in pages:
                    pages += (found_on,)
                self._found_on[key] = pages if len(pages) < _SEVERAL else _NAME

    def forget(self) -> None:
        """Forget values but for names: without these, what is open would become rules."""
        for key in [key for key, pages in self._found_on.items() if pages != _NAME]:
            del self._found_on[key]

    def is_session(self, value: str) -> bool:
        """Whether a value looks like a session id, and is on few pages."""
        return is_session_like(value) and len(self._found_on.get(_digest(value), ())) < _SEVERAL


def _digest(value: str) -> int:
    """A number that is the same in all processes."""
    return xxhash.xxh3_64_intdigest(value.encode("utf-8", "replace"))
