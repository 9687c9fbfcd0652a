"""An index with a few pages, and who looks at it."""

from __future__ import annotations

import asyncio

from crawler.dedup import DedupConfig, DuplicateIndex
from tests.support.texts import article, changed, text

LONG = "http://a/" + "long/" * 40
PAGES = [
    *((f"http://a/{i}", text(article(i, 400))) for i in range(40)),
    ("http://b/1", text(changed(article(1, 400), 1))),
    (LONG, text(article(99))),
    ("http://b/99", text(article(99))),
]


def checked(url, pages, **options):
    async def run():
        async with DuplicateIndex.open(DedupConfig(redis_url=url, **options)) as index:
            verdicts = await index.check_many(pages)
            return verdicts, (await index.verify()).faults, await index.stats()

    return asyncio.run(run())


def keys(server):
    return {key.decode() for key in server.ask("KEYS", "*")}
