"""What makes no difference is not fetched again, and what matters is fetched once."""

from __future__ import annotations

import random
from typing import Any
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

import pytest
from scrapy import Request
from scrapy.crawler import Crawler

from crawler.dedup import DedupConfig, DuplicateIndex
from tests.pipelines.crawls import crawl, prose
from tests.pipelines.made_sites import (
    SOME,
    Own,
    Pages,
    Site,
    endless,
    fetch,
    name_of,
    on_few_pages,
)
from tests.pipelines.spared.seen import tracked
from tests.spiders.webserver import Web


class Watcher:
    """Lets a site know how far a crawl of it is."""

    def watch(self, crawler: Crawler) -> None:
        self.crawler = crawler


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
