"""Files of a corpus: finds them, knows their formats, cuts and opens them."""

from __future__ import annotations

import glob
import io
import logging
import os
import re
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import StrEnum
from importlib import import_module
from pathlib import Path, PurePath
from typing import IO, Any, Final, NamedTuple, NoReturn, cast

from ...dedup.errors import InputError, MissingExtra
from ...wording import counted
from ...zstd import zstd
from .gzip_members import MemberReader

logger = logging.getLogger(__name__)

# A page's number is the number of its file times 2 to this power, plus its offset in the file. So
# numbers follow the order of the input, whichever task reads a page.
OFFSET_BITS: Final = 40
# Bytes that one task reads, at least and at most: a small file stays whole, a large one does not
# keep one task busy for long.
_SMALLEST, _LARGEST = 8 << 20, 64 << 20
_BEGINNING: Final = 4096  # bytes that tell an array from lines
GZIP: Final = (".gz",)
ZSTD: Final = (".zst", ".zstd")
# Errors of a file that cannot be read or decompressed, at all or to its end.
UNREADABLE: Final = (OSError, EOFError, zlib.error, zstd.ZstdError)
# Errors of a damaged file: Arrow raises ValueError for damaged Parquet, and the other for a codec
# that it was built without.
DAMAGED: Final = (*UNREADABLE, ValueError, NotImplementedError)
_NAMES: Final = ".parquet, or .jsonl .jl .ndjson .json .warc .wet, also with .gz or .zst"


class Format(StrEnum):
    """What a file holds; a WET file of Common Crawl is a WARC file of texts."""

    JSONL = "jsonl"
    PARQUET = "parquet"
    WARC = "warc"


# What a record of each format is called.
UNITS: Final = {Format.JSONL: "line", Format.PARQUET: "row", Format.WARC: "record"}


class File(NamedTuple):
    """A file of the input. ``changed`` is the time of its last change in ms since 1970."""

    path: str
    size: int
    changed: int


class Piece(NamedTuple):
    """The part of a file that one task reads: records that begin from `start` on, before `end`.

    ``number`` is the number of a page at its first byte, see :data:`OFFSET_BITS`. ``size`` is the
    size of the whole file.
    """

    number: int
    path: str
    start: int
    end: int
    size: int

    @property
    def is_part(self) -> bool:
        """Whether the piece is less than the whole file."""
        return self.end - self.start < self.size


def format_of(path: str) -> Format | None:
    """The format of a file by its name; None if unknown.

    >>> format_of("s3a://bucket/CC-MAIN-2026.warc.wet.gz"), format_of("a.parquet.gz")
    (<Format.WARC: 'warc'>, None)
    """
    if path.lower().endswith(".parquet"):  # compressed within, and read from its end
        return Format.PARQUET
    name = re.sub(r"\.(gz|zst|zstd)$", "", path.lower())
    if name.endswith((".warc", ".wet")):
        return Format.WARC
    return Format.JSONL if name.endswith((".jsonl", ".jl", ".ndjson", ".json")) else None


def import_extra(module: str) -> Any:
    """Import a module of an extra; raises :class:`MissingExtra` if it is not installed."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra("reading this file", "spark", error) from None


def is_plain_lines(path: str) -> bool:
    """Whether a file holds uncompressed lines, so that reading can begin in its middle."""
    return format_of(path) is Format.JSONL and not path.lower().endswith((*GZIP, *ZSTD))


def is_local(path: str) -> bool:
    """Whether a path is on this machine, and not a URL such as ``s3a://bucket/key``."""
    return "://" not in path


def local_files(pattern: str) -> list[File]:
    """The files that a path, a folder or a pattern names, in the order of their names.

    Of a folder, only files of known formats count. Raises :class:`InputError` if there are none, if
    a named file has an unknown format, or if it cannot be accessed.
    """
    try:
        return _local_files(pattern)
    except OSError as error:  # such as a broken link, or a folder of another user
        raise InputError(f"cannot read {str(error.filename)!r}: {error.strerror}") from None


def _local_files(pattern: str) -> list[File]:
    # A name may have the characters of a pattern.
    matches = [pattern] if Path(pattern).exists() else sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207
    if not matches:
        raise InputError(f"there is no file {pattern!r}")
    found = []
    for name in matches:
        for one in _list_folder(name) if Path(name).is_dir() else [name]:
            known_format(one)
            status = Path(one).stat()
            path = str(Path(one).absolute())
            found.append(File(path, status.st_size, status.st_mtime_ns // 10**6))
    return found


def _list_folder(folder: str) -> list[str]:
    """The files of known formats in a folder, also behind links, in the order of their names."""
    names: list[str] = []
    seen = {os.path.realpath(folder)}  # a link may lead back
    for base, folders, others in os.walk(folder, followlinks=True, onerror=_raise_error):
        shown = {os.path.realpath(f"{base}/{one}"): one for one in folders if not _is_hidden(one)}
        folders[:] = [one for real, one in shown.items() if real not in seen]
        seen.update(shown)
        paths = [Path(base, one) for one in others if not _is_hidden(one)]
        # A pipe would be waited for; a broken link is told of.
        names += [str(path) for path in paths if path.is_file() or not path.exists()]
    found = known_formats(folder, sorted(names))
    if not found:
        raise InputError(f"the folder {folder!r} holds no file of a known type: {_NAMES}")
    return found


def _raise_error(error: OSError) -> NoReturn:
    raise error


def known_formats(folder: str, names: Sequence[str]) -> list[str]:
    """The files in a folder whose names say what they hold; a warning tells of the others."""
    found = [name for name in names if format_of(name)]
    if others := [name for name in names if not format_of(name)]:
        files = counted(len(others), "file")
        example = PurePath(others[0]).name
        logger.warning("%r: %s not read, such as %r; known: %s", folder, files, example, _NAMES)
    return found


def known_format(path: str) -> Format:
    """The format of a file by its name; raises :class:`InputError` if unknown."""
    found = format_of(path)
    if found is None:
        raise InputError(f"the name of {path!r} does not say what it holds; known: {_NAMES}")
    return found


def piece_size(files: Sequence[File]) -> int:
    """The bytes that one task reads. They only depend on the files, so that all runs cut alike."""
    return min(_LARGEST, max(_SMALLEST, sum(file.size for file in files) // 64))


def cut_pieces(files: Sequence[File], size: int) -> Iterator[Piece]:
    """Cut files of plain lines into pieces of `size` bytes; other files stay whole."""
    for ordinal, file in enumerate(files):
        step = size if is_plain_lines(file.path) else max(1, file.size)
        for start in range(0, max(1, file.size), step):
            number = (ordinal << OFFSET_BITS) + start
            end = min(start + step, file.size)
            yield Piece(number, file.path, start, end, file.size)


def open_input(piece: Piece, content: bytes | None = None) -> IO[bytes]:
    """Open a file for its reader; `content` has the bytes if they were fetched."""
    kind = format_of(piece.path)
    if kind is Format.JSONL:
        return open_lines(piece.path, content)
    if kind is Format.WARC and piece.path.lower().endswith(GZIP):
        # Not buffered: a buffer would lose data that was read before an error.
        return cast(IO[bytes], MemberReader(_open_file(piece.path, content), lines=False))
    return _open_file(piece.path, content)  # FastWARC and Arrow decompress others by themselves


def open_lines(path: str, content: bytes | None = None) -> IO[bytes]:
    """Open a file of lines, or its `content`; it is decompressed if its name ends so.

    Reading raises one of :data:`UNREADABLE` where the file is damaged.
    """
    name = path.lower()
    if name.endswith(GZIP):
        return io.BufferedReader(MemberReader(_open_file(path, content), lines=True), 1 << 16)
    if name.endswith(ZSTD):
        source: Any = io.BytesIO(content) if content is not None else path
        return cast(IO[bytes], zstd.open(source))
    return _open_file(path, content)


def _open_file(path: str, content: bytes | None) -> IO[bytes]:
    return io.BytesIO(content) if content is not None else Path(path).open("rb")


def refuse_inside(out: str, patterns: Iterable[str]) -> None:
    """Raise :class:`InputError` if a folder of results lies in one of the input, or is one."""
    for folder in filter(is_local, patterns):
        if is_local(out) and Path(out).resolve().is_relative_to(Path(folder).resolve()):
            raise InputError(
                f"{out!r} is in the input {folder!r}, so its results would be input when "
                "you start the job again: name a folder beside it"
            )


def refuse_arrays(files: Iterable[File]) -> None:
    """Raise :class:`InputError` for a file that is named like JSON lines and holds an array.

    A file that cannot be read is skipped: the job itself reports how much of it can be read.
    """
    for file in files:
        if format_of(file.path) is Format.JSONL:
            with suppress(*UNREADABLE), open_lines(file.path) as stream:
                while block := stream.read(_BEGINNING).removeprefix(BOM_UTF8):
                    refuse_array(file.path, block)
                    if not block.isspace():
                        break


def refuse_array(path: str, beginning: bytes) -> None:
    """Raise :class:`InputError` if a file begins like an array, which Scrapy writes to .json."""
    if beginning.removeprefix(BOM_UTF8).lstrip().startswith(b"["):
        raise InputError(
            f"{path!r} is a JSON array: export JSON lines instead, as with -O feed.jsonl"
        )


def join_pieces(found: Iterable[Piece], size: int) -> list[list[Piece]]:
    """Join neighbouring pieces up to `size` bytes, so that small files share a task."""
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


def _is_hidden(name: str) -> bool:
    return name[0] in "._"  # Spark and Hadoop leave files such as _SUCCESS and .part-0.crc


@contextmanager
def up_to_damage() -> Iterator[None]:
    """Suppress the error of a damaged file, which ends the block early."""
    try:
        yield
    except DAMAGED as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the disk is full, or the file is gone
