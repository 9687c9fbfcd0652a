"""Rules that err on few pages: these are compared in each rule, and what was spared is made."""

from __future__ import annotations

import itertools
import re

from scrapy import Request
from scrapy.http import HtmlResponse
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.test import get_crawler

from crawler.dedup import DedupConfig
from crawler.dedup.urls.parts import split_url
from crawler.pipelines.spared.left_requests import LeftRequest
from crawler.pipelines.spared.novelty import NOWHERE
from crawler.pipelines.spared.site_courses import SiteCourses
from crawler.pipelines.spared.site_exchange import SeenPage
from crawler.pipelines.spared.sparing import Sparing
from crawler.pipelines.spared.tally import Tally
from crawler.pipelines.spared.visits import Visit

KEY = "host", "parse"


def make_sites() -> tuple[SiteCourses, list[LeftRequest]]:
    """The sites of a crawl, and the requests that it makes after all."""
    made: list[LeftRequest] = []
    return SiteCourses(DedupConfig(), Tally(MemoryStatsCollector(get_crawler())), made.extend), made


def show(sites: SiteCourses, path: str, text: int) -> None:
    """Have a page of this text come."""
    visit = Visit()
    visit.cluster = visit.text = text
    sites.note_page(SeenPage(KEY, f"http://host/{path}", NOWHERE, visit))


def learn_two_rules(sites: SiteCourses, pages: int) -> None:
    """Fetch four pages with two values of each of two arguments, and others with two of one."""
    for page, rest in itertools.product(
        range(4), ("ref=a", "ref=b", "ref=a&size=s", "ref=b&size=m")
    ):
        show(sites, f"item{page}?{rest}", page)
    for page, ref in itertools.product(range(4, pages), "ab"):
        show(sites, f"item{page}?ref={ref}", page)


def test_a_page_is_compared_in_each_argument_of_which_it_offers_a_choice() -> None:
    """Although it came under several URLs that differ in another one, and no fetches are left."""
    compared = {}
    for is_choice in True, False:
        sites, _ = make_sites()
        learn_two_rules(sites, 24)
        course = sites.course_of(KEY)
        if is_choice:
            one, other = (split_url(f"http://host/item4?size={size}") for size in "sm")
            assert one is not None
            assert other is not None
            course.rules.note_choice(one, other)
        for page in range(4, 24):
            request = Request(f"http://host/item{page}?ref=b&size=s")
            course.leave(request, ("?ref", "?size"), NOWHERE)
        urls = [one.request.url for one in course.take_checks()]
        compared[is_choice] = {found[0] for url in urls if (found := re.search(r"item\d+", url))}
    assert compared[True] == {f"item{page}" for page in range(4, 24)}
    assert len(compared[False]) < 5


def test_links_of_a_page_to_itself_are_a_choice() -> None:
    """And one link of each page to all others is none, nor are sessions."""
    sparing = Sparing(get_crawler(), DedupConfig())
    response, visit = HtmlResponse("http://host/tea?ref=a"), Visit()
    for path in (
        "cake?sort=a",
        "cake?sort=b",
        "tea?sid=8f14e45fceea167a",
        "tea?sid=3c59dc048e885024",
    ):
        sparing.screen_request(Request(f"http://host/{path}"), response, visit)
    course = sparing._sites.course_of(("host", ""))
    assert course.rules.choices == set()
    for path in "tea?view=a&sid=8f14e45fceea1670", "tea?view=b&sid=8f14e45fceea167b":
        sparing.screen_request(Request(f"http://host/{path}"), response, visit)
    assert course.rules.choices == {"?view"}


def test_what_a_rule_spared_on_other_pages_is_made_if_it_errs_on_one() -> None:
    """Pages with names of their own are kinds; three of them stood for all others beside them.

    The rule still holds for these three.
    """
    sites, made = make_sites()
    for page, color in itertools.product(range(3), ("", "?color=red", "?color=blue")):
        show(sites, f"shop/{'abc'[page]}{color}", page)
    course = sites.course_of(KEY)
    show(sites, "shop/tea", 7)
    show(sites, "shop/cake", 8)
    parts = split_url("http://host/shop/tea?color=red")
    assert parts is not None
    assert course.rules.find_rules(parts) == ["?color"]
    course.leave(Request("http://host/shop/tea?color=red"), ("?color",), NOWHERE)
    show(sites, "shop/cake?color=green", 9)
    assert course.rules.find_rules(parts) is None
    assert "?color" in course.rules.rules
    assert [one.request.url for one in made] == ["http://host/shop/tea?color=red"]


def test_a_rule_that_erred_on_a_page_does_not_hold_there_when_it_is_learnt_again() -> None:
    """Most pages show a rule again after it was revoked, and pages that came before are forgotten.

    What a choice made of one of them, before or after, is known all the same.
    """
    sites, _ = make_sites()
    learn_two_rules(sites, 10)
    rules = sites.course_of(KEY).rules
    rules.choices.add("?size")
    show(sites, "item8?ref=b&size=s", 80)
    assert rules.rules == {}
    show(sites, "item9?ref=b&size=s", 90)  # no page with which it could be compared is known
    learn_two_rules(sites, 10)
    assert {*rules.rules} == {"?ref", "?size"}
    for page, found in (7, ["?size"]), (8, None), (9, None):
        parts = split_url(f"http://host/item{page}?ref=a&size=m")
        assert parts is not None
        assert rules.find_rules(parts) == found


def test_pages_are_compared_in_all_values_of_a_choice_that_has_erred() -> None:
    """One of two values may be the page's own default, so that each page seems compared by it."""
    sites, _ = make_sites()
    learn_two_rules(sites, 10)
    course = sites.course_of(KEY)
    course.rules.choices.add("?size")
    show(sites, "item8?ref=b&size=s", 80)
    learn_two_rules(sites, 10)
    for page in range(4, 8):
        show(sites, f"item{page}?ref=b&size=m", page)
        course.leave(Request(f"http://host/item{page}?ref=b&size=s"), ("?size",), NOWHERE)
    made = {one.request.url for one in course.take_checks()}
    assert made >= {f"http://host/item{page}?ref=b&size=s" for page in range(4, 8)}
