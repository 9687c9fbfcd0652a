"""Files of a corpus: which there are, what is in them, how they are opened and written."""

from __future__ import annotations

import glob
import gzip
import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, cast

from ..dedup.errors import InputError, MissingExtra

# A page's number is that of its file times 2 to this power plus its offset there, so that numbers
# follow the order of the input whoever reads what.
OFFSET_BITS: Final = 40
# Bytes that one task reads, at least and at most: a small file stays whole, a large one does not
# keep one task busy for long.
_SMALLEST, _LARGEST = 8 << 20, 64 << 20
_GZIP: Final = (".gz",)
_ZSTD: Final = (".zst", ".zstd")
# Addresses that Arrow writes to by itself. For hdfs:// it needs a library and Java besides.
_OF_ARROW: Final = ("s3://", "s3a://", "s3n://", "gs://", "abfs://", "abfss://")
_NAMES: Final = ".jsonl .jl .ndjson .json .parquet .warc .wet, also with .gz or .zst"


class Format(StrEnum):
    """What a file holds; a WET file of Common Crawl is a WARC file of texts."""

    JSONL = "jsonl"
    PARQUET = "parquet"
    WARC = "warc"


class File(NamedTuple):
    """A file of the input. ``changed`` is the time of its last change in ms since 1970."""

    path: str
    size: int
    changed: int


class Piece(NamedTuple):
    """What one task reads: the records that begin at `start` or later and before `end`.

    ``number`` is that of its first byte, as of a page: see :data:`OFFSET_BITS`; ``size`` is that of
    the whole file.
    """

    number: int
    path: str
    start: int
    end: int
    size: int

    @property
    def is_part(self) -> bool:
        """Whether it is less than its file."""
        return self.end - self.start < self.size


def format_of(path: str) -> Format | None:
    """What a file holds by its name, None if that says nothing.

    >>> format_of("s3a://bucket/CC-MAIN-2026.warc.wet.gz"), format_of("notes.txt")
    (<Format.WARC: 'warc'>, None)
    """
    name = re.sub(r"\.(gz|zst|zstd)$", "", path.lower())
    if name.endswith((".warc", ".wet")):
        return Format.WARC
    if name.endswith(".parquet"):
        return Format.PARQUET
    return Format.JSONL if name.endswith((".jsonl", ".jl", ".ndjson", ".json")) else None


def extra(module: str) -> Any:
    """A module that an extra brings; raises :class:`MissingExtra` if it is not installed."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra("reading this file", "spark", error) from None


def is_plain_lines(path: str) -> bool:
    """Whether a file holds lines as they are, so that one can begin to read in its middle."""
    return format_of(path) is Format.JSONL and not path.lower().endswith((*_GZIP, *_ZSTD))


def is_local(path: str) -> bool:
    """Whether a path is one of this machine's, and not an address as ``s3a://bucket/key``."""
    return "://" not in path


def local_files(pattern: str) -> list[File]:
    """The files that a path, a folder or a pattern names, in the order of their names.

    Of a folder those whose names say what they hold. Raises :class:`InputError` if there are none
    or if a file's name does not say what it holds.
    """
    path = Path(pattern)
    if path.is_dir():
        names = sorted(str(one) for one in path.rglob("*") if one.is_file())
        names = [name for name in names if format_of(name) and not _is_hidden(name, pattern)]
    else:
        names = [pattern] if path.exists() else sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207
    if not names:
        raise InputError(f"there is no file {pattern!r}")
    found = []
    for name in names:
        known_format(name)
        status = Path(name).stat()
        found.append(File(str(Path(name).absolute()), status.st_size, status.st_mtime_ns // 10**6))
    return found


def known_format(path: str) -> Format:
    """What a file holds by its name; raises :class:`InputError` if that says nothing."""
    found = format_of(path)
    if found is None:
        raise InputError(f"the name of {path!r} does not say what it holds; known: {_NAMES}")
    return found


def piece_size(files: Sequence[File]) -> int:
    """Bytes that one task reads. They follow from the files alone, so that runs cut them alike."""
    return min(_LARGEST, max(_SMALLEST, sum(file.size for file in files) // 64))


def pieces(files: Sequence[File], size: int) -> Iterator[Piece]:
    """The files, plain lines cut into parts of `size` bytes; others cannot be entered midway."""
    for ordinal, file in enumerate(files):
        step = size if is_plain_lines(file.path) else max(1, file.size)
        for start in range(0, max(1, file.size), step):
            number = (ordinal << OFFSET_BITS) + start
            end = min(start + step, file.size)
            yield Piece(number, file.path, start, end, file.size)


def open_input(piece: Piece, content: bytes | None = None) -> IO[bytes]:
    """A file's bytes, decompressed if they are lines; `content` holds them if they were fetched."""
    raw: IO[bytes]
    raw = io.BytesIO(content) if content is not None else Path(piece.path).open("rb")  # noqa: SIM115
    name = piece.path.lower()
    if format_of(name) is not Format.JSONL:  # the readers of others decompress by themselves
        return raw
    if name.endswith(_GZIP):
        return _Gunzipped(raw)
    if name.endswith(_ZSTD):
        decompressor = extra("zstandard").ZstdDecompressor()
        return io.BufferedReader(decompressor.stream_reader(raw, read_across_frames=True))
    return raw


class _Gunzipped(io.BufferedReader):
    """What a gzip file holds; it closes that file, too, which GzipFile does not."""

    def __init__(self, raw: IO[bytes]) -> None:
        super().__init__(cast(io.RawIOBase, gzip.GzipFile(fileobj=raw)))
        self._file = raw

    def close(self) -> None:
        """Close the stream and the file."""
        super().close()
        self._file.close()


class Output:
    """A file that is written whole or not at all, compressed as its name says.

    What is written between two calls of :meth:`end_member` can be decompressed by itself, as
    readers of WARC files expect of each record. ``stream`` takes what is not to be compressed.
    """

    def __init__(self, path: str, stream: IO[bytes]) -> None:
        self._path = path
        self.stream = stream
        self._member: Any = None

    def write(self, data: bytes) -> int:
        """Write bytes; compressed they may take less."""
        if self._member is None:
            self._member = self._open_member()
        self._member.write(data)
        return len(data)

    def flush(self) -> None:
        """Nothing: the file is not there before it is whole."""

    def end_member(self) -> None:
        """Let what comes next be decompressed by itself."""
        if self._member is not None and self._member is not self.stream:
            self._member.close()
        self._member = None

    def _open_member(self) -> Any:
        if self._path.lower().endswith(_GZIP):
            # No time and no name, so that the same pages give the same file.
            return gzip.GzipFile("", "wb", 6, self.stream, mtime=0)
        if self._path.lower().endswith(_ZSTD):
            return extra("zstandard").ZstdCompressor().stream_writer(self.stream, closefd=False)
        return self.stream


@contextmanager
def open_output(path: str, hadoop: str = "") -> Iterator[Output]:
    """A new file; it is there when the block has ended without an error.

    `hadoop` is the configuration for file systems that Arrow does not know, as ``hdfs://``.
    """
    if is_local(path):
        part = Path(f"{path}.{os.getpid()}.part")
        part.parent.mkdir(parents=True, exist_ok=True)
        try:
            with part.open("wb") as stream:
                output = Output(path, stream)
                yield output
                output.end_member()
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
        return
    if path.startswith(_OF_ARROW):
        system, name = extra("pyarrow.fs").FileSystem.from_uri(re.sub("^s3[an]://", "s3://", path))
        opened = system.open_output_stream(name, compression=None)
    else:
        from .hadoop import open_hadoop

        opened = open_hadoop(path, hadoop)
    with opened as stream:
        output = Output(path, stream)
        yield output
        output.end_member()


def bins(found: Iterable[Piece], size: int) -> list[list[Piece]]:
    """Neighbouring pieces together until they have `size` bytes: small files share a task."""
    result: list[list[Piece]] = []
    room = 0
    for piece in found:
        length = piece.end - piece.start
        if not result or room < length:
            result.append([])
            room = size
        result[-1].append(piece)
        room -= length
    return result


def _is_hidden(name: str, folder: str) -> bool:
    # Spark and Hadoop leave files such as _SUCCESS and .part-0.crc in folders.
    return any(part[0] in "._" for part in Path(name).relative_to(folder).parts)
