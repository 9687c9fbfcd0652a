"""``python tests/lowest.py``: the oldest versions that the package says it works with.

Prints them for pip, from pyproject.toml. Standard library only: nothing is installed yet.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any


def project() -> dict[str, Any]:
    """What pyproject.toml says of the project."""
    path = Path(__file__).parents[1] / "pyproject.toml"
    found: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    return found


def lowest() -> list[str]:
    """The dependencies and the embedded server, each at its lower bound."""
    needed = project()["dependencies"] + project()["optional-dependencies"]["embedded"]
    return [re.sub(r">=([\d.]+)[^;]*", r"==\1", one) for one in needed]


if __name__ == "__main__":
    print(*lowest(), sep="\n")
