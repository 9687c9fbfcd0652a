"""A mark of each crawl that runs on this machine: the next one tells the index how it ended."""

from __future__ import annotations

import fcntl
import logging
import os
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

from ...dedup.index import DuplicateIndex
from ...dedup.private_files import make_private_folder, private_opener
from ...dedup.store.messages import Crawl

logger = logging.getLogger(__name__)


class RunningMark:
    """A file in ``DEDUP_DATA_DIR`` that a crawl locks while it runs.

    The kernel unlocks the file of a killed process. The index alone would take a crawl that begins
    within seconds of the killed one for another worker of it. The file is empty, unless the crawl
    has ended while the server was away: then it holds the crawl's entry, since by now the index may
    know another crawl by its number.
    """

    def __init__(self, index: DuplicateIndex) -> None:
        self._index = index
        self._folder = index.config.data_dir
        self._start = f"running-{quote(index.config.namespace, safe='')}@{index.digest}-"
        self._entry = ""
        self._path: Path | None = None
        self._file: int | None = None

    async def report_past(self) -> None:
        """Tell the index which crawls were killed, or have ended: nobody locks their marks.

        Raises :class:`DedupError` if the index gives no answer; the marks stay.
        """
        for path in self._list_marks():
            with suppress(OSError, ValueError), path.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.fstat(file.fileno()).st_nlink:  # it may have ended since it was listed
                    number, start = path.name.removeprefix(self._start).split("-")
                    crawl = Crawl(int(number), int(start), entry=file.read().decode())
                    await self._index.settle_crawl(crawl, failed=not crawl.entry)
                    path.unlink()

    def _list_marks(self) -> list[Path]:
        with suppress(OSError):  # not Path.glob: a name may contain special characters
            paths = list(self._folder.iterdir())
            return [path for path in paths if path.name.startswith(self._start)]
        return []

    def hold(self, crawl: Crawl) -> None:
        """Mark a crawl as running until :meth:`release`, or until this process is killed."""
        path = self._folder / f"{self._start}{crawl.number}-{crawl.start}"
        new = self._folder / f"new-{os.getpid()}-{path.name}"  # locked before others can see it
        try:
            make_private_folder(self._folder)
            self._file = private_opener(str(new), os.O_WRONLY | os.O_CREAT)
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._path, self._entry = new.rename(path), crawl.entry
        except OSError as error:  # no locks, a full disk
            with suppress(OSError):
                new.unlink(missing_ok=True)
            logger.debug("Could not mark the crawl as running in DEDUP_DATA_DIR: %s", error)

    def release(self, *, is_told: bool = True, failed: bool = False) -> None:
        """Remove the mark, or leave it if the index could not be told how the crawl has ended."""
        with suppress(OSError):
            if self._path is not None and is_told:
                self._path.unlink()
            elif self._file is not None and not failed:
                os.write(self._file, self._entry.encode())
        if self._file is not None:
            os.close(self._file)
        self._path = self._file = None
