"""Computes what another threshold would have decided, from stored data and without a new crawl.

A higher threshold would have kept some near-duplicates: those whose stored similarity is below it.
A lower one would have made some kept pages copies of others: stored sketches of pages that share a
band are compared. The output says what the data cannot tell. Nothing changes: the threshold
of an index is fixed, and a crawl with another one needs another DEDUP_NAMESPACE.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...wording import counted
from ..output import format_similarity, is_terminal, print_json, print_table, progress_reporter
from ..strict_arguments import make_number_type
from ..subcommands import Exit, ask_index, has_pages, nothing_found

if TYPE_CHECKING:
    from ...dedup.index import DuplicateIndex
    from ...dedup.inspection import Rethreshold
    from ...dedup.verdict import Record

HELP = "What another threshold would have decided"

_PAGES = 20  # shown in a terminal; a pipe and JSON get all
_COLUMNS = ("similarity", "from", "to", "page", "duplicate of")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("threshold", type=make_number_type(0, 1, above=True), help="such as .85")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Print the decisions that would change; exit code 1 if none would."""
    from ...dedup.inspection import rethreshold

    async def ask(index: DuplicateIndex) -> tuple[Rethreshold, bool]:
        found = await rethreshold(index, options.threshold, progress=progress_reporter())
        return found, await has_pages(index)

    found, is_filled = ask_index(settings, ask)
    if options.json:
        print_json({**found.to_dict(), "unknown": _describe_unknown(found)})
    elif is_filled:
        _print_decisions(found)
    if found.released or found.merged:
        return Exit.FOUND
    return nothing_found(settings, "no decision would change, as far as the index can tell")


def _print_decisions(found: Rethreshold) -> None:
    facts: list[list[Any]] = [
        ["threshold of the index", found.before],
        ["other threshold", found.after],
        ["near-duplicates now", found.near],
        ["near-duplicates below the other threshold", len(found.released)],
        ["different texts among them", found.texts],
        ["near-duplicates whose interval contains it", found.uncertain],
    ]
    if found.after < found.before:
        facts += [
            ["kept pages compared", found.compared],
            ["kept pages that would be copies", found.dropped],
        ]
    print_table("", ["fact", "value"], facts)
    shown_pages = _PAGES if is_terminal() else None
    if found.released:
        rows = [_make_row(page, page.duplicate_of) for page in found.released[:shown_pages]]
        title = _make_title("Kept then", len(found.released), len(rows))
        print_table(title, _COLUMNS, rows)
    merged = [_make_row(page, group.url) for group in found.merged for page in group.members[1:]]
    if merged:
        title = _make_title("Dropped then", len(merged), len(merged[:shown_pages]))
        print_table(title, _COLUMNS, merged[:shown_pages])
    print(*("Not known: " + sentence for sentence in _describe_unknown(found)), sep="\n")


def _make_row(page: Record, original: str | None) -> list[Any]:
    return [*map(format_similarity, (page.similarity, page.low, page.high)), page.url, original]


def _make_title(text: str, count: int, listed: int) -> str:
    return f"{text} ({count - listed} more in --json)" if listed < count else text


def _describe_unknown(found: Rethreshold) -> list[str]:
    """What the index cannot tell about the other threshold, in sentences."""
    sentences = []
    if found.released:
        sentences.append(
            "which of the pages that would be kept resemble each other or other kept pages, "
            "because copies have no sketch"
        )
    if found.after < found.before:
        missed = "" if found.found is None else f", {1 - found.found:.0%}"
        sentences.append(
            f"the pairs of similarity {found.after:g} that the keys of this index do not "
            f"find{missed}"
        )
        if found.too_long:
            sentences.append(
                f"{counted(found.too_long, 'kept page')} too long to compare by their sketches at "
                f"{found.after:g}"
            )
    if found.uncertain:
        sentences.append(
            f"{counted(found.uncertain, 'near-duplicate')} for sure, because the interval of their "
            "similarity contains the other threshold"
        )
    return sentences or ["nothing that matters here"]
