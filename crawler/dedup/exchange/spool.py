"""A durable queue of unanswered requests: pages to check, and reports of gone URLs."""

from __future__ import annotations

import fcntl
import json
import logging
import os
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple, TypeAlias

from ...wording import counted
from ..fingerprint import EXACT_BYTES, NO_OWN, Fingerprint
from ..private_files import make_private_folder, private_opener
from ..sketches.odd import OddSketch
from ..store.messages import CheckRequest, Gone

logger = logging.getLogger(__name__)

_NAME = "unchecked"
_FILES: Final = f"{_NAME}*.jsonl"
_ASIDE: Final = f"{_NAME}.damaged"
_LONGEST_LINE: Final = 1 << 20  # those of requests are shorter by far
_LONGEST_TEXT: Final = 4096  # addresses that pages are known by, and hosts, are shorter by far
_TOKEN_BYTES: Final = 4


Kept: TypeAlias = CheckRequest | Gone


class Waiting(NamedTuple):
    """How many pages wait in a spool, and how many reports of addresses that are gone."""

    pages: int = 0
    gone: int = 0


class Spool:
    """Requests to check pages, and reports of gone ones, in a folder, one JSON object a line.

    All processes of a project share it.

    A request is kept with its token: if the server did decide about the page and only its answer
    was lost, asking again brings the same answer and counts nothing twice. `index` is its name and
    the digest of its parameters; requests of other indexes are left where they are. So are lines
    that are damaged, and those whose fingerprint is none that `fits` the index. Methods raise
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
        self._append(self._line(request) for request in requests)

    def set_aside(self) -> None:
        """Move what is no request of any index to another file, and say so, once therefore.

        A file that somebody else has written there would be read, and told of, at each end of a
        crawl. Lines as long as no request is are read in pieces.
        """
        if not any(_is_garbage(line) for path in self._files(_FILES) for line in _lines_of(path)):
            return
        moved = 0
        for file in self._claimed():
            with open(self.folder / _ASIDE, "ab", opener=private_opener) as aside:
                others: list[bytes] = []
                for line in _lines(file):
                    if _is_garbage(line):
                        aside.write(line)
                        moved += line.endswith(b"\n")
                    else:
                        others.append(line)
                self._append(others)
            Path(file.name).unlink()
        logger.warning(
            "%s in DEDUP_DATA_DIR, among the pages that wait to be checked, are no such pages: "
            "they are in %s now, which you can delete",
            counted(moved, "line"),
            self.folder / _ASIDE,
        )

    def count(self) -> tuple[Waiting, Waiting]:
        """What of this index waits, and what it cannot answer.

        That is of another index, or of one that has been deleted, or lines that are damaged, which
        count as pages.
        """
        found: Counter[tuple[bool, bool]] = Counter()
        for path in self._files(_FILES):
            # Another process may have worked it off meanwhile.
            with suppress(FileNotFoundError), path.open("rb") as file:
                for line in file:
                    request = self._request(line)
                    is_report = isinstance(request or _report(line), Gone)
                    found[request is not None, is_report] += 1
        own, others = (
            Waiting(found[is_own, False], found[is_own, True]) for is_own in (True, False)
        )
        return own, others

    def drain(self, limit: int) -> Generator[list[Kept]]:
        """Yield the requests of this index, up to `limit` at a time.

        A batch counts as done when the next one is asked for. When the iteration is left before its
        end, what is not done stays in the spool; so it does when the process is killed.
        """
        for file in self._claimed():
            others: list[bytes] = []
            batch: list[tuple[bytes, Kept]] = []
            try:
                for line in file:
                    request = self._request(line)
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
                self._append(chain(others, (line for line, _ in batch), file))
                Path(file.name).unlink()

    @classmethod
    def rename(cls, folder: Path, source: str, target: str) -> None:
        """Give the requests of the index that was named `source` to it as it is named now.

        Each file is changed as a whole: a full disk leaves no line twice or cut off.
        """
        spool = cls(folder, target)
        if spool._files(_FILES):
            for file in spool._claimed():
                part = Path(f"{file.name}.part")
                try:
                    with open(part, "wb", opener=private_opener) as renamed:
                        renamed.writelines(_renamed(line, source, target) for line in file)
                    part.replace(file.name)
                finally:
                    part.unlink(missing_ok=True)

    def _claimed(self) -> Iterator[BinaryIO]:
        """The files that no other process works on, each to be removed when it is worked off."""
        with self._locked():
            if self._path.exists() and self._path.stat().st_size:
                self._path.rename(self._free_name())
        for path in sorted(self._files(f"{_NAME}-*.jsonl")):
            with suppress(FileNotFoundError), path.open("rb") as file:
                try:  # another process may be at work on it, or done with it
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    continue
                if os.fstat(file.fileno()).st_nlink:
                    yield file

    def _files(self, pattern: str) -> list[Path]:
        # Not Path.glob, which finds nothing in a folder that may not be read.
        with suppress(FileNotFoundError, NotADirectoryError):
            return [path for path in self.folder.iterdir() if path.match(pattern)]
        return []

    def _append(self, lines: Iterable[bytes]) -> None:
        first = next(lines := iter(lines), None)
        if first is None:
            return
        with self._locked(), open(self._path, "a+b", opener=private_opener) as file:
            # Whoever was killed, or found the disk full, may have left a line without an end.
            if file.tell():
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    file.write(b"\n")
            for line in chain((first,), lines):
                file.write(line if line.endswith(b"\n") else line + b"\n")

    @contextmanager
    def _locked(self) -> Iterator[None]:
        # A file of its own: the spool itself is renamed under those who wait for it.
        with open(self.folder / f"{_NAME}.lock", "a", opener=private_opener) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _free_name(self) -> Path:
        taken = (self.folder / f"{_NAME}-{number}.jsonl" for number in range(1_000_000))
        return next(path for path in taken if not path.exists())

    def _line(self, request: Kept) -> bytes:
        if isinstance(request, Gone):
            report = {"index": self._index, "gone": request.url, "since": request.since}
            return json.dumps(report).encode() + b"\n"
        page = request.fingerprint
        record = {
            "index": self._index,
            "url": request.url,
            "host": request.host,
            "token": request.token.hex(),
            "exact": page.exact.hex(),
            "words": page.words,
            "bands": page.bands.hex(),
            "own": page.own.hex(),
            "odd": [[sketch.level, sketch.members, sketch.bits.hex()] for sketch in page.odd],
            "canonical": request.canonical,
            "yields": request.yields,
            "date": request.date,
            "preferred": request.preferred,
            "since": request.since,
            "crawl": request.crawl,
        }
        return json.dumps(record).encode() + b"\n"

    def _request(self, line: bytes) -> Kept | None:
        """What is kept in a line; None if it is of another index or damaged."""
        try:
            record: dict[str, Any] = json.loads(line)
            if record["index"] != self._index:
                return None
            if "gone" in record:
                return Gone(*_read(record, _REPORT))
            # Of a line of an earlier version.
            record = {"preferred": False, "since": 0, "own": NO_OWN.hex(), "crawl": 0} | record
            page = Fingerprint(*_read(record, _FINGERPRINT))
            url, host, token, *rest = _read(record, _REQUEST)
            (crawl,) = _read(record, {"crawl": _number(4)})
            request = CheckRequest(url, host, token, page, *rest)._replace(crawl=crawl)
            return request if self._fits(page) else None
        # Cut by a full disk, or changed by hand; kept for a person to see.
        except (ValueError, KeyError, TypeError, RecursionError):
            return None


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST_TEXT:
        raise ValueError
    value.encode()  # a lone surrogate is no text
    return value


def _number(size: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if type(value) is not int or not 0 <= value < 1 << 8 * size:
            raise ValueError
        return value

    return read


def _hash(size: int) -> Callable[[Any], bytes]:
    def read(value: Any) -> bytes:
        if len(found := bytes.fromhex(value)) != size:
            raise ValueError
        return found

    return read


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError
    return value


def _sketches(value: Any) -> tuple[OddSketch, ...]:
    if not isinstance(value, list):
        raise ValueError
    level, members = _number(1), _number(2)
    return tuple(OddSketch(level(a), members(b), bytes.fromhex(bits)) for a, b, bits in value)


_Fields: TypeAlias = dict[str, Callable[[Any], Any]]


def _read(record: dict[str, Any], fields: _Fields) -> list[Any]:
    return [read(record[name]) for name, read in fields.items()]


# What a line holds, in the order of the classes' own fields. A value that the server cannot take
# must not get there: it would hold up all the lines behind it.
_REPORT: Final[_Fields] = {"gone": _text, "since": _number(4)}
_FINGERPRINT: Final[_Fields] = {
    "exact": _hash(EXACT_BYTES),
    "words": _number(4),
    "bands": bytes.fromhex,
    "odd": _sketches,
    "own": _hash(len(NO_OWN)),
}
_REQUEST: Final[_Fields] = {
    "url": _text,
    "host": _text,
    "token": _hash(_TOKEN_BYTES),
    "canonical": _text,
    "yields": _boolean,
    "date": _number(4),
    "preferred": _boolean,
    "since": _number(4),
}


def _lines(file: BinaryIO) -> Iterator[bytes]:
    return iter(partial(file.readline, _LONGEST_LINE), b"")


def _lines_of(path: Path) -> Iterator[bytes]:
    with suppress(FileNotFoundError), path.open("rb") as file:  # another may have worked it off
        yield from _lines(file)


def _is_garbage(line: bytes) -> bool:
    """Whether a line is no request, of whatever index or version."""
    try:
        return not isinstance(json.loads(line)["index"], str)
    except (ValueError, KeyError, TypeError, RecursionError):
        return True


def _report(line: bytes) -> Gone | None:
    """The report in a line of any index; None if it holds none."""
    try:
        return Gone(*_read(json.loads(line), _REPORT))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _renamed(line: bytes, source: str, target: str) -> bytes:
    try:
        record = json.loads(line)
        name, _, digest = record["index"].partition(" ")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return line
    if name != source:
        return line
    return json.dumps(record | {"index": f"{target} {digest}"}).encode() + b"\n"
