"""The output files of a corpus, local or remote: written whole or not at all."""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final

from ...zstd import zstd
from .files import GZIP, ZSTD, import_extra, is_local
from .hadoop import open_hadoop

# URLs to which Arrow writes by itself. For hdfs:// it needs a library and Java as well.
_OF_ARROW: Final = ("s3://", "s3a://", "s3n://", "gs://", "abfs://", "abfss://")
_PART: Final = ".part"


class Output:
    """A file that is written whole or not at all, compressed as its name says.

    Data that is written between two calls of :meth:`end_member` can be decompressed by itself, as
    readers of WARC files expect of each record. ``stream`` takes data that is not compressed here.
    """

    def __init__(self, path: str, stream: IO[bytes]) -> None:
        self._path = path
        self.stream = stream
        self._member: Any = None

    def write(self, data: bytes) -> None:
        """Write bytes; compressed they may take less."""
        if self._member is None:
            self._member = self._open_member()
        self._member.write(data)

    def end_member(self) -> None:
        """End a compressed member: further data begins another one."""
        if self._member is not None and self._member is not self.stream:
            self._member.close()
        self._member = None

    def _open_member(self) -> Any:
        if self._path.lower().endswith(GZIP):
            # No time and no name, so that the same pages give the same file.
            return gzip.GzipFile("", "wb", 6, self.stream, mtime=0)
        if self._path.lower().endswith(ZSTD):
            return zstd.ZstdFile(self.stream, "wb")
        return self.stream


@contextmanager
def open_output(path: str, hadoop: str = "") -> Iterator[Output]:
    """Open a new file, which appears when the block ends without an error.

    `hadoop` is the configuration for file systems that Arrow does not know, such as ``hdfs://``.
    """
    if is_local(path):
        opened = _open_local(Path(path))
    elif path.startswith(_OF_ARROW):
        opened = _open_arrow(re.sub("^s3[an]://", "s3://", path))
    else:
        opened = open_hadoop(path, hadoop)
    with opened as stream:
        output = Output(path, stream)
        yield output
        output.end_member()


@contextmanager
def _open_local(path: Path) -> Iterator[IO[bytes]]:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Hidden, because a killed worker leaves it behind.
    part = path.with_name(f".{path.name}.{os.getpid()}{_PART}")
    try:
        with part.open("wb") as stream:
            yield stream
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def _open_arrow(url: str) -> Iterator[IO[bytes]]:
    system, name = import_extra("pyarrow.fs").FileSystem.from_uri(url)
    # If an error ends the stream, it leaves an object with the data written so far.
    part = name + _PART
    try:
        with system.open_output_stream(part, compression=None) as stream:
            yield stream
        system.move(part, name)
    except BaseException:
        with suppress(OSError):
            system.delete_file(part)
        raise


def remove_parts(folder: str) -> None:
    """Remove the unfinished files of killed workers from a local folder."""
    for part in Path(folder).glob(f".*{_PART}"):
        part.unlink(missing_ok=True)
