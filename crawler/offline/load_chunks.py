"""Fingerprints the records of files in processes, some chunks ahead of the caller."""

from __future__ import annotations

import asyncio
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator, Container, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import cycle
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import TYPE_CHECKING, NamedTuple

from ..dedup.errors import InputError
from ..dedup.exchange.requests import request_of
from ..dedup.fingerprint import Fingerprinter
from ..dedup.store.messages import CheckRequest, Crawl
from .ctrl_c import ctrl_c_held_back
from .records.files import DAMAGED, UNITS, File, Format, cut_pieces, known_format
from .records.input_pages import InputPage, InputReader, Left
from .records.input_records import Raw, read_records

if TYPE_CHECKING:
    from ..chrome.template.sites import Lesson
    from ..dedup.config import DedupConfig
    from ..dedup.index import DuplicateIndex

_CHUNK = 128  # records that a process is given at a time
_CHUNK_BYTES = 8 << 20
_WHOLE = 1 << 62  # bytes of a piece: files are read from their start to their end
_AHEAD = 4  # chunks for each process that wait or are worked on


class Batch(NamedTuple):
    """Some records of a file, which a process is given at a time."""

    path: str
    numbers: list[int]
    places: list[int]  # of the records in their file, as people count them
    raws: list[Raw]
    lessons: Sequence[tuple[str, Lesson]] = ()  # from pages that other processes have read


class Chunk(NamedTuple):
    """Pages that were fingerprinted together; ``fault`` is about the first unreadable record."""

    path: str
    last: int  # the number of its last record
    requests: list[CheckRequest]
    numbers: list[int]  # of the records of the requests
    unreadable: int
    left: Counter[Left]
    fault: str | None
    lessons: list[tuple[str, Lesson]]


class RecordSource:
    """The records of files after the number `after`, and the files that are damaged.

    With `only`, the records of these numbers.
    """

    def __init__(
        self,
        files: Sequence[File],
        config: DedupConfig,
        after: int,
        only: Container[int] | None = None,
    ) -> None:
        self._files = files
        self._config = config
        self._after = after
        self._only = only
        self.resumed = 0
        self.damaged: dict[str, str] = {}  # paths, and the problems with the files

    def read_batches(self) -> Iterator[Batch]:
        """Yield the records in batches."""
        for piece in cut_pieces(self._files, _WHOLE):
            is_lines, position = known_format(piece.path) is Format.JSONL, piece.number
            numbers: list[int] = []
            places: list[int] = []
            waiting: list[Raw] = []
            size = 0
            try:
                for count, (position, raw) in enumerate(read_records(piece, self._config), 1):
                    if position <= self._after:
                        self.resumed += 1
                        continue
                    if self._only is not None and position not in self._only:
                        continue
                    numbers.append(position)
                    # Lines are numbered by their first byte.
                    places.append(count if is_lines else position - piece.number + 1)
                    waiting.append(raw)
                    size += _length_of(raw)
                    if len(waiting) == _CHUNK or size > _CHUNK_BYTES:
                        yield Batch(piece.path, numbers, places, waiting)
                        numbers, places, waiting, size = [], [], [], 0
            except DAMAGED as error:
                self.damaged[piece.path] = str(error) or type(error).__name__
            if waiting:
                yield Batch(piece.path, numbers, places, waiting)


def _length_of(raw: Raw) -> int:
    """The approximate size of a record in bytes."""
    if isinstance(raw, bytes):
        return len(raw)
    return sum(len(cell) for cell in raw.values() if isinstance(cell, (str, bytes)))


class Processes:
    """Processes that take turns at batches, and tell each other what sites repeat.

    So each learns templates from all pages, and from the same ones when a load is repeated.
    """

    def __init__(self, pools: Sequence[ProcessPoolExecutor]) -> None:
        self._pools = pools
        self._lessons: list[list[tuple[str, Lesson]]] = [[] for _ in pools]

    async def prepare_ahead(self, batches: Iterator[Batch]) -> AsyncIterator[Chunk]:
        """Yield the chunks in order, and let the processes fingerprint some of them ahead."""
        waiting: list[tuple[int, Future[Chunk]]] = []
        for batch, turn in zip(batches, cycle(range(len(self._pools))), strict=False):
            lessons, self._lessons[turn] = self._lessons[turn], []
            with ctrl_c_held_back():  # a process that this may start could not handle it yet
                told = batch._replace(lessons=lessons)
                waiting.append((turn, self._pools[turn].submit(_make_requests, told)))
            if len(waiting) >= _AHEAD * len(self._pools):
                yield await self._take_chunk(*waiting.pop(0))
        for one in waiting:
            yield await self._take_chunk(*one)

    async def _take_chunk(self, turn: int, future: Future[Chunk]) -> Chunk:
        chunk = await asyncio.wrap_future(future)
        for other, lessons in enumerate(self._lessons):
            if other != turn:
                lessons.extend(chunk.lessons)
        return chunk._replace(lessons=[])


@contextmanager
def start_processes(processes: int, index: DuplicateIndex, crawl: Crawl) -> Iterator[Processes]:
    """Processes for the block; what has not begun at its end is cancelled."""
    pools = [
        ProcessPoolExecutor(
            1,
            mp_context=get_context("spawn"),
            initializer=_prepare_process,
            initargs=(index.config, index.seed, crawl, processes > 1),
        )
        for _ in range(processes)
    ]
    try:
        yield Processes(pools)
    except BrokenProcessPool as error:
        raise InputError(
            "a process that computes fingerprints was killed, perhaps for lack of "
            "memory: start the load again, and it resumes; if memory was short, with "
            f"fewer --processes than {processes}"
        ) from error
    finally:
        for pool in pools:
            pool.shutdown(cancel_futures=True)


_reader: InputReader
_fingerprinter: Fingerprinter
_crawl: Crawl


def _prepare_process(config: DedupConfig, seed: int, crawl: Crawl, has_others: bool) -> None:
    """Make the reader and the fingerprinter of a process, once."""
    global _reader, _fingerprinter, _crawl
    _crawl = crawl
    # A terminal sends Ctrl-C to all processes, but the parent process ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _reader, _fingerprinter = InputReader(config), Fingerprinter(config, seed)
    _reader.texts.lessons = [] if has_others else None
    # If the load is killed, its processes would wait for work for ever.
    Thread(target=_end_with_the_load, daemon=True).start()


def _end_with_the_load() -> None:
    load = parent_process()
    assert load is not None
    load.join()
    os._exit(1)


def _make_requests(batch: Batch) -> Chunk:
    kind = known_format(batch.path)
    _reader.texts.learn(batch.lessons)
    pages: list[InputPage] = []
    numbers: list[int] = []
    unreadable, fault = 0, None
    left: Counter[Left] = Counter()
    for number, place, raw in zip(batch.numbers, batch.places, batch.raws, strict=True):
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
            numbers.append(number)
    pages = [page.settled() for page in pages]
    _reader.texts.settle()
    fingerprints = _fingerprinter.many(page.text for page in pages)
    requests = [
        request_of(
            _reader.config,
            page.url,
            page.complete(fingerprint, _fingerprinter, _reader.config),
            canonical=page.canonical,
            date=page.date,
            fields=page.fields,
            crawl=_crawl,
        )._replace(is_cut=page.is_cut)
        for page, fingerprint in zip(pages, fingerprints, strict=True)
    ]
    last, lessons = batch.numbers[-1], _reader.texts.take_lessons()
    return Chunk(batch.path, last, requests, numbers, unreadable, left, fault, lessons)
