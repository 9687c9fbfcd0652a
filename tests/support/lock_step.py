"""Checks a page of each set, all workers the same set at the same moment; prints what it keeps."""

import asyncio
import json
import sys

from crawler.dedup import DedupConfig, DuplicateIndex
from tests.support.texts import article, changed, text


async def main(url: str, method: str, worker: int, workers: int, sets: int, shards: int) -> None:
    """Check this worker's page of each set, as soon as all workers have come to it."""
    config = DedupConfig(redis_url=url, method=method, shards=shards, timeout=60)
    async with DuplicateIndex.open(config) as index:
        pages = [text(changed(article(n, 400), 1, seed=worker)) for n in range(sets)]
        client = index.store._client
        kept = []
        for n, page in enumerate(pages):
            if await client.incr(f"step{n}") == workers:  # the last one lets all go
                await client.rpush(f"go{n}", *range(workers))
            await client.blpop([f"go{n}"], timeout=60)
            verdict = await index.check(f"http://w{worker}/{n}", page)
            if verdict.duplicate_of is None:
                kept.append(n)
        print(json.dumps(kept))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3], *map(int, sys.argv[3:])))  # type: ignore[arg-type]
