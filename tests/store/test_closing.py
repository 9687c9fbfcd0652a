"""An index that is closed leaves no task and no connection behind, whatever has failed before."""

from __future__ import annotations

import asyncio
import gc
import signal
import warnings
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from crawler.dedup import DedupConfig, DuplicateIndex, ServerError
from crawler.dedup.exchange.replay import replay_spool
from tests.conftest import Server, free_port, join_cluster
from tests.store.spread import dying
from tests.support.texts import article, text

PAGES = [(f"http://a/{n}", text(article(n, 50))) for n in range(40)]


@asynccontextmanager
async def nothing_left() -> AsyncIterator[None]:
    """What begins in this block ends in it: tasks, and connections, which nobody warns of."""
    tasks, files = asyncio.all_tasks(), count_files()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", ResourceWarning)
        yield
        assert [one.get_coro() for one in asyncio.all_tasks() - tasks] == []
        gc.collect()
        await asyncio.sleep(0)
    assert [str(one.message) for one in warned] == []
    assert count_files() == files


def count_files() -> int:
    return sum(1 for _ in Path("/dev/fd").iterdir())


@pytest.fixture(params=["server", "cluster"])
def nodes(request: pytest.FixtureRequest, start_server: Callable[..., Server]) -> list[Server]:
    """One server, or three nodes of a cluster which do not miss one another."""
    if request.param == "server":
        return [start_server(port=free_port())]
    return join_cluster(start_server, 3, cluster_node_timeout=60_000)


def configured(nodes: list[Server], folder: Path) -> DedupConfig:
    scheme = "redis+cluster" if len(nodes) > 1 else "redis"
    url = f"{scheme}://127.0.0.1:{nodes[0].port}"
    return DedupConfig(redis_url=url, shards=16, timeout=1, data_dir=folder)


async def test_checks_that_nobody_waits_for(nodes: list[Server], tmp_path: Path) -> None:
    """The server hangs and the callers give up, as when a crawl is stopped."""
    async with nothing_left(), DuplicateIndex.open(configured(nodes, tmp_path)) as index:
        await index.check_many(PAGES[:4])
        nodes[-1].process.send_signal(signal.SIGSTOP)
        checks = [asyncio.create_task(index.check(*page)) for page in PAGES]
        await asyncio.sleep(0.2)
        for check in checks:
            check.cancel()
        await asyncio.gather(*checks, return_exceptions=True)
        del check, checks


@pytest.mark.parametrize("work", ["check", "replay", "begin_crawl"])
async def test_a_part_that_fails_before_the_others(
    start_server: Callable[..., Server], tmp_path: Path, work: str
) -> None:
    """One node has lost its keys, and others answer late: all that was begun ends."""
    nodes = join_cluster(start_server, 3, cluster_node_timeout=60_000)
    async with (
        nothing_left(),
        DuplicateIndex.open(configured(nodes, tmp_path), spool=True) as index,
    ):
        await index.check_many(PAGES)
        requests = [
            index._request(url, await index._fingerprinted(f"{words} again", url=url))
            for url, words in PAGES
        ]
        if work == "check":  # of each page the attempt of another worker is under way
            ask = index.store._shards.ask
            index.store._shards.ask = dying(ask)
            for request in requests:
                with pytest.raises(ServerError, match="killed"):
                    await index.store.check([request])
            index.store._shards.ask = ask
        else:
            nodes[2].process.send_signal(signal.SIGSTOP)
        nodes[1].ask("FLUSHALL", "SYNC")
        index._exchange.keep(requests)
        asked = [one._replace(token=bytes(4)) for one in requests]
        begin = {
            "check": lambda: index.store.check(asked),
            "replay": lambda: anext(replay_spool(index._spool, index.store, print)),
            "begin_crawl": index.begin_crawl,
        }
        with pytest.raises(ServerError, match=r"deleted or replaced|no answer in time"):
            await begin[work]()


async def test_what_gets_no_answer_before_the_end_waits_in_the_spool(
    nodes: list[Server], tmp_path: Path
) -> None:
    """The server hangs: what was asked, what waited behind that, and what comes too late."""
    config = replace(configured(nodes, tmp_path), timeout=0.5)
    pages = [(f"http://b/{n}", text(article(n, 10))) for n in range(200)]
    async with DuplicateIndex.open(config, spool=True) as index:
        await index.check_many(PAGES[:4])
        for node in nodes:
            node.process.send_signal(signal.SIGSTOP)
        checks = [asyncio.create_task(index.check(*page)) for page in pages[1:]]
        await asyncio.sleep(0.1)
    found = await asyncio.gather(*checks, return_exceptions=True)
    assert {type(one) for one in found} == {ServerError}
    with pytest.raises(ServerError, match="closed"):
        await index.check(*pages[0])
    assert index.spooled() == ((len(pages), 0), (0, 0))


async def test_what_waits_when_an_index_is_closed(nodes: list[Server], tmp_path: Path) -> None:
    """It gets its answer; what comes later gets an error."""
    async with nothing_left():
        async with DuplicateIndex.open(configured(nodes, tmp_path)) as index:
            checks = [asyncio.create_task(index.check(*page)) for page in PAGES]
            await asyncio.sleep(0)
        assert len({verdict.url for verdict in await asyncio.gather(*checks)}) == len(PAGES)
        with pytest.raises(ServerError, match="closed"):
            await index.check(*PAGES[0])
        del checks
