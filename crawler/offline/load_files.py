"""Pages on disk into the live index: fingerprints in processes, exchanges full."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import replace
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Final, NamedTuple

from ..dedup.errors import InputError
from ..dedup.exchange.requests import make_token, request_of
from ..dedup.fingerprint import Fingerprinter
from ..dedup.identity import host
from ..dedup.private_files import make_private_folder, private_opener
from ..dedup.store.messages import Answer, CheckRequest, Crawl
from ..dedup.store.parameters import seed_digest
from .ctrl_c import ctrl_c_held_back
from .files import DAMAGED, UNITS, File, Format, cut_pieces, known_format
from .input_records import Left, Page, PageReader, Raw, read_records

if TYPE_CHECKING:
    from ..dedup.config import DedupConfig
    from ..dedup.index import DuplicateIndex

logger = logging.getLogger(__name__)

_CHUNK = 128  # records that a process is given at a time
_CHUNK_BYTES = 8 << 20
_WHOLE = 1 << 62  # bytes of a piece: files are read from their start to their end
_AHEAD = 4  # chunks for each process that wait or are worked on
_SAVED_EVERY = 5.0  # seconds


class Loaded(NamedTuple):
    """What was loaded: numbers of pages by verdict, and of records that could not be read.

    ``left`` are the records that are no pages, by the reason. ``damaged`` are the paths of files
    that end too early or cannot be read on, ``resumed`` is the number of records that were loaded
    by a run before, ``seconds`` the time that this one took.
    """

    verdicts: Counter[str]
    unreadable: int
    left: Counter[Left]
    damaged: list[str]
    resumed: int
    seconds: float


class Batch(NamedTuple):
    """Some records of a file, which a process is given at a time."""

    path: str
    last: int  # the number of its last record
    places: list[int]  # of the records in their file, as people count them
    raws: list[Raw]


class Chunk(NamedTuple):
    """Pages that were fingerprinted together; what is wrong with the first record that is none."""

    path: str
    last: int  # the number of its last record
    requests: list[CheckRequest]
    unreadable: int
    left: Counter[Left]
    fault: str | None


class Place(NamedTuple):
    """How far a load is: the number of the last record, a page before it, and when it began."""

    position: int
    url: str
    start: int


class Checkpoint:
    """How far the files were loaded, in a file beside the index's data until they all are.

    It counts for the same files, fields and index, and as long as that knows the last page that it
    names: an index that was cleared is loaded from the start. A load that goes on began when the
    one did that broke off: what that has seen is confirmed.
    """

    def __init__(self, path: Path, files: Sequence[File], index: DuplicateIndex) -> None:
        self._path = path
        config = index.config
        # Another index of that name, which a crawl has filled since, may know the page, too.
        known_by = [config.namespace, seed_digest(index.seed)]
        fields = [config.url_field, config.text_field, config.html_field]
        self._key = json.dumps([*known_by, *fields, *files])
        self._warned = False

    def read_place(self) -> Place | None:
        """How far a load was that broke off; None if there was none of these files."""
        with suppress(OSError, ValueError, TypeError, KeyError):
            found = json.loads(self._path.read_text(encoding="utf-8"))
            if found["files"] == self._key:
                return Place(int(found["position"]), str(found["url"]), int(found["start"]))
        return None

    def save_place(self, chunk: Chunk, crawl: Crawl) -> None:
        """Note that all is loaded up to the end of a chunk; warn once where that cannot be done."""
        if not chunk.requests:
            return
        position, url = chunk.last, chunk.requests[-1].url
        part = self._path.with_suffix(f".{os.getpid()}")
        found = {"files": self._key, **Place(position, url, crawl.start)._asdict()}
        try:
            make_private_folder(part.parent)
            with open(part, "w", encoding="utf-8", opener=private_opener) as file:
                json.dump(found, file)
            part.replace(self._path)
        except OSError as error:  # what is loaded is loaded
            if not self._warned:
                logger.warning("How far the load is cannot be noted: %s", error)
            self._warned = True

    def remove_file(self) -> None:
        """All is loaded: done again, the files are read from their start."""
        if self.read_place() is not None:  # else it is of other files
            with suppress(OSError):
                self._path.unlink()


class Unconfirmed:
    """Copies of records that nobody has confirmed, until they are decided again.

    Of very many the first are left as they were decided.
    """

    _MOST: Final = 10_000

    def __init__(self, index: DuplicateIndex) -> None:
        self._index = index
        self._hosts: set[str] = set()
        self._waiting: dict[str, tuple[CheckRequest, str]] = {}

    def note_answers(self, requests: Sequence[CheckRequest], answers: Sequence[Answer]) -> None:
        """Take in what pages of the load turned out to be."""
        for request, answer in zip(requests, answers, strict=True):
            if len(self._hosts) < self._MOST:
                self._hosts.add(request.host)
            self._waiting.pop(request.url, None)
            if answer.unconfirmed:
                self._waiting[request.url] = request, answer.kind
                if len(self._waiting) > self._MOST:
                    del self._waiting[next(iter(self._waiting))]

    async def settle_copies(self) -> Counter[str]:
        """Decide again about copies of pages that are not what they were, or did not come.

        What changes in the counts of verdicts. Records of hosts that the load does not have stand.
        """
        changes: Counter[str] = Counter()
        for url, original in (await self._index.originals(self._waiting)).items():
            of = host(original.url)
            if original.state == "confirmed" or (original.url and of not in self._hosts):
                continue
            request, kind = self._waiting[url]
            again = request._replace(token=make_token(self._index.crawl), final=(of,) if of else ())
            (answer,) = await self._index.store.check([again])
            if answer.kind != "repeated":
                changes.update({kind: -1, answer.kind: 1})
        return changes


async def load_files(
    index: DuplicateIndex,
    files: Sequence[File],
    checkpoint: Checkpoint,
    *,
    processes: int,
    report: Callable[[int, float], None],
    warn: Callable[[str], None],
) -> Loaded:
    """Check all pages of the files in order, so that the index knows them.

    `report` takes the pages so far and the seconds since the start, after each exchange; `warn` is
    told of each file the first record that cannot be read, and why its end cannot. What a load that
    broke off has loaded is passed over when it is started again, or found `unchanged`. A load is a
    crawl of its own: copies of records that turn out to be stale are decided again at its end, as
    many as :class:`Unconfirmed` holds. Raises :class:`ServerError` when the server gives no answer,
    :class:`InputError` when a process is killed.
    """
    start = saved = monotonic()
    verdicts: Counter[str] = Counter()
    unreadable = 0
    left: Counter[Left] = Counter()
    told: set[str] = set()
    PageReader(index.config)  # an extractor that is not there is an error here, not in processes
    place, crawl = await _find_place(index, checkpoint), await index.begin_crawl()
    if place is not None:
        crawl = await index.begin_crawl(crawl._replace(start=min(place.start, crawl.start)))
    source = _Source(files, index.config, place.position if place is not None else -1)
    unconfirmed = Unconfirmed(index)
    with _start_pool(processes, index, crawl) as pool:
        async for chunk in _prepare_ahead(pool, source.read_batches(), processes):
            unreadable += chunk.unreadable
            left.update(chunk.left)
            if chunk.fault is not None and chunk.path not in told:
                told.add(chunk.path)
                warn(chunk.fault)
            for begin in range(0, len(chunk.requests), index.store.exchange):
                requests = chunk.requests[begin : begin + index.store.exchange]
                answers = await index.store.check(requests)
                verdicts.update(answer.kind for answer in answers)
                unconfirmed.note_answers(requests, answers)
                report(verdicts.total(), monotonic() - start)
            if monotonic() - saved > _SAVED_EVERY:
                checkpoint.save_place(chunk, crawl)
                saved = monotonic()
    verdicts.update(await unconfirmed.settle_copies())
    await index.end_crawl()
    checkpoint.remove_file()
    for path, reason in source.damaged.items():
        warn(f"cannot be read to its end: {path}: {reason}")
    seconds = monotonic() - start
    return Loaded(verdicts, unreadable, left, list(source.damaged), source.resumed, seconds)


async def _find_place(index: DuplicateIndex, checkpoint: Checkpoint) -> Place | None:
    place = checkpoint.read_place()
    return place if place is not None and await index.show(place.url) is not None else None


@contextmanager
def _start_pool(
    processes: int, index: DuplicateIndex, crawl: Crawl
) -> Iterator[ProcessPoolExecutor]:
    """Processes for the block, which leaves behind what they have not begun."""
    pool = ProcessPoolExecutor(
        processes,
        mp_context=get_context("spawn"),
        initializer=_prepare_process,
        initargs=(index.config, index.seed, crawl),
    )
    try:
        yield pool
    except BrokenProcessPool as error:
        raise InputError(
            "a process that computes fingerprints was killed, as for lack of memory: start the "
            f"load again, with fewer --processes than {processes} if it was that; it goes on "
            "where it was"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


async def _prepare_ahead(
    pool: ProcessPoolExecutor, batches: Iterator[Batch], processes: int
) -> AsyncIterator[Chunk]:
    """The chunks in order as they are fingerprinted, some of them ahead."""
    waiting: list[Future[Chunk]] = []
    for batch in batches:
        with ctrl_c_held_back():  # this may start a process, which would not be ready for it
            waiting.append(pool.submit(_make_requests, batch))
        if len(waiting) >= _AHEAD * processes:
            yield await asyncio.wrap_future(waiting.pop(0))
    for future in waiting:
        yield await asyncio.wrap_future(future)


class _Source:
    """The records of files after the number `after`, and what could not be read of them."""

    def __init__(self, files: Sequence[File], config: DedupConfig, after: int) -> None:
        self._files = files
        self._config = config
        self._after = after
        self.resumed = 0
        self.damaged: dict[str, str] = {}  # paths, and what is wrong with the files

    def read_batches(self) -> Iterator[Batch]:
        """Some records at a time."""
        for piece in cut_pieces(self._files, _WHOLE):
            is_lines, position = known_format(piece.path) is Format.JSONL, piece.number
            places: list[int] = []
            waiting: list[Raw] = []
            size = 0
            try:
                for count, (position, raw) in enumerate(read_records(piece, self._config), 1):
                    if position <= self._after:
                        self.resumed += 1
                        continue
                    # Lines are numbered by their first byte.
                    places.append(count if is_lines else position - piece.number + 1)
                    waiting.append(raw)
                    size += _length_of(raw)
                    if len(waiting) == _CHUNK or size > _CHUNK_BYTES:
                        yield Batch(piece.path, position, places, waiting)
                        places, waiting, size = [], [], 0
            except DAMAGED as error:
                self.damaged[piece.path] = str(error) or type(error).__name__
            if waiting:
                yield Batch(piece.path, position, places, waiting)


def _length_of(raw: Raw) -> int:
    """About how many bytes a record takes."""
    if isinstance(raw, bytes):
        return len(raw)
    return sum(len(cell) for cell in raw.values() if isinstance(cell, (str, bytes)))


_reader: PageReader
_fingerprinter: Fingerprinter
_crawl: Crawl


def _prepare_process(config: DedupConfig, seed: int, crawl: Crawl) -> None:
    """Make what a process works with, once."""
    global _reader, _fingerprinter, _crawl
    _crawl = crawl
    # A terminal sends Ctrl-C to all processes; the one that started this one ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _reader, _fingerprinter = PageReader(config), Fingerprinter(config, seed)
    # Where the load is killed nobody tells its processes, which would wait for work for ever.
    Thread(target=_end_with_the_load, daemon=True).start()


def _end_with_the_load() -> None:
    load = parent_process()
    assert load is not None
    load.join()
    os._exit(1)


def _make_requests(batch: Batch) -> Chunk:
    kind = known_format(batch.path)
    pages: list[Page] = []
    unreadable, fault = 0, None
    left: Counter[Left] = Counter()
    for place, raw in zip(batch.places, batch.raws, strict=True):
        try:
            page = _reader(raw, kind)
        except ValueError as error:
            unreadable += 1
            fault = fault or f"{batch.path!r}, {UNITS[kind]} {place}: {error}"
            continue
        if isinstance(page, Left):
            left[page] += 1
        else:
            pages.append(page)
    fingerprints = _fingerprinter.many(page.text for page in pages)
    requests = [
        request_of(
            _reader.config,
            page.url,
            replace(fingerprint, own=page.own_fingerprint(_fingerprinter)),
            crawl=_crawl,
        )._replace(is_cut=page.is_cut)
        for page, fingerprint in zip(pages, fingerprints, strict=True)
    ]
    return Chunk(batch.path, batch.last, requests, unreadable, left, fault)
