"""No text is lost in time: sites whose texts move, crawled again and again."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.pipelines.crawls import Feed, Site, crawl, weeks
from tests.spiders.webserver import Web


@pytest.fixture
def web() -> Iterator[Web]:
    server = Web()
    yield server
    server.close()


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("requests", [1, 8, 16])
async def test_no_text_of_a_site_is_lost(
    web: Web, redis_url: str, tmp_path: Path, seed: int, requests: int
) -> None:
    """After each crawl an engine that is fed by the crawls has all texts on the site."""
    draws = random.Random(seed)
    site, feed = Site(web, draws), Feed()
    again = 0
    settings = {
        "DEDUP_REDIS_URL": redis_url,
        "DEDUP_DATA_DIR": tmp_path,
        "CONCURRENT_REQUESTS": requests,
        "CONCURRENT_REQUESTS_PER_DOMAIN": requests,
    }
    for week, texts in enumerate(weeks(draws, 5)):
        site.serve(texts)
        stats = await crawl(web, feed, **settings)
        assert stats["finish_reason"] == "finished"
        assert feed.lost(site) == set(), (week, feed.tags)
        again += stats.get("dedup/asked_again", 0)
    assert again <= 5 * 9
