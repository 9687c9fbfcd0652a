"""Checks the pages that passed unchecked while the index gave no answer.

It lists the copies among them. These have already passed to the feed or the search engine, so
remove them there. It also reports URLs that were found gone from the web meanwhile to the index.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...wording import counted, left_unchecked
from ..output import format_similarity, print_json, print_notice, print_table
from ..subcommands import Exit, ask_index

if TYPE_CHECKING:
    from ...dedup.exchange.spool import Waiting
    from ...dedup.index import DuplicateIndex
    from ...dedup.verdict import Verdict

HELP = "Check the pages that passed unchecked"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the verdicts as JSON")


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Check all waiting pages and print the copies among them.

    If the server stops answering, the copies found until then are printed: they no longer wait.
    """
    from ...dedup.errors import InputError, ServerError

    verdicts: list[Verdict] = []
    gone: list[str] = []

    async def replay(index: DuplicateIndex) -> Waiting:
        async for verdict in index.replay(gone.append):
            verdicts.append(verdict)
        return index.spooled()[1]

    try:
        foreign = ask_index(settings, replay, spool=True)
    except (ServerError, OSError) as error:
        if verdicts or gone:
            _print_verdicts(verdicts, len(gone), as_json=options.json)
        if isinstance(error, ServerError):
            raise
        raise InputError(
            f"the pages that wait in DEDUP_DATA_DIR cannot be checked: {error}"
        ) from None
    if any(foreign):
        print_notice(
            f"{left_unchecked(*foreign)} in crawls with another index, or lines are damaged: name "
            "it with DEDUP_NAMESPACE; if it is deleted, or lines are damaged, crawl them again and "
            "remove unchecked.jsonl, which names them, from DEDUP_DATA_DIR"
        )
    _print_verdicts(verdicts, len(gone), as_json=options.json)
    return Exit.FOUND if verdicts or gone else Exit.NOTHING


def _print_verdicts(verdicts: list[Verdict], gone: int, *, as_json: bool) -> None:
    if as_json:
        print_json([verdict.to_dict() for verdict in verdicts])
        return
    copies = [verdict for verdict in verdicts if verdict.duplicate_of is not None]
    if copies:
        rows = [
            [v.url, str(v.standing), v.duplicate_of, format_similarity(v.similarity)]
            for v in copies
        ]
        print_table("Copies that passed", ["url", "kind", "duplicate of", "similarity"], rows)
    print(
        f"{counted(len(verdicts), 'page')} checked, {len(copies)} of them "
        f"{'a copy' if len(copies) == 1 else 'copies'}"
    )
    if gone:
        print(f"{counted(gone, 'URL')} reported to the index as gone")
