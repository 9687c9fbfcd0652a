"""The text of a file, read in a separate process with limited time and memory.

A hostile file may take hours or all memory, or crash the library that reads it. Then only that
process ends.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import BoundedSemaphore
from typing import Final, NamedTuple

SECONDS: Final = 30.0  # until the process is ended, its start included
_PROCESSES: Final = BoundedSemaphore(2)  # each process may take a gigabyte
_WITHIN: Final = 1024  # bytes in which a PDF may begin
_PACKED: Final = b"PK\x03\x04"  # Word and EPUB are archives
_PROGRAM: Final = Path(__file__).with_name("file_text.py")
FILE_TYPES: Final = frozenset(
    {
        "application/pdf",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "application/epub+zip",
    }
)


class FileError(Exception):
    """A file has no readable text; the message says why in a few words."""


class FileText(NamedTuple):
    """The text of a file, one paragraph a line, and its title, which may be empty."""

    text: str
    title: str


@cache
def can_read_files() -> bool:
    """Return whether the libraries of the extra `files` are installed."""
    return all(map(find_spec, ("pypdfium2", "mammoth")))


def is_file(data: bytes) -> bool:
    """Return whether bytes are a PDF, or an archive such as Word and EPUB files.

    >>> is_file(b"%PDF-1.7"), is_file(b"<html>%PDF-</html>"), is_file("Straße".encode())
    (True, False, False)
    """
    head = data[:_WITHIN].lstrip()
    return head.startswith((b"%PDF-", _PACKED))


def read_file(data: bytes, *, seconds: float = SECONDS) -> FileText:
    """Return the text of a PDF, Word or EPUB file; waits for a process, so call it in a thread.

    Raises
    ------
    FileError
        If the file is none of these, is damaged, encrypted or without text, or takes more than
        `seconds`, 1 GB of memory or 2,000 pages.
    """
    command = [sys.executable, "-P", str(_PROGRAM), str(math.ceil(seconds))]
    try:
        with _PROCESSES:
            run = subprocess.run(
                command, input=data, capture_output=True, timeout=seconds, check=False
            )
    except subprocess.TimeoutExpired:
        raise FileError(f"it takes more than {seconds:g} seconds") from None
    try:
        found = json.loads(run.stdout)
    except ValueError:
        raise FileError("it takes too much memory, or the library fails with it") from None
    if "error" in found:
        raise FileError(found["error"])
    return FileText(found["text"], found["title"])
