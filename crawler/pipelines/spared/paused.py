"""What a crawl that pauses in a JOBDIR knows of its sites, for when it goes on."""

from __future__ import annotations

import logging
import pickle
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from scrapy.utils.job import job_dir
from scrapy.utils.request import request_from_dict

from .left_requests import Left

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.settings import BaseSettings

    from .site_course import SiteCourse
    from .site_exchange import SiteKey

logger = logging.getLogger(__name__)

_FILE: Final = "dedup-spared.pickle"
_MOST_SITES: Final = 100


class PausedSites:
    """Keeps the sites of a crawl in its JOBDIR, of many the latest.

    The file is gone while a crawl is under way: one that is killed makes its requests again.
    """

    def __init__(self, settings: BaseSettings) -> None:
        folder = job_dir(settings)
        self._path = Path(folder) / _FILE if folder else None

    def take_sites(self, spider: Spider) -> dict[SiteKey, SiteCourse]:
        """Take out the sites that a crawl knew which was paused; none if there is no such crawl."""
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
                    with suppress(Exception):  # a spider that has other callbacks by now
                        found = request_from_dict(request, spider=spider)
                        site.left.all.append(Left(found, *rest))
        except Exception as error:  # of another version
            logger.warning("Could not read what was spared before the pause: %s", error)
            return {}
        return {key: site for key, (site, _) in packed.items()}

    def save_sites(self, sites: Mapping[SiteKey, SiteCourse], spider: Spider) -> None:
        """Keep what it takes to go on."""
        if self._path is None:
            return
        packed = {}
        for key, site in list(sites.items())[-_MOST_SITES:]:
            requests = []
            for one in site.left.all:
                with suppress(Exception):  # as Scrapy's queue: callbacks that are no methods
                    requests.append((one.request.to_dict(spider=spider), *one[1:]))
            site.left.forget()
            site.note_landed()
            packed[key] = site, requests
        try:
            self._path.write_bytes(pickle.dumps(packed))
        except Exception as error:
            logger.warning("Could not save in JOBDIR what was spared: %s", error)
