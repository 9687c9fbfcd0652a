"""Keeps what a crawl knows of its sites in its JOBDIR while it is paused."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from scrapy.utils.request import request_from_dict

from ..crawl.job import SPARED
from ..crawl.paused_file import PausedFile
from .left_requests import LeftRequest

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.settings import BaseSettings

    from .site_course import SiteCourse
    from .site_exchange import SiteKey

_MOST_SITES: Final = 100


class PausedSites:
    """Keeps the latest sites of a crawl in its JOBDIR.

    There is no file while a crawl is under way, so one that is killed makes its requests again. If
    it is killed while it pauses, the next start deletes the file.
    """

    def __init__(self, settings: BaseSettings) -> None:
        self._file = PausedFile(settings, SPARED)

    def take_sites(self, spider: Spider) -> dict[SiteKey, SiteCourse]:
        """Take the sites of a paused crawl out of the file; none if no crawl was paused."""
        packed: dict[SiteKey, tuple[SiteCourse, list[Any]]] = self._file.take() or {}
        for site, requests in packed.values():
            for request, *rest in requests:
                with suppress(Exception):  # the spider may have other callbacks by now
                    found = request_from_dict(request, spider=spider)
                    site.left.add(LeftRequest(found, *rest))
        return {key: site for key, (site, _) in packed.items()}

    def save_sites(self, sites: Mapping[SiteKey, SiteCourse], spider: Spider) -> None:
        """Write the sites and their left requests to the file."""
        packed = {}
        for key, site in list(sites.items())[-_MOST_SITES:]:
            requests = []
            for one in site.left.all:
                with suppress(Exception):  # as in Scrapy's queue, callbacks have to be methods
                    requests.append((one.request.to_dict(spider=spider), *one[1:]))
            site.left.forget()
            site.note_landed()
            packed[key] = site, requests
        self._file.save(packed)
