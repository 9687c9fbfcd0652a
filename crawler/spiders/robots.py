"""What a site's robots.txt and ``X-Robots-Tag`` headers forbid."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from scrapy.exceptions import IgnoreRequest

from .. import chrome
from ..chrome.page.head import directives

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response
    from twisted.python.failure import Failure

# What is read of a robots.txt: RFC 9309, section 2.5, asks for 500 KiB. Each rule costs time at
# each request, on the event loop.
MOST_BYTES: Final = 500 * 1024
_AGENT = re.compile(r"\s*([a-z0-9_*-]+)\s*:\s*(?!//)", re.IGNORECASE)
# Directives with a value, which would be taken for names of robots.
_WITH_VALUE = ("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview")


def first_lines(body: bytes) -> bytes:
    """The whole lines of a robots.txt that are read: a cut line could forbid far more.

    >>> first_lines(b"Allow: /" + b"a" * MOST_BYTES + b"\\nDisallow: /")
    b''
    """
    if len(body) <= MOST_BYTES:
        return body
    body = body[:MOST_BYTES]
    return body[: max(body.rfind(b"\n"), body.rfind(b"\r")) + 1]


def header_directives(values: Iterable[str], agent: str) -> set[str]:
    """The directives for all robots or for ``agent``, in lower case.

    >>> sorted(header_directives(["NoIndex, nofollow", "otherbot: nosnippet"], "mybot"))
    ['nofollow', 'noindex']
    >>> header_directives(["mybot: none"], "MyBot")
    {'none'}
    >>> header_directives(["googlebot: noindex, mybot: nofollow"], "mybot")
    {'nofollow'}
    """
    found: set[str] = set()
    for value in values:
        meant = True  # joined by a proxy, headers address one robot after the other
        for part in value.split(","):
            name = _AGENT.match(part)
            if name and name[1].lower() not in _WITH_VALUE:
                meant = name[1].lower() in ("*", "robots", agent.lower())
                part = part[name.end() :]
            if meant:
                found.update(directives(part))
    return found


def read_robots(response: Response, document: chrome.Document | None, agent: str) -> chrome.Robots:
    """What the headers of a response and the tags of its page forbid ``agent`` to do."""
    values = [value.decode("latin-1") for value in response.headers.getlist(b"X-Robots-Tag")]
    words = header_directives(values, agent)
    tags = chrome.robots(document, agent) if document else chrome.Robots(False, False)
    none = "none" in words
    return chrome.Robots(
        tags.noindex or none or "noindex" in words, tags.nofollow or none or "nofollow" in words
    )


def product_token(user_agent: str) -> str:
    """The name by which robots.txt and robots tags address a crawler.

    >>> product_token("scrapy-neardup/0.1 (+https://example.com)")
    'scrapy-neardup'
    """
    return re.split(r"[/\s(]", user_agent.strip(), maxsplit=1)[0]


def is_forbidden(error: BaseException | None) -> bool:
    """Whether a request failed because robots.txt forbids it."""
    return isinstance(error, IgnoreRequest) and str(error).startswith("Forbidden by robots")


class RobotsFiles:
    """Tells existing robots.txt files from those with an error status.

    Scrapy also obeys a robots.txt with an error status, as during maintenance, which may be
    different tomorrow.
    """

    def __init__(self) -> None:
        self._errors: set[str] = set()  # hosts whose robots.txt had an error status

    def note_answer(self, response: Response, request: Request) -> None:
        """Note the response to any request, after redirects."""
        asked = urlsplit(request.meta.get("redirect_urls", [request.url])[0])
        if asked.path == "/robots.txt" and response.status >= 400:
            self._errors.add(asked.netloc)

    def forbid(self, failure: Failure) -> bool:
        """Whether a request failed because a robots.txt without an error status forbids it."""
        url: str = failure.request.url  # type: ignore[attr-defined]
        return is_forbidden(failure.value) and urlsplit(url).netloc not in self._errors
