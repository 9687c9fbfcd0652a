"""Results on standard output: tables for people, tabs for pipes, JSON for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any


def is_terminal() -> bool:
    """Whether a person reads the output."""
    return sys.stdout.isatty()


def print_json(value: Any) -> None:
    """Print `value` as JSON, in ASCII, so that nothing in it acts on a terminal."""
    print(json.dumps(value, indent=2))


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print rows: a table in a terminal; in a pipe tab-separated lines, the columns' names first.

    None is shown as a dash. What addresses hold is made harmless.
    """
    cells = [["–" if value is None else printable(str(value)) for value in row] for row in rows]
    if not is_terminal():
        print(*("\t".join(line) for line in [columns, *cells]), sep="\n", end="\n\n")
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title or None, title_justify="left", title_style="bold")
    for i, name in enumerate(columns):
        is_number = all(isinstance(row[i], (int, float, type(None))) for row in rows)
        table.add_column(name, justify="right" if is_number else "left", overflow="fold")
    for line in cells:
        table.add_row(*(Text(cell) for cell in line))  # Text: brackets are not markup
    Console().print(table)


def printable(text: str) -> str:
    r"""Text without characters that act on a terminal or turn the direction of others.

    >>> printable("a\x1b[31m\u202eb")
    'a\\x1b[31m\\u202eb'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
