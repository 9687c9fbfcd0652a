"""The arguments of ``scrapy crawl site``, checked before anything is fetched."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from w3lib.url import safe_url_string

from ..dedup.errors import DedupError

_NAMES = ("url", "max_pages", "allow", "deny", "sitemap")
_JOB = "_job"  # Scrapyd gives it to every spider
_PORTS = {"http": 80, "https": 443}
_AUTHORITY_END = re.compile(r"[/?#]")
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)


class ArgumentError(DedupError, ValueError):
    """An argument of the spider is invalid. The message names it and says what is expected."""


@dataclass(frozen=True)
class Arguments:
    """The arguments of the spider: where to begin, and what to leave out."""

    urls: tuple[str, ...]
    max_pages: int | None = None
    allow: re.Pattern[str] | None = None
    deny: re.Pattern[str] | None = None
    sitemaps: tuple[str, ...] = ()
    find_sitemaps: bool = False

    @classmethod
    def parse_values(cls, given: dict[str, Any]) -> Arguments:
        """Read the values given with ``-a``; an unknown name is an error.

        >>> Arguments.parse_values({"url": "example.com, https://example.org/a"}).urls
        ('https://example.com/', 'https://example.org/a')
        >>> Arguments.parse_values({"max_page": "5"})
        Traceback (most recent call last):
        ...
        crawler.spiders.arguments.ArgumentError: there is no max_page; did you mean max_pages?
        """
        for name in given:
            if name not in _NAMES and name != _JOB:
                close = difflib.get_close_matches(name, _NAMES, n=1)
                hint = (
                    f"did you mean {close[0]}?"
                    if close
                    else f"the arguments are {', '.join(_NAMES)}"
                )
                raise ArgumentError(f"there is no {name}; {hint}")
        sitemap = str(given.get("sitemap") or "")
        wanted = sitemap.lower() in ("true", "1", "yes", "on")
        unwanted = sitemap.lower() in ("", "false", "0", "no", "off")
        return cls(
            urls=tuple(_parse_urls("url", given.get("url"))),
            max_pages=_parse_count(given.get("max_pages")),
            allow=_compile_pattern("allow", given.get("allow")),
            deny=_compile_pattern("deny", given.get("deny")),
            sitemaps=() if wanted or unwanted else _parse_sitemaps(sitemap),
            find_sitemaps=wanted,
        )

    def wants_url(self, url: str) -> bool:
        """Whether ``allow`` and ``deny`` let a link pass; both are searched in the whole URL."""
        if self.allow and not self.allow.search(url):
            return False
        return not (self.deny and self.deny.search(url))


def host_of(url: str) -> str:
    """The host of a URL, with its port unless that is the scheme's own; empty for a broken URL.

    >>> host_of("https://Example.com:443/a"), host_of("http://localhost:8901/")
    ('example.com', 'localhost:8901')
    >>> host_of("https://münchen.example/") == host_of("https://xn--mnchen-3ya.example/")
    True
    """
    scheme, _, rest = url.partition("://")
    return _normalise_host(scheme.lower(), _AUTHORITY_END.split(rest, maxsplit=1)[0])


@lru_cache(maxsize=4096)
def _normalise_host(scheme: str, authority: str) -> str:
    try:
        parts = urlsplit(f"{scheme}://{authority}")
        host, port = (parts.hostname or "").rstrip("."), parts.port
        if not host.isascii():  # links may have Unicode hosts, requests have them in Punycode
            host = host.encode("idna").decode()
    except ValueError:
        return ""
    if ":" in host:
        host = f"[{host}]"
    return host if port is None or port == _PORTS.get(scheme) else f"{host}:{port}"


def _parse_urls(name: str, value: Any) -> Iterable[str]:
    words = str(value or "").replace(",", " ").split()
    if not words:
        raise ArgumentError(
            f"{name} is missing; name a site: scrapy crawl site -a {name}=https://example.com"
        )
    return dict.fromkeys(_parse_url(name, word) for word in words)


def _parse_sitemaps(value: str) -> tuple[str, ...]:
    try:
        return tuple(_parse_urls("sitemap", value))
    except ArgumentError as error:
        raise ArgumentError(f"{error}; or true, for those that robots.txt names") from None


def _parse_url(name: str, word: str) -> str:
    scheme = _SCHEME.match(word)
    # A bare host means its web site, and nearly all sites use HTTPS.
    url = word if scheme else f"https://{word.removeprefix('//')}"
    if scheme and scheme[1].lower() not in _PORTS:
        raise ArgumentError(f"{name}={word}: {scheme[1]} is not supported, only http and https")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise ArgumentError(f"{name}={word}: {error}") from None
    bare = not scheme and not word.startswith("//")
    if not host or not _is_host(host) or (bare and not _is_site(host, port)):
        raise ArgumentError(f"{name}={word} names no host; a full one is https://example.com/docs/")
    if parts.username is not None:
        raise ArgumentError(
            f"{name} contains a user name; give it with the settings HTTPAUTH_USER, HTTPAUTH_PASS "
            "and HTTPAUTH_DOMAIN"
        )
    return str(safe_url_string(parts._replace(path=parts.path or "/").geturl()))


def _is_host(host: str) -> bool:
    if ":" in host:  # urlsplit has checked that this is an IPv6 address
        return True
    labels = host.rstrip(".").split(".")
    return all(re.fullmatch(r"[\w-]{1,63}", label) for label in labels)


def _is_site(host: str, port: int | None) -> bool:
    """Whether a word without a scheme looks like a host."""
    return "." in host.strip(".") or ":" in host or host == "localhost" or port is not None


def _parse_count(value: Any) -> int | None:
    if value is None:
        return None
    try:
        count = int(str(value))
    except ValueError:
        count = 0
    if count < 1:
        raise ArgumentError(f"max_pages={value} is not a whole number above 0")
    return count


def _compile_pattern(name: str, value: Any) -> re.Pattern[str] | None:
    if not value:
        return None
    try:
        return re.compile(str(value))
    except re.error as error:
        raise ArgumentError(f"{name}={value} is not a regular expression: {error}") from None
