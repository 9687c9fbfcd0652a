"""Prints the main text of a page; with --blocks, which parts were kept or cut, and why.

FILE is a text or HTML file, `-` is standard input, URL an http(s) URL, which is fetched now (at
most 50 MB, 30 seconds). The text is what this package takes from the page alone, without
DEDUP_EXTRACTOR and without what a crawl has learnt of the site's template. The density of a block
is the share of its characters outside links. Kept blocks are marked with +, cut ones with -.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..output import is_terminal, make_printable, make_table, make_terminal, print_json, print_table
from ..subcommands import Exit, explain_nothing

if TYPE_CHECKING:
    from ...chrome import Block

HELP = "The main text of a page, and why each of its blocks was kept or cut"

_COLUMNS = ("", "why", "density", "block")
_KEPT, _CUT = "green", "red"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="URL|FILE", help="the document")
    parser.add_argument("--blocks", action="store_true", help="all blocks, kept and cut")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Print the text or the blocks; exit code 1 for a document without text."""
    from ...chrome import Block
    from ..documents import read_main

    main = read_main(options.source, user_agent=settings["USER_AGENT"])
    if isinstance(main, str):
        text, title, blocks = main, "", [Block(main, True, "no HTML", 1.0, 1.0)]
    else:
        text, title, blocks = main.text, main.title, main.blocks if options.blocks else []
    if options.json:
        found: dict[str, Any] = {"source": options.source, "title": title, "text": text}
        if options.blocks:
            found["blocks"] = [block._asdict() for block in blocks]
        print_json(found)
    elif options.blocks:
        _print_blocks(blocks)
    elif is_terminal():
        print(*(make_printable(line.expandtabs()) for line in text.splitlines()), sep="\n")
    else:  # unchanged, for the next program
        print(text)
    if text.strip():
        return Exit.FOUND
    return explain_nothing(f"there is no text in {options.source!r}")


def _print_blocks(blocks: Sequence[Block]) -> None:
    rows = [
        ("+" if block.kept else "-", block.reason, f"{block.density:.2f}", block.text)
        for block in blocks
    ]
    if not is_terminal():
        print_table("", _COLUMNS, rows)
        return
    table = make_table("", _COLUMNS, rows)
    for row, block in zip(table.rows, blocks, strict=True):
        row.style = _KEPT if block.kept else _CUT
    make_terminal().print(table)
