"""What the filter costs a crawl: real pages from localhost, six ways in turn.

    python benchmarks/crawl.py --data FOLDER [--pages 400] [--rounds 4] [--linked]
    python benchmarks/crawl.py --data FOLDER --profile [--pages 400]

FOLDER holds pages as ``.html`` or ``.html.gz``. All are crawled unless --pages says how many: among
a few hundred, one collection more of all that Python has is much. With --linked each has its path
in the folder as its URL, so that links among pages of a manual lead to each other; otherwise they
lead nowhere. A process of its own serves them;
they are fetched by (a) Scrapy alone, (b) a CrawlSpider with LinkExtractor, (c) SiteSpider with
everything on, (d) the CrawlSpider with the add-on, (t) the same with items that carry the
response's tree instead of its bytes, (e) the CrawlSpider with trafilatura and datasketch in a
pipeline.
(c), (d), (t) and (e) use one server. Each crawl is a process of its own; the ways take turns, so
that what else the machine does falls on all of them. Seconds are the crawler's CPU from when its
spider is opened, for a crawl starts once, of the quickest round: what else the machine does only
adds. Elapsed time stands beside them. Trust ratios; absolute figures are this machine's.

Needs trafilatura and datasketch for (e), which is left out without them.

--profile shows a page's milliseconds by stage instead, as `stages.py` counts them: for (b), (c) and
(d) with the pages as they are, for (c) without compiled modules, and for (c) with the third of the
pages that is nearest to 5, 20 and 165 KB.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import importlib.util
import json
import math
import multiprocessing
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

import redis
from scrapy import Request, Spider, signals
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import Response
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.compiled import as_shipped, module_names
from benchmarks.tools.stages import Sampler

PLAINLY, SAMPLED, PURE = "plainly", "sampled", "pure"  # how a crawl is run
if sys.argv[-1] == PURE:  # before anything is imported that is compiled
    sys.modules.update(dict.fromkeys(module_names()))  # type: ignore[arg-type]

from crawler.dedup.store.server.private import server_binary  # noqa: E402
from crawler.spiders.site import SiteSpider  # noqa: E402

WAYS = {
    "a": "Scrapy alone: fetch, no parsing",
    "b": "CrawlSpider + LinkExtractor",
    "c": "SiteSpider, everything on",
    "d": "(b) + this add-on",
    "t": "(b) + this add-on, items with trees",
    "e": "(b) + trafilatura + datasketch",
}

SIZES = (5_000, 20_000, 165_000)  # bytes of a page
PAGES = r"^[^/]+//[^/]+/p/"  # their URLs


class Bare(Spider):
    """(a): every page is known beforehand and yielded as it comes."""

    name = "bare"

    async def start(self) -> AsyncIterator[Request]:
        for number in range(int(self.count)):
            yield Request(f"{self.site}/n/{number}")

    def parse(self, response: Response) -> Iterator[dict[str, Any]]:
        yield {"url": response.url, "html": response.body}


class Plain(CrawlSpider):
    """(b), (d), (t), (e): what Scrapy's documentation shows for a site."""

    name = "plain"
    rules = (Rule(LinkExtractor(allow=PAGES), callback="parse_page", follow=True),)

    async def start(self) -> AsyncIterator[Request]:
        yield Request(f"{self.site}/")

    def parse_page(self, response: Response) -> Iterator[dict[str, Any]]:
        html = response.selector.root if self.trees else response.body
        yield {"url": response.url, "html": html}


class PeerPipeline:
    """(e): main text by trafilatura, candidates by datasketch's LSH in Redis."""

    def __init__(self, socket: str) -> None:
        from datasketch import MinHash, MinHashLSH
        from trafilatura import extract

        self.extract = extract
        self.MinHash = MinHash
        storage = {"type": "redis", "basename": b"peer", "redis": {"unix_socket_path": socket}}
        self.lsh = MinHashLSH(threshold=0.8, num_perm=128, storage_config=storage)

    @classmethod
    def from_crawler(cls, crawler: Any) -> PeerPipeline:
        return cls(crawler.settings["PEER_SOCKET"])

    def process_item(self, item: dict[str, Any]) -> dict[str, Any]:
        words = (self.extract(item["html"]) or "").lower().split()
        shingles = {" ".join(words[n : n + 5]).encode() for n in range(len(words) - 4)}
        if shingles:
            sketch = self.MinHash(num_perm=128)
            sketch.update_batch(list(shingles))
            item["duplicates"] = self.lsh.query(sketch)
            if not item["duplicates"]:
                self.lsh.insert(item["url"], sketch, check_duplication=False)
        return item


def crawl(way: str, site: str, count: int, socket: str, how: str) -> None:
    """One crawl in this process; prints its figures as JSON."""
    sampler = Sampler() if how != PLAINLY else None
    settings: dict[str, Any] = {
        "LOG_ENABLED": False,
        "REMOTE_CONTROL_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "CONCURRENT_REQUESTS": 16,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
    }
    if way in "cdt":
        settings["ADDONS"] = {"crawler.Addon": 500}
        settings["DEDUP_REDIS_URL"] = f"unix://{socket}"
    if way == "e":
        settings["ITEM_PIPELINES"] = {PeerPipeline: 200}
        settings["PEER_SOCKET"] = socket
    process = AsyncCrawlerProcess(settings)
    arguments: dict[str, Any] = {"site": site, "count": count, "trees": way == "t"}
    if way == "c":
        arguments = {"url": f"{site}/", "allow": PAGES}
    crawler = process.create_crawler({"a": Bare, "c": SiteSpider}.get(way, Plain))
    began: list[float] = []

    def opened() -> None:
        if sampler:
            sampler.start()
        began.extend((time.process_time(), time.perf_counter()))

    crawler.signals.connect(opened, signals.spider_opened)
    process.crawl(crawler, **arguments)
    process.start()
    cpu, stages = time.process_time() - began[0], sampler.stop() if sampler else {}
    stats = crawler.stats.get_stats()
    figures = {
        "cpu": cpu,
        "stages": stages,
        "elapsed": time.perf_counter() - began[1],
        "pages": stats.get("downloader/response_status_count/200", 0),
        "dropped": stats.get("item_dropped_count", 0),
    }
    print(json.dumps(figures))


def load(folder: Path, count: int | None, *, linked: bool = False) -> dict[str, bytes]:
    """The first pages of the folder, by path; all without a count. Keys end their URLs."""
    paths = sorted(p for p in folder.rglob("*") if p.name.endswith((".html", ".html.gz")))[:count]
    if not paths:
        raise SystemExit(f"{folder} holds no .html and no .html.gz")
    return {
        quote(str(path.relative_to(folder)).removesuffix(".gz")) if linked else str(number): (
            gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        )
        for number, path in enumerate(paths)
    }


def serve(pages: dict[str, bytes], port: Any) -> None:
    """Answer for the pages and an index of them, all made beforehand."""
    index = "".join(f'<a href="/p/{name}">{name}</a> ' for name in pages)
    bodies = {f"/n/{number}": body for number, body in enumerate(pages.values())}
    bodies |= {f"/p/{name}": body for name, body in pages.items()}
    bodies["/"] = f"<html><body>{index}</body></html>".encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n"
    answers = {path: head % len(body) + body for path, body in bodies.items()}
    missing = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while request := await reader.readuntil(b"\r\n\r\n"):
                writer.write(answers.get(request.split(b" ", 2)[1].decode(), missing))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def main() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        port.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(main())


@contextmanager
def servers(pages: dict[str, bytes]) -> Iterator[tuple[str, str]]:
    """The pages' address and the socket of an empty index server."""
    here, there = multiprocessing.Pipe()
    site = multiprocessing.Process(target=serve, args=(pages, there), daemon=True)
    site.start()
    with tempfile.TemporaryDirectory(prefix="crawl-") as folder:
        socket = f"{folder}/s"
        words = [str(server_binary()), "--port", "0", "--unixsocket", socket, "--save", ""]
        index = subprocess.Popen(words, stdout=subprocess.DEVNULL)
        try:
            while not Path(socket).exists():
                time.sleep(0.01)
            yield f"http://127.0.0.1:{here.recv()}", socket
        finally:
            index.kill()
            index.wait()
            site.terminate()


def measure(way: str, site: str, count: int, socket: str, how: str = PLAINLY) -> dict[str, Any]:
    """The figures of one crawl with an empty index."""
    with redis.Redis(unix_socket_path=socket) as client:
        client.flushall()
    words = [sys.executable, __file__, "--one", way, site, str(count), socket, how]
    run = subprocess.run(words, capture_output=True, text=True, check=True)
    figures: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    if figures["pages"] < count:
        raise SystemExit(f"({way}) gave {figures['pages']} of {count} pages:\n{run.stderr[-2000:]}")
    return figures


def profile(folder: Path, count: int | None) -> None:
    """Print a page's milliseconds by stage."""
    found = load(folder, None)
    some = dict(islice(found.items(), count))
    columns = [("(b)", "b", SAMPLED, some), ("(d)", "d", SAMPLED, some)]
    columns += [("(c)", "c", SAMPLED, some), ("(c), pure", "c", PURE, some)]
    for size in SIZES:
        nearest = sorted(found, key=lambda name: abs(math.log(len(found[name]) / size)))
        some = {name: found[name] for name in nearest[: len(found) // 3]}
        columns.append((f"(c), {size // 1000} KB", "c", SAMPLED, some))
    shown = []
    for _, way, how, pages in columns:
        with servers(pages) as (site, socket):
            figures = measure(way, site, len(pages), socket, how)
        whole = sum(figures["stages"].values())
        # Samples are lost while compiled code runs on: what remains is shared out.
        scale = figures["cpu"] / whole * 1000 / len(pages)
        shown.append({stage: spent * scale for stage, spent in figures["stages"].items()})
    print("| ms a page |", " | ".join(name for name, *_ in columns), "|")
    print("|---|" + "--:|" * len(columns))
    for stage in shown[0]:
        print(f"| {stage} |", " | ".join(f"{spent[stage]:.2f}" for spent in shown), "|")
    print("| all |", " | ".join(f"{sum(spent.values()):.2f}" for spent in shown), "|")


def main() -> None:
    """Run the rounds and print ratios."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, help="folder of pages")
    parser.add_argument("--pages", type=int, help="all, if not given")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--linked", action="store_true", help="links among pages work")
    parser.add_argument("--profile", action="store_true", help="milliseconds by stage")
    parser.add_argument("--one", nargs=5, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        way, site, count, socket, how = options.one
        crawl(way, site, int(count), socket, how)
        return
    if options.data is None:
        parser.error("--data FOLDER is needed")
    as_shipped()
    if options.profile:
        profile(options.data, options.pages)
        return
    pages = load(options.data, options.pages, linked=options.linked)
    peers = all(importlib.util.find_spec(name) for name in ("trafilatura", "datasketch"))
    ways = [way for way in WAYS if way != "e" or peers]
    results: dict[str, list[dict[str, Any]]] = {way: [] for way in ways}
    with servers(pages) as (site, socket):
        for _ in range(options.rounds):
            for way in ways:
                results[way].append(measure(way, site, len(pages), socket))
    size = sum(map(len, pages.values())) / len(pages) / 1000
    print(
        f"Python {platform.python_version()}, {platform.machine()}, {multiprocessing.cpu_count()}"
    )
    print(f"{len(pages)} pages of {size:.0f} KB on average, quickest of {options.rounds} rounds\n")
    least = {way: min(figures["cpu"] for figures in results[way]) for way in ways}
    print("| way | CPU s | × (b) | ms a page | elapsed s | dropped |\n|---|--:|--:|--:|--:|--:|")
    for way in ways:
        elapsed = min(figures["elapsed"] for figures in results[way])
        print(
            f"| ({way}) {WAYS[way]} | {least[way]:.2f} | {least[way] / least['b']:.2f} "
            f"| {least[way] / len(pages) * 1000:.2f} | {elapsed:.2f} "
            f"| {results[way][0]['dropped']} |"
        )
    if peers:
        theirs = least["e"] - least["b"]
        print()
        for way in "dt":
            print(f"({way}) adds {(least[way] - least['b']) / theirs:.1%} of what (e) adds.")


if __name__ == "__main__":
    main()
