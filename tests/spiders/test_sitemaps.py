"""Sitemaps: which of them are read, and what of their pages is crawled."""

from __future__ import annotations

import gzip
import re
import shlex
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from w3lib.url import safe_url_string

from crawler.spiders import sitemaps
from tests.spiders.webserver import Answer, Crawl, Web


async def test_a_sitemap_adds_pages_that_nothing_links_to(web: Web, crawl: Crawl) -> None:
    """``sitemap=true`` reads the sitemaps named in robots.txt, indexes and gzip included."""
    web.answers["/robots.txt"] = Answer(b"Sitemap: /index.xml", {"Content-Type": "text/plain"})
    index = f"<sitemapindex><sitemap><loc>{web.url}/pages.xml.gz</loc></sitemap></sitemapindex>"
    pages = f"<urlset><url><loc>{web.url}/lonely</loc></url></urlset>"
    web.answers["/index.xml"] = Answer(index.encode(), {"Content-Type": "application/xml"})
    web.answers["/pages.xml.gz"] = Answer(
        gzip.compress(pages.encode()), {"Content-Type": "application/gzip"}
    )
    web.page("/")
    web.page("/lonely")
    assert (await crawl()).paths == ["/"]
    assert (await crawl(sitemap="true")).paths == ["/", "/lonely"]
    assert (await crawl(sitemap=f"{web.url}/index.xml")).paths == ["/", "/lonely"]


def test_translations_are_pages() -> None:
    """Many sitemaps name them only beside the page that they translate."""
    link = '<x:link xmlns:x="x" rel="alternate" hreflang="de" href="http://h/de"/>'
    sitemap = f"<urlset><url><loc>http://h/en</loc>{link}</url></urlset>"
    assert list(sitemaps.read_sitemap(sitemap.encode())[1]) == ["http://h/en", "http://h/de"]


def test_an_ampersand_that_is_not_escaped_stays_in_its_url() -> None:
    """Many sites write such sitemaps; the query lost the name of each further argument."""
    sitemap = "<urlset><url><loc>{}</loc></url></urlset>"
    for loc in ("/?a=1&b=2", "/?a=1&amp;b=2", "<![CDATA[/?a=1&b=2]]>"):
        _, urls = sitemaps.read_sitemap(sitemap.format(loc).encode())
        assert list(urls) == ["/?a=1&b=2"]


async def test_a_sitemap_that_pages_link_to_is_read(web: Web, crawl: Crawl) -> None:
    """A link to a sitemap, met before the sitemap is asked for, does not take its place.

    Neither does what stands for one in robots.txt and is no URL.
    """
    sitemap = "<urlset><url><loc>{}</loc></url></urlset>"
    index = "<sitemapindex><sitemap><loc>{}</loc></sitemap></sitemapindex>"
    robots = "Sitemap: http://[::1\nSitemap: javascript:x\nSitemap: /1.xml"
    bodies = {"/robots.txt": robots, "/1.xml": index.format("/2.xml")}
    bodies |= {"/2.xml": index.format("/3.xml"), "/3.xml": sitemap.format("/lonely")}
    for path, body in bodies.items():
        web.answers[path] = Answer(body.encode(), {"Content-Type": "application/xml"})
    web.page("/", *bodies)
    web.page("/lonely")
    assert (await crawl(sitemap="true", ROBOTSTXT_OBEY=False)).paths == ["/", "/lonely"]


@pytest.mark.parametrize("robots", ["", "Sitemap: http://www.{host}/sitemap.xml"])
async def test_sitemaps_of_the_name_with_www(
    web: Web, crawl: Crawl, www: None, robots: str
) -> None:
    """Where the start page leads to www., sitemaps are looked for there."""
    for path in ("/", "/robots.txt", "/sitemap.xml"):
        web.answers[path] = Answer(status=301, headers={"Location": f"http://www.{web.host}{path}"})
    url = f"http://www.{web.host}"
    web.answers[f"{url}/robots.txt"] = Answer()
    if robots:
        web.answers["/robots.txt"] = Answer(robots.format(host=web.host).encode())
    web.answers[f"{url}/sitemap.xml"] = Answer(
        f"<urlset><url><loc>{url}/lonely</loc></url></urlset>".encode()
    )
    web.page(f"{url}/")
    web.page(f"{url}/lonely")
    assert (await crawl(sitemap="true")).paths == ["/", "/lonely"]


@pytest.fixture
def other() -> Iterator[Web]:
    """Another host."""
    web = Web()
    yield web
    web.close()


async def test_a_sitemap_that_is_named_may_be_anywhere(web: Web, other: Web, crawl: Crawl) -> None:
    """The URL given is fetched, on whatever host it is, and what its index names there; the
    pages are those of the site."""
    index = f"<sitemapindex><sitemap><loc>{other.url}/1.xml</loc></sitemap></sitemapindex>"
    pages = (f"{web.url}/lonely", f"{other.url}/x")
    sitemap = f"<urlset>{''.join(f'<url><loc>{url}</loc></url>' for url in pages)}</urlset>"
    other.answers["/sitemap.xml"] = Answer(index.encode())
    other.answers["/1.xml"] = Answer(sitemap.encode())
    web.page("/", f"{other.url}/x")
    web.page("/lonely")
    result = await crawl(sitemap=f"{other.url}/sitemap.xml", ROBOTSTXT_OBEY=False)
    assert result.paths == ["/", "/lonely"]
    assert "/x" not in other.seen


@pytest.mark.parametrize("path", ["\x1b[2J.xml", ";touch$IFS/tmp/x;'`ls`&a=#b"])
async def test_sitemaps_on_another_host_are_told_of(
    web: Web, other: Web, crawl: Crawl, caplog: pytest.LogCaptureFixture, path: str
) -> None:
    """What robots.txt names elsewhere is not asked for; the log says how to for a shell."""
    robots = f"Sitemap: javascript:x\nSitemap: {other.url}/{path}\nSitemap: {web.url}/here.xml"
    web.answers["/robots.txt"] = Answer(robots.encode(), {"Content-Type": "text/plain"})
    web.answers["/here.xml"] = Answer(f"{web.url}/lonely\n".encode())
    web.page("/")
    web.page("/lonely")
    assert (await crawl(sitemap="true")).paths == ["/", "/lonely"]
    assert not other.seen
    told = re.search("to read those, too: (.*)", caplog.text)
    assert told is not None
    word, named = shlex.split(told[1])
    assert (word, named.partition("=")[2]) == ("-a", safe_url_string(f"{other.url}/{path}"))


RSS = """<?xml version="1.0"?><rss version="2.0"><channel><link>{0}/</link>
<item><title>News</title><link> {0}/lonely </link></item></channel></rss>"""
RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
xmlns="http://purl.org/rss/1.0/"><item><link>{0}/lonely</link></item></rdf:RDF>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><link href="{0}/elsewhere"/><entry>
<link rel="alternate" href="/lonely"/><link rel="edit" href="{0}/edit"/></entry></feed>"""


@pytest.mark.parametrize("body", ["\ufeff{0}/\r\n{0}/lonely\r\n\r\nno address\n", RSS, RDF, ATOM])
async def test_lists_of_lines_and_feeds_are_sitemaps(web: Web, crawl: Crawl, body: str) -> None:
    """Of a feed the pages of its items are read, not the site's own or those for editors."""
    web.answers["/sitemap.txt"] = Answer(
        body.format(web.url).encode(), {"Content-Type": "text/plain"}
    )
    for path in ("/", "/lonely", "/elsewhere", "/edit"):
        web.page(path)
    assert (await crawl(sitemap=f"{web.url}/sitemap.txt")).paths == ["/", "/lonely"]


BOMB = gzip.compress(b"<urlset>" + b" " * 1_000_000)


@pytest.mark.parametrize("body", [b"", b"<html>", b"\x1f\x8b broken", b"not xml at all", BOMB])
async def test_a_broken_sitemap_does_not_stop_the_crawl(
    web: Web, crawl: Crawl, body: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    """What is no sitemap is said in the log and left."""
    web.page("/")
    web.answers["/sitemap.xml"] = Answer(body, {"Content-Type": "application/xml"})
    result = await crawl(sitemap="true", DOWNLOAD_MAXSIZE=100_000)
    assert result.paths == ["/"]
    assert "spider_exceptions/count" not in result.stats
    assert "/sitemap.xml is not a sitemap: " in caplog.text


@pytest.fixture
def endless(web: Web) -> Callable[[], int]:
    """A site whose sitemaps are indexes of others without end; tells how many were read."""

    class Endless(dict[str, Answer]):
        def get(self, path: str, default: Any = None) -> Any:
            found = super().get(path, default)
            if not path.startswith("/s"):
                return found
            number = int(path[2:-4])
            names = (f"/s{number * 20 + place}.xml" for place in range(1, 21))
            inside = "".join(f"<sitemap><loc>{web.url}{name}</loc></sitemap>" for name in names)
            return Answer(f"<sitemapindex>{inside}</sitemapindex>".encode())

    web.answers = Endless()
    web.page("/")
    web.answers["/robots.txt"] = Answer(b"Sitemap: /s0.xml")
    return lambda: sum(path.startswith("/s") for path in web.seen)


@pytest.mark.parametrize(
    ("limits", "arguments", "read", "told"),
    [
        ({}, {"max_pages": "5"}, 5, "exceed max_pages"),
        ({"_MOST_LEVELS": 1}, {}, 21, "an index nested below 1 index"),
        ({"_MOST_INDEXES": 2}, {}, 41, "is an index, and 2 have been read already"),
        ({"_MOST_FILES": 10}, {}, 10, "exceed the limit of a crawl"),
    ],
)
async def test_sitemaps_without_end_come_to_one(
    web: Web,
    crawl: Crawl,
    endless: Callable[[], int],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    limits: dict[str, int],
    arguments: dict[str, str],
    read: int,
    told: str,
) -> None:
    """Levels, indexes and files are bounded, by ``max_pages`` too; one line says so."""
    for name, value in limits.items():
        monkeypatch.setattr(sitemaps, name, value)
    options = {"CONCURRENT_REQUESTS_PER_DOMAIN": 16, **arguments}
    assert (await crawl(sitemap="true", ROBOTSTXT_OBEY=False, **options)).paths == ["/"]
    assert endless() == read
    assert caplog.text.count("Not all sitemaps are read: ") == 1
    assert told in caplog.text


async def test_so_many_urls_are_read_of_sitemaps(
    web: Web, crawl: Crawl, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Those beyond are left, and the log says so."""
    monkeypatch.setattr(sitemaps, "_MOST_URLS", 2)
    for path in ("/", "/1", "/2", "/3"):
        web.page(path)
    lines = "\n".join(f"{web.url}{path}" for path in ("/1", "/2", "/3"))
    web.answers["/sitemap.txt"] = Answer(lines.encode())
    assert (await crawl(sitemap=f"{web.url}/sitemap.txt")).paths == ["/", "/1", "/2"]
    assert "Not all sitemaps are read: they hold more than 2 URLs" in caplog.text
