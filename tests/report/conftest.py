"""A browser for all tests of this folder, and an index with a folder of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from crawler.dedup import DedupConfig
from tests.report.browser import CHROMIUM, open_browser


# Not of the session: while it is open, this thread has a running loop, and asynchronous tests
# could not have theirs.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("there is no Chromium: apt install chromium-headless-shell")
    with open_browser() as found:
        yield found


@pytest.fixture
def config(redis_url: str, tmp_path: Path) -> DedupConfig:
    """An empty index."""
    return DedupConfig(redis_url=redis_url, data_dir=tmp_path / "data")
