"""Copies files without the dropped records."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Container, Iterator, Mapping
from typing import IO, TYPE_CHECKING

from .files import Format, Piece, known_format, open_input, up_to_damage
from .lines import json_in, split_lines
from .parquet import SIZE_FIELD, copy_rows
from .warc import find_dependents, open_whole, warc_records

if TYPE_CHECKING:
    from .outputs import Output


def copy_records(
    piece: Piece,
    dropped: Collection[int],
    output: Output,
    content: bytes | None = None,
    copies: Mapping[int, int] | None = None,
) -> int:
    """Write all records of a piece except those with the numbers `dropped`; return how many.

    WARC records that belong to a dropped one are dropped with it. The others are written unchanged.
    `copies` maps the numbers of records to the number of their copies; with it, rows and objects
    get a field ``cluster_size``. Lines or records behind damage are lost. Raises
    :class:`~.parquet.NothingReadable`, and writes nothing, for a file that is not Parquet.
    """
    offset = piece.number - piece.start
    kind = known_format(piece.path)
    written = 0
    dependent: set[int] = set()
    if kind is Format.WARC and dropped:
        with open_input(piece, content) as stream:
            dependent = find_dependents(stream, dropped, offset)
    with open_input(piece, content) as stream:
        if kind is Format.PARQUET:
            return copy_rows(stream, piece.number, dropped, output.stream, copies)
        if kind is Format.WARC:
            for file in _kept_in_warc(stream, {*dropped, *dependent}, offset):
                shutil.copyfileobj(file, output)
                output.end_member()
                written += 1
        else:
            for place, line in _readable_lines(stream, piece):
                if offset + place not in dropped:
                    if copies is not None:
                        line = _with_size(line, copies.get(offset + place, 0) + 1)
                    output.write(line)
                    written += 1
    return written


# Errors of the output are raised outside these generators: Arrow's, too, may have no number, and
# would seem to be damage of the input.
def _kept_in_warc(stream: IO[bytes], left_out: Container[int], offset: int) -> Iterator[IO[bytes]]:
    with up_to_damage():
        for place, record in warc_records(stream):
            if offset + place not in left_out:
                with open_whole(record) as file:
                    yield file


def _readable_lines(stream: IO[bytes], piece: Piece) -> Iterator[tuple[int, bytes]]:
    with up_to_damage():
        yield from split_lines(stream, piece)


def _with_size(line: bytes, size: int) -> bytes:
    """A line with the field ``cluster_size`` added, if the line is a JSON object."""
    try:
        if not isinstance(json_in(line), dict):
            return line
    except ValueError:
        return line
    body = line.rstrip()
    comma = b"" if body[:-1].rstrip().endswith(b"{") else b", "
    return b'%s%s"%s": %d}%s' % (body[:-1], comma, SIZE_FIELD.encode(), size, line[len(body) :])
