"""Indexes of one server: listed, copied and renamed while crawls go on, renames that are killed."""

from __future__ import annotations

import asyncio
import io
import json
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

import pytest

from crawler.commands.subcommands import Exit
from crawler.dedup import DedupConfig, DuplicateIndex, Kind, ParameterMismatch, ServerError
from crawler.dedup.archive import database
from crawler.dedup.errors import InputError
from crawler.dedup.store import namespaces
from crawler.dedup.store.namespaces import clear_index, copy_index
from tests.commands.index.looked_at import PAGES, checked, keys
from tests.support.texts import article, text


@pytest.fixture(params=["copy", "rename"])
def meanwhile(request, dedup, fill, server, monkeypatch) -> Callable[..., str]:
    """Calls a function while an index is copied or renamed, which fails; its error."""

    def interrupt(act: Callable[..., object], *words: object) -> str:
        fill(PAGES)

        def slow(source, target):
            target.write_bytes(b"the copy")
            thread = threading.Thread(target=act, args=words)
            thread.start()
            thread.join()

        monkeypatch.setattr(database, "copy_archive", slow)
        code, _, err = dedup(request.param, "dedup", "other")
        assert (code, err.count("\n")) == (Exit.USAGE, 1)
        assert not any(key.startswith("{other}") for key in keys(server))
        return err

    return interrupt


def test_a_crawl_while_the_texts_are_copied_is_noticed(meanwhile, server, tmp_path):
    """They may be many: what comes then would be in the old index alone, which is deleted."""
    late = ("http://late/", "a b c d e f g")
    assert "was changed meanwhile" in meanwhile(checked, server.url, [late])
    assert not list(tmp_path.glob("archive-other*"))
    assert checked(server.url, [late])[0][0].kind is Kind.UNCHANGED


def test_a_name_that_is_cleared_meanwhile_gets_no_half_of_an_index(meanwhile, server):
    """Somebody clears it for what is there of it: the old index stays, and can be used."""
    other = DedupConfig(redis_url=server.url, namespace="other")
    err = meanwhile(lambda: asyncio.run(clear_index(other)))
    assert "was cleared meanwhile: clear it once more" in err
    verdicts, faults, _ = checked(server.url, PAGES)
    assert ({verdict.kind for verdict in verdicts}, faults) == ({Kind.UNCHANGED}, [])


@pytest.mark.parametrize("kind", ["server", "cluster"])
@pytest.mark.parametrize("pause", [0.0, 0.02])
def test_no_page_is_lost_by_a_rename(kind, pause, redis_url, cluster_url, tmp_path):
    """What a crawl checks meanwhile is in one of both indexes, or waits to be checked."""
    url = {"server": redis_url, "cluster": cluster_url}[kind]
    config = DedupConfig(redis_url=url, data_dir=tmp_path, shards=5)
    names = ["dedup", "other"]
    answered, waiting = [], []
    checked(url, PAGES, shards=5)

    async def crawl(stop):
        async with DuplicateIndex.open(config, spool=True) as index:
            while not stop.is_set():
                page = f"http://late/{len(answered) + len(waiting)}"
                try:
                    await index.check(page, text(article(len(answered) + 1000, 50)))
                    answered.append(page)
                except ServerError:
                    waiting.append(page)
                await asyncio.sleep(pause * 3)

    async def rename():
        stop = asyncio.Event()
        task = asyncio.create_task(crawl(stop))
        keys = 0
        for _ in range(20):  # in vain while a crawl makes no pause
            with suppress(InputError):
                keys = await copy_index(config, *names, is_moved=True)
                break
            await asyncio.sleep(pause)
        await asyncio.sleep(0.1)
        stop.set()
        await task
        return keys

    is_renamed = asyncio.run(rename())
    held = [json.loads(line)["url"] for line in spooled(tmp_path)]
    assert held == waiting

    async def known(name):
        async with DuplicateIndex.open(replace(config, namespace=name), make=False) as index:
            records = await asyncio.gather(*map(index.show, answered))
            return [record is not None for record in records]

    found = [asyncio.run(known(name)) for name in names]
    assert all(map(any, zip(*found, strict=True)))
    assert not (is_renamed and any(found[0]))


def spooled(folder):
    path = folder / "unchecked.jsonl"
    return path.read_text().splitlines() if path.exists() else []


@pytest.mark.parametrize("kind", ["server", "cluster"])
def test_a_rename_that_was_killed_goes_on(kind, redis_url, cluster_url, monkeypatch):
    """Of an index that is marked already, and not yet copied whole, nothing is lost."""
    url = {"server": redis_url, "cluster": cluster_url}[kind]
    config = DedupConfig(redis_url=url, shards=5)
    checked(url, PAGES, shards=5)
    mark = namespaces._mark_index

    async def die(*arguments):
        if arguments[1] == "dedup" and arguments[2]:
            await mark(*arguments)
        raise asyncio.CancelledError

    with monkeypatch.context() as patch:
        patch.setattr(namespaces, "_mark_index", die)
        with pytest.raises(asyncio.CancelledError):
            asyncio.run(copy_index(config, "dedup", "other", is_moved=True))
    # Who did as he is told of each of both, and was told to clear both, would lose all.
    for name, said in (("dedup", "else clear the new one"), ("other", "clear it and copy again")):
        with pytest.raises(ParameterMismatch, match=said):
            checked(url, [], namespace=name, shards=5)
    asyncio.run(clear_index(replace(config, namespace="other")))
    assert asyncio.run(copy_index(config, "dedup", "third")) > 10
    with pytest.raises(ZeroDivisionError):
        asyncio.run(
            copy_index(config, "dedup", "fourth", is_moved=True, along=lambda digest: 1 / 0)
        )
    for name in ("dedup", "third"):
        verdicts, faults, _ = checked(url, PAGES, namespace=name, shards=5)
        assert ({verdict.kind for verdict in verdicts}, faults) == ({Kind.UNCHANGED}, [])


@pytest.mark.parametrize("kind", ["server", "cluster"])
def test_the_indexes_of_a_server(kind, dedup, redis_url, cluster_url):
    """All are listed, in one part or in many; keys that others have under such names are not."""
    url = {"server": redis_url, "cluster": cluster_url}[kind]
    before = int(time.time())

    async def crawl():
        config = DedupConfig(redis_url=url, namespace="news", shards=5)
        async with DuplicateIndex.open(config) as index:
            await index.begin_crawl()
            await index.check_many(PAGES[:3])
            return (await index.stats()).to_dict()

    stats = asyncio.run(crawl())
    checked(url, PAGES[:2], namespace="news/0.3")
    options = ["-s", f"DEDUP_REDIS_URL={url}"]
    dedup("redis-cli", *options, "HSET", "{queue/}:params", "digest-of", "others")
    code, out, _ = dedup("indexes", "--json", *options)
    first, second = json.loads(out)
    assert code == Exit.FOUND
    assert (first["namespace"], second["namespace"]) == ("news", "news/0.3")
    assert (first["kept"], first["urls"], first["checks"]) == (3, 3, 3)
    assert first["unfinished"] is None
    for name in ("last_check", "last_crawl"):
        assert first[name] == stats[name]
        assert before <= datetime.fromisoformat(first[name]).timestamp() <= time.time()
    assert second["last_check"]
    assert second["last_crawl"] is None  # nobody has begun one

    asyncio.run(copy_index(DedupConfig(redis_url=url), "news", "kept"))
    _, out, _ = dedup("indexes", *options)
    rows = [line.split("\t") for line in out.splitlines()]
    assert rows[1] == ["kept", "3", "3", "3", first["last_check"], first["last_crawl"]]


def test_no_index_on_a_server(dedup):
    """That is said, with the server's address."""
    code, out, err = dedup("indexes")
    assert (code, out) == (Exit.NOTHING, "")
    assert "there is no index on DEDUP_REDIS_URL unix://" in err


@pytest.mark.parametrize("kind", ["server", "cluster"])
def test_commands_to_the_server(kind, dedup, redis_url, cluster_url, monkeypatch):
    """Answers look as those of redis-cli do; an error of the server is one of them."""
    url = {"server": redis_url, "cluster": cluster_url}[kind]
    checked(url, PAGES[:3])
    options = ["-s", f"DEDUP_REDIS_URL={url}"]
    key = "{dedup/}:stats" if kind == "cluster" else "{dedup}:stats"
    if kind == "server":
        assert dedup("redis-cli", *options, "info", "server")[1].startswith("# Server\nredis_ver")
    assert dedup("redis-cli", *options, "HGETALL", key)[1] == '1) "unique"\n2) "3"\n'
    code, out, _ = dedup("redis-cli", *options, "LPUSH", key, "x")
    assert code == Exit.NOTHING
    assert out.startswith("(error) WRONGTYPE")
    lines = f"HGET '{key}' unique\n\nEXISTS '{key}'\nHGET '{key}' near\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(lines))
    code, out, _ = dedup("redis-cli", *options)
    assert (code, out) == (Exit.FOUND, '"3"\n(integer) 1\n(nil)\n')
    monkeypatch.setattr("sys.stdin", io.StringIO("HGET 'open"))
    assert "is not a command: No closing quotation" in dedup("redis-cli", *options)[2]
