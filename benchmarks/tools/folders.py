"""Folders of data that a benchmark is given, and files in them."""

from __future__ import annotations

import json
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any


def folder_with(name: str) -> Callable[[str], Path]:
    """What argparse takes for the type of an option: a folder that has such a file or folder."""

    def folder(given: str) -> Path:
        if lack := lack_of(Path(given), [name]):
            raise ArgumentTypeError(lack)
        return Path(given)

    return folder


def lack_of(folder: Path, names: Iterable[str]) -> str | None:
    """Which of these files and folders a folder lacks first, in words; None if it has them all."""
    lacking = (name for name in names if not (folder / name).exists())
    return next((f"there is no {name} in {str(folder)!r}" for name in lacking), None)


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The objects in a file of JSON lines."""
    with path.open(encoding="utf-8") as lines:
        return list(map(json.loads, lines))
