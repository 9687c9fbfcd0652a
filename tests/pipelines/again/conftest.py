"""Crawls that ask for some pages again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.pipelines.crawls import crawl
from tests.spiders.webserver import Web


@pytest.fixture
def run(web: Web, redis_url: str, tmp_path: Path) -> Callable[..., Any]:
    """Crawls the web server, one page at a time."""

    async def start(*feeds: Any, **options: Any) -> dict[str, Any]:
        given = {
            "DEDUP_REDIS_URL": redis_url,
            "DEDUP_DATA_DIR": tmp_path,
            "CONCURRENT_REQUESTS": 1,
            "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
        }
        web.seen.clear()
        return await crawl(web, *feeds, **{**given, **options})

    return start
