"""Redirects that come back to their URL, or add or remove a `www.`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy import Request

_ASKED_AGAIN = "site_asked_again"  # in the meta of a request


def let_come_back(request: Request) -> None:
    """Let a request pass Scrapy's dupefilter once if redirects led back to its own URL.

    A page that redirects to itself may have set a cookie first, so it is requested once more.
    Redirects from there are followed as usual.
    """
    if request.meta.pop(_ASKED_AGAIN, False):
        request.dont_filter = False
    if request.meta.get("redirect_urls", []).count(request.url) == 1:
        request.dont_filter = request.meta[_ASKED_AGAIN] = True
        if request.meta["redirect_reasons"][-1] == "meta refresh":
            request.meta["dont_redirect"] = True  # the page reloads itself, as news pages do


def is_sibling(host: str, hosts: Iterable[str]) -> bool:
    """Whether a host is one of `hosts` except for a ``www.`` before it.

    >>> is_sibling("www.example.com", {"example.com"}), is_sibling("example.org", {"example.com"})
    (True, False)
    """
    return host.removeprefix("www.") in {known.removeprefix("www.") for known in hosts}
