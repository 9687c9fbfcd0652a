"""A visitor who may see the web page, and what people decided there."""

from __future__ import annotations

from pathlib import Path

from crawler.dedup import DedupConfig, DuplicateIndex
from tests.report.browser import Visit
from tests.report.pages import run
from tests.report.serving import Served

ROOT = Path(__file__).parents[3]
COPY = "https://b.example/story"
PATHS = (
    "/",
    "/decisions",
    "/clusters",
    "/clusters?order=size",
    "/threshold?t=0.95",
    "/overrides",
    "/threshold?t=0.6",
    "/stories",
    f"/page?url={COPY}",
    "/page?url=https://a.example/story",
    "/search?q=story",
    "/page?url=nowhere",
    "/nothing",
)


def enter(seen: Visit, site: Served, path: str = "/") -> None:
    """Come with the token, then go on."""
    seen.page.goto(site.address)
    if path != "/":
        seen.page.goto(site.root + path)


def overrides(config: DedupConfig) -> dict[str, str]:
    async def ask() -> dict[str, str]:
        async with DuplicateIndex.open(config) as index:
            return await index.overrides()

    return run(ask())


async def override(config: DedupConfig, url: str) -> None:
    async with DuplicateIndex.open(config) as index:
        await index.override(url, "keep")
