"""Copies and renames while crawls go on, and renames that are killed."""

from __future__ import annotations

import asyncio
import json
import threading
from contextlib import suppress
from dataclasses import replace

import pytest

from crawler.commands.subcommands import Exit
from crawler.dedup import DedupConfig, DuplicateIndex, Kind, ParameterMismatch, ServerError
from crawler.dedup.archive import database
from crawler.dedup.errors import InputError
from crawler.dedup.store import namespaces
from crawler.dedup.store.namespaces import clear_index, copy_index
from tests.commands.test_index_commands import PAGES, checked, keys
from tests.texts import article, text


@pytest.mark.parametrize("command", ["copy", "rename"])
def test_a_crawl_while_the_texts_are_copied_is_noticed(
    dedup, fill, server, tmp_path, monkeypatch, command
):
    """They may be many: what comes then would be in the old index alone, which is deleted."""
    fill(PAGES)
    late = ("http://late/", "a b c d e f g")

    def slow(source, target):
        target.write_bytes(b"the copy")
        thread = threading.Thread(target=checked, args=(server.url, [late]))
        thread.start()
        thread.join()

    monkeypatch.setattr(database, "copy_archive", slow)
    code, _, err = dedup(command, "dedup", "other")
    assert (code, err.count("\n")) == (Exit.USAGE, 1)
    assert "was changed meanwhile" in err
    assert not any(key.startswith("{other}") for key in keys(server))
    assert not list(tmp_path.glob("archive-other*"))
    assert checked(server.url, [late])[0][0].kind is Kind.UNCHANGED


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
