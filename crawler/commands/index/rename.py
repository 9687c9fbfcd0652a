"""Gives an index another DEDUP_NAMESPACE on the same server.

It is copied and then deleted under its old name, both in small steps. Killed in between, the index
is there under its old name or the new one, if one cannot be opened: `clear` that one; where neither
can, `clear` the new one and rename again. Pages that wait in DEDUP_DATA_DIR to be checked go along;
on other machines check them with `replay` before. What holds for `copy` holds here. A crawl that is
idle while the index is copied is not noticed: what it checks later passes unchecked, and is checked
at its end in a new index under the old name.
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
