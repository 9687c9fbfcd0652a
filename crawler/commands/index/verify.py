"""Reads the whole index and checks whether records, tables and counters agree.

It changes nothing; on a cluster it first removes what dead workers left. Crawls may continue. But
only without them is every counter compared, and every bucket of a small index with many writes: the
output then says so. An index with faults may miss duplicates or keep memory that it does not need.
It never drops a page that resembles no other. Exit code 1 means faults, or no page at all: in a
lost index nothing disagrees.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from ...wording import counted
from ..output import print_json, print_notice, print_table
from ..subcommands import Exit, ask_index, nothing_yet

HELP = "Check the index for faults"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Print the counts and the faults of the index."""
    found = ask_index(settings, lambda index: index.verify())
    if options.json:
        plain = {"urls": found.urls, "kept": found.kept, "entries": dict(found.entries)}
        print_json({**plain, "faults": found.faults, "unsettled": found.unsettled})
    else:
        facts = [
            ["URLs known", found.urls],
            ["pages kept", found.kept],
            ["entries of tables", sum(found.entries.values())],
            ["faults", len(found.faults)],
        ]
        print_table("", ["fact", "value"], facts)
        if found.faults:
            print_table("Faults, the first 100", ["fault"], [[fault] for fault in found.faults])
    if found.faults:
        print_notice(
            "`export` this index and `import` the file under another name, which rebuilds all "
            "tables"
        )
    if found.unsettled:
        print_notice(
            f"{counted(found.unsettled, 'bucket')} kept changing: verify the index "
            "again when no crawl writes to it"
        )
    if not (found.urls or found.faults or found.unsettled):
        return nothing_yet(settings)
    return Exit.NOTHING if found.faults else Exit.FOUND
