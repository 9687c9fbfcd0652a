"""Items that were begun on another page than the one that completes them."""

from __future__ import annotations

import json
import pickle
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from scrapy.http import HtmlResponse, JsonResponse, Request, Response
from scrapy.loader import ItemLoader
from scrapy.utils.test import get_crawler

from crawler.chrome import strip_chrome
from crawler.dedup import DedupConfig
from crawler.pipelines.item_pages.belonging import Labels, find_lacking, why_elsewhere
from crawler.pipelines.item_pages.carried import note_given
from crawler.pipelines.item_pages.item_page import ItemPage, Missing
from crawler.pipelines.item_pages.origins import Origin, Origins
from crawler.pipelines.item_pages.page_reader import PageReader
from crawler.pipelines.result_middleware import ResultMiddleware
from tests.pipelines.stories import ARTICLE, OTHER, html

URLS = "https://a.example/1", "https://a.example/2"


@dataclass
class Thing:
    name: str
    stars: int = 0


def complete(response: Any, **values: Any) -> Any:
    return values


def parse(*requests: Request, kind: type[Response] = HtmlResponse) -> list[Request]:
    """The requests that a callback yields, as the add-on passes them on."""
    crawler, reader = get_crawler(), PageReader(DedupConfig(), lambda name: None)
    origins = Origins.of_crawl(crawler, reader)
    passed = ResultMiddleware(crawler).process_spider_output(kind("https://a.example/"), requests)
    assert origins is not None
    return list(passed)  # type: ignore[arg-type]


def judge(item: Any, request: Request, body: str, labels: Labels | None = None) -> Missing | None:
    """Why the response of a request is not an item's page; None if it is."""
    reader = PageReader(DedupConfig(), lambda name: None)
    response = HtmlResponse(request.url, body=body.encode(), request=request)
    page = reader.read(item, Origin(response, is_alone=True))
    if page.missing is not None:
        return page.missing
    found = strip_chrome(body)
    if labels is not None:
        return why_elsewhere(item, page, found, response, labels)
    missing = why_elsewhere(item, page, found, response, Labels())
    # The same with the text of another extractor.
    assert missing is why_elsewhere(item, page, found.text, response, Labels())
    return missing


TEA = html(ARTICLE).replace("<p>", "<h1>Green tea</h1><p>", 1)
CUP = html(OTHER).replace("<p>", "<h1>A cup</h1><p>", 1)
EMPTY = html("No reviews yet. Be the first to write one.")


def carry(way: str, url: str, name: str) -> tuple[Request, Any]:
    """A request that brings a name along, and the item that its callback makes of it."""
    loader, thing = ItemLoader(item={}), Thing(name)
    loader.add_value("name", name)
    if way == "loader":
        request = Request(url, meta={"loader": loader})
        return request, loader.load_item
    given: dict[str, Any] = {
        "item": {"cb_kwargs": {"item": {"name": name}}},
        "nested": {"meta": {"data": {"product": {"names": [name]}}}},
        "dataclass": {"meta": {"thing": thing}},
        "value": {"cb_kwargs": {"name": name}},
        "partial": {"callback": partial(complete, name=name)},
        "lambda": {"callback": lambda response: complete(response, name=name)},
        "default": {"callback": lambda response, name=name: complete(response, name=name)},
    }[way]
    made = {
        "item": lambda: {**given["cb_kwargs"]["item"], "price": "7 Euro"},
        "dataclass": lambda: thing,
    }
    return Request(url, **given), made.get(way, lambda: {"title": f"{name.upper()} (new)"})


WAYS = ["item", "nested", "dataclass", "value", "partial", "lambda", "default", "loader"]


@pytest.mark.parametrize("way", WAYS)
def test_what_a_product_page_begins(way: str) -> None:
    """Its only request of a kind leads to reviews, prices or the like, whatever they say."""
    request, make = carry(way, URLS[0], "Green tea")
    passed = parse(request, Request(URLS[1], parse, cb_kwargs={"name": "Green tea"}))
    for body in EMPTY, TEA:
        assert judge(make(), passed[0], body) is Missing.OTHER_PAGE
    assert judge({"title": "No reviews yet"}, passed[0], EMPTY) is None


@pytest.mark.parametrize("way", WAYS)
def test_what_a_list_begins(way: str) -> None:
    """Each request of a kind leads to the page of an item, if that page says so."""
    (first, make), (second, make_second) = (
        carry(way, url, name) for url, name in zip(URLS, ("Green tea", "A cup"), strict=True)
    )
    passed = parse(first, second)
    if way == "dataclass":
        make().stars = 5
    assert judge(make(), passed[0], TEA) is None
    assert judge(make_second(), passed[1], CUP) is None
    assert judge(make(), passed[0], EMPTY) is Missing.OTHER_PAGE
    assert judge(make(), passed[0], CUP) is Missing.OTHER_PAGE


@pytest.mark.parametrize("way", WAYS)
def test_what_an_api_begins(way: str) -> None:
    """What it answers is no page, so an item may be of the one that it leads to."""
    request, make = carry(way, URLS[0], "Green tea")
    (passed,) = parse(request, kind=JsonResponse)
    assert judge(make(), passed, TEA) is None
    assert judge(make(), passed, EMPTY) is Missing.OTHER_PAGE


def test_a_title_that_a_list_has_cut_off() -> None:
    """It is on the page as far as it goes."""
    names = "Green te…", "A cup o..."
    requests = (
        Request(url, cb_kwargs={"name": name}) for url, name in zip(URLS, names, strict=True)
    )
    first, second = parse(*requests)
    assert judge({"name": names[0]}, first, TEA) is None
    assert judge({"name": names[1], "of": "A cup"}, second, CUP) is None
    assert judge({"name": names[0]}, first, EMPTY) is Missing.OTHER_PAGE


def test_what_the_callback_adds_is_not_the_list_s() -> None:
    """What counts is what the item had when the list was read."""
    items = [{"name": name} for name in ("Green tea", "A cup")]
    requests = [Request(url, meta={"item": one}) for url, one in zip(URLS, items, strict=True)]
    passed = parse(*requests)
    items[0]["reviews"] = "No reviews yet."
    assert judge(items[0], passed[0], EMPTY) is Missing.OTHER_PAGE


def test_a_spider_that_passes_on_the_meta_of_a_response() -> None:
    """What the list's own request was given says nothing of the next one's arguments."""
    response = HtmlResponse(URLS[1], request=Request(URLS[1]))
    note_given(response.request)
    (passed,) = parse(Request(URLS[0], cb_kwargs={"name": "Green tea"}, meta=response.meta))
    assert judge({"name": "Green tea"}, passed, EMPTY) is Missing.OTHER_PAGE


@pytest.mark.parametrize("whole", [False, True])
def test_a_label_of_several(whole: bool) -> None:
    """A category that requests bring along begins no item if the page shows it, or all lack it.

    Pages of reviews do not say whose they are, and each product has other ones.
    """

    def begin(*labels: str) -> list[Request]:
        given = [{"item": {"of": label}} if whole else {"of": label} for label in labels]
        return parse(*(Request(URLS[0], cb_kwargs=one) for one in given))

    def complete(request: Request, body: str, labels: Labels) -> Missing | None:
        of = request.cb_kwargs["item"]["of"] if whole else request.cb_kwargs["of"]
        return judge({"title": "A cup", "of": of}, request, body, labels)

    shown = CUP.replace("<h1>", "<nav>Hot drinks</nav><h1>", 1)
    drinks, labels = ["Hot drinks", "Hot drinks", "Cold drinks", "Cold drinks"], Labels()
    for request, body in zip(begin(*drinks), (shown, shown, shown, EMPTY), strict=True):
        cold = Missing.OTHER_PAGE if request.cb_kwargs != begin(*drinks)[0].cb_kwargs else None
        assert complete(request, body, labels) is cold
    (alone,) = begin("Hot drinks")
    assert complete(alone, shown, labels) is Missing.OTHER_PAGE
    of_all, of_each = Labels(), Labels()
    for number in range(6):
        request, _ = begin("My crawl", "My crawl")
        assert complete(request, CUP, of_all) is (None if number > 2 else Missing.OTHER_PAGE)
        request, _ = begin(*[f"Cup num{'o' * number}ber"] * 2)
        assert complete(request, EMPTY, of_each) is Missing.OTHER_PAGE


def test_what_begins_no_item() -> None:
    """Codes and numbers say nothing; a description is the list's, however many have it."""
    passed = parse(*(Request(url, cb_kwargs={"of": ARTICLE}) for url in URLS))
    assert judge({"title": "A cup", "of": ARTICLE}, passed[1], CUP) is Missing.OTHER_PAGE
    (code,) = parse(Request(URLS[0], cb_kwargs={"lang": "en", "rank": "7"}))
    assert judge({"title": "A cup", "lang": "en", "rank": "7"}, code, CUP) is None


def test_requests_that_are_stored_or_made_again() -> None:
    """What is known of a request goes with it to a queue on disk, and to its redirects."""
    requests = [
        Request(url, cb_kwargs={"name": name})
        for url, name in zip(URLS, ("Tea", "A cup"), strict=True)
    ]
    first, second = parse(*requests)
    moved = first.replace(url="https://a.example/moved")
    stored = second.replace(meta=pickle.loads(pickle.dumps(second.meta)))
    assert judge({"title": "Tea"}, moved, TEA.replace("Green tea", "Tea")) is None
    assert judge({"title": "A cup"}, stored, CUP) is None
    # A request with the meta of that response is one of its own kind.
    (third,) = parse(Request(URLS[1], meta={**stored.meta, "item": {"title": "A cup"}}))
    assert judge({"title": "A cup"}, third, CUP) is Missing.OTHER_PAGE
    (bare,) = parse(Request(URLS[1], meta=dict(stored.meta)))
    assert judge({"title": "A cup"}, bare, CUP) is None


class Broken(dict[str, str]):
    def values(self) -> Any:
        raise ValueError("no values")


def test_no_request_is_lost_for_what_it_carries() -> None:
    """Neither a broken mapping nor a variable that has no value yet makes the callback fail."""

    def callback(response: Any) -> Any:
        return complete(response, name=later)

    callback.__name__ = "<lambda>"
    requests = [Request(URLS[0], meta={"data": Broken()}), Request(URLS[1], callback)]
    assert parse(*requests) == requests
    assert judge(Broken(name="Green tea"), requests[0], TEA) is None
    later = "Green tea"


def test_items_that_the_start_brings() -> None:
    """Rows of a file, say, each with its page: that has to say so."""
    row = {"name": "Green tea"}
    request = Request(URLS[0], meta={"is_start_request": True, "row": row})
    assert judge(row, request, TEA) is None
    assert judge(row, request, EMPTY) is Missing.OTHER_PAGE


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"title": "Green tea"}, True),
        ({"title": "GREEN  TEA!", "source": "My shop"}, True),
        ({"price": 7, "at": "https://b.example/a", "lang": "en"}, True),
        ({"price": 7, "read": "2026-11-29T08:40:11.123456+00:00", "id": "7f0e-a3b1"}, True),
        ({"read": "Sun Nov 29 08:40:11 2026", "day": "29 November 2026"}, True),
        ({"title": "Ten cups"}, False),
        ({"title": "Tea set"}, False),  # one of two words may be there by chance
        ({"of": "Café au lait"}, True),
        (
            {"title": "Green tea", "of": "Eine schöne Übersicht über größere Öfen für müde Männer"},
            True,
        ),
        ({"title": "Green tea", "of": OTHER}, False),
        ({"title": "Green tea", "of": ARTICLE}, True),
        ({"title": "Green tea", "of": "all of this here is in the script of the page"}, True),
        ({"of": "Hot drinks"}, True),
        ({"of": "Iced coffee"}, False),
        ({"title": "绿茶"}, True),
        ({"title": "红茶"}, False),
    ],
)
def test_items_with_texts_from_elsewhere(item: dict[str, Any], expected: bool) -> None:
    """A page has to have a text of its item, if there is one, and all that are long."""
    script = "<script>'Iced coffee', 'all of this here is in the script of the page'</script>"
    data = json.dumps("Eine schöne Übersicht über größere Öfen für müde Männer")
    links = f"<script>{data}</script><nav>Hot drinks, caf&eacute; au lait</nav>"
    body = TEA.replace("<p>", f"{script}{links}<p>", 1)
    response = HtmlResponse(URLS[0], body=body.encode())
    lacking = find_lacking(item, f"Green tea\n最好的绿茶和杯子\n{ARTICLE}", response)
    assert (not lacking) is expected


@pytest.mark.parametrize("more", [{}, {"shop": "Nice cups"}, {"note": "crawled by us " * 3}])
def test_labels_that_a_spider_gives(more: dict[str, str]) -> None:
    """What most items have says of none that it is from elsewhere, once some have come."""
    labels, shell = Labels(), HtmlResponse(URLS[0], body=b"<p>Please enable JavaScript")
    found = []
    for number in range(6):
        item = {"lang": "english", **more}
        page = PageReader(DedupConfig(), print).read(item, Origin(shell, is_alone=True))
        found.append(why_elsewhere(item, page, ARTICLE, shell, labels))
        titled = {"title": f"Cup {number * 'o'}ps", **item}
        assert why_elsewhere(titled, page, ARTICLE, shell, labels) is Missing.OTHER_TEXT
    assert found[2:] == [None] * 4


def test_a_value_of_scripts_is_no_label() -> None:
    """A shell that a browser fills makes no copies of what all its items say."""
    for value in '"In stock"', r"{\"stock\":\"In stock\"}":
        labels, body = Labels(), f"<p>Please enable JavaScript<script>{value}</script>"
        shell = HtmlResponse(URLS[0], body=body.encode())
        page, item = ItemPage(of_response=True), {"price": 7, "stock": "In stock"}
        found = [why_elsewhere(item, page, "A shop of tea", shell, labels) for _ in range(6)]
        assert found == [Missing.OTHER_TEXT] * 6


def test_scripts_without_an_end() -> None:
    """An item without a text of its page costs no more time for what the page is made of."""
    body = b"<p>Tea" + b"<script><style " * 100_000
    assert find_lacking({"title": "Cups"}, "Tea", HtmlResponse(URLS[0], body=body)) == {"cups"}
