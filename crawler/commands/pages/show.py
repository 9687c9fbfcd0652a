"""Shows what the index knows about a page, and with --why the reasons for the decision.

Without options: its verdict, its original, how similar the two are, and since when.

With --why: the decision, the similarity with its interval, the shared bands, the words in which
the two differ, and the blocks that were cut from the page as chrome. The texts come from the
archive (DEDUP_ARCHIVE); --fetch fetches pages that it lacks. For a kept page, and for a page never
seen whose text you give, the nearest kept pages are listed: those that share a band with it. Very
different ones may be missing.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from ..output import format_similarity, print_json, print_table
from ..show_explanation import explain_page
from ..subcommands import Exit, ask_index, describe_unseen, nothing_found

HELP = "What the index knows about a page, and why"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("url", metavar="URL", help="URL of the page, as it was crawled")
    parser.add_argument("--why", action="store_true", help="explain the decision")
    parser.add_argument("--text", metavar="FILE", help="with --why: its text or HTML; - reads it")
    parser.add_argument("--scope", help="with --why: the scope of the page, see DEDUP_SCOPE")
    parser.add_argument(
        "--fetch",
        action="store_true",
        help="with --why: fetch what the archive lacks",
    )
    parser.add_argument("--json", action="store_true", help="print JSON; null if not found")


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Print the record of the page, if there is one, or explain it."""
    from ...dedup.errors import InputError

    if options.why:
        return explain_page(options, settings)
    if options.text is not None or options.fetch or options.scope is not None:
        raise InputError("--text, --scope and --fetch are for --why")
    record = ask_index(settings, lambda index: index.show(options.url))
    if options.json:
        print_json(record.to_dict() if record else None)
    elif record:
        rows = [[name, _format_value(value)] for name, value in record.to_dict().items()]
        print_table("", ["field", "value"], rows)
    return Exit.FOUND if record else nothing_found(settings, describe_unseen(options.url))


def _format_value(value: Any) -> Any:
    return format_similarity(value) if isinstance(value, float) else value
