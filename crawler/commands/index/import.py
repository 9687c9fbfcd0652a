"""Reads a file that `export` has written into the index of the project's DEDUP_NAMESPACE.

The index is new, or has the same parameters. Pages whose URL it knows stay as they are. The file is
checked completely before the import, and the index after it. A new index opens when it is complete.
If the command is killed, start it again, and it resumes. Page numbers stay the same in a new index
with as many DEDUP_SHARDS, or on one server if the export comes from one. No crawl may use the index
meanwhile. Exit code 1 means faults.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...wording import counted
from ..output import print_json, print_notice, progress_reporter
from ..subcommands import Exit, index_config

HELP = "Read an exported index"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="file written by `export`")
    parser.add_argument("--json", action="store_true", help="print JSON: the pages read")


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Read the file."""
    from ...dedup.export.transfer import import_index

    config = index_config(settings)
    found = asyncio.run(import_index(config, options.file, progress=progress_reporter()))
    if options.json:
        print_json(
            {
                "namespace": config.namespace,
                "pages": found.pages,
                "new": found.new,
                "same_numbers": found.keeps,
                "faults": found.audit.faults,
            }
        )
    else:
        new, known = counted(found.new, "page is", "pages are"), found.pages - found.new
        were = "was" if known == 1 else "were"
        print(f"{new} imported into {config.namespace!r}, {known:,} {were} already there.")
    for fault in found.audit.faults:
        print_notice(fault)
    return Exit.NOTHING if found.audit.faults else Exit.FOUND
