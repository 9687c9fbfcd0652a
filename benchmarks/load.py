"""Loading an index from a file against checking its pages one at a time.

    python benchmarks/load.py --pages 10000

Both go through the project's own client to servers of their own, the same pages, parts of the file
in turn. One side awaits `check` page by page, as somebody would who fills an index by a loop; the
other is what `scrapy dedup load` does. The start of its processes is not counted. Trust ratios.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.corpus import write
from benchmarks.index_sides import server
from crawler.dedup import DedupConfig, DuplicateIndex
from crawler.dedup.store.server.private import server_binary
from crawler.offline.checkpoint import Checkpoint
from crawler.offline.load_files import load_files
from crawler.offline.records.files import local_files


def pages_in(path: Path) -> list[tuple[str, str]]:
    with path.open() as lines:
        return [(row["url"], row["text"]) for row in map(json.loads, lines)]


async def one_by_one(index: DuplicateIndex, path: Path) -> float:
    start = time.perf_counter()
    for url, text in pages_in(path):
        await index.check(url, text)
    return time.perf_counter() - start


async def by_load(index: DuplicateIndex, path: Path, processes: int) -> float:
    """Seconds from the first exchange on; the pages before it are few."""
    times: list[float] = []
    files = local_files(str(path))
    checkpoint = Checkpoint(path.with_suffix(".done"), files, index)
    report = lambda _, seconds: times.append(seconds)  # noqa: E731
    await load_files(index, files, checkpoint, processes=processes, report=report, warn=print)
    return times[-1] - times[0]


async def measure(parts: list[Path], pages: int, processes: int) -> None:
    program = str(server_binary())
    ratios = []
    with server(program) as (one, _), server(program) as (other, _):
        single = DedupConfig(redis_url=f"unix://{one}", seed=1)
        bulk = DedupConfig(redis_url=f"unix://{other}", seed=1)
        async with DuplicateIndex.open(single) as a, DuplicateIndex.open(bulk) as b:
            for path in parts:
                slow, fast = await one_by_one(a, path), await by_load(b, path, processes)
                ratios.append(slow / fast)
                print(
                    f"single checks {pages / slow:8,.0f} pages/s   load {pages / fast:8,.0f} "
                    f"pages/s   × {ratios[-1]:.1f}",
                    flush=True,
                )
    print(f"median × {sorted(ratios)[len(ratios) // 2]:.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=5_000, help="in each part")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        write(Path(name), arguments.pages * arguments.rounds, arguments.rounds)
        parts = sorted(Path(name).glob("*.jsonl"))
        asyncio.run(measure(parts, arguments.pages, arguments.processes))


if __name__ == "__main__":
    main()
