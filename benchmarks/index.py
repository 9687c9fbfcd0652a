"""The index against datasketch's MinHashLSH on one server, in turn.

    python benchmarks/index.py --pages 100000 --peer-pages 10000
    python benchmarks/index.py --pages 1000000 --at 10000 30000 100000 300000 1000000

Both look a page up and keep it if it is new. One page in ten is a near-duplicate at Jaccard 0.9 of
one of the latest 2,000; one in fifty each is one at 0.85 and at 0.8, to measure recall. Sketches
are made beforehand and not timed: benchmarks/sketch.py times those. URLs have 60 characters, hosts
1,000 pages. Bytes are what the server's memory has grown by since it was ready: a few pages of an
index that was deleted again have made it load the scripts and its buffers before. The server's CPU
is what the server says of itself. Trust ratios; absolute figures are this machine's. `--at` names
the sizes at which a row is printed.

The rows follow each other, and the machine may be slower at the end of an hour. So the last lines
compare sizes fairly: another server has the latest pages only, 10,000 or fewer, and both check the
same new pages in turn, in random order. It begins with a power of two fewer, for a page costs up
to a tenth more shortly before the tables have doubled. They check other new pages by their texts,
too, so that all is timed that a crawl pays once it has a page's main text. As the small index grows
meanwhile, and a single comparison errs by .05 on a restless machine, there are several in turn.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import platform
import random
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.tools.index_sides import (
    EXCHANGE,
    SHINGLES,
    SIMILARITIES,
    Datasketch,
    Ours,
    Pages,
    opened,
    server,
)
from crawler.dedup.store.server.private import server_binary

STEP = 500  # pages that a side checks before it is the other's turn
SMALL = 10_000  # pages, at most, of the indexes that the large one is compared with
SMALL_ONES = 4
ROUNDS, ROUND = 24, 128  # in which each is, and pages of a round


async def compare_sizes(large: Ours, small_ones: Sequence[Ours], source: Pages) -> dict[str, Any]:
    """What a page costs two indexes that check the same new pages in turn: all of it from the text
    on, from the sketch on, and the server's CPU."""
    mean_size = small_ones[0].pages + ROUNDS * ROUND
    found: dict[bool, list[tuple[float, ...]]] = {True: [], False: []}
    for small, _ in product(small_ones, range(ROUNDS)):
        texts = [(large.url()[0], source.text()) for _ in range(ROUND)]
        pages = [large.prepare(source.draw()[0]) for _ in range(ROUND)]
        for side in random.sample((large, small), 2):
            start = side.seconds
            await side.check_texts(texts)
            between = (side.seconds, side.cpu)
            await side.check(pages)
            seconds = (between[0] - start, side.seconds - between[0], side.cpu - between[1])
            found[side is large].append(tuple(value / ROUND * 1e6 for value in seconds))
    small_us, large_us = np.array(found[False]), np.array(found[True])
    medians = (
        np.median(column, 0).tolist() for column in (small_us, large_us, large_us / small_us)
    )
    return {"small_pages": mean_size} | {
        name: dict(zip(("from_text", "from_sketch", "server_cpu"), row, strict=True))
        for name, row in zip(("small_us", "large_us", "ratio"), medians, strict=True)
    }


async def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    async with AsyncExitStack() as stack:

        async def start() -> Ours:
            return await stack.enter_async_context(
                opened(*stack.enter_context(server(arguments.server)))
            )

        ours, *small_ones = [await start() for _ in range(1 + SMALL_ONES)]
        peer_socket, peer_client = stack.enter_context(server(arguments.server))
        peer = Datasketch(peer_client, peer_socket, ours.config.threshold)
        empty = {side.name: side.memory() for side in (ours, peer)}
        source = Pages(arguments.seed)
        small_pages = arguments.pages
        while small_pages > SMALL:
            small_pages //= 2
        only_large = arguments.pages - small_pages
        sizes = arguments.at or [arguments.pages * share for share in (0.1, 0.5, 1)]
        marks = {round(size) // STEP * STEP for size in sizes}
        last = (0, 0.0, 0.0, 0.0)
        for begin in range(0, arguments.pages, STEP):
            drawn = [source.draw() for _ in range(STEP)]
            ready = [ours.prepare(page) for page, _ in drawn]
            for (_, similarity), found in zip(drawn, await ours.check(ready), strict=True):
                ours.count(similarity, found)
            for small in small_ones:
                await small.check(ready[max(0, only_large - begin) :])
            if begin < arguments.peer_pages:
                sketches = [peer.prepare(page) for page, _ in drawn]
                for (_, similarity), found in zip(drawn, peer.check(sketches), strict=True):
                    peer.count(similarity, found)
                if begin + STEP >= arguments.peer_pages or begin + STEP >= arguments.pages:
                    rows.append(row(peer, empty, last))
                    rows.append(row(ours, empty, last))
            if begin + STEP in marks:
                rows.append(row(ours, empty, last) | {"since": last[0]})
                last = (ours.pages, ours.seconds, ours.cpu, ours.client_cpu)
        growth = await compare_sizes(ours, small_ones, source)
        about: Any = ours.client.info("server")
        version = about.get("valkey_version", about["redis_version"])
    return {
        "environment": {
            "python": platform.python_version(),
            "machine": platform.machine(),
            "server": version,
            "exchange": EXCHANGE,
        },
        "rows": rows,
        "growth": growth,
    }


def row(
    side: Ours | Datasketch, empty: dict[str, int], since: tuple[int, float, float, float]
) -> dict[str, Any]:
    pages = side.pages - since[0]
    return {
        "index": side.name,
        "pages": side.pages,
        "kept": side.kept,
        "pages_per_second": pages / (side.seconds - since[1]),
        "requests_a_page": side.requests / side.pages,
        "server_cpu_us": (side.cpu - since[2]) / pages * 1e6,
        "client_cpu_us": (side.client_cpu - since[3]) / pages * 1e6,
        "bytes_per_kept_page": (side.memory() - empty[side.name]) / side.kept,
        "recall": {str(s): side.found[s] / max(1, side.asked[s]) for s in SIMILARITIES},
        "false_duplicates": side.false,
    }


def print_result(result: dict[str, Any]) -> None:
    print(", ".join(f"{name} {value}" for name, value in result["environment"].items()))
    print(
        f"{'index':16}{'pages':>10}{'pages/s':>10}{'× peer':>8}{'server µs':>11}"
        f"{'client µs':>11}{'requests':>10}{'bytes':>8}{'R .90':>7}{'R .85':>7}{'R .80':>7}"
        f"{'false':>7}"
    )
    peer = next(r["pages_per_second"] for r in result["rows"] if r["index"] == "datasketch")
    for item in result["rows"]:
        recall = "".join(f"{value:7.3f}" for value in item["recall"].values())
        print(
            f"{item['index']:16}{item['pages']:10,}{item['pages_per_second']:10,.0f}"
            f"{item['pages_per_second'] / peer:8.1f}{item['server_cpu_us']:11.1f}"
            f"{item['client_cpu_us']:11.1f}{item['requests_a_page']:10.2f}{item['bytes_per_kept_page']:8.0f}"
            f"{recall}{item['false_duplicates']:7}"
        )
    print("The first two rows are the same pages in turn; the others are since the row before.")
    growth = result["growth"]
    sizes = f"{growth['small_pages']:,} pages and at {result['rows'][-1]['pages']:,}"
    print(f"A page in turn, medians of {SMALL_ONES * ROUNDS} rounds, at {sizes}:")
    for name, words in (
        ("from_text", f"from a text of {SHINGLES + 4} words on"),
        ("from_sketch", "from its sketch on"),
        ("server_cpu", "of that the server's CPU"),
    ):
        small, large, ratio = (growth[key][name] for key in ("small_us", "large_us", "ratio"))
        print(f"  {words}: {small:.1f} and {large:.1f} µs, × {ratio:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=100_000, help="pages to check")
    parser.add_argument("--peer-pages", type=int, default=5_000, help="of which the peer checks")
    parser.add_argument("--at", type=int, nargs="+", help="sizes at which a row is printed")
    parser.add_argument("--server", default=str(server_binary()), help="program of the server")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    if find_spec("datasketch") is None:
        parser.error("it is compared with datasketch: pip install datasketch")
    result = asyncio.run(measure(arguments))
    print(json.dumps(result, indent=2)) if arguments.json else print_result(result)


if __name__ == "__main__":
    main()
