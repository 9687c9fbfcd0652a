"""Lost and found: where the text of a page lives now, and the pages that are gone."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from ..candidates import BY_KEYS
from ..identity import host
from ..sketches.similarity import Estimate
from ..verdict import plain, time_of
from .read_records import all_records, records_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from datetime import datetime

    from ..index import DuplicateIndex
    from ..store.records import PageRecord, Progress

_SAME: Final = Estimate.certain(1.0)


@dataclass(frozen=True, slots=True)
class Place:
    """A URL that is not gone, and how similar its text is to the text in question.

    Along a chain of near-duplicates, ``similarity`` is the lowest possible value. It, ``low`` and
    ``high`` are None if even that is unknown.
    """

    url: str
    similarity: float | None
    low: float | None
    high: float | None
    first_seen: datetime
    last_seen: datetime

    def to_dict(self) -> dict[str, Any]:
        """The place as plain values, times in ISO 8601, similarities with four decimals."""
        return {name: plain(getattr(self, name)) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """A page, the time since which it is gone (None: it is not), and the places of its text.

    The best place is first. The page itself is one of the places if it is kept.
    """

    url: str
    kind: str
    cluster: int
    first_seen: datetime
    last_seen: datetime
    gone: datetime | None
    places: list[Place]

    def to_dict(self) -> dict[str, Any]:
        """The page and the places as plain values."""
        own = {name: plain(getattr(self, name)) for name in self.__slots__ if name != "places"}
        return own | {"places": [place.to_dict() for place in self.places]}


async def find_whereabouts(
    index: DuplicateIndex, url: str, *, progress: Progress | None = None
) -> Whereabouts | None:
    """Where the text of a URL is now; None if the index never saw it.

    Its only place is the kept page. If that is gone, the places are the copies that are not: first
    those with the same words, and of these first the ones on the same host. Only in this case, all
    records are read.
    """
    known = await index.show(url)
    if known is None:
        return None
    original = (await records_of(index, [known.cluster])).get(known.cluster)
    if original is not None and _is_alive(original):
        alike: Estimate | None = _SAME
        if known.similarity is not None and known.low is not None and known.high is not None:
            alike = Estimate(known.similarity, known.low, known.high)
        places = [_make_place(original, alike)]
    else:
        chains = await _read_chains(index, progress)
        records, identity = chains.records.values(), index.config.identity(url)
        record = next((one for one in records if one.url == identity), None)
        end, alike = chains.find_end(record.number if record else known.cluster)
        pool = (await _make_pools(index, chains, {end}, None))[end]
        places = list(pool.list_places(identity, record.exact if record else b"", alike))
    return Whereabouts(
        known.url,
        str(known.kind),
        known.cluster,
        known.first_seen,
        known.last_seen,
        known.gone,
        places,
    )


async def read_moved(
    index: DuplicateIndex,
    *,
    similarity: float = 0.0,
    hosts: Collection[str] | None = None,
    progress: Progress | None = None,
) -> list[Whereabouts]:
    """All gone pages by URL, each with the best place of its text, or none.

    A place counts if its text is at least that similar, and on one of the `hosts`, if given. This
    takes about 1 KB of memory for each copy in the index.
    """
    chains = await _read_chains(index, progress)
    gone = sorted((one for one in chains.records.values() if one.gone), key=lambda one: one.url)
    pools = await _make_pools(
        index, chains, {chains.find_end(one.number)[0] for one in gone}, hosts
    )
    found = []
    for record in gone:
        end, alike = chains.find_end(record.number)
        best = islice(pools[end].list_places(record.url, record.exact, alike), 1)
        places = [one for one in best if (one.similarity or 0.0) >= similarity]
        times = (time_of(record.first_seen), time_of(record.last_seen), time_of(record.gone))
        found.append(Whereabouts(record.shown_url, record.standing, end, *times, places))
    return found


class _Chains:
    """The final kept page for each page, and how similar the two are.

    A replaced page becomes a copy of its replacement, while its own copies remain its copies until
    they are next seen. So there are chains.
    """

    def __init__(self, records: Mapping[int, PageRecord], bits: int) -> None:
        self.records = records
        self._bits = bits
        self._ends: dict[int, tuple[int, Estimate | None]] = {}
        # 1 - Jaccard is a metric, which bounds the similarity along a chain; containment is not.
        self._is_metric = all(one.level != BY_KEYS for one in records.values())

    def find_end(self, number: int) -> tuple[int, Estimate | None]:
        """The number of the last page, which may be forgotten, and the similarity to it."""
        path: dict[int, PageRecord] = {}
        while number not in self._ends:
            record = self.records.get(number)
            # Records read at different moments may seem to form a circle.
            if record is None or record.is_kept or number in path:
                self._ends[number] = number, _SAME
            else:
                path[number] = record
                number = record.representative
        end, alike = self._ends[number]
        for record in reversed(path.values()):
            alike = self.join_estimates(record.estimate(self._bits), alike)
            self._ends[record.number] = end, alike
        return end, alike

    def join_estimates(self, a: Estimate | None, b: Estimate | None) -> Estimate | None:
        """The similarity of X and Z, from the similarities `a` of X and Y, and `b` of Y and Z."""
        if a is None or b is None or a.low == 1.0:
            return b if a is not None else None
        if b.low == 1.0:
            return a
        if not self._is_metric:
            return None
        return Estimate(
            max(0.0, a.similarity + b.similarity - 1),
            max(0.0, a.low + b.low - 1),
            min(1.0, a.high + 1 - b.low, b.high + 1 - a.low),
        )


class _Pool:
    """The pages of a cluster that are not gone, with their similarity to the last page."""

    def __init__(self, chains: _Chains, members: list[tuple[PageRecord, Estimate | None]]) -> None:
        self._chains = chains
        self._members = sorted(
            members,
            key=lambda one: (
                -(one[1].similarity if one[1] else 0.0), -one[0].last_seen, one[0].number,
            ),
        )  # fmt: skip
        self._by_text: defaultdict[bytes, list[PageRecord]] = defaultdict(list)
        self._on_host: defaultdict[tuple[bytes, str], list[PageRecord]] = defaultdict(list)
        for record, _ in self._members:
            self._by_text[record.exact].append(record)
            self._on_host[record.exact, host(record.url)].append(record)

    def list_places(self, url: str, exact: bytes, alike: Estimate | None) -> Iterator[Place]:
        """Yield the places of the text of the page at `url`, the best first.

        `exact` is the hash of its words, and `alike` its similarity to the last page of its chain.
        Of equal texts, those on the page's own host come first: others may be copied from it.
        """
        own = host(url)
        for record in self._on_host.get((exact, own), ()):
            yield _make_place(record, _SAME)
        for record in self._by_text.get(exact, ()):
            if host(record.url) != own:
                yield _make_place(record, _SAME)
        for record, other in self._members:
            if record.exact != exact:
                yield _make_place(record, self._chains.join_estimates(alike, other))


async def _read_chains(index: DuplicateIndex, progress: Progress | None) -> _Chains:
    """All copies, and the kept pages that are gone."""
    records = {
        record.number: record
        async for record in all_records(index, progress)
        if record.gone or not record.is_kept
    }
    return _Chains(records, index.config.sketch_bits)


async def _make_pools(
    index: DuplicateIndex, chains: _Chains, ends: set[int], hosts: Collection[str] | None
) -> dict[int, _Pool]:
    """A pool for each end of a chain: its page if that is not gone, else the remaining copies."""
    kept = await records_of(index, ends)
    members: dict[int, list[tuple[PageRecord, Estimate | None]]] = {end: [] for end in ends}
    for number, record in kept.items():
        if _is_alive(record) and _is_on(record, hosts):
            members[number].append((record, _SAME))
    empty = {end for end, found in members.items() if not found}
    for record in chains.records.values():
        end, alike = chains.find_end(record.number)
        if end in empty and not record.gone and _is_on(record, hosts):
            members[end].append((record, alike))
    return {end: _Pool(chains, found) for end, found in members.items()}


def _is_alive(record: PageRecord) -> bool:
    return record.is_kept and not record.gone


def _is_on(record: PageRecord, hosts: Collection[str] | None) -> bool:
    return hosts is None or host(record.url) in hosts


def _make_place(record: PageRecord, alike: Estimate | None) -> Place:
    return Place(
        record.shown_url,
        alike.similarity if alike else None,
        alike.low if alike else None,
        alike.high if alike else None,
        time_of(record.first_seen),
        time_of(record.last_seen),
    )
