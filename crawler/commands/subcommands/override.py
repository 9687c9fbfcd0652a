"""What a person decides about a page, whatever it resembles: obeyed when the page comes again.

`keep` keeps it, `drop` takes it for a copy of the page that is most like it, if any shares a band
with it, and `none` takes the decision back.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..arguments import one_of
from ..output import print_json, print_table, tell
from . import Exit, ask_index, nothing, unseen

if TYPE_CHECKING:
    from ...dedup.index import DuplicateIndex

HELP = "Decide about a page whatever it resembles"

_DECISIONS = ("keep", "drop", "none")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("url", nargs="?", metavar="URL", help="address of a page, as crawled")
    parser.add_argument(
        "decision",
        nargs="?",
        type=one_of(_DECISIONS),
        metavar="keep|drop|none",
        help="what shall become of it",
    )
    parser.add_argument("--list", action="store_true", help="list all decisions that hold")
    parser.add_argument("--json", action="store_true", help="print JSON: address to decision")


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Keep or list decisions; exit code 1 if there is none to list."""
    from ...dedup.errors import InputError

    if options.list == (options.url is not None) or not (options.list or options.decision):
        raise InputError(f"name a page and {', '.join(_DECISIONS)}, or --list alone")

    async def decide(index: DuplicateIndex) -> dict[str, str]:
        if options.list:
            return await index.overrides()
        decision = None if options.decision == "none" else options.decision
        await index.override(options.url, decision)
        if decision and await index.show(options.url) is None:
            tell(unseen(options.url))
        return {index.config.identity(options.url): options.decision}

    found = ask_index(settings, decide)
    if options.json:
        print_json(found)
    elif found:
        print_table("", ["page", "decision"], sorted(found.items()))
    if found:
        return Exit.FOUND
    return nothing("nobody has decided about a page")
