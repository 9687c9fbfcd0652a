"""Pages of a CrawlSpider, read while it yields them: its link extractor needs their tree, too."""

from __future__ import annotations

import asyncio
import logging
from codecs import BOM_UTF8
from collections import OrderedDict
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from itemadapter import ItemAdapter
from scrapy.exceptions import NotConfigured
from scrapy.http import HtmlResponse
from scrapy.selector import Selector
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware
from scrapy.spiders import CrawlSpider

from .. import chrome
from ..chrome import Document
from ..chrome.page.reader import COMPILED
from ..items import value_of
from ..project import project_config
from ..scrapy_versions import is_asyncio_available, run_in_thread

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

LONG_PAGE: Final = 1_000_000


logger = logging.getLogger(__name__)

_MOST_WAITING: Final = 64
_DEEP: Final = 500  # elements; libxml2 of itself ends at 256
# What browsers drop before a page, too; parsel drops other white space as well.
_SPACE: Final = " \t\n\f\r"
_WRONG: Final = "\ufffd"  # stands for bytes that are no UTF-8
_DOUBTFUL: Final = (b"\x1b", b"\0")  # of ISO 2022 and of UTF-16

_pages: WeakKeyDictionary[Crawler, PagesRead] = WeakKeyDictionary()


async def parse_in_turns(
    html: str | bytes, *, url: str | None = None, content_type: str | None = None
) -> chrome.Document:
    """Parse as :func:`..chrome.parse` does; the event loop goes on every few milliseconds."""
    if len(html) >= LONG_PAGE:
        return await run_in_thread(chrome.parse, html, url=url, content_type=content_type)
    steps = chrome.parse_in_steps(html, url=url, content_type=content_type)
    pause = is_asyncio_available()
    while True:
        try:
            next(steps)
        except StopIteration as end:
            document: chrome.Document = end.value
            return document
        if pause:
            await asyncio.sleep(0)


class PagesRead:
    """Pages on their way from the spider to the pipeline, known by the text or bytes that they had.

    Those that wait for too long are forgotten, and read again.
    """

    def __init__(self) -> None:
        self._waiting: OrderedDict[int, tuple[str | bytes, Document]] = OrderedDict()

    @classmethod
    def of_crawl(cls, crawler: Crawler) -> PagesRead:
        """Those of a crawl; who asks for them has pages read."""
        return _pages.setdefault(crawler, cls())

    def put_document(self, html: str | bytes, document: Document) -> None:
        """Keep what was read of *html*."""
        self._waiting[id(html)] = html, document
        if len(self._waiting) > _MOST_WAITING:
            self._waiting.popitem(last=False)

    def take_document(self, html: str | bytes) -> Document | None:
        """What was read of this very object, None if that was not done."""
        _, document = self._waiting.pop(id(html), (None, None))
        return document


class ResponseReader(BaseSpiderMiddleware):
    """Reads an item's page when that is the text or body of a response that nobody has parsed yet.

    For a :class:`~scrapy.spiders.CrawlSpider`, whose link extractors will ask the response for its
    tree in any case. While an item is yielded nobody else knows that tree; of one that was there
    before, nobody knows what the spider has done to it, or does meanwhile in a thread.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        config = project_config(crawler.settings)
        if not isinstance(crawler.spider, CrawlSpider) or config.extractor or not COMPILED:
            raise NotConfigured
        if not Selector(text="<i>" * _DEEP + "<b>").css("b"):  # parsel before 1.7 loses deep text
            raise NotConfigured
        self._html_field, self._text_field = config.html_field, config.text_field

    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        """Return the item as it is; whatever goes wrong with its page, the pipeline sees to it."""
        pages = _pages.get(self.crawler)
        if pages is not None and isinstance(response, HtmlResponse) and ItemAdapter.is_item(item):
            try:
                self._read_response(item, response, pages)
            except Exception:
                logger.debug("%r is not read with its response", response.url, exc_info=True)
        return item

    def _read_response(self, item: Any, response: HtmlResponse, pages: PagesRead) -> None:
        html = value_of(item, self._html_field)
        if not isinstance(html, (str, bytes)) or value_of(item, self._text_field):
            return
        # Scrapy has no public way to ask whether there is a selector without making one.
        if len(html) >= LONG_PAGE or getattr(response, "_cached_selector", response) is not None:
            return
        if html is (response.body if isinstance(html, bytes) else response.text):
            page, text = (response.body, response.text) if _is_plain(response) else (html, None)
            pages.put_document(
                html, chrome.parse(page, text=text, tree=partial(_parsed_tree, response))
            )


def _is_plain(response: HtmlResponse) -> bool:
    """Whether a page is UTF-8, as Scrapy has decoded it, and could be nothing else."""
    body = response.body
    if response.encoding != "utf-8" or body.startswith(BOM_UTF8):
        return False
    # Looked for in bytes, for zeros are found there in a tenth of the time.
    return not any(sign in body for sign in _DOUBTFUL) and _WRONG not in response.text


def _parsed_tree(response: HtmlResponse, text: str) -> Any:
    """The root of the response's tree, None if that is of another text."""
    bare = text.strip(_SPACE)
    if response.text != text or _WRONG in text or bare[:1].isspace() or bare[-1:].isspace():
        return None
    return response.selector.root
