"""The file that an index is exported to: compressed JSON lines, checked block by block.

The file is a row of gzip members, so that ``zcat`` reads all of it. Each member holds lines of
JSON; its last line has the number and the SHA-256 of the lines before it.
docs/reference/redis.md shows every field.

    header      format, version, what the index is, its parameters
    block 0 …   pages, one a line
    end         the index's counters, then the number of blocks and pages and one checksum for all

A writer may be killed at any time; the next one continues after the last whole block.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterator, Sequence
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

from ..errors import InputError
from ..store.records import PageRecord
from .no_export import see_that_it_is_export
from .page_lines import to_line

FORMAT: Final = "scrapy-neardup index"
VERSION: Final = 1
_LEVEL: Final = 6  # of compression; sketches do not compress, URLs do
_CHUNK: Final = 1 << 18  # bytes read at once
_LARGEST: Final = 1 << 28  # bytes of a block's lines; an export has fewer
_END: Final = "end"


class FileBlock(NamedTuple):
    """The lines of a member except the last, the number of the block (-1 for the header, None for
    the end), and the byte after it.
    """

    number: int | None
    lines: list[Any]
    end: int


class Writer:
    """Appends blocks to a file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._all = hashlib.sha256()
        self.blocks = 0
        self.pages = 0

    def resume_file(self, path: Path, header: dict[str, Any]) -> bool:
        """Find the last complete block after this very header, to continue; False without one."""
        end = 0
        try:
            for block in read_blocks(path):
                if (block.number == -1 and block.lines[0] != header) or block.number is None:
                    break
                if block.number != -1:
                    self.blocks += 1
                    self.pages += len(block.lines)
                self._note_lines(block.lines)
                end = block.end
        except InputError:  # the unfinished block of a killed writer
            pass
        self._file.truncate(end)
        self._file.seek(end)
        return end > 0

    def write_header(self, header: dict[str, Any]) -> None:
        """Begin the file."""
        self._write_lines([header], {"block": -1})

    def write_block(self, records: Sequence[PageRecord]) -> None:
        """Write the next pages."""
        self._write_lines([to_line(record) for record in records], {"block": self.blocks})
        self.blocks += 1
        self.pages += len(records)

    def write_end(self, counters: dict[str, Any]) -> None:
        """Write the counters and the checksum of all blocks."""
        whole = {"blocks": self.blocks, "pages": self.pages, "all": self._all.hexdigest()}
        self._write_lines([counters, whole], {"block": _END})

    def _write_lines(self, lines: list[Any], last: dict[str, Any]) -> None:
        digest = self._note_lines(lines)
        text = b"".join(
            map(_encode_line, [*lines, {**last, "lines": len(lines), "sha256": digest}])
        )
        packer = zlib.compressobj(_LEVEL, wbits=31)
        self._file.write(packer.compress(text) + packer.flush())
        self._file.flush()

    def _note_lines(self, lines: list[Any]) -> str:
        digest = hashlib.sha256(b"".join(map(_encode_line, lines))).hexdigest()
        self._all.update(digest.encode())
        return digest


def _encode_line(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def read_blocks(path: Path) -> Iterator[FileBlock]:
    """The blocks of a file, each checked; the end is the last.

    Raises :class:`InputError`, which names block and line, if the file is damaged or incomplete.
    """
    whole = hashlib.sha256()
    blocks = pages = 0
    expected = -1
    with _open_file(path) as file:
        if not path.is_file():
            raise InputError(f"{str(path)!r} is a pipe, and is read more than once: name a file")
        see_that_it_is_export(path, file.peek(_CHUNK), FORMAT)
        for start, end, text in _read_members(path, file):
            where = f"{str(path)!r}, block {_name_block(expected)} (from byte {start:,})"
            *rows, last = _parse_lines(where, text)
            digest = hashlib.sha256(text[: text.rstrip(b"\n").rfind(b"\n") + 1]).hexdigest()
            is_last = isinstance(last, dict)
            if not is_last or last.get("sha256") != digest or last.get("lines") != len(rows):
                raise InputError(f"{where}: its checksum is wrong; take another copy of the file")
            if last.get("block") == _END:
                said = {"blocks": blocks, "pages": pages, "all": whole.hexdigest()}
                if expected == -1 or len(rows) != 2 or rows[1] != said:
                    raise InputError(f"{where}: blocks are missing; take another copy of the file")
                if end != path.stat().st_size:
                    raise InputError(f"{str(path)!r} continues after its end (byte {end:,})")
                yield FileBlock(None, rows[:1], end)
                return
            if last.get("block") != expected or (expected == -1 and len(rows) != 1):
                raise InputError(f"{where}: this is another block")
            whole.update(digest.encode())
            yield FileBlock(expected, rows, end)
            if expected != -1:
                blocks += 1
                pages += len(rows)
            expected += 1
    raise InputError(f"{str(path)!r} ends before block {_name_block(expected)}: it is incomplete")


def read_header(path: Path, block: FileBlock) -> dict[str, Any]:
    """The header in a file's first block. Raises :class:`InputError` if there is none."""
    header = block.lines[0]
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise InputError(f"{str(path)!r} is not an exported index")
    if header.get("version") != VERSION:
        raise InputError(
            f"{str(path)!r} has version {header.get('version')!r} of the format, and this package "
            f"reads {VERSION}: install the package that wrote it, or a later one"
        )
    return header


def _open_file(path: Path) -> BufferedReader:
    try:
        return path.open("rb")
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r}: {error.strerror}") from None


def _name_block(number: int) -> str:
    return "header" if number == -1 else str(number)


def _read_members(path: Path, file: IO[bytes]) -> Iterator[tuple[int, int, bytes]]:
    """First byte, end and content of each gzip member."""
    start, rest = 0, b""
    while rest or (rest := file.read(_CHUNK)):
        unpacker = zlib.decompressobj(wbits=31)
        parts, size, taken = [], 0, 0
        while not unpacker.eof:
            try:
                part = unpacker.decompress(rest, _LARGEST - size + 1)
            except zlib.error as error:
                raise InputError(
                    f"{str(path)!r} is damaged from byte {start:,} on ({error}); take another copy"
                ) from None
            parts.append(part)
            size += len(part)
            if size > _LARGEST:
                raise InputError(f"{str(path)!r} is not an exported index: its lines are too long")
            taken += len(rest) - len(unpacker.unused_data)
            rest = unpacker.unused_data
            if not unpacker.eof and not (rest := file.read(_CHUNK)):
                raise InputError(f"{str(path)!r} ends within the block from byte {start:,} on")
        yield start, start + taken, b"".join(parts)
        start += taken


def _parse_lines(where: str, text: bytes) -> list[Any]:
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            found.append(json.loads(line))
            if b"\\ud" in line.lower():  # a lone surrogate cannot be encoded
                json.dumps(found[-1], ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            raise InputError(f"{where}, line {number}: not JSON; take another copy") from None
    return found or [None]
