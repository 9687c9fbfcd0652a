"""Statistics and log lines on the requests that a crawl has spared."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from ...wording import counted
from .closed_pages import NOINDEX

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.statscollectors import StatsCollector

    from ...dedup.urls.site_rules import RuleChange

logger = logging.getLogger(__name__)

_MOST_REASONS: Final = 32  # that are counted one by one


class Tally:
    """Counts requests that were spared, by reason, and what they would have cost."""

    def __init__(self, stats: StatsCollector) -> None:
        self._stats = stats
        self._reasons: set[str] = set()
        self._seconds = self._responses = 0.0

    def count_request(self, reasons: tuple[str, ...], number: int = 1) -> None:
        """Count a request that is not made; with `number` -1, one that is made after all."""
        reason = " ".join(reasons) or "order"
        if reason.startswith(f"{NOINDEX} "):
            reason = NOINDEX
        if reason not in self._reasons and len(self._reasons) >= _MOST_REASONS:
            reason = "other rules"
        self._reasons.add(reason)
        self._stats.inc_value("dedup/spared", number)
        self._stats.inc_value(f"dedup/spared/{reason}", number)

    def tell_fruitless(self, site: str, pages: int) -> None:
        """Warn that a site has brought nothing new for so many pages."""
        self._stats.inc_value("dedup/fruitless_sites")
        logger.warning(
            "%s: the last %s brought nothing new. Links found only on copies wait "
            "until a page is new again (DEDUP_FRUITLESS)",
            site,
            counted(pages, "page"),
        )

    def tell_change(self, site: str, url: str, change: RuleChange) -> None:
        """Log a rule that a page has completed or revoked, or would have revoked."""
        if change.added:
            logger.warning(
                "%s: %r may make a difference, as in %r, but a person has added a rule on it. "
                "`scrapy dedup rules remove` ends it",
                site,
                change.name,
                url,
            )
        elif change.learnt:
            self._stats.inc_value("dedup/rules/learnt")
            pages = counted(change.pages, "page")
            text = "%s: %r makes no difference to a page, as %s showed"
            logger.info(text, site, change.name, pages)
        else:
            self._stats.inc_value("dedup/rules/revoked")
            logger.info("%s: %r may make a difference again, as in %r", site, change.name, url)

    def note_latency(self, request: Request) -> None:
        """Note how long a download took."""
        self._seconds += request.meta.get("download_latency", 0)
        self._responses += 1

    def sum_up(self) -> None:
        """Estimate the bytes and seconds saved from the mean of the pages that were fetched."""
        spared = self._stats.get_value("dedup/spared", 0)
        pages = self._stats.get_value("response_received_count", 0)
        if spared and pages:
            size = self._stats.get_value("downloader/response_bytes", 0) / pages
            self._stats.set_value("dedup/spared_bytes", round(spared * size))
            seconds = self._seconds / max(self._responses, 1)
            self._stats.set_value("dedup/spared_seconds", round(spared * seconds, 1))
