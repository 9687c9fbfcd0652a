"""Terminals that people read, as wide as they say they are."""

from __future__ import annotations

from shutil import get_terminal_size

from rich.console import Console, ConsoleDimensions


def measure_width(console: Console) -> Console:
    """The console, which of itself takes each dumb terminal (``TERM``) for 80 columns wide."""
    if console.is_dumb_terminal:
        console.size = ConsoleDimensions(*get_terminal_size())
    return console
