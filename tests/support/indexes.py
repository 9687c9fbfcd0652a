"""Indexes that are sound when a test is done with them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from crawler.dedup import DedupConfig, DuplicateIndex


@asynccontextmanager
async def opened(url: str, **settings: Any) -> AsyncIterator[DuplicateIndex]:
    """An index with these settings, on a cluster in four parts."""
    async with DuplicateIndex.open(DedupConfig(redis_url=url, shards=4, **settings)) as index:
        yield index
        assert (await index.verify()).faults == []
