"""A spread index while slots of its cluster move from node to node."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from crawler.dedup import DedupConfig, DuplicateIndex, ServerError
from crawler.dedup.export.transfer import export_index, import_index
from crawler.dedup.store import namespaces
from crawler.dedup.store.cluster.pages import Spread
from crawler.dedup.store.cluster.shards import shard_tags
from crawler.dedup.store.cluster.slot import head_keys
from tests.conftest import Server, join_cluster, starting_servers, wait_until
from tests.spiders.webserver import Web
from tests.support.projects import Project, Run
from tests.support.texts import article, changed, text

SHARDS = 16
COUNT = 100  # pages of each site


class Slots:
    """The slots in which an index lies, and the node that has each."""

    def __init__(self, nodes: list[Server]) -> None:
        self.nodes = nodes
        self.names = [node.ask("CLUSTER", "MYID").decode() for node in nodes]
        tags = [*shard_tags("dedup", SHARDS), head_keys("dedup").namespace]
        self.owners = {self.slot(f"{{{tag}}}"): self.owner(f"{{{tag}}}") for tag in tags}

    def slot(self, key: str) -> int:
        return int(self.nodes[0].ask("CLUSTER", "KEYSLOT", key))

    def owner(self, key: str) -> int:
        return self.slot(key) * len(self.nodes) // 16384

    def move(self, slot: int, how: str) -> None:
        """Move a slot to the next node while others use it."""
        place = self.owners[slot]
        self.owners[slot] = next_place = (place + 1) % len(self.nodes)
        move = {"by key": self._by_key, "whole": self._whole}[how]
        move(slot, self.nodes[place], self.nodes[next_place])

    def _by_key(self, slot: int, source: Server, target: Server) -> None:
        """As redis-cli's reshard does it."""
        names = {node.port: name for node, name in zip(self.nodes, self.names, strict=True)}
        target.ask("CLUSTER", "SETSLOT", slot, "IMPORTING", names[source.port])
        source.ask("CLUSTER", "SETSLOT", slot, "MIGRATING", names[target.port])
        while keys := source.ask("CLUSTER", "GETKEYSINSLOT", slot, 20):
            source.ask("MIGRATE", "127.0.0.1", target.port, "", 0, 5000, "KEYS", *keys)
            time.sleep(0.005)
        for node in (target, source):
            node.ask("CLUSTER", "SETSLOT", slot, "NODE", names[target.port])

    def begin(self, slot: int, keys: list[str]) -> None:
        """Move only these keys of a slot, which stays on its way."""
        place = self.owners[slot]
        source, target = self.nodes[place], self.nodes[(place + 1) % len(self.nodes)]
        target.ask("CLUSTER", "SETSLOT", slot, "IMPORTING", self.names[place])
        source.ask("CLUSTER", "SETSLOT", slot, "MIGRATING", self.names[self.nodes.index(target)])
        source.ask("MIGRATE", "127.0.0.1", target.port, "", 0, 5000, "KEYS", *keys)

    def _whole(self, slot: int, source: Server, target: Server) -> None:
        """As Valkey 9 does it by itself: it may give up, and then has to be told again."""
        name = self.names[self.nodes.index(target)]
        while not self._has(target, slot):
            source.ask("CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", slot, slot, "NODE", name)
            wait_until(lambda: self._has_ended(source))
        wait_until(lambda: not self._has(source, slot))

    def _has_ended(self, source: Server) -> bool:
        """Whether the latest move from a node has ended, well or not."""
        latest, *_ = source.ask("CLUSTER", "GETSLOTMIGRATIONS")
        states = {b"success", b"failed", b"cancelled"}
        return not states.isdisjoint(latest)

    def _has(self, node: Server, slot: int) -> bool:
        own = self.names[self.nodes.index(node)].encode()
        ranges = node.ask("CLUSTER", "SLOTS")
        return any(first <= slot <= last and who[2] == own for first, last, who, *_ in ranges)


@pytest.fixture(scope="module")
def slots() -> Iterator[Slots]:
    """Those of a cluster of its own, for they may end up anywhere."""
    with starting_servers() as start:
        yield Slots(join_cluster(start, 3))


@pytest.fixture
def url(slots: Slots) -> str:
    """The address of the cluster, emptied."""
    for node in slots.nodes:
        node.ask("FLUSHALL")
    return f"redis+cluster://127.0.0.1:{slots.nodes[0].port}"


def path(number: int, site: int) -> str:
    """Where the site has the text with that number."""
    return f"/{COUNT - 1 - number if site else number}"


@pytest.fixture
def sites() -> Iterator[list[Web]]:
    """Two sites with the same texts but for a word, in opposite order."""
    found = [Web(), Web()]
    for number, site in enumerate(found):
        for n in range(COUNT):
            site.page(path(n, number), text=text(changed(article(n), 1, seed=number)))
        site.open.clear()
    yield found
    for site in found:
        site.close()


def open_together(sites: list[Web], crawls: list[asyncio.Task[Run]]) -> None:
    """Let no crawl go ahead before the other is there, or has ended."""
    try:
        wait_until(lambda: all(s.seen or c.done() for s, c in zip(sites, crawls, strict=True)))
    finally:
        for site in sites:
            site.open.set()


@pytest.mark.parametrize("shards", [1, SHARDS])
async def test_slots_move_while_two_crawls_run(
    slots: Slots, url: str, sites: list[Web], tmp_path: Path, shards: int
) -> None:
    """Every slot of the index moves, over and over: no page is lost, none kept twice, none unseen.

    Some move key by key and some whole, in turn.

    Two crawls of sites with the same texts share the index. All pages get a verdict, of each pair
    of copies one is kept, and afterwards the index is sound and knows every page.
    """
    crawls: list[asyncio.Task[Run]] = []
    for number, site in enumerate(sites):
        project = Project(tmp_path / str(number))
        project.write("shop", 'ADDONS = {"crawler.Addon": 500}\n')
        words = ("crawl", "pages", "-a", f"url={site.url}", "-a", f"count={COUNT}")
        settings = {"DEDUP_REDIS_URL": url, "DEDUP_SHARDS": shards, "DEDUP_TIMEOUT": 60}
        words = (*words, "-O", "items.jsonl", "-s", "DOWNLOAD_DELAY=0.02")
        crawls.append(asyncio.create_task(asyncio.to_thread(project.scrapy, *words, **settings)))
    opening = asyncio.create_task(asyncio.to_thread(open_together, sites, crawls))
    moves = Counter[str]()
    own = list(slots.owners)[-1:] if shards == 1 else slots.owners
    for slot, how in zip(itertools.cycle(own), itertools.cycle(("by key", "whole")), strict=False):
        if all(crawl.done() for crawl in crawls):
            break
        seen = sum(len(site.seen) for site in sites)
        await asyncio.to_thread(slots.move, slot, how)
        moves[how] += 0 < seen < 2 * COUNT
    runs = [await crawl for crawl in crawls]
    await opening
    assert moves.total() >= SHARDS if shards > 1 else min(moves["by key"], moves["whole"]) > 1
    kept = Counter[int]()
    for number, (run, site) in enumerate(zip(runs, sites, strict=True)):
        assert run.code == 0, run.log
        assert Counter(site.seen) == Counter(f"/{n}" for n in range(COUNT))
        assert "dedup/unchecked" not in run.stats, run.log
        dropped = run.stats.get("item_dropped_count", 0)
        assert len(run.items) + dropped == COUNT
        urls = {item["url"] for item in run.items}
        kept.update(n for n in range(COUNT) if site.url + path(n, number) in urls)
    assert kept == Counter(range(COUNT))
    async with DuplicateIndex.open(DedupConfig(redis_url=url, shards=shards)) as index:
        assert (await index.verify()).faults == []
        stats = await index.stats()
        assert (stats.urls, stats.kept) == (2 * COUNT, COUNT)
        for site in sites:
            for n in range(COUNT):
                assert await index.show(f"{site.url}/{n}") is not None


async def test_a_slot_moves_among_checks_that_need_it(slots: Slots, url: str) -> None:
    """Each copy is found though its original is on the way, and lies elsewhere afterwards."""
    async with DuplicateIndex.open(DedupConfig(redis_url=url, shards=SHARDS)) as index:
        await index.check_many([(f"http://a/{n}", text(article(n, 400))) for n in range(300)])
        home = index.store.shards[Spread(SHARDS).shard_of("http://a/1")]
        slot = slots.slot(home.params)

        async def crawl() -> int:
            found = 0
            for n in range(300):
                verdict = await index.check(f"http://b/{n}", text(changed(article(n, 400), 1)))
                found += verdict.duplicate_of == f"http://a/{n}"
                await asyncio.sleep(0.002)
            return found

        task = asyncio.create_task(crawl())
        await asyncio.to_thread(slots.move, slot, "by key")
        assert slots.nodes[slots.owners[slot]].ask("CLUSTER", "COUNTKEYSINSLOT", slot)
        assert await task == 300
        assert (await index.verify()).faults == []


@pytest.fixture
async def moving(slots: Slots, url: str) -> AsyncIterator[DedupConfig]:
    """An index of 300 pages, of which one slot has moved with the parameters and without pages."""
    config = DedupConfig(redis_url=url, shards=SHARDS)
    async with DuplicateIndex.open(config) as index:
        await index.check_many([(f"http://a/{n}", text(article(n, 400))) for n in range(300)])
    slot = next(iter(slots.owners))
    keys = slots.nodes[slots.owners[slot]].ask("CLUSTER", "GETKEYSINSLOT", slot, 1000)
    slots.begin(slot, [key for key in keys if key.endswith(b"}:params")])
    yield config
    slots.move(slot, "by key")
    async with DuplicateIndex.open(config) as index:
        assert (await index.verify()).faults == []
        assert (await index.stats()).urls == 300


async def test_half_a_slot_is_not_read(moving: DedupConfig, tmp_path: Path) -> None:
    """Records that are elsewhere are no fault, and an export does not leave them out."""
    async with DuplicateIndex.open(moving) as index:
        with pytest.raises(ServerError, match="are moving to other nodes; wait"):
            await index.verify()
        with pytest.raises(ServerError, match="are moving to other nodes; wait"):
            await export_index(index, tmp_path / "index.jsonl.gz")


async def test_half_a_slot_is_not_copied_or_cleared(moving: DedupConfig) -> None:
    """Nothing is changed, as keys could be missed."""
    for is_moved in (False, True):
        with pytest.raises(ServerError, match="are moving to other nodes; wait"):
            await namespaces.copy_index(moving, "dedup", "copy", is_moved=is_moved)
    with pytest.raises(ServerError, match="are moving to other nodes; wait"):
        await namespaces.clear_index(moving)


async def test_an_import_writes_into_no_half_of_a_slot(
    slots: Slots, url: str, tmp_path: Path
) -> None:
    """It fails, and goes on when it is done again."""
    config = DedupConfig(redis_url=url, shards=SHARDS)
    async with DuplicateIndex.open(config) as index:
        await index.check_many([(f"http://a/{n}", text(article(n, 400))) for n in range(300)])
        await export_index(index, file := tmp_path / "index.jsonl.gz")
        home = index.store.shards[Spread(SHARDS).shard_of("http://a/1")]
    await namespaces.clear_index(config)
    slots.begin(slot := slots.slot(home.params), [])
    with pytest.raises(ServerError, match="are moving to other nodes; wait"):
        await import_index(config, file)
    slots.move(slot, "by key")
    imported = await import_index(config, file)
    assert imported.pages == imported.audit.urls == 300
    assert imported.audit.faults == []


async def test_a_slot_that_moves_past_a_scan(
    slots: Slots, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some of its keys could be missed: by an audit, by a copy, and by who clears the index."""
    config = DedupConfig(redis_url=url, shards=SHARDS)
    async with DuplicateIndex.open(config) as index:
        await index.check_many([(f"http://a/{n}", text(article(n, 400))) for n in range(300)])
        client = index.store._client
        scan = client.scan_iter

        async def moving_scan(**options: Any) -> AsyncIterator[bytes]:
            async for name in scan(**options):
                yield name
            await asyncio.to_thread(slots.move, next(iter(slots.owners)), "by key")

        monkeypatch.setattr(client, "scan_iter", moving_scan)
        with pytest.raises(ServerError, match="are moving to other nodes; wait"):
            await index.verify()
    transfer, unlink = namespaces._transfer_keys, namespaces._unlink_keys
    moved = itertools.cycle(slots.owners)

    async def moving_transfer(*words: Any) -> int:
        await asyncio.to_thread(slots.move, next(moved), "by key")
        return await transfer(*words)

    async def moving_unlink(*words: Any) -> int:
        await asyncio.to_thread(slots.move, next(moved), "by key")
        return await unlink(*words)

    monkeypatch.setattr(namespaces, "_transfer_keys", moving_transfer)
    for is_moved in (False, True):
        with pytest.raises(ServerError, match="are moving to other nodes; wait"):
            await namespaces.copy_index(config, "dedup", "copy", is_moved=is_moved)
    monkeypatch.setattr(namespaces, "_unlink_keys", moving_unlink)
    with pytest.raises(ServerError, match="are moving to other nodes; wait"):
        await namespaces.clear_index(config)
    monkeypatch.setattr(namespaces, "_unlink_keys", unlink)
    await namespaces.clear_index(config)
    assert not any(node.ask("DBSIZE") for node in slots.nodes)
