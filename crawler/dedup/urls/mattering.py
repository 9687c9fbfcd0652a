"""Which features of a site's URLs make a difference to their texts, by kind of URL."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Final

from .parts import PREFIX, UrlKind

SITE_WIDE: Final = frozenset({PREFIX, "scheme", "www"})
"""Features that do not depend on the kind of page."""
WHOLE_SITE: Final = UrlKind("/", "/")
"""Stands for all kinds of URLs."""

_MOST_NAMES: Final = 256  # that matter to the whole site; then no more are noted
_MOST: Final = 4096  # to some kind of URL, in all; what comes after matters to the whole site


class MatteringFeatures:
    """The features that matter: by them alone URLs with different texts differed."""

    def __init__(self) -> None:
        self._of_kind: dict[UrlKind, set[str]] = {WHOLE_SITE: set()}
        self._sections: set[tuple[str, str]] = set()
        self._number = 0

    @property
    def of_any(self) -> set[str]:
        """Those that matter to any kind of URL."""
        return set().union(*self._of_kind.values())

    def of_kind(self, kind: UrlKind) -> AbstractSet[str]:
        """Those that matter to a kind of URL."""
        whole, own = self._of_kind[WHOLE_SITE], self._of_kind.get(kind)
        return whole | own if own else whole

    def is_of_section(self, name: str, kind: UrlKind) -> bool:
        """Whether a feature matters to named pages in the section of a kind of URL."""
        return (kind.section, name) in self._sections

    def add(self, name: str, kind: UrlKind) -> UrlKind | None:
        """Note that a feature matters to a kind of URL.

        Returns the kind to which it matters by that, which may be the whole site; None if there
        are too many.
        """
        if name in SITE_WIDE or self._number >= _MOST:
            kind = WHOLE_SITE
        if len(self._of_kind[WHOLE_SITE]) >= _MOST_NAMES:
            return None
        self._number += 1
        self._of_kind.setdefault(kind, set()).add(name)
        if not kind.is_numbered:
            self._sections.add((kind.section, name))
        return kind

    def add_to_all(self, name: str) -> None:
        """Note that a feature matters to the whole site, however many there are."""
        self._of_kind[WHOLE_SITE].add(name)

    def discard_from(self, name: str, kind: UrlKind) -> None:
        """Let a feature matter neither to the whole site nor to this kind of URL by itself."""
        for one in WHOLE_SITE, kind:
            self._of_kind.get(one, set()).discard(name)

    def discard(self, name: str) -> None:
        """Let a feature matter to no kind of URL."""
        for names in self._of_kind.values():
            names.discard(name)
