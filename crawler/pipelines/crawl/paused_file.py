"""A file in the JOBDIR that a paused crawl leaves to the process that continues it."""

from __future__ import annotations

import logging
import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.utils.job import job_dir

from ... import __version__

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)


class PausedFile:
    """A file of this name in the JOBDIR, if there is one.

    It is taken out as soon as the crawl goes on, so that a killed crawl has none.
    """

    def __init__(self, settings: BaseSettings, name: str) -> None:
        folder = job_dir(settings)
        self._path = Path(folder) / name if folder else None

    def take(self) -> Any:
        """Return what this version has saved, and remove the file; None if there is nothing."""
        if self._path is None or not self._path.exists():
            return None
        try:
            packed = self._path.read_bytes()
            self._path.unlink()
            # Scrapy's own queue in that folder is no safer.
            version, known = pickle.loads(packed)
            if version != __version__:
                raise ValueError(f"version {version} has written it")
        except Exception as error:
            logger.warning("Could not read %s of the paused crawl: %s", self._path, error)
            return None
        return known

    def save(self, known: Any) -> None:
        """Write what is known to the file."""
        if self._path is None:
            return
        try:
            self._path.write_bytes(pickle.dumps((__version__, known)))
        except Exception as error:
            logger.warning("Could not save what this crawl knows in %s: %s", self._path, error)
