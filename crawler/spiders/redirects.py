"""Redirects that come back to their URL, or add or remove a `www.`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy import Request

_ASKED_AGAIN = "site_asked_again"  # in the meta of a request: how many redirects led to it


class ReturningRedirects:
    """Lets requests pass Scrapy's dupefilter once if redirects led back to their URL.

    A URL that redirects to itself may have set a cookie first. So may the link of a page to which
    it redirects, such as one that asks for consent, and that link redirects to the URL again.
    Redirects from there are followed as usual.
    """

    def __init__(self) -> None:
        self._led_on: dict[int, bool] = {}  # hash of a URL that redirects → requested again

    def let_come_back(self, request: Request) -> None:
        """Let a request pass if it comes back to its URL for the first time."""
        came_from: list[str] = request.meta.get("redirect_urls", [])
        asked = request.meta.pop(_ASKED_AGAIN, 0)
        if asked:
            request.dont_filter = False
        is_own = came_from.count(request.url) == 1
        is_retried = asked == len(came_from) > 0
        if is_own or is_retried or self._comes_back(request.url, came_from):
            request.dont_filter, request.meta[_ASKED_AGAIN] = True, len(came_from)
        if is_own and request.meta["redirect_reasons"][-1] == "meta refresh":
            request.meta["dont_redirect"] = True  # the page reloads itself, as news pages do
        for url in came_from:
            self._led_on.setdefault(hash(url), False)

    def _comes_back(self, url: str, came_from: list[str]) -> bool:
        """Whether a URL that has redirected before is the target of another one's redirect."""
        if not came_from or url in came_from or self._led_on.get(hash(url), True):
            return False
        self._led_on[hash(url)] = True
        return True


def is_sibling(host: str, hosts: Iterable[str]) -> bool:
    """Whether a host is one of `hosts` except for a ``www.`` before it.

    >>> is_sibling("www.example.com", {"example.com"}), is_sibling("example.org", {"example.com"})
    (True, False)
    """
    return host.removeprefix("www.") in {known.removeprefix("www.") for known in hosts}
