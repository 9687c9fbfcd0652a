"""Pages that a spider leaves out itself, so that they stand for their copies no longer."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from .telling import Telling

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from ..dedup.index import DuplicateIndex

logger = logging.getLogger(__name__)

LEFT_OUT: Final = object()
"""Signal of a spider: what is at `url` may be no item."""

MOST_LEFT_OUT: Final = 10_000  # addresses that are remembered while the server gives no answer


class LeftOut(Telling[str]):
    """Has the index forget the pages that a spider leaves out.

    One that was kept when it was no such page would stand for its copies for ever, and a crawl
    would have its text nowhere. What has no answer when a crawl ends comes again in the next one,
    as the page does.
    """

    statistic = "dedup/left_out"
    what = "left out"

    def __init__(self, count: Callable[[str], None]) -> None:
        super().__init__(count)
        self._has_warned = False

    def watch(self, crawler: Crawler) -> None:
        """Note what the spider of a crawl says."""
        crawler.signals.connect(self.note, signal=LEFT_OUT)

    def note(self, url: str) -> None:
        """Note the address of a page that is left out."""
        if len(self.waiting) < MOST_LEFT_OUT:
            self._add(url)
        elif not self._has_warned:
            self._has_warned = True
            logger.warning(
                "%d addresses that are left out wait until the index answers; of more it is told "
                "when a crawl meets them again",
                MOST_LEFT_OUT,
            )

    async def _tell(self, index: DuplicateIndex, found: str) -> bool:
        return await index.leave_out(found)

    def _url(self, found: str) -> str:
        return found
