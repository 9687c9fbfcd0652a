"""What a long crawl of real pages keeps of memory, files, threads and time, row by row.

    python benchmarks/soak.py --data FOLDER [--pages N] [--every SECONDS] [--json]

Each folder in FOLDER is a site of its own, with all ``.html`` and ``.html.gz`` files below it.
They are served on localhost and crawled with SiteSpider, everything on, into an empty private
index.  A row is printed every so many seconds: pages, megabytes of the crawler's memory, its open
files and threads, requests that wait, and how late the event loop was at most and in one of a
hundred cases.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, unquote

from scrapy import signals
from scrapy.crawler import AsyncCrawlerProcess, Crawler

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.compiled import as_shipped
from crawler.spiders.site import SiteSpider

Row = dict[str, float]

NAP: Final = 0.02  # seconds that the event loop is asked to wake after
LISTED: Final = 500  # links on one page of a list
COLUMNS: Final = {
    "seconds": "s", "pages": "pages", "memory": "MB", "files": "files", "threads": "threads",
    "queued": "queued", "late_most": "late at most, ms", "late_99": "late in 1 of 100, ms",
}  # fmt: skip


def find_sites(folder: Path, most: int | None) -> list[list[Path]]:
    """Return the pages of each site; of all sites together `most`, the same share of each."""
    if not folder.is_dir():
        raise SystemExit(f"{folder} is no folder")
    sites = [
        sorted(p for p in site.rglob("*") if p.name.endswith((".html", ".html.gz")))
        for site in sorted(folder.iterdir())
        if site.is_dir()
    ]
    sites = [site for site in sites if site]
    if not sites:
        raise SystemExit(f"{folder} holds no folder with .html or .html.gz files")
    share = min((most or sys.maxsize) / sum(map(len, sites)), 1)
    return [site[: max(int(len(site) * share), 1)] for site in sites]


def serve(folder: Path, sites: list[list[Path]], port: Any) -> None:
    """Answer for the pages, and for lists of them: site `i` is at 127.0.0.(i + 2)."""

    def body_of(path: str, host: str) -> bytes | None:
        pages = sites[int(host.split(":")[0].rpartition(".")[2]) - 2]
        if path == "/":
            return _list_links(f"/list/{i}" for i in range(0, len(pages), LISTED))
        if path.startswith("/list/"):
            at = int(path[6:])
            return _list_links(f"/{page.relative_to(folder)}" for page in pages[at : at + LISTED])
        place = (folder / unquote(path[1:].partition("?")[0])).resolve()
        if not place.is_relative_to(folder) or not place.is_file():
            return None
        data = place.read_bytes()
        return gzip.decompress(data) if place.suffix == ".gz" else data

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := (await reader.readuntil(b"\r\n\r\n")).decode("latin-1"):
                path, host = head.split(" ", 2)[1], head.lower().partition("\nhost:")[2].split()[0]
                body = body_of(path, host)
                status = "404 Not Found" if body is None else "200 OK"
                length = f"Content-Type: text/html\r\nContent-Length: {len(body or b'')}"
                writer.write(f"HTTP/1.1 {status}\r\n{length}\r\n\r\n".encode() + (body or b""))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def main() -> None:
        server = await asyncio.start_server(answer, "0.0.0.0", 0)
        port.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(main())


def _list_links(paths: Iterator[str]) -> bytes:
    links = "".join(f'<li><a href="{quote(path)}">{path}</a></li>' for path in paths)
    return f"<html><body><nav><ul>{links}</ul></nav></body></html>".encode()


@contextmanager
def served(folder: Path, sites: list[list[Path]]) -> Iterator[list[str]]:
    """The URLs of the sites, which another process serves."""
    here, there = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(folder, sites, there), daemon=True)
    server.start()
    port = here.recv()
    try:
        yield [f"http://127.0.0.{i + 2}:{port}/" for i in range(len(sites))]
    finally:
        server.terminate()


class Watch:
    """Prints a row for every so many seconds of a crawl, and keeps them."""

    def __init__(self, crawler: Crawler, every: float, *, silent: bool) -> None:
        self.rows: list[Row] = []
        self._crawler, self._every, self._silent = crawler, every, silent
        crawler.signals.connect(self._begin, signals.spider_opened)
        crawler.signals.connect(self._end, signals.spider_closed)

    def _begin(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._watch())

    def _end(self) -> None:
        self._task.cancel()

    async def _watch(self) -> None:
        began = told = time.perf_counter()
        late: list[float] = []
        while True:
            before = time.perf_counter()
            await asyncio.sleep(NAP)
            now = time.perf_counter()
            late.append((now - before - NAP) * 1000)
            if now - told >= self._every:
                self._add_row(now - began, sorted(late))
                told, late = now, []

    def _add_row(self, seconds: float, late: list[float]) -> None:
        engine, stats = self._crawler.engine, self._crawler.stats
        assert engine is not None
        assert stats is not None
        slot = getattr(engine, "_slot", None) or engine.slot
        row = {
            "seconds": round(seconds),
            "pages": stats.get_value("response_received_count", 0),
            "memory": round(_resident_bytes() / 1e6),
            "files": _count_entries("/proc/self/fd"),
            "threads": _count_entries("/proc/self/task"),
            "queued": len(slot.scheduler) + len(engine.downloader.active),
            "late_most": round(late[-1]),
            "late_99": round(late[len(late) * 99 // 100]),
        }
        self.rows.append(row)
        if not self._silent:
            print("|", " | ".join(f"{row[name]:,}" for name in COLUMNS), "|", flush=True)


def _count_entries(folder: str) -> int:
    return sum(1 for _ in Path(folder).iterdir())


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def main() -> None:
    """Crawl, and print the rows."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of folders of pages")
    parser.add_argument("--pages", type=int, help="all, if not given")
    parser.add_argument("--every", type=float, default=30.0, help="seconds between rows")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    as_shipped()
    folder = options.data.resolve()
    sites = find_sites(folder, options.pages)
    with served(folder, sites) as urls, tempfile.TemporaryDirectory(prefix="soak-") as data:
        settings = {
            "ADDONS": {"crawler.Addon": 500},
            "DEDUP_DATA_DIR": data,
            "LOG_ENABLED": False,
            "TELNETCONSOLE_ENABLED": False,
            "CONCURRENT_REQUESTS": 16,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 4,
        }
        process = AsyncCrawlerProcess(settings)
        crawler = process.create_crawler(SiteSpider)
        watch = Watch(crawler, options.every, silent=options.json)
        if not options.json:
            print("|", " | ".join(COLUMNS.values()), "|")
            print("|" + "--:|" * len(COLUMNS))
        process.crawl(crawler, url=",".join(urls))
        process.start()
    stats = crawler.stats.get_stats()
    kinds = {name: count for name, count in sorted(stats.items()) if name.startswith("dedup/")}
    print(json.dumps({"rows": watch.rows, "stats": kinds} if options.json else kinds, default=str))


if __name__ == "__main__":
    main()
