"""What docs/reference/commands.md shows is what the commands print on the demo site, in order.

``python -m tests.test_commands_md`` runs them and writes what they print into the page.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.commands.subcommands import list_names
from tests.support.forked import scrapy_program
from tests.support.markdown import ROOT, Example, alone, examples, run_shell, shape, with_outputs

ENVIRONMENT = Path(sys.executable).parents[1]
PAGE = ROOT / "docs" / "reference" / "commands.md"
PORTS = ("8901", "8902", "8903")


class Terminal:
    """Runs commands in a copy of what a clone has, and shows what a terminal would."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder = folder
        self.path = os.pathsep.join([str(programs), f"{ENVIRONMENT}/bin", os.environ["PATH"]])
        self.ports = dict(zip(PORTS, PORTS, strict=True))  # shown → real
        (folder / "crawler").symlink_to(ROOT / "crawler")
        shutil.copytree(ROOT / "examples", folder / "examples")  # with what Python has compiled
        for name in ("settings.py", "scrapy.cfg", "Makefile", "requirements.txt"):
            shutil.copy(ROOT / name, folder)

    def run(self, commands: str) -> str:
        commands = re.sub(
            r"localhost:(\d+)", lambda match: f"localhost:{self.ports[match[1]]}", commands
        )
        # The environment of these tests stands in for the one that make would set up.
        make = f"make -s -o {ENVIRONMENT}/crawl.stamp VENV={ENVIRONMENT} "
        commands = re.sub("^make ", make, commands, flags=re.MULTILINE)
        with alone():
            text = run_shell(commands, self.folder, {**os.environ, "PATH": self.path})
        if served := re.search(r"demo site: (.*)", text):
            self.ports = dict(zip(PORTS, re.findall(r":(\d+)/", served[1]), strict=True))
        for shown, real in self.ports.items():
            text = text.replace(f"localhost:{real}", f"localhost:{shown}")
        return text


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    with scrapy_program() as programs:
        yield Terminal(tmp_path_factory.mktemp("clone"), programs)


@pytest.mark.parametrize(
    "example", examples(PAGE), ids=lambda example: example.commands.split("\n")[0]
)
def test_each_example(terminal: Terminal, example: Example) -> None:
    """Every command ends without an error and prints what is shown."""
    output = terminal.run(example.commands)
    if example.varies:
        assert shape(output) == shape(example.output or "")
    elif example.output is not None:
        assert output == example.output


def test_every_subcommand_is_shown() -> None:
    """No subcommand is left out."""
    shown = {name for one in examples(PAGE) for name in re.findall(r"dedup ([\w-]+)", one.commands)}
    assert set(list_names()) <= shown


def rewrite() -> None:
    """Run the commands of the page and write what they print into it."""
    # Processes of `load` import the module that was started, which is this one.
    with tempfile.TemporaryDirectory() as folder, scrapy_program(ROOT) as programs:
        terminal = Terminal(Path(folder), programs)
        printed = [(one.commands, terminal.run(one.commands)) for one in examples(PAGE)]
        PAGE.write_text(with_outputs(PAGE.read_text(encoding="utf-8"), printed), encoding="utf-8")


if __name__ == "__main__":
    rewrite()
