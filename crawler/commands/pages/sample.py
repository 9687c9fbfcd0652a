"""Draws decisions at random, for you to look at: borderline ones with --similarity .80-.85.

KIND is the current decision: near, exact, unique or short. Every page with it that fits the other
options is drawn with the same probability. For more about a pair, use `compare` and `show --why`.
The command reads all records of the index.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...wording import counted
from ..output import format_similarity, print_json, print_table, progress_reporter
from ..strict_arguments import make_integer_type, one_of, parse_span
from ..subcommands import Exit, ask_index, nothing_found, refuse_unknown_host

if TYPE_CHECKING:
    from ...dedup.index import DuplicateIndex
    from ...dedup.inspection import Sample

HELP = "Random decisions to review"

KINDS = ("near", "exact", "unique", "short")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", metavar="KIND", type=one_of(KINDS), help=", ".join(KINDS))
    parser.add_argument(
        "--similarity",
        type=parse_span,
        metavar="LOW-HIGH",
        help="range of similarities, of near and exact, such as .80-.85",
    )
    parser.add_argument("--host", help="only pages of this host")
    parser.add_argument(
        "--count",
        type=make_integer_type(1, 1_000_000),
        metavar="N",
        default=10,
        help="(default: 10)",
    )
    parser.add_argument(
        "--seed",
        type=make_integer_type(0, 10**9),
        metavar="N",
        help="the same N draws the same pages",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Print the pages drawn."""
    from ...dedup.errors import InputError
    from ...dedup.inspection import sample_decisions
    from ...dedup.verdict import COPIES

    if options.similarity and options.kind not in COPIES:
        raise InputError(f"--similarity is that of copies: {options.kind} pages have none")
    low, high = options.similarity or (0.0, 1.0)

    async def draw(index: DuplicateIndex) -> Sample:
        if options.host is not None:
            await refuse_unknown_host(index, options.host)
        return await sample_decisions(
            index,
            options.kind,
            low=low,
            high=high,
            host=options.host,
            count=options.count,
            seed=options.seed,
            progress=progress_reporter(),
        )

    found = ask_index(settings, draw)
    if options.json:
        pages = [page.to_dict() for page in found.pages]
        print_json({"matching": found.matching, "pages": pages})
    elif found.pages:
        rows = [
            [
                *map(format_similarity, (page.similarity, page.low, page.high)),
                page.url,
                page.duplicate_of,
            ]
            for page in found.pages
        ]
        title = f"{len(rows)} of {counted(found.matching, 'page')}: {options.kind}"
        print_table(title, ["similarity", "from", "to", "page", "duplicate of"], rows)
    return Exit.FOUND if found.pages else nothing_found(settings, "no page of the index matches")
