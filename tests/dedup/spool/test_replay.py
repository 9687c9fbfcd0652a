"""Kept pages are replayed when the server answers again."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from unittest.mock import AsyncMock

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from crawler.dedup import DedupConfig, DuplicateIndex, Kind, ServerError
from crawler.dedup.exchange.exchange import Exchange
from crawler.dedup.exchange.requests import request_of
from crawler.dedup.exchange.spool import Spool
from crawler.dedup.store.messages import Answer, CheckRequest
from crawler.dedup.store.namespaces import copy_index
from tests.conftest import Server
from tests.dedup.spool.kept import request
from tests.support.texts import article, changed, text


async def test_answers_that_fail_late_let_the_server_rest(tmp_path: Path) -> None:
    """On a cluster each page waits for its own nodes, when its exchange has ended."""
    asked: list[CheckRequest] = []

    async def check(requests: list[CheckRequest]) -> list[asyncio.Future[Answer]]:
        asked.extend(requests)
        error = ServerError("no answer")
        error.__cause__ = RedisConnectionError()
        loop = asyncio.get_running_loop()
        (answer,) = answers = [loop.create_future()]
        loop.call_later(0.3, answer.set_exception, error)
        return answers

    spool, nothing = Spool(tmp_path, "index"), AsyncMock()
    exchange = Exchange(check, nothing, nothing, limit=9, timeout=9, spool=spool)
    for number in range(2):
        with pytest.raises(ServerError, match="no answer"):
            await exchange.check(request(number))
    assert len(asked) == 1
    assert spool.count() == ((2, 0), (0, 0))


async def test_unanswered_pages_are_replayed(start_server, tmp_path: Path) -> None:
    """Pages checked while the server is gone get their verdict when it is back, counted once."""
    server: Server = start_server(appendonly="yes", appendfsync="always")
    config = DedupConfig(redis_url=server.url, data_dir=tmp_path, timeout=1)
    async with DuplicateIndex.open(config, spool=True) as index:
        await index.check("http://a/1", text(article(1)))
        server.kill()
        for url, words in (("http://b/1", changed(article(1), 2)), ("http://a/2", article(2))):
            with pytest.raises(ServerError):
                await index.check(url, text(words))
        assert index.spooled() == ((2, 0), (0, 0))
        with pytest.raises(ServerError):
            async for _ in index.replay():
                pass
        assert index.spooled() == ((2, 0), (0, 0))
        server.start()
        verdicts = [verdict async for verdict in index.replay()]
        assert [(v.url, v.kind) for v in verdicts] == [
            ("http://b/1", Kind.NEAR),
            ("http://a/2", Kind.UNIQUE),
        ]
        assert index.spooled() == ((0, 0), (0, 0))
        assert sum((await index.stats()).verdicts.values()) == 3


@asynccontextmanager
async def hanging(server: Server, folder: Path) -> AsyncIterator[DuplicateIndex]:
    """An index in a crawl, whose server hangs since its first page, which waits."""
    config = DedupConfig(redis_url=server.url, data_dir=folder, timeout=1.2)
    async with DuplicateIndex.open(config, spool=True) as index:
        await index.begin_crawl()
        server.process.send_signal(signal.SIGSTOP)
        with pytest.raises(ServerError):
            await index.check("http://a/1", text(article(1)))
        yield index


async def test_a_crawl_whose_pages_were_replayed_can_end(start_server, tmp_path: Path) -> None:
    """It is not taken for a killed one, because the server had hung a moment before."""
    server: Server = start_server()
    async with hanging(server, tmp_path) as index:
        server.process.send_signal(signal.SIGCONT)
        assert [verdict.kind async for verdict in index.replay()] == [Kind.UNIQUE]
        await index.end_crawl()
        assert not (await index.begin_crawl()).unended


async def test_a_replay_without_an_answer_is_the_last_wait(start_server, tmp_path: Path) -> None:
    """Whoever stops a crawl while the server hangs waits for the replay, and for no more."""
    server: Server = start_server()
    async with hanging(server, tmp_path) as index:
        with pytest.raises(ServerError):
            await anext(index.replay())
        started = time.monotonic()
        with pytest.raises(ServerError):
            await index.end_crawl()
        assert time.monotonic() - started < 0.6
        server.process.send_signal(signal.SIGCONT)


async def test_a_page_that_was_seen_with_another_text_since_is_passed_over(
    index_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What another crawler kept last week does not undo what its URL was found to be since."""
    config = DedupConfig(redis_url=index_url, shards=4, data_dir=tmp_path, seed=1)
    async with DuplicateIndex.open(config, spool=True) as index:
        old, new, same = (text(article(n)) for n in range(3))
        await index.check("http://other/", old)
        for url, words in (("http://a/", old), ("http://b/", same), ("http://c/", same)):
            kept = request_of(index.config, url, index.fingerprint(words))
            index._spool.add([kept._replace(since=int(time.time()) - 60)])
        earlier = time.time() - 30
        with monkeypatch.context() as patch:
            patch.setattr(time, "time", lambda: earlier)
            await index.check("http://a/", new)
            await index.check("http://b/", same)
        replayed = {verdict.url: verdict.kind async for verdict in index.replay()}
        assert replayed == {"http://b/": Kind.UNCHANGED, "http://c/": Kind.EXACT}
        assert index.spooled() == ((0, 0), (0, 0))
        assert (await index.check("http://a/", new)).kind is Kind.UNCHANGED


async def test_of_two_texts_that_were_kept_of_a_page_the_last_counts(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first is checked later than both were kept, and does not hide the second."""
    config = DedupConfig(redis_url=redis_url, data_dir=tmp_path)
    async with DuplicateIndex.open(config, spool=True) as index:
        monkeypatch.setattr(index.store, "exchange", 1)
        for words in (text(article(0)), text(article(1))):
            kept = request_of(index.config, "http://a/", index.fingerprint(words))
            index._spool.add([kept._replace(since=int(time.time()) - 60)])
        assert [verdict.kind async for verdict in index.replay()] == [Kind.UNIQUE, Kind.UPDATED]


async def test_a_page_that_was_seen_in_the_second_in_which_the_replay_begins(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is passed over as any other; so is one that is seen while the replay goes on."""
    config = DedupConfig(redis_url=redis_url, data_dir=tmp_path)
    clock = time.time()
    monkeypatch.setattr(time, "time", lambda: clock)
    async with DuplicateIndex.open(config, spool=True) as index:
        monkeypatch.setattr(index.store, "exchange", 1)
        first, second, new = (text(article(n)) for n in range(3))
        for url in ("http://a/", "http://b/"):
            for words in (first, second):
                kept = request_of(index.config, url, index.fingerprint(words))
                index._spool.add([kept._replace(since=int(clock) - 60)])
        await index.check("http://a/", new)
        found = []
        async for verdict in index.replay():
            found.append((verdict.url, verdict.kind))
            await index.check("http://b/", new + "And something more.")
        assert found == [("http://b/", Kind.UNIQUE)]
        assert (await index.check("http://a/", new)).kind is Kind.UNCHANGED


@pytest.mark.parametrize("changes", [False, True])
async def test_a_page_that_is_gone_since_its_visit(
    index_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: bool
) -> None:
    """What is checked late does not bring it back: another crawl may have found it gone by then, or
    this one. A copy takes its place.
    """
    config = DedupConfig(redis_url=index_url, shards=4, data_dir=tmp_path, seed=1)
    clock = int(time.time()) - 100
    monkeypatch.setattr(time, "time", lambda: clock)
    async with DuplicateIndex.open(config, spool=True) as index:
        one, other, third = (text(article(n)) for n in range(3))
        await index.check("http://a/", third if changes else one)
        clock += 10
        visits = [
            request_of(index.config, url, index.fingerprint(words))
            for url, words in (("http://a/", one), ("http://b/", other))
        ]
        index._exchange.keep(visits)
        clock += 10
        assert await index.gone("http://a/")
        index.keep_gone([("http://b/", clock)])
        clock += 10
        kind = Kind.UPDATED if changes else Kind.UNCHANGED
        found = {verdict.url: verdict.kind async for verdict in index.replay()}
        assert found == {"http://a/": kind, "http://b/": Kind.UNIQUE}
        for url, words in (("http://a/", one), ("http://b/", other)):
            page = await index.show(url)
            assert page is not None
            assert page.last_seen.timestamp() == clock - 20
            assert page.gone is not None
            assert (await index.check(f"{url}copy", words)).replaces == url
        assert (await index.verify()).faults == []


async def test_two_replays_at_once(redis_url: str, tmp_path: Path) -> None:
    """An older text that one of them checks does not hide the newer one of the other."""
    config = DedupConfig(redis_url=redis_url, data_dir=tmp_path)
    async with DuplicateIndex.open(config, spool=True) as index:
        index.store.exchange = 1
        replays = []
        for number, age in ((1, 60), (2, 50)):
            for url, words in (
                ("http://first/", article(7 * number)),
                ("http://a/", article(number)),
            ):
                kept = request_of(index.config, url, index.fingerprint(text(words)))
                index._spool.add([kept._replace(since=int(time.time()) - age)])
            replays.append(index.replay())
            await anext(replays[-1])
        found = [(verdict.url, verdict.kind) for one in replays async for verdict in one]
        assert found == [("http://a/", Kind.UNIQUE), ("http://a/", Kind.UPDATED)]


async def test_pages_that_cannot_be_kept_are_told_once(
    start_server, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A disk that is full, as it is for the server too, is not filled with lines that say so."""
    server: Server = start_server()
    (tmp_path / "file").touch()
    config = DedupConfig(redis_url=server.url, data_dir=tmp_path / "file", timeout=1)
    async with DuplicateIndex.open(config, spool=True) as index:
        server.kill()
        for number in range(3):
            with pytest.raises(ServerError):
                await index.check(f"http://a/{number}", text(article(1)))
    (message,) = caplog.messages
    assert message.startswith(f"DEDUP_DATA_DIR {tmp_path / 'file'} cannot store pages")


@pytest.mark.parametrize("seed", [7, None])
async def test_a_page_is_replayed_into_its_own_index(
    start_server, tmp_path: Path, seed: int | None
) -> None:
    """Another index may have the same parameters: by a seed that is set, or as a copy."""
    server: Server = start_server()
    settings = {"redis_url": server.url, "data_dir": tmp_path, "seed": seed}
    config = DedupConfig(namespace="one", timeout=0.2, **settings)
    other = DedupConfig(namespace="two", **settings)
    async with DuplicateIndex.open(config, spool=True) as index:
        if seed is None:
            await copy_index(config, "one", "two")
        server.process.send_signal(signal.SIGSTOP)
        with pytest.raises(ServerError):
            await index.check("http://a/1", text(article(1)))
        server.process.send_signal(signal.SIGCONT)
        async with DuplicateIndex.open(other, spool=True) as second:
            assert second.spooled() == ((0, 0), (1, 0))
            assert [verdict async for verdict in second.replay()] == []
        assert [verdict.url async for verdict in index.replay()] == ["http://a/1"]
