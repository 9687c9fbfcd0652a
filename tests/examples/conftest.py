"""Plays the README of an example from top to bottom, as a reader with the wheel would."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conftest import free_port
from tests.report.browser import CHROMIUM
from tests.support.forked import scrapy_program
from tests.support.markdown import ROOT, Example, examples, run_shell, shape
from tests.support.wheel import site_packages


class Played(NamedTuple):
    """The folder of an example after all its commands have run, and what each of them printed."""

    folder: Path
    outputs: list[tuple[Example, str]]
    environment: dict[str, str]

    def run(self, commands: str) -> str:
        """Run more commands there."""
        return run_shell(commands, self.folder, self.environment)


def play(name: str, folder: Path, python: str, *programs: Path, **variables: str) -> Played:
    """Run the commands of an example's README in a copy of it; `programs` are found first."""
    ignored = shutil.ignore_patterns("__pycache__", ".scrapy", "*.jsonl", "*.index")
    for part in ("demo_site", "news_site", name):
        shutil.copytree(ROOT / "examples" / part, folder / part, ignore=ignored)
    port = str(free_port())
    path = os.pathsep.join([*map(str, programs), f"{Path(python).parent}", os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "NEWS_SITE_PORT": port, **variables}
    if CHROMIUM is not None:
        environment.setdefault("CHROMIUM", CHROMIUM)
    outputs = []
    for example in examples(folder / name / "README.md"):
        output = run_shell(example.commands, folder / name, environment)
        outputs.append((example, output.replace(f"localhost:{port}", "localhost:8911")))
    return Played(folder / name, outputs, environment)


@pytest.fixture(scope="module")
def played(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, installed: str
) -> Iterator[Played]:
    """The example that the test module names in ``EXAMPLE``, after its README was followed."""
    with scrapy_program(site_packages(installed)) as programs:
        yield play(request.module.EXAMPLE, tmp_path_factory.mktemp("examples"), installed, programs)


@pytest.fixture(scope="session")
def assert_as_shown() -> Callable[[Played], None]:
    """Checks that each output in the README is what was printed."""

    def check(one: Played) -> None:
        for example, output in one.outputs:
            if example.varies:
                assert shape(output) == shape(example.output or ""), example.commands
            elif example.output is not None:
                assert output == example.output, example.commands

    return check
