"""Addresses that a crawl finds gone, until the index knows of it."""

from __future__ import annotations

import asyncio
import atexit
import logging
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ..dedup.errors import ServerError

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

    from ..dedup.index import DuplicateIndex

logger = logging.getLogger(__name__)

# Answers after which an address has no page any more, and redirects that are for good.
GONE: Final = frozenset({404, 410})
MOVED: Final = frozenset({301, 308})
MOST_GONE: Final = 10_000  # addresses that are remembered while the server gives no answer


class GoneAddresses:
    """Notes the addresses that have no page any more and reports them with the next page.

    Parameters
    ----------
    known
        The form of a URL by which the index knows it.
    count
        Takes the name of a statistic to add one to.
    """

    def __init__(self, known: Callable[[str], str], count: Callable[[str], None]) -> None:
        self.waiting: deque[str] = deque(maxlen=MOST_GONE)
        self._known = known
        self._count = count
        self._index: DuplicateIndex | None = None
        self._telling: list[str] = []  # those that the server is being told
        self._unanswered = False
        self._reporting = asyncio.Lock()

    def open(self, index: DuplicateIndex) -> None:
        """Report to *index* from now on."""
        self._index = index
        atexit.register(self._keep)  # a forced stop of Scrapy's closes no spider

    async def close(self) -> None:
        """Report what is left; what has no answer waits in the spool."""
        await self.report()
        self._keep()
        atexit.unregister(self._keep)

    def note(self, response: Response, request: Request) -> None:
        """Note the addresses that this response shows to be gone, or to have moved for good."""
        passed = zip(
            request.meta.get("redirect_urls", ()),
            request.meta.get("redirect_reasons", ()),
            strict=False,
        )
        moved = [url for url, reason in passed if reason in MOVED]
        if moved:  # but not to another spelling, or by a detour to where they were
            here = self._known(response.url)
            self.waiting.extend(url for url in moved if self._known(url) != here)
        if response.status in GONE:
            self.waiting.append(request.url)

    async def report(self) -> None:
        """Tell the index, so that copies of what is gone can take its place.

        Addresses that it gives no answer for wait for the next page, or the next crawl; this one is
        checked all the same.
        """
        if self._index is None:
            return
        async with self._reporting:  # no page overtakes what was reported before it
            while self.waiting:
                # After no answer one of them asks for all: of thousands each page would have to.
                count = 1 if self._unanswered else len(self.waiting)
                urls = self._telling = [self.waiting.popleft() for _ in range(count)]
                asked = map(self._index.gone, urls)
                try:
                    known = await asyncio.gather(*asked, return_exceptions=True)
                except asyncio.CancelledError:  # to say it twice does no harm
                    self.waiting.extendleft(reversed(urls))
                    raise
                finally:
                    self._telling = []
                self._unanswered = False
                for url, answer in zip(urls, known, strict=True):
                    self._take(url, answer)
                if self._unanswered:
                    return

    def _take(self, url: str, answer: bool | BaseException) -> None:
        if isinstance(answer, ServerError):
            self.waiting.append(url)
            self._unanswered = True
        elif isinstance(answer, BaseException):
            # An address that does no good shall do no harm either.
            self._count(f"dedup/errors/{type(answer).__name__}")
            logger.error("That %r is gone could not be noted", url, exc_info=answer)
        elif answer:
            self._count("dedup/gone")

    def _keep(self) -> None:
        if self._index is not None:
            self._index.keep_gone([*self._telling, *self.waiting])
