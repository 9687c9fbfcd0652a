"""Sites whose links lead to copies without end, whose answers come in any order: crawls end."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import random
from collections import Counter
from functools import partial
from types import SimpleNamespace
from urllib.parse import urljoin, urlsplit

import pytest
from scrapy import Request, Spider, signals
from scrapy.exceptions import DontCloseSpider
from scrapy.http import HtmlResponse
from scrapy.utils.test import get_crawler

from crawler.dedup import DedupConfig, Verdict
from crawler.dedup.urls.parts import UrlParts, split_url
from crawler.dedup.verdict import Kind
from crawler.pipelines.spared.novelty import NOWHERE
from crawler.pipelines.spared.site_course import MADE, Decision, SiteCourse
from crawler.pipelines.spared.sparing import Spared, Sparing
from crawler.pipelines.spared.visits import Visit
from tests.pipelines.made_sites import ENDLESS, Site, endless, name_of

START = "http://host"
AT_ONCE = 16  # as Scrapy's CONCURRENT_REQUESTS


class Order:
    """A crawl without a network: of the requests under way a drawn one is answered next."""

    def __init__(self, site: Site, draws: random.Random) -> None:
        self.site, self.draws = site, draws
        self.fetched: list[str] = []
        crawler = get_crawler()
        crawler.spider, crawler.engine = Spider("own"), SimpleNamespace(crawl=self.queue)
        self.sparing = Sparing(crawler, DedupConfig())
        self.sparing.connect_signals()
        send = crawler.signals.send_catch_log
        self.send = partial(send, spider=crawler.spider, dont_log=DontCloseSpider)
        self.number = itertools.count()
        self.waiting: list[tuple[int, int, Request]] = []
        self.answers: list[asyncio.Future[None]] = []

    def queue(self, request: Request) -> None:
        heapq.heappush(self.waiting, (-request.priority, next(self.number), request))

    async def run(self, most: int) -> None:
        """Crawl until nothing is left to do, or so many pages came."""
        self.queue(Request(START))
        tasks: set[asyncio.Future[None]] = set()
        while len(self.fetched) < most:
            while self.waiting and len(tasks) < AT_ONCE:
                tasks.add(asyncio.ensure_future(self.fetch(heapq.heappop(self.waiting)[2])))
            for _ in range(8):  # until each has been asked for, or waits for its turn
                await asyncio.sleep(0)
            tasks = {task for task in tasks if not task.done()}
            if self.answers:
                self.answers.pop(self.draws.randrange(len(self.answers))).set_result(None)
            elif not tasks and not self.waiting:
                self.send(signals.spider_idle)
                if not self.waiting:
                    break

    async def fetch(self, request: Request) -> None:
        try:
            await self.sparing.admit_request(request)
        except Spared:
            return
        self.answers.append(asyncio.get_running_loop().create_future())
        await self.answers[-1]
        self.fetched.append(request.url)
        response = HtmlResponse(request.url, request=request)
        self.sparing.note_response(request, response)
        visit = self.sparing.find_visit(response)
        visit.expect()
        page, links = self.site(request.url.removeprefix(START))
        verdict = Verdict(Kind.UNIQUE, request.url, cluster=page + 1)
        self.sparing.note_verdict(response, verdict, f"text {page} " * 100)
        self.send(signals.item_scraped, item={}, response=response)
        for link in links:
            met = self.sparing.screen_request(Request(urljoin(START, link)), response, visit)
            if met is not None:
                self.queue(met)
        self.sparing.end_callback(response)


@pytest.mark.parametrize("link", ENDLESS.values(), ids=ENDLESS)
async def test_whatever_comes_first_a_page_takes_five_fetches(link: str) -> None:
    """Six pages whose links are new each time, in twelve orders."""
    for seed in range(12):
        order = Order(endless(link), random.Random(seed))
        await order.run(most=100)
        assert {*map(name_of, order.fetched)} == set(range(6))
        assert len(order.fetched) <= 5 * 6, seed


async def test_a_calendar_without_end_starves_no_other() -> None:
    """Although it is known to matter which day it shows, and of the other this is not known."""

    def show(path: str) -> tuple[int, list[str]]:
        name, _, day = path.strip("/").partition("?day=")
        links = [f"/{name or 'first'}?day={int(day or 0) + step}" for step in range(8)]
        if day == "20":
            links += [f"/other?day={step}" for step in range(8)]
        return hash(path), links

    order = Order(show, random.Random(0))
    await order.run(most=100)
    fetched = Counter(urlsplit(url).path for url in order.fetched)
    assert fetched["/other"] > 10


@pytest.mark.parametrize("trap", ["/day-{0}", "/cal/{0}/{0}"])
async def test_a_series_without_end_starves_no_script(trap: str) -> None:
    """Although each of its pages has a name or folder of its own."""

    def show(path: str) -> tuple[int, list[str]]:
        _, _, item = path.partition("?id=")
        if not item and path:
            day = int(path.rpartition("/")[2].strip("day-"))
            return hash(path), [trap.format(day + step) for step in (1, 7, 30)]
        links = [f"/item?id={(int(item or 0) * 3 + step) % 150}" for step in (1, 2, 3)]
        return hash(path), [*links, trap.format(1)]

    order = Order(show, random.Random(0))
    await order.run(most=200)
    assert len({url for url in order.fetched if "/item" in url}) > 50


@pytest.mark.parametrize(("first", "at_once"), [("a", 4), ("b", 2)])
def test_more_is_tried_at_once_if_what_came_was_new_beside_a_rival(
    first: str, at_once: int
) -> None:
    """Of two URLs that may be one page, the first to come says nothing of what was tried."""
    course = SiteCourse(copy_depth=6, fruitless=2)

    def read(name: str) -> tuple[str, UrlParts]:
        url = f"{START}/tea?kind={name}&size={name}"
        parts = split_url(url)
        assert parts is not None
        return url, parts

    def come(name: str) -> None:
        url, parts = read(name)
        visit = Visit()
        visit.cluster = visit.text = ord(name)
        course.note_visit(url, parts, NOWHERE, visit)
        course.note_landed(url)

    def request(name: str) -> Decision:
        return course.decide_request(*read(name), NOWHERE)

    assert request("a") == request("b") == MADE
    come(first)
    if first == "a":
        come("b")
    assert [request(name) for name in "cdefg"].count(MADE) == at_once
