"""Shares rules with all crawls, and pages that were seen with the processes of one crawl."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...dedup.errors import DedupError
from ...latest import Latest
from .novelty import Found
from .visits import Visit

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from ...dedup.index import DuplicateIndex

logger = logging.getLogger(__name__)

_RULES_EVERY: Final = 5.0  # seconds between looks at what others have learnt
_PAGES_EVERY: Final = 0.25  # the same for what other processes have seen
_MOST_PAGES: Final = 1000  # in one exchange
_MOST_SITES: Final = 1000  # whose rules are remembered; others are asked for anew

Rules = dict[str, dict[str, Any]]
SiteKey = tuple[str, str]
"""A site and the name of a callback: items of one say nothing about those of another."""


class SeenPage(NamedTuple):
    """A page that a process of this crawl has seen."""

    site: SiteKey
    url: str
    found_on: Found
    visit: Visit

    def to_json(self) -> str:
        """The form in which it is shared."""
        visit = self.visit
        known = visit.cluster, visit.text, visit.outline, visit.has_news, visit.links
        return json.dumps([self.site, self.url, self.found_on, known])

    @classmethod
    def from_json(cls, text: bytes) -> SeenPage:
        """Read a page that another process has shared."""
        site, url, found_on, known = json.loads(text)
        visit = Visit()
        visit.cluster, visit.text, visit.outline, visit.has_news, links = known
        visit.links = list(map(tuple, links))
        return cls(tuple(site), url, Found(*found_on), visit)


class SiteExchange:
    """Shares rules with other crawls and pages with other processes, and asks for theirs."""

    def __init__(self) -> None:
        self.told: Latest[str, Rules] = Latest(_MOST_SITES)  # by site, the rules of the index
        self._index: DuplicateIndex | None = None
        self._rules_next: Latest[str, float] = Latest(_MOST_SITES)
        self._pages_next = 0.0
        self._process = secrets.token_hex(8)
        self._last = b"0"
        self._seen: list[str] = []
        self._tasks: set[asyncio.Future[Any]] = set()

    def open(self, index: DuplicateIndex) -> None:
        """Share what is known through *index*."""
        self._index = index

    async def ask_for_rules(self, site: str) -> Rules | None:
        """The index's rules for a site; None if it is too early to ask, or without an answer."""
        if self._index is None or time.monotonic() < self._rules_next.get(site, 0):
            return None
        self._rules_next[site] = time.monotonic() + _RULES_EVERY
        try:
            self.told[site] = await self._index.url_rules(site)
        except DedupError as error:
            logger.debug("What is known of the URLs of %s could not be read: %s", site, error)
            return None
        return self.told[site]

    def tell_rule(self, site: str, feature: str, rule: dict[str, Any] | None) -> None:
        """Share a rule that was learnt, or None for one that was revoked."""
        if self._index is not None:
            self.start(self._tell_rule(self._index, site, feature, rule))

    async def _tell_rule(
        self, index: DuplicateIndex, site: str, feature: str, rule: dict[str, Any] | None
    ) -> None:
        try:
            await index.note_url_rule(site, feature, rule)
        except DedupError as error:
            logger.debug("A rule of %s could not be shared: %s", site, error)

    def tell_page(self, page: SeenPage) -> None:
        """Share a page in the next exchange."""
        if self._index is not None and self._index.config.crawl:
            self._seen.append(page.to_json())

    async def swap_pages(self, *, at_once: bool = False) -> list[SeenPage]:
        """Share pages, and return those that others have shared, if it is time."""
        index = self._index
        if index is None or not index.config.crawl:
            return []
        if not at_once and time.monotonic() < self._pages_next:
            return []
        self._pages_next = time.monotonic() + _PAGES_EVERY
        told, self._seen = self._seen[:_MOST_PAGES], self._seen[_MOST_PAGES:]
        try:
            self._last, found = await index.share_seen(self._process, self._last, told)
        except DedupError as error:
            logger.debug("Pages could not be shared: %s", error)
            return []
        return [SeenPage.from_json(one) for one in found]

    def start(self, work: Coroutine[Any, Any, Any]) -> None:
        """Do something in the background, but before this is closed."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Wait until everything is shared."""
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self.swap_pages(at_once=True)
