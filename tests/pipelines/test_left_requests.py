"""Requests that were left, and are made after all: each once."""

from __future__ import annotations

from tests.pipelines.crawls import crawl
from tests.pipelines.made_sites import SOME, Own, Pages, on_few_pages
from tests.spiders.webserver import Web


async def test_what_is_found_often_is_fetched_once(web: Web, redis_url: str) -> None:
    """Other spiders yield a link on each page that has it; the dupefilter knows what was made."""
    web.answers = Pages(on_few_pages)
    settings = {"DEDUP_REDIS_URL": redis_url, "CLOSESPIDER_PAGECOUNT": 1000}
    stats = await crawl(web, spider=Own, DEDUP_LEARN_URLS=True, **settings)
    assert stats["finish_reason"] == "finished"
    assert stats["dedup/rules/revoked"]
    fetched = [path for path in web.seen if path != "/robots.txt"]
    assert len(fetched) == len(set(fetched))
    assert {f"/{page}?v={version}" for page in SOME for version in range(4)} <= set(fetched)
    assert 0 <= stats["dedup/spared"] == 121 - len(fetched)
