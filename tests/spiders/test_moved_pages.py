"""Recrawls of a site whose pages moved, went or name another as canonical."""

from __future__ import annotations

import asyncio
import itertools
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request

from crawler.addon import Addon
from crawler.dedup import DedupConfig, DuplicateIndex
from crawler.items import Page
from crawler.pipelines.gone import GoneUrls
from crawler.pipelines.reporting import LeftOut
from tests.conftest import Server
from tests.spiders.webserver import Answer, Crawl, Result, Web
from tests.support.texts import article, text

STORY, HOME = text(article(1)), text(article(2))


def by_path(result: Result) -> dict[str, dict[str, Any]]:
    return {"/" + page.url.split("/", 3)[3]: page.dedup or {} for page in result.items}


async def crawled(crawl: Crawl, redis_url: str, **settings: Any) -> Result:
    return await crawl(ADDONS={Addon: 500}, DEDUP_REDIS_URL=redis_url, **settings)


def test_links_that_were_met_before_cost_nothing() -> None:
    """Scrapy drops a request for each; only one that a redirect has led to is looked at."""
    asked: list[str] = []

    def known(url: str) -> str:
        asked.append(url)
        return url

    gone = GoneUrls(known, lambda name: None)
    gone.note_dropped(Request("http://h/a"))
    assert asked == []
    gone.note_dropped(Request("http://h/b", meta={"redirect_urls": ["http://h/a"]}))
    assert asked


async def test_a_page_that_moved_for_good_is_kept_at_its_new_url(
    web: Web, crawl: Crawl, redis_url: str
) -> None:
    """The old URL redirects: the text under the new one copies no page that is there."""
    web.page("/", "/old", text=HOME)
    web.page("/old", text=STORY)
    assert by_path(await crawled(crawl, redis_url))["/old"]["kind"] == "unique"
    web.answers["/old"] = Answer(b"", {"Location": "/new"}, 301)
    web.page("/new", text=STORY)
    again = await crawled(crawl, redis_url)
    assert by_path(again)["/new"]["kind"] == "unique"
    assert by_path(again)["/new"]["replaces"] == f"{web.url}/old"
    assert again.stats["dedup/gone"] == 1
    assert again.stats["dedup/replaced"] == 1


@pytest.mark.parametrize("status", [404, 410])
async def test_a_page_that_moved_for_good_and_went_is_gone(
    web: Web, crawl: Crawl, redis_url: str, status: int
) -> None:
    """Its text is kept under the next URL that has it."""
    web.page("/", "/old", text=HOME)
    web.page("/old", text=STORY)
    await crawled(crawl, redis_url)
    web.page("/", "/copy", "/old", text=HOME)  # the latest request is made first
    web.answers["/old"] = Answer(b"", {"Location": "/new"}, 301)
    web.answers["/new"] = Answer(b"", {"Content-Type": "text/html"}, status)
    web.page("/copy", text=STORY)
    again = await crawled(crawl, redis_url, CONCURRENT_REQUESTS=1, DEDUP_ASK_AGAIN=0)
    assert again.stats["dedup/gone"] == 1
    assert by_path(again)["/copy"]["kind"] == "unique"


async def crawl_and_move(web: Web, crawl: Crawl, redis_url: str, status: int) -> dict[str, str]:
    """Crawl a site, and move it to its name with www.; return its paths and texts."""
    paths = {"/": HOME, "/a": STORY, "/b": text(article(3))}
    for path, words in paths.items():
        web.page(path, *paths, text=words)
    assert (await crawled(crawl, redis_url)).paths == [*paths]
    for path, words in paths.items():
        url = f"http://www.{web.host}{path}"
        web.page(url, *paths, text=words)
        web.answers[f"{web.url}{path}"] = Answer(b"", {"Location": url}, status)
    return paths


@pytest.mark.parametrize("status", [301, 302])
async def test_a_site_that_moved_to_its_name_with_www_is_kept_there(
    web: Web, crawl: Crawl, redis_url: str, www: None, status: int
) -> None:
    """The old host was asked, and leads to the new one: its pages are not there any more."""
    paths = await crawl_and_move(web, crawl, redis_url, status)
    assert (await crawled(crawl, redis_url)).paths == [*paths]
    assert {tag["kind"] for tag in by_path(await crawled(crawl, redis_url)).values()} == {
        "unchanged"
    }


async def test_and_so_is_one_whose_crawl_pauses(
    web: Web, crawl: Crawl, redis_url: str, www: None, tmp_path: Path
) -> None:
    """What goes on does not ask the old host again, but the crawl has."""
    paths = await crawl_and_move(web, crawl, redis_url, 302)
    job = {"JOBDIR": tmp_path / "job", "CONCURRENT_REQUESTS": 1}
    paused = await crawled(crawl, redis_url, CLOSESPIDER_PAGECOUNT=3, **job)
    assert paused.stats["finish_reason"] == "closespider_pagecount"
    went_on = await crawled(crawl, redis_url, **job)
    assert sorted(paused.paths + went_on.paths) == [*paths]


def forbid(web: Web, *paths: str, status: int = 200) -> None:
    rules = "".join(f"Disallow: {path}$\n" for path in paths)
    web.answers["/robots.txt"] = Answer(f"User-agent: *\n{rules}".encode(), {}, status)


@pytest.mark.parametrize("by", ["noindex", "robots.txt"])
async def test_a_page_that_is_forbidden_by_now_stands_for_no_copies(
    web: Web, crawl: Crawl, redis_url: str, by: str
) -> None:
    """Its text would be in no feed, as it is left out and its copies were dropped."""
    web.page("/", "/copy", "/page", text=HOME)
    web.page("/page", text=STORY)
    first = await crawled(crawl, redis_url)
    web.page("/copy", text=STORY)
    second = await crawled(crawl, redis_url)
    assert first.paths == second.paths == ["/", "/page"]
    if by == "noindex":
        web.page("/page", text=STORY, head='<meta name="robots" content="noindex">')
    else:
        forbid(web, "/page")
    one_by_one = {"CONCURRENT_REQUESTS": 1}
    third = await crawled(crawl, redis_url, **one_by_one)
    assert third.stats["dedup/left_out"] == 1
    fourth = await crawled(crawl, redis_url, **one_by_one)
    assert by_path(fourth)["/copy"]["standing"] == "unique"
    assert "dedup/left_out" not in fourth.stats
    web.page("/page", text=STORY)
    forbid(web)
    assert (await crawled(crawl, redis_url, **one_by_one)).paths == ["/", "/copy"]


@pytest.mark.parametrize("status", [404, 503])
async def test_a_robots_file_that_is_an_error_has_no_page_forgotten(
    web: Web, crawl: Crawl, redis_url: str, status: int
) -> None:
    """Scrapy obeys what stands in it, which may be another thing tomorrow."""
    web.page("/", "/page", text=HOME)
    web.page("/page", text=STORY)
    await crawled(crawl, redis_url)
    forbid(web, "/page", status=status)
    second = await crawled(crawl, redis_url)
    assert second.stats["robotstxt/forbidden"] == 1
    forbid(web)
    assert by_path(await crawled(crawl, redis_url))["/page"]["kind"] == "unchanged"


async def test_only_the_kept_pages_that_are_forbidden_are_forgotten(
    web: Web, crawl: Crawl, redis_url: str
) -> None:
    """Not what leads to one, which may lead elsewhere tomorrow; copies stand for no others."""
    web.page("/", "/page", "/from", text=HOME)
    web.page("/page", text=STORY)
    web.page("/from", text=text(article(3)))
    await crawled(crawl, redis_url)
    web.page("/", "/page", "/from", "/copy", text=HOME)
    web.page("/copy", text=STORY)
    await crawled(crawl, redis_url)
    web.page("/", "/copy", "/from", "/never-seen", text=HOME)
    web.answers["/from"] = Answer(b"", {"Location": "/page"}, 301)
    forbid(web, "/page", "/copy", "/never-seen")
    result = await crawled(crawl, redis_url)
    assert result.paths == ["/"]
    assert result.stats["robotstxt/forbidden"] == 3
    assert result.stats["dedup/left_out"] == 1
    async with DuplicateIndex.open(DedupConfig(redis_url=redis_url)) as index:
        assert await index.show(f"{web.url}/page") is None
        assert await index.show(f"{web.url}/copy") is not None
        record = await index.show(f"{web.url}/from")
        assert record is not None
        assert record.gone is None


async def test_a_site_that_is_forbidden_as_a_whole_is_forgotten_at_once(
    web: Web, crawl: Crawl, redis_url: str, server: Server
) -> None:
    """In a few exchanges, and though no page comes any more."""
    paths = [f"/{number}" for number in range(500)]
    async with DuplicateIndex.open(DedupConfig(redis_url=redis_url)) as index:
        await index.check_many((f"{web.url}{path}", path * 9) for path in paths[::2])
    web.page("/", *paths, text=HOME)
    forbid(web, *paths)
    before = server.ask("INFO", "commandstats")["cmdstat_evalsha"]["calls"]
    result = await crawled(crawl, redis_url)
    assert result.stats["dedup/left_out"] == 250
    assert web.seen == ["/robots.txt", "/"]
    assert server.ask("INFO", "commandstats")["cmdstat_evalsha"]["calls"] - before < 40


async def test_what_is_left_out_while_the_server_hangs_is_told_later(
    start_server: Callable[..., Server],
) -> None:
    """Nobody waits for it twice, and it is no error."""
    server = start_server()
    told: list[str] = []
    config = DedupConfig(redis_url=server.url, timeout=0.5)
    async with DuplicateIndex.open(config) as index:
        await index.check_many([("http://a/", STORY), ("http://b/", HOME)])
        left_out = LeftOut(told.append)
        left_out.report_to(index)
        left_out.note_url("http://a/")
        server.process.send_signal(signal.SIGSTOP)
        await left_out.report_found()
        await left_out.report_found()
        server.process.send_signal(signal.SIGCONT)
        await asyncio.sleep(1)
        await left_out.report_found()
        assert await index.show("http://a/") is None
        assert await index.show("http://b/") is not None
    assert told == ["dedup/left_out"]


@pytest.mark.parametrize("to", ["/new", "http://127.0.0.1:{}/new", "/new unfollowed"])
async def test_a_redirect_for_good_counts_wherever_it_leads(
    web: Web, crawl: Crawl, redis_url: str, to: str
) -> None:
    """To a page that was crawled already, to another host, or where redirects are not followed."""
    web.page("/", "/old", text=HOME)
    web.page("/old", text=STORY)
    await crawled(crawl, redis_url)
    web.page("/", "/new", "/old", text=HOME)
    web.page("/new", text=STORY)
    to, _, unfollowed = to.format(web.url.rpartition(":")[2]).partition(" ")
    web.answers["/old"] = Answer(b"", {"Location": to}, 301)
    settings = {"CONCURRENT_REQUESTS": 1, "REDIRECT_ENABLED": not unfollowed}
    again = await crawled(crawl, redis_url, **settings)
    assert again.stats["dedup/gone"] == 1
    third = await crawled(crawl, redis_url, **settings)
    # Whichever of the two was fetched first: the new page takes the old one's place.
    found = [
        by_path(one)["/new"].get("replaces") for one in (again, third) if "/new" in by_path(one)
    ]
    assert f"{web.url}/old" in found


async def test_a_detour_by_which_a_cookie_is_set_moves_nothing(
    web: Web, crawl: Crawl, redis_url: str
) -> None:
    """A redirect for good that comes back to its URL leaves the page in its place."""
    web.page("/", "/old", text=HOME)
    web.page("/old", text=STORY)
    await crawled(crawl, redis_url)
    web.answers["/old"] = Answer(b"", {"Location": "/set"}, 301)
    web.answers["/set"] = Answer(b"", {"Location": "/old", "Set-Cookie": "a=b"}, 301)
    web.page("with cookie /old", text=STORY)
    again = await crawled(crawl, redis_url)
    assert by_path(again)["/old"]["kind"] == "unchanged"
    assert again.stats.get("dedup/gone", 0) == 0


@pytest.mark.parametrize(
    ("length", "links"),
    [
        (2, "/0"),
        (2, "/0 /1"),
        (3, "/0 /1"),
        (3, "/2 /1 /0"),
        (3, "/from /1"),
        (3, "/from /2 /1 /0"),
        (3, "/0 /1 /2 /from"),
    ],
)
async def test_redirects_for_good_in_a_circle_move_nothing(
    web: Web, crawl: Crawl, redis_url: str, length: int, links: str
) -> None:
    """Wherever a crawl enters the circle, in one place or in several, and whatever leads there; and
    if one of them is not for good. As nothing moves, each crawl finds what the one before found.
    """
    pages = [f"/{number}" for number in range(length)]
    web.page("/", "/from", *pages, text=HOME)
    web.page("/from", text=STORY)
    for number, path in enumerate(pages):
        web.page(path, text=text(article(number + 5)))
    await crawled(crawl, redis_url)
    web.page("/", *links.split(), text=HOME)
    async with DuplicateIndex.open(DedupConfig(redis_url=redis_url)) as index:
        for requests, status in itertools.product((1, 16), (301, 302)):
            for path, to in zip(["/from", *pages], [*pages, pages[0]], strict=True):
                web.answers[path] = Answer(b"", {"Location": to}, status if path == "/0" else 301)
            again = await crawled(crawl, redis_url, CONCURRENT_REQUESTS=requests)
            assert again.paths == ["/"], (requests, status)
            for path in ("/from", *pages):
                record = await index.show(web.url + path)
                assert record is not None, (requests, status)
                assert record.gone is None, (requests, status)


async def test_a_page_that_is_gone_leaves_its_place_to_a_copy(
    web: Web, crawl: Crawl, redis_url: str
) -> None:
    """A dropped copy of a page that answers 404 since is kept at its next visit."""
    web.page("/", "/one", "/two", text=HOME)
    web.page("/one", text=STORY)
    web.page("/two", text=STORY)
    first = by_path(await crawled(crawl, redis_url))
    (kept,) = {"/one", "/two"} & set(first)
    (other,) = {"/one", "/two"} - {kept}
    del web.answers[kept]
    web.page("/", kept, text=HOME)
    await crawled(crawl, redis_url)
    web.page("/", other, text=HOME)
    again = by_path(await crawled(crawl, redis_url))
    assert again[other]["replaces"] == web.url + kept
    async with DuplicateIndex.open(DedupConfig(redis_url=redis_url)) as index:
        record = await index.show(web.url + kept)
        assert record is not None
        assert record.gone is not None
        assert record.duplicate_of == web.url + other


async def test_a_copy_yields_to_the_page_it_names(web: Web, crawl: Crawl, redis_url: str) -> None:
    """With DEDUP_PREFER the print view that came first gives its place to the page it names."""
    web.page("/", "/print", text=HOME)
    head = '<link rel="canonical" href="/story">'
    web.page("/print", "/story", head=head, text=STORY)
    web.page("/story", text=STORY)
    result = by_path(await crawled(crawl, redis_url, DEDUP_PREFER="canonical"))
    assert result["/story"]["replaces"] == f"{web.url}/print"


async def test_a_copy_yields_to_the_earlier_page(web: Web, crawl: Crawl, redis_url: str) -> None:
    """With DEDUP_PREFER the copy that came first gives its place to what was published earlier."""
    date = '<meta property="article:published_time" content="2026-05-0{}T12:00:00Z">'
    web.page("/", "/copy", text=HOME)
    web.page("/copy", "/story", head=date.format(2), text=STORY)
    web.page("/story", head=date.format(1), text=STORY)
    result = await crawled(crawl, redis_url, DEDUP_PREFER="earlier")
    assert by_path(result)["/story"]["replaces"] == f"{web.url}/copy"
    dates = {page.url.removeprefix(web.url): page.date for page in result.items}
    assert dates == {
        "/": None, "/copy": "2026-05-02T12:00:00Z", "/story": "2026-05-01T12:00:00Z"
    }  # fmt: skip


def test_a_page_says_what_the_filter_reads() -> None:
    """The spider's item has every field of a page by its default name."""
    config = DedupConfig()
    fields = Page.__dataclass_fields__
    names = (config.url_field, config.html_field, config.text_field, config.title_field)
    assert {*names, config.canonical_field, config.date_field, config.tag_field} <= set(fields)
