"""Takes the main texts of pages in files, and learns the templates of their sites."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ...dedup.identity import host

if TYPE_CHECKING:
    from ...chrome import Document, MainText, SiteTemplates

_FIRST: Final = 16  # texts of a site until which its template may still be learnt better
_MOST_WAITING: Final = 8 << 20  # characters of such pages, which are held as parsed

Again = Callable[[], "MainText"]
"""Takes the main text of a page again, by the template of its site as known then."""


class SiteTexts:
    """Takes the main texts of pages in the order of a file, as a crawl does."""

    def __init__(self) -> None:
        self._templates: SiteTemplates | None = None
        self._waiting = 0

    def begin(self) -> None:
        """Forget all templates, so that only pages from here on are learnt from."""
        from ...chrome import SiteTemplates

        self._templates = SiteTemplates()
        self._waiting = 0

    def settle(self) -> None:
        """Note that all waiting pages have been read again."""
        self._waiting = 0

    def read_text(self, url: str, document: Document) -> tuple[MainText, Again | None]:
        """The main text of a page; for the first pages of a site, also a way to take it again."""
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
