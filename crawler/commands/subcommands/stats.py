"""What the index has counted: verdicts, by host as well, similarities, memory and parameters."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..output import is_terminal, print_json, print_table
from . import Exit, ask_index

if TYPE_CHECKING:
    from ...dedup.store.statistics import IndexStats

HELP = "Counts, hosts, similarities, memory, parameters"

# Rows of hosts that a person is shown; a pipe and JSON get all.
_HOSTS = 20
_BAR = 40  # columns of the longest bar


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the choice of JSON."""
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Print the counts."""
    stats = ask_index(settings, lambda index: index.stats())
    seen = sum(stats.verdicts.values())
    if options.json:
        print_json(stats.to_dict())
    elif seen:
        _print(stats)
    if seen:
        return Exit.FOUND
    print(
        f"scrapy dedup: nothing yet in the index {stats.namespace!r}; crawl first", file=sys.stderr
    )
    return Exit.NOTHING


def _print(stats: IndexStats) -> None:
    from ...dedup.verdict import Kind

    total = sum(stats.verdicts.values())
    kinds = [str(kind) for kind in Kind if kind in stats.verdicts]
    rows = [[kind, stats.verdicts[kind], f"{stats.verdicts[kind] / total:.1%}"] for kind in kinds]
    print_table("Verdicts", ["verdict", "pages", "share"], rows)

    hosts = sorted(stats.hosts.items(), key=lambda item: (-sum(item[1].values()), item[0]))
    hidden = len(hosts) - _HOSTS if is_terminal() else 0
    rows = [[host, *(counts.get(kind, 0) for kind in kinds)] for host, counts in hosts]
    title = f"Hosts ({hidden} more in --json)" if hidden > 0 else "Hosts"
    print_table(title, ["host", *kinds], rows[:_HOSTS] if hidden > 0 else rows)

    if stats.histogram:
        most = max(stats.histogram.values())
        rows = [[s, n, "█" * -(-n * _BAR // most)] for s, n in stats.histogram.items()]
        print_table("Similarity of near-duplicates", ["from", "pages", ""], rows)

    facts: dict[str, Any] = {
        "namespace": stats.namespace,
        "addresses known": stats.urls,
        "pages kept": stats.kept,
        "memory, bytes": stats.memory_bytes,
        "bytes per page kept": stats.bytes_per_page,
        **stats.parameters,
    }
    print_table("Index", ["fact", "value"], [[name, value] for name, value in facts.items()])
