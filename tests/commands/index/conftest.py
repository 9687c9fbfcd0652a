"""An index that commands are asked of."""

from __future__ import annotations

import pytest

from crawler.dedup import DedupConfig


@pytest.fixture
def config(redis_url):
    return DedupConfig(redis_url=redis_url)
