"""What the index adds to a crawl's delays: short pages from localhost, with and without the filter.

    python benchmarks/latency.py [--pages 4000] [--concurrent 1 16 100]

Pages of 500 words, one in ten a near-duplicate of an earlier one, are fetched with so many requests
at once; the item has its text, so that nothing is parsed. Printed are how late the event loop is
for a task that wants to run every millisecond, how long a page waits for its verdict, and how many
pages share an exchange with the server. Trust the difference to the crawl without the filter.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import redis
from scrapy import Request, Spider, signals
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import Response

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.crawl import servers
from crawler.dedup import DuplicateIndex

WORDS = 500
PULSE = 0.001  # seconds


class Texts(Spider):
    """Every page is known beforehand and yielded with its text."""

    name = "texts"

    async def start(self) -> AsyncIterator[Request]:
        for number in range(int(self.count)):
            yield Request(f"{self.site}/p/{number}")

    def parse(self, response: Response) -> Iterator[dict[str, Any]]:
        yield {"url": response.url, "text": response.text}


def make_texts(count: int) -> dict[str, bytes]:
    """Texts of random words by number, each tenth an earlier one with a word changed."""
    rng = random.Random(1)
    vocabulary = [f"w{number}" for number in range(20_000)]
    pages: list[list[str]] = []
    for number in range(count):
        if number % 10 == 9:
            page = list(rng.choice(pages))
            page[rng.randrange(WORDS)] = "changed"
        else:
            page = rng.choices(vocabulary, k=WORDS)
        pages.append(page)
    return {str(number): " ".join(page).encode() for number, page in enumerate(pages)}


def crawl(filtered: bool, site: str, count: int, concurrent: int, socket: str) -> None:
    """One crawl in this process; prints its figures as JSON."""
    late: list[float] = []
    waits: list[float] = []

    async def pulse() -> None:
        while True:
            due = time.perf_counter() + PULSE
            await asyncio.sleep(PULSE)
            late.append(time.perf_counter() - due)

    check = DuplicateIndex.check

    async def timed(*args: Any, **options: Any) -> Any:
        start = time.perf_counter()
        verdict = await check(*args, **options)
        waits.append(time.perf_counter() - start)
        return verdict

    DuplicateIndex.check = timed  # type: ignore[method-assign]
    settings: dict[str, Any] = {
        "LOG_ENABLED": False,
        "REMOTE_CONTROL_ENABLED": False,
        "CONCURRENT_REQUESTS": concurrent,
        "CONCURRENT_REQUESTS_PER_DOMAIN": concurrent,
    }
    if filtered:
        settings["ADDONS"] = {"crawler.Addon": 500}
        settings |= {"DEDUP_REDIS_URL": f"unix://{socket}", "DEDUP_ARCHIVE": 0}
    process = AsyncCrawlerProcess(settings)
    crawler = process.create_crawler(Texts)
    tasks = []
    crawler.signals.connect(
        lambda: tasks.append(asyncio.ensure_future(pulse())), signals.spider_opened, weak=False
    )
    process.crawl(crawler, site=site, count=count)
    process.start()
    print(json.dumps({"late": late, "waits": waits}))


def main() -> None:
    """Run the crawls in turn and print their delays."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=4000)
    parser.add_argument("--concurrent", type=int, nargs="+", default=[1, 16, 100])
    parser.add_argument("--one", nargs=5, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        filtered, site, count, concurrent, socket = options.one
        crawl(filtered == "1", site, int(count), int(concurrent), socket)
        return
    print("| requests at once | filter | loop late, ms: median | 99 % | most ", end="")
    print("| verdict after, ms: median | 99 % | pages in an exchange |")
    print("|--:|---|--:|--:|--:|--:|--:|--:|")
    with servers(make_texts(options.pages)) as (site, socket):
        for concurrent in options.concurrent:
            for filtered in (0, 1):
                with redis.Redis(unix_socket_path=socket) as client:
                    client.flushall()
                    words = map(str, (filtered, site, options.pages, concurrent, socket))
                    run = subprocess.run(
                        [sys.executable, __file__, "--one", *words],
                        capture_output=True, text=True, check=True,
                    )  # fmt: skip
                    exchanges = int(client.hget("{dedup}:state", "exchanges") or 0)
                figures = json.loads(run.stdout.splitlines()[-1])
                cells = [concurrent, "yes" if filtered else "no"]
                cells += [
                    f"{1000 * quantile(figures['late'], part):.2f}" for part in (0.5, 0.99, 1)
                ]
                if filtered:
                    cells += [
                        f"{1000 * quantile(figures['waits'], part):.2f}" for part in (0.5, 0.99)
                    ]
                    cells.append(f"{options.pages / exchanges:.1f}")
                print("| " + " | ".join(map(str, cells)) + " |" + "  |" * (3 * (not filtered)))


def quantile(values: list[float], part: float) -> float:
    """The value below which so large a part of the values lies."""
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


if __name__ == "__main__":
    main()
