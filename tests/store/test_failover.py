"""A spread index while nodes of its cluster die."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

import pytest

from crawler.dedup import DedupConfig, DuplicateIndex, ServerError
from tests.conftest import Server, join_cluster
from tests.texts import article, changed, text


@pytest.fixture
def replicated(start_server: Callable[..., Server]) -> Iterator[list[Server]]:
    """Three nodes with a replica each."""
    nodes = join_cluster(start_server, 6, primaries=3)
    yield nodes
    for node in nodes:
        if node.process.poll() is None:
            node.kill()


async def test_a_node_dies_and_its_replica_is_promoted(replicated: list[Server]) -> None:
    """A primary killed with -9 among checks: pages wait or go unchecked, no text is ever lost."""
    url = f"redis+cluster://127.0.0.1:{replicated[1].port}"
    config = DedupConfig(redis_url=url, shards=16)
    verdicts: dict[int, list[str | None]] = {}
    async with DuplicateIndex.open(config) as one, DuplicateIndex.open(config) as two:

        async def crawl(index: DuplicateIndex, worker: int) -> None:
            for n in range(400):
                page = text(changed(article(n, 400), 1, seed=worker))
                try:
                    verdict = await index.check(f"http://{worker}/{n}", page)
                except ServerError:  # passes as unchecked
                    verdicts.setdefault(n, []).append(None)
                else:
                    verdicts.setdefault(n, []).append(verdict.duplicate_of)
                await asyncio.sleep(0.005)

        crawls = asyncio.gather(crawl(one, 1), crawl(two, 2))
        await asyncio.sleep(0.5)
        replicated[0].kill()
        await crawls
        assert len(verdicts) == 400
        assert all(None in found for found in verdicts.values())  # never zero survivors
        twice = sum(found.count(None) == 2 for found in verdicts.values())
        assert twice < 20
        # Afterwards each page has a verdict again, and each set a page that stands for it.
        for n in range(400):
            found = []
            for worker in (1, 2):
                page = text(changed(article(n, 400), 1, seed=worker))
                found.append((await one.check(f"http://{worker}/{n}", page)).duplicate_of)
            assert None in found
