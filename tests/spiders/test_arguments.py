"""Arguments of the site spider, good and bad; each bad one is an error that names it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.spiders.arguments import ArgumentError, Arguments, host_of


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("https://example.com", ["https://example.com/"]),
        ("example.com/docs", ["https://example.com/docs"]),
        ("//example.com", ["https://example.com/"]),
        ("a.example b.example", ["https://a.example/", "https://b.example/"]),
        (" a.example,\n b.example ,a.example", ["https://a.example/", "https://b.example/"]),
        ("http://localhost:8080", ["http://localhost:8080/"]),
        ("localhost:8080", ["https://localhost:8080/"]),
        ("http://intranet intranet:8080", ["http://intranet/", "https://intranet:8080/"]),
        ("localhost 127.0.0.1", ["https://localhost/", "https://127.0.0.1/"]),
        ("HTTP://EXAMPLE.com/ä", ["http://example.com/%C3%A4"]),
        ("https://münchen.example/", ["https://xn--mnchen-3ya.example/"]),
    ],
)
def test_urls_are_completed(text: str, urls: list[str]) -> None:
    """One or several, with or without a scheme; a bare host means its encrypted site."""
    assert list(Arguments.parse_values({"url": text}).urls) == urls


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "url is missing"),
        ({"url": ""}, "url is missing"),
        ({"url": " , "}, "url is missing"),
        ({"url": "ftp://example.com"}, "ftp is not supported"),
        ({"url": "http://"}, "names no host"),
        ({"url": "https:///path"}, "names no host"),
        ({"url": "http://exa..mple"}, "names no host"),
        ({"url": "not a url"}, "url=not names no host"),
        ({"url": "http://local host/"}, "url=host/ names no host"),
        ({"url": "http://[::1]:8080/a b"}, "url=b names no host"),
        ({"url": "example.com intranet"}, "url=intranet names no host"),
        ({"url": "http://[::1"}, "Invalid IPv6"),
        ({"url": "example.com:99999"}, "Port out of range"),
        ({"url": "http://me:secret@example.com"}, "HTTPAUTH_USER"),
        ({"url": "javascript:alert(1)"}, "names no host|Port could not"),
        ({"url": "x.example", "max_pages": "0"}, "max_pages=0"),
        ({"url": "x.example", "max_pages": "many"}, "max_pages=many"),
        ({"url": "x.example", "max_pages": ""}, "max_pages="),
        ({"url": "x.example", "allow": "("}, r"allow=\( is not a regular expression"),
        ({"url": "x.example", "deny": "["}, r"deny=\[ is not a regular expression"),
        ({"url": "x.example", "sitemap": "ftp://x"}, "sitemap=ftp://x"),
        ({"url": "x.example", "sitemap": "y"}, "sitemap=y names no host.* or true"),
        ({"url": "x.example", "urls": "y"}, "did you mean url"),
    ],
)
def test_a_wrong_argument_is_named(arguments: dict[str, str], words: str) -> None:
    """The error says which argument is wrong and what would do."""
    with pytest.raises(ArgumentError, match=words):
        Arguments.parse_values(arguments)


def test_a_password_is_not_repeated() -> None:
    """What stands before the host may be a secret, and errors end up in logs."""
    with pytest.raises(ArgumentError) as error:
        Arguments.parse_values({"url": "http://me:secret@example.com"})
    assert "secret" not in str(error.value)


@given(st.text(max_size=40))
def test_any_text_is_a_url_or_an_error(text: str) -> None:
    """Whatever is typed, it is a URL with a host or the one error."""
    try:
        arguments = Arguments.parse_values({"url": text})
    except ArgumentError:
        return
    assert arguments.urls
    assert all(host_of(url) for url in arguments.urls)


@pytest.mark.parametrize(("value", "wanted"), [("true", True), ("1", True), ("no", False)])
def test_sitemaps_are_looked_for_on_request(value: str, wanted: bool) -> None:
    """``sitemap`` is a switch, or else a URL."""
    arguments = Arguments.parse_values({"url": "x.example", "sitemap": value})
    assert arguments.find_sitemaps is wanted
    assert arguments.sitemaps == ()


def test_numbers_need_not_be_texts() -> None:
    """From a script the arguments come as Python values."""
    given: dict[str, Any] = {"url": "x.example", "max_pages": 5, "allow": None, "sitemap": False}
    assert Arguments.parse_values(given).max_pages == 5
