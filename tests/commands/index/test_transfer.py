"""Export and import: what is read is what was written, on a server and on a cluster."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
import redis

from crawler.commands.subcommands import Exit
from crawler.dedup import DedupConfig, DuplicateIndex, Kind, ParameterMismatch, inspection
from crawler.dedup.errors import DedupError, InputError
from crawler.dedup.export import transfer
from crawler.dedup.export.file import Writer, read_blocks
from crawler.dedup.export.page_lines import from_line
from crawler.dedup.export.transfer import export_index, import_index
from crawler.dedup.store.cluster.spread_index import SpreadIndex
from crawler.dedup.store.namespaces import copy_index
from crawler.dedup.store.records import read_records
from crawler.dedup.store.restore import Restorer
from tests.commands.conftest import ROOT
from tests.conftest import free_port
from tests.support.texts import article, changed, text

LONG = "http://a.example/" + "long/" * 40
PAGES = [
    *((f"http://a.example/{n}", text(article(n, 300))) for n in range(60)),
    *(
        (f"http://b.example/{n}", text(changed(article(n, 300), n % 4 + 1, seed=n)))
        for n in range(25)
    ),
    *((f"http://c.example/{n}", text(article(n, 300))) for n in range(10)),
    (LONG, text(article(99))),
    ("http://a.example/%C3%BC?q=%3d&p=1", "three words only"),
    ("http://a.example/empty", ""),
]


def opened(config, question, pages=()):
    async def run():
        async with DuplicateIndex.open(config) as index:
            await index.check_many(pages)
            return await question(index)

    return asyncio.run(run())


async def everything(index):
    """All that an index knows but its memory, by URL where numbers may differ."""
    bits = index.config.verify_bits // 8
    records = {record.number: record async for record in read_records(index.store, odd_bytes=bits)}
    urls = {number: record.url for number, record in records.items()}
    plain = {
        record.url: record._replace(
            number=0, representative=0, replaces=urls.get(record.replaces, "")
        )
        for record in records.values()
    }
    originals = {record.url: urls.get(record.representative) for record in records.values()}
    stats = (await index.stats()).to_dict()
    counts = {name: stats[name] for name in ("verdicts", "hosts", "histogram", "urls", "kept")}
    return plain, originals, counts, await index.store.overrides()


async def fill(index):
    """Pages as a crawl leaves them: updated, forgotten, gone and preferred ones among them."""
    await index.check_many(PAGES)
    await index.check("http://a.example/3", text(article(1003)))
    await index.forget("http://a.example/4")
    await index.gone("http://a.example/5")
    await index.check("http://d.example/", text(changed(article(6, 300), 1)), preferred=True)
    await index.check("http://a.example/7", text(article(7, 300)))
    await index.override("http://a.example/8", "keep")
    await index.override("http://a.example/9", "drop")
    await index.override("http://a.example/9", None)  # no check has met that yet
    return await everything(index)


def written(config, path) -> Path:
    opened(config, lambda index: export_index(index, path))
    return path


@pytest.fixture
def config(redis_url):
    return DedupConfig(redis_url=redis_url)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        *(("server", "server"), ("server", "slot"), ("slot", "server"), ("spread", "spread")),
        *(("slot", "spread"), ("spread", "slot")),
    ],
)
def test_what_is_read_is_what_was_written(source, target, redis_url, cluster_url, tmp_path):
    """Between servers and clusters: records, originals, counters; sound; and it goes on from there.

    Where the layout is the same, pages keep their numbers.
    """
    places = {"server": (redis_url, 1), "slot": (cluster_url, 1), "spread": (cluster_url, 24)}
    old, new = (
        DedupConfig(redis_url=places[kind][0], shards=places[kind][1], namespace=name)
        for kind, name in ((source, "old"), (target, "new"))
    )
    is_same = (source == "spread") == (target == "spread")
    before = opened(old, fill)
    path = written(old, tmp_path / "index.jsonl.gz")
    found = asyncio.run(import_index(new, path))
    assert (found.pages, found.new, found.audit.faults) == (len(before[0]), len(before[0]), [])
    assert found.keeps is is_same
    after = opened(new, everything)
    if is_same:
        assert after == before
        both = [
            opened(config, lambda index: inspection.read_clusters(index)) for config in (old, new)
        ]
        assert both[0] == both[1]
    else:
        assert after[2:] == before[2:]
        gone = {url for url, original in before[1].items() if original != after[1][url]}
        # Copies of what is kept no more are decided anew: their original is not named.
        assert {after[1][url] for url in gone} <= {None}
        for url, record in before[0].items():
            assert after[0][url]._replace(replaces="") == record._replace(replaces="")

    async def go_on(index):
        verdict = await index.check("http://new/", text(changed(article(20, 300), 2, seed=77)))
        return verdict, await index.check("http://a.example/20", text(article(20, 300)))

    near, unchanged = opened(new, go_on)
    assert (near.kind, near.duplicate_of) == (Kind.NEAR, "http://a.example/20")
    assert unchanged.kind is Kind.UNCHANGED
    assert opened(new, lambda index: index.verify()).faults == []


def test_an_index_that_lost_writes_is_whole_again(redis_url, tmp_path):
    """What a forced failover or an evicting server has taken from the tables comes back."""
    old, new = (DedupConfig(redis_url=redis_url, namespace=name) for name in ("old", "new"))
    before = opened(old, fill)
    with redis.Redis.from_url(redis_url) as client:
        buckets = sorted([*client.scan_iter("{old}:band*"), *client.scan_iter("{old}:url*")])
        assert client.delete(*buckets[::5]) > 10
    assert opened(old, lambda index: index.verify()).faults
    found = asyncio.run(import_index(new, written(old, tmp_path / "index.jsonl.gz")))
    assert (found.pages, found.audit.faults) == (len(before[0]), [])
    assert opened(new, everything)[:2] == before[:2]


@pytest.mark.parametrize("kind", ["server", "cluster"])
def test_twice_is_once(kind, redis_url, cluster_url, tmp_path):
    """The same import again changes nothing, and neither does one into the index itself."""
    config = DedupConfig(redis_url={"server": redis_url, "cluster": cluster_url}[kind])
    before = opened(config, fill)
    path = written(config, tmp_path / "x.gz")
    for namespace in ("dedup", "new", "new"):
        target = DedupConfig(redis_url=config.redis_url, namespace=namespace)
        found = asyncio.run(import_index(target, path))
        assert found.audit.faults == []
        assert opened(target, everything) == before
    assert found.new == 0


@pytest.mark.parametrize("kind", ["server", "cluster"])
def test_into_an_index_with_pages(kind, redis_url, cluster_url, tmp_path):
    """Pages that it knows stay what they are; others come with their decisions; it stays sound."""
    url = {"server": redis_url, "cluster": cluster_url}[kind]
    old = DedupConfig(redis_url=url, namespace="old", seed=7)
    new = DedupConfig(redis_url=url, namespace="new", seed=7)
    opened(old, lambda index: index.stats(), PAGES)
    path = written(old, tmp_path / "x.gz")
    others = [("http://x.example/", text(article(500))), *PAGES[:5]]
    opened(new, lambda index: index.stats(), others)
    found = asyncio.run(import_index(new, path))
    assert (found.new, found.keeps, found.audit.faults) == (len(PAGES) - 5, False, [])
    plain, originals, counts, _ = opened(new, everything)
    shown = {record.shown_url for record in plain.values()}
    assert shown == {url for url, _ in [*PAGES, *others]}
    assert originals["http://c.example/2"] == "http://a.example/2"
    assert originals["http://b.example/20"] == "http://a.example/20"
    assert counts["verdicts"] == {"unique": len(others)}


@pytest.mark.parametrize("kind", ["server", "cluster"])
def test_what_people_said_comes_into_an_index_with_pages(kind, redis_url, cluster_url, tmp_path):
    """Of pages that are new there; of those that it knows its own decisions stand, and none too."""
    url = {"server": redis_url, "cluster": cluster_url}[kind]
    old = DedupConfig(redis_url=url, namespace="old", seed=7)
    new = DedupConfig(redis_url=url, namespace="new", seed=7)

    async def decide(index):
        for number in (0, 1, 2):
            await index.override(f"http://a.example/{number}", "drop")

    async def keep(index):
        await index.override("http://a.example/1", "keep")

    opened(old, decide, PAGES[:9])
    opened(new, keep, PAGES[:2])
    asyncio.run(import_index(new, written(old, tmp_path / "x.gz")))
    wishes = opened(new, lambda index: index.store.overrides())
    assert wishes == {"http://a.example/1": "keep", "http://a.example/2": "drop"}


@pytest.mark.parametrize("kind", ["server", "cluster"])
def test_copies_of_a_page_that_has_another_text_now(kind, redis_url, cluster_url, tmp_path):
    """Where the index knows their original with another text, no text of theirs is lost."""
    url = {"server": redis_url, "cluster": cluster_url}[kind]
    old = DedupConfig(redis_url=url, namespace="old", seed=7)
    new = DedupConfig(redis_url=url, namespace="new", seed=7)
    first, second = text(article(1)), text(changed(article(1), 1))
    pages = [("http://a/", first), ("http://b/", first), ("http://c/", second)]
    opened(old, lambda index: index.stats(), pages)
    path = written(old, tmp_path / "x.gz")
    opened(new, lambda index: index.stats(), [("http://a/", text(article(2)))])
    assert asyncio.run(import_index(new, path)).new == 2

    async def come_again(index):
        before = await index.show("http://b/")
        return before.duplicate_of, await index.check_many(pages[1:])

    original, (exact, near) = opened(new, come_again)
    assert original is exact.duplicate_of is None
    assert near.duplicate_of == "http://b/"


@pytest.mark.parametrize("kind", ["server", "cluster"])
def test_a_killed_import_goes_on(kind, redis_url, cluster_url, tmp_path, monkeypatch):
    """What is half imported cannot be opened; the same file again makes it whole and sound."""
    url = {"server": redis_url, "cluster": cluster_url}[kind]
    old, new = (DedupConfig(redis_url=url, namespace=name) for name in ("old", "new"))
    before = opened(old, fill)
    path = written(old, tmp_path / "x.gz")
    monkeypatch.setattr(transfer, "_WRITTEN", 16)
    write = Restorer.write

    async def stop(*arguments):
        raise asyncio.CancelledError

    for step in (0, 1, 3):
        left = step

        async def die(restorer, pages):
            nonlocal left
            if not left:
                raise asyncio.CancelledError
            left -= 1
            return await write(restorer, pages)

        with monkeypatch.context() as patch:
            patch.setattr(Restorer, "write", die)
            if step == 3 and kind == "cluster":  # pages are there and their entries are not
                patch.setattr(SpreadIndex, "make_entries", stop)
            with pytest.raises(asyncio.CancelledError):
                asyncio.run(import_index(new, path))
        with pytest.raises(ParameterMismatch, match=r"incomplete.*unfinished"):
            opened(new, everything)
    other = written(DedupConfig(redis_url=url, namespace="empty", seed=1), tmp_path / "other.gz")
    with pytest.raises(InputError, match="incomplete"):
        asyncio.run(import_index(DedupConfig(redis_url=url, namespace="new", seed=1), other))
    assert asyncio.run(import_index(new, path)).audit.faults == []
    assert opened(new, everything) == before


@pytest.mark.parametrize("kind", ["server", "cluster"])
def test_an_import_killed_beside_other_pages_goes_on(
    kind, redis_url, cluster_url, tmp_path, monkeypatch
):
    """As after an answer that was lost: pages that were written get their entries and overrides."""
    url = {"server": redis_url, "cluster": cluster_url}[kind]
    old, new = (
        DedupConfig(redis_url=url, namespace=name, seed=7, shards=3) for name in ("old", "new")
    )
    opened(old, lambda index: index.override("http://a.example/1", "drop"), PAGES)
    path = written(old, tmp_path / "x.gz")
    opened(new, lambda index: index.stats(), [("http://x.example/", text(article(500)))])

    async def stop(*arguments):
        raise asyncio.CancelledError

    stopped = (Restorer, "take_overrides") if kind == "server" else (SpreadIndex, "make_entries")
    with monkeypatch.context() as patch:
        patch.setattr(*stopped, stop)
        with pytest.raises(asyncio.CancelledError):
            asyncio.run(import_index(new, path))
    assert asyncio.run(import_index(new, path)).audit.faults == []
    assert opened(new, lambda index: index.store.overrides()) == {"http://a.example/1": "drop"}
    found = opened(new, lambda index: index.check("http://y.example/", PAGES[30][1]))
    assert found.duplicate_of == PAGES[30][0]


@pytest.mark.parametrize("command", ["import", "copy"])
def test_an_index_that_is_there_stays_whole(redis_url, tmp_path, monkeypatch, command):
    """Whenever the server is lost: it is not taken for one that is half made."""
    old = DedupConfig(redis_url=redis_url, namespace="old", seed=1)
    new = DedupConfig(redis_url=redis_url, namespace="new", seed=1)
    opened(old, lambda index: index.check("http://a.example/", text(article(1))))
    path = written(old, tmp_path / "x.gz")
    opened(new, lambda index: index.check("http://b.example/", text(article(2))))
    server = redis.Redis.from_url(redis_url)
    before = server.hgetall("{new}:params")
    execute = redis.asyncio.Redis.execute_command

    async def die(*arguments, **options):
        nonlocal left
        left -= 1
        if left < 0:
            raise ConnectionError("the server is gone")
        return await execute(*arguments, **options)

    for commands in range(6):
        left = commands
        with monkeypatch.context() as patch:
            patch.setattr(redis.asyncio.Redis, "execute_command", die)
            try:
                if command == "import":
                    asyncio.run(import_index(new, path))
                else:
                    asyncio.run(copy_index(new, "old", "new"))
            except (DedupError, ConnectionError):
                pass
        assert server.hgetall("{new}:params") == before


def test_a_killed_export_goes_on(config, tmp_path, monkeypatch):
    """It goes on behind the last whole block; the file has its name only when it is whole."""
    monkeypatch.setattr(transfer, "_RECORDS", 1)
    before = opened(config, fill)
    path, whole = tmp_path / "x.gz", written(config, tmp_path / "whole.gz")
    part = path.with_name("x.gz.part")
    block = Writer.write_block
    left = 1

    def die(writer, records):
        nonlocal left
        if not left:
            raise asyncio.CancelledError
        left -= 1
        block(writer, records)

    with monkeypatch.context() as patch:
        patch.setattr(Writer, "write_block", die)
        with pytest.raises(asyncio.CancelledError):
            written(config, path)
    assert not path.exists()
    assert len(gzip.decompress(part.read_bytes()).splitlines()) > 8
    size = part.stat().st_size
    with part.open("ab") as file:  # a block that was being written
        file.write(part.read_bytes()[size // 2 :])
    blocks = 0

    def count(writer, records):
        nonlocal blocks
        blocks += 1
        block(writer, records)

    monkeypatch.setattr(Writer, "write_block", count)
    written(config, path)
    assert blocks == sum(one.number is not None for one in read_blocks(whole)) - 1 - 1
    assert not part.exists()
    lines = [gzip.decompress(one.read_bytes()).splitlines() for one in (path, whole)]
    assert len(lines[0]) == len(lines[1])
    target = DedupConfig(redis_url=config.redis_url, namespace="new")
    asyncio.run(import_index(target, path))
    assert opened(target, everything) == before


def test_an_export_that_another_one_finishes_meanwhile_stays(config, tmp_path, monkeypatch):
    """Whoever waits for the lock of the file then holds that of the finished one."""
    path = tmp_path / "x.gz"
    monkeypatch.setattr(transfer.fcntl, "flock", lambda *_: finish())

    def finish():
        part = path.with_name("x.gz.part")
        part.write_bytes(b"finished")
        part.rename(path)

    with pytest.raises(InputError, match="already"):
        opened(config, lambda index: export_index(index, path))
    assert path.read_bytes() == b"finished"


def test_an_export_of_another_state_begins_anew(config, tmp_path, monkeypatch):
    """Blocks of an index that has changed since are not kept."""
    opened(config, fill)
    path = tmp_path / "x.gz"
    (tmp_path / "x.gz.part").write_bytes(written(config, tmp_path / "old.gz").read_bytes())
    opened(config, lambda index: index.check("http://new/", text(article(4000))))
    written(config, path)
    assert b"http://new/" in gzip.decompress(path.read_bytes())


@pytest.mark.parametrize("change", ["check", "gone"])
def test_an_index_that_changes_is_not_exported(config, tmp_path, monkeypatch, change):
    """A file of no one moment would not be sound: there is none, with a word why."""
    opened(config, fill)
    read = transfer.read_records

    async def slow(store, *rest):
        index = DuplicateIndex(config, store, None)
        if change == "gone":
            assert await index.gone("http://a.example/1")
        else:
            await index.check("http://x/", text(article(900)))
        return await read(store, *rest)

    monkeypatch.setattr(transfer, "read_records", slow)
    with pytest.raises(InputError, match="changed meanwhile"):
        written(config, tmp_path / "x.gz")
    assert not (tmp_path / "x.gz").exists()


def test_damage_is_refused_before_anything_is_written(config, server, tmp_path, monkeypatch):
    """Every cut and every changed byte is noticed, and the block is named."""
    monkeypatch.setattr(transfer, "_RECORDS", 2)
    opened(config, lambda index: index.stats(), PAGES)
    data = written(config, tmp_path / "x.gz").read_bytes()
    target = DedupConfig(redis_url=config.redis_url, namespace="new")
    keys = server.ask("DBSIZE")
    broken = tmp_path / "broken.gz"
    cuts = [data[: len(data) * part // 17] for part in range(17)]
    flips = [data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :] for at in range(12, len(data), 997)]
    for damaged in [*cuts, *flips, data + data[-100:], data + b"x"]:
        broken.write_bytes(damaged)
        with pytest.raises(InputError, match=r"block|byte|no exported index|not an exported index"):
            asyncio.run(import_index(target, broken))
    assert server.ask("DBSIZE") == keys


def test_damaged_records_are_left_out(config, server, tmp_path):
    """What an audit names does not keep the others from being read, nor from being taken along."""
    opened(config, lambda index: index.stats(), PAGES[:8])
    for number, damage in (
        (1, lambda r: r[:-9]),
        (2, lambda r: r[:3] + b"?" + r[4:]),
        (3, lambda r: r[:4] + b"?" + r[5:]),
        (4, lambda r: r[:-130]),
    ):
        record = server.ask("LINDEX", "{dedup}:page:0", number)
        server.ask("LSET", "{dedup}:page:0", number, damage(record))

    async def read(index):
        await inspection.read_stories(index, 0.5)
        await inspection.read_top(index)
        await inspection.find_nearest(index, index.fingerprint(PAGES[0][1]))
        return (await index.verify()).faults

    faults = opened(config, read)
    assert {f"the record of page {number} is incomplete" for number in range(1, 5)} <= set(faults)
    target = DedupConfig(redis_url=config.redis_url, namespace="new")
    found = asyncio.run(import_index(target, written(config, tmp_path / "x.gz")))
    assert (found.pages, found.new, found.audit.faults) == (4, 4, [])


def test_lines_that_are_no_pages_are_refused(config, server, tmp_path):
    """Also where all checksums are right: the error names block and line."""
    path = written(config, tmp_path / "x.gz")
    header = next(read_blocks(path)).lines[0]
    opened(config, lambda index: index.stats(), PAGES[:2])
    good = list(read_blocks(written(config, tmp_path / "y.gz")))[1].lines
    counters = {"stats": {}, "hosts": {}, "histogram": {}, "overrides": {}}
    target = DedupConfig(redis_url=config.redis_url, namespace="new")

    def crafted(lines, header=header, counters=counters):
        file = tmp_path / "crafted.gz"
        with file.open("wb") as out:
            writer = Writer(out)
            writer.write_header(header)
            writer._write_lines(lines, {"block": 0})
            writer.blocks, writer.pages = 1, len(lines)
            writer.write_end(counters)
        return file

    for change in (
        {"n": -1},
        {"n": 2**32},
        {"words": "many"},
        {"standing": "other"},
        {"url": None},
        {"url": "x" * 5000},
        {"exact": "00"},
        {"exact": "x" * 32},
        {"bands": "AAA="},
        {"odd": "*"},
        {"odd": ""},
        {"standing": "near"},
        {"standing": "unchanged"},
        {"standing": []},
        {"last": {}},
        {"url": "http://a/\ud800"},  # half of a character
    ):
        with pytest.raises(InputError, match=r"block 0.*, line 2"):
            asyncio.run(import_index(target, crafted([good[0], {**good[1], **change}])))
    for lines in ([3], [[]], [None]):
        with pytest.raises(InputError, match="block 0, line 1"):
            asyncio.run(import_index(target, crafted(lines)))
    parameters = [
        {**header["parameters"], **wrong}
        for wrong in ({"seed": "9" * 20}, {"verify_bits": "9" * 5000})
    ]
    for wrong in (
        {"version": 2},
        {"format": "x"},
        {"next": [0]},
        {"parameters": 1},
        {"state": "\ud800"},
        *({"parameters": one} for one in parameters),
    ):
        with pytest.raises(InputError):
            asyncio.run(import_index(target, crafted(good, header={**header, **wrong})))
    for wrong in (
        {"stats": {"unique": "many"}},
        {"hosts": {"a.example unique": "1.5"}},
        {"histogram": {"0.95": "9" * 30}},
        {"overrides": {"http://a/": "bury"}},
    ):
        with pytest.raises(InputError, match="counters"):
            asyncio.run(import_index(target, crafted(good, counters={**counters, **wrong})))
    with pytest.raises(InputError, match="counters"):
        asyncio.run(import_index(target, crafted(good, counters={})))
    assert not server.ask("EXISTS", "{new}:params")
    bomb = tmp_path / "bomb.gz"
    bomb.write_bytes(gzip.compress(b'{"format":"scrapy-neardup index"' + bytes(300 << 20), 1))
    with pytest.raises(InputError, match="too long"):
        asyncio.run(import_index(target, bomb))


@pytest.mark.parametrize(
    ("begins", "seems", "do"),
    [
        (b"", "is empty, not an exported index", "`scrapy dedup export`"),
        (b'{"url": "http://a/", "text": "x"}\n', "looks like JSON lines, as a feed", "dedup load`"),
        (b'\xef\xbb\xbf\n[\n{"url": ', "looks like a JSON array", "-O feed.jsonl"),
        (b"WARC/1.0\r\nWARC-Type: warcinfo\r\n", "looks like a WARC file", "dedup load`"),
        (b"PAR1\x15\x04", "looks like a Parquet file", "dedup load`"),
        (b"REDIS0011\xfa", "looks like a snapshot of a Redis or Valkey server", "start a server"),
        (b"*2\r\n$6\r\nSELECT\r\n", "looks like the append-only file of a", "start a server"),
        (b"SQLite format 3\0", "looks like a database, as the archive of texts", "dedup export`"),
        (b"\x28\xb5\x2f\xfd\x24", "looks like a file compressed by zstd", "dedup load`"),
        (b"<!doctype html>", "looks like an HTML or XML file", "dedup export`"),
        (b"some words", "or damaged at its beginning", "dedup export`"),
        (bytes(1000), "or damaged at its beginning", "another copy"),
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_what_is_no_export_is_told_what_it_seems(config, server, tmp_path, begins, seems, do, pack):
    """The error says in one line what was taken for an export, and what can be done with it."""
    path = tmp_path / "pages"
    path.write_bytes(pack(begins))
    if not begins and pack is gzip.compress:
        seems = "or damaged at its beginning"  # there is something, but nothing in it
    keys = server.ask("DBSIZE")
    with pytest.raises(InputError) as caught:
        asyncio.run(import_index(config, path))
    said = str(caught.value)
    assert said.startswith(f"{str(path)!r} is")
    assert seems in said
    assert do in said
    assert "\n" not in said
    assert server.ask("DBSIZE") == keys


def test_an_export_that_was_unpacked_is_told_so(config, tmp_path):
    """What `zcat` makes of an export has no members to check; it is no feed either."""
    path = tmp_path / "index.jsonl"
    path.write_bytes(gzip.decompress(written(config, tmp_path / "x.gz").read_bytes()))
    with pytest.raises(InputError, match="looks like an export that was unpacked: name it as"):
        asyncio.run(import_index(config, path))


def test_exact_hashes_of_earlier_exports_are_longer(config, tmp_path):
    """Those of 16 bytes are cut to what is kept of them now, so that an old index can be moved."""
    opened(config, lambda index: index.stats(), PAGES[:1])
    line = list(read_blocks(written(config, tmp_path / "x.gz")))[1].lines[0]
    earlier = {**line, "exact": line["exact"] + "01020304"}
    assert from_line(earlier, 128) == from_line(line, 128)


def test_parameters_must_agree(config, tmp_path, server):
    """Settings that differ from the file's, and an index with another seed, are errors."""
    opened(config, lambda index: index.stats(), PAGES)
    path = written(config, tmp_path / "x.gz")
    keys = server.ask("DBSIZE")
    other = DedupConfig(redis_url=config.redis_url, namespace="new", threshold=0.7)
    with pytest.raises(ParameterMismatch, match=r"threshold: index 0.8, settings 0.7"):
        asyncio.run(import_index(other, path))
    assert server.ask("DBSIZE") == keys
    target = DedupConfig(redis_url=config.redis_url, namespace="new")
    opened(target, lambda index: index.stats(), PAGES[:1])
    with pytest.raises(ParameterMismatch, match=r"seed: .*; import it under another DEDUP"):
        asyncio.run(import_index(target, path))


def test_commands(dedup, redis_url, tmp_path):
    """Both say how many pages, in words and as JSON; errors are one line with exit code 2."""
    config = DedupConfig(redis_url=redis_url)
    path = str(tmp_path / "x.gz")
    assert dedup("export", str(tmp_path / "empty.gz"))[0] == Exit.NOTHING
    opened(config, lambda index: index.stats(), PAGES)
    code, out, err = dedup("export", path)
    assert (code, out, err) == (Exit.FOUND, f"{len(PAGES)} pages are in {path}.\n", "")
    code, _, err = dedup("export", path)
    assert (code, err.count("\n")) == (Exit.USAGE, 1)
    nowhere = str(tmp_path / "nowhere" / "x.gz")
    code, _, err = dedup("export", nowhere)
    assert (code, err.partition(": No")[0]) == (2, f"scrapy dedup: cannot write {nowhere!r}")
    code, out, _ = dedup("import", path, "-s", "DEDUP_NAMESPACE=new")
    said = f"{len(PAGES)} pages are imported into 'new', 0 were already there.\n"
    assert (code, out) == (Exit.FOUND, said)
    code, out, _ = dedup("import", path, "--json", "-s", "DEDUP_NAMESPACE=new")
    found = json.loads(out)
    assert (code, found["new"], found["faults"]) == (Exit.FOUND, 0, [])
    for wrong in (str(tmp_path / "nothing.gz"), str(tmp_path), __file__):
        code, _, err = dedup("import", wrong)
        assert (code, err.count("\n")) == (Exit.USAGE, 1), wrong
    for wrong in ("/nowhere/x.gz", "a" * 300):
        code, _, err = dedup("export", wrong)
        assert (code, err.count("\n")) == (Exit.USAGE, 1), wrong


def test_what_is_no_file(dedup, redis_url, tmp_path):
    """Nobody is told to remove a device; a pipe, which can be read once, is not called damaged."""
    config = DedupConfig(redis_url=redis_url)
    opened(config, lambda index: index.stats(), PAGES)
    for special in ("/dev/null", str(tmp_path)):
        code, _, err = dedup("export", special)
        assert (code, err.count("name a new file"), err.count("remove")) == (Exit.USAGE, 1, 0)
    path = written(config, tmp_path / "x.gz")
    pipe, end = os.pipe()
    with os.fdopen(end, "wb") as file:
        file.write(path.read_bytes())
    code, _, err = dedup("import", f"/dev/fd/{pipe}", "-s", "DEDUP_NAMESPACE=new")
    os.close(pipe)
    assert (code, err.count("is a pipe")) == (Exit.USAGE, 1)


def test_the_permissions_that_are_documented_suffice(start_server, tmp_path):
    """The permissions in docs/howto/server.md suffice to export, import and query an index."""
    server = start_server(port=free_port())
    lines = (ROOT / "docs" / "howto" / "server.md").read_text(encoding="utf-8").splitlines()
    rule = next(line.split() for line in lines if "ACL SETUSER crawl" in line)
    server.ask(*rule, "~{new}:*")
    url = f"redis://crawl:password@127.0.0.1:{server.port}"
    opened(DedupConfig(redis_url=url), lambda index: inspection.read_top(index), PAGES)
    path = written(DedupConfig(redis_url=url), tmp_path / "x.gz")
    found = asyncio.run(import_index(DedupConfig(redis_url=url, namespace="new"), path))
    assert found.audit.faults == []


def test_an_index_that_ignores_what_earlier_ones_did(config, tmp_path):
    """Under the default of DEDUP_IGNORE it is refused by an error that says what to set."""
    old = replace(config, ignore="case,punctuation")
    opened(old, lambda index: index.check("http://a.example/", text(article(1))))
    path = written(old, tmp_path / "index.jsonl.gz")
    said = r"ignore: (?:index|\S+) case, punctuation, settings case, marks, typography"
    with pytest.raises(ParameterMismatch, match=said):
        opened(config, lambda index: index.stats())
    with pytest.raises(ParameterMismatch, match=said):
        asyncio.run(import_index(replace(config, namespace="new"), path))
    assert asyncio.run(import_index(replace(old, namespace="new"), path)).new == 1
    for namespace in (config.namespace, "new"):
        again = opened(
            replace(old, namespace=namespace),
            lambda index: index.check("http://b.example/", text(article(1)).replace(" ", ", ")),
        )
        assert again.kind is Kind.EXACT
