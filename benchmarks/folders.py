"""Folders of data that a benchmark is given."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable
from pathlib import Path


def folder_with(name: str) -> Callable[[str], Path]:
    """What argparse takes for the type of an option: a folder that has such a file or folder."""

    def folder(given: str) -> Path:
        if not (Path(given) / name).exists():
            raise ArgumentTypeError(f"there is no {name} in {given!r}")
        return Path(given)

    return folder
