"""The page of an item of any type, read once into one value."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from itemadapter import ItemAdapter
from lxml import etree
from parsel import Selector, SelectorList
from scrapy.http import HtmlResponse, Response, TextResponse

from ...chrome import Document, MainText
from ...chrome.page.document import TREES, is_soup
from ...dedup.config import DedupConfig
from ...dedup.identity import resolved
from ...dedup.ranks import fields_of, only_value, read_date, read_number
from ...dedup.scopes import field_scope
from ...files import is_file
from ...items import Page, reader_of, value_of
from ..notices import Notices
from .carried import BegunItem, carried_by, find_begun
from .item_page import ItemPage, Missing
from .missing_fields import MissingFields
from .origins import Origin
from .values import holds_html, is_blank, is_plain_text, joined_text, text_of, url_of

if TYPE_CHECKING:
    from ..calls import Count

_TEXT_FIELD: Final = DedupConfig().text_field
_URL_FIELD: Final = DedupConfig().url_field
SHORT_TEXT: Final = 200  # characters below which a text may be a field of its page: some 35 words


class PageReader:
    """Reads the pages of items from the fields that `config` names.

    It never raises because of an item's content. Missing values and wrong types are counted, and
    logged once for each type of item.
    """

    def __init__(self, config: DedupConfig, count: Count, notices: Notices | None = None) -> None:
        self._config = config
        self._count = count
        self.missing = MissingFields(config, count, notices or Notices())

    def needs_response(self, item: Any) -> bool:
        """Whether the page of an item, or its URL, has to be taken from its response."""
        if self._config.page != "auto":
            return self._config.page == "response"
        page, _ = self._read_own(item)
        return not (page.url and page.has_content) or self._is_field(page)

    def own_page(self, item: Any, response: Response) -> tuple[str | None, bool]:
        """The URL of an item, as the index knows it, and whether its HTML is the response."""
        url = self._url_in(value_of(item, self._config.url_field))
        url = resolved(response.url, url) if url else None
        html = self._html_of(value_of(item, self._config.html_field))
        holds_body = isinstance(response, TextResponse) and html in (response.body, response.text)
        return self._config.identity(url) if url else None, holds_body

    def read(self, item: Any, origin: Origin | None = None) -> ItemPage:
        """Read the page of an item with this origin."""
        response = origin.response if origin is not None else None
        text_in = joined_text if self._joins_texts(response) else text_of
        page, wrong = self._read_own(item, response.url if response is not None else "", text_in)
        for name in fields_of(self._config.prefer):
            if name not in page.fields:
                self.missing.tell_of_number(item, name)
        holds_same = origin is not None and origin.holds_same and page.text is None
        if holds_same and self._config.page != "item":
            page.missing = Missing.LISTING
            return page
        needs = self._config.page == "response" or not (page.url and page.has_content)
        needs = needs or self._is_field(page)
        if self._config.page != "item" and needs and origin is not None:
            missing = self._take_response(item, page, origin)
            if missing is None:
                return page
            if self._is_field(page):
                missing = Missing.SHORT_TEXT
            # What is a page of its own, and shares a response with others, only lacks a URL.
            lacks_url = missing is Missing.LISTING and page.has_content and not page.url
            if not (page.has_content and (page.url or lacks_url)) or missing is Missing.SHORT_TEXT:
                page.missing = missing
                return page
        for name in wrong:
            self._count(f"dedup/wrong_type/{name}")
        self.missing.tell_of_page(item, page)
        return page

    def checked_urls(self, item: Any, response: Response | None) -> list[str]:
        """The URLs under which the page of an item may have been checked."""
        own = None
        if ItemAdapter.is_item(item):
            own = self._url_in(value_of(item, self._config.url_field))
        urls = [own] if own else []
        if response is not None:
            there = resolved(response.url, own) if own else None
            urls += [there] if there else []
            urls += [response.url] if self._config.page == "response" or not own else []
        return list(dict.fromkeys(urls))

    def read_fields(self, item: Any) -> ItemPage:
        """Read the page in the item's own fields; its URL may be missing."""
        page, wrong = self._read_own(item)
        for name in wrong:
            self._count(f"dedup/wrong_type/{name}")
        self.missing.tell_of_html(item, page)
        return page

    def _joins_texts(self, response: Response | None) -> bool:
        """Whether a list of texts, such as paragraphs, is the text of an item's page.

        It is if a setting says so. Otherwise the response is the better page, if it is one.
        """
        is_named = self._config.page == "item" or self._config.text_field != _TEXT_FIELD
        return is_named or response is None or not holds_html(response)

    def _read_own(
        self, item: Any, base: str = "", text_in: Callable[[Any], str | None] = text_of
    ) -> tuple[ItemPage, list[str]]:
        """The page that the item itself holds, and the fields whose values are of a wrong type.

        A URL without a host has that of `base`.
        """
        config, wrong = self._config, []
        value_in = reader_of(item)

        def read(name: str, convert: Callable[[Any], Any]) -> Any:
            value = value_in(name)
            if value is None:
                return None
            converted = convert(value)
            if converted is None:
                wrong.append(name)
            return converted

        url = read(config.url_field, self._url_in)
        url = resolved(base, url) if base and url and url.startswith("/") else url
        text = read(config.text_field, text_in)
        html = read(config.html_field, self._html_of)
        if isinstance(item, Page) and item.file is not None:
            html = item.file
        main = getattr(item, "main", None)
        title = only_value(value_in(config.title_field))
        canonical = url_of(value_in(config.canonical_field))
        page = ItemPage(
            url=url if url and url.strip() else "",
            text=text if text and text.strip() else None,
            html=html,
            main=main if isinstance(main, MainText) and main.text == text else None,
            title=title if isinstance(title, str) else "",
            date=read_date(only_value(value_in(config.date_field))),
            scope=field_scope(value_in(config.scope_field)) if config.scope_field else None,
            fields={
                name: number
                for name in fields_of(config.prefer)
                if (number := read(name, read_number)) is not None
            },
        )
        if isinstance(html, TextResponse):
            self._fill_from(page, html)
        if page.url and canonical and canonical.strip():
            page.canonical = resolved(page.url, canonical)
        return page, wrong

    def _url_in(self, value: Any) -> str | None:
        """A URL, or the number that names a page in a field that a setting names, as of an API."""
        number = only_value(value)
        if type(number) is int and self._config.url_field != _URL_FIELD:
            return str(number)
        return url_of(value)

    def _html_of(self, value: Any) -> Any:
        value = only_value(value)
        if isinstance(value, SelectorList):
            return "".join(value.getall()) or None
        if isinstance(value, Selector):
            value = value.root if isinstance(value.root, (str, etree._Element)) else None
        if is_soup(value):
            return value.decode()
        # Another extractor cannot read a document of this package.
        own = () if self._config.extractor else (Document,)
        return value if isinstance(value, (str, bytes, TextResponse, *TREES, *own)) else None

    def _take_response(self, item: Any, page: ItemPage, origin: Origin) -> Missing | None:
        """Complete a page from its response, or say why that cannot be done."""
        if not origin.is_alone:
            return Missing.LISTING
        response = origin.response
        is_whole = page.has_content and not self._is_field(page)
        if is_whole and self._config.page == "auto":  # it lacks a URL
            page.url = response.url
            return None
        if self._config.page == "auto" and not 200 <= response.status < 300:
            return Missing.ERROR
        if not holds_html(response) and not self._is_document(response):
            return Missing.NOT_HTML
        if page.url and not self._is_of(response, page.url):
            if self._config.page == "auto" and not self._is_canonical(response, page.url):
                return Missing.OTHER_URL
            page.url = ""
        if not page.url and self._config.page == "auto":
            page.begun = self._find_begun(item, response)
            if page.begun is not None and not any(page.begun):
                return Missing.OTHER_PAGE
        page.url = (resolved(response.url, page.url) if page.url else None) or response.url
        page.text = page.main = None
        page.of_response = True
        self._fill_from(page, response)
        return None

    def is_part(self, page: ItemPage, response: Response) -> bool:
        """Whether an item has only a text or a part of the HTML page that is its response."""
        if self._config.page != "auto" or not holds_html(response) or page.main is not None:
            return False
        return page.html not in (response.body, response.text) and self._is_of(response, page.url)

    def _is_document(self, response: Response) -> bool:
        """Whether a response that is no HTML is a page: plain text, or a file such as a PDF."""
        return self._config.files and (is_plain_text(response) or is_file(response.body))

    def _is_field(self, page: ItemPage) -> bool:
        """Whether a text may be only a part of its page, such as a summary or a stock level.

        If a setting names the field, or DEDUP_PAGE does, it is the page's text, however short.
        """
        is_short = page.text is not None and len(page.text) < SHORT_TEXT
        is_alone = is_blank(page.html) and page.main is None
        config = self._config
        return is_short and is_alone and config.page == "auto" and config.text_field == _TEXT_FIELD

    def _is_of(self, response: Response, url: str) -> bool:
        """Whether a URL is the URL of a response, or of a redirect that led to it."""
        identity, here = self._config.identity, resolved(response.url, url) or url
        own = [response.url]
        if response.request is not None:
            own += [response.request.url, *response.request.meta.get("redirect_urls", ())]
        return identity(here) in map(identity, own)

    def _is_canonical(self, response: Response, url: str) -> bool:
        """Whether a response names a URL, which its request did not bring, as its canonical one."""
        identity, here = self._config.identity, resolved(response.url, url)
        brought = carried_by(response.request) if response.request is not None else ()
        urls = [resolved(response.url, one) for one in map(url_of, brought) if one and "/" in one]
        if not holds_html(response) or here in urls:
            return False
        named = response.css("link[rel=canonical i]::attr(href)").get("")
        there = resolved(response.url, named) if named else None
        return there is not None and here is not None and identity(there) == identity(here)

    def _find_begun(self, item: Any, response: Response) -> BegunItem | None:
        """The texts of an item without a URL that was begun on another page; None if on this."""
        texts = filter(None, map(url_of, ItemAdapter(item).values()))
        urls = [text for text in texts if "/" in text and len(text.split()) == 1]
        if response.request is None or any(self._is_of(response, url) for url in urls):
            return None
        identity, referer = self._config.identity, response.request.headers.get("Referer")
        is_named = referer is not None and identity(referer.decode("latin-1")) in map(
            identity, urls
        )
        return find_begun(item, response.request, is_named=is_named)

    def _fill_from(self, page: ItemPage, response: Response) -> None:
        if is_plain_text(response):
            page.text, page.html = response.text if page.text is None else page.text, None
            return
        # What was rendered is encoded again, whatever the page declares.
        is_rendered = holds_html(response) and not isinstance(response, HtmlResponse)
        is_text = isinstance(response, TextResponse) and self._config.extractor
        page.html = response.text if is_rendered or is_text else response.body
        page.content_type = (response.headers.get("Content-Type") or b"").decode("latin-1") or None
