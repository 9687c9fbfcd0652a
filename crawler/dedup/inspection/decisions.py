"""Decisions of an index under another threshold, and random ones to review."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..analysis.tuning import found_share
from ..identity import host as host_of
from ..verdict import COPIES, plain
from .cluster_records import IndexCluster, read_stories
from .read_records import all_records, records_of, to_record

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..index import DuplicateIndex
    from ..store.records import PageRecord, Progress
    from ..verdict import Record


@dataclass(frozen=True, slots=True)
class Sample:
    """Pages drawn at random, in the order of their similarity, and the number of ``matching``."""

    matching: int
    pages: list[Record]


async def sample_decisions(
    index: DuplicateIndex,
    kind: str,
    *,
    low: float = 0.0,
    high: float = 1.0,
    host: str | None = None,
    count: int = 10,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Sample:
    """Draw pages whose current decision is `kind`, all with the same probability.

    Copies must have a similarity from `low` to `high`. With `host`, pages must be on that host.
    """
    bits, chooser = index.config.sketch_bits, random.Random(seed)
    drawn: list[PageRecord] = []
    matching = 0
    async for record in all_records(index, progress):
        if record.standing != kind or (host is not None and host_of(record.url) != host):
            continue
        estimate = record.estimate(bits)
        if estimate is not None and not low <= estimate.similarity <= high:
            continue
        matching += 1
        if len(drawn) < count:  # Vitter's algorithm R
            drawn.append(record)
        elif (place := chooser.randrange(matching)) < count:
            drawn[place] = record
    pages = await _with_originals(index, drawn)
    return Sample(matching, sorted(pages, key=lambda page: (page.similarity or 0.0, page.url)))


@dataclass(frozen=True, slots=True)
class Rethreshold:
    """What would have been decided with another threshold, as far as the index can tell.

    Attributes
    ----------
    before, after
        The index's threshold and the other one.
    near
        The number of current near-duplicates.
    released
        Near-duplicates that would not have been copies of their originals, the least similar first;
        none if the threshold goes down.
    texts
        The number of different texts among the released: at most so many would have been kept.
    uncertain
        The number of near-duplicates, released or not, whose interval holds the other threshold.
    merged
        Kept pages that would have been copies of others, in groups; none if the threshold goes up.
    compared, too_short, too_long
        The number of kept pages that were compared for ``merged``, and of those that could not be,
        see :class:`Stories`.
    found
        The share of pairs at the other threshold that the bands of the index find; None for a
        method without bands.
    """

    before: float
    after: float
    near: int
    released: list[Record]
    texts: int
    uncertain: int
    merged: list[IndexCluster]
    compared: int
    too_short: int
    too_long: int
    found: float | None

    @property
    def dropped(self) -> int:
        """The number of kept pages that would have been dropped."""
        return sum(len(group.members) - 1 for group in self.merged)

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values."""
        names = ("before", "after", "near", "texts", "uncertain", "compared", "too_short")
        return {
            **{name: getattr(self, name) for name in (*names, "too_long", "dropped")},
            "found": plain(self.found),
            "released": [page.to_dict() for page in self.released],
            "merged": [group.to_dict() for group in self.merged],
        }


async def rethreshold(
    index: DuplicateIndex, threshold: float, *, progress: Progress | None = None
) -> Rethreshold:
    """What a crawl with that threshold would have decided, from stored data.

    Exact copies stay. A higher threshold would have kept some near-duplicates; these cannot be
    compared with each other or with kept pages, because no sketch of a copy is stored. A lower
    threshold would have made some kept pages copies: the stored sketches of pages that share keys
    are compared.
    """
    bits, before = index.config.sketch_bits, index.config.threshold
    found = found_share(index.config, threshold)
    near, uncertain, below = 0, 0, []
    async for record in all_records(index, progress):
        estimate = record.estimate(bits) if record.standing == "near" else None
        if estimate is None:
            continue
        near += 1
        uncertain += estimate.low <= threshold <= estimate.high
        if estimate.similarity < threshold:
            below.append(record)
    released = await _with_originals(index, below)
    released.sort(key=lambda page: (page.similarity or 0.0, page.url))
    texts = len({record.exact for record in below})
    if threshold >= before:
        return Rethreshold(before, threshold, near, released, texts, uncertain, [], 0, 0, 0, found)
    groups = await read_stories(index, threshold, progress=progress)
    return Rethreshold(
        before,
        threshold,
        near,
        released,
        texts,
        uncertain,
        groups.stories,
        groups.pages,
        groups.too_short,
        groups.too_long,
        found,
    )


async def _with_originals(index: DuplicateIndex, records: Iterable[PageRecord]) -> list[Record]:
    """Turn stored pages into records; those of copies name their originals."""
    records = list(records)
    copies = [record for record in records if record.standing in COPIES]
    originals = await records_of(index, (record.representative for record in copies))
    bits = index.config.sketch_bits
    return [
        to_record(
            record,
            None if record.is_kept else originals.get(record.representative),
            record.estimate(bits),
        )
        for record in records
    ]
