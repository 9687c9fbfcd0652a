"""Copies that a crawl has dropped, whose text may turn out to be a note of their site."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from ...dedup.candidates import FEW, FEW_ON_HOST

if TYPE_CHECKING:
    from scrapy import Request

    from ...chrome.main_text import MainText
    from ...chrome.template.pairs import OwnBlocks
    from ..calls import TemplateOf

# From half of that the earlier ones are decided, and more come while the index is asked.
_MOST: Final = 2000  # copies
_MOST_BLOCKS: Final = 400_000  # of all copies together: some 10 MB, at most 50


class Doubtful(NamedTuple):
    """A dropped copy, and the blocks that decided."""

    request: Request
    own: OwnBlocks
    few: int  # with fewer words, they would not have made it a copy


class DoubtfulCopies:
    """Remembers copies that were dropped for text that seemed to be their own.

    A note on some pages of a site, such as a licence, is known once several of them have come. The
    first of them were copies until then, whatever their headings. So may pages be that were left
    with nothing but the note, until it is known that it can be cut.
    """

    def __init__(self) -> None:
        self._copies: dict[str, Doubtful] = {}
        self._blocks = 0

    def __bool__(self) -> bool:
        return bool(self._copies)

    @property
    def are_many(self) -> bool:
        """Whether the earlier ones should be decided, to make room for others."""
        return self._fill(1 / 2)

    def _fill(self, share: float) -> bool:
        return len(self._copies) >= _MOST * share or self._blocks >= _MOST_BLOCKS * share

    def add(self, url: str, request: Request | None, main: MainText, *, one_host: bool) -> None:
        """Remember a dropped copy, of a page of its host or not, if many words decided.

        These are its own, or all of its text if it has few of its own and the other's heading.
        """
        few = 4 * (FEW_ON_HOST if one_host else FEW)
        if request is None or self._fill(1) or url in self._copies:
            return
        blocks = main.own_blocks if main.own_words >= few else main.text_blocks
        if blocks.words.sum() >= few:
            self.put_back({url: Doubtful(request, blocks, few)})

    def put_back(self, copies: Mapping[str, Doubtful]) -> None:
        """Remember copies by URL, such as those of a paused crawl."""
        self._copies.update(copies)
        self._blocks += sum(len(copy.own.words) for copy in copies.values())

    def list_copies(self) -> dict[str, Doubtful]:
        """The copies that are remembered."""
        return dict(self._copies)

    async def take_noted(self, template_of: TemplateOf, *, some: bool) -> dict[str, Request]:
        """Forget all, or the earlier half, and return which of them have few own words by now.

        Returns their requests by URL.
        """
        found = {}
        for url in list(self._copies)[: (len(self._copies) + 1) // 2 if some else None]:
            request, own, few = self._copies.pop(url)
            self._blocks -= len(own.words)
            template = await template_of(url)
            if template is not None and own.count_words(template.known) < few:
                found[url] = request
        return found
