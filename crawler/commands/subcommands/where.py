"""Where the text of a page lives now.

That is the kept page that stands for it. If that is gone from the web, it is those of its copies
that are not: first the ones with the same words as the page asked for, of these those on its own
host, then the most similar. Along a chain of near-duplicates the similarity is the least that it
can be.

Exit code 1: the index never saw the page, or it is gone and no page with its text is left.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from ..output import print_json, print_table, progress_reporter, shown
from . import Exit, ask_index, nothing_found, unseen

HELP = "Where the text of a page lives now"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("url", metavar="URL", help="address of the page, as it was crawled")
    parser.add_argument("--json", action="store_true", help="print JSON; null if never seen")


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Print the page and the places of its text."""
    from ...dedup.inspection.moved import where

    found = ask_index(
        settings, lambda index: where(index, options.url, progress=progress_reporter())
    )
    if options.json:
        print_json(found.to_dict() if found else None)
    elif found:
        page = found.to_dict()
        facts = ("url", "kind", "cluster", "first_seen", "last_seen", "gone")
        print_table("", ["field", "value"], [[name, page[name]] for name in facts])
        if found.places:
            columns = ["lives at", "similarity", "from", "to", "first seen", "last seen"]
            rows: list[list[Any]] = [
                [
                    place.url,
                    *(shown(value) for value in (place.similarity, place.low, place.high)),
                    place.first_seen.date().isoformat(),
                    place.last_seen.date().isoformat(),
                ]
                for place in found.places
            ]
            print_table("", columns, rows)
    if found and found.places:
        return Exit.FOUND
    gone = f"{options.url!r} is gone, and so is every page with its text"
    return nothing_found(settings, gone if found else unseen(options.url))
