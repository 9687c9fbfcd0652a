"""Redirects, and pages that lead on to others."""

from __future__ import annotations

import asyncio

import pytest

from tests.conftest import wait_until
from tests.spiders.webserver import Answer, Crawl, Web


async def test_a_redirect_gives_its_target(web: Web, crawl: Crawl) -> None:
    """The item bears the URL after redirects, and the target is not fetched again."""
    web.page("/", "/old", "/new")
    web.page("/new")
    web.answers["/old"] = Answer(status=301, headers={"Location": "/new"})
    assert (await crawl()).paths == ["/", "/new"]
    assert web.seen.count("/new") == 1


async def test_redirects_without_end_are_counted(web: Web, crawl: Crawl) -> None:
    """A page that leads to itself, in a circle or ever on is counted once, as is a known target."""
    web.page("/", "/self", "/ping", "/1", "/home")
    for path, target in {
        "/self": "/self",
        "/ping": "/pong",
        "/pong": "/ping",
        "/home": "/",
    }.items():
        web.answers[path] = Answer(status=302, headers={"Location": target})
    for n in range(1, 40):
        web.answers[f"/{n}"] = Answer(status=302, headers={"Location": f"/{n + 1}"})
    result = await crawl()
    assert result.stats["site/endless_redirects"] == 3
    assert result.stats["site/known_redirects"] == 1


@pytest.mark.parametrize("path", ["/", "/page"])
async def test_a_redirect_may_set_the_cookie_that_lets_pass(
    web: Web, crawl: Crawl, path: str
) -> None:
    """A page that leads to itself until its cookie comes back is fetched, as browsers do it."""
    web.page("/", "/page")
    web.page("/page")
    web.answers[f"with cookie {path}"] = web.answers[path]
    cookie = {"Location": path, "Set-Cookie": "seen=1; Path=/"}
    web.answers[path] = Answer(status=302, headers=cookie)
    result = await crawl()
    assert result.paths == ["/", "/page"]
    assert "site/endless_redirects" not in result.stats


async def test_a_page_may_ask_first(web: Web, crawl: Crawl) -> None:
    """For consent, or an age: its link sets a cookie, and leads back to what was asked for."""
    web.page("/ask", "/enter")
    for path in ("/", "/a", "/b"):
        web.page(path, "/a", "/b")
        web.answers[f"with cookie {path}"] = web.answers[path]
        web.answers[path] = Answer(status=302, headers={"Location": "/ask"})
    cookie = {"Location": "/", "Set-Cookie": "adult=1; Path=/"}
    web.answers["/enter"] = Answer(status=302, headers=cookie)
    assert (await crawl()).paths == ["/", "/a", "/ask", "/b"]
    web.answers["/enter"] = Answer(status=302, headers={"Location": "/"})  # and nothing helps
    web.seen.clear()
    assert (await crawl()).paths == ["/ask"]
    assert web.seen.count("/") == 2


async def test_a_page_that_is_come_back_to_is_tried_again(web: Web, crawl: Crawl) -> None:
    """Scrapy's dupefilter took the second try for a request that had been made."""
    web.page("/ask", "/enter")
    web.answers["/"] = Answer(status=302, headers={"Location": "/ask"})
    cookie = {"Location": "/", "Set-Cookie": "adult=1; Path=/"}
    web.answers["/enter"] = Answer(status=302, headers=cookie)
    web.answers["with cookie /"] = Answer(status=500)
    crawling = asyncio.create_task(crawl(RETRY_ENABLED=True, RETRY_TIMES=10_000))
    await asyncio.to_thread(wait_until, lambda: web.seen.count("/") > 2 or crawling.done(), 20)
    web.page("with cookie /")
    assert (await crawling).paths == ["/", "/ask"]


async def test_a_page_that_loads_itself_anew_is_a_page(web: Web, crawl: Crawl) -> None:
    """As front pages of newspapers do; a page that goes on to another by that still leads there."""
    web.page("/", "/news", "/on")
    web.page("/news", "/more", head='<meta http-equiv="refresh" content="60; url=/news">')
    web.page("/on", head='<meta http-equiv="refresh" content="0; url=/next">')
    for path in ("/more", "/next"):
        web.page(path)
    result = await crawl()
    assert result.paths == ["/", "/more", "/news", "/next"]


async def test_pages_that_lead_on_after_a_while_are_pages(web: Web, crawl: Crawl) -> None:
    """Slides led in a circle, and none was an item; nor was a page that goes on to another host."""
    for path, target in {"/1": "/2", "/2": "/3", "/3": "/1", "/4": "http://x.invalid/"}.items():
        web.page(path, head=f'<meta http-equiv="refresh" content="10; url={target}">')
    web.page("/", "/1", "/4")
    assert (await crawl()).paths == ["/", "/1", "/2", "/3", "/4"]
    assert (await crawl(METAREFRESH_MAXDELAY=20)).paths == ["/", "/1"]


async def test_a_header_may_lead_on(web: Web, crawl: Crawl) -> None:
    """Browsers go there as with a meta refresh; scripts answer with this and nothing else."""
    web.page("/", Refresh="0; url=/next")
    web.page("/next", Refresh="60", Content_Type="text/html")
    assert (await crawl()).paths == ["/", "/next"]


@pytest.mark.parametrize(
    "head",
    [
        '<meta http-equiv="refresh" content="0; url=javascript:history.back()">',
        '<meta http-equiv="refresh" content="0; url=http://[host]/">',
        '<base href="http://[host]/">',
        '<base href="http://{host}:{port}/">',
    ],
)
async def test_a_page_that_leads_to_no_url_is_a_page(web: Web, crawl: Crawl, head: str) -> None:
    """As browsers have it: what cannot be followed is passed over, links of the page are not."""
    web.page("/", "/next", head=head)
    web.page("/next")
    assert (await crawl()).paths == ["/", "/next"]
