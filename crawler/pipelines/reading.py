"""Parses each response once, for the callback and for main text."""

from __future__ import annotations

import asyncio
import logging
from codecs import BOM_UTF8
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Self
from weakref import WeakKeyDictionary, ref

from scrapy.exceptions import NotConfigured
from scrapy.http import HtmlResponse
from scrapy.selector import Selector

from .. import chrome
from ..chrome import Document
from ..chrome.page.limits import is_harmless
from ..chrome.page.reader import COMPILED, walk_tree
from ..project import project_config
from ..scrapy_versions import is_asyncio_available, run_in_thread
from .item_pages.origins import is_switched_off

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from ..chrome.page.blocks import Flat
    from ..chrome.page.head import Head

LONG_PAGE: Final = 1_000_000


logger = logging.getLogger(__name__)

_DEEP: Final = 500  # nested elements; libxml2 by default stops at 256
# White space that browsers also drop before a page; parsel drops other white space, too.
_SPACE: Final = " \t\n\f\r"
_WRONG: Final = "\ufffd"  # stands for bytes that are no UTF-8
_DOUBTFUL: Final = (b"\x1b", b"\0")  # signs of ISO 2022 and of UTF-16

_trees: WeakKeyDictionary[Crawler, ResponseTrees] = WeakKeyDictionary()


async def parse_in_turns(
    html: str | bytes, *, url: str | None = None, content_type: str | None = None
) -> chrome.Document:
    """Parse like :func:`..chrome.parse`; the event loop continues every few milliseconds."""
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


class ResponseTrees:
    """Pages read from the trees of responses that are on their way to the pipeline.

    It keeps no response alive. A page is recognised by the body or the text of its response. It is
    read before the callback gets the tree, which may change it.
    """

    def __init__(self) -> None:
        self._noted: dict[int, tuple[ref[HtmlResponse], tuple[Flat, Head]]] = {}

    @classmethod
    def of_crawl(cls, crawler: Crawler) -> ResponseTrees:
        """The trees of a crawl; calling this turns them on."""
        return _trees.setdefault(crawler, cls())

    def build_tree(self, response: HtmlResponse) -> None:
        """Parse a response that is not parsed yet, unless that is costly."""
        # Scrapy has no public way to ask whether there is a selector without making one.
        if len(response.body) >= LONG_PAGE or getattr(response, "_cached_selector", 0) is not None:
            return
        if not _is_harmless(response):
            return
        read = walk_tree(response.selector.root)
        if read[0].too_deep:
            return
        for key in (id(response.body), id(response.text)):
            self._noted[key] = ref(response, partial(self._forget_page, key)), read

    def _forget_page(self, key: int, _: ref[HtmlResponse]) -> None:
        self._noted.pop(key, None)

    def read_page(
        self, html: str | bytes, *, url: str | None = None, content_type: str | None = None
    ) -> Document | None:
        """Return the page of the response with this very body or text; None if unknown."""
        of_response, read = self._noted.get(id(html)) or (None, None)
        response = of_response() if of_response is not None else None
        if response is None or read is None:
            return None
        page, text = (response.body, response.text) if _is_plain(response) else (html, None)
        known = partial(_known_page, response, read)
        return chrome.parse(page, url=url, content_type=content_type, text=text, known=known)


class ResponseParser:
    """Spider middleware that parses a page before its callback, for both uses."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        config = project_config(crawler.settings)
        reads_pages = getattr(crawler.spidercls, "reads_pages", False)
        if reads_pages or config.extractor or not COMPILED:
            raise NotConfigured
        if not Selector(text="<i>" * _DEEP + "<b>").css("b"):  # parsel before 1.7 loses deep text
            raise NotConfigured

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Work for the pipeline of a crawl; without one, nothing is parsed."""
        return cls(crawler)

    def process_spider_input(self, response: Response, spider: Any = None) -> None:
        """Build the tree. The callback and the pipeline handle faults of a page."""
        trees = _trees.get(self._crawler)
        if trees is None or is_switched_off(response):
            return
        if isinstance(response, HtmlResponse):
            try:
                trees.build_tree(response)
            except Exception:
                logger.debug("%r is not parsed here", response.url, exc_info=True)


def _is_harmless(response: HtmlResponse) -> bool:
    """Whether the page is harmless to parse, both as bytes and as Scrapy has decoded it."""
    if response.encoding == "utf-8":
        return is_harmless(response.body)
    # In UTF-7 or EBCDIC, the bytes show no tags.
    text = response.text.encode("utf-8", "replace")
    return is_harmless(response.body) and is_harmless(text)


def _is_plain(response: HtmlResponse) -> bool:
    """Whether a page is certainly UTF-8, as Scrapy has decoded it."""
    body = response.body
    if response.encoding != "utf-8" or body.startswith(BOM_UTF8):
        return False
    # In the bytes, zeros are found in a tenth of the time.
    return not any(sign in body for sign in _DOUBTFUL) and _WRONG not in response.text


def _known_page(response: HtmlResponse, read: tuple[Flat, Head], text: str) -> Any:
    """The contents of the response's tree; None if it is the tree of another text."""
    bare = text.strip(_SPACE)
    if response.text != text or _WRONG in text or bare[:1].isspace() or bare[-1:].isspace():
        return None
    return read
