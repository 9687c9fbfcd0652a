"""Checks pages of a few sets without end and prints each verdict as soon as it has it."""

import asyncio
import sys
from pathlib import Path

from crawler.dedup import DedupConfig, DuplicateIndex
from tests.support.texts import article, changed, text


async def main(
    url: str, data_dir: str, worker: str, patience: str = "10", shards: str = "1"
) -> None:
    """Check four near-duplicates of one another at a time, under URLs of this worker."""
    own = {"redis_url": url or None, "data_dir": Path(data_dir)}
    config = DedupConfig(**own, timeout=float(patience), shards=int(shards))  # type: ignore[arg-type]
    async with DuplicateIndex.open(config) as index:
        for n in range(1_000_000):
            pages = [
                (f"http://w{worker}/{n}-{s}", text(changed(article(n, 400), 1, seed=s)))
                for s in range(4)
            ]
            for verdict in await asyncio.gather(*(index.check(*page) for page in pages)):
                print(verdict.kind, verdict.url, flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
