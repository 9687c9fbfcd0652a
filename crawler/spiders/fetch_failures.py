"""Pages that could not be fetched: they are counted, and a crawl without any page has failed."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import IgnoreRequest
from scrapy.spidermiddlewares.httperror import HttpError
from scrapy.utils.job import job_dir

from ..files import FILE_TYPES
from ..pipelines.spared.sparing import Spared
from ..pipelines.stopping import fail_at_end
from ..wording import shell_word
from .robots import is_forbidden

if TYPE_CHECKING:
    from collections.abc import Container

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

logger = logging.getLogger(__name__)

# This logger logs a traceback for each robots.txt that could not be fetched.
_TALKATIVE = "scrapy.downloadermiddlewares.robotstxt"

_WRAPPED = re.compile(r"\[<twisted\.python\.failure\.Failure [\w.]+: (.*)>\]")

_NO_TLS = "wrong version number"

_NOTHING_LEFT = (
    "Nothing is left to fetch in this JOBDIR: the crawl there has ended. Remove it, or name "
    "another one, to crawl again"
)
_NOTHING_SHARED = (
    "Nothing was left to fetch: other processes, or an earlier crawl of that name, have requested "
    "the URLs. To crawl again, give the crawl another name"
)

_TYPE = re.compile(r"[\w.+-]{1,60}/[\w.+-]{1,80}", re.ASCII)
_MOST_TYPES = 100  # media types that are counted by name


class FetchFailures:
    """Counts failures of a crawl; `starts` are the URLs it begins with."""

    def __init__(self, crawler: Crawler, starts: Container[str]) -> None:
        self.answered = False
        self._crawler = crawler
        self._starts = starts
        self._reasons: dict[str, str] = {}
        self._types: set[str] = set()
        self._was_known = False
        logging.getLogger(_TALKATIVE).addFilter(_one_line)
        crawler.signals.connect(self.note_dropped, signal=signals.request_dropped)
        crawler.signals.connect(self.tell_at_end, signal=signals.spider_closed)

    def note_failure(self, failure: Failure) -> None:
        """Count a page that could not be fetched, unless robots.txt forbids it."""
        error = failure.value
        request: Request = failure.request  # type: ignore[attr-defined]
        if isinstance(error, Spared):
            return
        reason = plain_reason(str(error)) or type(error).__name__
        if isinstance(error, HttpError):
            reason = f"HTTP {error.response.status}"
            self._count_failure(f"site/http_errors/{error.response.status}")
        elif isinstance(error, IgnoreRequest) and reason.startswith("max redirections"):
            self._count_failure("site/endless_redirects")
        elif not is_forbidden(error):
            self._count_failure(f"site/download_errors/{type(error).__name__}")
            logger.warning("Could not fetch %s: %s", request.url, reason)
        self.remember_reason(request, reason)

    def other_type(self, response: Response, kind: str) -> None:
        """Count a response that is not HTML, under its media type.

        The type comes from the server, ends up in statistics and on screens, and may vary
        endlessly.
        """
        kind = kind if _TYPE.fullmatch(kind) else "unknown"
        remedy = "; the extra `files` reads it" if kind in FILE_TYPES else ""
        self.remember_reason(response, f"{kind}, not HTML{remedy}")
        if len(self._types) < _MOST_TYPES:
            self._types.add(kind)
        self._count_failure(f"site/other_content_types/{kind if kind in self._types else 'others'}")

    def note_dropped(self, request: Request) -> None:
        """Count a redirect to a URL that was requested before; note a start URL."""
        came_from = request.meta.get("redirect_urls", [])
        if request.url in came_from:
            self._count_failure("site/endless_redirects")
            self.remember_reason(request, "redirects to itself")
        elif came_from:
            self._count_failure("site/known_redirects")
        elif request.url in self._starts:
            self._was_known = True

    def foreign_redirect(self, request: Request, host: str) -> None:
        """Count a redirect to another host; for a start URL, log how to crawl that host."""
        self._count_failure("site/foreign_redirects")
        start = request.meta["redirect_urls"][0]
        if start in self._starts:
            logger.warning(
                "%s redirects to another host; to crawl that one: -a url=%s",
                start,
                shell_word(request.url),
            )
            self.remember_reason(request, f"redirects to {host}")

    def tell_at_end(self, reason: str) -> None:
        """Log that no start page could be fetched, and why, and let the process fail."""
        if reason != "finished" or self.answered:
            return
        if self._reasons:
            said = "; ".join(f"{url}: {why}" for url, why in self._reasons.items())
            logger.error("No start page could be fetched: %s", said)
            fail_at_end(self._crawler)
        elif self._was_known:
            logger.warning(_NOTHING_LEFT if job_dir(self._crawler.settings) else _NOTHING_SHARED)

    def _count_failure(self, key: str) -> None:
        self._crawler.stats.inc_value(key)

    def remember_reason(self, asked: Request | Response, reason: str) -> None:
        """Note why a start URL gave no page."""
        url = asked.meta.get("redirect_urls", [asked.url])[0]
        if url in self._starts:
            self._reasons[url] = reason


def plain_reason(text: str) -> str:
    """The reason for a failed download, without the wrapping of Twisted.

    >>> lost = "[<twisted.python.failure.Failure twisted.web.X: The connection\\nwas closed.>]"
    >>> plain_reason(lost)
    'The connection was closed.'
    >>> plain_reason("[('SSL routines', '', 'wrong version number')]")
    "[('SSL routines', '', 'wrong version number')]; does the URL begin with http://?"
    """
    said = _WRAPPED.sub(r"\1", " ".join(text.split()))
    # OpenSSL's error for a server without TLS, such as a host that was given without http://.
    return f"{said}; does the URL begin with http://?" if _NO_TLS in said else said


def _one_line(record: logging.LogRecord) -> bool:
    record.exc_info = None
    return True
