"""Gives an index another DEDUP_NAMESPACE on the same server.

It is copied and then deleted under its old name, both in small steps; killed in between, it stays
under its old name or under both. Pages that wait in DEDUP_DATA_DIR to be checked go along; on other
machines check them with `replay` before. What holds for `copy` holds here.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from . import Exit
from .copy import add_arguments, copy

__all__ = ["HELP", "add_arguments", "run"]

HELP = "Give an index another name"


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Rename the index."""
    return copy(options, settings, is_moved=True)
