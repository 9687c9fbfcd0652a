"""The pages of a cluster: one that is kept, and those that it stands for.

A cluster is named by its identifier, the number that `show` calls `cluster` and that is never given
to another, or by the address of a page in it. Pages come with when they were first and last seen
and with their similarity to the kept page. All records of the index are read for it.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...wording import counted
from ..output import print_json, print_table, progress_reporter, shown
from . import Exit, ask_index, nothing_found

if TYPE_CHECKING:
    from ...dedup.inspection import IndexCluster

HELP = "The pages that one page stands for"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("cluster", metavar="ID|URL", help="a cluster, or a page in it")
    parser.add_argument("--json", action="store_true", help="print JSON; null if not found")


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Print the members of the cluster."""
    from ...dedup.inspection import read_cluster

    name = options.cluster
    which = int(name) if name.isascii() and name.isdigit() and len(name) < 11 else name
    found = ask_index(
        settings, lambda index: read_cluster(index, which, progress=progress_reporter())
    )
    if options.json:
        print_json(found.to_dict() if found else None)
    elif found:
        _print(found)
    if found:
        return Exit.FOUND
    return nothing_found(settings, f"there is no cluster {name!r}")


def _print(found: IndexCluster) -> None:
    title = f"Cluster {found.id}, {counted(len(found.members), 'page')}"
    if found.url is None:
        title += "; the page that stood for them is kept no more"
    columns = ["page", "kind", "similarity", "from", "to", "first seen", "last seen"]
    rows = [
        [
            page.url,
            page.kind,
            *(shown(value) for value in (page.similarity, page.low, page.high)),
            page.first_seen.date(),
            page.last_seen.date(),
        ]
        for page in found.members
    ]
    print_table(title, columns, rows)
