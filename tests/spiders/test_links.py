"""Links are resolved once, and as a browser would."""

from __future__ import annotations

from unittest.mock import patch
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request
from scrapy.http import HtmlResponse
from scrapy.utils.test import get_crawler

from crawler.dedup.identity import resolved
from crawler.spiders import links
from crawler.spiders.arguments import host_of
from crawler.spiders.downloader_middlewares import RefreshMiddleware
from crawler.spiders.links import NewLinks
from crawler.spiders.robots import header_directives

BASES = [
    "http://h/a/b", "http://h/a/", "http://h", "http://i", "http://j?d=/e", "https://h/a/b/c?d=/e/f",
    "http://h:1/a;b",
]  # fmt: skip
hrefs = st.one_of(
    st.text(max_size=12),
    st.text("./?#ab:;%\t", max_size=8),
    st.sampled_from(
        ["//other/x", "http://h/a", "http://[", "?q", "", " ", "\t?q", "HTTP://h/a", "h\nttp:"]
    ),
)


def with_path(url: str) -> str:
    """A URL that names a path, which is a slash at least."""
    parts = urlsplit(url)
    return url if parts.path else url.replace(f"//{parts.netloc}", f"//{parts.netloc}/", 1)


@given(st.lists(st.tuples(st.sampled_from(BASES), hrefs), max_size=20))
def test_no_link_is_lost_and_none_comes_twice(pairs: list[tuple[str, str]]) -> None:
    """Remembering links as they stand in pages gives what resolving every one of them gives."""
    expected: dict[str, None] = {}
    for base, href in pairs:
        url = resolved(base, href.partition("#")[0]) or ""
        if href.partition("#")[0] and url.startswith(("http://", "https://")):
            expected[with_path(url)] = None
    new = NewLinks(lambda url: True)
    found = [url for base, href in pairs for url in new.resolve_links([href], base)]
    assert found == list(expected)


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("http://h?page=2", "http://h/?page=2"),
        ("?", "http://h/a/b"),
        ("http://h", "http://h/"),
        ("//h?d=/e", "http://h/?d=/e"),
        ("..\\c\\d.html", "http://h/c/d.html"),
        ("\\c?d=\\e", "http://h/c?d=\\e"),
        ("http:\\\\h\\c", "http://h/c"),
        ("http://h\\c", "http://h/c"),
    ],
)
def test_links_as_people_write_them(href: str, url: str) -> None:
    """A query right behind the host, and backslashes, mean what they do in a browser."""
    assert list(
        NewLinks(lambda url: host_of(url) == "h").resolve_links([href], "http://h/a/b?all=no")
    ) == [url]


def test_memory_does_not_grow_with_the_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Relative links of ever new folders, and links to elsewhere, are not remembered for ever."""
    monkeypatch.setattr(links, "_MOST_TEXTS", 10)
    new = NewLinks(lambda url: url.startswith("http://h/"))
    found = []
    for page in range(100):
        hrefs = ["../about", "../", f"http://other/{page}"]
        found += new.resolve_links(hrefs, f"http://h/{page}/")
    assert found == ["http://h/about", "http://h/"]
    assert len(new._texts) <= 10


def test_directives_for_others_do_not_count() -> None:
    """A header may speak to one robot; dates in it are no names."""
    assert header_directives(["googlebot: noindex"], "mybot") == set()
    assert "noindex" in header_directives(["mybot: noindex, nofollow"], "mybot")
    assert header_directives(["unavailable_after: 25 Jun 2010 15:00:00 PST"], "mybot")
    assert "none" not in header_directives(["max-image-preview: none"], "mybot")


def test_joined_headers_speak_to_one_robot_after_the_other() -> None:
    """Proxies make one header of several; what has no name before it is for all."""
    joined = ["noindex, googlebot: nofollow, noarchive, MyBot: nosnippet, unavailable_after: x"]
    said = {"noindex", "nosnippet", "unavailable_after:x"}
    assert header_directives(joined, "mybot") == said


def test_a_host_is_judged_once() -> None:
    """However many links lead there, until another host is crawled as well."""
    asked: list[str] = []
    here = {"h"}

    def is_here(url: str) -> bool:
        asked.append(url)
        return host_of(url) in here

    new = NewLinks(is_here)
    away = ["http://i/a", "http://i/b", "http://i?c", "http://j/"]
    assert list(new.resolve_links(away, "http://h/")) == []
    assert asked == ["http://i/", "http://j/"]
    here.add("i")
    new.look_again()
    assert list(new.resolve_links(away, "http://h/")) == ["http://i/a", "http://i/b", "http://i/?c"]


@pytest.mark.parametrize("encoding", ["utf-8", "cp1251", "utf-16", "utf-16-le"])
def test_a_refresh_is_found_in_any_encoding(encoding: str) -> None:
    """Scrapy's middleware says where it leads; pages without one are not decoded for that."""
    middleware = RefreshMiddleware.from_crawler(get_crawler())
    request = Request("http://h/a")
    html = '<p>Чай<meta http-equiv="Refresh" content="0; url=/b">'
    page = HtmlResponse(request.url, body=html.encode(encoding), encoding=encoding)
    led_on = middleware.process_response(request, page)
    assert isinstance(led_on, Request)
    assert led_on.url.startswith("http://h/b")
    plain = HtmlResponse(request.url, body="<p>Чай".encode(), encoding="utf-8")
    with patch.object(HtmlResponse, "text", property(lambda _: pytest.fail("was decoded"))):
        assert middleware.process_response(request, plain) is plain
