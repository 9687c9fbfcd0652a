"""Shows where the duplicates are: hosts, clusters, and hosts whose own pages look alike.

Hosts are sorted by how many of their pages are copies, clusters by size. Look-alikes are hosts,
sorted by the share of their pages that are near-duplicates of another page of the same host. The
cause is a template with little text in it, or several URLs of one page. `words` is the median
length of those pages. All counts are of current decisions; those of `stats` are of checks. The
command reads all records of the index.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..output import print_json, print_table, progress_reporter
from ..strict_arguments import make_integer_type
from ..subcommands import Exit, ask_index, nothing_found, refuse_unknown_host

if TYPE_CHECKING:
    from ...dedup.index import DuplicateIndex
    from ...dedup.inspection import Top

HELP = "Hosts and clusters with the most duplicates"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--count",
        type=make_integer_type(1, 1_000_000),
        metavar="N",
        default=10,
        help="rows (default: 10)",
    )
    parser.add_argument("--host", help="only this host, and clusters with a page of it")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Print the lists."""
    from ...dedup.inspection import hosts_of, read_top

    async def read(index: DuplicateIndex) -> Top:
        if options.host is not None:
            await refuse_unknown_host(index, options.host)
        return await read_top(
            index, count=options.count, host=options.host, progress=progress_reporter()
        )

    found = ask_index(settings, read)
    if options.json:
        clusters = [
            {"id": one.id, "url": one.url, "size": len(one.members), "hosts": dict(hosts_of(one))}
            for one in found.clusters
        ]
        hosts, templates = (
            [one.to_dict() for one in group] for group in (found.hosts, found.templates)
        )
        print_json({"hosts": hosts, "clusters": clusters, "look_alikes": templates})
    elif found.hosts:
        rows: list[list[Any]] = [
            [
                one.host,
                one.pages,
                one.kept,
                one.exact,
                one.near,
                f"{one.share:.1%}",
            ]
            for one in found.hosts
        ]
        columns = ["host", "pages", "kept", "exact", "near", "duplicates"]
        print_table("Hosts with the most duplicates", columns, rows)
        rows = [[one.id, len(one.members), len(hosts_of(one)), one.url] for one in found.clusters]
        print_table("Largest clusters", ["cluster", "pages", "hosts", "kept page"], rows)
        rows = [
            [one.host, one.near_within, f"{one.likeness:.1%}", one.words] for one in found.templates
        ]
        if rows:
            print_table(
                "Hosts whose own pages look alike", ["host", "pages", "share", "words"], rows
            )
    return Exit.FOUND if found.hosts else nothing_found(settings, "the index holds no duplicates")
