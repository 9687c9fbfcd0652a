"""Gives an index another DEDUP_NAMESPACE on the same server.

It copies the index and then deletes the old one, both in small steps. If it is killed in between,
the index is complete under its old name or the new one. If one of the two does not open, `clear`
that one. If neither opens, `clear` the new one and rename again.

Pages that wait in DEDUP_DATA_DIR for a check go along. On other machines, check them with `replay`
first. The rules of `copy` apply. A crawl that is idle during the copy is not noticed: what it
checks later passes unchecked, and is checked at its end in a new index under the old name.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from ..subcommands import Exit
from .copy import add_arguments, copy_index

__all__ = ["HELP", "add_arguments", "run"]

HELP = "Give an index another name"


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Rename the index."""
    return copy_index(options, settings, is_moved=True)
