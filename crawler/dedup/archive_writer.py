"""Fills the archive of texts in a thread: it never holds up a crawl and never stops one."""

from __future__ import annotations

import json
import logging
import sqlite3
import time
import zlib
from collections.abc import Sequence
from pathlib import Path
from queue import Empty, Full, Queue
from threading import Thread
from typing import Any, Final, Self

from .archive import SCHEMA, archive_path, connect
from .config import DedupConfig
from .identity import identity
from .verdict import Verdict

__all__ = ["MOST_BLOCKS", "ArchiveWriter"]

logger = logging.getLogger(__name__)

# What one page may take, so that a file of so many pages has a bound.
_MOST_TEXT: Final = 50_000  # characters
MOST_BLOCKS: Final = 60  # cut as chrome, and how many characters of each
_MOST_BLOCK: Final = 300
_MOST_TITLE: Final = 1000

_MOST_WAITING: Final = 1000  # pages that wait to be written; more are not archived
_BATCH: Final = 64
_SURPLUS: Final = 0.01  # of the limit: finding what goes walks over all that stays
_PAUSE: Final = 0.5  # seconds after a batch, so that the next one is large
_LAST_MOMENT: Final = 10.0  # seconds that the end of a crawl waits for the last batch


class ArchiveWriter:
    """Writes pages in batches.

    When the disk is slower than the crawl, pages are left out; when it fails, a warning says so
    once. Several processes can write to one file.
    """

    def __init__(self, path: Path, limit: int, *, canonical: bool = True) -> None:
        self._path = path
        self._limit = limit
        self._canonical = canonical
        self._queue: Queue[dict[str, Any] | None] = Queue(_MOST_WAITING)
        self._thread = Thread(target=self._work, name="dedup-archive", daemon=True)
        self._left_out = 0
        self._surplus = 0
        self._warned = False

    @classmethod
    def of(cls, config: DedupConfig) -> Self | None:
        """The writer that the settings ask for, None if they ask for no archive."""
        if not config.archive:
            return None
        return cls(archive_path(config), config.archive, canonical=config.canonical_urls)

    def add(
        self, text: str, title: str, verdict: Verdict, cut: Sequence[tuple[str, str]] = ()
    ) -> None:
        """Note a page, `cut` being texts and reasons of the blocks left out; returns at once."""
        page = {
            "url": identity(verdict.url, canonical=self._canonical),
            "title": _sound(title[:_MOST_TITLE]),
            "text": text[:_MOST_TEXT],
            "characters": len(text),
            "cut": [(block[:_MOST_BLOCK], reason) for block, reason in cut[:MOST_BLOCKS]],
            "kind": str(verdict.kind),
            "standing": str(verdict.standing),
            "duplicate_of": verdict.duplicate_of,
            "similarity": verdict.similarity,
            "low": verdict.low,
            "high": verdict.high,
            "cluster": verdict.cluster,
            "checked": time.time(),
        }
        if self._thread.ident is None:
            self._thread.start()
        try:
            self._queue.put_nowait(page)
        except Full:
            self._left_out += 1

    def close(self) -> None:
        """Write what waits, for a bounded time."""
        if self._thread.ident is None:
            return
        deadline = time.monotonic() + _LAST_MOMENT
        try:
            self._queue.put(None, timeout=_LAST_MOMENT)
        except Full:
            pass
        else:
            self._thread.join(max(0.0, deadline - time.monotonic()))
        if self._thread.is_alive() or self._left_out:
            self.warn(f"the disk is slow: {self._left_out} pages or more are not in it")

    def _work(self) -> None:
        batch: list[dict[str, Any]] = []
        connection: sqlite3.Connection | None = None
        ended = False
        while not ended:
            ended = self._gather(batch)
            try:
                connection = connection or self._create()
                self._write(connection, batch, last=ended)
            except Exception as error:  # the archive is a help, a crawl needs none
                self.warn(str(error))
            batch.clear()
        if connection is not None:
            connection.close()

    def _gather(self, batch: list[dict[str, Any]]) -> bool:
        """Fill a batch; whether it is the last one."""
        until = time.monotonic() + _PAUSE
        while len(batch) < _BATCH:
            wait = max(0.0, until - time.monotonic()) if batch else None
            try:
                page = self._queue.get(timeout=wait)
            except Empty:
                break
            if page is None:
                return True
            batch.append(page)
        return False

    def _create(self) -> sqlite3.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        connection = connect(self._path)
        connection.executescript(SCHEMA)
        return connection

    def _write(
        self, connection: sqlite3.Connection, batch: list[dict[str, Any]], *, last: bool
    ) -> None:
        for page in batch:
            page["text"] = zlib.compress(page["text"].encode("utf-8", "replace"))
            page["cut"] = zlib.compress(json.dumps(page["cut"]).encode())
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            used = connection.execute("SELECT coalesce(max(used), 0) FROM page").fetchone()[0]
            for page in batch:
                if page["duplicate_of"] is not None:
                    used += 1
                    connection.execute(
                        "UPDATE page SET used = ? WHERE url = ?", [used, page["duplicate_of"]]
                    )
                used += 1
                places = ", ".join("?" for _ in page)
                connection.execute(
                    f"INSERT OR REPLACE INTO page ({', '.join(page)}, used) VALUES ({places}, ?)",
                    [*page.values(), used],
                )
            self._surplus += len(batch)
            if last or self._surplus > _SURPLUS * self._limit:
                self._surplus = 0
                connection.execute(
                    "DELETE FROM page WHERE url IN (SELECT url FROM page ORDER BY used DESC "
                    "LIMIT -1 OFFSET ?)",
                    [self._limit],
                )

    def warn(self, reason: str) -> None:
        """Say, once, why pages are missing."""
        if not self._warned:
            self._warned = True
            logger.warning(
                "Texts are not archived for reports in %s: %s. DEDUP_ARCHIVE 0 switches that off",
                self._path,
                reason,
            )


def _sound(text: str) -> str:
    """Without lone surrogates, which no file can hold."""
    return text.encode("utf-8", "replace").decode()
