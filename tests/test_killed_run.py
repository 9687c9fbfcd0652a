"""A run of the tests that is killed leaves nothing running, and part of a run that ends is told."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.conftest import wait_until
from tests.support.workers import ROOT, start

RUN = """
import sys
from pathlib import Path
from tests.conftest import Server
from tests.support.workers import start

server = Server(Path(sys.argv[1]))
worker = start("import time; time.sleep(600)")
print(server.process.pid, worker.pid, flush=True)
server.process.wait()
"""


def test_its_servers_and_workers_end_with_it(tmp_path: Path) -> None:
    """They have sessions of their own, so that no signal to the run reaches them."""
    run = start(RUN, tmp_path)
    assert run.stdout is not None
    started = run.stdout.readline().split()
    assert len(started) == 2
    os.kill(run.pid, signal.SIGKILL)
    run.communicate()
    wait_until(lambda: not any(map(_runs, started)))


def _runs(process: str) -> bool:
    try:
        state = (Path("/proc") / process / "stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"  # nobody may be there to collect what has ended


def test_a_process_of_tests_that_ends_fails_the_run(tmp_path: Path) -> None:
    """It is killed, as where memory ends; what its tests had told before is shown."""
    fails = "def test_fails(): assert print('said')\n"
    dies = "def test_dies(): __import__('os').kill(__import__('os').getpid(), 9)\n"
    (tmp_path / "test_dies.py").write_text(fails + dies)
    words = ["-m", "pytest", "-q", "-c", os.devnull, "--rootdir", str(tmp_path), str(tmp_path)]
    words += ["-p", "no:cacheprovider", "-p", "tests.support.side_by_side", "--processes", "2"]
    run = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 2, run.stdout
    assert "Interrupted: test_dies.py::test_dies ended its process: -9" in run.stdout
    assert "test_dies.py::test_fails" in run.stdout
    assert "Captured stdout" in run.stdout
