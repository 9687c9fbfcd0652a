"""Main texts of pages in files, without the templates of their sites: these are learnt here."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ...dedup.identity import host

if TYPE_CHECKING:
    from ...chrome import Document, MainText, SiteTemplates

_FIRST: Final = 16  # pages of a site, of which the template may be known better later
_MOST_WAITING: Final = 8 << 20  # characters of those, which are held as parsed

Again = Callable[[], "MainText"]
"""Reads a page once more, by what is known of its site's template by then."""


class SiteTexts:
    """Takes main texts of pages that come in the order of a file, as a crawl does of its pages."""

    def __init__(self) -> None:
        self._templates: SiteTemplates | None = None
        self._waiting = 0

    def begin(self) -> None:
        """Know of no site: what is learnt depends on the pages from here on."""
        from ...chrome import SiteTemplates

        self._templates = SiteTemplates()
        self._waiting = 0

    def settle(self) -> None:
        """Note that the pages that were to be read once more have been."""
        self._waiting = 0

    def read_text(self, url: str, document: Document) -> tuple[MainText, Again | None]:
        """The main text of a page; and, of the first pages of a site, a way to read it again."""
        from ...chrome import strip_chrome

        site = host(url)
        if self._templates is None or not site:
            return strip_chrome(document), None
        template = self._templates[site]
        known = template.known
        found = strip_chrome(document, template=known)
        template.observe(found, url)
        if template.learnt >= _FIRST or self._waiting > _MOST_WAITING:
            return found, None
        self._waiting += sum(map(len, document.flat.texts))

        def again() -> MainText:
            if template.known is known:
                return found
            return strip_chrome(document, template=template.known)

        return found, again
