"""URL rules on their way from one crawl to another, through the index."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Any, Final

from ...dedup.errors import DedupError

if TYPE_CHECKING:
    from ...dedup.index import DuplicateIndex

logger = logging.getLogger(__name__)

_ASK_EVERY: Final = 5.0  # seconds from one look at what others have learnt to the next

Rules = dict[str, dict[str, Any]]


class RuleExchange:
    """Tells other crawls of rules, and asks for theirs."""

    def __init__(self) -> None:
        self.told: dict[str, Rules] = {}  # by site, what the index knows
        self._index: DuplicateIndex | None = None
        self._next: dict[str, float] = {}
        self._telling: set[asyncio.Future[None]] = set()

    def open(self, index: DuplicateIndex) -> None:
        """Share rules through *index*."""
        self._index = index

    async def ask_now_and_then(self, site: str) -> Rules | None:
        """What the index knows of a site, if it is time to ask and there is an answer."""
        if self._index is None or time.monotonic() < self._next.get(site, 0):
            return None
        self._next[site] = time.monotonic() + _ASK_EVERY
        try:
            self.told[site] = await self._index.url_rules(site)
        except DedupError as error:
            logger.debug("What is known of the URLs of %s could not be read: %s", site, error)
            return None
        return self.told[site]

    def tell(self, site: str, feature: str, rule: dict[str, Any] | None) -> None:
        """Tell of a rule that was learnt, or of one that is none any more."""
        if self._index is None:
            return
        telling = asyncio.ensure_future(self._tell(self._index, site, feature, rule))
        self._telling.add(telling)
        telling.add_done_callback(self._telling.discard)

    async def _tell(
        self, index: DuplicateIndex, site: str, feature: str, rule: dict[str, Any] | None
    ) -> None:
        try:
            await index.note_url_rule(site, feature, rule)
        except DedupError as error:
            logger.debug("A rule of %s could not be shared: %s", site, error)

    async def close(self) -> None:
        """Wait until the index was told of all rules."""
        if self._telling:
            await asyncio.wait(self._telling)
