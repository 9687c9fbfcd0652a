"""Pages for reports: an index and its archive, filled as a crawl fills them."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from crawler.dedup import DedupConfig, DuplicateIndex
from crawler.dedup.archive.archived_pages import Archive
from crawler.dedup.archive.database import archive_path
from crawler.dedup.archive.writer import ArchiveWriter
from crawler.report.content import Limits, read_content
from crawler.report.html_file import render_report
from tests.support.texts import article, changed, text

T = TypeVar("T")

# What a page may say so that a browser does something. Each would set `window.hacked`.
ATTACKS = (
    "<script>window.hacked = 1</script>",
    "</script><script>window.hacked = 1</script>",
    "<!--<script>window.hacked = 1</script>-->",
    '"><img src=//evil.example/x onerror="window.hacked = 1">',
    "'><svg onload=window.hacked=1>",
    "{{ 7 * 7 }}{% raw %}${7*7}",
    "<style>@import '//evil.example/'</style></style></title></textarea>",
    "\x00\x1b[31m \u202e desrever \u2066 \ufeff \u2028 \ud800",
    "javascript:window.hacked=1",
)
HOSTILE_URLS = (
    "javascript:window.hacked=1",
    "http://evil.example/?q=<script>window.hacked=1</script>",
    "http://</script><script>window.hacked=1</script>.example/",
    'http://a.example/"onmouseover="window.hacked=1',
    "data:text/html,<script>window.hacked=1</script>",
    "http://b.example/\u202egnp.exe",
    "http://c.example/\x00\x07",
    "http://d.example/\ud800",
    "vbscript:msgbox(1)",
)


def run(work: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns, run beside the browser, which has the loop of this thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def hostile_pages() -> list[tuple[str, str, str]]:
    """URL, text and title of pages of which every second is a near copy of the one before."""
    pages = []
    for number, (attack, url) in enumerate(zip(ATTACKS, HOSTILE_URLS, strict=True)):
        words = article(number, 300)
        for place, copy in enumerate((words, changed(words, 2))):
            spiked = [*copy[:5], attack, *copy[5:], attack]
            pages.append((f"{url}{place}", text(spiked), attack))
    return pages


def fill(config: DedupConfig, pages: Sequence[tuple[str, str, str]]) -> None:
    """Check pages, given by URL, text and title, and archive them."""

    async def check() -> None:
        async with DuplicateIndex.open(config) as index:
            writer = ArchiveWriter.of(config, index.digest)
            assert writer is not None
            for url, words, title in pages:
                verdict = await index.check(url, words)
                writer.add(words, title, verdict, [(f"menu {title}", "navigation")])
            writer.close()

    run(check())


def write_report(config: DedupConfig, path: Path, limits: Limits | None = None) -> str:
    """Write a report as the command does; its URL."""

    async def read() -> dict[str, Any]:
        async with DuplicateIndex.open(config) as index:
            with Archive.open(archive_path(config)) as archive:
                return await read_content(index, archive, limits or Limits())

    path.write_text(render_report(run(read()), config), encoding="utf-8")
    return path.as_uri()
