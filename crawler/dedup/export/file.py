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
from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

from ..errors import InputError
from ..fingerprint import EXACT_BYTES, NO_OWN
from ..identity import fetched_url, identity
from ..ranks import LONGEST_RANK
from ..sketches.anchors import are_stored
from ..store.layout import KINDS, NO_KEY
from ..store.records import COPIES, STANDING, PageRecord
from .no_export import see_that_it_is_export

FORMAT: Final = "scrapy-neardup index"
VERSION: Final = 1
_LEVEL: Final = 6  # of compression; sketches do not compress, URLs do
_CHUNK: Final = 1 << 18  # bytes read at once
_LARGEST: Final = 1 << 28  # bytes of a block's lines; an export has fewer
_LONGEST_URL: Final = 4096
_MOST_KEYS: Final = 224
_EARLIER_EXACT_BYTES: Final = 16
_END: Final = "end"

# Whole numbers of a record: name in the file → field and size in bytes.
_NUMBERS: Final = {
    "n": ("number", 4),
    "first": ("first_seen", 4),
    "seen": ("last_seen", 4),
    "words": ("words", 4),
    "level": ("level", 1),
    "sampled": ("sampled", 2),
    "odd_bits": ("odd_bits", 2),
    "of_sampled": ("other_sampled", 2),
    "gone": ("gone", 4),
    "replaces": ("replaces", 4),
}


class Block(NamedTuple):
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


def read_blocks(path: Path) -> Iterator[Block]:
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
                yield Block(None, rows[:1], end)
                return
            if last.get("block") != expected or (expected == -1 and len(rows) != 1):
                raise InputError(f"{where}: this is another block")
            whole.update(digest.encode())
            yield Block(expected, rows, end)
            if expected != -1:
                blocks += 1
                pages += len(rows)
            expected += 1
    raise InputError(f"{str(path)!r} ends before block {_name_block(expected)}: it is incomplete")


def read_header(path: Path, block: Block) -> dict[str, Any]:
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


def to_line(record: PageRecord) -> dict[str, Any]:
    """A record as a line of the file, without values that are 0 or empty."""
    numbers = {name: getattr(record, field) for name, (field, _) in _NUMBERS.items()}
    line: dict[str, Any] = {name: value for name, value in numbers.items() if value}
    line |= {"url": record.url, "standing": record.standing, "last": record.last}
    line["exact"] = record.exact.hex()
    if not record.is_kept:
        line["of"] = record.representative
    if record.fetched:
        line["fetched"] = record.fetched
    if any(record.canonical):
        line["canonical"] = record.canonical.hex()
    if record.rank:
        line["rank"] = record.rank.hex()
    if any(record.own):
        line["own"] = record.own.hex()
    if record.odd:
        line["bands"] = b64encode(record.bands).decode()
        line["odd"] = b64encode(record.odd).decode()
    if record.anchors:
        line["anchors"] = b64encode(record.anchors).decode()
    return line


def from_line(line: Any, odd_bytes: int) -> PageRecord:
    """The record in a line. Raises ValueError, which says what is wrong."""
    if not isinstance(line, dict):
        raise ValueError("no page")
    numbers = {}
    for name, (field, size) in _NUMBERS.items():
        value = line.get(name, 0)
        if type(value) is not int or not 0 <= value < 1 << 8 * size:
            raise ValueError(f"{name} is not a number of {size} bytes: {value!r}")
        numbers[field] = value
    standing, last, url = line.get("standing"), line.get("last"), line.get("url")
    if standing not in STANDING or last is None or last not in KINDS.values():
        raise ValueError(f"not a verdict: {standing!r}, {last!r}")
    if not isinstance(url, str) or len(url) > _LONGEST_URL:
        raise ValueError("has no URL")
    representative = line.get("of", 0) if standing in COPIES else numbers["number"]
    if type(representative) is not int or not 0 <= representative < 1 << 32:
        raise ValueError(f"of is not a number of 4 bytes: {representative!r}")
    exact = _parse_hex(line, "exact", EXACT_BYTES, _EARLIER_EXACT_BYTES)
    canonical = _parse_hex(line, "canonical", 4)
    bands, odd, anchors = (_parse_base64(line, name) for name in ("bands", "odd", "anchors"))
    if len(odd) not in (0, odd_bytes) or len(bands) % 4 or len(bands) > 4 * _MOST_KEYS:
        raise ValueError("its sketch has another size")
    if bool(odd) != (standing == "unique") or bool(bands) != bool(odd):
        raise ValueError(f"a page that is {standing} has another sketch")
    if not are_stored(anchors) or (anchors and not odd):
        raise ValueError("its anchors are invalid")
    return PageRecord(
        url=url,
        standing=standing,
        last=last,
        exact=exact,
        url_key=NO_KEY,  # the importing index computes it
        representative=representative,
        bands=bands,
        odd=odd,
        rank=_parse_rank(line),
        canonical=canonical,
        own=_parse_hex(line, "own", len(NO_OWN)),
        anchors=anchors,
        fetched=_parse_fetched(line, url),
        **numbers,
    )


def _parse_fetched(line: dict[str, Any], url: str) -> str:
    value = line.get("fetched", "")
    if not isinstance(value, str):
        raise ValueError("fetched is not text")
    # The URL of another page is not shown; another w3lib may have written it.
    is_same = len(value) <= _LONGEST_URL and identity(value, canonical=True) == url
    return fetched_url(value, url) if is_same else ""


def _parse_rank(line: dict[str, Any]) -> bytes:
    date = line.get("date", 0)  # the rank in files of earlier versions
    if type(date) is not int or not 0 <= date < 1 << 32:
        raise ValueError(f"date is not a number of 4 bytes: {date!r}")
    rank = line.get("rank", f"{date:08x}" if date else "")
    if not isinstance(rank, str) or len(found := bytes.fromhex(rank)) > LONGEST_RANK:
        raise ValueError("its rank is too long")
    return found


def _parse_hex(line: dict[str, Any], name: str, *sizes: int) -> bytes:
    """A hash of any of these `sizes`, cut to the first of them."""
    value = line.get(name, "00" * sizes[0])
    if not isinstance(value, str) or len(value) // 2 not in sizes:
        raise ValueError(f"{name} is not a hash of {sizes[0]} bytes")
    return bytes.fromhex(value)[: sizes[0]]


def _parse_base64(line: dict[str, Any], name: str) -> bytes:
    value = line.get(name, "")
    if not isinstance(value, str):
        raise ValueError(f"{name} is not text")
    return b64decode(value, validate=True)
