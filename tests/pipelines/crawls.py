"""Crawls of a small site whose texts move, in this process, with the filter on."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from typing import Any

from scrapy import Spider, signals
from scrapy.crawler import Crawler

from crawler.addon import Addon
from crawler.dedup import Kind
from crawler.spiders.site import SiteSpider
from tests.spiders.webserver import Web

_SETTINGS: dict[str, Any] = {
    "TWISTED_REACTOR_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "RETRY_ENABLED": False,
    "LOG_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "ADDONS": {Addon: 500},
    "DEDUP_ARCHIVE": 0,
    "DEDUP_TEMPLATES": False,
}


@cache
def prose(seed: int, words: int = 60) -> str:
    """A text that no other seed has."""
    draws = random.Random(seed)
    syllables = [a + b for a in "bdfgklmnprst" for b in "aeiou"]
    return " ".join("".join(draws.choices(syllables, k=3)) for _ in range(words))


class Site:
    """Pages with texts, all linked from ``/``, whose links are shuffled."""

    def __init__(self, web: Web, draws: random.Random) -> None:
        self.web = web
        self.texts: dict[str, int] = {}
        self._draws = draws

    def serve(self, texts: dict[str, int]) -> None:
        """Have these texts, by their seeds, at these paths, and nothing else."""
        self.texts = texts
        self.web.answers.clear()
        paths = list(texts)
        self._draws.shuffle(paths)
        self.web.page("/", *paths, text=f"Contents {prose(9999)}")
        for path, seed in texts.items():
            self.web.page(path, text=prose(seed))

    def missing(self, texts: set[str]) -> set[str]:
        """Paths whose texts are none of these."""
        seeds = self.texts.items()
        return {path for path, seed in seeds if not any(prose(seed) in text for text in texts)}


class Kept:
    """The items that a crawl passed on."""

    def __init__(self) -> None:
        self.items: list[Any] = []

    def watch(self, crawler: Crawler) -> None:
        crawler.signals.connect(self.put, signal=signals.item_scraped)

    def put(self, item: Any) -> None:
        self.items.append(item)


class Feed:
    """What crawls passed on: by path the text that it has in an engine which the feed is put into,
    unchanged pages left out, as examples/recrawl does.
    """

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.passed: set[str] = set()
        self.tags: dict[str, dict[str, Any]] = {}

    def watch(self, crawler: Crawler) -> None:
        crawler.signals.connect(self.put, signal=signals.item_scraped)
        crawler.signals.connect(self.take_out, signal=signals.item_dropped)

    def put(self, item: Any) -> None:
        self.passed.add(item.text)
        self.tags[path_of(item.url)] = item.dedup
        if replaced := item.dedup.get("replaces"):
            self.texts.pop(path_of(replaced), None)
        if item.dedup["kind"] != "unchanged":
            self.texts[path_of(item.url)] = item.text

    def take_out(self, item: Any, exception: Any) -> None:
        verdict = getattr(exception, "verdict", None)
        if verdict is None or verdict.standing in (Kind.EXACT, Kind.NEAR):
            self.tags.pop(path_of(item.url), None)
            self.texts.pop(path_of(item.url), None)

    def lost(self, site: Site) -> set[str]:
        """Paths of the site whose texts are in no page of the engine."""
        return site.missing(set(self.texts.values()))


def path_of(url: str) -> str:
    return "/" + url.split("/", 3)[3]


def make_crawler(spider: type[Spider] = SiteSpider, **settings: Any) -> Crawler:
    return Crawler(spider, {**_SETTINGS, **settings})


async def crawl(
    web: Web, *feeds: Any, spider: type[Spider] = SiteSpider, **options: Any
) -> dict[str, Any]:
    """Crawl the site, with settings in capital letters and arguments; the statistics."""
    settings = {name: value for name, value in options.items() if name.isupper()}
    arguments = {name: value for name, value in options.items() if not name.isupper()}
    crawler = make_crawler(spider, **settings)
    for feed in feeds:
        feed.watch(crawler)
    await crawler.crawl_async(url=web.url, **arguments)
    return crawler.stats.get_stats()


def weeks(draws: random.Random, count: int, start: int = 0) -> Iterator[dict[str, int]]:
    """What a site with moving texts has, week by week: an archive that is shifted by one post, this
    week's and next week's menu, a front page and permalinks, two pages that swap, a page that goes.
    """
    for week in range(start, start + count):
        texts = {"/this-week": 100 + week, "/next-week": 101 + week}
        texts |= {f"/archive/{place}": 200 + week - place for place in range(5)}
        texts |= {"/front": 300 + week, f"/story/{week}": 300 + week}
        texts |= {f"/story/{old}": 300 + old for old in range(max(week - 2, 0), week)}
        left, right = (400, 401) if week % 2 else (401, 400)
        texts |= {"/left": left, "/right": right}
        texts |= {f"/guest/{draws.randrange(3)}": 500 + week // 2, "/print": 500 + week // 2}
        texts |= {f"/about/{n}": 600 + n for n in range(4)}
        yield texts
