"""Terminals with the width that they report."""

from __future__ import annotations

from shutil import get_terminal_size

from rich.console import Console, ConsoleDimensions


def measure_width(console: Console) -> Console:
    """Give a console its real width; rich assumes 80 columns for dumb terminals (``TERM``)."""
    if console.is_dumb_terminal:
        console.size = ConsoleDimensions(*get_terminal_size())
    return console
