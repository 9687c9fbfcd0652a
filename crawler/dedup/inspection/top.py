"""Where the duplicates are: hosts, clusters, and hosts whose pages look alike."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any

from ..identity import host as host_of
from ..verdict import plain
from .cluster_records import IndexCluster, read_clusters
from .read_records import all_records

if TYPE_CHECKING:
    from ..index import DuplicateIndex
    from ..store.records import PageRecord, Progress


@dataclass(slots=True)
class HostCounts:
    """Pages of a host by current decision.

    ``near_within`` are near-duplicates of a page of the same host, and ``words`` their median
    length: many short ones suggest a template that makes pages look alike, or several URLs of one
    page.
    """

    host: str
    pages: int = 0
    kept: int = 0
    exact: int = 0
    near: int = 0
    near_within: int = 0
    words: float | None = None

    @property
    def duplicates(self) -> int:
        """Pages that are copies of others."""
        return self.exact + self.near

    @property
    def likeness(self) -> float:
        """The share of the host's pages that are near-duplicates within it."""
        return self.near_within / self.pages

    @property
    def share(self) -> float:
        """The share of the host's pages that are copies of others."""
        return self.duplicates / self.pages

    def to_dict(self) -> dict[str, Any]:
        """The counts as plain values."""
        return {
            **asdict(self),
            "duplicates": self.duplicates,
            "likeness": plain(self.likeness),
        }


@dataclass(slots=True)
class Top:
    """The first of each list: ``hosts`` by their duplicates, ``clusters`` by their size,
    ``templates``: hosts by the share of their pages that are near-duplicates within the host.
    """

    hosts: list[HostCounts] = field(default_factory=list)
    clusters: list[IndexCluster] = field(default_factory=list)
    templates: list[HostCounts] = field(default_factory=list)


async def read_top(
    index: DuplicateIndex,
    *,
    count: int = 10,
    host: str | None = None,
    progress: Progress | None = None,
) -> Top:
    """The first `count` of each list; with `host`, only that host, and clusters with its pages."""
    hosts: dict[str, HostCounts] = {}
    home: dict[int, str] = {}  # of kept pages
    near: list[tuple[str, int, int]] = []  # host, original and words of near-duplicates
    async for record in all_records(index, progress):
        name = count_page(hosts, record)
        if record.is_kept:
            home[record.number] = name
        elif record.standing != "exact":
            near.append((name, record.representative, record.words))
    words = defaultdict(list)
    for name, original, length in near:
        if home.get(original) == name:
            words[name].append(length)
    for name, lengths in words.items():
        hosts[name].near_within = len(lengths)
        hosts[name].words = median(lengths)
    some = [one for name, one in hosts.items() if host is None or name == host]
    found = Top()
    by_duplicates = sorted(some, key=lambda one: (-one.duplicates, one.host))
    found.hosts = [one for one in by_duplicates if one.duplicates][:count]
    by_likeness = sorted(some, key=lambda one: (-one.likeness, -one.near_within, one.host))
    found.templates = [one for one in by_likeness if one.near_within][:count]
    clusters = await read_clusters(index, progress=progress)
    if host is not None:
        clusters = [one for one in clusters if host in hosts_of(one)]
    found.clusters = clusters[:count]
    return found


def count_page(hosts: dict[str, HostCounts], record: PageRecord) -> str:
    """Add a page to the counts of its host, which is returned."""
    name = host_of(record.url)
    counts = hosts.get(name) or hosts.setdefault(name, HostCounts(name))
    counts.pages += 1
    if record.is_kept:
        counts.kept += 1
    elif record.standing == "exact":
        counts.exact += 1
    else:
        counts.near += 1
    return counts.host  # one string for all pages of a host


def hosts_of(cluster: IndexCluster) -> Counter[str]:
    """How many pages of a cluster each host has."""
    return Counter(host_of(member.url) for member in cluster.members)
