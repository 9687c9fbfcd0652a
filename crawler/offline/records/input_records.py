"""The records of files: lines, rows of Parquet, and responses of web archives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO, TYPE_CHECKING, Any, TypeAlias

from ...dedup.errors import InputError
from ...dedup.preference import list_criteria_fields
from .files import (
    File,
    Format,
    Piece,
    is_local,
    known_format,
    local_files,
    open_input,
    refuse_arrays,
)
from .lines import LIMIT, split_lines
from .parquet import refuse_columns, rows_in
from .warc import pages_in

if TYPE_CHECKING:
    from ...dedup.config import DedupConfig

# A line, the bytes of a WARC record, or the needed columns of a row of Parquet.
Raw: TypeAlias = bytes | dict[str, Any]


def read_records(
    piece: Piece, config: DedupConfig, content: bytes | None = None, *, is_copied: bool = False
) -> Iterator[tuple[int, Raw]]:
    """Yield the number and the content of each record of a piece.

    If records are to be copied, reading ends where copying would. Raises one of :data:`DAMAGED`
    where the file cannot be read further.
    """
    offset = piece.number - piece.start
    with open_input(piece, content) as stream:
        kind = known_format(piece.path)
        if kind is Format.WARC:
            found: Iterator[tuple[int, Raw]] = pages_in(stream, LIMIT)
        elif kind is Format.PARQUET:
            found = _read_rows(stream, config, is_copied=is_copied)
        else:
            found = _read_lines(stream, piece)
        for place, raw in found:
            yield offset + place, raw


def list_input(patterns: Iterable[str], config: DedupConfig) -> list[File | str]:
    """The local files that paths, folders and patterns name, each once, in their order.

    Patterns of other file systems stay as they are. Raises :class:`InputError` for a pattern
    without files, and for a file that cannot hold pages.
    """
    found: dict[File | str, None] = {}
    for pattern in patterns:
        path = pattern.removeprefix("file://")
        found.update(dict.fromkeys(local_files(path) if is_local(path) else [pattern]))
    files = [one for one in found if isinstance(one, File)]
    refuse_arrays(files)
    for file in files:
        if known_format(file.path) is Format.PARQUET:
            refuse_columns(file.path, config)
    return list(found)


def find_local_files(patterns: Iterable[str], config: DedupConfig) -> list[File]:
    """The files of :func:`list_input`; raises :class:`InputError` for a file that is not local."""
    files: list[File] = []
    for one in list_input(patterns, config):
        if isinstance(one, str):
            raise InputError(f"{one!r} is not on this machine: copy it here, or mount its folder")
        files.append(one)
    return files


def _read_lines(stream: IO[bytes], piece: Piece) -> Iterator[tuple[int, Raw]]:
    is_begin = True
    for place, part in split_lines(stream, piece):
        if is_begin:  # further parts belong to the same line
            yield place, part
        is_begin = part.endswith(b"\n")


def _read_rows(
    stream: IO[bytes], config: DedupConfig, *, is_copied: bool
) -> Iterator[tuple[int, Raw]]:
    names = {config.url_field, config.text_field, config.html_field}
    names |= {config.scope_field or config.url_field, *list_criteria_fields(config)}
    return rows_in(stream, names, {config.title_field}, is_copied=is_copied)
