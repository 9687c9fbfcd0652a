"""An index with a configuration of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from crawler.dedup import (
    DedupConfig,
    DuplicateIndex,
)


@pytest.fixture
def config(index_url: str) -> DedupConfig:
    return DedupConfig(redis_url=index_url, shards=8, seed=1)


@pytest.fixture
async def index(config: DedupConfig) -> AsyncIterator[DuplicateIndex]:
    async with DuplicateIndex.open(config) as opened:
        yield opened
        assert (await opened.verify()).faults == []
