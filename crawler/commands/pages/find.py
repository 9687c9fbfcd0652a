"""Lists the pages of the index that a text resembles, originals and copies. It changes nothing.

FILE is text, or HTML, whose main text is taken; `-` is standard input. The text of an http(s) URL
comes from the archive (DEDUP_ARCHIVE), or is fetched now (at most 50 MB, 30 seconds). Kept pages
are compared as in a check of the text: below the threshold of the index its bands find fewer. The
index stores no sketch of a near-duplicate. Its similarity is derived from how similar both are to
the original, and the interval covers all that is possible. "contained" is the share of the
text that a page contains.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from ..output import format_similarity, print_json, print_table
from ..strict_arguments import add_threshold, make_integer_type
from ..subcommands import Exit, ask_index, index_config, nothing_found

if TYPE_CHECKING:
    from ...dedup.index import DuplicateIndex
    from ...dedup.matches import Match

HELP = "Pages in the index that resemble a text"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="FILE|URL|-", help="the text, or a page's HTML")
    add_threshold(parser, "similarity from which a page is listed")
    parser.add_argument(
        "--limit",
        type=make_integer_type(1, 10**9),
        metavar="N",
        default=10,
        help="maximum number of pages, most similar first (default: 10)",
    )
    parser.add_argument("--kept", action="store_true", help="only kept pages, not their copies")
    parser.add_argument("--scope", help="scope of the text, see DEDUP_SCOPE")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Print the pages; exit code 1 if there is none."""
    from ..documents import find_document, is_web_url

    agent = settings["USER_AGENT"]
    text = find_document(options.source, index_config(settings), user_agent=agent).text

    async def ask(index: DuplicateIndex) -> list[Match]:
        find = partial(index.find, limit=options.limit, threshold=options.threshold)
        url = options.source if is_web_url(options.source) else ""
        return await find(text, copies=not options.kept, url=url, scope=options.scope)

    found = ask_index(settings, ask)
    if options.json:
        print_json([one.to_dict() for one in found])
    elif found:
        rows = [
            [
                *map(format_similarity, (one.similarity, one.low, one.high, one.containment)),
                one.kind,
                one.url,
                one.duplicate_of,
            ]
            for one in found
        ]
        columns = ["similarity", "from", "to", "contained", "kind", "page", "duplicate of"]
        print_table("", columns, rows)
    if found:
        return Exit.FOUND
    return nothing_found(settings, f"no page of the index resembles {options.source!r}")
