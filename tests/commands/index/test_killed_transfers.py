"""Exports and imports that are killed go on, and what is there stays whole."""

from __future__ import annotations

import asyncio
import gzip

import pytest
import redis

from crawler.dedup import DedupConfig, DuplicateIndex, ParameterMismatch
from crawler.dedup.errors import DedupError, InputError
from crawler.dedup.export import transfer
from crawler.dedup.export.file import Writer, read_blocks
from crawler.dedup.export.transfer import export_index, import_index
from crawler.dedup.store.cluster.spread_index import SpreadIndex
from crawler.dedup.store.namespaces import copy_index
from crawler.dedup.store.restore import Restorer
from tests.commands.index.exported import PAGES, everything, fill, opened, written
from tests.support.texts import article, text


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
