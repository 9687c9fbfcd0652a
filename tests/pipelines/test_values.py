"""Fields as they come: lists of one, selectors, responses, soup, URLs that are objects."""

from __future__ import annotations

import contextlib
import gc
import sys
import weakref
from collections import Counter
from dataclasses import dataclass, field, fields
from typing import Any
from urllib.parse import urlsplit

import pytest
from bs4 import BeautifulSoup
from parsel import Selector
from scrapy.http import HtmlResponse, JsonResponse, Request, Response, TextResponse
from scrapy.loader import ItemLoader
from scrapy.utils.test import get_crawler

from crawler.addon import Addon
from crawler.dedup import ConfigError, DedupConfig, Verdict
from crawler.pipelines import ExactDuplicate, feeds, resetting
from crawler.pipelines.dropping import DroppedPage
from crawler.pipelines.item_pages.item_page import Missing
from crawler.pipelines.item_pages.origins import Origin, Origins
from crawler.pipelines.item_pages.page_reader import PageReader
from crawler.pipelines.log_format import BriefLogFormatter
from crawler.pipelines.result_middleware import ResultMiddleware
from tests.pipelines.test_duplicates import ARTICLE, OTHER, html

PAGE = html(ARTICLE)
URL = "https://a.example/tea"


class Url:
    """As Pydantic's HttpUrl and yarl's URL are: no text, but one as str."""

    scheme, host = "https", "b.example"

    def __str__(self) -> str:
        return "https://b.example/"


@pytest.mark.parametrize(
    "values",
    [
        {"html": [PAGE]},
        {"html": Selector(PAGE)},
        {"html": Selector(PAGE).css("main")},
        {"html": HtmlResponse("https://b.example/", body=PAGE.encode())},
        {"html": BeautifulSoup(PAGE, "html.parser")},
        {"text": [ARTICLE]},
        {"text": Selector(PAGE).css("p")},
        {"text": Selector(PAGE).css("p::text")},
        {"text": ARTICLE, "url": ["https://b.example/"]},
        {"text": ARTICLE, "url": Url()},
        {"text": ARTICLE, "url": urlsplit("https://b.example/")},
    ],
)
async def test_values_of_many_types(bench, values):
    """Each is the page that it holds, and its copy is found."""
    await bench.process({"url": URL, "text": ARTICLE})
    with pytest.raises(ExactDuplicate) as caught:
        await bench.process({"url": "https://b.example/", **values})
    assert caught.value.verdict.url == "https://b.example/"


@pytest.mark.filterwarnings("ignore:The `__fields__` attribute")  # of an older itemadapter
async def test_pydantic_models(bench, caplog):
    """An HttpUrl is a URL; a verdict that the model refuses is told as that, once."""
    pydantic = pytest.importorskip("pydantic")

    class Page(pydantic.BaseModel, validate_assignment=True):
        url: pydantic.HttpUrl
        text: str
        dedup: dict[str, str] | None = None

    for number, text in enumerate((ARTICLE, OTHER)):
        await bench.process(Page(url=f"https://a.example/{number}", text=text))
    assert bench.stats["dedup/untagged"] == 2
    (message,) = caplog.messages
    assert "has the field 'dedup' but refuses the verdict (dict) in it, with Valid" in message
    assert "DEDUP_TAG" in message


def test_an_item_that_refuses_its_tag_takes_a_plain_one():
    """DEDUP_TAG=kind is a str, which a strict type may well take."""
    assert DedupConfig(tag="kind").tag == "kind"
    with pytest.raises(ConfigError, match="DEDUP_TAG expects one of full, kind"):
        DedupConfig(tag="all")


def response(url: str = URL, kind: type[Response] = HtmlResponse, **meta: Any) -> Any:
    return kind(url, body=PAGE.encode(), request=Request("https://a.example/old", meta=meta))


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


def test_no_response_is_held_longer_than_its_items_live():
    """Nor is an item that never came to an end, as one that another pipeline replaced."""
    crawler, reader = get_crawler(), PageReader(DedupConfig(), lambda name: None)
    origins, tracker = Origins.of_crawl(crawler, reader), ResultMiddleware(crawler)
    page, item = response(), {"title": 1}
    assert list(tracker.process_spider_output(page, [Request(URL), item]))[1] is item
    found = origins.find_origin(item)
    assert found is not None
    assert (found.response, found.is_alone) == (page, True)
    assert origins.find_origin(dict(item)) is None
    is_gone = weakref.ref(page)
    del page, found
    gc.collect()
    assert is_gone() is None
    assert not origins._noted


def coloured(**values: Any) -> list[dict[str, Any]]:
    return [{"url": URL, **values, "colour": colour} for colour in ("red", "green")]


@pytest.mark.parametrize(
    ("items", "settings", "kept"),
    [
        (coloured(text=ARTICLE), {}, 2),
        ([{"url": f"{URL}#{n}", "html": f"<p id={n}>{ARTICLE}"} for n in (1, 2)], {}, 2),
        ([{"url": f"{URL}?{n}", "html": response().text} for n in (1, 2)], {}, 2),
        ([{"url": f"{URL}?{n}", "text": ARTICLE} for n in (1, 2)], {}, 1),
        ([{"url": URL, "text": ARTICLE}] * 2, {}, 1),
        (coloured(text=ARTICLE), {"page": "item"}, 1),
    ],
)
@pytest.mark.parametrize("first", ["first", "second", "none"])
async def test_items_of_one_response_with_one_page(open_bench, items, settings, kept, first):
    """Variants of a product are all kept, or all dropped with their page; in any order.

    The same item twice is a repetition, and what has a URL and a text of its own is a page.
    """
    bench, crawler = await open_bench(**settings), get_crawler()
    bench.pipeline.origins = Origins.of_crawl(crawler, bench.pipeline.texts.reader)
    if first == "none":
        await bench.process({"url": "https://b.example/", "text": ARTICLE})
    page, passed = response(), []
    tracker = ResultMiddleware(crawler)
    found = list(tracker.process_spider_output(page, [dict(item) for item in items]))
    for item in found if first == "first" else found[::-1]:
        with contextlib.suppress(ExactDuplicate, DroppedPage):
            passed.append(await bench.process(item))
    holds_body = "html" in items[0] and "?" in items[0]["url"]
    assert len(passed) == (holds_body if first == "none" else kept)
    assert sum("dedup" in item for item in passed) == (first != "none")


def test_a_long_list_is_not_held():
    """Of a feed with a million rows, only the latest are compared with each other."""

    class Value:
        pass

    crawler, reader = get_crawler(), PageReader(DedupConfig(), lambda name: None)
    origins = Origins.of_crawl(crawler, reader)
    rows = ({"url": f"{URL}/{n}", "text": ARTICLE, "value": Value()} for n in range(300))
    passed = ResultMiddleware(crawler).process_spider_output(response(), rows)
    row = next(passed)
    value = weakref.ref(row["value"])
    origins.forget_item(row)
    del row
    for _ in range(200):
        origins.forget_item(next(passed))
    gc.collect()
    assert value() is None


async def test_an_item_waits_for_the_next_one_only():
    """Requests pass at once, items in their order, and none is lost when a callback fails."""
    crawler, reader = get_crawler(), PageReader(DedupConfig(), lambda name: None)
    origins, tracker = Origins.of_crawl(crawler, reader), ResultMiddleware(crawler)
    page, first, second, request = response(), {"n": 1}, {"n": 2}, Request(URL)

    async def callback(*results: Any) -> Any:
        for result in results:
            yield result
        raise ValueError("no price")

    passed = tracker.process_spider_output_async(page, callback(first, request))
    assert [await anext(passed), await anext(passed)] == [request, first]
    with pytest.raises(ValueError, match="no price"):
        await anext(passed)
    assert origins.find_origin(first).is_alone
    seen = list(tracker.process_spider_output(page, [first, request, second]))
    assert seen == [request, first, second]
    assert not origins.find_origin(first).is_alone
    # What has a page of its own need not wait.
    whole = {"url": URL, "text": ARTICLE}
    assert next(tracker.process_spider_output(page, iter([whole, second]))) is whole


@pytest.mark.parametrize("count", [1, 100])
async def test_a_crawl_that_stops_when_nothing_can_be_checked(open_bench, count):
    """With DEDUP_ON_UNCHECKED=stop it fails, and goes on no longer than for a hundred items."""
    bench = await open_bench(on_unchecked="stop")
    stopped: list[str] = []
    bench.pipeline.outcome._stop = lambda: stopped.append("stopped")
    bench.pipeline.outcome._fail = lambda: stopped.append("failed")
    for number in range(count):
        await bench.process({"title": number})
    await bench.pipeline.close_spider()
    assert stopped == (["stopped"] if count == 100 else []) + ["failed"]


async def test_a_crawl_that_begins_anew(open_bench, monkeypatch, caplog):
    """DEDUP_RESET deletes the index if somebody agrees; where nobody is there, only by `yes`."""
    bench = await open_bench(namespace="anew", seed=None)
    await bench.process({"url": URL, "text": ARTICLE})
    await bench.pipeline.close_spider()
    bench = await open_bench(namespace="anew", seed=None, reset="yes")
    item = await bench.process({"url": URL, "text": ARTICLE})
    assert item["dedup"]["kind"] == "unique"
    await bench.pipeline.close_spider()
    config = DedupConfig(reset="1")
    monkeypatch.setattr(sys.stdin, "isatty", lambda: False, raising=False)
    with pytest.raises(ConfigError, match="set DEDUP_RESET=yes"):
        await resetting.reset_if_asked(config)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys.stdin, "readline", lambda: "n\n", raising=False)
    with pytest.raises(ConfigError, match="nothing was deleted"):
        await resetting.reset_if_asked(config)


@dataclass
class Quiet:
    url: str = URL
    html: str = field(default="<p>" * 50_000, repr=False)


@pytest.mark.parametrize("item", [{"url": URL, "html": ["<p>" * 50_000]}, Quiet()])
def test_logs_without_pages(item):
    """A page is told by its beginning and its length; what is short stays as it is."""
    crawler = get_crawler(settings_dict={"ADDONS": {Addon: 500}})
    assert isinstance(crawler.logformatter, BriefLogFormatter)
    spider = crawler._create_spider("x")
    for said in (
        crawler.logformatter.scraped(item, None, spider),
        crawler.logformatter.dropped(item, ExactDuplicate, None, spider),
        crawler.logformatter.item_error(item, ValueError(), None, spider),
    ):
        line = said["msg"] % said["args"]
        assert URL in line
        assert "(150,000 characters)" in line
        assert len(line) < 500
    short = crawler.logformatter.scraped({"url": URL}, None, spider)
    assert (short["msg"] % short["args"]).endswith(str({"url": URL}))


def test_a_project_keeps_its_own_log_formatter():
    """And its own exporter, if it has one."""
    settings = {"ADDONS": {Addon: 500}, "LOG_FORMATTER": "scrapy.logformatter.LogFormatter"}
    crawler = get_crawler(settings_dict=settings)
    assert type(crawler.logformatter) is not BriefLogFormatter


def test_tags_in_parquet():
    """With this type the schema of a batch is the same, whatever verdicts it has."""
    pyarrow = pytest.importorskip("pyarrow")
    tags = [{"kind": "unique", "url": "/a", "cluster": 1}, {"kind": "exact", "duplicate_of": "/a"}]
    schema = pyarrow.schema([("dedup", feeds.arrow_type())])
    tables = [pyarrow.Table.from_pylist([{"dedup": tag}], schema=schema) for tag in tags]
    assert tables[0].schema == tables[1].schema
    assert {one.name for one in fields(Verdict)} == {one.name for one in feeds.arrow_type()}
    assert tables[1]["dedup"][0].as_py()["duplicate_of"] == "/a"


@pytest.mark.parametrize("kind", [HtmlResponse, Response])
@pytest.mark.parametrize(
    ("url", "missing"),
    [("tea", None), ("cake", Missing.OTHER_URL), ("http://[", Missing.OTHER_URL)],
)
def test_an_item_that_names_its_page_without_the_host(
    kind: type[Response], url: str, missing: Missing | None
) -> None:
    """It is of the response with that URL, a file too; a URL that is none is of no response."""
    body = b"%PDF-1.7" if kind is Response else b"<p>Tea"
    origin = Origin(kind("http://a.example/list/tea", body=body), is_alone=True)
    page = PageReader(DedupConfig(files=True), lambda name: None).read({"url": url}, origin)
    assert page.missing is missing
    assert missing is not None or page.url == "http://a.example/list/tea"


@pytest.mark.parametrize(
    ("item", "settings", "missing", "url"),
    [
        ({"text": ARTICLE, "id": 7}, {"url_field": "id"}, None, "7"),
        ({"text": ARTICLE, "id": "7"}, {"url_field": "id"}, None, "7"),
        ({"text": ARTICLE, "id": 7}, {}, Missing.URL, ""),
        ({"text": ARTICLE, "id": True}, {"url_field": "id"}, Missing.URL, ""),
        ({"title": "Tea"}, {}, Missing.LISTING, ""),
    ],
)
def test_items_of_a_list_need_a_url(item, settings, missing, url):
    """A number, as of an API, does for one. If nothing else is missing, the reason says so."""
    stats = Counter()
    reader = PageReader(DedupConfig(**settings), lambda name: stats.update([name]))
    answer = JsonResponse("https://a.example/teas", body=b"{}")
    found = reader.read(item, Origin(answer, is_alone=False))
    assert (found.missing, found.url) == (missing, url)
    field = settings.get("url_field", "url")
    assert stats[f"dedup/missing_field/{field}"] == (missing is Missing.URL)


async def test_what_is_returned_is_not_taken_for_a_later_item():
    """Python gives an object the identity of one that is gone."""
    origins, page = Origins(), response()
    origins.note_passing({"title": 1})
    later = {"title": 2}
    origins.note_origin(later, Origin(page, is_alone=True))
    assert origins.find_origin({"title": 1, "page": 2}) is None
