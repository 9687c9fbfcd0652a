"""When two URLs are the same page."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache, lru_cache
from typing import Any
from urllib.parse import urljoin, urlsplit

import xxhash
from w3lib.url import canonicalize_url

_LONG_URL = 2_000
_CUT = re.compile(rf".{{{_LONG_URL}}}~[0-9a-f]{{32}}", re.DOTALL)  # identity of a longer URL
# URLs that are canonical already: most URLs without a query.
_PLAIN = re.compile(
    r"https?://[a-z0-9]+(?:[.-][a-z0-9]+)*(?::(?:[1-9]\d{0,3}|[1-5]\d{4}))?(?:/(?!\.)[\w.~-]*)+",
    re.ASCII,
)
# Begins the fragment of a page that an application renders. In a canonical URL, a # within the
# fragment is encoded.
_ROUTE = re.compile(r"(?:#|%23)!?/")
_UNUSUAL = re.compile(r'[ "<>\\^`{}]')  # clients encode them
# In a name that is no URL, such as "C#" or "book#2", nothing may be changed.
_IS_URL = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
_PATH_END = re.compile(r"[?#]")
# Parsing a URL of a million characters takes half a second; browsers and servers accept far less.
LONGEST_URL = 100_000


@lru_cache(maxsize=256)  # each page needs its own several times
def identity(url: str, *, canonical: bool) -> str:
    """The URL under which the index knows a page: `canonical` if so set, and limited in length.

    The function is idempotent, so people can ask for the URL that they were shown.

    >>> identity("https://example.com/?b=2&a=1#top", canonical=True)
    'https://example.com/?a=1&b=2'
    >>> identity("https://example.com/#/tea", canonical=True)
    'https://example.com/#/tea'
    >>> identity("book#2", canonical=True)
    'book#2'
    """
    if len(url) <= _LONG_URL and (plain := _PLAIN.fullmatch(url)):
        return plain[0]  # a string of Python's own, whatever class the URL is of
    url = url.encode("utf-8", "replace").decode()  # lone surrogates become question marks
    if _CUT.fullmatch(url):
        return url
    if canonical and len(url) <= LONGEST_URL and _IS_URL.match(url):
        with suppress(ValueError):  # not a URL, such as "http://[": it stays as it is
            url = canonicalize_url(url, keep_fragments=_has_route(url))
    if len(url) > _LONG_URL:
        url = f"{url[:_LONG_URL]}~{xxhash.xxh3_128_hexdigest(url.encode())}"
    return url


def fetched_url(url: str, known: str) -> str:
    """The URL under which a page was fetched, if that is not its identity `known`; else "".

    It has no fragment that the identity lacks, which may be a secret. It is "", too, if it is very
    long, is no URL that a client would request as it is, or if the host is spelt differently.

    >>> fetched_url("https://example.com/?b=2&a=1#top", "https://example.com/?a=1&b=2")
    'https://example.com/?b=2&a=1'
    >>> fetched_url("https://example.com/#top", "https://example.com/")
    ''
    """
    if url == known:
        return ""
    packed = url.encode("utf-8", "replace")
    url = packed.decode()  # as in identity()
    if "#" not in known:
        url = url.partition("#")[0]
    is_usual = url.isprintable() and not _UNUSUAL.search(url) and host(url) == host(known)
    is_short = len(packed) <= _LONG_URL and is_whole(known)
    return url if is_short and is_usual and url != known else ""


def _has_route(url: str) -> bool:
    start = url.find("#")
    return start >= 0 and _ROUTE.search(url, start) is not None


def resolved(base: str, url: str) -> str | None:
    """The absolute URL of a link in the page at `base`; None if it is too long or invalid.

    >>> resolved("https://example.com/a/b", "../c")
    'https://example.com/c'
    >>> resolved("https://example.com/", "http://[") is None
    True
    """
    try:
        if url.strip() == "?":  # the page without its query, which urljoin would keep
            base = base.partition("#")[0].partition("?")[0]
        return urljoin(base, slashed(url)) if len(url) <= LONGEST_URL else None
    except ValueError:
        return None


def slashed(url: str) -> str:
    r"""A link as browsers read it: a backslash before the query is a slash.

    >>> slashed(r"..\docs?by=a") == "../docs?by=a"
    True
    """
    if "\\" not in url:
        return url
    path = _PATH_END.split(url, maxsplit=1)[0]
    return path.replace("\\", "/") + url[len(path) :]


def is_whole(url: str) -> bool:
    """Whether the URL of a page is complete, and not the beginning of a longer one.

    >>> is_whole(identity("https://example.com/" + 2000 * "a", canonical=True))
    False
    """
    return len(url) <= _LONG_URL


@lru_cache(maxsize=256)
def host(url: str) -> str:
    """The host and port under which a page is counted; empty if it is not a URL.

    >>> host("https://reader@Example.com:8080/")
    'example.com:8080'
    """
    try:
        return urlsplit(url).netloc.rpartition("@")[2][:255].lower()
    except ValueError:
        return ""


@lru_cache(maxsize=1024)
def domain(url: str) -> str:
    """The registered domain of a URL, or its host without port if it has none.

    >>> domain("https://news.example.co.uk:8080/a"), domain("http://localhost:8901/")
    ('example.co.uk', 'localhost')
    """
    name = host(url)
    with suppress(ValueError):
        name = urlsplit(f"//{name}").hostname or name
    found = _load_suffixes()(name)
    if found.domain and found.suffix:
        return f"{found.domain}.{found.suffix}"
    if found.ipv4 or ":" in name:
        return name
    return ".".join(name.split(".")[-2:])  # a last label that is not in the list is a suffix


@cache
def _load_suffixes() -> Callable[[str], Any]:
    from tldextract import TLDExtract

    return TLDExtract(cache_dir=None, suffix_list_urls=())  # uses the list in its package
