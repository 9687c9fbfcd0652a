"""Checks a page of each set, all workers the same set at the same moment; prints what it keeps."""

import asyncio
import json
import sys
from typing import Any

from redis.asyncio import RedisCluster

from crawler.dedup import DedupConfig, DuplicateIndex
from tests.support.texts import article, changed, text


async def main(url: str, method: str, worker: int, workers: int, sets: int, shards: int) -> None:
    """Check this worker's page of each set, as soon as all workers have come to it."""
    config = DedupConfig(redis_url=url, method=method, shards=shards, timeout=60)
    async with DuplicateIndex.open(config) as index:
        pages = [text(changed(article(n, 400), 1, seed=worker)) for n in range(sets)]
        client: Any = index.store._client
        # A cluster's client would ask for all commands, a tenth of a second for each process.
        one = client.get_node_from_key("{step}") if isinstance(client, RedisCluster) else client
        kept = []
        for n, page in enumerate(pages):
            if await one.execute_command("INCR", f"{{step}}{n}") == workers:  # the last lets all go
                await one.execute_command("RPUSH", f"{{step}}go{n}", *range(workers))
            await one.execute_command("BLPOP", f"{{step}}go{n}", 60)
            verdict = await index.check(f"http://w{worker}/{n}", page)
            if verdict.duplicate_of is None:
                kept.append(n)
        print(json.dumps(kept))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3], *map(int, sys.argv[3:])))  # type: ignore[arg-type]
