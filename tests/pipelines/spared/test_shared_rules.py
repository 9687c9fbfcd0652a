"""Rules that processes share, people write and checks confirm."""

from __future__ import annotations

import itertools

import pytest
from scrapy import Request
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.test import get_crawler

from crawler.dedup import DedupConfig, DuplicateIndex
from crawler.dedup.urls.parts import read_site
from crawler.pipelines.spared.left_requests import LeftRequest, LeftRequests
from crawler.pipelines.spared.novelty import NOWHERE
from crawler.pipelines.spared.site_courses import SiteCourses
from crawler.pipelines.spared.tally import Tally
from tests.pipelines.made_sites import (
    SOME,
    fetch,
    on_few_pages,
)
from tests.pipelines.spared.seen import parts_of, seen_page
from tests.spiders.webserver import Web


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
