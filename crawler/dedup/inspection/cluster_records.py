"""Clusters of an index: each kept page with its copies; and stories."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..analysis.clustering import cluster_texts
from ..analysis.tuning import floor_of_odd, found_share
from ..candidates import Rule
from ..verdict import plain
from .read_records import all_records, end_of, originals_of, records_of, to_record

if TYPE_CHECKING:
    from ..index import DuplicateIndex
    from ..store.records import PageRecord, Progress
    from ..verdict import Record


@dataclass(frozen=True, slots=True)
class IndexCluster:
    """A kept page and its copies.

    ``id`` is the number of the kept page, which is never reused. ``members`` are the pages, the
    kept one first, then the most similar. If it is no longer kept, ``url`` is None and only the
    copies are members: they are decided again when they are next seen.
    """

    id: int
    url: str | None
    members: list[Record]

    def to_dict(self) -> dict[str, Any]:
        """The cluster as plain values."""
        members = [member.to_dict() for member in self.members]
        return {"id": self.id, "url": self.url, "size": len(members), "members": members}


@dataclass(frozen=True, slots=True)
class Stories:
    """Kept pages in groups; each page of a group reaches the threshold with its first page.

    ``pages`` counts the pages that were compared. ``too_short`` counts pages without a shingle, and
    ``too_long`` those with so many that their sketches cannot be compared at the threshold.
    ``found`` is the share of pairs at the threshold that the bands find; None for a method without
    bands.
    """

    threshold: float
    stories: list[IndexCluster]
    pages: int
    too_short: int
    too_long: int
    found: float | None

    def to_dict(self) -> dict[str, Any]:
        """The stories as plain values."""
        return {
            "threshold": self.threshold,
            "pages": self.pages,
            "too_short": self.too_short,
            "too_long": self.too_long,
            "found": plain(self.found),
            "stories": [story.to_dict() for story in self.stories],
        }


async def read_clusters(
    index: DuplicateIndex, *, min_size: int = 2, progress: Progress | None = None
) -> list[IndexCluster]:
    """The clusters of at least `min_size` pages, 2 or more, the largest first."""
    copies, originals = await _read_copies(index, progress)
    groups: defaultdict[int, list[PageRecord]] = defaultdict(list)
    for record in copies:
        groups[end_of(record.representative, originals)].append(record)
    found = []
    for number, group in groups.items():
        if len(group) + (number in originals) >= min_size:
            found.append(
                _make_cluster(number, originals.get(number), group, index.config.sketch_bits)
            )
    return sorted(found, key=lambda one: (-len(one.members), one.id))


async def read_cluster(
    index: DuplicateIndex, which: int | str, *, progress: Progress | None = None
) -> IndexCluster | None:
    """The cluster with a number, or of the page with a URL; None if there is no such page.

    The number of a page that has become a copy gives its current cluster.
    """
    if isinstance(which, str):
        known = await index.show(which)
        if known is None:
            return None
        which = known.cluster
    copies, originals = await _read_copies(index, progress, which)
    number = end_of(which, originals)
    group = [one for one in copies if end_of(one.representative, originals) == number]
    if not group and number not in originals:
        return None
    return _make_cluster(number, originals.get(number), group, index.config.sketch_bits)


async def _read_copies(
    index: DuplicateIndex, progress: Progress | None, *more: int
) -> tuple[list[PageRecord], dict[int, PageRecord]]:
    """All copies, and by number the originals of these and of `more`, along whole chains."""
    copies = [record async for record in all_records(index, progress) if not record.is_kept]
    return copies, await originals_of(index, {one.representative for one in copies} | set(more))


def _make_cluster(
    number: int, kept: PageRecord | None, copies: list[PageRecord], bits: int
) -> IndexCluster:
    members = []
    for record in copies:
        # The similarity to an earlier original does not hold for the kept page.
        estimate = record.estimate(bits) if record.representative == number else None
        members.append((record, estimate))
    members.sort(key=lambda one: (-(one[1].similarity if one[1] else 0.0), one[0].number))
    pages = [to_record(record, kept, estimate) for record, estimate in members]
    if kept is None:
        return IndexCluster(number, None, pages)
    return IndexCluster(number, kept.shown_url, [to_record(kept, None, None), *pages])


async def read_stories(
    index: DuplicateIndex, threshold: float, *, progress: Progress | None = None
) -> Stories:
    """Group the kept pages by a lower threshold; nothing is dropped.

    The stored sketches of pages that share stored keys are compared, with the linkage of
    :func:`~..analysis.clustering.cluster_texts`. A million pages take about 0.6 GB.
    """
    config = index.config
    method = config.make_method()
    rule = Rule.of(method)
    whole = method.tables and 4 * method.tables  # bytes of the keys
    numbers, fingerprints, too_short, too_long = [], [], 0, 0
    async for record in all_records(index, progress):
        sketch = record.sketch
        if sketch is not None and whole and whole != len(record.bands):
            continue  # its keys are cut; other damaged records are skipped while reading
        if sketch is not None and (
            rule.by_keys or floor_of_odd(sketch.members, config.sketch_bits) < threshold
        ):
            numbers.append(record.number)
            fingerprints.append(record.fingerprint)
        elif record.is_kept:
            too_short += sketch is None
            too_long += sketch is not None
    groups = await asyncio.to_thread(
        cluster_texts, fingerprints, threshold=threshold, bits=config.sketch_bits, rule=rule
    )
    groups = [group for group in groups if group.members]
    wanted = [numbers[member.number] for group in groups for member in group.members]
    wanted += [numbers[group.representative] for group in groups]
    records = await records_of(index, wanted)
    stories = []
    for group in groups:
        first = records.get(numbers[group.representative])
        others = [(records.get(numbers[one.number]), one.estimate) for one in group.members]
        others.sort(key=lambda one: -one[1].similarity)
        if first is not None:  # else it was forgotten meanwhile
            members = [to_record(one, first, estimate) for one, estimate in others if one]
            pages = [to_record(first, None, None), *members]
            stories.append(IndexCluster(first.number, first.shown_url, pages))
    stories.sort(key=lambda one: (-len(one.members), one.id))
    found = found_share(config, threshold)
    return Stories(threshold, stories, len(numbers), too_short, too_long, found)
