"""Crawls of sites whose links lead to copies without end: they end, and no text is lost."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

import pytest
from scrapy import FormRequest, Request
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.retry import get_retry_request
from scrapy.http import HtmlResponse
from scrapy.settings import Settings
from scrapy.spiders import CrawlSpider
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.request import fingerprint
from scrapy.utils.test import get_crawler

from crawler.dedup import DedupConfig, DuplicateIndex
from crawler.dedup.urls.parts import UrlParts, read_site, split_url
from crawler.pipelines.spared import site_exchange
from crawler.pipelines.spared.left_requests import LeftRequest, LeftRequests
from crawler.pipelines.spared.novelty import NOWHERE, Found, page_number
from crawler.pipelines.spared.paused import PausedSites
from crawler.pipelines.spared.site_course import MADE
from crawler.pipelines.spared.site_courses import SiteCourses
from crawler.pipelines.spared.site_exchange import SeenPage
from crawler.pipelines.spared.spared_requests import CHECKS, FOUND_ON
from crawler.pipelines.spared.sparing import Spared, Sparing
from crawler.pipelines.spared.tally import Tally
from crawler.pipelines.spared.visits import Visit
from tests.pipelines.crawls import crawl, prose
from tests.pipelines.made_sites import (
    ENDLESS,
    SOME,
    Own,
    Pages,
    Site,
    endless,
    fetch,
    name_of,
    on_few_pages,
)
from tests.spiders.webserver import Web


class Watcher:
    """Lets a site know how far a crawl of it is."""

    def watch(self, crawler: Crawler) -> None:
        self.crawler = crawler


@pytest.mark.parametrize("link", ENDLESS.values(), ids=ENDLESS)
async def test_a_crawl_without_end_ends(web: Web, redis_url: str, link: str) -> None:
    """With sessions in the query and path, relative links that nest, and new names each time."""
    fetched, texts, stats = await fetch(web, endless(link), redis_url)
    assert len(texts) == 6
    assert len(fetched) <= 30
    assert stats["dedup/spared"] > 0
    assert stats["dedup/spared_bytes"] > 0


class Service:
    """Downloader middleware that has another server fetch the pages, as those for Splash do."""

    def __init__(self, method: str, names_page: bool) -> None:
        self.method, self.names_page = method, names_page

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Service:
        return cls(crawler.settings["SERVICE_METHOD"], crawler.settings["SERVICE_NAMES_PAGE"])

    def process_request(self, request: Request) -> Request | None:
        if "page" in request.meta:
            return None
        url = urljoin(request.url, f"/fetch?{urlencode({'url': request.url})}")
        meta = {**request.meta, "page": request.url}
        return request.replace(url=url, method=self.method, meta=meta)

    def process_response(self, request: Request, response: Any) -> Any:
        return response.replace(url=request.meta["page"]) if self.names_page else response


def links_to_eight(web: Web) -> list[str]:
    """The URLs of eight pages, three for each."""
    return [urljoin(web.url, f"/{n}?sid={sid}") for n in range(8) for sid in "abc"]


@pytest.mark.parametrize(("method", "names_page"), [("GET", True), ("GET", False), ("POST", True)])
async def test_requests_through_a_service_do_not_wait_for_ever(
    web: Web, redis_url: str, method: str, names_page: bool
) -> None:
    """A middleware turns each into another one; both had their turn, and all pages come.

    A crawl that ends early makes no more of the latter, and ends.
    """
    links = links_to_eight(web)

    def page_of(path: str) -> str:
        return dict(parse_qsl(urlsplit(path).query))["url"]

    web.answers, before = Pages(lambda path: (name_of(page_of(path)), links)), len(web.seen)
    settings = {
        "DEDUP_REDIS_URL": redis_url,
        "DEDUP_LEARN_URLS": True,
        "DOWNLOADER_MIDDLEWARES": {Service: 725},
        "SERVICE_METHOD": method,
        "SERVICE_NAMES_PAGE": names_page,
    }
    stats = await crawl(web, spider=Own, **settings)
    assert stats["item_scraped_count"] == 8
    assert sorted(map(page_of, web.seen[before:])) == sorted([web.url, *links])
    assert stats["elapsed_time_seconds"] < 30
    settings |= {"DOWNLOAD_DELAY": 0.1, "CLOSESPIDER_ITEMCOUNT": 2, "DEDUP_NAMESPACE": "other"}
    stats = await crawl(web, spider=Own, **settings)
    assert stats["finish_reason"] == "closespider_itemcount"
    assert stats["elapsed_time_seconds"] < 30


class Twice:
    """Downloader middleware that has each URL answer another request first, with this status."""

    def __init__(self, status: int) -> None:
        self.status = status
        self.asked: set[str] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Twice:
        return cls(crawler.settings.getint("FIRST_STATUS"))

    def process_response(self, request: Request, response: Any) -> Any:
        if request.url in self.asked:
            return response
        self.asked.add(request.url)
        return response.replace(status=self.status, headers={"Location": request.url})


@pytest.mark.parametrize(("status", "items"), [(302, 1), (503, 8)])
async def test_nobody_waits_for_a_request_that_is_made_again(
    web: Web, redis_url: str, status: int, items: int
) -> None:
    """A site may redirect to the same URL, with a cookie. Scrapy's dupefilter drops that."""
    links = links_to_eight(web)
    web.answers = Pages(lambda path: (name_of(path), links))
    settings = {
        "DEDUP_REDIS_URL": redis_url,
        "DEDUP_LEARN_URLS": True,
        "DOWNLOADER_MIDDLEWARES": {Twice: 610},
        "FIRST_STATUS": status,
        "RETRY_ENABLED": True,
    }
    stats = await crawl(web, spider=Own, **settings)
    assert stats["item_scraped_count"] == items
    assert stats["elapsed_time_seconds"] < 30


def tracked(path: str) -> tuple[int, list[str]]:
    draws = random.Random(path)
    links = [
        f"/{n}?utm_source={draws.choice('abcdef')}&sid={draws.getrandbits(60)}"
        f"&sort={draws.choice('xyz')}"
        for n in range(30)
    ]
    return name_of(path), links


async def test_what_makes_no_difference_is_fetched_once_more(web: Web, redis_url: str) -> None:
    """Tracking and sorting: at most two fetches a page; the next crawl takes fewer."""
    fetched, texts, stats = await fetch(web, tracked, redis_url)
    assert len(texts) == 30
    assert len(fetched) <= 60
    assert stats["dedup/rules/learnt"] == 3
    async with DuplicateIndex.open(DedupConfig(redis_url=redis_url)) as index:
        (rules,) = (await index.store.all_url_rules()).values()
        assert {name: rule["state"] for name, rule in rules.items()} == dict.fromkeys(
            ("?sid", "?sort", "?utm_source"), "learnt"
        )


async def test_a_text_under_new_urls_is_kept_in_each_crawl(web: Web, redis_url: str) -> None:
    """What is requested again, for its original had not come, is not spared as its copy.

    One request at once, as the order of answers decides when a rule is learnt.
    """
    site = endless("/{page}?sid={n:016x}", 4)
    for _ in range(2):
        fetched, texts, stats = await fetch(web, site, redis_url, CONCURRENT_REQUESTS=1)
        assert len(texts) == 4
        assert len(fetched) <= 3 * 4
        assert "dedup/not_asked_again" not in stats


def in_a_row(path: str) -> tuple[int, list[str]]:
    page, draws = name_of(path), random.Random(path)
    link = "/{}?utm_source={}&sid={}"
    links = [link.format(page + 1, draws.choice("abc"), draws.getrandbits(60)) for _ in range(5)]
    return page, links if page < 40 else []


async def test_a_copy_is_not_fetched_while_its_page_is_under_way(web: Web, redis_url: str) -> None:
    """Where each page leads to the next alone, nothing else is left to do meanwhile."""
    fetched, texts, _ = await fetch(web, in_a_row, redis_url)
    assert len(texts) == 41
    assert len(fetched) <= 2 * 41


@pytest.mark.parametrize("name", ["page", "id", "lang"])
async def test_what_matters_is_fetched_once(web: Web, redis_url: str, name: str) -> None:
    """Not one page is lost, and none is fetched twice."""

    def site(path: str) -> tuple[int, list[str]]:
        number = int(dict(parse_qsl(urlsplit(path).query)).get(name, 0))
        return number, [f"/list?{name}={(number + n) % 40}" for n in range(1, 6)]

    fetched, texts, _ = await fetch(web, site, redis_url)
    assert len(texts) == 40
    assert len(fetched) == 41


async def test_a_site_that_changes_loses_nothing(web: Web, redis_url: str) -> None:
    """An argument that begins to matter is noticed, and what was spared for it is fetched."""
    letters = "abcdefghijkl"
    before: set[int] = set()
    watcher = Watcher()

    def site(path: str) -> tuple[int, list[str]]:
        page, sort = name_of(path), dict(parse_qsl(urlsplit(path).query)).get("sort", "a")
        links = [f"/{n}?sort={letter}" for n in range(12) for letter in letters]
        text = page + 1000 * letters.index(sort)
        if not watcher.crawler.stats.get_value("dedup/rules/learnt"):
            before.add(text)
            return page, links
        return text, links

    _, texts, stats = await fetch(web, site, redis_url, watcher)
    assert stats["dedup/rules/revoked"] >= 1
    after = {n + 1000 * k for n in range(12) for k in range(12)} - before
    assert {prose(text).split()[-1] for text in after} <= texts


async def test_a_chain_of_copies_is_bounded(
    web: Web, redis_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A calendar of which all pages have one text starves; DEDUP_COPY_DEPTH says how soon."""

    def site(path: str) -> tuple[int, list[str]]:
        month = int(dict(parse_qsl(urlsplit(path).query)).get("m", 0))
        return 0, [f"/?m={month + 1}", f"/?m={month - 1}"]

    fetched, _, _ = await fetch(web, site, redis_url, DEDUP_COPY_DEPTH=3)
    assert len(fetched) <= 12
    again, _, _ = await fetch(
        web, site, redis_url, DEDUP_COPY_DEPTH=0, DEDUP_NAMESPACE="other", DEPTH_LIMIT=0
    )
    assert len(fetched) < len(again) <= 15
    assert "brought nothing new" in caplog.text


def described(path: str) -> tuple[Any, list[str]]:
    """A calendar whose empty months have names and years, and an album of numbered pictures."""
    name, _, number = path.strip("/").partition("/")
    if name == "month":
        month = int(number)
        text = f"{'abcdefghijkl'[month % 12] * 5} {month // 12}. There are no events."
        return text, [f"/month/{month + 1}", f"/month/{month - 1}"]
    if name == "picture":
        place = int(number)
        return f"Picture {place} of 30", [f"/picture/{place + 1}"] * (place < 30)
    return name_of(path), ["/month/24312", "/picture/1", *(f"/{n}" for n in range(1, 20))]


@pytest.mark.parametrize("to", ["", "/to"], ids=["direct", "redirected"])
async def test_a_calendar_with_names_ends(web: Web, redis_url: str, to: str) -> None:
    """Although each month has a text of its own; an album, and what is beside them, is kept."""

    def site(path: str) -> tuple[Any, list[str]]:
        text, links = described(path)
        return text, [to * link.startswith("/month") + link for link in links]

    fetched, texts, _ = await fetch(web, site, redis_url)
    assert sum(path.startswith("/picture") for path in fetched) == 30
    assert {prose(n).split()[-1] for n in range(20)} <= texts
    assert sum(path.startswith("/month") for path in fetched) <= 150


HOURS = "</p><p>".join(f"{hour}:{minutes}" for hour in range(8, 20) for minutes in ("00", "30"))


def hourly(path: str) -> tuple[Any, list[str]]:
    """A calendar whose weeks list all hours, and a row of long tables of small numbers."""
    name, _, number = path.strip("/").partition("/")
    if name == "week":
        week = int(number)
        days = "</p><p>".join(f"Day {7 * week + day}</p><p>{HOURS}" for day in range(7))
        event = prose(100 + week) if week in (-9, 4) else ""
        return f"{days}</p><p>{event}", [f"/week/{week + 1}", f"/week/{week - 1}"]
    if name == "table":
        cells = "</p><p>".join(map(str, random.Random(number).choices(range(50), k=250)))
        return cells, [f"/table/{int(number) + 1}"] * (int(number) < 90)
    return name_of(path), ["/week/0", "/table/1", *(f"/{n}" for n in range(1, 20))]


async def test_a_calendar_with_hours_ends(web: Web, redis_url: str) -> None:
    """Although its empty weeks are long; tables that differ in order alone are not empty."""
    fetched, texts, _ = await fetch(web, hourly, redis_url)
    assert sum(path.startswith("/table") for path in fetched) == 90
    assert {prose(n).split()[-1] for n in (*range(20), 91, 104)} <= texts
    assert sum(path.startswith("/week") for path in fetched) <= 200


async def test_links_without_end_of_no_known_form_end(web: Web, redis_url: str) -> None:
    """What sites add to their paths need not look like anything: their pages stay those.

    One request at a time: with several, a limit may end a crawl before its rule is learnt. How soon
    that is varies, so the fetches of three sites, each crawled twice, are counted together.
    """

    def site(path: str) -> tuple[int, list[str]]:
        return next((int(n) for n in re.findall(r"(?:p|id=)(\d+)", path)), 0), links("")[1]

    count = 0
    for link in 2 * ("/p{page}~{n}", "/shop/p{page}/{n}", "/view/{n}/?id={page}"):
        links = endless(link, 16)
        options = {"DEDUP_NAMESPACE": f"links{count}", "CONCURRENT_REQUESTS": 1}
        fetched, texts, stats = await fetch(web, site, redis_url, **options)
        assert len(texts) == 16
        assert stats["dedup/spared"]
        assert stats["dedup/rules/learnt"]
        count += len(fetched)
    assert count <= 6 * 5 * 16  # without a rule 21 for each, or a limit ends the crawl


def late(path: str) -> tuple[int, list[str]]:
    """Products in a row: the first have eight colours of one text, the last one that matters."""
    url = urlsplit(path)
    product, colour = name_of(url.path), int(dict(parse_qsl(url.query)).get("colour", 0))
    following = [f"/product/{product + 1}"] if product < 50 else []
    if colour:
        return 100 * product + (colour if product > 4 else 0), []
    colours = range(1, 9) if product <= 4 else [product] if product > 48 else []
    return 100 * product, [*(f"/product/{product}?colour={n}" for n in colours), *following]


async def test_values_that_matter_after_eight_that_did_not(web: Web, redis_url: str) -> None:
    """A crawl that believes new values looks at each of them once, if they are few."""
    fetched, texts, _ = await fetch(web, late, redis_url)
    assert len(texts) == 51 + 2
    assert len(fetched) <= 110


async def test_what_matters_on_few_pages_is_found_there(web: Web, redis_url: str) -> None:
    """Nearly each page of a small site is compared with another URL of it, before the crawl ends.

    Two fetches a page are enough for that of all but five, which are drawn. A rule is learnt,
    unless these pages happen to come first, and revoked.
    """
    _, texts, stats = await fetch(web, on_few_pages, redis_url)
    assert len(texts) == 30 + 3 * len(SOME)
    assert ("dedup/rules/revoked" in stats) == ("dedup/rules/learnt" in stats)


def seen_page(page: int, sort: str, text: int | None = None) -> SeenPage:
    visit = Visit()
    visit.cluster = visit.text = page if text is None else text
    return SeenPage(("host", "parse"), f"http://host/{page}?sort={sort}", NOWHERE, visit)


def parts_of(page: SeenPage) -> UrlParts:
    parts = split_url(page.url)
    assert parts is not None
    return parts


def view(user: str, number: int, text: int) -> SeenPage:
    page = seen_page(text, "")
    found_on = Found(page_number(f"http://host/view?u={user}&n={number - 1}") if number else 1)
    page.visit.links = [(number,)]
    return page._replace(url=f"http://host/view?u={user}&n={number}", found_on=found_on)


def test_copies_of_one_user_cost_no_page_of_another() -> None:
    """What a script shows of somebody who brings news is followed, whatever else it shows; and each
    such text is no reason to fetch more of what has no end.
    """
    sites = SiteCourses(
        DedupConfig(), Tally(MemoryStatsCollector(get_crawler())), list[LeftRequest]().extend
    )
    for number in range(2):
        sites.note_page(view("alice", number, number))
    for number in range(40):
        sites.note_page(view("mallory", number, 9))
    sites.note_page(view("alice", 2, 2))
    course = sites.course_of(("host", "parse"))
    alice, mallory = view("alice", 3, 0), view("mallory", 40, 0)
    assert course.decide_request(alice.url, parts_of(alice), alice.found_on) == MADE
    left = course.decide_request(mallory.url, parts_of(mallory), mallory.found_on).left
    assert left == ("fruitless",)
    course.leave(Request(mallory.url), left, mallory.found_on)
    sites.note_page(view("alice", 3, 3))
    assert [one.request.url for one in course.left.all] == [mallory.url]


def test_of_possible_copies_those_with_rare_values_come_first() -> None:
    """Links that are on each page do not keep others waiting."""
    sparing, response = Sparing(get_crawler(), DedupConfig()), HtmlResponse("http://host/")

    def meet(page: str, sort: int) -> int:
        request = Request(f"http://host/{page}?sort={sort}")
        met = sparing.screen_request(request, response, Visit())
        assert met is not None
        return met.priority

    common = [meet("home", n) for n in range(64)]
    rare = [meet("tea", n) for n in range(64, 66)]
    assert common[0] == rare[0] == 0
    assert rare[1] > common[-1]
    known = [meet("folder/home", n) for n in range(64)]
    assert meet("folder/new/home", 0) <= known[-1]  # nested links have new folders each time


def test_of_too_many_urls_those_of_sites_without_news_are_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A rule stays, and so does what is known of the site at hand."""
    monkeypatch.setattr("crawler.pipelines.spared.site_courses._MOST_URLS", 20)
    monkeypatch.setattr("crawler.pipelines.spared.site_courses._LOOK_EVERY", 8)
    sites = SiteCourses(
        DedupConfig(), Tally(MemoryStatsCollector(get_crawler())), list[LeftRequest]().extend
    )
    hosts = "first", "second", "third"
    for host in hosts:
        for page, sort in itertools.product(range(4), "ab"):
            seen = seen_page(page, sort)
            url = seen.url.replace("host", host)
            sites.note_page(seen._replace(site=(host, "parse"), url=url))
    first, second, third = (sites.course_of((host, "parse")).rules for host in hosts)
    assert (first.size, second.size, third.size) == (0, 8, 8)
    assert first.rules.keys() == third.rules.keys() == {"?sort"}


async def test_rules_of_so_many_sites_are_remembered(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a crawl of the web that goes on for months, the latest."""
    monkeypatch.setattr(site_exchange, "_MOST_SITES", 2)
    exchange = site_exchange.SiteExchange()
    async with DuplicateIndex.open(DedupConfig(redis_url=redis_url)) as index:
        exchange.open(index)
        for site in "abc":
            await exchange.ask_for_rules(site)
        assert list(exchange.told) == ["b", "c"]
        assert await exchange.ask_for_rules("c") is None  # too early
        assert await exchange.ask_for_rules("a") == {}


def test_what_brings_news_is_fetched_however_far_from_the_last() -> None:
    """Articles and the first of a kind, found on a list of one text; the rest once it has news."""
    made = list[LeftRequest]()
    sites = SiteCourses(DedupConfig(), Tally(MemoryStatsCollector(get_crawler())), made.extend)
    pages = [f"http://host/list?page={number}" for number in range(10)]
    found = "http://host/item/7", "http://host/about", "http://host/list?page=11"
    sites.note_page(seen_page(1, "a")._replace(url="http://host/item/1"))
    for before, url in itertools.pairwise(pages):
        found_on = Found(page_number(before))
        sites.note_page(seen_page(0, "a", text=9)._replace(url=url, found_on=found_on))
    course, last = sites.course_of(("host", "parse")), Found(page_number(pages[-1]))
    article, about, following = (
        course.decide_request(url, parts, last)
        for url in found
        if (parts := split_url(url)) is not None
    )
    assert article == about == MADE
    assert following.left == ("copy_depth",)
    course.leave(Request(found[2]), following.left, last)
    sites.note_page(seen_page(2, "a"))
    assert made == []
    sites.note_page(seen_page(3, "a")._replace(found_on=last))  # the list was worth reading
    assert [one.request.url for one in made] == [found[2]]


def test_what_has_erred_twice_is_learnt_no_more() -> None:
    """Each time it would hide the texts of the pages that it spares until it is revoked."""
    sites = SiteCourses(
        DedupConfig(), Tally(MemoryStatsCollector(get_crawler())), list[LeftRequest]().extend
    )
    rules = sites.course_of(("host", "parse")).rules
    for first, is_learnt in (0, True), (10, True), (20, False):
        for page, sort in itertools.product(range(first, first + 8), "ab"):
            sites.note_page(seen_page(page, sort))
        assert ("?sort" in rules.rules) == is_learnt
        sites.note_page(seen_page(first, "b", text=first + 99))
        assert not rules.rules


def test_what_was_spared_before_a_pause_is_made_if_its_rule_is_revoked(tmp_path: Path) -> None:
    """And what was fetched before it spares requests after it."""
    spider, made = Own("http://host/"), list[LeftRequest]()
    paused = PausedSites(Settings({"JOBDIR": str(tmp_path)}))
    tally = Tally(MemoryStatsCollector(get_crawler()))
    before, after = (SiteCourses(DedupConfig(), tally, made.extend) for _ in range(2))
    for page, sort in itertools.product(range(4), "ab"):
        before.note_page(seen_page(page, sort))
    course = before.course_of(("host", "parse"))
    course.leave(Request("http://host/3?sort=b", spider.parse), ("?sort",), NOWHERE)
    before.pause(paused, spider)
    after.go_on(paused, spider)
    assert not any(tmp_path.iterdir())  # a process that is killed now makes all requests again
    rules = after.course_of(("host", "parse")).rules
    assert rules.find_rules(parts_of(seen_page(2, "b"))) == ["?sort"]
    after.note_page(seen_page(1, "b", text=99))
    assert not rules.rules
    assert [(one.request.url, one.request.callback) for one in made] == [
        ("http://host/3?sort=b", spider.parse)
    ]


async def test_what_was_spared_before_a_pause_that_was_cut_off_is_made(
    web: Web, redis_url: str, tmp_path: Path
) -> None:
    """A crawl is killed while it writes its feeds: what it has fetched may be in none of them."""
    site, mark = endless("/{page}?sid={n:08x}"), tmp_path / "dedup.json"
    options = {"JOBDIR": tmp_path, "CONCURRENT_REQUESTS": 1}
    await fetch(web, site, redis_url, ends=False, **options | {"CLOSESPIDER_PAGECOUNT": 12})
    left = json.loads(mark.read_text()) | {"running": True}
    mark.write_text(json.dumps(left))  # as it is until the feeds are written
    _, texts, _ = await fetch(web, site, redis_url, **options)
    assert len(texts) == 6


async def test_a_listing_of_copies_leads_to_all_its_pages(web: Web, redis_url: str) -> None:
    """Pages of a list have one text, and the links of each lead to new ones: none is a dead end."""

    def site(path: str) -> tuple[int, list[str]]:
        if path.startswith("/item"):
            return int(path.rpartition("/")[2]), []
        page = int(dict(parse_qsl(urlsplit(path).query)).get("page", 0))
        following = [f"/?page={page + 1}"] if page < 30 else []
        return 9999, [*following, *(f"/item/{10 * page + n}" for n in range(4))]

    fetched, texts, _ = await fetch(web, site, redis_url, DEDUP_TEMPLATES=False)
    assert len(texts) == 1 + 31 * 4
    assert len(fetched) == 31 + 31 * 4


def members(path: str) -> tuple[int | str, list[str]]:
    """Lists of one text, which all are on the front page; few members have written anything."""
    kind, _, number = path.strip("/").partition("/")
    if kind == "list":
        return 2, [f"/member/{4 * int(number) + n}" for n in range(4)]
    if kind == "member":
        is_empty = int(number) < 12 or int(number) % 17
        return "Nothing has been written here." if is_empty else 100 + int(number), []
    return 1, [f"/list/{n}" for n in range(15)]


def rooms(path: str) -> tuple[int, list[str]]:
    """What is on in three rooms, day by day: mostly what is on in each, and a link to the next."""
    _, _, room, day, *_ = f"{path}///".split("/")
    if not day:
        return 1, [f"/room/{name}/1" for name in "abc"]
    text = ord(room) + (1000 * int(day) if int(day) % 5 == 4 else 0)
    return text, [f"/room/{room}/{int(day) + 1}"] * (int(day) < 14)


@pytest.mark.parametrize(("site", "texts"), [(members, 5), (rooms, 13)])
async def test_texts_behind_many_copies_are_kept(
    web: Web, redis_url: str, site: Site, texts: int
) -> None:
    """A site that ends is crawled to its end, although nine of ten pages are copies."""
    _, kept, _ = await fetch(web, site, redis_url)
    assert len(kept - {"here."}) == texts


async def test_other_spiders_spare_what_they_are_told_to(web: Web, redis_url: str) -> None:
    """DEDUP_LEARN_URLS turns it on, and off for `site`; errbacks hear of what is not made."""

    web.answers = Pages(endless("/{page}?sid={n:08x}"))
    settings = {"DEDUP_REDIS_URL": redis_url, "CLOSESPIDER_PAGECOUNT": 100}
    stats = await crawl(web, spider=Own, DEDUP_LEARN_URLS=True, **settings)
    assert stats["finish_reason"] == "finished"
    stats = await crawl(web, spider=Own, DEDUP_NAMESPACE="other", **settings)
    assert stats["finish_reason"] == "closespider_pagecount"
    assert "dedup/spared" not in stats


class Made:
    """Makes the requests of a crawl that has learnt a rule on ``?sort``, and gives answers."""

    def __init__(self, make: Callable[[str], Request], **settings: Any) -> None:
        crawler = get_crawler(settings_dict=settings)
        self.sparing, self.make = Sparing(crawler, DedupConfig()), make
        self.spider = Own("http://host/")
        self.spider._set_crawler(crawler)
        for page, sort in itertools.product(range(4), "ab"):
            self.answer(make(f"http://host/{page}?sort={sort}"), page)

    def answer(self, request: Request, page: int) -> None:
        response = HtmlResponse(request.url, request=request)
        visit = self.sparing.find_visit(response)
        visit.expect()
        visit.cluster = visit.text = page
        visit.item_ended()
        self.sparing.end_callback(response)

    async def spares(self, request: Request) -> bool:
        """Whether a request is spared that a page leads to."""
        if self.sparing.screen_request(request, HtmlResponse("http://host/"), Visit()) is None:
            return True
        try:
            await self.sparing.admit_request(request)
        except Spared:
            return True
        return False


async def test_forms_and_repeated_requests_are_always_sent() -> None:
    """Although their meta may be that of a request which may be spared."""
    made = Made(Request)
    url, meta = "http://host/3?sort=b", {FOUND_ON: (1, False)}
    for sent in (
        Request(url, dont_filter=True, meta=meta),
        FormRequest(url, formdata={"q": "tea"}, meta=meta),
    ):
        assert not await made.spares(sent)
    assert await made.spares(Request(url, meta=meta))
    made.answer(FormRequest("http://host/9?sort=a", formdata={"q": "tea"}), 9)
    assert not await made.spares(Request("http://host/9?sort=b"))


async def test_what_is_made_after_all_is_not_counted_as_spared() -> None:
    """A link was spared while another request for its URL waited, which then checks the rule."""
    made = Made(Request)
    made.answer(Request("http://host/7?sort=a"), 7)
    url, stats = "http://host/7?sort=b", made.spider.crawler.stats
    assert await made.spares(Request(url))
    assert stats.get_value("dedup/spared") == 1
    await made.sparing.admit_request(Request(url, meta={FOUND_ON: (1, False), CHECKS: True}))
    assert stats.get_value("dedup/spared") == 0


async def test_a_check_is_made_again_if_it_fails() -> None:
    """The retry of a request that checks a rule checks it, too; what its page leads to does not."""
    made = Made(Request)
    made.answer(Request("http://host/7?sort=a"), 7)
    meta = {FOUND_ON: (1, False), CHECKS: True}
    check = Request("http://host/7?sort=b", meta=meta)
    await made.sparing.admit_request(check)
    again = get_retry_request(check, spider=made.spider, reason="503")
    assert again is not None
    await made.sparing.admit_request(again)
    assert await made.spares(Request("http://host/7?sort=b", meta=meta))


@pytest.mark.parametrize("end", [RuntimeError, asyncio.CancelledError])
async def test_a_request_whose_turn_fails_passes_it_on(
    monkeypatch: pytest.MonkeyPatch, end: type[BaseException]
) -> None:
    """Otherwise all others would wait for seconds, although nothing is under way."""
    sparing, meta = Sparing(get_crawler(), DedupConfig()), {FOUND_ON: (1, False)}
    requests = [Request(f"http://host/1?sort={number}", meta=meta) for number in range(6)]
    admitted = [asyncio.ensure_future(sparing.admit_request(one)) for one in requests]
    await asyncio.wait(admitted, timeout=0.1)
    assert [one.done() for one in admitted] == [True, True, True, False, False, False]
    failing = [end()]

    async def hear_others(self: SiteCourses, site: str | None = None) -> None:
        if failing:
            raise failing.pop()

    monkeypatch.setattr(SiteCourses, "hear_others", hear_others)
    sparing.end_request(requests[2])
    await asyncio.wait(admitted, timeout=0.1)
    assert [one.done() for one in admitted] == [True, True, True, False, True, True]


async def test_what_one_callback_fetches_spares_nothing_for_another() -> None:
    """Nor does what a rule of a CrawlSpider fetches for another rule."""

    def of_rule(url: str, rule: int = 1) -> Request:
        return Request(url, CrawlSpider("crawled")._callback, meta={"rule": rule})

    def of_partial(url: str, callback: Any = Own.parse) -> Request:
        return Request(url, partial(callback, tag="x"))

    rule, callback = Made(of_rule), Made(of_partial)
    for crawl_of in rule, callback:
        crawl_of.answer(crawl_of.make("http://host/7?sort=a"), 7)
        assert await crawl_of.spares(crawl_of.make("http://host/7?sort=b"))
    assert not await rule.spares(of_rule("http://host/7?sort=b", 2))
    assert not await callback.spares(of_partial("http://host/7?sort=b", Made.answer))


class ByLanguage:
    """A fingerprinter that tells languages apart."""

    def fingerprint(self, request: Request) -> bytes:
        return fingerprint(request, include_headers=["Accept-Language"])


async def test_requests_that_a_fingerprinter_tells_apart_spare_each_other_nothing() -> None:
    """A site may have a text for each language under one URL. Middlewares add headers later."""

    def ask(url: str, language: str = "en", **options: Any) -> Request:
        return Request(url, headers={"Accept-Language": language}, **options)

    made = Made(ask, REQUEST_FINGERPRINTER_CLASS=ByLanguage)
    plain = Request("http://host/7?sort=a")
    for request in ask("http://host/7?sort=a"), plain:
        await made.sparing.admit_request(request)
        request.headers.setdefault("Accept-Language", "de")
        made.answer(request, 7)
    assert await made.spares(ask("http://host/7?sort=b", meta=plain.meta))
    assert not await made.spares(ask("http://host/7?sort=b", "de", meta=plain.meta))
    assert not await made.spares(Request("http://host/7?sort=b"))
    for page, sort in itertools.product(range(4), "ab"):
        made.answer(Request(f"http://host/{page}?sort={sort}"), page)
    assert await made.spares(Request("http://host/7?sort=b"))


class ByNumber:
    """A fingerprinter that knows numbered pages only."""

    def fingerprint(self, request: Request) -> bytes:
        return bytes([int(urlsplit(request.url).path.strip("/"))])


async def test_a_fingerprinter_that_fails_costs_no_response() -> None:
    """It may know no page but its own; then all requests are made."""
    made = Made(Request, REQUEST_FINGERPRINTER_CLASS=ByNumber)
    request = Request("http://host/7?sort=b")
    assert not await made.spares(request)
    made.sparing.note_response(request, HtmlResponse(request.url, status=404))


@pytest.mark.filterwarnings("ignore:Passing a .spider:scrapy.exceptions.ScrapyDeprecationWarning")
async def test_scrapy_redis_projects_spare_by_one_setting(web: Web, redis_url: str) -> None:
    """Its scheduler and its dupefilter are as they were, and know nothing of it."""

    web.answers, before = Pages(tracked), len(web.seen)
    settings = {
        "DEDUP_REDIS_URL": redis_url,
        "REDIS_URL": redis_url,
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        "CLOSESPIDER_PAGECOUNT": 500,
    }
    stats = await crawl(web, spider=Own, DEDUP_LEARN_URLS=True, **settings)
    assert stats["finish_reason"] == "finished"
    assert stats["scheduler/dequeued/redis"] > 60
    assert len(web.seen) - before <= 61
    assert {name_of(path) for path in web.seen[before:] if path != "/robots.txt"} == set(range(30))


async def test_processes_of_a_crawl_share_what_they_see(redis_url: str) -> None:
    """What one has fetched spares requests to the other, that has fetched nothing."""
    config = DedupConfig(redis_url=redis_url, crawl="monday")
    stats = MemoryStatsCollector(get_crawler())
    one, other = (SiteCourses(config, Tally(stats), list[LeftRequest]().extend) for _ in range(2))
    async with DuplicateIndex.open(config) as index, DuplicateIndex.open(config) as second:
        for sites, opened in (one, index), (other, second):
            await opened.begin_crawl()
            sites.exchange.open(opened)
        for page, sort in itertools.product(range(4), "ab"):
            one.note_page(seen_page(page, sort))
        parts = parts_of(seen_page(3, "b"))
        rules = other.course_of(("host", "parse")).rules
        assert rules.find_rules(parts) is None
        await one.exchange.close()
        await other.hear_others()
        assert rules.find_rules(parts) == ["?sort"]
        assert stats.get_value("dedup/rules/learnt") == 2
        await other.exchange.close()


@pytest.mark.parametrize("by_person", [False, True], ids=["crawl", "person"])
async def test_a_rule_that_is_revoked_elsewhere_spares_nothing_any_more(
    redis_url: str, monkeypatch: pytest.MonkeyPatch, by_person: bool
) -> None:
    """A crawl that rests on what another has learnt follows that one, and a person."""
    monkeypatch.setattr("crawler.pipelines.spared.site_exchange._RULES_EVERY", 0)
    config, made = DedupConfig(redis_url=redis_url), list[LeftRequest]()
    tally = Tally(MemoryStatsCollector(get_crawler()))
    one, other = (SiteCourses(config, tally, made.extend) for _ in range(2))
    async with DuplicateIndex.open(config) as index:
        for sites in one, other:
            sites.exchange.open(index)
        for page, sort in itertools.product(range(4), "ab"):
            one.note_page(seen_page(page, sort))
        await one.exchange.close()
        course = other.course_of(("host", "parse"))
        await other.hear_others("host")
        for page, sort in (0, "a"), (0, "b"), (1, "a"), (1, "b"), (5, "a"):
            other.note_page(seen_page(page, sort))
        await other.exchange.close()
        assert course.rules.find_rules(parts_of(seen_page(5, "b"))) == ["?sort"]
        course.leave(Request("http://host/5?sort=b"), ("?sort",), NOWHERE)
        if by_person:
            await index.note_url_rule("host", "?sort", {"state": "forbidden"}, by_person=True)
        else:
            one.note_page(seen_page(0, "b", text=99))
            await one.exchange.close()
        await other.hear_others("host")
        assert course.rules.find_rules(parts_of(seen_page(5, "b"))) is None
        assert [left.request.url for left in made] == ["http://host/5?sort=b"]


async def test_a_wrong_rule_of_a_person_is_told(
    web: Web, redis_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """It spares what it says, and the index keeps it."""
    site = read_site(web.url)
    async with DuplicateIndex.open(DedupConfig(redis_url=redis_url)) as index:
        await index.note_url_rule(site, "?v", {"state": "added"}, by_person=True)
        _, texts, stats = await fetch(web, on_few_pages, redis_url)
        assert await index.url_rules(site) == {"?v": {"state": "added"}}
    assert len(texts) < 30 + 3 * len(SOME)
    assert "dedup/rules/revoked" not in stats
    assert caplog.text.count("a person has added a rule on it") == 1


def test_rules_are_checked_by_requests_drawn_at_random() -> None:
    """So nobody can arrange links in such a way that theirs are drawn; the others stay in order."""
    left = LeftRequests()
    for number in range(100):
        reasons = ("?a", "?b") if number % 2 else ("?b",)
        left.add(LeftRequest(Request(f"http://host/{number}"), reasons, NOWHERE))
    checks = left.take_checks(["?a", "?b", "?c"], 40, lambda one: [])
    assert len(left.all) == 100 - len(checks)
    assert [one.request.url for one in left.all] == sorted(
        (one.request.url for one in left.all), key=lambda url: int(url.rpartition("/")[2])
    )
    assert sum("?a" in one.reasons for one in checks) >= 3 <= len(checks) <= 6
    assert left.take_checks(["?a"], 40, lambda one: []) == []


def test_a_rule_is_checked_although_the_site_has_many_copies() -> None:
    """Half of the pages that are not compared yet are, however many fetches have brought copies."""
    sites = SiteCourses(
        DedupConfig(), Tally(MemoryStatsCollector(get_crawler())), list[LeftRequest]().extend
    )
    for page, sort in itertools.product(range(4), "ab"):
        sites.note_page(seen_page(page, sort))
    course = sites.course_of(("host", "parse"))
    for page in range(4, 16):
        sites.note_page(seen_page(page, "a"))
        course.leave(Request(f"http://host/{page}?sort=b"), ("?sort",), NOWHERE)
    for number in range(40):
        copy = seen_page(0, "", text=0)
        sites.note_page(copy._replace(url=f"http://host/login-{'abcd'[number % 4] * number}"))
    assert len(course.take_checks()) == 6
