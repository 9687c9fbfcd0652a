"""Shows what the index has counted: verdicts, also by host, similarities, memory and parameters.

--watch repeats it until Ctrl-C, with rates and estimates, and ends with exit code 0. It shows
tables in a terminal, one line each time in a pipe, and one JSON object a line with --json. Growth
is the rate of kept pages in the last minute times the bytes of one. The server is full when its
maxmemory is reached. The memory of the index is estimated from a sample of its keys: expect an
error of a few percent, on a cluster of 10 %.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..output import is_terminal, print_json, print_table
from ..strict_arguments import make_number_type
from ..subcommands import Exit, ask_index, nothing_yet
from ..watching import stats_tables

if TYPE_CHECKING:
    from ...dedup.store.statistics import IndexStats

HELP = "Counts, hosts, similarities, memory, parameters"

# Rows of hosts shown in a terminal; a pipe and JSON get all.
_HOSTS = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--watch",
        type=make_number_type(0.1, 86_400),
        nargs="?",
        const=2.0,
        metavar="SECONDS",
        help="repeat every SECONDS (default: 2)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Print the counts, once or until Ctrl-C."""
    if options.watch is not None:
        from ..watching import watch_index

        watch_index(settings, options.watch, as_json=options.json)
        return Exit.FOUND
    stats = ask_index(settings, lambda index: index.stats())
    seen = sum(stats.verdicts.values())
    if options.json:
        print_json(stats.to_dict())
    elif seen:
        _print_stats(stats)
    return Exit.FOUND if seen else nothing_yet(settings)


def _print_stats(stats: IndexStats) -> None:
    from ...dedup.verdict import plain

    for table in stats_tables(stats, _HOSTS if is_terminal() else None):
        print_table(*table)
    facts: dict[str, Any] = {
        "namespace": stats.namespace,
        "URLs known": stats.urls,
        "pages kept": stats.kept,
        "last check": plain(stats.last_check),
        "last crawl": plain(stats.last_crawl),
        "memory, bytes (estimate)": stats.memory_bytes,
        "bytes per page kept (estimate)": stats.bytes_per_page,
        **stats.parameters,
    }
    print_table("Index", ["fact", "value"], [[name, value] for name, value in facts.items()])
