"""Records your decision about a page, whatever it resembles.

`keep` keeps the page when it is next seen. `drop` makes it a copy of the most similar page, if one
shares a band with it. `none` removes the override.

`prefer` makes the page the original of its cluster, while its text stays the same; the previous
original becomes its copy. This is a check of the page and needs its text: from the archive
(DEDUP_ARCHIVE), from --text, or fetched now with --fetch. The other members of the cluster are
compared with the page when they are next seen. The old cluster number leads to the new one. A page
with the decision `drop` stays a copy.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..output import print_json, print_notice, print_table
from ..preference import prefer_page
from ..strict_arguments import one_of
from ..subcommands import Exit, ask_index, describe_unseen, explain_nothing

if TYPE_CHECKING:
    from ...dedup.index import DuplicateIndex

HELP = "Keep, drop or prefer a page, whatever it resembles"

_DECISIONS = ("keep", "drop", "none", "prefer")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("url", nargs="?", metavar="URL", help="URL of a page, as crawled")
    parser.add_argument(
        "decision",
        nargs="?",
        type=one_of(_DECISIONS),
        metavar="|".join(_DECISIONS),
        help="the decision",
    )
    parser.add_argument("--list", action="store_true", help="list all current overrides")
    parser.add_argument("--text", metavar="FILE", help="with prefer: its text or HTML; - reads it")
    parser.add_argument("--scope", help="with prefer: the scope of the page, see DEDUP_SCOPE")
    parser.add_argument("--fetch", action="store_true", help="with prefer: fetch the page now")
    parser.add_argument(
        "--json",
        action="store_true",
        help="print JSON: URL to decision; of prefer what changed, null if never seen",
    )


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Keep or list decisions; exit code 1 if there is none to list."""
    from ...dedup.errors import InputError

    if options.list == (options.url is not None) or not (options.list or options.decision):
        raise InputError(f"name a page and {', '.join(_DECISIONS)}, or --list alone")
    if options.decision == "prefer":
        return prefer_page(options, settings)
    if options.text is not None or options.fetch or options.scope is not None:
        raise InputError("--text, --scope and --fetch are for prefer")

    async def decide(index: DuplicateIndex) -> dict[str, str]:
        if options.list:
            return await index.overrides()
        decision = None if options.decision == "none" else options.decision
        await index.override(options.url, decision)
        if decision and await index.show(options.url) is None:
            print_notice(describe_unseen(options.url))
        return {index.config.identity(options.url): options.decision}

    found = ask_index(settings, decide)
    if options.json:
        print_json(found)
    elif found:
        print_table("", ["page", "decision"], sorted(found.items()))
    if found:
        return Exit.FOUND
    return explain_nothing("there are no overrides")
