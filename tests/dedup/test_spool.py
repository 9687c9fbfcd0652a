"""Pages that the index gave no answer for are kept and checked later."""

from __future__ import annotations

import asyncio
import fcntl
import json
import resource
import signal
import time
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import IO, Any
from unittest.mock import AsyncMock

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from crawler.dedup import DedupConfig, DuplicateIndex, Kind, ServerError
from crawler.dedup.exchange.exchange import Exchange
from crawler.dedup.exchange.requests import request_of
from crawler.dedup.exchange.spool import Spool
from crawler.dedup.fingerprint import Fingerprint, Fingerprinter
from crawler.dedup.sketches import METHODS
from crawler.dedup.sketches.odd import SIMHASH, OddSketch
from crawler.dedup.store.messages import Answer, CheckRequest, Gone
from crawler.dedup.store.namespaces import copy_index
from tests.conftest import Server
from tests.support.forked import forking
from tests.support.texts import article, changed, text


def request(number: int) -> CheckRequest:
    page = Fingerprint(b"e" * 12, 7, b"bands...", (OddSketch(1, 300, b"\0\xff" * 64),))
    return CheckRequest(f"http://host/{number}\n\u2028", "host", number.to_bytes(4), page)


def drained(spool: Spool, limit: int = 3) -> list[CheckRequest]:
    return [request for batch in spool.drain(limit) for request in batch]


def test_what_is_added_is_drained_once(tmp_path: Path) -> None:
    """Requests come back whole and in order, and are gone then."""
    spool = Spool(tmp_path, "index")
    requests = [request(n) for n in range(10)]
    spool.add(requests[:4])
    spool.add(requests[4:])
    assert spool.count() == ((10, 0), (0, 0))
    assert drained(spool) == requests
    assert (drained(spool), spool.count()) == ([], ((0, 0), (0, 0)))
    (tmp_path / "file").touch()
    assert Spool(tmp_path / "file" / "folder", "index").count() == ((0, 0), (0, 0))


def test_reports_of_gone_pages_are_kept_too(tmp_path: Path) -> None:
    """They come back among the requests, as they are, and go along with a renamed index."""
    spool = Spool(tmp_path, "index digest")
    kept = [request(1), Gone("http://host/\n", 1_700_000_000), request(2)]
    spool.add(kept)
    assert spool.count() == ((2, 1), (0, 0))
    Spool.rename(tmp_path, "index", "other")
    assert drained(Spool(tmp_path, "other digest")) == kept


def test_what_is_not_done_stays(tmp_path: Path) -> None:
    """An iteration left in the middle leaves the batch in hand and all after it."""
    spool = Spool(tmp_path, "index")
    spool.add(request(n) for n in range(10))
    batches = spool.drain(3)
    next(batches)
    next(batches)
    batches.close()
    spool.add([request(10)])
    assert sorted(r.token for r in drained(spool)) == [n.to_bytes(4) for n in range(3, 11)]


def test_a_long_spool_is_no_load(tmp_path: Path) -> None:
    """What is left of it, and what is renamed in it, passes line by line."""
    Spool(tmp_path, "index digest").add(request(n) for n in range(8_000))
    size = sum(path.stat().st_size for path in tmp_path.iterdir())
    tracemalloc.start()
    Spool.rename(tmp_path, "index", "other")
    spool = Spool(tmp_path, "other digest")
    batches = spool.drain(3)
    next(batches)
    batches.close()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < size / 20
    assert spool.count() == ((8_000, 0), (0, 0))


def test_requests_of_other_indexes_are_left(tmp_path: Path) -> None:
    """A request is only answered by the index whose parameters it was made with."""
    Spool(tmp_path, "other").add([request(1)])
    spool = Spool(tmp_path, "index")
    spool.add([request(2)])
    assert spool.count() == ((1, 0), (1, 0))
    assert drained(spool) == [request(2)]
    assert drained(Spool(tmp_path, "other")) == [request(1)]


def test_reports_are_counted_apart_from_pages(tmp_path: Path) -> None:
    """Of this index and of others; a line that says what no report says counts as a page."""
    kept = [request(1), Gone("http://host/", 7), Gone("http://host/2", 8)]
    Spool(tmp_path, "other").add([*kept, request(2)])
    with (tmp_path / "unchecked.jsonl").open("ab") as file:
        file.write(b'{"index": "other", "gone": 5}\n')
    spool = Spool(tmp_path, "index")
    spool.add(kept)
    assert spool.count() == ((1, 2), (3, 2))


def test_requests_go_along_with_a_renamed_index(tmp_path: Path) -> None:
    """Those that a killed process left too; requests of others, and lines cut off, stay."""
    spools = [Spool(tmp_path, f"{name} digest") for name in ("old", "new", "older")]
    Spool.rename(tmp_path, "old", "new")
    assert not list(tmp_path.iterdir())
    for number in range(2):
        spools[0].add([request(number)])
        (tmp_path / "unchecked.jsonl").rename(tmp_path / f"unchecked-{number}.jsonl")
    spools[2].add([request(2)])
    with (tmp_path / "unchecked.jsonl").open("ab") as file:
        file.write(b"[" * 100_000 + b'\n[]\n{"index": 7}\n{"index": "old dig')
    Spool.rename(tmp_path, "old", "new")
    assert [[found.pages for found in spool.count()] for spool in spools] == [
        [0, 7],
        [2, 5],
        [1, 6],
    ]
    assert drained(spools[1]) == [request(0), request(1)]
    assert drained(spools[2]) == [request(2)]


def test_a_rename_that_finds_the_disk_full_changes_nothing(tmp_path: Path) -> None:
    """No request is there under both names then, and no line is cut off."""
    spools = [Spool(tmp_path, f"{name} digest") for name in ("old", "new")]
    spools[0].add(request(number) for number in range(100))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
    try:
        with pytest.raises(OSError, match="too large"):
            Spool.rename(tmp_path, "old", "new")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert [[found.pages for found in spool.count()] for spool in spools] == [[100, 0], [0, 100]]
    assert not [*tmp_path.glob("*.part")]
    Spool.rename(tmp_path, "old", "new")
    assert [spool.count()[0].pages for spool in spools] == [0, 100]


def test_a_preferred_page_stays_preferred(tmp_path: Path) -> None:
    """All that decides about a page is kept, and lines of earlier versions can be read."""
    spool = Spool(tmp_path, "index")
    wanted = request(1)._replace(canonical="/1", yields=True, rank=b"7", preferred=True)
    spool.add([wanted])
    path = tmp_path / "unchecked.jsonl"
    path.write_bytes(path.read_bytes() + path.read_bytes().replace(b', "preferred": true', b""))
    assert drained(spool) == [wanted, wanted._replace(preferred=False)]
    spool.add([wanted])
    path.write_bytes(path.read_bytes().replace(b'"rank": "37"', b'"date": 7'))
    assert drained(spool) == [wanted._replace(rank=bytes([0, 0, 0, 7]))]


@pytest.mark.parametrize("line", ["", "{", "[]", "null", '{"index": "index"}', "\0", "[" * 100_000])
def test_a_damaged_line_is_no_obstacle(tmp_path: Path, line: str) -> None:
    """A line cut by a full disk is passed over and kept."""
    (tmp_path / "unchecked.jsonl").write_text(line + "\n")
    spool = Spool(tmp_path, "index")
    spool.add([request(1)])
    assert drained(spool) == [request(1)]
    assert spool.count() == ((0, 0), (1, 0))


def test_lines_of_no_index_are_set_aside(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Each crawl would tell of them; what other indexes wait for stays."""
    damaged = b"{\n" + b"x" * 3_000_000 + b"\n"
    (tmp_path / "unchecked.jsonl").write_bytes(damaged)
    spool, other = Spool(tmp_path, "index"), Spool(tmp_path, "other")
    spool.add([request(1)])
    other.add([request(2)])
    for _ in range(2):
        spool.set_aside()
    assert caplog.text.count("2 lines among the waiting pages") == 1
    assert (tmp_path / "unchecked.damaged").read_bytes() == damaged
    assert (drained(spool), drained(other)) == ([request(1)], [request(2)])


def test_a_line_that_a_full_disk_cut_off_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It has no end, and is a page that nobody will check all the same."""
    spool = Spool(tmp_path, "index")
    spool.add([request(1), request(2)])
    file = tmp_path / "unchecked.jsonl"
    file.write_bytes(file.read_bytes()[:-40])
    spool.set_aside()
    assert "1 line among the waiting pages" in caplog.text
    assert drained(spool) == [request(1)]


def replaced(record: dict[str, Any], values: dict[str, Any]) -> bytes:
    return json.dumps(record | values).encode() + b"\n"


@pytest.mark.parametrize(
    "values",
    [
        *({name: value} for name in ("url", "host", "canonical") for value in (5, None, "\ud800")),
        {"url": "x" * 65_536},
        *({"words": value} for value in ("x", -5, 7.0, True, 1 << 32, 0)),
        *({"rank": value} for value in ("x", 5, None, "00" * 256)),
        *({name: value} for name in ("yields", "preferred") for value in ("x", 1, None)),
        *({"exact": value} for value in ("", "ab" * 11, "ab" * 16, "x" * 24, 5)),
        *({"token": value} for value in ("", "ab" * 5, None)),
        *({"bands": value} for value in ("", "00", "00" * 28, "00" * 36, "ff" * 32, 5)),
        *({"odd": value} for value in ([], "", {}, 5, [5], [["a", "b", "00"]], [[1, 2, "00"]])),
        *(
            {"odd": [[level, members, "00" * 128]]}
            for level, members in ((64, 9), (254, 0), (255, 9), (256, 9), (-1, 9), (0, 1 << 16))
        ),
        {"odd": [[1, 9, "00" * 128]] * 2},
        *({"since": value} for value in ("x", -1, 1 << 32, None)),
    ],
    ids=repr,
)
def test_a_page_that_no_index_can_take_is_no_obstacle(
    tmp_path: Path, values: dict[str, Any]
) -> None:
    """A line with one value that this package never wrote is passed over and kept."""
    fingerprinter = Fingerprinter(DedupConfig(), seed=1)
    spool = Spool(tmp_path, "index", fingerprinter.fits)
    wanted = request(1)._replace(fingerprint=fingerprinter(text(article(1))))
    spool.add([wanted])
    path = tmp_path / "unchecked.jsonl"
    line = path.read_bytes()
    bad = replaced(json.loads(line), values)
    path.write_bytes(bad + line + line)
    assert spool.count() == ((2, 0), (1, 0))
    assert drained(spool) == [wanted, wanted]
    assert path.read_bytes() == bad


@pytest.mark.parametrize(
    "values",
    [{"gone": 5}, {"gone": "\ud800"}, {"since": "x"}, {"since": -1}, {"since": 1 << 32}],
    ids=repr,
)
def test_a_report_that_no_index_can_take_is_no_obstacle(
    tmp_path: Path, values: dict[str, Any]
) -> None:
    """As of a page."""
    bad = replaced({"index": "index", "gone": "http://host/", "since": 7}, values)
    path = tmp_path / "unchecked.jsonl"
    path.write_bytes(bad)
    spool = Spool(tmp_path, "index")
    spool.add([Gone("http://host/", 7)])
    assert spool.count() == ((0, 1), (1, 0))
    assert drained(spool) == [Gone("http://host/", 7)]
    assert path.read_bytes() == bad


@cache
def text_of(words: int) -> str:
    return text(article(2, words))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("words", [*range(2), *range(4, 7), 600, 300_000])
def test_every_fingerprint_fits_its_index(tmp_path: Path, method: str, words: int) -> None:
    """Whatever the method, and however long the text, a page comes back as it was kept."""
    page = text_of(words)
    for settings in ({}, {"shingle_unit": "char", "threshold": 0.5, "verify_bits": 512}):
        fingerprinter = Fingerprinter(DedupConfig(method=method, **settings), seed=1)
        spool = Spool(tmp_path, "index", fingerprinter.fits)
        kept = request(1)._replace(
            fingerprint=fingerprinter(page),
            url="",
            host="\u00fc",
            canonical="http://host/" + "\U0001f600" * 2000,
            yields=True,
            rank=b"\xff" * 255,
        )
        spool.add([kept])
        assert drained(spool) == [kept]


def test_a_fingerprint_of_another_method_does_not_fit() -> None:
    """Sketches are simhashes where they are asked for, and keys in one table stand in order."""
    page = text(article(1))
    made = {name: Fingerprinter(DedupConfig(method=name), seed=1) for name in METHODS}
    assert not made["two-stage"].fits(made["fast"](page))
    assert not made["fast"].fits(made["two-stage"](page))
    assert {sketch.level for sketch in made["two-stage"](page).odd} == {SIMHASH}
    found = made["modulo"](page)
    for bands in (found.bands + found.bands[-4:], found.bands[:4] * 2, bytes(4 * 257)):
        assert not made["modulo"].fits(Fingerprint(found.exact, found.words, bands, found.odd))


def test_a_line_cut_off_takes_no_other_with_it(tmp_path: Path) -> None:
    """What a killed process left of a line is passed over, and what is added after it is not."""
    spool = Spool(tmp_path, "index")
    spool.add([request(1)])
    path = tmp_path / "unchecked.jsonl"
    path.write_bytes(path.read_bytes() * 2 + b'{"index": "ind\xc3')
    spool.add([request(2)])
    assert spool.count() == ((3, 0), (1, 0))
    path.write_bytes(path.read_bytes() + b"{")
    batches = spool.drain(9)
    next(batches)
    batches.close()
    assert spool.count() == ((3, 0), (2, 0))


def test_what_another_process_has_done_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that another process works off, and removes meanwhile, is no error and not read."""
    spool = Spool(tmp_path, "index")
    (tmp_path / "unchecked-0.jsonl").symlink_to(tmp_path / "removed")
    assert (spool.count(), drained(spool)) == (((0, 0), (0, 0)), [])
    lock = fcntl.flock

    def late(file: IO[bytes], how: int) -> None:
        if how & fcntl.LOCK_NB:
            Path(file.name).unlink()
        lock(file, how)

    monkeypatch.setattr(fcntl, "flock", late)
    spool.add([request(1)])
    assert drained(spool) == []


def _add(folder: Path, start: int) -> None:
    spool = Spool(folder, "index")
    for number in range(start, start + 100):
        spool.add([request(number)])


def test_processes_share_it(tmp_path: Path) -> None:
    """Processes that add while another drains lose nothing."""
    spool = Spool(tmp_path, "index")
    workers = [forking().Process(target=_add, args=(tmp_path, n * 100)) for n in range(3)]
    for worker in workers:
        worker.start()
    found: list[CheckRequest] = []
    while any(worker.is_alive() for worker in workers):
        workers[0].join(0.001)  # or the processor that they need would do nothing but look
        if tmp_path.joinpath("unchecked.lock").exists():
            found += drained(spool)
    found += drained(spool)
    assert sorted(r.token for r in found) == [n.to_bytes(4) for n in range(300)]


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
