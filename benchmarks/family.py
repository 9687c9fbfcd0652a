"""What a family of pages costs the server: each is 70 % like the others, so that none is a copy.

Prints the time of one script call that checks a batch of such pages, and that of a plain batch, of
pages that are like no other, in an index of as many pages.

    python benchmarks/family.py --pages 1000 --batch 64
"""

from __future__ import annotations

import argparse
import asyncio
import platform
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from crawler.dedup import DedupConfig, DuplicateIndex
from crawler.dedup.exchange.requests import request_of
from tests.conftest import Server
from tests.support.texts import article, changed, text

ROUNDS = 5
WORDS = 300
CHANGED = 8  # words of each page of the family: of the shingles of two, 70 % are in both


def plain_page(number: int) -> str:
    return text(article(number, WORDS))


def family_page(number: int) -> str:
    return text(changed(article(0, WORDS), CHANGED, seed=number))


async def milliseconds(
    server: Server, page: Callable[[int], str], pages: int, batch: int
) -> Sequence[float]:
    """Of the calls that check further batches, the server's time."""
    server.ask("FLUSHALL")
    async with DuplicateIndex.open(DedupConfig(redis_url=server.url)) as index:

        def requests(start: int, end: int) -> list[object]:
            fingerprints = index.fingerprint.many(page(number) for number in range(start, end))
            return [
                request_of(index.config, f"http://a.example/{number}", one)
                for number, one in zip(range(start, end), fingerprints, strict=True)
            ]

        for start in range(0, pages, batch):
            await index.store.check(requests(start, start + batch))
        found = []
        for turn in range(ROUNDS):
            start = pages + turn * batch
            asked = requests(start, start + batch)
            before = cpu_milliseconds(server)
            await index.store.check(asked)
            found.append(cpu_milliseconds(server) - before)
        return sorted(found)


def cpu_milliseconds(server: Server) -> float:
    """Milliseconds of the processor that a server has taken, whatever else the machine does."""
    stats = server.ask("INFO", "cpu")
    return 1000 * float(stats["used_cpu_user"] + stats["used_cpu_sys"])


async def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--pages", type=int, default=1000, help="in the index before")
    parser.add_argument("--batch", type=int, default=64, help="pages of a call")
    options = parser.parse_args()
    server = Server(Path(tempfile.mkdtemp(prefix="family-")))
    try:
        found = {
            name: await milliseconds(server, page, options.pages, options.batch)
            for name, page in (("plain", plain_page), ("family", family_page))
        }
    finally:
        server.kill()
    print(f"Python {platform.python_version()}, {platform.machine()}, {options.batch} pages a call")
    for name, times in found.items():
        ratio = times[0] / found["plain"][0]
        print(f"{name:8}{times[0]:8.1f} ms at best, {times[-1]:.1f} at worst  ({ratio:.1f} ×)")


if __name__ == "__main__":
    asyncio.run(main())
