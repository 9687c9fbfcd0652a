"""Processes that check pages, to be raced, stopped and killed by tests."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import CompletedProcess

from crawler.dedup import DedupConfig, DuplicateIndex
from tests.support.forked import run_script, start_script
from tests.support.texts import article, changed, text

ROOT = Path(__file__).parents[2]
SCRIPTS = Path(__file__).parent


_SETPRIV = shutil.which("setpriv")  # of Linux


def end_with_parent(*words: object) -> list[str]:
    """A command whose process the kernel kills when the one that starts it ends.

    A `preexec_fn` would say so in a fork of this large process: 27 ms of CPU instead of 5.
    """
    prefix = [_SETPRIV, "--pdeathsig", "KILL"] if _SETPRIV else []
    return [*prefix, *map(str, words)]


def start(program: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        end_with_parent(sys.executable, "-c", program, *arguments),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


class Endless:
    """A process that checks pages of a few sets without end, a line for each verdict.

    It may be killed or stopped at any moment, and what it printed before is read all the same.
    """

    def __init__(self, url: str, data_dir: object, worker: int, *more: object) -> None:
        words = [url, *map(str, (data_dir, worker, *more))]
        self._process, self._lines = start_script(SCRIPTS / "endless.py", words, ROOT, ROOT)

    def read_lines(self, count: int = 1) -> list[str]:
        """Wait for the next lines."""
        return [self._lines.readline() for _ in range(count)]

    def send(self, number: int) -> None:
        """Send the process a signal."""
        assert self._process.pid is not None
        os.kill(self._process.pid, number)

    def kill(self) -> list[str]:
        """Kill the process, wait until it is gone, and return what it still had printed."""
        self._process.kill()
        with self._lines:
            rest = self._lines.readlines()
        self._process.join()
        return rest


def check_in_lock_step(
    url: str, workers: int, sets: int, method: str = "fast", *, shards: int = 1
) -> tuple[Counter[int], set[int]]:
    """Let processes check near-duplicates of one another at the same moment, set after set.

    How many pages of each set were kept, and the workers that kept any.
    """
    script = SCRIPTS / "lock_step.py"

    def run(number: int) -> CompletedProcess[str]:
        words = [url, method, *map(str, (number, workers, sets, shards))]
        return run_script(script, words, ROOT, ROOT, timeout=120)

    with ThreadPoolExecutor(workers) as threads:
        ended = list(threads.map(run, range(workers)))
    kept: Counter[int] = Counter()
    winners = set()
    for number, process in enumerate(ended):
        assert process.returncode == 0, process.stderr
        survivors = json.loads(process.stdout)
        kept.update(survivors)
        winners |= {number} if survivors else set()
    return kept, winners


async def check_all(config: DedupConfig, sets: range, workers: range) -> Counter[int]:
    """Check every page that the endless workers may have checked; how many of each set are kept."""
    kept: Counter[int] = Counter()
    async with DuplicateIndex.open(config) as index:
        for n in sets:
            for worker in workers:
                for s in range(4):
                    page = text(changed(article(n, 400), 1, seed=s))
                    verdict = await index.check(f"http://w{worker}/{n}-{s}", page)
                    kept[n] += verdict.duplicate_of is None
        faults = (await index.verify()).faults
        assert not faults, faults
    return kept
