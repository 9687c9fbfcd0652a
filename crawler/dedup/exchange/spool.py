"""A durable queue of unanswered requests: pages to check, and reports of gone URLs.

Text files and no database: what a full disk, a killed process or a damaged sector spoils is one
line, and people can read the others.
"""

from __future__ import annotations

import fcntl
import logging
import os
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from ...wording import counted
from ..fingerprint import Fingerprint
from ..private_files import make_private_folder, private_opener
from ..store.messages import CheckRequest, Gone
from .spool_lines import Kept, is_garbage, read_report, read_request, rename_index, write_line

logger = logging.getLogger(__name__)

_NAME = "unchecked"
_FILES: Final = f"{_NAME}*.jsonl"
_ASIDE: Final = f"{_NAME}.damaged"
_LONGEST_LINE: Final = 1 << 20  # bytes; requests are far shorter


class Waiting(NamedTuple):
    """The numbers of pages and of gone reports that wait in a spool."""

    pages: int = 0
    gone: int = 0


class Spool:
    """Requests to check pages, and reports of gone URLs, in a folder, one JSON object a line.

    All processes of a project share it. A request is stored with its token: if the server did
    decide about the page and only the answer was lost, sending it again gives the same answer and
    counts nothing twice. `index` is its name and the digest of its parameters. Requests of other
    indexes stay, and so do damaged lines and fingerprints that `fits` rejects. Methods raise
    :class:`OSError` as files do.
    """

    def __init__(
        self, folder: Path, index: str, fits: Callable[[Fingerprint], bool] = lambda page: True
    ) -> None:
        self.folder = folder
        self._fits = fits
        self._path = folder / f"{_NAME}.jsonl"
        self._index = index

    def add(self, requests: Iterable[Kept]) -> None:
        """Append requests."""
        make_private_folder(self.folder)
        self._append_lines(write_line(request, self._index) for request in requests)

    def set_aside(self) -> None:
        """Move lines that are no requests of any index to another file, and log that once.

        A foreign file in that place would otherwise be read, and logged, at each end of a crawl.
        Lines that are longer than any request are read in pieces.
        """
        if not any(
            is_garbage(line) for path in self._list_files(_FILES) for line in _read_file(path)
        ):
            return
        moved = 0
        for file in self._claim_files():
            with open(self.folder / _ASIDE, "ab", opener=private_opener) as aside:
                others: list[bytes] = []
                for line in _split_lines(file):
                    if is_garbage(line):
                        aside.write(line)
                        # A full disk leaves a line without an end.
                        moved += line.endswith(b"\n") or len(line) < _LONGEST_LINE
                    else:
                        others.append(line)
                self._append_lines(others)
            Path(file.name).unlink()
        logger.warning(
            "%s among the waiting pages in DEDUP_DATA_DIR hold no page: they are in "
            "%s now, which you can delete",
            counted(moved, "line"),
            self.folder / _ASIDE,
        )

    def count(self) -> tuple[Waiting, Waiting]:
        """Count the requests to this index, and the lines that it cannot answer.

        The latter are requests to other or deleted indexes, and damaged lines, which count as
        pages.
        """
        found: Counter[tuple[bool, bool]] = Counter()
        for path in self._list_files(_FILES):
            # Another process may have drained it meanwhile.
            with suppress(FileNotFoundError), path.open("rb") as file:
                for line in file:
                    request = self._read_own(line)
                    is_report = isinstance(request or read_report(line), Gone)
                    found[request is not None, is_report] += 1
        own, others = (
            Waiting(found[is_own, False], found[is_own, True]) for is_own in (True, False)
        )
        return own, others

    def drain(self, limit: int) -> Generator[list[Kept]]:
        """Yield the requests of this index, up to `limit` at a time.

        A batch counts as done when the next one is requested. If the iteration ends earlier, or the
        process is killed, the rest stays in the spool.
        """
        for file in self._claim_files():
            others: list[bytes] = []
            batch: list[tuple[bytes, Kept]] = []
            try:
                for line in file:
                    request = self._read_own(line)
                    if request is None:
                        others.append(line)
                        continue
                    batch.append((line, request))
                    if len(batch) == limit:
                        yield [request for _, request in batch]
                        batch.clear()
                if batch:
                    yield [request for _, request in batch]
                    batch.clear()
            finally:
                self._append_lines(chain(others, (line for line, _ in batch), file))
                Path(file.name).unlink()

    @classmethod
    def rename(cls, folder: Path, source: str, target: str) -> None:
        """Assign the requests of the index `source` to this index after a rename.

        Each file is replaced as a whole, so a full disk leaves no line twice or cut off.
        """
        spool = cls(folder, target)
        if spool._list_files(_FILES):
            for file in spool._claim_files():
                part = Path(f"{file.name}.part")
                try:
                    with open(part, "wb", opener=private_opener) as renamed:
                        renamed.writelines(rename_index(line, source, target) for line in file)
                    part.replace(file.name)
                finally:
                    part.unlink(missing_ok=True)

    def _claim_files(self) -> Iterator[BinaryIO]:
        """Yield the files that no other process drains; the caller removes each when it is done."""
        with self._hold_lock():
            if self._path.exists():
                self._path.rename(self._free_name())
        for path in sorted(self._list_files(f"{_NAME}-*.jsonl")):
            with suppress(FileNotFoundError), path.open("rb") as file:
                try:  # another process may be at work on it, or done with it
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    continue
                if os.fstat(file.fileno()).st_nlink:
                    yield file

    def _list_files(self, pattern: str) -> list[Path]:
        # Not Path.glob, which finds nothing in a folder that may not be read.
        with suppress(FileNotFoundError, NotADirectoryError):
            return [path for path in self.folder.iterdir() if path.match(pattern)]
        return []

    def _append_lines(self, lines: Iterable[bytes]) -> None:
        first = next(lines := iter(lines), None)
        if first is None:
            return
        with self._hold_lock(), open(self._path, "a+b", opener=private_opener) as file:
            # A killed process or a full disk may have left a line without an end.
            if file.tell():
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    file.write(b"\n")
            for line in chain((first,), lines):
                file.write(line if line.endswith(b"\n") else line + b"\n")

    @contextmanager
    def _hold_lock(self) -> Iterator[None]:
        # A separate file, because the spool is renamed while processes wait for the lock.
        with open(self.folder / f"{_NAME}.lock", "a", opener=private_opener) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _read_own(self, line: bytes) -> Kept | None:
        request = read_request(line, self._index)
        fits = not isinstance(request, CheckRequest) or self._fits(request.fingerprint)
        return request if fits else None

    def _free_name(self) -> Path:
        taken = (self.folder / f"{_NAME}-{number}.jsonl" for number in range(1_000_000))
        return next(path for path in taken if not path.exists())


def _split_lines(file: BinaryIO) -> Iterator[bytes]:
    return iter(partial(file.readline, _LONGEST_LINE), b"")


def _read_file(path: Path) -> Iterator[bytes]:
    with suppress(FileNotFoundError), path.open("rb") as file:  # another process may drain it
        yield from _split_lines(file)
