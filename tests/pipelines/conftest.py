"""A pipeline without a crawl, on a real index."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import scrapy
from scrapy.utils.reactor import install_reactor

from crawler.dedup import DedupConfig
from crawler.pipelines import DuplicatePipeline

# Before 2.15 no crawler can be made without a reactor, nor crawls be run side by side in a test.
collect_ignore = []
if scrapy.version_info < (2, 15):
    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
    collect_ignore += ["test_asked_again.py", "test_left_requests.py"]
    collect_ignore += ["test_moving_texts.py", "test_items_of_page.py", "test_spared.py"]


class Bench:
    """A pipeline with what it counted and whether it asked for the crawl to stop or fail."""

    def __init__(self, config: DedupConfig) -> None:
        self.stats: Counter[str] = Counter()
        self.stops = 0
        self.failures = 0
        self.pipeline = DuplicatePipeline(config, self._count, self._stop, self._fail)

    def _count(self, name: str) -> None:
        self.stats[name] += 1

    def _stop(self) -> None:
        self.stops += 1

    def _fail(self) -> None:
        self.failures += 1

    async def process(self, item: Any) -> Any:
        return await self.pipeline.process_item(item)


@pytest.fixture
async def open_bench(redis_url: str, tmp_path: Path) -> AsyncIterator[Callable[..., Any]]:
    """Opens a pipeline with these settings on an empty index."""
    async with AsyncExitStack() as stack:

        async def start(**values: Any) -> Bench:
            given = {"redis_url": redis_url, "data_dir": tmp_path, "seed": 7, **values}
            bench = Bench(DedupConfig(**given))
            await bench.pipeline.open_spider()
            stack.push_async_callback(bench.pipeline.close_spider)
            return bench

        yield start


@pytest.fixture
async def bench(open_bench: Callable[..., Any]) -> Bench:
    opened: Bench = await open_bench()
    return opened
