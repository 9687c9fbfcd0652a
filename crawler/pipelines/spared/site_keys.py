"""Tells requests apart whose responses say nothing about each other, whatever their URLs are."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin

from scrapy.utils.request import RequestFingerprinter

from ...dedup.urls.parts import split_url
from .site_exchange import SiteKey

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

VARIANT: Final = "dedup_variant"
"""Key in the meta of a request: what a fingerprinter sees of it beside its URL."""
WANTED: Final = "dedup_wanted"
"""Key in the meta of a request: the URL whose page is wanted, whoever is asked for it."""


def wanted_url(request: Request) -> str:
    """The URL that a request was made for.

    A downloader middleware may turn it into a request to a service, such as Splash, which fetches
    the page. That has the same meta.
    """
    url: str = request.meta.get(WANTED, request.url)
    return url


class SiteKeys:
    """Finds the site and callback of a request, and its variant.

    A fingerprinter of the project may tell requests for one URL apart by their headers or cookies.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    def find_key(self, request: Request) -> SiteKey:
        """The key of the site that a request belongs to."""
        parts, callback = split_url(wanted_url(request)), request.callback
        while isinstance(callback, partial):
            callback = callback.func
        name, rule = getattr(callback, "__name__", ""), request.meta.get("rule")
        if name == "_callback" and rule is not None:  # a CrawlSpider has one for all its rules
            name += str(rule)
        return parts.site if parts is not None else "", name + self._find_variant(request)

    def _find_variant(self, request: Request) -> str:
        fingerprinter = self._crawler.request_fingerprinter
        if fingerprinter is None or type(fingerprinter) is RequestFingerprinter:
            return ""
        if VARIANT not in request.meta:  # later, middlewares add headers
            bare = request.replace(url=urljoin(request.url, "/"))
            request.meta[VARIANT] = f" {fingerprinter.fingerprint(bare).hex()}"
        variant: str = request.meta[VARIANT]
        return variant
