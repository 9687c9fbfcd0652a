"""Records of an index for people and programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..store.records import read_pages, read_records
from ..verdict import Kind, Record, time_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from ..open_index import OpenIndex
    from ..sketches.similarity import Estimate
    from ..store.records import PageRecord, Progress

_LONGEST_CHAIN: Final = 100  # originals in a row that became copies themselves


def to_record(stored: PageRecord, original: PageRecord | None, estimate: Estimate | None) -> Record:
    """A stored page as a record.

    `original` is the page that it is compared with, and `estimate` their similarity; None if there
    is nothing to compare with.
    """
    return Record(
        url=stored.shown_url,
        kind=Kind(stored.standing),
        last_verdict=Kind(stored.last),
        duplicate_of=original.shown_url if original else None,
        similarity=estimate.similarity if estimate else None,
        low=estimate.low if estimate else None,
        high=estimate.high if estimate else None,
        cluster=original.number if original else stored.representative,
        first_seen=time_of(stored.first_seen),
        last_seen=time_of(stored.last_seen),
        words=stored.words,
        gone=time_of(stored.gone) if stored.gone else None,
    )


def all_records(index: OpenIndex, progress: Progress | None) -> AsyncIterator[PageRecord]:
    """Every record of an open index."""
    return read_records(index.store, odd_bytes=index.config.sketch_bits // 8, progress=progress)


async def records_of(index: OpenIndex, numbers: Iterable[int]) -> dict[int, PageRecord]:
    """The records of the pages with these numbers, by number, without missing ones."""
    return await read_pages(index.store, numbers, odd_bytes=index.config.sketch_bits // 8)


async def originals_of(index: OpenIndex, wanted: set[int]) -> dict[int, PageRecord]:
    """The pages with these numbers, by number, and their originals, along whole chains."""
    originals: dict[int, PageRecord] = {}
    asked: set[int] = set()  # also the numbers of pages that no longer exist
    for _ in range(_LONGEST_CHAIN):
        asked |= wanted
        found = await records_of(index, wanted)
        originals |= found
        wanted = {record.representative for record in found.values()} - asked
        if not wanted:
            break
    return originals


def end_of(number: int, originals: dict[int, PageRecord]) -> int:
    """The page that finally stands for copies of the page `number`."""
    for _ in range(_LONGEST_CHAIN):
        record = originals.get(number)
        if record is None or record.is_kept:
            break
        number = record.representative
    return number
