"""Copies that a crawl has dropped, whose text may turn out to be a note of their site."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final, NamedTuple

from ...dedup.candidates import FEW_ON_HOST

if TYPE_CHECKING:
    from scrapy import Request

    from ...chrome import SharedTemplate
    from ...chrome.main_text import MainText
    from ...chrome.template.pairs import OwnBlocks

_MOST: Final = 1000  # of some 3 KB each
_FEW: Final = 4 * FEW_ON_HOST  # own words: with fewer, a page's heading tells it from others


class _Doubtful(NamedTuple):
    request: Request
    own: OwnBlocks


class DoubtfulCopies:
    """Remembers the latest copies that were dropped for text that seemed to be their own.

    A note on some pages of a site, such as a licence, is known once several of them have come. The
    first of them were copies until then, whatever their headings.
    """

    def __init__(self) -> None:
        self._copies: dict[str, _Doubtful] = {}

    def __bool__(self) -> bool:
        return bool(self._copies)

    def add(self, url: str, request: Request | None, main: MainText) -> None:
        """Remember a dropped copy of a page of its host, if its own words decided."""
        if request is None or main.own_words < _FEW:
            return
        self._copies[url] = _Doubtful(request, main.own_blocks)
        if len(self._copies) > _MOST:
            del self._copies[next(iter(self._copies))]

    async def take_noted(
        self, template_of: Callable[[str], Awaitable[SharedTemplate | None]]
    ) -> dict[str, Request]:
        """Forget all, and return the requests of those that have few own words by now, by URL."""
        copies, self._copies = self._copies, {}
        found = {}
        for url, (request, own) in copies.items():
            template = await template_of(url)
            if template is not None and own.count_words(template.known) < _FEW:
                found[url] = request
        return found
