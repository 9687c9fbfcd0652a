"""Kept pages in later pipelines, which may drop them or fail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from itemadapter import ItemAdapter
from scrapy import signals

from ...dedup.verdict import Kind, Verdict
from ...items import value_of
from ...latest import Latest
from ..dropping import DroppedPage
from ..notices import Notices
from ..stopping import NOT_WRITTEN

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from ..calls import Count, ForgetUrl, KnownUrl, UrlsOf

_MOST: Final = 10_000  # pages that are remembered; fewer are on their way at a time
_MANY: Final = 5  # dropped pages, and none passed, that are worth a warning
# Without unchanged pages: an earlier crawl has passed them on, and pipelines may drop them to save
# work.
_NEWLY_KEPT: Final = frozenset({Kind.UNIQUE, Kind.SHORT, Kind.UPDATED})


class LaterPipelines:
    """Lets the index forget a kept page whose item reaches no feed, so its next copy is kept.

    `tag_field` is the field of an item that has its verdict, None if none has.
    """

    def __init__(
        self,
        known: KnownUrl,
        urls: UrlsOf,
        forget: ForgetUrl,
        count: Count,
        tag_field: str | None = None,
    ) -> None:
        self._known = known
        self._urls = urls
        self._forget = forget
        self._count = count
        self._tag_field = tag_field
        self._notices = Notices()
        self._lost = 0  # newly kept pages
        self._has_passed = False  # whether any tagged item has passed
        # Kept pages → whether the page is still on its way; otherwise it was forgotten.
        self._pages: Latest[str, bool] = Latest(_MOST)

    def connect_signals(self, crawler: Crawler) -> None:
        """Follow the items of a crawl."""
        crawler.signals.connect(self.note_dropped, signal=signals.item_dropped)
        crawler.signals.connect(self.note_failed, signal=signals.item_error)
        crawler.signals.connect(self._lose_page, signal=NOT_WRITTEN)
        # After OutputWatch, which tells first if the feeds do not take an item.
        crawler.signals.connect(self.note_passed, signal=signals.item_scraped)

    def pass_on(self, verdict: Verdict) -> None:
        """Note that the item of a page goes on to later pipelines."""
        if verdict.kind in _NEWLY_KEPT:
            self._pages[self._known(verdict.url)] = True

    def is_doubtful(self, url: str | None) -> bool:
        """Whether a page is on its way, or was forgotten: a copy of it may be needed."""
        return url is not None and url in self._pages

    def note_dropped(self, item: Any, response: Response | None, exception: Exception) -> None:
        """Forget a page that another pipeline has dropped."""
        if not isinstance(exception, DroppedPage):
            self._lose_page(item, response)
            if self._lost >= _MANY and not self._has_passed:
                self._tell_of_tag(item, "drops all such items")

    def note_failed(self, item: Any, response: Response | None, failure: Failure) -> None:
        """Forget a page that another pipeline has failed with."""
        self._lose_page(item, response)
        # If others have passed with the field, it is the cause only if the error names it.
        if not self._has_passed or str(self._tag_field) in failure.getErrorMessage():
            self._tell_of_tag(item, "fails with it")

    def note_passed(self, item: Any, response: Response | None) -> None:
        """Note that a page has passed all pipelines."""
        for url in self._urls(item, response):
            known = self._known(url)
            if self._pages.get(known):  # not if the feeds have not taken it
                del self._pages[known]
        self._has_passed = self._has_passed or self._is_tagged(item)

    def _lose_page(self, item: Any, response: Response | None) -> None:
        for url in self._urls(item, response):
            known = self._known(url)
            if self._pages.get(known):
                self._pages[known] = False
                self._lost += 1
                self._count("dedup/lost_later")
                self._forget(url)

    def _tell_of_tag(self, item: Any, what: str) -> None:
        if self._is_tagged(item):
            self._notices.warn_about(
                item,
                "",
                "%s has its verdict in the field %r, and a pipeline behind the filter %s, so it "
                "reaches no feed. If that pipeline takes no such field, empty DEDUP_TAG_FIELD.",
                str(self._tag_field),
                what,
            )

    def _is_tagged(self, item: Any) -> bool:
        name = self._tag_field
        return name is not None and ItemAdapter.is_item(item) and value_of(item, name) is not None
