"""Processes that check pages, to be raced, stopped and killed by tests."""

from __future__ import annotations

import ctypes
import json
import signal
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import CompletedProcess

from crawler.dedup import DedupConfig, DuplicateIndex
from tests.support.forked import run_script
from tests.support.texts import article, changed, text

ROOT = Path(__file__).parents[2]


_PR_SET_PDEATHSIG = 1
_prctl = getattr(ctypes.CDLL(None), "prctl", None)  # of Linux


def end_with_parent() -> None:
    """For `preexec_fn`: the kernel kills this process when the one that started it is gone.

    And it hears Ctrl-C, which a shell lets nobody hear who runs in its background.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if _prctl is not None:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


# Checks pages of a few sets without end and prints each verdict as soon as it has it.
ENDLESS = """
import asyncio, sys
from crawler.dedup import (DedupConfig, DuplicateIndex)
from tests.support.texts import article, changed, text

async def main(url, data_dir, worker, timeout=10, shards=1):
    own = {"timeout": float(timeout), "shards": int(shards)}
    config = DedupConfig(redis_url=url or None, data_dir=data_dir, **own)
    async with DuplicateIndex.open(config) as index:
        for n in range(1_000_000):
            pages = [(f"http://w{worker}/{n}-{s}", text(changed(article(n, 400), 1, seed=s)))
                     for s in range(4)]
            for verdict in await asyncio.gather(*(index.check(*page) for page in pages)):
                print(verdict.kind, verdict.url, flush=True)

asyncio.run(main(*sys.argv[1:]))
"""


def start(program: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=end_with_parent,
    )


def check_in_lock_step(
    url: str, workers: int, sets: int, method: str = "fast", *, shards: int = 1
) -> tuple[Counter[int], set[int]]:
    """Let processes check near-duplicates of one another at the same moment, set after set.

    How many pages of each set were kept, and the workers that kept any.
    """
    script = ROOT / "tests" / "support" / "lock_step.py"

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
