"""A page that the spider has parsed is not parsed again, and comes out the same."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from scrapy import signals
from scrapy.http import HtmlResponse, Request, Response, XmlResponse
from scrapy.utils.test import get_crawler

from crawler.chrome import document, parse, parse_in_steps, strip_chrome
from crawler.pipelines import ChromePipeline, DuplicatePipeline
from crawler.pipelines.trees import ResponseTrees
from tests.chrome.test_hostile import SOUP

URL = "http://a.example/tea"
PAGE = (
    "<title>Tea</title><nav><a href=/>Home</a></nav><main><h1>Té</h1>"
    "<p>Tea is an aromatic drink made with hot water.</p><p class=last>It is much loved.</p></main>"
)


def response(body: str | bytes = PAGE, **values: Any) -> HtmlResponse:
    body = body.encode() if isinstance(body, str) else body
    return HtmlResponse(URL, body=body, **values)


async def text_of(
    make: type[ChromePipeline | DuplicatePipeline],
    html: Callable[[HtmlResponse], str | bytes],
    **values: Any,
) -> str:
    """The main text of a page from whose tree the spider has taken an element."""
    crawler = get_crawler(settings_dict=values)
    pipeline = make.from_crawler(crawler)
    page = response()
    crawler.signals.send_catch_log(
        signals.response_received, response=page, request=Request(URL), spider=None
    )
    page.css(".last").drop()
    item = await pipeline.process_item({"url": URL, "html": html(page)})
    return str(item["text"])


WHOLE, LESS = strip_chrome(PAGE).text, strip_chrome(PAGE.replace("It is much loved.", "")).text


@pytest.mark.parametrize("make", [ChromePipeline, DuplicatePipeline])
@pytest.mark.parametrize("html", [lambda page: page.body, lambda page: page.text])
async def test_a_tree_that_is_there_is_read(make, html):
    """So what the spider took out of it is missing; ``DEDUP_SHARE_TREES`` tells that not to be."""
    assert await text_of(make, html) == (LESS if document.COMPILED else WHOLE)
    assert await text_of(make, html, DEDUP_SHARE_TREES=False) == WHOLE


async def test_html_of_another_kind_is_parsed():
    """What an item holds counts, whatever came from its address."""
    assert await text_of(ChromePipeline, lambda page: page.text + "<!-- -->") == WHOLE


def test_what_nobody_has_parsed_stays_so():
    """A selector is not made for it: that would parse a page that may be an attack."""
    trees, page = ResponseTrees(), response()
    trees.note(page)
    assert trees.of(URL, page.body) is None
    assert page._cached_selector is None
    assert page.selector.root is trees.of(URL, page.body).root
    assert trees.of(URL, page.text).text == PAGE
    assert trees.of(URL + "?", page.body) is None
    assert trees.of(URL, b"") is None


def test_a_response_is_not_kept():
    """It goes when Scrapy lets it go."""
    trees, page = ResponseTrees(), response()
    trees.note(page)
    assert page.selector
    body = page.body
    del page
    gc.collect()
    assert trees.of(URL, body) is None


@pytest.mark.parametrize("kind", [Response, XmlResponse])
def test_other_kinds_of_response_are_left_alone(kind):
    trees, page = ResponseTrees(), kind(URL, body=PAGE.encode())
    trees.note(page)
    assert trees.of(URL, page.body) is None


def shared(page: HtmlResponse) -> document.Document:
    """What comes out of a response that has been parsed."""
    trees = ResponseTrees()
    trees.note(page)
    assert page.selector
    steps = parse_in_steps(page.body, parsed=trees.of(URL, page.body))
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


@pytest.mark.parametrize(
    ("body", "declared"),
    [
        (PAGE.encode("latin-1"), "iso-8859-1"),
        (PAGE.encode(), "iso-8859-1"),  # which Scrapy believes
        (PAGE.encode("utf-16"), None),
        (b"\xef\xbb\xbf" + PAGE.encode(), None),
        (PAGE.replace("Tea", "T\0a").encode(), "utf-8"),
        (("<b " + "a" * 10 + " b=c" * 90_000 + ">" + PAGE).encode(), "utf-8"),
        (b"<main>" + b"<p>a" * 60_000, "utf-8"),
        (b"<i>" * 3000 + PAGE.encode(), "utf-8"),
        (b"", "utf-8"),
        (b" \n" + PAGE.encode(), "utf-8"),
    ],
    ids=[
        "latin-1", "wrong", "utf-16", "mark", "zero", "attributes", "tags", "deep", "empty", "space"
    ],
)  # fmt: skip
def test_pages_come_out_as_parsed_here(body, declared):
    """Encodings that Scrapy and this package see otherwise, and pages beyond the limits."""
    page = response(body, encoding=declared)
    if b" b=c" in body:
        page._cached_selector = response().selector  # parsing it would take minutes
    assert strip_chrome(shared(page)).blocks == strip_chrome(body).blocks


@settings(deadline=None, max_examples=200)
@given(SOUP)
def test_soup_comes_out_as_parsed_here(html):
    """Any page."""
    body = html.encode("utf-8", "replace")
    read, own = shared(response(body, encoding="utf-8")), parse(body)
    assert strip_chrome(read).blocks == strip_chrome(own).blocks
    assert read.head == own.head
