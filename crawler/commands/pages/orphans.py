"""Lists pages whose text no kept page has any more. Crawl them again, and they are kept.

If the original of a dropped copy is gone, or has another text, the text of the copy is lost until
you crawl the copy again. `since` is when the original was found gone, or else when the copy was
last seen. The command reads all records of the index.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..output import make_printable, print_json, print_table, progress_reporter
from ..subcommands import Exit, ask_index, nothing_found

if TYPE_CHECKING:
    from ...dedup.index import DuplicateIndex
    from ...dedup.inspection import Orphan

HELP = "Pages whose text no kept page has any more"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON, a list of pages")
    parser.add_argument(
        "--urls", action="store_true", help="print only the URLs, one a line, for a crawl"
    )


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """List the pages; exit code 1 if there are none."""
    from ...dedup.inspection import read_orphans

    async def read(index: DuplicateIndex) -> list[Orphan]:
        return [one async for one in read_orphans(index, progress_reporter())]

    found = ask_index(settings, read)
    if options.json:
        print_json([one.to_dict() for one in found])
    elif options.urls:
        for one in found:
            print(make_printable(one.url))
    elif found:
        rows = [
            [one.url, one.since.isoformat(sep=" ", timespec="minutes"), one.original or "unknown"]
            for one in found
        ]
        print_table("", ["page", "since", "it was a copy of"], rows)
    if found:
        return Exit.FOUND
    return nothing_found(settings, "every text of the index is in a kept page")
