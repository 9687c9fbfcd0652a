"""The spider `site`: pages, links, hosts and encodings."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime

import pytest
from scrapy import Request
from scrapy.exceptions import IgnoreRequest

from crawler.addon import Addon
from crawler.spiders.site import SiteSpider
from tests.spiders.webserver import Answer, Crawl, Web


async def test_an_item_says_where_when_and_what(web: Web, crawl: Crawl) -> None:
    """A page becomes an item with its title, main text, HTML and canonical URL."""
    head = '<title>A  title</title><link rel="canonical" href="/here">'
    web.page("/", head=head, text="Some words that stand in the main part of this page.")
    (page,) = (await crawl()).items
    assert page.url == f"{web.url}/"
    assert page.title == "A title"
    assert page.canonical == f"{web.url}/here"
    assert page.text.strip() == "Some words that stand in the main part of this page."
    assert page.html.startswith("<html>")
    assert page.status == 200
    assert (datetime.now(UTC) - datetime.fromisoformat(page.fetched_at)).total_seconds() < 60


@pytest.mark.parametrize(
    "named",
    ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "mailto:a@b"],
)
async def test_what_an_item_says_is_bounded(web: Web, crawl: Crawl, named: str) -> None:
    """A canonical URL is one of the web, or none; a title is as long as titles are."""
    head = f'<title>{"tea " * 100_000}</title><link rel="canonical" href="{named}">'
    web.page("/", head=head)
    (page,) = (await crawl()).items
    assert page.canonical is None
    assert page.title == ("tea " * 250)[:1000]


async def test_another_extractor_takes_the_text(web: Web, crawl: Crawl, redis_url: str) -> None:
    """DEDUP_EXTRACTOR holds for the spider's pages, and costs none where it fails."""

    def first_word(html: str) -> str:
        return html.partition("<p>")[2].partition("</p>")[0].split()[0]

    web.page("/", "/tea", head="<title>A title</title>", text="Words that come first, and others.")
    web.page("/tea", text="")
    settings = {"ADDONS": {Addon: 500}, "DEDUP_REDIS_URL": redis_url}
    result = await crawl(DEDUP_EXTRACTOR=first_word, **settings)
    assert {page.title: page.text for page in result.items} == {"A title": "Words", "": ""}
    assert result.stats["dedup/errors/IndexError"] == 1


async def test_the_log_shows_neither_html_nor_text(web: Web, crawl: Crawl) -> None:
    """The representation of a page, which Scrapy logs, stays short."""
    web.page("/", text="secret " * 1000)
    (page,) = (await crawl()).items
    assert "secret" not in repr(page)


async def test_every_page_is_fetched_once(web: Web, crawl: Crawl) -> None:
    """However often and in whatever form a page is linked to, it is fetched once."""
    web.page("/", "/a", "a", "./a#part", f"{web.url}/a", "/a?", "/")
    web.page("/a", "/", "a", "../a")
    result = await crawl()
    assert result.paths == ["/", "/a"]
    assert sorted(web.seen) == ["/", "/a", "/robots.txt"]


async def test_links_are_joined_with_the_base(web: Web, crawl: Crawl) -> None:
    """A base element decides what the links of a page mean, and its canonical URL."""
    web.page("/", "leaf", head='<base href="/branch/"><link rel=canonical href=home>')
    web.page("/branch/leaf")
    result = await crawl()
    assert result.paths == ["/", "/branch/leaf"]
    assert result.items[0].canonical == f"{web.url}/branch/home"


async def test_queries_are_sent_in_the_encoding_of_the_page(web: Web, crawl: Crawl) -> None:
    """As browsers do, to servers that know no other; what it has not as a character reference."""
    html = '<meta charset=windows-1251><link rel=canonical href="/?q=чай">'
    html += "<p>Чай</p><a href='/?q=чай&amp;x=1'>x</a><a href='/чай?q=&#33590;'>x</a>"
    web.answers["/"] = Answer(html.encode("cp1251"), {"Content-Type": "text/html"})
    result = await crawl()
    assert {"/?q=%F7%E0%E9&x=1", "/%D1%87%D0%B0%D0%B9?q=%26%2333590%3B"} < set(web.seen)
    assert result.items[0].canonical == f"{web.url}/?q=%F7%E0%E9"


async def test_other_hosts_are_left_alone(
    web: Web, crawl: Crawl, caplog: pytest.LogCaptureFixture
) -> None:
    """A port is part of a host; neither links nor redirects lead away from it."""
    other = Web()
    try:
        other.page("/")
        web.page("/", f"{other.url}/", "/away", "http://localhost:bad/", "mailto:me@example.com")
        evil = f"{other.url}/;touch$IFS/tmp/x"
        web.answers["/away"] = Answer(status=302, headers={"Location": evil})
        result = await crawl(url=f"{web.url}/ {web.url}/away")
        assert f"to crawl that one: -a url='{evil}'" in caplog.text  # to be pasted into a shell
        assert result.paths == ["/"]
        assert other.seen == []
        assert result.stats["site/foreign_redirects"] == 1
    finally:
        other.close()


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer(b"PNG", {"Content-Type": "image/png"}), "image/png, not HTML\n"),
        (
            Answer(b"no file", {"Content-Type": "application/pdf"}),
            "application/pdf, not HTML; the extra `files` reads it",
        ),
        (
            Answer(status=302, headers={"Location": "http://other.invalid/"}),
            "redirects to other.invalid",
        ),
    ],
)
async def test_a_start_that_is_no_page_is_a_failure(
    web: Web, crawl: Crawl, caplog: pytest.LogCaptureFixture, answer: Answer, reason: str
) -> None:
    """A crawl that had no page at all says why; another start that is a page makes it a crawl."""
    web.answers["/start"] = answer
    await crawl(url=f"{web.url}/start")
    assert f"No start page could be fetched: {web.url}/start: {reason}" in caplog.text
    caplog.clear()
    web.page("/")
    await crawl(url=f"{web.url}/start {web.url}/")
    assert "No start page" not in caplog.text


def test_www_is_the_same_site() -> None:
    """Where the URL given leads to its name with www, or without, that one is crawled."""
    spider = SiteSpider(url="https://example.com")
    meta = {"redirect_urls": ["https://example.com/"]}
    spider.stay_on_hosts(Request("https://www.example.com/", meta=meta))
    spider.stay_on_hosts(Request("https://www.example.com/next"))
    with pytest.raises(IgnoreRequest):
        spider.stay_on_hosts(Request("https://shop.example.com/"))


def test_links_to_a_host_that_is_crawled_later_are_not_lost() -> None:
    """Of two sites the first may link to the second by the name that it has not led to yet."""
    spider = SiteSpider(url="https://one.example https://two.example")
    link, base = "https://www.two.example/page", "https://one.example/"
    assert list(spider._links.resolve_links([link], base)) == []
    meta = {"redirect_urls": ["https://two.example/"]}
    spider.stay_on_hosts(Request("https://www.two.example/", meta=meta))
    assert list(spider._links.resolve_links([link], "https://www.two.example/")) == [link]
    assert list(spider._links.resolve_links([link], "https://www.two.example/")) == []


async def test_a_resumed_crawl_knows_its_hosts() -> None:
    """What Scrapy keeps in JOBDIR tells that the name with www. is crawled as well."""
    for known in ({}, {"hosts": {"example.com", "www.example.com"}}):
        spider = SiteSpider(url="https://example.com")
        spider.state = known
        (first,) = [request async for request in spider.start()]
        meta = {"redirect_urls": [first.url]} if spider.hosts == {"example.com"} else {}
        spider.stay_on_hosts(Request("https://www.example.com/", meta=meta))
        assert spider.state == {"hosts": {"example.com", "www.example.com"}}


def test_a_host_may_be_named_in_letters() -> None:
    """A link that spells the host in its own letters does not lead to another one."""
    spider = SiteSpider(url="https://münchen.example/")
    spider.stay_on_hosts(Request("https://MÜNCHEN.example/next"))
    hrefs = ["https://münchen.example/a", "//MÜNCHEN.example/b", "https://\u2488.example/"]
    assert len(list(spider._links.resolve_links(hrefs, spider.arguments.urls[0]))) == 2


async def test_pages_come_in_the_encoding_they_declare(web: Web, crawl: Crawl) -> None:
    """Header and meta element are heeded for text and HTML alike."""
    html = '<meta charset="windows-1251"><body><p>Смотритель зажёг лампу на маяке.</p></body>'
    web.answers["/"] = Answer(html.encode("cp1251"), {"Content-Type": "text/html"})
    (page,) = (await crawl()).items
    assert "Смотритель зажёг лампу" in page.text
    assert "Смотритель" in page.html


async def test_a_page_that_declares_what_is_no_encoding_is_read_as_if_it_declared_none(
    web: Web, crawl: Crawl
) -> None:
    """Codecs of Python that no text of the web is in lose no page, and a redirect still counts."""
    names = ["rot13", "hex", "base64", "zlib", "idna", "undefined", "punycode"]
    words = "Смотритель зажёг лампу на маяке. "
    web.page("/", *(f"/{way}/{name}" for way in ("header", "meta") for name in names), "/moved")
    for name in names:
        html = f"<body><p>{words * 9}</p></body>".encode("koi8-r")
        web.answers[f"/header/{name}"] = Answer(
            html, {"Content-Type": f"text/html; charset={name}"}
        )
        declared = gzip.compress(f'<meta charset="{name}">'.encode() + html)
        packed = {"Content-Type": "text/html", "Content-Encoding": "gzip"}
        web.answers[f"/meta/{name}"] = Answer(declared, packed)
    refresh = '<meta charset="rot13"><meta http-equiv="refresh" content="0; url=/target">'
    web.page("/moved", head=refresh)
    web.page("/target")
    result = await crawl()
    assert sum(words.strip() in item.text for item in result.items) == 2 * len(names)
    assert "/target" in result.paths
    assert "/moved" not in result.paths


async def test_a_long_page_is_a_page_as_well(web: Web, crawl: Crawl) -> None:
    """Beyond the size that is worked on in a thread nothing else changes."""
    web.page("/", "/next", text="Plain words in a row. " * 20_000)
    web.page("/next")
    assert (await crawl()).paths == ["/", "/next"]


@pytest.mark.parametrize(
    "html",
    [
        b"",
        b"\0\0\0",
        b"<" * 10_000,
        b"<a href=" + b"'http://['>",
        b"\xff\xfe\x00",
        b"<div>" * 5_000,
    ],
)
async def test_a_hostile_page_does_not_stop_the_crawl(web: Web, crawl: Crawl, html: bytes) -> None:
    """Whatever stands in a page, the next one is fetched."""
    web.page("/", "/hostile", "/next")
    web.answers["/hostile"] = Answer(html, {"Content-Type": "text/html"})
    web.page("/next")
    result = await crawl()
    assert "/next" in result.paths
    assert "spider_exceptions/count" not in result.stats
