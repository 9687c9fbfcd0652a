"""Different records that have one page, or one text."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from scrapy import FormRequest, Request, Spider
from scrapy.exceptions import DropItem
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule
from scrapy.utils.test import get_crawler

from crawler.chrome import SharedTemplate
from crawler.items import Page
from crawler.pipelines.item_pages import items_of_page
from crawler.pipelines.item_pages.belonging import OwnTexts
from crawler.pipelines.item_pages.items_of_page import ItemsOfPage
from crawler.pipelines.item_pages.origins import WITHOUT_ITEM, ItemsOfResponse
from tests.pipelines.crawls import Kept, crawl, prose
from tests.spiders.webserver import Answer, Web
from tests.support.texts import article, text

CODES = [f"7{number}" for number in range(6)]


class Reading(Spider):
    """Reads the page of a seller for each of its products, in one way or another."""

    name = "reading"
    url = ""
    way = ""

    async def start(self) -> Any:
        for code in CODES:
            for times in range(2):  # each product is in two lists
                yield self.ask(code, times)

    def ask(self, code: str, times: int) -> Request:
        ways: dict[str, dict[str, Any]] = {
            "cb_kwargs": {"cb_kwargs": {"code": code, "list": times}},
            "meta": {"meta": {"code": int(code), "list": f"List {times}"}},
            "nested": {"meta": {"product": {"codes": [code]}}},
            "partial": {"callback": partial(self.parse, code=code)},
            "form": {"formdata": {"code": code}},
            "cookies": {"cookies": {"code": code}},
        }
        path = f"old/{code}" if self.way == "redirects" else "seller"
        return FormRequest(f"{self.url}/{path}", dont_filter=True, **ways.get(self.way, {}))

    def parse(self, response: Any, **given: Any) -> Any:
        request = response.request
        code = given.get("code") or request.meta.get("code") or request.cookies.get("code")
        code = code or request.meta.get("product", {}).get("codes")
        code = code or request.body.decode().removeprefix("code=") or None
        yield {"seller": response.css("h1::text").get(), "code": code}


class Dated(Reading):
    """Has nothing of its requests in its items, but the time of each."""

    name = "dated"

    def parse(self, response: Any, **given: Any) -> Any:
        yield {"seller": response.css("h1::text").get(), "time": time.time_ns()}


class Ruled(CrawlSpider):
    """Makes two items of a page, by two rules."""

    name = "ruled"
    rules = (
        Rule(LinkExtractor(allow=r"/seller$"), "parse_name", process_request="ask"),
        Rule(LinkExtractor(allow=r"/seller#phone$"), "parse_phone", process_request="ask"),
    )

    def __init__(self, url: str, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.start_urls = [url]

    def ask(self, request: Request, response: Any) -> Request:
        return request.replace(dont_filter=True)

    def parse_name(self, response: Any) -> Any:
        yield {"seller": response.css("h1::text").get()}

    def parse_phone(self, response: Any) -> Any:
        yield {"phone": response.css("p::text").get()}


async def read(web: Web, redis_url: str, spider: type[Spider], **options: Any) -> list[Any]:
    """The items that are kept in a crawl of a seller."""
    web.page("/seller", head="<h1>Green tea for all</h1>", text=prose(1))
    web.page("/", "/seller", '<a href="/seller#phone">x</a>', text=prose(2))
    for code in CODES:
        web.answers[f"/old/{code}"] = Answer(b"", {"Location": "/seller"}, 302)
    kept = Kept()
    stats = await crawl(web, kept, spider=spider, DEDUP_REDIS_URL=redis_url, **options)
    count = stats.get("dedup/no_page/listing", 0)
    assert count == len(kept.items) - 1
    assert stats["dedup/unique"] == 1
    return kept.items


@pytest.mark.parametrize("way", ["cb_kwargs", "meta", "nested", "partial", "form", "cookies"])
async def test_a_page_that_is_read_for_several_records(web: Web, redis_url: str, way: str) -> None:
    """Each is kept once: what an item has of its request tells it from the others."""
    kept = await read(web, redis_url, Reading, way=way)
    assert sorted(str(item["code"]).strip("[']") for item in kept) == CODES


async def test_a_page_that_two_callbacks_read(web: Web, redis_url: str) -> None:
    """The rules of a CrawlSpider have the same callback, as Scrapy sees it."""
    kept = await read(web, redis_url, Ruled)
    assert sorted(name for item in kept for name in item if name != "dedup") == ["phone", "seller"]


@pytest.mark.parametrize(
    ("spider", "way"),
    [(Reading, "same"), (Reading, "redirects"), (Dated, "same"), (Dated, "redirects")],
)
async def test_a_page_that_comes_again(
    web: Web, redis_url: str, spider: type[Spider], way: str
) -> None:
    """A date makes no other record of it, nor does a redirect."""
    assert len(await read(web, redis_url, spider, way=way)) == 1


NAMES = ["Brass valve", "Steel hinge", "Copper nail", "Brass valve"]
ISBN = [f"978000000000{number % 3}" for number in range(4)]


class Asking(Spider):
    """Makes an item of each of several URLs, all with the same page."""

    name = "asking"
    url = ""
    way = ""

    async def start(self) -> Any:
        for number, isbn in enumerate(ISBN):
            yield Request(f"{self.url}/{number}", cb_kwargs={"number": number, "isbn": isbn})

    def parse(self, response: Any, number: int, isbn: str) -> Any:
        seen = {"shop": "Tea house", "url": response.url, "price": f"{number}.50"}
        ways = {
            "rendered": {"name": NAMES[number]},
            "brought": {"isbn": isbn},
            "label": {"kind": "product"},
            "shown": {"name": "Nails and screws", "alt": NAMES[0]},
            "code": {"id": f"{number}-a1", "read": f"2026-11-2{number}"},
        }
        yield {**seen, **ways[self.way]}


@pytest.mark.parametrize(
    ("way", "kept"), [("rendered", 3), ("brought", 3), ("label", 1), ("shown", 1), ("code", 1)]
)
async def test_a_copy_whose_item_says_more(web: Web, redis_url: str, way: str, kept: int) -> None:
    """A browser fills a shell, and a shop knows none of several books: the items are no copies."""
    body = f"Tea house needs scripts to show this. {prose(1)}"
    for number in range(len(ISBN)):
        web.page(f"/{number}", f'<img alt="{NAMES[0]}">', "<nav>Nails and screws</nav>", text=body)
    passed = Kept()
    settings = {"DEDUP_REDIS_URL": redis_url, "CONCURRENT_REQUESTS": 1}
    stats = await crawl(web, passed, spider=Asking, way=way, **settings)
    assert len(passed.items) == kept
    assert stats.get("dedup/no_page/other_text", 0) == kept - 1
    # What is known of the items is forgotten with the crawl, but not what was decided.
    again = Kept()
    await crawl(web, again, spider=Asking, way=way, **settings)
    assert len(again.items) == kept


class Failing:
    """Has no attributes, and does not say so."""

    def __getattr__(self, name: str) -> Any:
        raise ValueError(name)


class Bringing(Asking):
    """Brings a value of a type that fails."""

    name = "bringing"

    async def start(self) -> Any:
        for number in range(len(NAMES)):
            yield Request(f"{self.url}/{number}", meta={"brought": Failing()})

    def parse(self, response: Any) -> Any:
        yield {"url": response.url, "shop": "Tea house"}


async def test_what_a_start_request_brings_may_fail(web: Web, redis_url: str) -> None:
    for number in range(len(NAMES)):
        web.page(f"/{number}", text=f"Tea house {prose(number // 2)}")
    stats = await crawl(web, spider=Bringing, DEDUP_REDIS_URL=redis_url)
    assert (stats["dedup/unique"], stats["dedup/dropped/exact"]) == (2, 2)


@pytest.mark.parametrize(("status", "is_told"), [(200, True), (503, False)])
def test_an_error_without_an_item_is_no_empty_page(status: int, is_told: bool) -> None:
    """A spider may handle errors: the page may have its item again when the outage is over."""
    crawler, told = get_crawler(), list[str]()

    def note(url: str) -> None:
        told.append(url)

    crawler.signals.connect(note, signal=WITHOUT_ITEM)
    ItemsOfResponse(crawler, Response("http://a/", status=status)).tell_of_none()
    assert told == ["http://a/"] * is_told


def test_an_item_of_a_copy_is_another_one_once() -> None:
    """For a text that its page does not show, or a code that the start of the crawl brought."""
    known = OwnTexts()

    def is_other(item: dict[str, str], **meta: Any) -> bool:
        request = Request("http://a/", cb_kwargs=item, meta=meta)
        response = HtmlResponse("http://a/", body=b"<html><p>Tea house", request=request)
        return known.is_other(item, "Tea house", response)

    assert [is_other({"name": "Brass valve"}) for _ in range(2)] == [True, False]
    assert not is_other({"isbn": "9780000000001"})
    assert is_other({"isbn": "9780000000001"}, is_start_request=True)


def test_a_page_is_no_record_beside_its_page() -> None:
    """It has the time of its fetch, and each request may bring something along."""
    known = ItemsOfPage()
    for number in range(2):
        page = Page(url="http://a/", fetched_at=str(number), status=200, title="A")
        request = Request("http://a/", cb_kwargs={"list": str(number)})
        assert not known.note_item("http://a/", page, request)


def test_what_scrapy_counts_makes_no_record() -> None:
    """A page that is found on two lists has two depths."""
    known = ItemsOfPage()
    for depth in range(2):
        request = Request("http://a/", meta={"depth": depth})
        assert not known.note_item("http://a/", {"code": "A7", "seen": f"at {depth}"}, request)


def test_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that is forgotten passes for one that has not come before."""
    monkeypatch.setattr(items_of_page, "_MOST", 6)
    known = ItemsOfPage()
    for url in "ababcc":
        known.note_item(url, {"code": "1"}, Request("http://a/"))
    other = Request("http://a/", cb_kwargs={"code": "2"})
    assert known.note_item("c", {"code": "2"}, other)
    assert not known.note_item("a", {"code": "2"}, other)


@pytest.mark.parametrize(
    ("words", "fields", "kept"),
    [
        (40, {"text": True}, True),
        (60, {"text": True}, True),
        (100, {"text": True}, False),
        (40, {"html": True}, True),
        (40, {"html": True, "head": "<title>Parts</title>"}, False),
    ],
)
async def test_the_title_of_an_item_is_the_heading_of_its_text(
    open_bench: Callable[..., Any], words: int, fields: dict[str, Any], kept: bool
) -> None:
    """Parts with one short description are no copies; an HTML page tells its heading itself."""
    bench = await open_bench()
    description = text(article(1, words))
    html = f"<html><head>{fields.get('head', '')}</head><body><p>{description}</p>"
    page = {"text": description} if "text" in fields else {"html": html}
    kinds = []
    for number, title in enumerate(["Brass valve", "Steel hinge", "Brass valve"]):
        with suppress(DropItem):
            item = {"url": f"https://a.example/{number}", "title": title, **page}
            kinds.append((await bench.process(item))["dedup"]["kind"])
    assert kinds == ["unique", "unique"][: 1 + kept]


class Cards(Spider):
    """Two sites with the same paths, which the items name without their hosts."""

    name = "cards"
    url = ""

    async def start(self) -> Any:
        yield Request(self.url)
        yield Request(self.url.replace("localhost", "127.0.0.1"))

    def parse(self, response: Any) -> Any:
        is_other = "127.0.0.1" in response.url
        for number in range(3):
            yield {"url": f"/{number}", "text": prose(2 * number + is_other)}


async def test_a_path_is_of_the_host_that_names_it(web: Web, redis_url: str) -> None:
    """Else pages of one site take the places of another's."""
    web.page("/", text=prose(9))
    stats = await crawl(web, spider=Cards, DEDUP_REDIS_URL=redis_url)
    assert stats["dedup/unique"] == 6


async def test_the_title_of_an_item_counts_when_much_is_known_of_its_site(
    open_bench: Callable[..., Any],
) -> None:
    """What begins a description that several parts have is no name of theirs."""
    bench = await open_bench()
    template = SharedTemplate()

    async def find_template(url: str) -> SharedTemplate:
        return template

    bench.pipeline._template = find_template
    parts = [(f"Part {number}", number) for number in range(12)]
    kept = []
    for number, (title, words) in enumerate(
        [*parts, ("Brass valve", 99), ("Steel hinge", 99), ("Brass valve", 99)]
    ):
        item = {"url": f"https://a.example/{number}", "title": title}
        with suppress(DropItem):
            await bench.process({**item, "html": f"<p>{text(article(words, 20))}</p>"})
            kept.append(number)
    assert kept == [*range(14)]


class Shop(Spider):
    """Sizes of two products, whose pages have the name, and their descriptions on one site."""

    name = "shop"
    url = ""
    way = ""

    async def start(self) -> Any:
        for number in range(4):
            yield Request(f"{self.url}/{number}")
            yield Request(f"{self.url}/{number}?from=list")

    def parse(self, response: Any) -> Any:
        part = response.css("p")[0]
        value = part.get() if self.way == "html" else part.css("::text").get()
        yield {"url": response.url, "name": response.css("h1::text").get(), self.way: value}


@pytest.mark.parametrize("way", ["text", "html", "description"])
async def test_a_part_of_a_page_has_the_heading_of_the_page(
    web: Web, redis_url: str, way: str
) -> None:
    """Sizes with one description are no copies if the items name their titles otherwise."""
    for number in range(4):
        name = f"Shelf {40 + number} cm"
        for query in "", "?from=list":
            head = f"<title>{name} - Shop</title><h1>{name}</h1>"
            web.page(f"/{number}{query}", head=head, text=prose(number % 2, 40))
    kept = Kept()
    settings = {"DEDUP_REDIS_URL": redis_url}
    if way == "description":
        settings["DEDUP_TEXT_FIELD"] = way
    await crawl(web, kept, spider=Shop, way=way, **settings)
    assert sorted(item["name"] for item in kept.items) == [f"Shelf {40 + n} cm" for n in range(4)]


class Parts(Shop):
    """Takes the part of a page that has a heading of its own."""

    name = "parts"

    def parse(self, response: Any) -> Any:
        yield {"url": response.url, "html": response.css("main").get()}


async def test_a_part_of_a_page_keeps_its_heading(web: Web, redis_url: str) -> None:
    """The first heading of the page may be the name of the site, which all pages have."""
    for number in range(4):
        for query in "", "?from=list":
            part = f"<main><h1>Shelf {40 + number} cm</h1><p>{prose(1, 40)}</p></main>"
            html = f"<title>Shop</title><h1>Shop</h1>{part}".encode()
            web.answers[f"/{number}{query}"] = Answer(html, {"Content-Type": "text/html"})
    kept = Kept()
    await crawl(web, kept, spider=Parts, DEDUP_REDIS_URL=redis_url)
    assert len(kept.items) == 4
