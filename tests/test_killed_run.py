"""A run of the tests that is killed leaves nothing running."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from tests.conftest import wait_until
from tests.support.workers import start

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
