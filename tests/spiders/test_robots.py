"""What robots.txt and robots tags ask for."""

from __future__ import annotations

import logging

import pytest
from scrapy import Request
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware

from crawler.spiders import robots
from tests.spiders.webserver import Answer, Crawl, Web


async def test_robots_txt_is_respected_by_setting(web: Web, crawl: Crawl) -> None:
    """What robots.txt forbids is not asked for, unless the setting says so."""
    web.answers["/robots.txt"] = Answer(
        b"User-agent: *\nDisallow: /no", {"Content-Type": "text/plain"}
    )
    web.page("/", "/no")
    web.page("/no")
    result = await crawl()
    assert result.paths == ["/"]
    assert "/no" not in web.seen
    assert result.stats["robotstxt/forbidden"] == 1
    assert (await crawl(ROBOTSTXT_OBEY=False)).paths == ["/", "/no"]


async def test_no_start_is_ahead_of_robots_txt(web: Web, crawl: Crawl) -> None:
    """Of many that wait for the same file each is held to it."""
    web.answers["/robots.txt"] = Answer(b"User-agent: *\nDisallow: /no")
    web.page("/yes")
    urls = [f"{web.url}/no{number}" for number in range(8)]
    assert (await crawl(url=" ".join([*urls, f"{web.url}/yes"]))).paths == ["/yes"]
    assert web.seen == ["/robots.txt", "/yes"]


class Lenient(RobotsTxtMiddleware):
    """A project's own, which lets /no pass."""

    async def process_request(self, request: Request, *args: object) -> None:
        if not request.url.endswith("/no"):
            await super().process_request(request)


@pytest.mark.parametrize(
    ("own", "paths", "asked"),
    [
        ({"scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None}, ["/", "/no"], 0),
        ({RobotsTxtMiddleware: None, Lenient: 100}, ["/", "/no"], 1),
        ({RobotsTxtMiddleware: 50}, ["/"], 1),
    ],
)
async def test_what_a_project_says_of_a_middleware_holds_for_what_is_there_instead(
    web: Web, crawl: Crawl, own: dict[object, int | None], paths: list[str], asked: int
) -> None:
    """As where it has a class of its own for robots.txt, which is read once."""
    web.answers["/robots.txt"] = Answer(b"User-agent: *\nDisallow: /no")
    web.page("/", "/no")
    web.page("/no")
    assert (await crawl(DOWNLOADER_MIDDLEWARES=own)).paths == paths
    assert web.seen.count("/robots.txt") == asked


@pytest.mark.parametrize("where", ["tag", "header"])
async def test_noindex_keeps_the_page_out_and_its_links_in(
    web: Web, crawl: Crawl, where: str
) -> None:
    """A page that may not be indexed is no item, but leads on; by setting it is one."""
    web.page("/", "/list")
    if where == "tag":
        web.page("/list", "/leaf", head='<meta name="ROBOTS" content="noindex">')
    else:
        web.page("/list", "/leaf", X_Robots_Tag="noindex")
    web.page("/leaf")
    result = await crawl()
    assert result.paths == ["/", "/leaf"]
    assert result.stats["site/noindex"] == 1
    assert result.stats["site/pages"] == 3
    everything = await crawl(SITE_META_ROBOTS_OBEY=False)
    assert everything.paths == ["/", "/leaf", "/list"]


@pytest.mark.parametrize("where", ["tag", "header", "link"])
async def test_nofollow_links_are_not_followed(
    web: Web, crawl: Crawl, caplog: pytest.LogCaptureFixture, where: str
) -> None:
    """A page or a link that says nofollow leads nowhere; by setting it does.

    If a start page does, as those of cgit, gitweb and hgweb, the crawl ends there, and says so.
    """
    if where == "tag":
        web.page("/", "/leaf", head='<meta name="robots" content="index,nofollow">')
    elif where == "header":
        web.page("/", "/leaf", X_Robots_Tag="NoFollow")
    else:
        web.page("/", '<a rel="ugc nofollow" href="/leaf">x</a>')
    web.page("/leaf")
    assert (await crawl()).paths == ["/"]
    assert (f"{web.url}/ says nofollow" in caplog.text) == (where != "link")
    caplog.clear()
    assert (await crawl(SITE_META_ROBOTS_OBEY=False)).paths == ["/", "/leaf"]
    assert "nofollow" not in caplog.text


async def test_allow_and_deny_choose_links(web: Web, crawl: Crawl) -> None:
    """Both are searched in the whole URL; the start URL needs no permission."""
    web.page("/", "/docs/a", "/docs/a?print=1", "/blog")
    for path in ("/docs/a", "/docs/a?print=1", "/blog"):
        web.page(path)
    result = await crawl(allow="/docs/", deny=r"[?&]print=")
    assert result.paths == ["/", "/docs/a"]


async def test_what_could_not_be_had_is_counted(web: Web, crawl: Crawl) -> None:
    """Statuses and connections that broke have counts of their own."""
    web.page("/", "/gone", "/broken")
    web.answers["/gone"] = Answer(status=410, headers={"Content-Type": "text/html"})
    web.answers["/broken"] = Answer(status=500, headers={"Content-Type": "text/html"})
    result = await crawl(url=f"{web.url} http://localhost:9")
    assert result.stats["site/http_errors/410"] == 1
    assert result.stats["site/http_errors/500"] == 1
    assert sum(v for k, v in result.stats.items() if k.startswith("site/download_errors/")) == 1


async def test_of_a_long_robots_file_the_beginning_is_read(
    web: Web, crawl: Crawl, caplog: pytest.LogCaptureFixture
) -> None:
    """500 KiB, in whole lines: a rule that is cut would forbid more. The log says so."""
    rules = b"User-agent: *\nDisallow: /early\n"
    rules += (
        b"#" * (robots.MOST_BYTES - len(rules) - len(b"\nDisallow: /")) + b"\nDisallow: /late\n"
    )
    web.answers["/robots.txt"] = Answer(rules + b"Disallow: /later\n" * 9)
    web.page("/", "/early", "/late", "/later")
    for path in ("/early", "/late", "/later"):
        web.page(path)
    assert (await crawl()).paths == ["/", "/late", "/later"]
    assert "/robots.txt is longer than 500 KiB: the rest is not read" in caplog.text


async def test_a_robots_file_that_could_not_be_fetched_is_a_line(
    web: Web, crawl: Crawl, caplog: pytest.LogCaptureFixture
) -> None:
    """Scrapy logs it with a traceback, which tells a person who crawls nothing."""
    web.page("/")
    await crawl()
    caplog.clear()
    name = "scrapy.downloadermiddlewares.robotstxt"
    logging.getLogger(name).warning("no answer", exc_info=OSError("no such host"))
    (record,) = caplog.records
    assert not record.exc_info
