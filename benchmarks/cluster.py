"""The index on clusters of 1, 2, 3 and 6 nodes, beside one server, on this machine.

    python benchmarks/cluster.py --pages 4000                # in one slot
    python benchmarks/cluster.py --pages 4000 --shards 24    # spread over the nodes

Every page is new, with 500 shingles and a URL of 60 characters; fingerprints are made beforehand.
Then all pages come again unchanged. The nodes share this machine's cores with the client, so pages
per second do not grow with the nodes here: what counts is the server's CPU per page, as the nodes
say of themselves, and how evenly it and the memory lie on them. From that follows what nodes with
cores of their own would do.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import redis

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.tools.index_sides import server_cpu
from crawler.dedup import DedupConfig, DuplicateIndex
from crawler.dedup.fingerprint import EXACT_BYTES, Fingerprint, make_sketcher
from crawler.dedup.sketches.odd import odd_sketches
from crawler.dedup.store.messages import CheckRequest
from crawler.dedup.store.server.private import server_binary

SHINGLES = 500
SLOTS = 16_384
FIRST_PORT = 21_000
AT_ONCE = 128  # pages that a crawl has under way


@contextmanager
def nodes(count: int) -> Iterator[tuple[str, list[redis.Redis]]]:
    """One server for 0, else a cluster; its address and a client of each node."""
    root = Path(tempfile.mkdtemp(prefix="bench-"))
    processes, clients = [], []
    for number in range(max(1, count)):
        folder = root / str(number)
        folder.mkdir()
        port = FIRST_PORT + number
        words = [str(server_binary()), "--port", str(port), "--save", "", "--dir", str(folder)]
        if count:
            words += ["--cluster-enabled", "yes"]
        processes.append(subprocess.Popen(words, stdout=subprocess.DEVNULL))
        clients.append(redis.Redis(port=port, protocol=2))
    try:
        for number, client in enumerate(clients):
            _wait(client.ping)
            if count:
                first, end = number * SLOTS // count, (number + 1) * SLOTS // count
                client.execute_command("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
                client.execute_command("CLUSTER", "ADDSLOTSRANGE", first, end - 1)
                client.execute_command("CLUSTER", "MEET", "127.0.0.1", FIRST_PORT)
        for client in clients if count else ():
            _wait(lambda client=client: client.cluster("INFO")["cluster_state"] == "ok")
        yield f"redis{'+cluster' if count else ''}://127.0.0.1:{FIRST_PORT}", clients
    finally:
        for process, client in zip(processes, clients, strict=True):
            client.close()
            process.kill()
            process.wait()
        shutil.rmtree(root)


def _wait(condition: Any) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            if condition():
                return
        except redis.ConnectionError:
            pass
        time.sleep(0.05)
    raise TimeoutError("the servers do not come up")


def requests(count: int) -> list[CheckRequest]:
    """New pages, without anything in common."""
    rng = np.random.default_rng(1)
    config = DedupConfig()
    sketcher = make_sketcher(config, seed=1)
    found = []
    for number in range(count):
        shingles = rng.integers(0, 2**64, SHINGLES, dtype=np.uint64)
        keys = sketcher.keys(sketcher.sketch_shingles(shingles)).astype(">u4").tobytes()
        odd = odd_sketches(shingles, config.verify_bits, config.threshold)
        page = Fingerprint(rng.bytes(EXACT_BYTES), SHINGLES + 4, keys, odd)
        host = f"www.host{number % 997:03d}.example"
        url = f"https://{host}/articles/{number:09d}/".ljust(60, "x")
        found.append(CheckRequest(url, host, rng.bytes(4), page))
    return found


async def measure(
    url: str, clients: list[redis.Redis], pages: list[CheckRequest], shards: int
) -> list[str]:
    """Figures of one row."""
    async with DuplicateIndex.open(DedupConfig(redis_url=url, shards=shards)) as index:
        memory = list(map(_used_memory, clients))
        cpu = list(map(server_cpu, clients))
        seconds, own = time.perf_counter(), time.process_time()
        await _check(index, pages)
        await index.stats()  # returns when the work in the background is done
        own, seconds = time.process_time() - own, time.perf_counter() - seconds
        cpu = [server_cpu(client) - before for client, before in zip(clients, cpu, strict=True)]
        memory = [
            _used_memory(client) - before for client, before in zip(clients, memory, strict=True)
        ]
        again = time.perf_counter()
        await _check(index, [page._replace(token=os.urandom(4)) for page in pages])
        again = time.perf_counter() - again
    count = len(pages)
    return [
        f"{count / seconds:,.0f}",
        f"{count / again:,.0f}",
        f"{1e6 * sum(cpu) / count:.0f}",
        f"{1e6 * max(cpu) / count:.0f}",
        f"{1e6 * own / count:.0f}",
        f"{sum(memory) / count:.0f}",
        f"{max(memory) / (sum(memory) / len(memory)):.2f}",
    ]


async def _check(index: DuplicateIndex, pages: list[CheckRequest]) -> None:
    for start in range(0, len(pages), AT_ONCE):
        part = pages[start : start + AT_ONCE]
        await asyncio.gather(*map(index._exchange.check, part))


def _used_memory(client: redis.Redis) -> int:
    info: Any = client.info("memory")
    return int(info["used_memory"])


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=4000)
    parser.add_argument("--nodes", type=int, nargs="+", default=[0, 1, 2, 3, 6])
    parser.add_argument("--shards", type=int, default=1, help="DEDUP_SHARDS")
    arguments = parser.parse_args()
    pages = requests(arguments.pages)
    print(f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}, ")
    print(f"{arguments.pages:,} pages, {AT_ONCE} at once; CPU in µs per new page\n")
    print("| nodes | new pages/s | unchanged/s | servers' CPU | busiest node | client's CPU "
          "| bytes per page | fullest : mean |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|")
    for count in arguments.nodes:
        with nodes(count) as (url, clients):
            row = asyncio.run(measure(url, clients, pages, arguments.shards))
        print("|", " | ".join([str(count) if count else "one server", *row]), "|")


if __name__ == "__main__":
    main()
