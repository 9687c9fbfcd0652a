"""The web page of an index with a few pages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from crawler.dedup import DedupConfig
from tests.report.pages import fill
from tests.report.serving import Served, served
from tests.report.test_report import THREE


@pytest.fixture
def site(config: DedupConfig) -> Iterator[Served]:
    """The page of three pages, of which two are copies."""
    fill(config, THREE)
    with served(config) as found:
        yield found
