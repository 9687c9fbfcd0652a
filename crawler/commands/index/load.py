"""Fills the index with pages that are already on disk, as if they had been crawled.

FILES are Parquet, or JSON lines, WARC or WET, also compressed by gzip or zstd. Field names come
from the settings. Several processes compute fingerprints, and pages are checked in file order. Of
copies the first is kept, or the best by DEDUP_PREFER: dates, canonical URLs and scores come from
fields, in a WARC file from the page.

If a load is interrupted, start it again, and it resumes. Pages that the index already knows are
unchanged. Every record is counted: as a page, as unreadable, as binary, or as passed over (empty
lines, and what an interrupted load had loaded). The first unreadable record of each file is named.
The exit code is 2 if a file cannot be read to its end, or if there are more unreadable records than
pages.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..output import now_and_then, print_json, print_notice, print_table
from ..strict_arguments import make_integer_type
from ..subcommands import Exit, ask_index

if TYPE_CHECKING:
    from ...dedup.index import DuplicateIndex
    from ...offline.load_files import Loaded

HELP = "Fill the index with pages that are on disk"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files",
        metavar="FILES",
        nargs="+",
        help="files, folders or patterns; of copies, the first is kept",
    )
    parser.add_argument(
        "--processes",
        type=make_integer_type(1, 256),
        metavar="N",
        default=os.cpu_count() or 1,
        help="number of processes (default: one for each core, here %(default)s)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Load the files and print what became of their pages."""
    from ...offline.checkpoint import Checkpoint
    from ...offline.load_files import load_files
    from ...offline.records.input_pages import Left
    from ...offline.records.input_records import find_local_files
    from ...project import project_config

    files = find_local_files(options.files, project_config(settings))

    async def question(index: DuplicateIndex) -> Loaded:
        checkpoint = Checkpoint(index.config.data_dir / "load.json", files, index)
        return await load_files(
            index,
            files,
            checkpoint,
            processes=options.processes,
            report=now_and_then(),
            warn=print_notice,
        )

    result = ask_index(settings, question, make=True)
    pages = result.verdicts.total()
    # All records that were given: each is a page, unreadable, or one of these.
    binary, skipped = result.left[Left.BINARY], result.left[Left.SKIPPED] + result.resumed
    if options.json:
        counts = {"pages": pages, "binary": binary, "skipped": skipped}
        facts = result._asdict()
        del facts["left"]
        print_json({**facts, **counts})
    else:
        rows = [["pages", pages], *sorted(result.verdicts.items())]
        rows += [["unreadable", result.unreadable], ["binary", binary], ["skipped", skipped]]
        rows += [["seconds", round(result.seconds, 1)]]
        print_table("Loaded", ["fact", "value"], rows)
    known = pages + result.resumed
    if result.damaged or result.unreadable > known:
        return Exit.USAGE
    return Exit.FOUND if known else Exit.NOTHING
