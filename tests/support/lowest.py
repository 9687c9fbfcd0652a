"""``python tests/support/lowest.py``: the oldest versions that the package says it works with.

Prints them for pip, from pyproject.toml; with the argument ``build`` what it is built with, in any
version allowed. Standard library only: nothing is installed yet.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any


def read(table: str) -> dict[str, Any]:
    """Return a table of pyproject.toml."""
    path = Path(__file__).parents[2] / "pyproject.toml"
    found: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))[table]
    return found


def project() -> dict[str, Any]:
    """What pyproject.toml says of the project."""
    return read("project")


def lowest() -> list[str]:
    """The dependencies and the embedded server, each at its lower bound."""
    needed = project()["dependencies"] + project()["optional-dependencies"]["embedded"]
    return [re.sub(r">=([\d.]+)[^;]*", r"==\1", one) for one in needed]


if __name__ == "__main__":
    print(*(read("build-system")["requires"] if "build" in sys.argv else lowest()), sep="\n")
