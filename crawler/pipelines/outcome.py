"""The outcome of a crawl, and a warning if no page was checked."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ..dedup.config import DedupConfig
from ..dedup.verdict import Kind, Verdict
from ..scrapy_versions import ignores_start_requests
from ..wording import counted
from .item_pages.item_page import Missing
from .item_pages.long_texts import LongTexts
from .item_pages.page_reader import SHORT_TEXT
from .stopping import Stopper, fail_at_end

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

NOTHING_CHECKED: Final = "dedup_nothing_checked"
_ENOUGH: Final = 100  # items without a page after which `stop` ends a crawl without any page
# Pages that follow one of their URL with another text; one that is fetched again has few.
_MANY: Final = 10

# Responses that no callback gets: robots.txt, and pages that answer with an error.
_NO_PAGES: Final = ("robotstxt/response_count", "httperror/response_ignored_count")

_NAME_FIELDS: Final = (
    "name the fields that hold the page in DEDUP_URL_FIELD and DEDUP_HTML_FIELD or DEDUP_TEXT_FIELD"
)
_KEEP_ITEMS: Final = (
    "and give pipelines that return another object for an item a higher number than this one's"
)
# For each reason: what is wrong with such items, and how to have them checked.
_REASONS: Final[dict[Missing | None, tuple[str, str]]] = {
    Missing.FIELDS: (
        "have no HTML and no text, and no response to take their page from",
        f"{_NAME_FIELDS}, or leave DEDUP_PAGE at auto {_KEEP_ITEMS}",
    ),
    Missing.URL: (
        "have no URL, and no response whose URL is theirs",
        f"name the field that has it in DEDUP_URL_FIELD, or leave DEDUP_PAGE at auto {_KEEP_ITEMS}",
    ),
    Missing.FILE: (
        "have a file in place of HTML whose text could not be read",
        "install the extra `files`, for PDF, Word and EPUB files, or name a field that holds the "
        "file's text in DEDUP_TEXT_FIELD",
    ),
    Missing.LISTING: (
        "share a page with other items, so that it is not the page of one of them",
        f"yield one item for each page, or {_NAME_FIELDS}",
    ),
    Missing.SHORT_TEXT: (
        f"have a text of fewer than {SHORT_TEXT} characters, which may be a field such as a stock "
        "level, and no response that is their page",
        "set DEDUP_PAGE=item if it is the page's text, and name the field that has its URL in "
        "DEDUP_URL_FIELD",
    ),
    Missing.ERROR: (
        "come from a response with a status such as 404",
        "set DEDUP_PAGE=response if that response is their page",
    ),
    Missing.NOT_HTML: (
        "come from a response that is neither HTML nor text, PDF, Word or EPUB",
        "name a field that holds the text in DEDUP_TEXT_FIELD, or HTML in DEDUP_HTML_FIELD",
    ),
    Missing.OTHER_URL: (
        "have another URL than their response",
        f"set DEDUP_PAGE=response if that response is their page, or {_NAME_FIELDS}",
    ),
    Missing.OTHER_PAGE: (
        "were begun on another page than their response, and have no URL of it",
        f"set DEDUP_PAGE=response if that response is their page, or {_NAME_FIELDS}",
    ),
    Missing.OTHER_TEXT: (
        "have no text that is in their response, or a long one that is not, or one that tells them "
        "from other items of the same page",
        f"set DEDUP_PAGE=response if that response is their page, or {_NAME_FIELDS}",
    ),
    None: ("got no answer from the index", "see the errors above, and DEDUP_REDIS_URL"),
}

# Reasons for which a field with the page may be named.
_MAY_HAVE_FIELD: Final = frozenset(
    reason for reason, (_, remedy) in _REASONS.items() if reason and "DEDUP_TEXT_FIELD" in remedy
)


class Outcome:
    """Counts verdicts, and items without a page by reason."""

    def __init__(self, config: DedupConfig) -> None:
        self.verdicts: Counter[Kind] = Counter()
        self.missing: Counter[Missing | None] = Counter()
        self.dropped = 0
        self._long_texts = LongTexts(config)
        self._updated = ""  # the URL of the latest page with another text than before
        self._updates = 0  # how many had the URL of the one before
        self._shared = ""  # the latest such URL
        self._stops = config.on_unchecked == "stop"
        self._stop: Callable[[], None] = lambda: None
        self._fail: Callable[[], None] = lambda: None
        self._describe_none: Callable[[], str] = lambda: ""

    def connect_signals(self, crawler: Crawler) -> None:
        """Prepare to stop a crawl, or to let it fail."""
        self._stop = Stopper(crawler, NOTHING_CHECKED)
        self._fail = partial(fail_at_end, crawler)
        self._describe_none = partial(_describe_no_items, crawler)

    def count_item(self, item: Any, verdict: Verdict, missing: Missing | None) -> None:
        """Count an item."""
        if missing in _MAY_HAVE_FIELD:
            self._long_texts.note_item(item)
        self.verdicts[verdict.kind] += 1
        if verdict.kind is Kind.UPDATED:
            if verdict.url == self._updated:
                self._updates += 1
                self._shared = verdict.url
            self._updated = verdict.url
        if verdict.kind is Kind.UNCHECKED:
            self.missing[missing] += 1
            enough = self.missing.total() == _ENOUGH
            if self._stops and missing is not None and enough and self.is_nothing_checked:
                self._stop()

    @property
    def is_nothing_checked(self) -> bool:
        """Whether items came, but none was checked."""
        return self.verdicts.total() == self.verdicts[Kind.UNCHECKED] > 0

    def log_outcome(self) -> None:
        """Log a summary of the pages."""
        counts = [f"{self.verdicts[kind]} {kind}" for kind in Kind if self.verdicts[kind]]
        logger.info(
            "Pages: %d (%s), of which %d dropped",
            self.verdicts.total(),
            ", ".join(counts) or "none",
            self.dropped,
        )
        if self._updates >= _MANY:
            logger.warning(
                "Many items have the URL %s, each with another text. If they are several pages, no "
                "copies are found among them: give each a URL of its own, in the field that "
                "DEDUP_URL_FIELD names",
                self._shared,
            )
        if not self.verdicts and (reason := self._describe_none()):
            logger.warning("No page was checked: %s", reason)
        # If nothing was checked, the warning below has the first.
        for missing, number in self.missing.most_common()[self.is_nothing_checked :]:
            if missing is not None:
                logger.info(
                    "%s unchecked: items that %s. To have them checked, %s",
                    f"{number:,}",
                    *_REASONS[missing],
                )
        if self.is_nothing_checked:
            ((missing, number), *_) = self.missing.most_common(1)
            reason, remedy = _REASONS[missing]
            logger.warning(
                "No page was checked, and no duplicate found: %d of %s %s. To have them checked, "
                "%s. %s`scrapy dedup doctor` shows more.",
                number,
                counted(self.verdicts.total(), "item"),
                reason,
                remedy,
                self._long_texts.describe(),
            )
            if self._stops and missing is not None:
                self._fail()


def _describe_no_items(crawler: Crawler) -> str:
    """Why no item came, and what to do; '' if no page came either, which is logged."""
    if ignores_start_requests(crawler.spidercls):
        return (
            "the spider begins with start_requests(), which this Scrapy does not call. "
            "Rename it: async def start(self)"
        )
    stats = crawler.stats.get_stats() if crawler.stats else {}
    if pages := stats.get("site/noindex"):
        asked = counted(pages, "page asks", "pages ask")
        return f"{asked} not to be indexed; SITE_META_ROBOTS_OBEY=False takes such pages, too"
    others = sum(stats.get(name, 0) for name in _NO_PAGES)
    responses = stats.get("response_received_count", 0) - others
    # The spider `site` says itself what it could not fetch, but not where its items went.
    is_site = any(name.startswith("site/") for name in stats) and not stats.get("site/pages")
    if responses <= 0 or is_site or stats.get("dedup/switched_off"):
        return ""
    remedy = (
        "Callbacks failed, with the errors above"
        if any(name.startswith("spider_exceptions/") for name in stats)
        else "Yield an item for each page, and give pipelines that drop items a higher number than "
        "this one's"
    )
    return f"{counted(responses, 'response')}, and no item reached the filter. {remedy}"
