"""What the index knows of a page: its verdict, what it duplicates, how similar, since when."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from ..output import print_json, print_table, shown
from . import Exit, ask_index, nothing_found, unseen

HELP = "A page's verdict and what it duplicates"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("url", metavar="URL", help="address of the page, as it was crawled")
    parser.add_argument("--json", action="store_true", help="print JSON; null if not found")


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Print the record of the page, if there is one."""
    record = ask_index(settings, lambda index: index.show(options.url))
    if options.json:
        print_json(record.to_dict() if record else None)
    elif record:
        rows = [[name, _plain(value)] for name, value in record.to_dict().items()]
        print_table("", ["field", "value"], rows)
    if record:
        return Exit.FOUND
    return nothing_found(settings, unseen(options.url))


def _plain(value: Any) -> Any:
    return shown(value) if isinstance(value, float) else value
