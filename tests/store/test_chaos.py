"""A small round of each fault of `make chaos`, and what may hit one crawler alone."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from crawler.dedup import DedupConfig, DuplicateIndex, Kind
from tests.conftest import Server
from tests.store.chaos import ROUNDS, SETS
from tests.support.texts import article, changed, text
from tests.support.workers import ROOT


@pytest.mark.parametrize("name", ROUNDS)
async def test_a_round_of_faults(start_server: Callable[..., Server], name: str) -> None:
    """One survivor of each set, no text lost, a clean audit."""
    survivors, faults = await ROUNDS[name](start_server, random.Random(name), 1)
    assert survivors == dict.fromkeys(range(SETS[name]), 1)
    assert faults == []


async def test_a_clock_that_jumps_on_one_crawler(
    index_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By an hour, ahead and back: two crawlers still keep one page of each set, and what the one
    saw is there for the other."""
    clock = time.time
    config = DedupConfig(redis_url=index_url, ttl=86_400)
    kept = 0
    async with DuplicateIndex.open(config) as one, DuplicateIndex.open(config) as two:
        for n in range(12):
            for worker, index in enumerate((one, two)):
                jump = (0, 3600, -3600)[n // 4] if worker else 0
                monkeypatch.setattr(time, "time", lambda jump=jump: clock() + jump)
                page = text(changed(article(n, 400), 1, seed=worker))
                verdict = await index.check(f"http://{worker}/{n}", page)
                kept += verdict.duplicate_of is None
        monkeypatch.setattr(time, "time", clock)
        assert kept == 12
        again = await one.check_many(
            [(f"http://0/{n}", text(changed(article(n, 400), 1, seed=0))) for n in range(12)]
        )
        assert {verdict.kind for verdict in again} == {Kind.UNCHANGED}
        assert not (await two.verify()).faults


OWN = """
import asyncio, sys
from pathlib import Path
from crawler.dedup import DedupConfig, DuplicateIndex

async def main(folder):
    async with DuplicateIndex.open(DedupConfig(data_dir=Path(folder)), spool=True) as index:
        print((await index.check("http://a/", "one two three four five six seven")).kind)

try:
    asyncio.run(main(sys.argv[1]))
except Exception as error:
    print(error)
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be somebody else")
def test_a_user_that_is_not_root() -> None:
    """The private server is its user's; another user is told what to do."""

    def run_as(user: int, folder: Path) -> str:
        words = [sys.executable, "-c", OWN, str(folder)]
        try:
            done = subprocess.run(
                words,
                cwd=ROOT,
                user=user,
                group=user,
                extra_groups=[],
                text=True,
                stdout=subprocess.PIPE,
            )
        except PermissionError:
            pytest.skip("this Python is root's alone")
        return done.stdout.strip()

    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o711)
        folder = Path(name) / "data"
        folder.mkdir()
        os.chown(folder, 65_534, 65_534)
        assert run_as(65_534, folder) == "unique"
        assert run_as(65_534, folder) == "unchanged"
        assert "DEDUP_DATA_DIR" in run_as(65_533, folder)
