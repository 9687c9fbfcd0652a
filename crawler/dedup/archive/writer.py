"""Fills the archive in a thread; it never holds up or stops a crawl."""

from __future__ import annotations

import json
import logging
import sqlite3
import time
from collections import deque
from collections.abc import Iterable
from functools import partial
from itertools import islice
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final, Self

from ..config import DedupConfig
from ..identity import identity
from ..verdict import Verdict
from .database import archive_path, create_archive

if TYPE_CHECKING:
    from ...zstd import zstd

logger = logging.getLogger(__name__)

# Limits for one page, which bound the size of the file.
_MOST_TEXT: Final = 50_000  # characters
MOST_BLOCKS: Final = 60  # blocks that were cut as chrome
_MOST_BLOCK: Final = 300  # characters
_MOST_TITLE: Final = 1000

_LEVEL: Final = 1  # takes three quarters of the time of 3, the usual one, for 2 % more bytes
_MOST_WAITING: Final = 1000  # pages that wait to be written; more are not archived
_BATCH: Final = 64  # pages of 14 values: SQLite before 3.32 takes 999 values
_SURPLUS: Final = 0.01  # share of the limit: trimming reads all pages that stay
# Seconds between two looks at the waiting pages. A thread that wakes for each page, or calls SQLite
# for it, takes Python's lock from the crawl each time.
_PAUSE: Final = 0.5
_LAST_MOMENT: Final = 10.0  # seconds that the end of a crawl waits for the last batch


class ArchiveWriter:
    """Writes pages in batches.

    If the disk is slower than the crawl, pages are left out; if it fails, one warning says so.
    Several processes can write to one file.
    """

    def __init__(self, path: Path, limit: int, *, canonical: bool = True) -> None:
        self._path = path
        self._limit = limit
        self._identity = partial(identity, canonical=canonical)
        self._waiting: deque[dict[str, Any]] = deque()
        self._many, self._ending = Event(), False
        self._thread = Thread(target=self._write_queued, name="dedup-archive", daemon=True)
        self._left_out = 0
        self._surplus = limit  # unknown: a killed process may have left too many pages
        self._warned = False
        self._packer = _make_packer()

    @classmethod
    def of(cls, config: DedupConfig, digest: str) -> Self | None:
        """The writer for the index with that name and digest.

        None if the settings want none, or the file cannot be opened.
        """
        if not config.archive:
            return None
        try:
            path = archive_path(config, digest)
            return cls(path, config.archive, canonical=config.canonical_urls)
        except ImportError as error:  # a Python that was built without Zstandard
            logger.warning(
                "Texts are not archived for reports: %s. DEDUP_ARCHIVE=0 turns the archive off",
                error,
            )
            return None

    def add(
        self, text: str, title: str, verdict: Verdict, cut: Iterable[tuple[str, str]] = ()
    ) -> None:
        """Add a page; `cut` are the texts and reasons of cut blocks. Never waits."""
        if len(self._waiting) >= _MOST_WAITING:
            self._left_out += 1
            return
        page = {
            "url": self._identity(verdict.url),
            "title": _drop_surrogates(title[:_MOST_TITLE]),
            "text": self._pack_text(text[:_MOST_TEXT]),
            "characters": len(text),
            "cut": self._pack_text(
                json.dumps([(block[:_MOST_BLOCK], why) for block, why in islice(cut, MOST_BLOCKS)])
            ),
            "kind": str(verdict.kind),
            "standing": str(verdict.standing),
            "duplicate_of": verdict.duplicate_of and self._identity(verdict.duplicate_of),
            "similarity": verdict.similarity,
            "low": verdict.low,
            "high": verdict.high,
            "cluster": verdict.cluster,
            "checked": time.time(),
        }
        if self._thread.ident is None:
            self._thread.start()
        self._waiting.append(page)
        if len(self._waiting) == _MOST_WAITING // 2:
            self._many.set()

    def close(self) -> None:
        """Write the waiting pages, for a limited time."""
        if self._thread.ident is None:
            return
        self._ending = True
        self._many.set()
        self._thread.join(_LAST_MOMENT)
        if self._thread.is_alive() or self._left_out:
            self.warn(f"the disk is slow: at least {self._left_out} pages are missing")

    def _write_queued(self) -> None:
        connection: sqlite3.Connection | None = None
        ended = False
        while not ended:
            self._many.wait(_PAUSE)
            self._many.clear()
            ended = self._ending  # read before the pages: no page is added after it is set
            while self._waiting:
                batch = [self._waiting.popleft() for _ in range(min(_BATCH, len(self._waiting)))]
                try:
                    connection = connection or create_archive(self._path)
                    self._write_batch(connection, batch)
                except Exception as error:  # a crawl does not need the archive
                    self.warn(str(error) or repr(error))  # no memory has no text
        if connection is not None:
            try:
                self._trim_pages(connection)
            except Exception as error:
                self.warn(str(error) or repr(error))
            connection.close()
            try:
                self._path.stat()
            except (FileNotFoundError, NotADirectoryError):
                self.warn("it was removed meanwhile")
            except OSError as error:
                self.warn(str(error))

    def _write_batch(self, connection: sqlite3.Connection, batch: list[dict[str, Any]]) -> None:
        places = ", ".join("?" for _ in (*batch[0], "used"))
        rows = ", ".join(f"({places})" for _ in batch)
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            used = connection.execute("SELECT coalesce(max(used), 0) FROM page").fetchone()[0]
            numbered = list(enumerate(batch, used + 1))
            connection.execute(
                f"INSERT OR REPLACE INTO page ({', '.join(batch[0])}, used) VALUES {rows}",
                [value for number, page in numbered for value in (*page.values(), number)],
            )
            for number, page in numbered:
                if page["duplicate_of"] is not None:
                    connection.execute(
                        "UPDATE page SET used = max(used, ?) WHERE url = ?",
                        [number, page["duplicate_of"]],
                    )
        self._surplus += len(batch)
        if self._surplus > _SURPLUS * self._limit:
            self._trim_pages(connection)

    def _trim_pages(self, connection: sqlite3.Connection) -> None:
        """Delete the least recently used pages beyond the limit."""
        self._surplus = 0
        connection.execute(
            "DELETE FROM page WHERE url IN "
            "(SELECT url FROM page ORDER BY used DESC LIMIT -1 OFFSET ?)",
            [self._limit],
        )

    def _pack_text(self, text: str) -> bytes:
        """Return a frame of Zstandard, which takes a third of zlib's time for 5 % more bytes."""
        return self._packer.compress(text.encode("utf-8", "replace"), self._packer.FLUSH_FRAME)

    def warn(self, reason: str) -> None:
        """Log once why pages are missing."""
        if not self._warned:
            self._warned = True
            logger.warning(
                "Texts are not archived for reports in %s: %s. DEDUP_ARCHIVE=0 turns the archive "
                "off",
                self._path,
                reason,
            )


def _make_packer() -> zstd.ZstdCompressor:
    from ...zstd import zstd

    parameters = zstd.CompressionParameter
    return zstd.ZstdCompressor(
        options={parameters.compression_level: _LEVEL, parameters.checksum_flag: 1}
    )


def _drop_surrogates(text: str) -> str:
    """Replace lone surrogates, which cannot be encoded, by question marks."""
    return text.encode("utf-8", "replace").decode()
