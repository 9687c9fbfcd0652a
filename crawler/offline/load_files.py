"""Loads pages on disk into the index: fingerprints come from processes, exchanges are full."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from .checkpoint import Checkpoint, LoadPlace
from .doubtful_pages import DoubtfulPages
from .load_chunks import RecordSource, start_processes
from .records.files import File
from .records.input_pages import InputReader, Left

if TYPE_CHECKING:
    from ..dedup.index import DuplicateIndex

_SAVED_EVERY = 5.0  # seconds


class Loaded(NamedTuple):
    """The result of a load: numbers of pages by verdict, and of unreadable records.

    ``left`` counts the records that are not pages, by reason. ``damaged`` are the paths of files
    that could not be read to their end. ``resumed`` counts the records that an interrupted load had
    loaded, and ``seconds`` is the duration of this load.
    """

    verdicts: Counter[str]
    unreadable: int
    left: Counter[Left]
    damaged: list[str]
    resumed: int
    seconds: float


async def load_files(
    index: DuplicateIndex,
    files: Sequence[File],
    checkpoint: Checkpoint,
    *,
    processes: int,
    report: Callable[[str], None],
    warn: Callable[[str], None],
) -> Loaded:
    """Check all pages of the files in order, so that the index knows them.

    `report` is called after each exchange with a line that says how far the load is. `warn` is
    called with the first unreadable record of each file, and with the reason if a file cannot be
    read to its end. Records of an interrupted load are skipped, or found ``unchanged``.

    A load is a crawl of its own: copies are decided again at its end that have lost their originals
    or whose own words were a note of their site, also those of an interrupted load, as many as
    :class:`DoubtfulPages` holds. Raises :class:`ServerError` if the server gives no
    answer, and :class:`InputError` if a process is killed.
    """
    start = saved = monotonic()
    verdicts: Counter[str] = Counter()
    unreadable = 0
    left: Counter[Left] = Counter()
    told: set[str] = set()
    InputReader(index.config)  # a missing extractor is an error here, not in the processes
    place, crawl = await _find_place(index, checkpoint), await index.begin_crawl()
    # What it keeps is for the index alone: nothing is lost if it does not end.
    await index.end_crawl()
    if place is not None:
        crawl = crawl._replace(start=min(place.start, crawl.start))
    index.crawl = crawl
    source = RecordSource(files, index.config, place.position if place is not None else -1)
    doubtful = DoubtfulPages(index, place.copies if place is not None else ())
    with start_processes(processes, index, crawl) as started:
        async for chunk in started.prepare_ahead(source.read_batches()):
            unreadable += chunk.unreadable
            left.update(chunk.left)
            if chunk.fault is not None and chunk.path not in told:
                told.add(chunk.path)
                warn(chunk.fault)
            for begin in range(0, len(chunk.requests), index.store.exchange):
                requests = chunk.requests[begin : begin + index.store.exchange]
                numbers = chunk.numbers[begin : begin + index.store.exchange]
                answers = await index.store.check(requests)
                verdicts.update(answer.kind for answer in answers)
                doubtful.note_answers(requests, numbers, answers)
                rate = verdicts.total() / (monotonic() - start)
                report(f"{verdicts.total():,} pages · {rate:,.0f} pages/s")
            if monotonic() - saved > _SAVED_EVERY:
                checkpoint.save_place(chunk, crawl, doubtful.numbers)
                saved = monotonic()
        if wanted := doubtful.list_doubtful():
            again, read = RecordSource(files, index.config, -1, wanted), 0
            async for chunk in started.prepare_ahead(again.read_batches()):
                verdicts.update(await doubtful.settle_noted(chunk.requests, chunk.numbers))
                read += len(chunk.requests)
                report(f"{read:,} of {len(wanted):,} doubtful pages read again")
    verdicts.update(await doubtful.settle_copies())
    checkpoint.remove_file()
    for path, reason in source.damaged.items():
        warn(f"cannot be read to its end: {path}: {reason}")
    seconds = monotonic() - start
    return Loaded(verdicts, unreadable, left, list(source.damaged), source.resumed, seconds)


async def _find_place(index: DuplicateIndex, checkpoint: Checkpoint) -> LoadPlace | None:
    place = checkpoint.read_place()
    return place if place is not None and await index.show(place.url) is not None else None
