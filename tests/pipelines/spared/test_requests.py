"""Requests of any spider: forms, repeated ones, checks, and those told apart by fingerprints."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import pytest
from scrapy import FormRequest, Request
from scrapy.downloadermiddlewares.retry import get_retry_request
from scrapy.http import HtmlResponse
from scrapy.spiders import CrawlSpider
from scrapy.utils.request import fingerprint
from scrapy.utils.test import get_crawler

from crawler.dedup import DedupConfig
from crawler.pipelines.spared.site_courses import SiteCourses
from crawler.pipelines.spared.spared_requests import CHECKS, FOUND_ON
from crawler.pipelines.spared.sparing import Spared, Sparing
from crawler.pipelines.spared.visits import Visit
from tests.pipelines.crawls import crawl
from tests.pipelines.made_sites import (
    Own,
    Pages,
    endless,
    name_of,
)
from tests.pipelines.spared.seen import tracked
from tests.spiders.webserver import Web


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
