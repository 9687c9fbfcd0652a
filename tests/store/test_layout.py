"""How the server keeps pages: tables, buckets, records, numbers."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from pathlib import Path

import pytest

from crawler.dedup import DedupConfig, DuplicateIndex, ServerError
from crawler.dedup.export.transfer import export_index
from crawler.dedup.fingerprint import EXACT_BYTES, Fingerprint
from crawler.dedup.sketches.lsh import TABLE_KEY_BITS
from crawler.dedup.store.keys import Keys
from crawler.dedup.store.layout import PAGES_IN_BLOCK, entries_in
from crawler.dedup.store.messages import TemplateNews, pack_request
from crawler.dedup.store.records import split_block
from crawler.dedup.store.scripts import load_script
from crawler.dedup.store.server.connect import open_server
from crawler.dedup.store.single import SingleIndex
from tests.store.laid_out import BITS, pages


async def test_tables_grow_by_splitting_one_bucket_at_a_time(redis_url: str) -> None:
    """At every size each page is found again, no bucket is very full and none has much room."""
    config = DedupConfig(redis_url=redis_url, bands=2, rows=7, verify_bits=BITS, ttl=None)
    requests = pages(36_000, bands=2)
    async with DuplicateIndex.open(config) as index:
        store: SingleIndex = index.store
        for start in range(0, len(requests), 100):
            some = requests[start : start + 100]
            for answer in await store.check(some):
                assert answer.kind == "unique"
        state = (await store.read_counters())["state"]
        assert int(state["band.size"]) > 256 + 100
        assert (await index.verify()).faults == []
        again = [page._replace(token=b"anew") for page in requests[::50]]
        for answer in await store.check(again):
            assert answer.kind == "unchanged"
        for family in ("url", "exact", "band0", "band1"):
            names = [store.keys.numbered(family, n) for n in range(int(state["band.size"]))]
            buckets = await store.read_buckets(names)
            entries = sum(len(list(entries_in(bucket))) for bucket in buckets)
            assert entries == len(requests)
            assert max(map(len, buckets)) < 7 * 4 * entries / len(buckets)
            assert sum(map(len, buckets)) < 7 * 1.25 * entries


async def test_scripts_tell_as_many_keys_apart(redis_url: str) -> None:
    """As sketches and bands count on: an entry and the number of its bucket say which key it is."""
    config = DedupConfig(redis_url=redis_url)
    async with open_server(config) as client:
        text = load_script("layout").text + "return ALL_KEYS"
        assert await client.eval(text, 1, Keys("dedup").params) == 1 << TABLE_KEY_BITS


async def test_what_a_script_knows_of_a_page_is_a_small_table(redis_url: str) -> None:
    """Whatever the page says of itself; a larger one takes the server far longer to make."""
    template = TemplateNews(3, b"pair")
    everything = pages(1, bands=8)[0]._replace(
        canonical="http://host/a",
        yields=True,
        rank=b"9",
        preferred=True,
        since=5,
        template=template,
        fetched="http://host/%30",
    )
    scripts = "".join(load_script(name).text for name in ("layout", "records", "pages"))
    count = "local n = 0 for _ in pairs(read_page(ARGV[3])) do n = n + 1 end return n"
    async with open_server(DedupConfig(redis_url=redis_url)) as client:
        arguments = [Keys("dedup").params, "", "9", pack_request(everything, 1)]
        assert await client.eval(scripts + count, 1, *arguments) == 16


async def test_a_list_of_records_ends_before_eight_kilobytes(redis_url: str) -> None:
    """However long addresses are, a list is one piece of up to 8 KB, without room for one more."""
    chooser = random.Random(2)
    requests = [
        page._replace(url=page.url.ljust(chooser.randrange(20, 900), "x")) for page in pages(600, 8)
    ]
    requests[300] = requests[300]._replace(url="http://host/".ljust(20_000, "x"))
    requests[1::3] = [page._replace(fetched=page.url[::-8]) for page in requests[1::3]]
    config = DedupConfig(redis_url=redis_url, verify_bits=BITS, ttl=None)
    async with DuplicateIndex.open(config) as index:
        await index.store.check(requests)
        store: SingleIndex = index.store
        count = int((await store.read_counters())["state"]["next"]) // PAGES_IN_BLOCK
        packed = await store.packed_blocks([(0, block) for block in range(count)])
        blocks = [dict(split_block(block)) for block in packed]
        sizes = [sum(len(record) + 4 for record in block.values()) for block in blocks]
        assert all(
            size < 8180 or len(block) == 1 for size, block in zip(sizes, blocks, strict=True)
        )
        assert sum(size > 8180 - 1200 for size in sizes) >= count - 2
        assert (await index.verify()).faults == []
        for request in requests[::40]:
            shown = await store.show(request.url)
            assert shown is not None
            assert shown.answer.kind == "unique"


async def test_a_key_that_very_many_pages_have(index_url: str) -> None:
    """Of pages that share a band the latest 16 are found by it, and the index stays sound."""
    config = DedupConfig(redis_url=index_url, verify_bits=BITS, shards=8)
    shared = b"same"
    requests = [
        page._replace(
            fingerprint=replace(page.fingerprint, bands=shared + page.fingerprint.bands[4:])
        )
        for page in pages(100, bands=8)
    ]
    async with DuplicateIndex.open(config) as index:
        await index.store.check(requests)
        assert (await index.verify()).faults == []
        (found,) = await index.store.pages_under(
            index.store.list_entries(0, Fingerprint(bytes(12), 1, shared))[1:]
        )
        assert len(set(found)) == 16
        if len(index.store.shards) == 1:
            assert sorted(found) == list(range(max(found) - 15, max(found) + 1))
        for n in reversed(range(100)):
            assert await index.forget(f"http://host/{n}")
            if n % 30 == 29:
                assert (await index.verify()).faults == []
        assert (await index.verify()).entries.total() == 0


_MEETING: list[str] = []  # URLs with keys alike, which take long to find


@pytest.mark.parametrize("seed", [None, 7])
async def test_nobody_can_fill_one_bucket(index_url: str, seed: int | None) -> None:
    """Addresses chosen to have keys alike in one index lie apart in another of another seed."""
    configs = [
        DedupConfig(redis_url=index_url, namespace=name, seed=own, verify_bits=BITS, shards=1)
        for name, own in (("watched", 1), ("attacked", seed))
    ]
    async with DuplicateIndex.open(configs[0]) as index:
        if not _MEETING:
            urls = (f"http://host/{n}" for n in range(100_000))
            alike = (url for url in urls if index.store.url_key(url)[3] == 0)
            _MEETING.extend(itertools.islice(alike, 300))
        meeting = _MEETING
    requests = [
        page._replace(url=url) for page, url in zip(pages(300, bands=8), meeting, strict=True)
    ]
    fullest = []
    for config in configs:
        async with DuplicateIndex.open(config) as index:
            await index.store.check(requests)
            names = [index.store.shards[0].numbered("url", n) for n in range(8)]
            sizes = [len(list(entries_in(b))) for b in await index.store.read_buckets(names)]
            assert sum(sizes) == 300
            fullest.append(max(sizes))
            assert (await index.verify()).faults == []
            assert await index.show(meeting[0]) is not None
    assert fullest[0] == 300
    assert fullest[1] < 100


async def test_a_page_is_no_copy_of_itself(index_url: str) -> None:
    """A page whose URL's entry was lost, or left out for others with this key, is kept again."""
    config = DedupConfig(redis_url=index_url, verify_bits=BITS, ttl=None, shards=8)
    requests = pages(40, bands=8)
    async with DuplicateIndex.open(config) as index:
        await index.store.check(requests)
        lost = [key async for batch in index.store.scan_keys() for key in batch if "}:url:" in key]
        for key in lost:
            await index.store._client.delete(key)
        changed = [
            page._replace(fingerprint=replace(page.fingerprint, exact=bytes(EXACT_BYTES)))
            for page in requests[20:21]
        ]
        again = [page._replace(token=b"anew") for page in (*requests[:20], *changed)]
        found = await index.store.check(again)
        assert [answer.kind for answer in found] == ["unique"] * 21


async def test_keys_of_a_page_in_one_bucket(index_url: str) -> None:
    """Where a table has many keys of a page, none is lost when they come into one bucket."""
    config = DedupConfig(redis_url=index_url, method="modulo", verify_bits=BITS, shards=8)
    async with DuplicateIndex.open(config) as index:
        await index.store.check(pages(60, bands=90))
        audit = await index.verify()
        assert (audit.faults, audit.kept) == ([], 60)
        assert audit.entries.total() == 60 * (90 + 2)
        for n in range(60):
            assert await index.forget(f"http://host/{n}")
        assert (await index.verify()).entries.total() == 0


async def test_the_last_number(index_url: str) -> None:
    """Numbers come to an end after four billion: then no page is checked, and none is damaged."""
    config = DedupConfig(redis_url=index_url, verify_bits=BITS, shards=8)
    async with DuplicateIndex.open(config) as index:
        some = pages(20, bands=8)
        await index.store.check(some[:10])
        for keys in index.store.shards:
            last = 0xFEFFFFFF // len(index.store.shards)
            await index.store._client.hset(keys.state, "next", last - 2_000)
        late = await index.store.check(some[10:12])
        assert {one.kind for one in late} == {"unique"}
        again = [one._replace(token=b"next") for one in some[:12]]
        assert {one.kind for one in await index.store.check(again)} == {"unchanged"}
        for keys in index.store.shards:
            await index.store._client.hset(keys.state, "next", last - 20)
        with pytest.raises(ServerError, match="no more page numbers"):
            await index.store.check(some[12:])
        assert await index.show(some[11].url) is not None
        audit = await index.verify()
        assert (audit.faults, audit.urls) == ([], 12)


async def test_a_state_that_was_lost(index_url: str, tmp_path: Path) -> None:
    """As by a server that evicts keys: nothing is checked, lest a number be given to a second page.

    One error says what to do. An index whose pages are all forgotten has lost nothing.
    """
    config = DedupConfig(redis_url=index_url, verify_bits=BITS, shards=1)
    async with DuplicateIndex.open(config) as index:
        some = pages(20, bands=8)
        await index.store.check(some)
        for page in some:
            await index.forget(page.url)
        (keys,) = index.store.shards
        await index.store._client.delete(keys.state)
        assert {one.kind for one in await index.store.check(some)} == {"unique"}
        await index.store._client.delete(keys.state)
        again = [page._replace(url=f"{page.url}/copy", token=b"anew") for page in some]
        for asked in (
            index.store.check(again),
            index.show(some[0].url),
            index.forget("http://a"),
            index.verify(),
            export_index(index, tmp_path / "export"),
        ):
            with pytest.raises(ServerError, match=r"lost its state.*noeviction"):
                await asked


async def test_memory_is_given_back(index_url: str) -> None:
    """A forgotten page leaves neither record nor table entry."""
    config = DedupConfig(redis_url=index_url, verify_bits=BITS, ttl=None, shards=8)
    async with DuplicateIndex.open(config) as index:
        await index.store.check(pages(500, bands=8))
        for n in range(500):
            assert await index.forget(f"http://host/{n}")
        assert not await index.forget("http://host/0")
        audit = await index.verify()
        assert (audit.faults, audit.urls, audit.kept, audit.entries) == ([], 0, 0, {})
        left = {key async for batch in index.store.scan_keys() for key in batch}
        every = index.store.shards
        own = {name for keys in every for name in (keys.params, keys.state, keys.stats, keys.hosts)}
        assert left == {index.store.head.params} | own
