"""The file of an archive: opening, making, copying and clearing it."""

from __future__ import annotations

import os
import sqlite3
import time
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final
from urllib.parse import quote

from ..config import DedupConfig
from ..errors import InputError
from ..identity import identity
from ..private_files import make_private_folder, private_opener

_BUSY: Final = 10.0  # seconds to wait for another process that writes
_PAUSE: Final = 0.02  # seconds between two attempts where SQLite does not wait by itself
_VERSION: Final = 1
# `used` orders pages by their last use. A copy also uses its original, so that the two texts stay
# together. If the disk is full, nothing of the schema is made, and the version stays 0.
SCHEMA: Final = f"""
PRAGMA journal_mode = WAL;
BEGIN IMMEDIATE;
PRAGMA user_version = {_VERSION};
CREATE TABLE IF NOT EXISTS page (
    url TEXT PRIMARY KEY, used INTEGER NOT NULL, title TEXT NOT NULL, text BLOB NOT NULL,
    characters INTEGER NOT NULL, cut BLOB NOT NULL, kind TEXT NOT NULL, standing TEXT NOT NULL,
    duplicate_of TEXT, similarity REAL, low REAL, high REAL, cluster INTEGER, checked REAL NOT NULL
);
CREATE INDEX IF NOT EXISTS page_used ON page (used);
COMMIT;
"""


def archive_path(config: DedupConfig, digest: str | None = None) -> Path:
    """The file of the index that `config` names and whose parameters have the digest.

    Indexes with one name on several servers have separate files. Without a digest, for callers that
    have not opened the index, it is the file that was last written to.
    """
    if digest is not None:
        return config.data_dir / f"archive-{quote(config.namespace, safe='')}@{digest}.sqlite"
    found = list_archives(config)
    return max(found, key=_time_written) if found else archive_path(config, "none")


def list_archives(config: DedupConfig) -> list[Path]:
    """The files of all indexes with the name in `config`."""
    start = archive_path(config, "").stem
    with suppress(OSError):  # not Path.glob: a name may contain special characters
        return sorted(
            path
            for path in config.data_dir.iterdir()
            if path.suffix == ".sqlite" and path.stem.startswith(start)
        )
    return []


def _time_written(path: Path) -> float:
    times = [0.0]
    for file in (path, Path(f"{path}-wal")):
        with suppress(OSError):
            times.append(file.stat().st_mtime)
    return max(times)


def create_archive(path: Path) -> sqlite3.Connection:
    """Open an archive, and make it if it is missing.

    Raises :class:`sqlite3.Error`, and :class:`OSError` if its folder cannot be made.
    """
    make_private_folder(path.parent)
    os.close(private_opener(str(path), os.O_RDWR | os.O_CREAT))  # SQLite's journal copies the mode
    until = time.monotonic() + _BUSY
    connection = connect_file(path)
    while True:
        try:
            connection.executescript(SCHEMA)
            return connection
        except sqlite3.Error as error:
            # SQLite does not wait for a lock to change the journal mode: if processes make the file
            # at the same moment, all but one may fail.
            if _error_code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                connection.close()
                raise
            time.sleep(_PAUSE)


def forget_page(path: Path, url: str, *, canonical: bool = True) -> bool:
    """Remove a URL from an archive; False if it was not there.

    Raises :class:`InputError` if the file cannot be written.
    """
    with explain_errors(path, "written"):
        connection = open_existing(path)
        if connection is None:
            return False
        with closing(connection), connection:
            known = identity(url, canonical=canonical)
            return connection.execute("DELETE FROM page WHERE url = ?", [known]).rowcount > 0


def clear_archive(path: Path) -> None:
    """Remove an archive, even a damaged one; processes that have it open see no pages any more.

    Raises :class:`InputError` if the file cannot be written.
    """
    with explain_errors(path, "written"):
        try:
            connection = open_existing(path)
            if connection is not None:
                with closing(connection):
                    connection.execute("DELETE FROM page")
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):  # locked or read-only, not damaged
                raise
        # The journal first, so that it is not taken for the journal of a new file.
        for suffix in ("-wal", "-shm", ""):
            Path(f"{path}{suffix}").unlink(missing_ok=True)


def copy_archive(source: Path, target: Path) -> None:
    """Copy an archive over another; without a source, the target is removed.

    Raises :class:`InputError` if that fails.
    """
    with explain_errors(source, "copied"):
        connection = open_existing(source)
        if connection is not None:
            with closing(connection):
                target.unlink(missing_ok=True)
                os.close(private_opener(str(target), os.O_RDWR | os.O_CREAT))
                connection.execute("VACUUM INTO ?", [str(target)])
    if connection is None:
        clear_archive(target)  # it belonged to an earlier index of that name


def open_existing(path: Path) -> sqlite3.Connection | None:
    """Open an archive; None if the file is missing or has no schema yet."""
    connection = _open_readable(path) if path.is_file() else None
    if connection is not None and not _read_version(connection):
        connection.close()
        return None
    return connection


def _open_readable(path: Path) -> sqlite3.Connection:
    try:
        return connect_file(path)
    except sqlite3.OperationalError as error:
        # If no journal can be made beside the file, SQLite only reads it as immutable. It is, as
        # long as there is no journal.
        may_read = _error_code(error) in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
        if not may_read or Path(f"{path}-wal").exists():
            raise
        return connect_file(f"{path.absolute().as_uri()}?immutable=1")


def _error_code(error: sqlite3.Error) -> int:
    """SQLite's primary error code, without the extension."""
    return error.sqlite_errorcode & 0xFF


def _read_version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def connect_file(path: Path | str) -> sqlite3.Connection:
    """Open a file, or make an empty one; a str is a URI. Raises :class:`sqlite3.Error`."""
    uri = isinstance(path, str)
    connection = sqlite3.connect(path, timeout=_BUSY, isolation_level=None, uri=uri)
    try:
        if _read_version(connection) not in (0, _VERSION):
            raise sqlite3.DatabaseError("it was made by another version")
        # A power cut may cost the last pages, never the file.
        connection.execute("PRAGMA synchronous = NORMAL")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


@contextmanager
def explain_errors(path: Path, doing: str = "read") -> Iterator[None]:
    """Turn errors of the file into :class:`InputError`, which says what to do."""
    try:
        yield
    except (sqlite3.Error, OSError, ValueError, OverflowError, zlib.error) as error:
        raise InputError(
            f"the archive {str(path)!r} cannot be {doing} ({error}); close what else "
            "uses it, or delete it: you lose texts for reports, but no decisions"
        ) from None
