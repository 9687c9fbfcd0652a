"""Scrapy's downloader middlewares, corrected where they lose pages or request too many."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from scrapy.downloadermiddlewares.cookies import CookiesMiddleware as ScrapyCookies
from scrapy.downloadermiddlewares.redirect import MetaRefreshMiddleware
from scrapy.downloadermiddlewares.retry import RetryMiddleware
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.http import TextResponse
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.python import global_object_name

from ..chrome.page.encoding import decode_body, is_charset
from ..scrapy_versions import SHARES_ROBOTS
from .cookies import CookiesMiddleware
from .retry_after import RetryAfterMiddleware
from .robots import first_lines

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.robotstxt import RobotParser
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

_SHOWN: Final = 6  # seconds from which people read a page that leads on; sites forward in up to 5
_BEGINNING: Final = 4 * 4096 + 4  # bytes: Scrapy reads 4,096 characters, maybe behind a mark


class RobotsMiddleware(RobotsTxtMiddleware):
    """Scrapy's middleware, but all requests that wait for a robots.txt obey it.

    Of several waiting requests, Scrapy 2.19 applies it to one only. So one of them fetches it here,
    and the others read the result. At most 500 KiB of a robots.txt are read.

    The arguments differ from one Scrapy to the next: methods pass on those that they do not use.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)  # by host

    def robot_parser(self, request: Request, *others: Any) -> Any:
        """Return the rules of the host of a request, None for none, as Scrapy's own does."""
        if SHARES_ROBOTS:
            return super().robot_parser(request, *others)
        return self._take_turn(request)

    async def _take_turn(self, request: Request) -> RobotParser | None:
        async with self._turns[urlparse_cached(request).netloc]:
            return await super().robot_parser(request)

    def _parse_robots(self, response: Response, *others: Any) -> Any:
        body = first_lines(response.body)
        if body != response.body:
            logger.warning("%s is longer than 500 KiB: the rest is not read", response.url)
            response = response.replace(body=body)
        return super()._parse_robots(response, *others)


class CharsetMiddleware:
    """Replaces a declared charset that is not a character encoding, such as rot13.

    Scrapy accepts any codec of Python, and its search for a meta refresh then raises.
    """

    def process_response(self, request: Request, response: Response, **others: Any) -> Response:
        """Return the response, with another encoding if necessary."""
        if not isinstance(response, TextResponse) or is_charset(response.encoding):
            return response
        return response.replace(encoding=decode_body(response.body)[0])


class RefreshMiddleware(MetaRefreshMiddleware):
    """Scrapy's middleware, but it ignores meta refreshes to invalid URLs.

    It also ignores those of pages with an invalid base URL. A page that people can read before it
    leads on, such as a slide, is a page, unless METAREFRESH_MAXDELAY is set: its text would be in
    no item. Scrapy decodes a whole page to search its beginning, so pages without the word
    `refresh` are passed on without that.
    """

    def __init__(self, settings: BaseSettings) -> None:
        super().__init__(settings)
        if not settings.getpriority("METAREFRESH_MAXDELAY"):
            self._maxdelay = _SHOWN

    def process_response(  # type: ignore[override]
        self, request: Request, response: Response, **others: Any
    ) -> Request | Response:
        """Return the request that the page leads to, or the response."""
        if isinstance(response, TextResponse) and not _may_refresh(response):
            return response
        try:
            return super().process_response(request, response, **others)
        except ValueError:
            return response


def _may_refresh(response: TextResponse) -> bool:
    """Whether the beginning of a page may have a meta refresh."""
    is_there = b"refresh" in response.body[:_BEGINNING].lower()
    return is_there or "refresh".encode(response.encoding) != b"refresh"  # as in UTF-16


# Path of a middleware of Scrapy → the class that replaces it.
_INSTEAD: Final[dict[str, type]] = {
    global_object_name(RobotsTxtMiddleware): RobotsMiddleware,
    global_object_name(MetaRefreshMiddleware): RefreshMiddleware,
    global_object_name(RetryMiddleware): RetryAfterMiddleware,
    global_object_name(ScrapyCookies): CookiesMiddleware,
}
# For every spider of a project.
COOKIES: Final[dict[Any, int | None]] = {
    global_object_name(ScrapyCookies): None,
    CookiesMiddleware: 700,
}
# The middleware at 590 decompresses the body; before that, its own charset cannot be read.
MIDDLEWARES: Final[dict[Any, int | None]] = {
    **dict.fromkeys(_INSTEAD),
    RobotsMiddleware: 100,
    CharsetMiddleware: 585,
    RefreshMiddleware: 580,
    RetryAfterMiddleware: 550,
    **COOKIES,
}


def added_to(
    own: Mapping[Any, int | None], added: Mapping[Any, int | None] = MIDDLEWARES
) -> dict[Any, int | None]:
    """The middlewares of a project together with those `added`.

    If the project moves or removes one of Scrapy's, that also holds for its replacement here.
    """
    found = {**added, **own}
    for key, place in own.items():
        instead = _INSTEAD.get(key if isinstance(key, str) else global_object_name(key))
        if instead in added and instead not in own:
            found |= {key: None, instead: place}
    return found
