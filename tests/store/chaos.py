"""``make chaos``: faults without end, chosen by a seed, and whether the index keeps its promises.

Each round draws what fails: worker processes that are killed, a network that cuts and delays, a
cluster whose slots move while two workers check, two crawls whose server is killed. After each the
sets of near-duplicates have one survivor, where all was answered, and the audit is clean.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import secrets
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeAlias

from scrapy import signals
from scrapy.crawler import AsyncCrawlerRunner

from crawler.addon import Addon
from crawler.dedup import DedupConfig, DuplicateIndex, ServerError
from crawler.spiders.site import SiteSpider
from tests.conftest import Server, join_cluster
from tests.spiders.webserver import Web
from tests.store.test_resharding import Slots
from tests.support.texts import article, changed, text
from tests.support.workers import Endless, check_all

Start: TypeAlias = Callable[..., Server]
Outcome: TypeAlias = tuple[dict[int, int], list[str]]  # survivors of each set, and faults
Round: TypeAlias = Callable[[Start, random.Random, int], Awaitable[Outcome]]

_SHARDS: Final = 16
# Of near-duplicates in a round, for each of its size.
SETS: Final = {
    "killed_processes": 10, "broken_network": 30, "moving_slots": 30, "killed_server": 15,
}  # fmt: skip


async def killed_processes(start_server: Start, chooser: random.Random, size: int) -> Outcome:
    """Workers killed with -9 in the middle of their work change no later verdict."""
    server = start_server()
    for worker in range(size):
        process = Endless(server.url, "unused", worker)
        await asyncio.to_thread(process.read_lines)
        await asyncio.sleep(chooser.random() * 0.2)
        process.kill()
    config = DedupConfig(redis_url=server.url)
    return await check_all(config, range(SETS["killed_processes"] * size), range(size)), []


async def _check(index: DuplicateIndex, pages: list[tuple[str, str]], pause: float = 0) -> int:
    """Check pages; how many passed unchecked."""
    unchecked = 0
    for page in pages:
        try:
            await index.check(*page)
        except ServerError:
            unchecked += 1
        await asyncio.sleep(pause)
    return unchecked


def _pages(worker: int, sets: int) -> list[tuple[str, str]]:
    return [
        (f"http://w{worker}/{n}", text(changed(article(n, 400), 1, seed=worker)))
        for n in range(sets)
    ]


async def _check_again(config: DedupConfig, workers: int, sets: int) -> Outcome:
    """All pages again, now that all is well."""
    kept: Counter[int] = Counter()
    async with DuplicateIndex.open(config) as index:
        for worker in range(workers):
            verdicts = await index.check_many(_pages(worker, sets))
            kept.update(n for n, one in enumerate(verdicts) if one.duplicate_of is None)
        return kept, (await index.verify()).faults


@asynccontextmanager
async def _broken_line(server: Server, chooser: random.Random) -> AsyncIterator[int]:
    """The port of a line to a server that cuts one answer in twenty, and delays others."""
    tasks = set()

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            luck = chooser.random()
            if luck < 0.05:
                writer.write(data[: chooser.randrange(len(data))])
                break
            if luck < 0.15:
                await asyncio.sleep(chooser.random() * 0.1)
            writer.write(data)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.current_task())
        inner_reader, inner_writer = await asyncio.open_unix_connection(server.socket)
        ways = [
            asyncio.create_task(pump(*way))
            for way in ((reader, inner_writer), (inner_reader, writer))
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            for end in (writer, inner_writer):
                end.close()

    proxy = await asyncio.start_server(talk, "127.0.0.1", 0)
    try:
        yield proxy.sockets[0].getsockname()[1]
    finally:
        proxy.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def broken_network(start_server: Start, chooser: random.Random, size: int) -> Outcome:
    """Answers that are cut off leave pages unchecked, and none twice."""
    server = start_server()
    sets, workers = SETS["broken_network"] * size, 2
    with tempfile.TemporaryDirectory() as folder:
        direct = DedupConfig(redis_url=server.url, data_dir=Path(folder))
        async with DuplicateIndex.open(direct):
            pass
        async with _broken_line(server, chooser) as port:
            config = DedupConfig(
                redis_url=f"redis://127.0.0.1:{port}", timeout=0.5, data_dir=Path(folder)
            )
            for worker in range(workers):
                with suppress(ServerError):
                    async with DuplicateIndex.open(config, spool=True) as index:
                        await _check(index, _pages(worker, sets))
        async with DuplicateIndex.open(direct, spool=True) as index:
            async for _ in index.replay():
                pass
            assert not any(index.spooled()[0])
        return await _check_again(direct, workers, sets)


async def moving_slots(start_server: Start, chooser: random.Random, size: int) -> Outcome:
    """Slots of a cluster move while two workers check the same texts."""
    nodes = join_cluster(start_server, 3)
    config = DedupConfig(redis_url=f"redis+cluster://127.0.0.1:{nodes[0].port}", shards=_SHARDS)
    slots = Slots(nodes)
    sets = SETS["moving_slots"] * size

    def move() -> None:
        for _ in range(4 * size):
            slots.move(chooser.choice(sorted(slots.owners)), "by key")
            time.sleep(chooser.random() * 0.05)

    async with DuplicateIndex.open(config) as one, DuplicateIndex.open(config) as two:
        await asyncio.gather(
            asyncio.to_thread(move),
            _check(one, _pages(0, sets), 0.002),
            _check(two, _pages(1, sets), 0.002),
        )
    return await _check_again(config, 2, sets)


async def killed_server(start_server: Start, chooser: random.Random, size: int) -> Outcome:
    """Two crawls go on while their server is killed and comes back: no text is lost."""
    server = start_server(appendonly="yes", appendfsync="always")
    sets, web = SETS["killed_server"] * size, Web()
    kept: set[str] = set()
    try:
        for site in "ab":
            web.page(f"/{site}/", *(f"/{site}/{n}" for n in range(sets)))
            for n in range(sets):
                words = changed(article(n, 300), 1, seed=ord(site))
                web.page(f"/{site}/{n}", text=text(words))
        await asyncio.gather(
            *(_crawl(f"{web.url}/{site}/", server, kept) for site in "ab"),
            _kill(server, chooser, size),
        )
    finally:
        web.close()
    # A page that was passed on before the server was killed may be passed on once more.
    found = {int(url.rpartition("/")[2]) for url in kept if not url.endswith("/")}
    async with DuplicateIndex.open(DedupConfig(redis_url=server.url)) as index:
        return dict.fromkeys(found, 1), (await index.verify()).faults


async def _kill(server: Server, chooser: random.Random, times: int) -> None:
    for _ in range(times):
        await asyncio.sleep(0.3 + chooser.random())
        server.kill()
        await asyncio.sleep(chooser.random() * 0.3)
        await asyncio.to_thread(server.start)


async def _crawl(url: str, server: Server, kept: set[str]) -> None:
    settings: dict[str, Any] = {
        "ADDONS": {Addon: 500},
        "DEDUP_REDIS_URL": server.url,
        "DEDUP_ARCHIVE": 0,
        "DEDUP_TIMEOUT": 1,
        "DEDUP_DATA_DIR": str(server.folder),
        "DOWNLOAD_DELAY": 0.02,
        "LOG_ENABLED": False,
        "REMOTE_CONTROL_ENABLED": False,
        "TWISTED_REACTOR_ENABLED": False,
    }
    runner = AsyncCrawlerRunner(settings)
    crawler = runner.create_crawler(SiteSpider)

    def keep(item: Any) -> None:
        kept.add(item.url)

    crawler.signals.connect(keep, signal=signals.item_scraped)
    await runner.crawl(crawler, url=url)


ROUNDS: Final[dict[str, Round]] = {
    round_.__name__: round_
    for round_ in (killed_processes, broken_network, moving_slots, killed_server)
}


async def main() -> None:
    """Go round until the time is up; the first fault ends it, and says how to see it again."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1_000_000))
    parser.add_argument("--size", type=int, default=3, help="of each round")
    options = parser.parse_args()
    end = time.monotonic() + 60 * options.minutes
    seed, done = options.seed, 0
    print(f"from seed {seed} on, {options.minutes:g} minutes", flush=True)
    while time.monotonic() < end:
        for name, round_ in ROUNDS.items():
            folder = Path(tempfile.mkdtemp(prefix="chaos-"))
            servers: list[Server] = []

            def start_server(folder: Path = folder, servers: Any = servers, **given: Any) -> Server:
                servers.append(Server(Path(tempfile.mkdtemp(dir=folder)), **given))
                return servers[-1]

            begun = time.monotonic()
            try:
                survivors, faults = await round_(start_server, random.Random(seed), options.size)
                assert survivors == dict.fromkeys(range(SETS[name] * options.size), 1), survivors
                assert not faults, faults
            except BaseException as error:
                print(f"{name}, seed {seed}: {error!r}", file=sys.stderr)
                raise
            finally:
                for server in servers:
                    server.kill()
                shutil.rmtree(folder)
            print(f"{name:18} seed {seed}: held ({time.monotonic() - begun:.1f} s)", flush=True)
            done += 1
        seed += 1
    print(f"{done} rounds held")


if __name__ == "__main__":
    asyncio.run(main())
