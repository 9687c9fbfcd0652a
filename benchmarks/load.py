"""Loading an index from a file against checking its pages one at a time.

    python benchmarks/load.py --pages 10000

Both go through the project's own client to servers of their own, the same pages, parts of the file
in turn. One side awaits `check` page by page, as somebody would who fills an index by a loop; the
other is what `scrapy dedup load` does. The start of its processes is not counted.

What a page takes of CPU is printed beside, for on a machine with other work the clock says little.
Page by page, client and server wait for each other: a page takes the sum of both. In a load they
and the processes work at once: it takes what the busiest takes, or on few cores the share of each.
From that follow the ratios on so many free cores.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import sys
import tempfile
import time
from operator import sub
from pathlib import Path
from statistics import median
from typing import NamedTuple

import redis

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.corpus import write_corpus
from benchmarks.tools.folders import read_rows
from benchmarks.tools.index_sides import server, server_cpu
from crawler.dedup import DedupConfig, DuplicateIndex
from crawler.dedup.store.server.private import server_binary
from crawler.offline.checkpoint import Checkpoint
from crawler.offline.load_files import load_files
from crawler.offline.records.files import local_files


def pages_in(path: Path) -> list[tuple[str, str]]:
    return [(row["url"], row["text"]) for row in read_rows(path)]


class Spent(NamedTuple):
    """Seconds: by the clock, and of CPU by this process, the server and the processes of a load."""

    clock: float
    client: float
    server: float
    processes: float

    def since(self, start: Spent) -> Spent:
        return Spent(*map(sub, self, start))


def spent_by(client: redis.Redis) -> Spent:
    ticks = 0
    for child in multiprocessing.active_children():
        fields = Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return Spent(
        time.perf_counter(),
        time.process_time(),
        server_cpu(client),
        ticks / os.sysconf("SC_CLK_TCK"),
    )


async def one_by_one(index: DuplicateIndex, path: Path, client: redis.Redis) -> Spent:
    start = spent_by(client)
    for url, text in pages_in(path):
        await index.check(url, text)
    return spent_by(client).since(start)


async def by_load(index: DuplicateIndex, path: Path, client: redis.Redis, processes: int) -> Spent:
    """What is spent from the first exchange on; the pages before it are few."""
    spent: list[Spent] = []
    files = local_files(str(path))
    checkpoint = Checkpoint(path.with_suffix(".done"), files, index)

    def report(line: str) -> None:
        spent[1:] = [spent_by(client)]

    await load_files(index, files, checkpoint, processes=processes, report=report, warn=print)
    return spent[-1].since(spent[0])


async def measure(parts: list[Path], pages: int, processes: int) -> None:
    program = str(server_binary())
    rounds: list[tuple[Spent, Spent]] = []
    with server(program) as (one, a_client), server(program) as (other, b_client):
        single = DedupConfig(redis_url=f"unix://{one}", seed=1)
        bulk = DedupConfig(redis_url=f"unix://{other}", seed=1)
        async with DuplicateIndex.open(single) as a, DuplicateIndex.open(bulk) as b:
            for path in parts:
                slow = await one_by_one(a, path, a_client)
                fast = await by_load(b, path, b_client, processes)
                rounds.append((slow, fast))
                print(
                    f"single checks {pages / slow.clock:8,.0f} pages/s   load "
                    f"{pages / fast.clock:8,.0f} pages/s   × {slow.clock / fast.clock:.1f}",
                    flush=True,
                )
    print(f"median × {median(slow.clock / fast.clock for slow, fast in rounds):.1f}")
    slow, fast = (
        Spent(*map(median, zip(*side, strict=True))) for side in zip(*rounds, strict=True)
    )
    for name, side in ("single checks", slow), ("load", fast):
        shares = (f"{word} {value / pages * 1e6:.0f}" for word, value in side._asdict().items())
        print(f"{name}, µs a page: {', '.join(shares)}")
    alone = slow.client + slow.server
    for cores in (1, 2, 4):
        each = fast.processes / processes
        busiest = max(fast.client, fast.server, each, sum(fast[1:]) / cores)
        print(f"by CPU, {cores} free core{'s' * (cores > 1)}: × {alone / busiest:.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=5_000, help="in each part")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        write_corpus(Path(name), arguments.pages * arguments.rounds, arguments.rounds)
        parts = sorted(Path(name).glob("*.jsonl"))
        asyncio.run(measure(parts, arguments.pages, arguments.processes))


if __name__ == "__main__":
    main()
