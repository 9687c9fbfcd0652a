"""Cookies with the limits of browsers, and without requests to other servers."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final, Self

from scrapy.downloadermiddlewares import cookies as of_scrapy
from scrapy.http.cookies import CookieJar
from scrapy.utils.python import to_unicode
from tldextract import TLDExtract

if TYPE_CHECKING:
    from http.cookiejar import Cookie

    from scrapy import Request
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

# Browsers keep at least these: RFC 6265, section 6.1, asks for 4,096 bytes and 50 cookies, and
# Chrome and Firefox keep 180.
_LARGEST: Final = 4096  # bytes of a name and its value
_MOST: Final = 180  # cookies of a domain
# Bytes of the header. Tomcat takes 8 KiB for all headers, nginx and Apache as much for one of them.
_MOST_SENT: Final = 7 * 1024


def use_packaged_suffix_list() -> None:
    """Let Scrapy read public suffixes from the list in the package `tldextract`.

    Otherwise Scrapy fetches the list from the internet at the first cookie, and blocks the event
    loop until an answer comes. Behind a firewall none does.
    """
    packaged = TLDExtract(cache_dir=None, suffix_list_urls=(), include_psl_private_domains=True)
    of_scrapy._split_domain = packaged


class BoundedJar(CookieJar):
    """A cookie jar with limits for what it keeps of a site and sends back.

    The `cookies` of a request itself are always sent. `refused` is called for each cookie that is
    not kept, or not sent.
    """

    def __init__(self, refused: Callable[[str, Request], object]) -> None:
        super().__init__()
        self._refused = refused

    def set_cookie_if_ok(self, cookie: Cookie, request: Request) -> None:
        """Keep a cookie, unless it is too large, or its domain has too many."""
        if cookie.name in _own_names(request) or self._has_room(cookie):
            super().set_cookie_if_ok(cookie, request)
        else:
            self._refused("not_kept", request)

    def _has_room(self, cookie: Cookie) -> bool:
        if len(cookie.name.encode()) + len((cookie.value or "").encode()) > _LARGEST:
            return False
        paths = self._cookies.get(cookie.domain, {})
        if cookie.name in paths.get(cookie.path, {}) or _count(paths) < _MOST:
            return True
        for old in [one for names in paths.values() for one in names.values()]:
            if old.is_expired():
                self.clear(old.domain, old.path, old.name)
        return _count(paths) < _MOST

    def add_cookie_header(self, request: Request) -> None:
        """Add the header with as many cookies as fit, the oldest first."""
        super().add_cookie_header(request)
        header = request.headers.get("Cookie")
        if header is None or len(header) <= _MOST_SENT:
            return
        cookies = header.split(b"; ")
        own = {name.encode() for name in _own_names(request)}
        room = _MOST_SENT - sum(len(one) + 2 for one in cookies if _name(one) in own)
        sent = []
        for one in cookies:
            if _name(one) not in own:
                if len(one) + 2 > room:
                    self._refused("not_sent", request)
                    continue
                room -= len(one) + 2
            sent.append(one)
        request.headers["Cookie"] = b"; ".join(sent)


class CookiesMiddleware(of_scrapy.CookiesMiddleware):
    """Scrapy's middleware with limited jars.

    Without limits, a page that sets 200 large cookies would make its server refuse all further
    requests to the host.
    """

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self.jars = defaultdict(partial(BoundedJar, self._count))
        self._has_warned = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read Scrapy's settings for cookies."""
        middleware = super().from_crawler(crawler)
        middleware.crawler = crawler  # as later versions of Scrapy do
        return middleware

    def _count(self, what: str, request: Request) -> None:
        self.crawler.stats.inc_value(f"cookies/{what}")
        if not self._has_warned:
            self._has_warned = True
            logger.warning(
                "%s sets more or larger cookies than browsers keep; what is beyond that is not "
                "sent back (cookies/not_kept and cookies/not_sent in the statistics)",
                request.url,
            )


def _count(paths: dict[str, dict[str, Cookie]]) -> int:
    return sum(map(len, paths.values()))


def _name(cookie: bytes) -> bytes:
    return cookie.partition(b"=")[0]


def _own_names(request: Request) -> set[str]:
    """The names of the cookies that the request itself carries."""
    given = request.cookies
    names = (one["name"] for one in given) if isinstance(given, list) else given
    return {to_unicode(name) for name in names}
