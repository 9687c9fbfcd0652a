"""Lists the indexes on the project's server, whatever their parameters.

For each it shows the kept pages, the known URLs, the checks, when a page was last checked, and when
the last crawl began.

It reads all keys of the server, in small steps. For an incomplete index, as after an interrupted
copy, it shows which operation is under way.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Mapping
from typing import Any

from ..output import print_json, print_table
from ..subcommands import Exit, explain_nothing, index_config

HELP = "The indexes on a server, with their counts"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Print a row for each index."""
    from ...dedup.store.indexes import list_indexes
    from ...dedup.store.server.connect import server_name

    config = index_config(settings)
    found = [summary.to_dict() for summary in asyncio.run(list_indexes(config))]
    if options.json:
        print_json(found)
    elif found:
        columns = ["namespace", "kept", "urls", "checks", "last_check", "last_crawl"]
        if any(row["unfinished"] for row in found):
            columns.append("unfinished")
        rows = [[row[name] for name in columns] for row in found]
        print_table("Indexes", [name.replace("_", " ") for name in columns], rows)
    return Exit.FOUND if found else explain_nothing(f"there is no index on {server_name(config)}")
