"""``python -m tests.examples``: write what the commands print into the READMEs of the examples."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.examples.conftest import play
from tests.support.markdown import ROOT, with_outputs
from tests.support.wheel import build_wheel, install_wheel


def main(names: list[str]) -> None:
    """Play the examples named, or all."""
    for readme in sorted((ROOT / "examples").glob("*/README.md")):
        if names and readme.parent.name not in names:
            continue
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            python = install_wheel(build_wheel(folder / "wheel"), folder / "environment")
            try:
                one = play(readme.parent.name, folder / "examples", python)
            except AssertionError as error:
                sys.exit(f"{readme} is left as it was, a command of it failed:\n{error}")
        printed = [(example.commands, output) for example, output in one.outputs]
        text = readme.read_text(encoding="utf-8")
        readme.write_text(with_outputs(text, printed), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
