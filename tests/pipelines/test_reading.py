"""A page is parsed once, by its response, and comes out as if parsed here."""

from __future__ import annotations

import gc
from functools import cache, partial
from typing import Any

import pytest
from hypothesis import example, given, settings
from lxml.html import fromstring
from scrapy import Request, Spider
from scrapy.exceptions import NotConfigured
from scrapy.http import HtmlResponse, Response, XmlResponse
from scrapy.linkextractors import LinkExtractor
from scrapy.selector import Selector
from scrapy.utils.test import get_crawler

from crawler.chrome import parse, strip_chrome
from crawler.chrome.page.limits import is_harmless
from crawler.chrome.page.reader import COMPILED
from crawler.pipelines import ChromePipeline
from crawler.pipelines.reading import ResponseParser, ResponseTrees
from crawler.spiders.site import SiteSpider
from tests.chrome.hostile import SOUP

URL = "http://a.example/tea"
PAGE = (
    "<title>Tea</title><nav><a href=/>Home</a></nav><main><h1>Té</h1>"
    "<p>Tea is an aromatic drink made with hot water.</p><p class=last>It is much loved.</p></main>"
)

compiled = pytest.mark.skipif(not COMPILED, reason="nothing is compiled here")


def response(body: str | bytes = PAGE, **values: Any) -> HtmlResponse:
    body = body.encode() if isinstance(body, str) else body
    return HtmlResponse(URL, body=body, **values)


def parser(spider: type[Spider] = Spider, **values: Any) -> ResponseParser:
    return ResponseParser.from_crawler(get_crawler(spider, values))


def seen(page: Response, middleware: ResponseParser | None = None) -> ResponseTrees:
    """The trees of a crawl whose spider is about to see this response."""
    middleware = middleware or parser()
    trees = ResponseTrees.of_crawl(middleware._crawler)
    middleware.process_spider_input(page)
    return trees


@compiled
@pytest.mark.parametrize("kind", ["body", "text"])
def test_the_page_is_parsed_by_its_response(kind):
    """The spider and its link extractors find the tree."""
    page = response()
    trees = seen(page)
    root = page._cached_selector.root
    assert [link.url for link in LinkExtractor().extract_links(page)] == ["http://a.example/"]
    assert page.css("main")
    assert page.selector.root is root
    found = trees.read_page(getattr(page, kind))
    assert strip_chrome(found).blocks == strip_chrome(PAGE).blocks


@compiled
async def test_a_pipeline_parses_it_no_more(monkeypatch):
    """Nor does it look again whether the page is within all limits."""
    middleware = parser()
    pipeline = ChromePipeline.from_crawler(middleware._crawler)
    monkeypatch.delattr("crawler.pipelines.chrome.parse_in_turns")
    page = response()
    middleware.process_spider_input(page)
    expected = strip_chrome(PAGE).text
    for module in "document", "limits":
        monkeypatch.delattr(f"crawler.chrome.page.{module}.bound_page")
    for item in ({"url": URL, "html": page.body}, {"url": URL, "html": page.text}):
        assert (await pipeline.process_item(item))["text"] == expected


@compiled
@pytest.mark.parametrize(
    "change",
    [
        lambda main: main.getparent().remove(main),
        lambda main: [setattr(one, "text", "Sold out") for one in main],
        lambda main: main.set("hidden", ""),
        lambda main: main.replace(main[1], fromstring("<p>An advertisement of a shop</p>")),
        lambda main: fromstring("<p>").append(main),
    ],
    ids=["removed", "text", "attribute", "replaced", "moved"],
)
def test_what_a_spider_changes_in_the_tree_is_not_the_page(change):
    page = response()
    trees = seen(page)
    change(page.css("main")[0].root)
    assert strip_chrome(trees.read_page(page.body)).blocks == strip_chrome(PAGE).blocks


@compiled
def test_a_page_that_is_not_to_be_checked_is_not_parsed():
    page = response(request=Request(URL, meta={"dedup": False}))
    assert seen(page).read_page(page.body) is None
    assert page._cached_selector is None


@compiled
def test_a_tree_that_was_there_is_left_alone():
    """Who knows what others have done to it."""
    page = response()
    page.css("p").drop()
    assert seen(page).read_page(page.body) is None


@compiled
def test_other_pages_are_left_to_the_pipeline():
    """Those from elsewhere, though equal, and those whose response is gone."""
    page = response()
    trees = seen(page)
    body = page.body
    for other in (PAGE, PAGE.encode(), page.body + b" ", ""):
        assert trees.read_page(other) is None
    assert trees.read_page(body)
    del page
    gc.collect()
    assert trees.read_page(body) is None
    assert not trees._noted


@compiled
@pytest.mark.parametrize("kind", [Response, XmlResponse])
def test_other_responses_are_left_alone(kind):
    page = kind(URL, body=PAGE.encode())
    assert seen(page).read_page(page.body) is None


CROWDED = "<b " + " ".join(f"a{i}=c" for i in range(15_000)) + ">" + PAGE


@compiled
@pytest.mark.parametrize(
    ("body", "encoding"),
    [("x" * 1_000_000, "utf-8"), (CROWDED, "utf-8"), (CROWDED, "utf-16"), (CROWDED, "cp037")],
    ids=["long", "crowded", "wide", "EBCDIC"],
)
def test_what_may_take_long_is_not_parsed_here(body, encoding):
    """A tag of very many attributes takes hours, also where its bytes show no tag."""
    page = response(body.encode(encoding), encoding=encoding)
    assert seen(page).read_page(page.body) is None
    assert page._cached_selector is None


@compiled
def test_what_goes_wrong_is_the_pipelines_matter():
    page = response(encoding="rot13")
    assert seen(page).read_page(page.body) is None


@compiled
def test_without_a_pipeline_nothing_is_parsed():
    page = response()
    parser().process_spider_input(page)
    assert page._cached_selector is None


def test_who_does_without():
    """The spider of this package parses for itself, and so do other extractors."""
    with pytest.raises(NotConfigured):
        parser(SiteSpider)
    with pytest.raises(NotConfigured):
        parser(DEDUP_EXTRACTOR=str)


@compiled
@pytest.mark.filterwarnings("ignore:Input data is too big")
def test_an_older_parsel_is_not_trusted(monkeypatch):
    """Its trees end where a page is deeper than 256 elements."""
    assert parser()
    monkeypatch.setattr("crawler.pipelines.reading.Selector", partial(Selector, huge_tree=False))
    with pytest.raises(NotConfigured):
        parser()


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
    found = seen(page).read_page(page.body)
    assert found is None or strip_chrome(found).blocks == strip_chrome(body).blocks


one_parser = cache(parser)  # as of a crawl of many pages


@compiled
@settings(deadline=None, max_examples=200)
@given(SOUP)
@example("<script type=application/ld+json>\r")
def test_soup_comes_out_as_parsed_here(html):
    """Any page, but for the white space at its ends, which parsel drops."""
    page = response(html.encode("utf-8", "replace"), encoding="utf-8")
    found, own = seen(page, one_parser()).read_page(page.body), parse(page.body.strip())
    assert found is not None or not is_harmless(page.body)
    if found is None:
        return
    assert strip_chrome(found).blocks == strip_chrome(own).blocks
    assert found.head == own.head
