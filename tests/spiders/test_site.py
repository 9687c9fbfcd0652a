"""The site spider against a real web server: what it fetches and what it leaves alone."""

from __future__ import annotations

import asyncio
import gzip
import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import pytest
from scrapy import Request
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import IgnoreRequest

from crawler.addon import Addon
from crawler.spiders import robots
from crawler.spiders.site import SiteSpider
from tests.conftest import wait_until
from tests.spiders.webserver import Answer, Result, Web

Crawl = Callable[..., Awaitable[Result]]


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


async def test_only_html_becomes_a_page(web: Web, crawl: Crawl) -> None:
    """Other content types are counted under their names and skipped."""
    web.page("/", "/file", "/picture", "/xhtml", "/none", "/twice")
    web.answers["/file"] = Answer(b"%PDF-1", {"Content-Type": "application/pdf; x=y"})
    web.answers["/picture"] = Answer(b"\x89PNG", {"Content-Type": "image/png"})
    web.answers["/xhtml"] = Answer(b"<p>x</p>", {"Content-Type": "application/xhtml+xml"})
    web.answers["/twice"] = Answer(b"<p>x</p>", {"Content-Type": "text/html, text/html"})
    web.answers["/none"] = Answer(b"<!doctype html><html><p>x</p></html>", {})
    result = await crawl(DEDUP_FILES=False)
    assert result.paths == ["/", "/none", "/twice", "/xhtml"]
    assert result.stats["site/other_content_types/application/pdf"] == 1
    assert result.stats["site/other_content_types/image/png"] == 1


@pytest.mark.parametrize("said", ["html", "text / html", "*/*", "unknown/unknown"])
async def test_a_type_that_says_nothing_is_none(web: Web, crawl: Crawl, said: str) -> None:
    """Browsers look at the body then, and show a page."""
    web.page("/", "/page", "/file")
    web.page("/page", Content_Type=said)
    web.answers["/file"] = Answer(b"\x89PNG\r\n\x1a\n" + bytes(99), {"Content-Type": said})
    result = await crawl()
    assert result.paths == ["/", "/page"]
    assert result.stats["site/other_content_types/unknown"] == 1


async def test_a_file_that_is_called_a_page_has_no_text(web: Web, crawl: Crawl) -> None:
    """Two PDFs with the same fonts were copies of each other; what the server says stays a page."""
    web.page("/", "/download?id=1")
    web.answers["/download?id=1"] = Answer(
        b"%PDF" + bytes(range(256)) * 9, web.answers["/"].headers
    )
    page, file = sorted((await crawl()).items, key=lambda item: item.url)
    assert page.main is not None
    assert (file.main, file.text) == (None, "")


async def test_a_server_cannot_fill_the_statistics_with_types(web: Web, crawl: Crawl) -> None:
    """A hundred content types have counts of their own, all others one together."""
    paths = [f"/{number}" for number in range(130)]
    web.page("/", *paths)
    for path in paths:
        web.answers[path] = Answer(b"x", {"Content-Type": f"made/up{path[1:]}"})
    stats = (await crawl()).stats
    counts = {k: v for k, v in stats.items() if k.startswith("site/other_content_types/")}
    assert len(counts) == 101
    assert counts["site/other_content_types/others"] == 30


async def test_a_big_file_is_not_downloaded_to_its_end(web: Web, crawl: Crawl) -> None:
    """The content type decides before megabytes have come through the line."""
    web.page("/", "/film")
    web.answers["/film"] = Answer(b"0" * 30_000_000, {"Content-Type": "video/mp4"})
    result = await crawl()
    assert result.stats["site/other_content_types/video/mp4"] == 1
    assert result.stats["downloader/response_bytes"] < 100_000


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
