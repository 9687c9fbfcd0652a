"""Pages that a spider leaves out itself, so that they stand for their copies no longer."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ..dedup.errors import ServerError

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from ..dedup.index import DuplicateIndex

logger = logging.getLogger(__name__)

LEFT_OUT: Final = object()
"""Signal of a spider: the page at `url` is there, and may be no item."""

_MOST: Final = 10_000  # addresses that are remembered while no page comes or no answer


class LeftOut:
    """Has the index forget the pages that a spider leaves out, with the next page.

    One that was kept when it was no such page would stand for its copies for ever, and a crawl
    would have its text nowhere. What the server gives no answer for comes again in the next crawl,
    as the page does. `count` takes the name of a statistic to add one to.
    """

    def __init__(self, count: Callable[[str], None]) -> None:
        self._waiting: deque[str] = deque(maxlen=_MOST)
        self._count = count
        self._reporting = asyncio.Lock()

    def watch(self, crawler: Crawler) -> None:
        """Note what the spider of a crawl says."""
        crawler.signals.connect(self.note, signal=LEFT_OUT)

    def note(self, url: str) -> None:
        """Note the address of a page that is left out."""
        self._waiting.append(url)

    async def report(self, index: DuplicateIndex) -> None:
        """Have the index forget what was noted, as far as it answers."""
        if not self._waiting:
            return
        async with self._reporting:
            while self._waiting:
                url = self._waiting.popleft()
                try:
                    if await index.leave_out(url):
                        self._count("dedup/left_out")
                except ServerError:
                    self._waiting.append(url)
                    return
                except Exception as error:  # an address that does no good shall do no harm either
                    self._count(f"dedup/errors/{type(error).__name__}")
                    logger.exception("That %r is left out could not be noted", url)
