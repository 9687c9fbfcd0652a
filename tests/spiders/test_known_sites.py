"""A site that an earlier crawl has met: what its pages share is known from the first page on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from crawler.addon import Addon
from crawler.dedup import DedupConfig, DuplicateIndex
from tests.dedup.test_templates import BANNER, page
from tests.spiders.webserver import Answer, Result, Web

HTML = {"Content-Type": "text/html; charset=utf-8"}


async def test_a_template_that_cannot_be_read(
    web: Web, crawl: Callable[..., Awaitable[Result]], redis_url: str
) -> None:
    """As where somebody wrote under the key: no page is lost for it."""
    settings = {"ADDONS": {Addon: 500}, "DEDUP_REDIS_URL": redis_url}
    web.answers["/"] = Answer(page(1).encode(), HTML)
    await crawl(**settings)
    async with DuplicateIndex.open(DedupConfig(redis_url=redis_url)) as index:
        client, key = index.store._client, index.store.shards[0].templates
        for write in (
            client.hset(key, web.url.removeprefix("http://"), b"timeX"),
            client.set(key, "no hash"),
        ):
            await client.delete(key)
            await write
            web.answers["/"] = Answer(page(2).encode(), HTML)
            assert len((await crawl(**settings)).items) == 1


async def test_the_first_page_of_a_new_crawl(
    web: Web, crawl: Callable[..., Awaitable[Result]], redis_url: str
) -> None:
    """It is read as the later ones of the crawl before were, be it the only one."""

    async def texts(*numbers: int) -> list[str]:
        for number in numbers:
            web.answers[f"/{number}"] = Answer(page(number).encode(), HTML)
        found = await crawl(
            url=",".join(f"{web.url}/{number}" for number in numbers),
            ADDONS={Addon: 500},
            DEDUP_REDIS_URL=redis_url,
            CONCURRENT_REQUESTS=1,
        )
        return [item.text for item in found.items]

    first = await texts(*range(12))
    assert BANNER in first[0]
    assert BANNER not in first[-1]
    (new,) = await texts(50)
    assert BANNER not in new
    assert "Story 50" in new
