"""All copies in an index and their clusters, at one moment."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ..dedup.inspection.read_records import all_records, end_of, originals_of, records_of
from ..dedup.inspection.top import HostCounts, count_page
from ..dedup.sketches.similarity import Estimate
from ..dedup.verdict import time_of

if TYPE_CHECKING:
    from ..dedup.index import DuplicateIndex
    from ..dedup.store.records import PageRecord

# The largest number of listed copies: the copies read first. Each takes some 300 bytes.
MOST_COPIES: Final = 300_000
# Kept pages drawn at random. All their pairs, half a million, are compared in some 0.1 s.
_SAMPLE: Final = 1000
_SIZES: Final = ((2, 2), (3, 3), (4, 4), (5, 9), (10, 19), (20, 49), (50, 99), (100, None))


class ClusterPage(NamedTuple):
    """A page in a cluster.

    ``kind`` is the current decision. ``similarity`` is the similarity to the page with the number
    ``cluster``, with the interval from ``low`` to ``high``; 1 for that page itself.
    """

    url: str
    cluster: int
    kind: str
    similarity: float
    low: float
    high: float
    words: int
    first_seen: datetime
    last_seen: datetime


class KeptPairs(NamedTuple):
    """Similarities of all pairs of ``pages`` kept pages, drawn at random.

    ``histogram`` maps similarities, rounded down to hundredths, to numbers of pairs. It begins at
    ``floor``, because sketches cannot measure less.
    """

    pages: int
    floor: float
    histogram: dict[str, int]


@dataclass(frozen=True, slots=True)
class Survey:
    """The result of a survey.

    ``near`` are the near-duplicates, the least similar first. ``clusters`` maps the number of a
    kept page to its copies: near-duplicates before exact copies, direct copies before copies of
    pages that became copies themselves, then the least similar first. ``sizes`` counts the pages of
    every cluster, including the kept one. ``unlisted`` copies are only in ``sizes``. ``moved`` maps
    the number of a page that became a copy to the number of its cluster. ``hosts`` counts the pages
    of each host.
    """

    near: list[ClusterPage]
    clusters: dict[int, list[ClusterPage]]
    sizes: Counter[int]
    unlisted: int
    taken: datetime
    moved: dict[int, int] = field(default_factory=dict)
    hosts: dict[str, HostCounts] = field(default_factory=dict)

    def below_threshold(self, similarity: float) -> list[ClusterPage]:
        """The near-duplicates that a threshold of `similarity` would keep, most similar first."""
        return self.near[: bisect_left(self.near, similarity, key=lambda page: page.similarity)][
            ::-1
        ]

    def next_after(self, similarity: float, url: str) -> ClusterPage | None:
        """The near-duplicate that follows the one with this similarity and URL."""
        place = bisect_right(self.near, (similarity, url), key=_rank_doubt)
        return self.near[place] if place < len(self.near) else None

    def by_doubt(self) -> list[int]:
        """The clusters, those with the least similar near-duplicate first, then the largest."""

        def rank(number: int) -> tuple[bool, float, int, int]:
            least = self.clusters[number][0]
            size = self.sizes[number]
            return least.kind != "near", least.similarity, -size, number

        return sorted(self.clusters, key=rank)

    def by_size(self) -> list[int]:
        """The clusters, the largest first."""
        return sorted(self.clusters, key=lambda number: (-self.sizes[number], number))

    def size_bins(self) -> list[tuple[str, int]]:
        """The number of clusters in each range of sizes, up to the largest cluster."""
        bins = []
        largest = max(self.sizes.values(), default=0)
        for low, high in (one for one in _SIZES if one[0] <= largest):
            count = sum(
                low <= size and (high is None or size <= high) for size in self.sizes.values()
            )
            name = (
                str(low) if low == high else f"{low} or more" if high is None else f"{low}–{high}"
            )
            bins.append((name, count))
        return bins


def _rank_doubt(page: ClusterPage) -> tuple[float, str]:
    """The sort key of pages, for the most doubtful first."""
    return page.similarity, page.url


async def take_survey(index: DuplicateIndex) -> Survey:
    """Read all records of an index. Raises :class:`ServerError` if the server gives no answer."""
    bits = index.config.sketch_bits
    clusters: dict[int, list[ClusterPage]] = {}
    sizes: Counter[int] = Counter()
    hosts: dict[str, HostCounts] = {}
    kept = array("Q")
    listed = unlisted = 0
    async for record in all_records(index, None):
        count_page(hosts, record)
        if record.is_kept:
            kept.append(record.number)
            continue
        sizes[record.representative] += 1
        if listed < MOST_COPIES:
            listed += 1
            clusters.setdefault(record.representative, []).append(_make_member(record, bits))
        else:
            unlisted += 1
    without = set(np.setdiff1d(np.array(list(sizes), np.uint64), kept).tolist())
    originals = await originals_of(index, without)
    ends = {number: end_of(number, originals) for number in without}
    moved = {number: end for number, end in ends.items() if end != number}
    for number, end in moved.items():
        sizes[end] += sizes.pop(number)
        if copies := clusters.pop(number, []):
            clusters.setdefault(end, []).extend(copies)
    sizes.update(sizes.keys() - without)  # one more for the kept page
    for number, copies in clusters.items():
        copies.sort(
            key=lambda page: (page.kind != "near", page.cluster != number, *_rank_doubt(page))
        )
    near = [page for copies in clusters.values() for page in copies if page.kind == "near"]
    near.sort(key=_rank_doubt)
    return Survey(near, clusters, sizes, unlisted, datetime.now(UTC), moved, hosts)


async def sample_pairs(index: DuplicateIndex) -> KeptPairs:
    """Similarities of kept pages. Raises :class:`ServerError` if the server gives no answer."""
    from ..dedup.analysis.tuning import floor_of_pairs, pair_similarities

    bits = index.config.sketch_bits
    sketches = await index.sample(_SAMPLE)
    floor = floor_of_pairs(sketches, bits)
    found = pair_similarities(sketches, bits)
    hundredths = Counter((100 * found[found >= floor]).astype(int).tolist())
    histogram = {f"{step / 100:.2f}": hundredths[step] for step in sorted(hundredths)}
    return KeptPairs(len(sketches), floor, histogram)


async def kept_pages(index: DuplicateIndex, clusters: Iterable[int]) -> dict[int, ClusterPage]:
    """The kept pages of clusters, by number, without those that are no longer kept."""
    bits = index.config.sketch_bits
    found = await records_of(index, clusters)
    return {n: _make_member(record, bits) for n, record in found.items() if record.is_kept}


def _make_member(record: PageRecord, bits: int) -> ClusterPage:
    estimate = record.estimate(bits) or Estimate.certain(1.0)
    return ClusterPage(
        url=record.shown_url,
        cluster=record.representative,
        kind=record.standing,
        similarity=estimate.similarity,
        low=estimate.low,
        high=estimate.high,
        words=record.words,
        first_seen=time_of(record.first_seen),
        last_seen=time_of(record.last_seen),
    )
