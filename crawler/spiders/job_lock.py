"""One crawl at a time in a JOBDIR: two would damage each other's queues."""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.utils.job import job_dir

from ..dedup.errors import ConfigError

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

_NAME = "site.lock"


class JobLock:
    """Holds the JOBDIR of a crawl, if it has one, until the crawl or its process ends.

    Raises :class:`ConfigError` if another crawl holds it, or nobody can write there.
    """

    def __init__(self, crawler: Crawler) -> None:
        try:
            folder = job_dir(crawler.settings)
            if folder is None:
                return
            self._file = (Path(folder) / _NAME).open("a")
        except OSError as error:
            raise ConfigError(
                f"JOBDIR {crawler.settings['JOBDIR']} cannot hold the state of the crawl "
                f"({error.strerror or error}): choose a writable local folder"
            ) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise ConfigError(
                f"JOBDIR {folder}: another crawl uses it; wait for its end, or name another folder"
            ) from None
        except OSError:  # the file system has no locks
            pass
        # The engine of a crawl that could not begin is never stopped.
        for signal in signals.spider_closed, signals.engine_stopped:
            crawler.signals.connect(self.release, signal=signal)

    def release(self) -> None:
        """Release the JOBDIR for the next crawl."""
        self._file.close()
