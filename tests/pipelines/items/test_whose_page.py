"""Which response or page an item is of."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from parsel import Selector
from scrapy.http import HtmlResponse, JsonResponse, Request, Response, TextResponse
from scrapy.loader import ItemLoader

from crawler.dedup import DedupConfig
from crawler.pipelines import ExactDuplicate
from crawler.pipelines.item_pages.item_page import Missing
from crawler.pipelines.item_pages.origins import Origin
from crawler.pipelines.item_pages.page_reader import PageReader
from tests.pipelines.items.responses import PAGE, URL, response
from tests.pipelines.stories import ARTICLE, OTHER


@pytest.mark.parametrize(
    ("item", "page", "is_alone", "expected"),
    [
        ({"title": 1}, "auto", True, URL),
        ({"title": 1}, "auto", False, Missing.LISTING),
        ({"title": 1}, "item", True, Missing.URL),
        ({"url": "/tea#top"}, "auto", True, f"{URL}#top"),
        ({"url": "https://a.example/old"}, "auto", True, "https://a.example/old"),
        ({"url": "https://a.example/older"}, "auto", True, "https://a.example/older"),
        ({"url": "https://elsewhere.example/"}, "auto", True, Missing.OTHER_URL),
        ({"url": "https://elsewhere.example/"}, "response", True, URL),
        ({"url": "https://elsewhere.example/", "text": OTHER}, "response", True, URL),
        ({"url": "https://a.example/1", "text": OTHER}, "auto", False, "https://a.example/1"),
        ({"url": "https://a.example/1", "text": OTHER}, "response", False, "https://a.example/1"),
        ({"text": OTHER}, "auto", True, URL),
        ({"text": OTHER}, "auto", False, Missing.URL),
    ],
)
def test_whose_page_it_is(item, page, is_alone, expected):
    """The rules of DEDUP_PAGE: whose URL counts, and why there may be no page."""
    reader = PageReader(DedupConfig(page=page), lambda name: None)
    origin = Origin(response(redirect_urls=["https://a.example/older"]), is_alone)
    found = reader.read(item, origin)
    assert (found.missing or found.url) == expected
    if "text" in item and page == "auto":
        assert found.text == OTHER


@pytest.mark.parametrize(
    ("named", "carried", "expected"),
    [
        ("/tea", {}, "https://a.example/print"),
        ("https://A.example/tea#top", {}, "https://a.example/print"),
        ("/cups", {}, Missing.OTHER_URL),
        ("", {}, Missing.OTHER_URL),
        ("http://[", {}, Missing.OTHER_URL),
        ("/tea", {"item": {"url": URL}}, Missing.OTHER_PAGE),
        ("/tea", {"product": URL}, Missing.OTHER_URL),
        ("/tea", {"product": "/tea"}, Missing.OTHER_URL),
        ("/tea", {"product": "tea"}, "https://a.example/print"),
    ],
)
def test_an_item_with_the_canonical_url_of_its_page(named, carried, expected):
    """It is of this page, unless it was begun on another: reviews may name the product's page."""
    body = PAGE.replace("<title>", f'<link rel="Canonical" href="{named}"><title>', 1)
    request = Request("https://a.example/print", cb_kwargs=carried)
    page = HtmlResponse(request.url, body=body.encode(), request=request)
    item = carried.get("item", {"url": URL})
    found = PageReader(DedupConfig(), print).read(item, Origin(page, is_alone=True))
    assert (found.missing or found.url) == expected


def load(**values: Any) -> ItemLoader:
    loader = ItemLoader(item={})
    loader.add_value(None, values)
    return loader


@pytest.mark.parametrize(
    ("finish", "page", "expected"),
    [
        (lambda item, loader: item, "auto", Missing.OTHER_PAGE),
        (lambda item, loader: {**item, "stars": 5}, "auto", Missing.OTHER_PAGE),
        (lambda item, loader: loader.load_item(), "auto", Missing.OTHER_PAGE),
        (lambda item, loader: item, "response", URL),
        (lambda item, loader: item | {"at": URL}, "auto", URL),
        (lambda item, loader: {"title": "Tea"}, "auto", URL),
        (lambda item, loader: {"price": item["price"]}, "auto", URL),
        (lambda item, loader: {"of": "https://a.example/list"}, "auto", Missing.OTHER_PAGE),
        (lambda item, loader: {"of": "https://a.example/list", "at": URL}, "auto", URL),
        (lambda item, loader: {"of": "https://a.example/others"}, "auto", URL),
    ],
)
def test_an_item_begun_on_another_page(finish, page, expected):
    """The response that completes it is not its page, unless the item has its URL."""
    item, loader = {"title": "Tea", "price": [7], "note": None}, load(title="Tea")
    request = Request(URL, cb_kwargs={"item": item, "price": 7}, meta={"loader": loader})
    request.headers["Referer"] = "https://a.example/list"
    origin = Origin(HtmlResponse(URL, body=PAGE.encode(), request=request), is_alone=True)
    found = PageReader(DedupConfig(page=page), lambda name: None).read(finish(item, loader), origin)
    assert (found.missing or found.url) == expected


@pytest.mark.parametrize(
    ("item", "settings", "is_alone", "expected"),
    [
        ({"text": "Sold out"}, {}, True, URL),
        ({"url": URL, "text": "Sold out"}, {}, True, URL),
        ({"url": URL, "text": OTHER}, {}, True, OTHER),
        ({"url": URL, "text": "Sold out", "html": "<p>Sold out</p>"}, {}, True, "Sold out"),
        ({"url": "https://a.example/1", "text": "Sold out"}, {}, True, Missing.SHORT_TEXT),
        ({"url": "https://a.example/1", "text": "Sold out"}, {}, False, Missing.SHORT_TEXT),
        ({"url": "https://a.example/1", "text": OTHER}, {}, False, OTHER),
        ({"body": "Sold out"}, {"text_field": "body"}, True, "Sold out"),
        ({"url": URL, "text": "Sold out"}, {"page": "item"}, True, "Sold out"),
        ({"url": URL, "text": "Sold out"}, {"page": "item"}, False, "Sold out"),
        ({"text": [OTHER, "Sold out"]}, {}, True, URL),
        ({"body": [OTHER, "Sold out"]}, {"text_field": "body"}, True, f"{OTHER}\nSold out"),
    ],
)
def test_a_short_text_may_be_a_field_of_the_page(item, settings, is_alone, expected):
    """What a shop says of fifty pages, or of fifty rows of a list, makes no copies, unless a
    setting names the field.
    """
    reader = PageReader(DedupConfig(**settings), lambda name: None)
    found = reader.read(dict(item), Origin(response(), is_alone))
    assert (found.missing or (found.url if found.of_response else found.text)) == expected
    assert reader.needs_response(item) or expected not in (URL, Missing.SHORT_TEXT)


def test_what_is_no_html_is_no_page():
    """JSON of an API has no main text; an item with a text of its own needs none."""
    reader = PageReader(DedupConfig(), lambda name: None)
    origin = Origin(response(kind=JsonResponse), True)
    assert reader.read({"title": 1}, origin).missing is Missing.NOT_HTML
    for text, expected in (OTHER, OTHER), ([OTHER, OTHER], f"{OTHER}\n{OTHER}"):
        found = reader.read({"text": text}, origin)
        assert (found.missing, found.text, found.url) == (None, expected, URL)
    assert reader.read({"text": "Sold out"}, origin).missing is Missing.SHORT_TEXT


class Rendered(Response):
    """As what Splash renders: no HTML in Scrapy's eyes, but with a text."""

    @property
    def text(self) -> str:
        return self.body.decode()

    def css(self, query: str) -> Any:
        return Selector(self.text).css(query)


@pytest.mark.parametrize("kind", [Rendered, TextResponse])
@pytest.mark.parametrize("start", ["<!DOCTYPE html>", "\ufeff<!doctype HTML>", "\n<html lang=en>"])
async def test_rendered_html_is_a_page(bench, kind, start):
    """A service answers with a class of its own; the page may declare the encoding it once had."""
    tea = f"{start}<meta charset=latin1><title>Tea</title><p>{ARTICLE} Café.</p>"
    cocoa = tea.replace("Tea", "Cocoa").replace(ARTICLE, OTHER)
    kinds = []
    for number, text in enumerate((tea, tea, cocoa, '{"a": "<html>"}')):
        request = Request(f"https://a.example/{number}")
        answer = kind(request.url, body=text.encode(), request=request)
        item, origin = {"title": "Tea"}, Origin(answer, is_alone=True)
        found = PageReader(DedupConfig(), lambda name: None).read(item, origin)
        assert found.html == (None if found.missing else answer.text)
        bench.pipeline.origins.note_origin(item, origin)
        with contextlib.suppress(ExactDuplicate):
            await bench.process(item)
        kinds.append(item.get("dedup", {}).get("kind"))
    assert kinds == ["unique", None, None, None]
    assert bench.stats["dedup/dropped/exact"] == bench.stats["dedup/no_page/other_text"] == 1
    assert bench.stats["dedup/no_page/not_html"] == 1


@pytest.mark.parametrize(
    ("status", "page", "missing"),
    [(404, "auto", Missing.ERROR), (500, "auto", Missing.ERROR), (404, "response", None)],
)
def test_an_error_is_no_page(status, page, missing):
    """Links that are broken are no copies of each other, although the server says the same."""
    reader = PageReader(DedupConfig(page=page), lambda name: None)
    answer = response().replace(status=status)
    assert reader.read({"url": URL, "status": status}, Origin(answer, True)).missing is missing
    assert reader.read({"url": URL, "text": OTHER}, Origin(answer, True)).missing is None


def test_a_text_of_its_own_goes_before_a_plain_response():
    """In the field of the HTML that is a page's text only where the item has none."""
    reader = PageReader(DedupConfig(), lambda name: None)
    plain = TextResponse(URL, body=b"Tea", headers={"Content-Type": "text/plain"})
    for own, text in ({"text": OTHER}, OTHER), ({}, "Tea"):
        found = reader.read({"url": URL, "html": plain, **own})
        assert (found.missing, found.text, found.html) == (None, text, None)


async def test_the_response_says_what_an_item_would(open_bench):
    """The page that it names as canonical, and the date it was published at."""
    bench = await open_bench(prefer="canonical")
    head = f'<link rel="canonical" href="{URL}"><title>A'
    body = PAGE.replace("<title>A", head).encode()
    copy, item = HtmlResponse("https://a.example/print", body=body), {"title": 1}
    bench.pipeline.origins.note_origin(item, Origin(copy, is_alone=True))
    tag = (await bench.process(item))["dedup"]
    assert (tag["kind"], item.keys()) == ("unique", {"title", "dedup"})
    tag = (await bench.process({"url": URL, "text": ARTICLE}))["dedup"]
    assert tag["replaces"] == "https://a.example/print"
