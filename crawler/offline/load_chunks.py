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
from .records.input_pages import Left, Page, PageReader
from .records.input_records import Raw, read_records

if TYPE_CHECKING:
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


class Chunk(NamedTuple):
    """Pages that were fingerprinted together; ``fault`` is about the first unreadable record."""

    path: str
    last: int  # the number of its last record
    requests: list[CheckRequest]
    numbers: list[int]  # of the records of the requests
    unreadable: int
    left: Counter[Left]
    fault: str | None


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


@contextmanager
def start_pools(
    processes: int, index: DuplicateIndex, crawl: Crawl
) -> Iterator[list[ProcessPoolExecutor]]:
    """Pools of one process each for the block; what has not begun at its end is cancelled."""
    pools = [
        ProcessPoolExecutor(
            1,
            mp_context=get_context("spawn"),
            initializer=_prepare_process,
            initargs=(index.config, index.seed, crawl),
        )
        for _ in range(processes)
    ]
    try:
        yield pools
    except BrokenProcessPool as error:
        raise InputError(
            "a process that computes fingerprints was killed, perhaps for lack of "
            "memory: start the load again, and it resumes; if memory was short, with "
            f"fewer --processes than {processes}"
        ) from error
    finally:
        for pool in pools:
            pool.shutdown(cancel_futures=True)


async def prepare_ahead(
    pools: Sequence[ProcessPoolExecutor], batches: Iterator[Batch]
) -> AsyncIterator[Chunk]:
    """Yield the chunks in order, and let the pools fingerprint some of them ahead.

    They take turns, so that each learns templates from the same pages when a load is repeated.
    """
    waiting: list[Future[Chunk]] = []
    for batch, pool in zip(batches, cycle(pools), strict=False):
        with ctrl_c_held_back():  # a process that this may start could not handle it yet
            waiting.append(pool.submit(_make_requests, batch))
        if len(waiting) >= _AHEAD * len(pools):
            yield await asyncio.wrap_future(waiting.pop(0))
    for future in waiting:
        yield await asyncio.wrap_future(future)


_reader: PageReader
_fingerprinter: Fingerprinter
_crawl: Crawl


def _prepare_process(config: DedupConfig, seed: int, crawl: Crawl) -> None:
    """Make the reader and the fingerprinter of a process, once."""
    global _reader, _fingerprinter, _crawl
    _crawl = crawl
    # A terminal sends Ctrl-C to all processes, but the parent process ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _reader, _fingerprinter = PageReader(config), Fingerprinter(config, seed)
    # If the load is killed, its processes would wait for work for ever.
    Thread(target=_end_with_the_load, daemon=True).start()


def _end_with_the_load() -> None:
    load = parent_process()
    assert load is not None
    load.join()
    os._exit(1)


def _make_requests(batch: Batch) -> Chunk:
    kind = known_format(batch.path)
    pages: list[Page] = []
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
    last = batch.numbers[-1]
    return Chunk(batch.path, last, requests, numbers, unreadable, left, fault)
