"""Tables of what an index has counted, for `scrapy dedup stats` once or again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .output import Bar

if TYPE_CHECKING:
    from ..dedup.store.statistics import IndexStats

_BAR = 40  # columns of the longest bar


def tables(stats: IndexStats, most_hosts: int | None) -> list[tuple[str, list[str], list[Any]]]:
    """Verdicts, hosts (all or the first so many) and similarities: title, columns and rows."""
    from ..dedup.verdict import Kind

    total = sum(stats.verdicts.values())
    kinds = [str(kind) for kind in Kind if kind in stats.verdicts]
    counts = stats.verdicts
    rows: list[Any] = [[kind, counts[kind], f"{counts[kind] / total:.1%}"] for kind in kinds]
    found = [("Verdicts", ["verdict", "checks", "share"], rows)]

    hosts = sorted(stats.hosts.items(), key=lambda item: (-sum(item[1].values()), item[0]))
    rows = [[host, *(of_host.get(kind, 0) for kind in kinds)] for host, of_host in hosts]
    hidden = len(rows) - len(rows[:most_hosts])
    title = f"Hosts ({hidden} more in --json)" if hidden else "Hosts"
    found.append((title, ["host", *kinds], rows[:most_hosts]))

    if stats.histogram:
        most = max(stats.histogram.values())
        rows = [[s, n, Bar(n, most, _BAR)] for s, n in stats.histogram.items()]
        found.append(("Similarity of near-duplicates", ["from", "checks", ""], rows))
    return found
