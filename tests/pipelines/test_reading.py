"""A page of a CrawlSpider is parsed once, by its response, and comes out as if parsed here."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import scrapy
from hypothesis import example, given, settings
from scrapy import Request, Spider
from scrapy.exceptions import NotConfigured
from scrapy.http import HtmlResponse, Response, XmlResponse
from scrapy.linkextractors import LinkExtractor
from scrapy.selector import Selector
from scrapy.spiders import CrawlSpider
from scrapy.utils.test import get_crawler

from crawler.chrome import parse, strip_chrome
from crawler.chrome.page import document
from crawler.chrome.page.reader import COMPILED
from crawler.pipelines import ChromePipeline
from crawler.pipelines.reading import PagesRead, ResponseReader
from tests.chrome.test_hostile import SOUP

URL = "http://a.example/tea"
PAGE = (
    "<title>Tea</title><nav><a href=/>Home</a></nav><main><h1>Té</h1>"
    "<p>Tea is an aromatic drink made with hot water.</p><p class=last>It is much loved.</p></main>"
)

compiled = pytest.mark.skipif(not COMPILED, reason="nothing is compiled here")


def response(body: str | bytes = PAGE, **values: Any) -> HtmlResponse:
    body = body.encode() if isinstance(body, str) else body
    return HtmlResponse(URL, body=body, **values)


def reader(spider: type[Spider] = CrawlSpider, **values: Any) -> ResponseReader:
    crawler = get_crawler(spider, values)
    crawler.spider = spider.from_crawler(crawler, name="x")
    return ResponseReader.from_crawler(crawler)


def output(middleware: ResponseReader, page: Response, items: list[Any]) -> list[Any]:
    """What the middleware passes on; before Scrapy 2.14 it is told of the spider."""
    spider = [None] if scrapy.version_info < (2, 14) else []
    return list(middleware.process_spider_output(page, items, *spider))


def read(page: Response, item: Any) -> document.Document | None:
    """What was read of an item's page when it was yielded."""
    middleware = reader()
    pages = PagesRead.of_crawl(middleware.crawler)
    assert output(middleware, page, [item]) == [item]
    return pages.take_document(item["html"])


@compiled
@pytest.mark.parametrize("kind", ["body", "text"])
def test_the_page_is_parsed_by_its_response(kind):
    """The link extractor finds the tree; what happens to that afterwards changes no text."""
    page = response()
    found = read(page, {"html": getattr(page, kind)})
    root = page._cached_selector.root
    assert [link.url for link in LinkExtractor().extract_links(page)] == ["http://a.example/"]
    assert page.selector.root is root
    page.css("p").drop()
    assert strip_chrome(found).blocks == strip_chrome(PAGE).blocks


@compiled
async def test_a_pipeline_parses_it_no_more(monkeypatch):
    """It takes what was read, once; the next item with the page has it parsed."""
    middleware = reader()
    pipeline = ChromePipeline.from_crawler(middleware.crawler)
    page = response()
    item = {"url": URL, "html": page.body}
    assert output(middleware, page, [item]) == [item]
    with monkeypatch.context() as patch:
        patch.delattr("crawler.pipelines.chrome.parse_in_turns")
        assert (await pipeline.process_item(item))["text"] == strip_chrome(PAGE).text
    again = await pipeline.process_item({"url": URL, "html": page.body})
    assert again["text"] == strip_chrome(PAGE).text


@compiled
def test_a_tree_that_was_there_is_left_alone():
    """Who knows what the spider has done to it."""
    page = response()
    page.css("p").drop()
    assert read(page, {"html": page.body}) is None


@compiled
@pytest.mark.parametrize(
    "item",
    [
        {"html": PAGE},  # from elsewhere, though equal
        {"html": None},
        {"html": 7},
        {"html": "x" * 1_000_000},
        {"html": b"y"},
    ],
)
def test_other_pages_are_left_to_the_pipeline(item):
    page = response()
    assert read(page, item) is None
    assert page._cached_selector is None


@compiled
@pytest.mark.parametrize("kind", [Response, XmlResponse])
def test_other_responses_are_left_alone(kind):
    page = kind(URL, body=PAGE.encode())
    assert read(page, {"html": page.body}) is None


@compiled
def test_what_goes_wrong_is_the_pipelines_matter():
    """Whatever Scrapy cannot read, the item passes, and so does what is no item."""
    page = response(encoding="rot13")
    assert read(page, {"html": page.body}) is None
    middleware = reader()
    PagesRead.of_crawl(middleware.crawler)
    others = [7, Request(URL), "text"]
    assert output(middleware, page, others) == others


@compiled
def test_without_a_pipeline_nothing_is_read():
    page = response()
    assert output(reader(), page, [{"html": page.body}])
    assert page._cached_selector is None


def test_who_does_without():
    """Other spiders may never ask for a tree; other extractors read for themselves."""
    with pytest.raises(NotConfigured):
        reader(Spider)
    with pytest.raises(NotConfigured):
        reader(DEDUP_EXTRACTOR=str)


@compiled
@pytest.mark.filterwarnings("ignore:Input data is too big")
def test_an_older_parsel_is_not_trusted(monkeypatch):
    """Its trees end where a page is deeper than 256 elements."""
    assert reader()
    monkeypatch.setattr("crawler.pipelines.reading.Selector", partial(Selector, huge_tree=False))
    with pytest.raises(NotConfigured):
        reader()


def test_pages_that_wait_are_few():
    """Pages that no pipeline asks for do not pile up."""
    pages, document = PagesRead(), parse("")
    htmls = [f"page {i}" for i in range(1000)]
    for html in htmls:
        pages.put_document(html, document)
    found = [pages.take_document(html) for html in htmls]
    assert 0 < len([one for one in found if one]) < 100
    assert found[-1] is document
    assert pages.take_document(htmls[-1]) is None


@compiled
@pytest.mark.parametrize(
    ("body", "declared"),
    [
        (PAGE.encode("latin-1"), "iso-8859-1"),
        (PAGE.encode(), "iso-8859-1"),  # which Scrapy believes
        (PAGE.encode("utf-16"), None),
        (b"\xef\xbb\xbf" + PAGE.encode(), None),
        (PAGE.encode().replace(b"drink", b"drink \xf0\x9f\x8d"), "utf-8"),
        (PAGE.replace("Tea", "T\0a").encode(), "utf-8"),
        (b"<main>" + b"<p>a" * 60_000, "utf-8"),
        (b"<i>" * 3000 + PAGE.encode(), "utf-8"),
        (b"", "utf-8"),
        (b" \n" + PAGE.encode(), "utf-8"),
        ("\u3000\xa0<frameset>text</frameset>".encode(), "utf-8"),
        ("<meta charset=iso-2022-jp><p>お茶、お茶、お茶。".encode("iso2022_jp"), "utf-8"),
        (PAGE.encode("utf-16-le"), "utf-8"),
    ],
    ids=[
        "latin-1", "wrong", "utf-16", "mark", "cut", "zero", "tags", "deep", "empty", "space",
        "wide", "escapes", "utf-16 unsaid",
    ],
)  # fmt: skip
def test_pages_come_out_as_parsed_here(body, declared):
    """Encodings that Scrapy and this package see otherwise, and pages beyond the limits."""
    page = response(body, encoding=declared)
    found = read(page, {"html": page.body})
    assert strip_chrome(found).blocks == strip_chrome(body).blocks


@compiled
def test_an_attack_is_not_parsed_by_the_response():
    """A tag of very many attributes takes hours."""
    page = response("<b " + " ".join(f"a{i}=c" for i in range(15_000)) + ">" + PAGE)
    found = read(page, {"html": page.body})
    assert page._cached_selector is None
    assert strip_chrome(found).blocks == strip_chrome(PAGE).blocks


@compiled
@settings(deadline=None, max_examples=200)
@given(SOUP)
@example("<script type=application/ld+json>\r")
def test_soup_comes_out_as_parsed_here(html):
    """Any page, but for the white space at its ends, which parsel drops."""
    page = response(html.encode("utf-8", "replace"), encoding="utf-8")
    found, own = read(page, {"html": page.body}), parse(page.body.strip())
    assert found is not None
    assert strip_chrome(found).blocks == strip_chrome(own).blocks
    assert found.head == own.head
