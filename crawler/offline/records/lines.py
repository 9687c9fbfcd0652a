"""The lines of a piece of a file, and the JSON in them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import IO, Any, Final

from .files import Piece, is_plain_lines

LIMIT: Final = 50 << 20  # bytes of a page, as for a fetched page
LINE: Final = 2 * LIMIT  # bytes of a line: JSON can write a byte in several


def split_lines(stream: IO[bytes], piece: Piece) -> Iterator[tuple[int, bytes]]:
    """Lines that begin in the piece, each with the place of its first byte.

    A line that is too long comes in parts.
    """
    place = 0
    if piece.start:
        # The line that begins before this piece belongs to the one before.
        place = stream.seek(piece.start - 1)
        place += _skip_line(stream)
    # A compressed file is one piece, whose end is not a place in its lines.
    end = piece.end if is_plain_lines(piece.path) else sys.maxsize
    line = b"\n"
    while (place < end or not line.endswith(b"\n")) and (line := stream.readline(LINE)):
        yield place, line
        place += len(line)


def _skip_line(stream: IO[bytes]) -> int:
    skipped = 0
    while part := stream.readline(LINE):
        skipped += len(part)
        if part.endswith(b"\n"):
            break
    return skipped


def json_in(line: bytes) -> Any:
    """The JSON value in a line, of which up to :data:`LINE` bytes were read; None if it is empty.

    Raises ValueError, with a short message, if the line is too long or not JSON.
    """
    if not line.strip():
        return None
    if len(line) == LINE and not line.endswith(b"\n"):
        raise ValueError(f"longer than {LINE >> 20} MB")
    try:
        return json.loads(line)
    except RecursionError:
        raise ValueError("not JSON that can be read: nested too deep") from None
    except ValueError as error:
        raise ValueError(f"not JSON: {error}") from None
