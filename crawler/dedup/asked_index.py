"""What can be asked about an index."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, Any

from .errors import InputError
from .exchange.requests import record_of
from .exchange.spool import Waiting
from .matches import Match, Matcher
from .open_index import OpenIndex
from .sketches.odd import OddSketch
from .store.audit import Audit, audit_index
from .store.keys import AGAIN
from .store.messages import Original
from .store.random_pages import sample_sketches
from .store.statistics import IndexStats, read_statistics
from .verdict import Record

if TYPE_CHECKING:
    from .inspection.orphans import Orphan


class AskedIndex(OpenIndex):
    """What a :class:`~.index.DuplicateIndex` can be asked. No question changes a verdict."""

    async def show(self, url: str) -> Record | None:
        """What the index knows about a URL; None if it never saw it."""
        known = self.config.identity(url)
        page = await self.store.show(known) if await self._is_there() else None
        return record_of(page, self.config.sketch_bits) if page is not None else None

    async def find(
        self,
        text: str,
        *,
        limit: int | None = 10,
        threshold: float | None = None,
        copies: bool = True,
        url: str = "",
        scope: str | None = None,
    ) -> list[Match]:
        """List the pages that a main text resembles, the most similar first. Changes nothing.

        Parameters
        ----------
        text
            The main text.
        limit
            The maximum number of pages; None: all.
        threshold
            The lowest similarity, ``DEDUP_THRESHOLD`` by default. Below that, the bands find fewer
            pages.
        copies
            Whether copies of kept pages are listed, too. In an index of more than 24,000 pages,
            searching for them takes 20 ms per 1,000 pages.
        url, scope
            The page's URL or scope, which give the scope of the text if ``DEDUP_SCOPE`` is set.
        """
        if threshold is not None and not 0 < threshold <= 1:
            raise InputError(f"expects a threshold above 0, up to 1, not {threshold}")
        if not await self._is_there():
            return []
        page = await self._fingerprinted(text, url=url, scope=scope, least=threshold)
        matcher = Matcher(page, self.config, threshold)
        await matcher.read(self.store, self._exchange.ask, copies=copies)
        return matcher.matches[:limit]

    async def originals(self, urls: Iterable[str]) -> dict[str, Original]:
        """The state of the original of each URL since the crawl began, by URL."""
        known = {url: self.config.identity(url) for url in urls}
        found: dict[str, Original] = {}
        start = self.crawl.start if self.crawl is not None else 0
        asked, size = list(known), self.store.exchange
        for begin in range(0, len(asked), size):
            some = asked[begin : begin + size]
            question = partial(self.store.originals, [known[url] for url in some], start)
            found.update(zip(some, await self._exchange.ask(question), strict=True))
        return found

    async def orphans(self) -> AsyncIterator[Orphan]:
        """Yield pages whose text no kept page has any more. Reads the whole index."""
        from .inspection.orphans import read_orphans

        async with aclosing(read_orphans(self)) as found:
            async for one in found:
                yield one

    async def overrides(self) -> dict[str, str]:
        """The current overrides, by canonical URL."""
        found = await self.store.overrides()
        return {url: override for url, override in found.items() if override != AGAIN}

    async def url_rules(self, site: str) -> dict[str, dict[str, Any]]:
        """The URL rules of a site: which parts of its URLs make no difference."""
        if not await self._is_there():
            return {}
        return await self._exchange.ask(partial(self.store.url_rules, site))

    def spooled(self) -> tuple[Waiting, Waiting]:
        """Count the requests in the spool: for this index, and for others with damaged lines."""
        return self._spool.count() if self._spool is not None else (Waiting(), Waiting())

    async def stats(self) -> IndexStats:
        """Counts of verdicts, memory in bytes and parameters."""
        return await read_statistics(self.store, bands=self.config.make_method().tables or 1)

    async def sample(self, pages: int) -> list[OddSketch]:
        """The sketches of up to `pages` kept pages, drawn at random."""
        return await sample_sketches(self.store, pages, odd_bytes=self.config.sketch_bits // 8)

    async def verify(self) -> Audit:
        """Read the whole index, and check that records, tables and counters agree."""
        if await self._is_there():
            await self.store.finish_dead()
        return await audit_index(self.store, odd_bytes=self.config.sketch_bits // 8)
