"""Where a crawl ends before it has seen all: ``max_pages``, the depth limit, busy servers."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request
from scrapy.dupefilters import RFPDupeFilter
from scrapy.http import Response

from crawler.dedup import ConfigError
from crawler.items import Page
from crawler.spiders import retry_after, site
from tests.conftest import wait_until
from tests.spiders.webserver import Answer, Crawl, Web


async def test_max_pages_is_exact(web: Web, crawl: Crawl) -> None:
    """The crawl ends with that many pages, whatever was under way."""
    web.page("/", *(f"/{n}" for n in range(100)))
    for n in range(100):
        web.page(f"/{n}")
    result = await crawl(max_pages="7")
    assert len(result.items) == 7
    assert result.stats["site/pages"] == 7
    assert result.stats["finish_reason"] == "max_pages"
    assert len(web.seen) < 50


async def test_few_pages_need_few_requests(web: Web, crawl: Crawl) -> None:
    """No more pages are fetched in vain than were asked for, as each may take its delay."""
    web.page("/", *(f"/{n}" for n in range(100)))
    for n in range(100):
        web.page(f"/{n}")
    result = await crawl(max_pages="2", CONCURRENT_REQUESTS_PER_DOMAIN=1, DOWNLOAD_DELAY=0.1)
    assert len(result.items) == 2
    assert result.stats.get("site/beyond_max_pages", 0) <= 2


async def test_what_was_under_way_at_the_limit_comes_in_the_next_run(
    web: Web, crawl: Crawl, tmp_path: Path
) -> None:
    """Runs of one JOBDIR give each page once, whatever was under way when one reached its limit."""
    paths = ["/", *(f"/{n}" for n in range(60))]
    for path in paths:
        web.page(path, *paths)
    options = {"JOBDIR": str(tmp_path), "CONCURRENT_REQUESTS_PER_DOMAIN": 8}
    first = await crawl(max_pages="7", **options)
    assert first.stats["site/beyond_max_pages"] > 0
    second = await crawl(max_pages="7", **options)
    rest = await crawl(**options)
    assert sorted(first.paths + second.paths + rest.paths) == sorted(paths)


async def test_a_crawl_that_had_ended_says_so(
    web: Web, crawl: Crawl, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A JOBDIR with which nothing is left to do gives no pages, and the reason."""
    web.page("/", "/a")
    web.page("/a", "/")
    said = "Nothing is left to fetch in this JOBDIR"
    first = await crawl(JOBDIR=str(tmp_path))
    assert (len(first.items), said in caplog.text) == (2, False)
    second = await crawl(JOBDIR=str(tmp_path))
    assert (second.items, said in caplog.text) == ([], True)


async def test_a_process_that_the_others_left_nothing_says_so(
    web: Web, crawl: Crawl, caplog: pytest.LogCaptureFixture
) -> None:
    """Where processes share the URLs that were seen, there is no JOBDIR to remove."""

    class SharedFilter(RFPDupeFilter):
        def request_seen(self, request: Request) -> bool:
            return True

    web.page("/")
    assert not (await crawl(DUPEFILTER_CLASS=SharedFilter)).items
    assert "Nothing was left to fetch: other processes" in caplog.text
    assert "JOBDIR" not in caplog.text


async def test_two_crawls_share_no_job(web: Web, crawl: Crawl, tmp_path: Path) -> None:
    """While a crawl is at work in a JOBDIR another is refused, and harms it not."""
    web.page("/", "/a")
    web.page("/a")
    web.open.clear()
    first = asyncio.create_task(crawl(JOBDIR=str(tmp_path), ROBOTSTXT_OBEY=False))
    await asyncio.to_thread(wait_until, lambda: web.seen)
    with pytest.raises(ConfigError, match=f"^JOBDIR {tmp_path}: another crawl uses it"):
        await crawl(JOBDIR=str(tmp_path))
    web.open.set()
    assert (await first).paths == ["/", "/a"]


async def test_a_jobdir_that_cannot_be_written(crawl: Crawl, tmp_path: Path) -> None:
    """As in a container whose file system is read-only: one sentence, and no traceback."""
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match=f"^JOBDIR {tmp_path}/file/job cannot hold the state"):
        await crawl(JOBDIR=str(tmp_path / "file" / "job"))


async def test_a_limit_holds_after_a_page_that_failed(
    web: Web, crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page that cannot be worked on, and is the last one, is not followed by all the others."""
    web.page("/", *(f"/{n}" for n in range(200)))
    for n in range(200):
        web.page(f"/{n}")
    page_of = site.page_of

    def fail(response: Response, *parts: Any) -> Page:
        if response.url != f"{web.url}/":
            raise MemoryError
        return page_of(response, *parts)

    monkeypatch.setattr(site, "page_of", fail)
    result = await crawl(max_pages="20")
    assert result.stats["finish_reason"] == "max_pages"
    assert len(web.seen) < 100


async def test_a_link_at_the_limit_is_not_taken_as_met(web: Web, crawl: Crawl) -> None:
    """An index that comes late, but is nearer to the start, still leads to all its pages."""
    paths = [f"/{n}" for n in range(20)]
    web.page("/", "/a")
    web.page("/a", *paths)
    web.page("/index", *paths)
    for path in paths:
        web.page(path, *paths, "/deep")
    web.page("/deep")
    web.answers["/late"] = Answer(status=302, headers={"Location": "/index"})
    order = {"CONCURRENT_REQUESTS": 1, "DEPTH_PRIORITY": -5, "REDIRECT_PRIORITY_ADJUST": -5}
    result = await crawl(url=f"{web.url}/ {web.url}/late", DEPTH_LIMIT=1, **order)
    assert web.seen.index("/a") < web.seen.index("/index")
    assert result.paths == sorted(["/", "/a", "/index", *paths])


async def test_what_is_too_far_is_told_of(
    web: Web, crawl: Crawl, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing said that older pages of a long list were in no item; URLs met elsewhere are."""
    for n in range(4):
        web.page(f"/{n or ''}", f"/{n + 1}", f"/other{n}", "/", "/1")
    web.page("/4")
    assert "/3" in (await crawl(deny="other", DEPTH_LIMIT=3)).paths
    told = "Not requested in this run: 1 URL, more than 3 links away"
    assert told in caplog.text
    caplog.clear()
    assert "/4" in (await crawl(deny="other", DEPTH_LIMIT=4)).paths
    assert "Not requested" not in caplog.text


async def test_what_a_redirect_leads_to_is_not_too_far(
    web: Web, crawl: Crawl, caplog: pytest.LogCaptureFixture
) -> None:
    """The log told of a page that was crawled as not requested."""
    web.page("/", "/a", "/old")
    web.page("/a", "/new")
    web.page("/new")
    web.answers["/old"] = Answer(status=301, headers={"Location": "/new"})
    assert (await crawl(DEPTH_LIMIT=1)).paths == ["/", "/a", "/new"]
    assert "Not requested" not in caplog.text


@pytest.mark.parametrize("status", [429, 503])
async def test_a_server_may_ask_to_wait(web: Web, crawl: Crawl, status: int) -> None:
    """Retried at once, most pages of a site with a limit were lost."""
    web.page("/", "/a", "/b")
    for path in ("/a", "/b"):
        web.answers[path] = Answer(status=status, headers={"Retry-After": "1"})
    crawling = asyncio.create_task(crawl(RETRY_ENABLED=True, RETRY_TIMES=1))
    await asyncio.to_thread(wait_until, lambda: {"/a", "/b"} <= {*web.seen}, 20)
    await asyncio.sleep(0.5)
    web.page("/a")
    await asyncio.to_thread(
        wait_until, lambda: web.seen.count("/b") == 3, 20
    )  # once more than Scrapy would
    web.page("/b")
    assert (await crawling).paths == ["/", "/a", "/b"]


async def test_a_server_may_not_ask_to_wait_for_ever(
    web: Web, crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither for long, nor again and again: a site that blocks the crawl does not hold it up."""
    waits: list[float] = []

    async def note(end: Coroutine[Any, Any, bool], seconds: float) -> None:
        waits.append(seconds)
        end.close()

    monkeypatch.setattr(retry_after, "asyncio", SimpleNamespace(Event=asyncio.Event, wait_for=note))
    web.page("/", *[f"/{n}" for n in range(150)])
    for n in range(150):
        web.answers[f"/{n}"] = Answer(status=429, headers={"Retry-After": "60" if n else "61"})
    assert (await crawl(RETRY_ENABLED=True)).paths == ["/"]
    assert 90 < len(waits) <= 100
    assert set(waits) == {60}
    waits.clear()
    assert (await crawl(RETRY_ENABLED=False)).paths == ["/"]
    assert not waits  # nothing would come of it


async def test_no_wait_goes_on_at_the_end(web: Web, crawl: Crawl) -> None:
    """Whoever ends a crawl would have to wait for up to a minute."""
    web.page("/", "/a", "/busy")
    web.page("/a")
    web.answers["/busy"] = Answer(status=429, headers={"Retry-After": "50"})
    crawling = crawl(RETRY_ENABLED=True, CLOSESPIDER_TIMEOUT=2)
    assert (await asyncio.wait_for(crawling, 25)).paths == ["/", "/a"]


@pytest.mark.parametrize("header", ["Wed, 21 Oct 99999999999 07:28:00 GMT", "9" * 5000, ""])
async def test_a_wait_that_is_none_is_no_error(web: Web, crawl: Crawl, header: str) -> None:
    """A page was lost with an exception that Python's reader of dates raised."""
    web.page("/", "/busy")
    web.answers["/busy"] = Answer(status=503, headers={"Retry-After": header})
    result = await crawl(RETRY_ENABLED=True, RETRY_TIMES=1)
    assert web.seen.count("/busy") == 2
    assert result.stats["downloader/response_status_count/503"] == 2


async def test_whoever_tries_more_often_still_does(web: Web, crawl: Crawl) -> None:
    """A wait only ever adds tries to RETRY_TIMES."""
    web.answers["/"] = Answer(status=503, headers={"Retry-After": "1"})
    crawling = asyncio.create_task(crawl(RETRY_ENABLED=True, RETRY_TIMES=20))
    await asyncio.to_thread(wait_until, lambda: bool(web.seen), 20)
    web.answers["/"] = Answer(status=503)
    await crawling
    assert web.seen.count("/") == 21
