"""What a crawl remembers of a site: its rules, its doubtful URLs and what it has spared."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse
from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.test import get_crawler

from crawler.dedup import DedupConfig, DuplicateIndex
from crawler.dedup.urls.parts import split_url
from crawler.pipelines.spared import site_exchange
from crawler.pipelines.spared.left_requests import LeftRequest
from crawler.pipelines.spared.novelty import NOWHERE, Found, page_number
from crawler.pipelines.spared.paused import PausedSites
from crawler.pipelines.spared.site_course import MADE
from crawler.pipelines.spared.site_courses import SiteCourses
from crawler.pipelines.spared.site_exchange import SeenPage
from crawler.pipelines.spared.sparing import Sparing
from crawler.pipelines.spared.tally import Tally
from crawler.pipelines.spared.visits import Visit
from tests.pipelines.made_sites import (
    Own,
    endless,
    fetch,
)
from tests.pipelines.spared.seen import parts_of, seen_page
from tests.spiders.webserver import Web


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
