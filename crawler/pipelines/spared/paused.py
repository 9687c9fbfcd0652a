"""Keeps what a crawl knows of its sites in its JOBDIR while it is paused."""

from __future__ import annotations

import logging
import pickle
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from scrapy.utils.job import job_dir
from scrapy.utils.request import request_from_dict

from ..crawl.job import SPARED
from .left_requests import LeftRequest

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.settings import BaseSettings

    from .site_course import SiteCourse
    from .site_exchange import SiteKey

logger = logging.getLogger(__name__)

_MOST_SITES: Final = 100


class PausedSites:
    """Keeps the latest sites of a crawl in its JOBDIR.

    There is no file while a crawl is under way, so one that is killed makes its requests again. If
    it is killed while it pauses, the next start deletes the file.
    """

    def __init__(self, settings: BaseSettings) -> None:
        folder = job_dir(settings)
        self._path = Path(folder) / SPARED if folder else None

    def take_sites(self, spider: Spider) -> dict[SiteKey, SiteCourse]:
        """Take the sites of a paused crawl out of the file; none if no crawl was paused."""
        if self._path is None or not self._path.exists():
            return {}
        try:
            # Scrapy's own queue in that folder is no safer.
            packed: dict[SiteKey, tuple[SiteCourse, list[Any]]] = pickle.loads(
                self._path.read_bytes()
            )
            self._path.unlink()
            for site, requests in packed.values():
                for request, *rest in requests:
                    with suppress(Exception):  # the spider may have other callbacks by now
                        found = request_from_dict(request, spider=spider)
                        site.left.add(LeftRequest(found, *rest))
        except Exception as error:  # written by another version
            logger.warning("Could not read what was spared before the pause: %s", error)
            return {}
        return {key: site for key, (site, _) in packed.items()}

    def save_sites(self, sites: Mapping[SiteKey, SiteCourse], spider: Spider) -> None:
        """Write the sites and their left requests to the file."""
        if self._path is None:
            return
        packed = {}
        for key, site in list(sites.items())[-_MOST_SITES:]:
            requests = []
            for one in site.left.all:
                with suppress(Exception):  # as in Scrapy's queue, callbacks have to be methods
                    requests.append((one.request.to_dict(spider=spider), *one[1:]))
            site.left.forget()
            site.note_landed()
            packed[key] = site, requests
        try:
            self._path.write_bytes(pickle.dumps(packed))
        except Exception as error:
            logger.warning("Could not save in JOBDIR what was spared: %s", error)
