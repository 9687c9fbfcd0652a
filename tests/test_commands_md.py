"""What docs/commands.md shows is what the commands print, run in that order on the demo site.

``python -m tests.test_commands_md`` runs them and writes what they print into the page.
"""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
ENVIRONMENT = Path(sys.executable).parents[1]
PAGE = ROOT / "docs" / "commands.md"
PORTS = ("8901", "8902", "8903")
STYLES = re.compile(r"\x1b\[[\d;]*m")


class Example(NamedTuple):
    """Commands and the output that stands below them; what ``varies`` is compared by its shape."""

    commands: str
    varies: bool
    output: str | None


BLOCK = re.compile(r"```sh\n(.*?)```\n(?:\n(<!-- varies -->\n\n)?```text\n(.*?)```\n)?", re.DOTALL)


def examples() -> list[Example]:
    found = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    return [Example(sh, bool(varies), output or None) for sh, varies, output in found]


class Terminal:
    """Runs commands in a copy of what a clone has, and shows what a terminal would."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ports = dict(zip(PORTS, PORTS, strict=True))  # shown → real
        for name in ("crawler", "examples"):
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)
        for name in ("settings.py", "scrapy.cfg", "Makefile", "requirements.txt"):
            shutil.copy(ROOT / name, folder)

    def run(self, commands: str) -> str:
        commands = re.sub(
            r"localhost:(\d+)", lambda match: f"localhost:{self.ports[match[1]]}", commands
        )
        # The environment of these tests stands in for the one that make would set up.
        make = f"make -s -o {ENVIRONMENT}/crawl.stamp VENV={ENVIRONMENT} "
        commands = re.sub("^make ", make, commands, flags=re.MULTILINE)
        path = f"{ENVIRONMENT}/bin{os.pathsep}{os.environ['PATH']}"
        size = {"COLUMNS": "100", "LINES": "50", "TERM": "xterm"}
        leader, follower = pty.openpty()
        process = subprocess.Popen(
            ["sh", "-ec", commands],
            cwd=self.folder,
            env={**os.environ, **size, "PATH": path},
            stdin=subprocess.DEVNULL,
            stdout=follower,
            stderr=follower,
        )
        os.close(follower)
        output = b"".join(self._read(leader))
        os.close(leader)
        text = STYLES.sub("", output.decode()).replace("\r\n", "\n")
        assert process.wait(timeout=60) == 0, f"{commands}\n{text}"
        if served := re.search(r"demo site: (.*)", text):
            self.ports = dict(zip(PORTS, re.findall(r":(\d+)/", served[1]), strict=True))
        for shown, real in self.ports.items():
            text = text.replace(f"localhost:{real}", f"localhost:{shown}")
        return "".join(line.rstrip() + "\n" for line in text.strip("\n").split("\n"))

    def _read(self, leader: int) -> Iterator[bytes]:
        while True:
            try:
                part = os.read(leader, 1 << 16)
            except OSError:  # the last writer has closed its end
                return
            if not part:
                return
            yield part


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    return Terminal(tmp_path_factory.mktemp("clone"))


def shape(output: str) -> set[str]:
    """Lines without what differs from run to run: figures, widths, and how many are alike."""
    return {re.sub(r"[\d.,:─━ +–█]+", "#", line) for line in output.splitlines()}


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.commands.split("\n")[0])
def test_each_example(terminal: Terminal, example: Example) -> None:
    """Every command ends without an error and prints what is shown."""
    output = terminal.run(example.commands)
    if example.varies:
        assert shape(output) == shape(example.output or "")
    elif example.output is not None:
        assert output == example.output


def test_every_subcommand_is_shown() -> None:
    """No subcommand is left out."""
    shown = {name for one in examples() for name in re.findall(r"dedup (\w+)", one.commands)}
    folder = ROOT / "crawler" / "commands" / "subcommands"
    assert {path.stem for path in folder.glob("[a-z]*.py")} <= shown


def rewrite() -> None:
    """Run the commands of the page and write what they print into it."""

    def rewritten(block: re.Match[str]) -> str:
        output = terminal.run(block[1])
        if block[3] is None:
            return block[0]
        return f"```sh\n{block[1]}```\n\n{block[2] or ''}```text\n{output}```\n"

    with tempfile.TemporaryDirectory() as folder:
        terminal = Terminal(Path(folder))
        PAGE.write_text(BLOCK.sub(rewritten, PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    rewrite()
