"""Requests that were left, and are made after all: each once."""

from __future__ import annotations

from functools import partial

from scrapy import Request

from crawler.dedup.urls.parts import split_url
from crawler.pipelines.spared.left_requests import Why
from crawler.pipelines.spared.novelty import NOWHERE
from crawler.pipelines.spared.site_course import SiteCourse
from crawler.pipelines.spared.untried import draw_untried
from crawler.pipelines.spared.visits import Visit
from tests.pipelines.crawls import crawl
from tests.pipelines.made_sites import SOME, Own, Pages, on_few_pages
from tests.spiders.webserver import Web


async def test_what_is_found_often_is_fetched_once(web: Web, redis_url: str) -> None:
    """Other spiders yield a link on each page that has it; the dupefilter knows what was made."""
    web.answers = Pages(partial(on_few_pages, versions=3))
    settings = {"DEDUP_REDIS_URL": redis_url, "CLOSESPIDER_PAGECOUNT": 1000}
    stats = await crawl(web, spider=Own, DEDUP_LEARN_URLS=True, **settings)
    assert stats["finish_reason"] == "finished"
    assert ("dedup/rules/revoked" in stats) == ("dedup/rules/learnt" in stats)
    fetched = [path for path in web.seen if path != "/robots.txt"]
    assert len(fetched) == len(set(fetched))
    assert {f"/{page}?v={version}" for page in SOME for version in range(3)} <= set(fetched)
    assert 0 <= stats["dedup/spared"] == 1 + 30 * 3 - len(fetched)


def test_what_no_page_had_is_tried() -> None:
    """Values, then pairs of values, that several links have; those of one link say nothing."""
    fetched = [split_url(f"http://host/x/item?{query}") for query in ("a=1&b=1&n=1", "a=2&b=2&n=2")]
    known = ["http://host/x/item?a=1&b=1&n=3", "http://host/x/item?a=2&b=2&n=4"]
    known += ["http://host/x/y/item?a=1&b=1", "http://host/x/y/item?a=2&b=2"]  # by nested links
    value = ["http://host/x/item?a=3&b=1&n=6", "http://host/x/item?a=3&b=1&n=7"]
    pair = ["http://host/x/item?a=1&b=2&n=8", "http://host/x/item?a=1&b=2&n=9"]
    parts = [one for one in fetched if one is not None]
    drawn = draw_untried([*known, *pair, *value], parts, 10)
    assert len(drawn) == 2
    assert drawn[0] in value
    assert drawn[1] in pair
    assert draw_untried([*known, *value], parts, 0) == []


def test_an_argument_that_no_page_had_is_tried() -> None:
    """Although each of its values is in one link only."""
    fetched = [split_url("http://host/list"), split_url("http://host/item?sid=0&id=7")]
    left = ["http://host/list?item=tea", "http://host/list?item=cake"]
    known = [f"http://host/item?sid={n}&id=7" for n in range(1, 10)]
    assert len({*draw_untried([*known, *left], filter(None, fetched), 10)} & {*left}) == 1


def test_many_nested_links_hide_no_value_that_no_page_had() -> None:
    """They differ in folders only, so one stands for all of them."""
    fetched = [split_url("http://host/tea"), split_url("http://host/item?id=1")]
    nested = [f"http://host/cake/{a}/{b}/tea" for a in range(80) for b in range(60)]
    value = ["http://host/item?id=2", "http://host/item?id=2&sid=1"]
    drawn = draw_untried([*nested, *value], filter(None, fetched), 10)
    assert {*drawn} & {*value}


def test_a_crawl_that_ends_tries_what_was_left_as_fruitless() -> None:
    """One of each untried value, no more than ten, and no more if these bring nothing new."""
    course = SiteCourse(copy_depth=6, fruitless=2)
    parts = split_url("http://host/item?a=0&n=40")
    assert parts is not None
    visit = Visit()
    visit.cluster = visit.text = 1
    course.note_visit("http://host/item?a=0&n=40", parts, NOWHERE, visit)
    for number in range(40):
        request = Request(f"http://host/item?a={number % 20}&n={number}")
        course.leave(request, (Why.FRUITLESS,), NOWHERE)
    tried = [one.request.url for one in course.take_checks()]
    assert len({url.partition("&")[0] for url in tried}) == 10
    assert "http://host/item?a=0" not in {url.partition("&")[0] for url in tried}
    assert course.take_checks() == []
    visit.cluster = visit.text = 2
    course.note_visit("http://host/item?a=1", parts, NOWHERE, visit)
    assert len(course.take_checks()) == 9
