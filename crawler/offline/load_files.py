"""Loads pages on disk into the index: fingerprints come from processes, exchanges are full."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Final, NamedTuple

from ..dedup.exchange.requests import make_token
from ..dedup.identity import host
from ..dedup.store.messages import Answer, CheckRequest
from .checkpoint import Checkpoint, Place
from .load_chunks import RecordSource, prepare_ahead, start_pools
from .records.files import File
from .records.input_pages import Left, PageReader

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


class DoubtfulPages:
    """Pages of a load that are copies and may lose their originals, until they are decided again.

    With ``DEDUP_PREFER``, any page may become a copy of a later one. If there are very many, the
    first ones are not decided again.
    """

    _MOST: Final = 50_000  # of 1.7 KB each
    _MOST_HOSTS: Final = 10_000
    _TIMES: Final = 10  # a page that is decided again may replace others, with copies of their own

    def __init__(self, index: DuplicateIndex) -> None:
        self._index = index
        self._hosts: set[str] = set()
        self._waiting: dict[str, tuple[CheckRequest, str]] = {}

    def note_answers(self, requests: Sequence[CheckRequest], answers: Sequence[Answer]) -> None:
        """Note the answers about pages of the load."""
        for request, answer in zip(requests, answers, strict=True):
            if len(self._hosts) < self._MOST_HOSTS:
                self._hosts.add(request.host)
            self._waiting.pop(request.url, None)
            if answer.duplicate_of or self._index.config.prefer:
                self._waiting[request.url] = request, answer.kind
                if len(self._waiting) > self._MOST:
                    del self._waiting[next(iter(self._waiting))]

    async def settle_copies(self) -> Counter[str]:
        """Decide again about copies whose originals have changed, were replaced or did not come.

        Returns the changes in the counts of verdicts. Originals on hosts without pages in the load
        stand.
        """
        changes: Counter[str] = Counter()
        for _ in range(self._TIMES):
            more = await self._settle_once()
            if not more:
                break
            changes.update(more)
        return changes

    async def _settle_once(self) -> Counter[str]:
        changes: Counter[str] = Counter()
        for url, original in (await self._index.originals(self._waiting)).items():
            of = host(original.url)
            if original.state == "confirmed" or (original.url and of not in self._hosts):
                continue
            request, kind = self._waiting[url]
            again = request._replace(token=make_token(self._index.crawl), final=(of,) if of else ())
            (answer,) = await self._index.store.check([again])
            if answer.kind != "repeated":
                changes.update({kind: -1})
                changes.update({answer.kind: 1})
                self._waiting[url] = request, answer.kind
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

    `report` is called with the number of pages and the seconds since the start after each exchange.
    `warn` is called with the first unreadable record of each file, and with the reason if a file
    cannot be read to its end. Records of an interrupted load are skipped, or found ``unchanged``.

    A load is a crawl of its own: copies that have lost their originals are decided again at its
    end, as many as :class:`DoubtfulPages` holds. Raises :class:`ServerError` if the server gives no
    answer, and :class:`InputError` if a process is killed.
    """
    start = saved = monotonic()
    verdicts: Counter[str] = Counter()
    unreadable = 0
    left: Counter[Left] = Counter()
    told: set[str] = set()
    PageReader(index.config)  # a missing extractor is an error here, not in the processes
    place, crawl = await _find_place(index, checkpoint), await index.begin_crawl()
    if place is not None:
        crawl = await index.begin_crawl(crawl._replace(start=min(place.start, crawl.start)))
    source = RecordSource(files, index.config, place.position if place is not None else -1)
    doubtful = DoubtfulPages(index)
    with start_pools(processes, index, crawl) as pools:
        async for chunk in prepare_ahead(pools, source.read_batches()):
            unreadable += chunk.unreadable
            left.update(chunk.left)
            if chunk.fault is not None and chunk.path not in told:
                told.add(chunk.path)
                warn(chunk.fault)
            for begin in range(0, len(chunk.requests), index.store.exchange):
                requests = chunk.requests[begin : begin + index.store.exchange]
                answers = await index.store.check(requests)
                verdicts.update(answer.kind for answer in answers)
                doubtful.note_answers(requests, answers)
                report(verdicts.total(), monotonic() - start)
            if monotonic() - saved > _SAVED_EVERY:
                checkpoint.save_place(chunk, crawl)
                saved = monotonic()
    verdicts.update(await doubtful.settle_copies())
    await index.end_crawl()
    checkpoint.remove_file()
    for path, reason in source.damaged.items():
        warn(f"cannot be read to its end: {path}: {reason}")
    seconds = monotonic() - start
    return Loaded(verdicts, unreadable, left, list(source.damaged), source.resumed, seconds)


async def _find_place(index: DuplicateIndex, checkpoint: Checkpoint) -> Place | None:
    place = checkpoint.read_place()
    return place if place is not None and await index.show(place.url) is not None else None
