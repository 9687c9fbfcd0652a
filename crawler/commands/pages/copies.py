"""Lists the kept pages that stand for others: URL, size of the cluster, and all its URLs.

The largest clusters come first, and in each the most similar copies. URL or ID lists only that
page's cluster. --json prints one JSON object a line: `url`, `size` (with the kept page) and `urls`,
for example for a search engine's field `additional_urls`. Copies whose kept page is gone have no
`url`. `clusters` has the similarities.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import Any

from ..index_clusters import is_cluster_number
from ..output import print_table, progress_reporter
from ..strict_arguments import make_integer_type
from ..subcommands import Exit, ask_index, nothing_found

HELP = "Kept pages with the number and URLs of their copies"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("page", metavar="URL|ID", nargs="?", help="a page, or its cluster's number")
    parser.add_argument(
        "--min-size",
        type=make_integer_type(2, 10**9),
        default=2,
        metavar="N",
        help="only pages whose cluster has at least N (default: 2)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON lines")


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Print a row for each kept page that has copies."""
    from ...dedup.inspection import read_cluster, read_clusters

    progress = progress_reporter()
    if options.page is None:
        found = ask_index(
            settings,
            lambda index: read_clusters(index, min_size=options.min_size, progress=progress),
        )
    else:
        which = int(options.page) if is_cluster_number(options.page) else options.page
        one = ask_index(settings, lambda index: read_cluster(index, which, progress=progress))
        found = [one] if one is not None and len(one.members) >= options.min_size else []
    rows = [(one.url, len(one.members), [page.url for page in one.members]) for one in found]
    if options.json:
        for url, size, urls in rows:
            print(json.dumps({"url": url, "size": size, "urls": urls}))
    elif rows:
        listed = [[url, size, " ".join(urls)] for url, size, urls in rows]
        print_table("Kept pages and their copies", ["url", "size", "urls"], listed)
    if rows:
        return Exit.FOUND
    whose = f" of {options.page!r}" if options.page is not None else ""
    return nothing_found(settings, f"the index holds no copies{whose}")
