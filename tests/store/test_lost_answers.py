"""Work on whole indexes goes on if the server's answer to any of its steps is lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from crawler.dedup import DedupConfig, DuplicateIndex, Kind
from crawler.dedup.store.namespaces import clear_index, copy_index
from tests.conftest import Server
from tests.support.texts import article, text

PAGES = [(f"http://a/{number}", text(article(number))) for number in range(5)]


@asynccontextmanager
async def losing_line(server: Server, mark: bytes) -> AsyncIterator[str]:
    """The URL of a line that ends instead of giving the first answer to a command with `mark`."""
    lost: list[bytes] = []
    open_lines: list[tuple[asyncio.StreamWriter, asyncio.Task[None] | None]] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        open_lines.append((writer, asyncio.current_task()))
        inner_reader, inner_writer = await asyncio.open_unix_connection(server.socket)
        is_next = False

        async def pass_answers() -> None:
            while data := await inner_reader.read(65536):
                if is_next:
                    lost.append(data)
                    break
                writer.write(data)
            writer.close()

        answers, seen = asyncio.create_task(pass_answers()), b""
        while data := await reader.read(65536):
            seen = (seen + data)[-100_000:]
            is_next = mark in seen and not lost
            inner_writer.write(data)
        inner_writer.close()
        await answers

    line = await asyncio.start_server(talk, "127.0.0.1", 0)
    try:
        yield f"redis://127.0.0.1:{line.sockets[0].getsockname()[1]}"
    finally:
        line.close()
        for writer, _ in open_lines:
            writer.close()
        await asyncio.gather(*(task for _, task in open_lines if task is not None))
    assert lost


@pytest.mark.parametrize(
    ("mark", "is_moved"),
    [
        (b"Reserves the name", False),
        (b"RESTORE", False),
        (b"Gives a complete index", False),
        (b"Marks an index", True),
        (b"UNLINK", True),
    ],
)
async def test_a_copy(server: Server, redis_url: str, mark: bytes, is_moved: bool) -> None:
    """It is whole, and its name is not taken for that of another's copy."""
    config = DedupConfig(redis_url=redis_url)
    async with DuplicateIndex.open(config) as index:
        await index.check_many(PAGES)
    async with losing_line(server, mark) as url:
        line = replace(config, redis_url=url)
        assert await copy_index(line, "dedup", "other", is_moved=is_moved) > 0
    assert server.ask("EXISTS", "{dedup}:params") == (not is_moved)
    async with DuplicateIndex.open(replace(config, namespace="other")) as index:
        assert (await index.check("http://b/", PAGES[1][1])).kind is Kind.EXACT
        assert (await index.verify()).faults == []


@pytest.mark.parametrize("mark", [b"Marks an index", b"UNLINK"])
async def test_clearing(server: Server, redis_url: str, mark: bytes) -> None:
    config = DedupConfig(redis_url=redis_url)
    async with DuplicateIndex.open(config) as index:
        await index.check_many(PAGES)
    async with losing_line(server, mark) as url:
        await clear_index(replace(config, redis_url=url))
    assert server.ask("DBSIZE") == 0
