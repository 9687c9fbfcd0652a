"""The texts of the last checked pages, in a file: the index itself holds no texts.

Decisions never depend on it. It lets people see what was dropped and why, and may be turned off
(``DEDUP_ARCHIVE=0``) or deleted at any time.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from ..config import DedupConfig
from ..errors import InputError
from ..identity import identity
from ..verdict import Kind, Verdict, time_of
from .database import SCHEMA, archive_path, explain_errors, open_existing

_MOST_VALUES: Final = 500  # in one statement
_ZSTD: Final = bytes.fromhex("28b52ffd")  # the first bytes of a frame
# The types are checked, because SQLite keeps values of any type in a column.
_COLUMNS: Final = {
    "url": str, "title": str, "text": bytes, "characters": int, "cut": bytes, "kind": str,
    "standing": str, "duplicate_of": str | None, "similarity": float | None, "low": float | None,
    "high": float | None, "cluster": int | None, "checked": float,
}  # fmt: skip


class CutBlock(NamedTuple):
    """A block that was cut from the main text, and the reason."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class ArchivedPage:
    """A page as of its last check.

    ``text`` is its main text, or the beginning of a longer one: ``characters`` is the length of the
    whole. ``cut`` are the first blocks that were cut.
    """

    url: str
    title: str
    text: str
    characters: int
    cut: tuple[CutBlock, ...]
    verdict: Verdict
    checked: datetime

    @property
    def is_whole(self) -> bool:
        """Whether ``text`` is all of the main text."""
        return self.characters <= len(self.text)


class Archive:
    """Reads an archive. Use :meth:`open`; methods raise :class:`InputError` for a damaged file."""

    def __init__(
        self, path: Path, connection: sqlite3.Connection, *, canonical: bool = True
    ) -> None:
        self._path = path
        self._connection = connection
        self._canonical = canonical

    @classmethod
    @contextmanager
    def open(cls, path: Path, *, canonical: bool = True) -> Iterator[Self]:
        """Open the archive in a file; a missing file is an archive without pages.

        `canonical` is ``DEDUP_CANONICAL_URLS`` of the index. Raises :class:`InputError` if the file
        cannot be read.
        """
        with explain_errors(path):
            connection = open_existing(path)
        if connection is None:
            connection = sqlite3.connect(":memory:")
            connection.executescript(SCHEMA)
        with closing(connection):
            yield cls(path, connection, canonical=canonical)

    @classmethod
    def of(cls, config: DedupConfig, digest: str | None = None) -> AbstractContextManager[Self]:
        """Open the archive of an index, see :meth:`open` and :func:`archive_path`."""
        return cls.open(archive_path(config, digest), canonical=config.canonical_urls)

    def whole_text(self, url: str) -> str:
        """The main text of a URL. Raises :class:`InputError` if it is not complete."""
        page = self.page(url)
        if page is None:
            raise InputError(f"the archive has no text of {url!r}")
        if not page.is_whole:
            raise InputError(f"the archive has only the beginning of {url!r}")
        return page.text

    def page(self, url: str) -> ArchivedPage | None:
        """The archived page of a URL, or None."""
        known = identity(url, canonical=self._canonical)
        query = f"SELECT {', '.join(_COLUMNS)} FROM page WHERE url = ?"
        with explain_errors(self._path):
            row = self._connection.execute(query, [known]).fetchone()
            return _make_page(row) if row else None

    def titles(self, urls: Sequence[str]) -> dict[str, str]:
        """The titles of the archived ones of `urls`, by URL."""
        known = {identity(url, canonical=self._canonical): url for url in urls}
        found: dict[str, str] = {}
        with explain_errors(self._path):
            for start in range(0, len(known), _MOST_VALUES):
                part = list(islice(known, start, start + _MOST_VALUES))
                places = ", ".join("?" for _ in part)
                query = f"SELECT url, CAST(title AS TEXT) FROM page WHERE url IN ({places})"
                rows = self._connection.execute(query, part)
                found |= {known[url]: title for url, title in rows}
        return found

    def search(self, words: str, count: int) -> list[str]:
        """Up to `count` URLs with these words in them or in their title, the latest first."""
        query = (
            "SELECT url FROM page WHERE instr(folded(url), ?1) OR instr(folded(title), ?1) "
            "ORDER BY used DESC LIMIT ?2"
        )
        with explain_errors(self._path):
            # SQLite's own lower() knows the letters of ASCII only.
            self._connection.create_function("folded", 1, str.casefold)
            rows = self._connection.execute(query, [words.casefold(), count])
            return [url for (url,) in rows]

    def __len__(self) -> int:
        with explain_errors(self._path):
            count: int = self._connection.execute("SELECT count(*) FROM page").fetchone()[0]
        return count


def _unpack_text(data: bytes) -> bytes:
    """Unpack data of `ArchiveWriter`, also of earlier versions, which used zlib."""
    if not data.startswith(_ZSTD):
        return zlib.decompress(data)
    from ...zstd import zstd

    try:
        return zstd.decompress(data)
    except zstd.ZstdError as error:
        raise ValueError(error) from None


def _make_page(row: Sequence[Any]) -> ArchivedPage:
    for value, (name, kind) in zip(row, _COLUMNS.items(), strict=True):
        if not isinstance(value, kind):
            raise ValueError(f"{name} of a page is {value!r:.60}")
    url, title, text, characters, cut, kind, standing, original, s, low, high, number, when = row
    return ArchivedPage(
        url=url,
        title=title,
        text=_unpack_text(text).decode("utf-8", "replace"),
        characters=characters,
        cut=_parse_blocks(_unpack_text(cut)),
        verdict=Verdict(
            kind=Kind(kind),
            url=url,
            duplicate_of=original,
            similarity=s,
            low=low,
            high=high,
            cluster=number,
            standing=Kind(standing),
        ),
        checked=time_of(when),
    )


def _parse_blocks(data: bytes) -> tuple[CutBlock, ...]:
    try:
        return tuple(CutBlock(*map(str, block)) for block in json.loads(data))
    except (TypeError, RecursionError) as error:
        raise ValueError(f"the blocks of a page are of another shape: {error}") from None
