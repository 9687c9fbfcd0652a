"""Tests in several processes are those of one run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.workers import ROOT

FAILS = "def test_fails(): assert print('said')\n"
DIES = "def test_dies(): __import__('os').kill(__import__('os').getpid(), 9)\n"
MEETS = """
import os
from tests.conftest import wait_until

def test_meets(tmp_path_factory):
    folder = tmp_path_factory.getbasetemp()
    (folder / f"{os.getpid()}.here").touch()
    wait_until(lambda: len([*folder.glob("*.here")]) == 2, 20)
"""


def run(folder: Path, **files: str) -> subprocess.CompletedProcess[str]:
    """Run these files of tests in two processes."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    words = ["-m", "pytest", "-q", "-c", os.devnull, "--rootdir", str(folder), str(folder)]
    words += ["-p", "no:cacheprovider", "-p", "tests.support.side_by_side", "--processes", "2"]
    return subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True)


def test_a_process_that_ends_fails_the_run(tmp_path: Path) -> None:
    """It is killed, as where memory ends; what its tests had told before is shown."""
    ended = run(tmp_path, test_dies=FAILS + DIES)
    assert ended.returncode == 2, ended.stdout
    assert "Interrupted: test_dies.py::test_dies ended its process: -9" in ended.stdout
    assert "test_dies.py::test_fails" in ended.stdout
    assert "Captured stdout" in ended.stdout


def test_all_have_one_folder(tmp_path: Path) -> None:
    """What one of them builds there, such as the wheel, need not be built by another."""
    ended = run(tmp_path, **{f"test_{number}": MEETS for number in range(4)})
    assert ended.returncode == 0, ended.stdout
