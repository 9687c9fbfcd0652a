"""Audits of an index, and checks where its data is damaged."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from dataclasses import replace

import pytest

from crawler.dedup import DedupConfig, DuplicateIndex, ServerError
from crawler.dedup.fingerprint import EXACT_BYTES
from crawler.dedup.store.layout import entries_in
from crawler.dedup.store.single import SingleIndex
from tests.store.laid_out import BITS, pages


async def test_an_audit_during_a_crawl(index_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages that come while it reads are no faults, and what is one is told of all the same."""
    config = DedupConfig(redis_url=index_url, verify_bits=BITS, shards=1)
    requests = pages(204, bands=8)
    async with DuplicateIndex.open(config) as index:
        await index.store.check(requests[:200])
        store, coming = index.store, iter(requests[200:202])
        read = store.packed_blocks

        async def reading(places: Sequence[tuple[int, int]]) -> list[bytes]:
            found = await read(places)
            for page in itertools.islice(coming, 1):
                await index.store.check([page])
            return found

        monkeypatch.setattr(store, "packed_blocks", reading)
        assert (await index.verify()).faults == []
        assert next(coming, None) is None
        lost = store.shards[0].numbered("url", 3)
        await store._client.delete(lost)
        coming = iter(requests[202:])
        assert f"bucket {lost} and the records disagree" in (await index.verify()).faults


@pytest.mark.parametrize("index_url", ["server", "cluster"], indirect=True)
@pytest.mark.parametrize("same", [True, False])
async def test_an_audit_during_a_crawl_without_a_pause(index_url: str, same: bool) -> None:
    """Buckets that change in each look are no faults; it says how many, if any are left.

    Faults are told as soon as the index stands still.
    """
    config = DedupConfig(redis_url=index_url, verify_bits=BITS, shards=1)
    requests = pages(2000, bands=8)
    async with DuplicateIndex.open(config) as index, DuplicateIndex.open(config) as other:
        await index.store.check(requests[:200])

        async def crawl() -> None:
            for start in itertools.count(200, 20):
                if stop.is_set():
                    return
                some = requests[start % 2000 : start % 2000 + 20]
                if same:  # a few pages, again and again with the texts of others
                    some = [
                        page._replace(url=f"http://host/{n}", token=start.to_bytes(4))
                        for n, page in enumerate(some)
                    ]
                await other.store.check(some)
                await asyncio.sleep(0)

        stop, task = asyncio.Event(), asyncio.create_task(crawl())
        try:
            for _ in range(2):
                assert (await index.verify()).faults == []
            lost = index.store.shards[0].numbered("exact", 3)
            await index.store._client.delete(lost)
            audit = await index.verify()
            fault = f"bucket {lost} and the records disagree"
            assert fault in audit.faults or audit.unsettled
        finally:
            stop.set()
            await task
        audit = await index.verify()
        assert fault in audit.faults
        assert audit.unsettled == 0


async def test_an_audit_of_an_index_with_a_backslash_in_its_name(index_url: str) -> None:
    """All keys are found under a name that means something in a pattern."""
    config = DedupConfig(redis_url=index_url, namespace=r"news\en", shards=3)
    async with DuplicateIndex.open(config) as index:
        await index.check("http://a/1", "one two three four five six seven")
        found = await index.verify()
    assert (found.urls, found.faults) == (1, [])


@pytest.mark.parametrize("name", ["foo:bar", "url:bar", "foo:1", "url:01", "foo", "url:1:2"])
async def test_a_foreign_key_is_a_fault(index_url: str, name: str) -> None:
    """A key among those of the index that is none of its own is named; the rest is looked at."""
    async with DuplicateIndex.open(DedupConfig(redis_url=index_url, shards=8)) as index:
        await index.check("http://a/1", "one two three four five six seven")
        key = index.store.shards[0].prefix + name
        await index.store._client.set(key, "mine")
        audit = await index.verify()
        assert audit.faults == [f"key {key} is foreign: this package did not write it"]
        assert audit.kept == 1


@pytest.mark.parametrize("index_url", ["server", "cluster"], indirect=True)
async def test_a_bucket_that_was_cut_stops_no_check(index_url: str) -> None:
    """Of a cut bucket the whole entries count, new ones are found, and the audit names it.

    In each table of the index, the last entry of a bucket is cut at each of its seven bytes.
    """
    config = DedupConfig(redis_url=index_url, verify_bits=BITS, shards=1)
    requests = pages(300, bands=8)
    async with DuplicateIndex.open(config) as index:
        await index.store.check(requests[:200])
        store, cut = index.store, []
        for family, _ in store.list_tables(8):
            for number in range(8):
                key = store.shards[0].numbered(family, number)
                (bucket,) = await store.read_buckets([key])
                size = 7 * (len(list(entries_in(bucket))) - 1) + number % 7
                await store._client.set(key, bucket[:size])
                cut.append(f"bucket {key} and the records disagree")
        assert set((await index.verify()).faults) >= set(cut)
        await index.store.check([page._replace(token=b"anew") for page in requests])
        copies = [page._replace(url=f"{page.url}/copy", token=b"copy") for page in requests[200:]]
        found = await index.store.check(copies)
        assert [answer.kind for answer in found] == ["exact"] * 100
        shown = [await index.show(page.url) for page in requests[200:]]
        assert None not in shown


@pytest.mark.parametrize(
    ("kept", "own_kind"),
    [(1, "near"), (3, "near"), (12, "near"), (42, "near"), (60, "unchanged"), (-1, "unchanged")],
)
async def test_a_record_that_was_cut_stops_no_check(
    index_url: str, kept: int, own_kind: str
) -> None:
    """It is no record any more, of which the sketch was cut none to compare; the audit names it."""
    config = DedupConfig(redis_url=index_url, verify_bits=BITS, shards=1)
    requests = pages(3, bands=8)
    async with DuplicateIndex.open(config) as index:
        await index.store.check(requests)
        client, key = index.store._client, index.store.shards[0].numbered("page", 0)
        record = await client.lindex(key, 1)
        await client.lset(key, 1, record[:kept])
        assert "the record of page 1 is incomplete" in (await index.verify()).faults
        own, *others = (page._replace(token=b"anew") for page in requests)
        near = replace(own.fingerprint, exact=bytes(EXACT_BYTES))
        copy = own._replace(url="http://host/copy", fingerprint=near)
        found = await index.store.check([*others, copy, own])
        kinds = [answer.kind for answer in found]
        assert kinds == ["unchanged", "unchanged", "unique", own_kind]


async def test_an_exchange_that_fails_in_its_middle(redis_url: str) -> None:
    """What it has decided stands, and no number is given once more."""
    config = DedupConfig(redis_url=redis_url, verify_bits=BITS, ttl=None)
    requests = pages(40, bands=8)
    async with DuplicateIndex.open(config) as index:
        store: SingleIndex = index.store
        buckets = {store.keys.numbered("url", number) for number in range(8)}
        await index.store.check(requests[:2])
        foreign = min(buckets - {key.decode() for key in await store._client.keys()})
        await store._client.lpush(foreign, "no bucket")
        with pytest.raises(ServerError):
            await index.store.check(requests)
        await store._client.delete(foreign)
        await index.store.check([page._replace(token=b"anew") for page in requests])
        audit = await index.verify()
        assert (audit.faults, audit.urls) == ([], 40)


async def test_a_record_that_cannot_be_written(index_url: str) -> None:
    """Where somebody wrote under the key of its list, the page leaves nothing in the tables."""
    config = DedupConfig(redis_url=index_url, verify_bits=BITS, ttl=None, shards=1, timeout=1)
    requests = pages(60, bands=8)
    async with DuplicateIndex.open(config) as index:
        await index.store.check(requests[:20])
        client, key = index.store._client, index.store.shards[0].numbered("page", 1)
        await client.set(key, "no list")
        with pytest.raises(ServerError, match="did not write"):
            await index.store.check(requests)
        await client.delete(key)
        await index.store.check([page._replace(token=b"last") for page in requests])
        audit = await index.verify()
        assert (audit.faults, audit.urls) == ([], 60)


@pytest.mark.parametrize("place", [3, 4])
async def test_a_record_without_a_verdict_is_named(index_url: str, place: int) -> None:
    """Who asks for a page whose verdict, standing or last, is none, is told what to do."""
    config = DedupConfig(redis_url=index_url, verify_bits=BITS, shards=1)
    (page,) = pages(1, bands=8)
    async with DuplicateIndex.open(config) as index:
        await index.store.check([page])
        client, key = index.store._client, index.store.shards[0].numbered("page", 0)
        record = bytearray(await client.lindex(key, 1))
        record[place] = 0
        await client.lset(key, 1, bytes(record))
        with pytest.raises(ServerError, match="`scrapy dedup verify`"):
            await index.show(page.url)
        assert "the record of page 1 is incomplete" in (await index.verify()).faults


@pytest.mark.parametrize("size", [None, 0, 100_000])
async def test_an_audit_where_the_size_of_tables_is_lost(index_url: str, size: int | None) -> None:
    """It looks at all the same, as it is there to find damage."""
    config = DedupConfig(redis_url=index_url, verify_bits=BITS, shards=1)
    async with DuplicateIndex.open(config) as index:
        await index.store.check(pages(50, bands=8))
        key = index.store.shards[0].state
        if size is None:
            await index.store._client.hdel(key, "url.size")
        else:
            await index.store._client.hset(key, "url.size", size)
        audit = await index.verify()
        assert audit.urls == 50
        assert bool(audit.faults) is bool(size)


async def test_counters_that_are_no_numbers(index_url: str) -> None:
    """As somebody else has written them: one error that says what to do."""
    config = DedupConfig(redis_url=index_url, shards=1)
    async with DuplicateIndex.open(config) as index:
        await index.check("http://a/1", "one two three four five six seven")
        keys = index.store.shards[0]
        await index.store._client.hset(keys.overrides, b"http://a/\xff", b"kee\xff")
        assert await index.overrides() == {"http://a/\ufffd": "kee\ufffd"}
        for key, field in ((keys.hosts, "a unique"), (keys.state, "next")):
            for value in ("many", "9" * 30, b"\xff"):
                await index.store._client.hset(key, field, value)
                with pytest.raises(ServerError, match="choose another DEDUP_NAMESPACE"):
                    await index.stats()
            await index.store._client.hset(key, field, 2)
        assert (await index.stats()).kept == 1


@pytest.mark.parametrize("damage", ["entry", "record", "counter"])
async def test_an_audit_finds_damage(index_url: str, damage: str) -> None:
    """A lost entry, a lost record and a wrong counter are each reported."""
    config = DedupConfig(redis_url=index_url, verify_bits=BITS, ttl=None, shards=8)
    async with DuplicateIndex.open(config) as index:
        await index.store.check(pages(50, bands=8))
        assert (await index.verify()).faults == []
        client, keys = index.store._client, index.store.shards[0]
        if damage == "counter":
            await client.hincrby(keys.state, "kept", 1)
        else:
            pattern = {"entry": "*:band*:*", "record": "*:page:*"}[damage]
            await client.delete(await anext(client.scan_iter(match=pattern)))
        assert (await index.verify()).faults
