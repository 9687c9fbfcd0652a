"""Cookies: they are read without asking anybody, and no site can drown itself in them."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.downloadermiddlewares import cookies as of_scrapy
from scrapy.http import Response
from scrapy.statscollectors import StatsCollector
from tldextract import TLDExtract

from crawler.addon import Addon
from crawler.spiders.cookies import CookiesMiddleware
from tests.conftest import Outside
from tests.spiders.webserver import Crawl, Web


@pytest.fixture
def fetching(outside: Outside, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scrapy as it is imported, with a list that nobody has fetched yet, from what never answers.

    That is given up after a moment, lest a failing test wait for ever.
    """
    lists = TLDExtract(cache_dir=None, suffix_list_urls=["https://list"], cache_fetch_timeout=0.2)
    monkeypatch.setattr(of_scrapy, "_split_domain", lists)


class Anybody(Spider):
    """A spider of a project with the add-on."""

    name = "anybody"

    def parse(self, response: Response) -> Any:
        return [response.follow(href) for href in response.css("a::attr(href)").getall()]


async def crawl_as_anybody(web: Web, redis_url: str, **settings: Any) -> dict[str, Any]:
    runner = AsyncCrawlerRunner(
        {
            "ADDONS": {Addon: 500},
            "DEDUP_REDIS_URL": redis_url,
            "TWISTED_REACTOR_ENABLED": False,
            "REMOTE_CONTROL_ENABLED": False,
            "LOG_ENABLED": False,
            **settings,
        }
    )
    crawler = runner.create_crawler(Anybody)
    await runner.crawl(crawler, start_urls=[web.url])
    found: dict[str, Any] = crawler.stats.get_stats()
    return found


@pytest.mark.parametrize("cookie", ["a=b", "a=b; Domain=.localhost", "a=b; Domain=github.io"])
async def test_a_cookie_asks_nobody(
    web: Web, crawl: Crawl, redis_url: str, fetching: None, cookie: str
) -> None:
    """Which domains are public is known; the watch over all tests sees who is asked all the same.

    So it is for the spider, and for all spiders with the add-on.
    """
    web.page("/", "/a", Set_Cookie=cookie)
    web.page("/a")
    assert (await crawl()).paths == ["/", "/a"]
    await crawl_as_anybody(web, redis_url)
    assert web.seen.count("/a") == 2


async def test_public_domains_are_known(web: Web, fetching: None) -> None:
    """A site cannot set cookies for all sites of its registry, or of its host of sites."""
    Addon().update_settings(AsyncCrawlerRunner({}).settings)
    public = of_scrapy._is_public_domain
    assert [public("co.uk"), public("github.io"), public("example.co.uk")] == [True, True, False]


@pytest.mark.parametrize("by_addon", [False, True])
async def test_a_page_with_many_large_cookies_does_not_lose_its_host(
    web: Web, crawl: Crawl, redis_url: str, by_addon: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """What is sent back stays below what servers take, the cookies that were there first stay,
    and the log says so once."""
    first, second = (
        "\n".join(f"c{n}={'x' * 3800}" for n in part) for part in (range(100), range(100, 200))
    )
    web.page("/", "/first", Set_Cookie=f"session=1; Path=/\nlarge={'x' * 4096}")
    web.page("/first", "/second", Set_Cookie=first)
    web.page("/second", "/a", Set_Cookie=second)
    web.page("/a")
    stats = await crawl_as_anybody(web, redis_url) if by_addon else (await crawl()).stats
    assert web.cookies["/first"] == "session=1"
    assert [one.partition("=")[0] for one in web.cookies["/a"].split("; ")] == ["session", "c0"]
    # The large one, and those of the bomb beyond the 180th of their domain.
    assert stats["cookies/not_kept"] == 1 + 200 - 179
    assert stats["cookies/not_sent"] == 99 + 178
    assert caplog.text.count("sets more or larger cookies than browsers keep") == 1


def test_cookies_of_a_request_are_sent_whatever_a_site_has_set() -> None:
    """A user's own come before all others, however large."""
    middleware = CookiesMiddleware()
    middleware.crawler = AsyncCrawlerRunner().create_crawler(Anybody)
    middleware.crawler.stats = StatsCollector(middleware.crawler)
    site = Request("http://example.com/")

    def take(*cookies: str) -> None:
        middleware.process_response(site, Response(site.url, headers={"Set-Cookie": cookies}))

    def sent(**own: str) -> list[str]:
        request = site.replace(cookies=own)
        middleware.process_request(request)
        return [one.partition("=")[0] for one in request.headers["Cookie"].decode().split("; ")]

    names = [f"c{n}" for n in range(180)]
    take(*(f"{name}=x; Max-Age=100" for name in names), "late=x")
    assert sent() == names
    assert sent(own="x" * 8000) == ["own"]
    for cookie in middleware.jars[None]:
        if cookie.name in ("c0", "c1"):
            cookie.expires = 1
    take("late=x")  # there is room for it now
    assert sent(own="") == [*names[2:], "own", "late"]
