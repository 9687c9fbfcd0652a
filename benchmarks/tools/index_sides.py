"""What `benchmarks/index.py` compares: pages, servers, this project's index and datasketch's."""

from __future__ import annotations

import math
import os
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import redis

from crawler.dedup import DedupConfig, DuplicateIndex
from crawler.dedup.candidates import Rule
from crawler.dedup.fingerprint import EXACT_BYTES, Fingerprint
from crawler.dedup.sketches import Sketcher
from crawler.dedup.sketches.odd import odd_sketches
from crawler.dedup.store.messages import CheckRequest
from crawler.dedup.store.server.connect import open_server
from crawler.dedup.store.server.supervisor import MEMORY
from crawler.dedup.store.single import SingleIndex

SHINGLES = 500
SIMILARITIES = (0.9, 0.85, 0.8)
EXCHANGE = 32  # pages in an exchange, as in a crawl with that many at once
WARM = 10 * EXCHANGE  # pages


class Pages:
    """Pages as sets of shingle hashes, some of them near-duplicates of earlier ones."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        # Copies are drawn from these. They change, so that a page has as many copies in a large
        # index as in a small one.
        self.originals: deque[np.ndarray] = deque(maxlen=2000)

    def draw(self) -> tuple[np.ndarray, float | None]:
        """The shingles of the next page and its similarity to an earlier one."""
        dice = self.rng.random()
        if len(self.originals) > 100 and dice < 0.14:
            similarity = SIMILARITIES[0 if dice < 0.1 else 1 if dice < 0.12 else 2]
            original = self.originals[self.rng.integers(len(self.originals))]
            common = math.ceil(2 * SHINGLES * similarity / (1 + similarity))
            return np.concatenate((original[:common], self._new(SHINGLES - common))), similarity
        page = self._new(SHINGLES)
        self.originals.append(page)
        return page, None

    def text(self) -> str:
        """A text of words of five letters that is like no other, of so many shingles."""
        letters = self.rng.integers(ord("a"), ord("z") + 1, (SHINGLES + 4, 6), dtype=np.uint8)
        letters[:, 5] = ord(" ")
        return letters.tobytes().decode("ascii")

    def _new(self, count: int) -> np.ndarray:
        return self.rng.integers(0, 2**64, count, dtype=np.uint64)


@contextmanager
def server(program: str) -> Iterator[tuple[str, redis.Redis]]:
    """A server without a file, that asks for its memory as the private one does."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        socket = f"{folder}/s"
        command = [program, "--unixsocket", socket, "--port", "0", "--save", ""]
        memory = MEMORY | os.environ
        with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, env=memory) as run:
            client = redis.Redis(unix_socket_path=socket)
            while not Path(socket).exists():
                time.sleep(0.01)
            try:
                yield socket, client
            finally:
                client.close()
                run.terminate()


def server_cpu(client: redis.Redis) -> float:
    """Seconds of the processor that a server has taken, as it says of itself."""
    cpu: Any = client.info("cpu")
    return float(cpu["used_cpu_user"] + cpu["used_cpu_sys"])


class Side:
    """One of the two sides: its clock, the server's and what it found."""

    def __init__(self, name: str, client: redis.Redis) -> None:
        self.name = name
        self.client = client
        self.pages = 0
        self.seconds = 0.0
        self.cpu = 0.0
        self.client_cpu = 0.0
        self.requests = 0
        self.found = dict.fromkeys(SIMILARITIES, 0)
        self.asked = dict.fromkeys(SIMILARITIES, 0)
        self.false = 0
        self.number = 0  # of the latest page
        self.kept = 0

    @contextmanager
    def timed(self, pages: int) -> Iterator[None]:
        cpu, requests, start = server_cpu(self.client), self._requests(), time.perf_counter()
        client = time.process_time()
        yield
        self.seconds += time.perf_counter() - start
        self.client_cpu += time.process_time() - client
        self.cpu += server_cpu(self.client) - cpu
        self.requests += self._requests() - requests - 2  # those of these figures
        self.pages += pages

    def count(self, similarity: float | None, duplicate: bool) -> None:
        if similarity is None:
            self.false += duplicate
        else:
            self.asked[similarity] += 1
            self.found[similarity] += duplicate

    def _requests(self) -> int:
        """Times that the server has read from a connection: a client waits after each."""
        stats: Any = self.client.info("stats")
        return int(stats["total_reads_processed"])

    def memory(self) -> int:
        self.client.slowlog_reset()  # up to half a megabyte on a machine with much other work
        memory: Any = self.client.info("memory")
        return int(memory["used_memory"])


class Ours(Side):
    """This project's index, through its own client."""

    def __init__(self, client: redis.Redis, store: SingleIndex, config: DedupConfig) -> None:
        super().__init__("scrapy-neardup", client)
        self.store = store
        self.config = config
        self.index = DuplicateIndex(config, store, None)
        self.sketcher = Sketcher(config.values, **config.banding._asdict())
        self.rng = np.random.default_rng(7)

    def url(self) -> tuple[str, str]:
        """The address of the next page, and its host."""
        self.number += 1
        host = f"www.host{self.number // 1000:04d}.example"
        return f"https://{host}/articles/{self.number:09d}/".ljust(60, "x"), host

    def prepare(self, shingles: np.ndarray) -> CheckRequest:
        sketch = self.sketcher.sketch_shingles(shingles)
        return CheckRequest(
            *self.url(),
            self.rng.bytes(4),
            Fingerprint(
                self.rng.bytes(EXACT_BYTES),
                SHINGLES + 4,
                self.sketcher.keys(sketch).astype(">u4").tobytes(),
                odd_sketches(shingles, self.config.verify_bits, self.config.threshold),
            ),
        )

    async def check(self, pages: Sequence[CheckRequest]) -> list[bool]:
        found = []
        with self.timed(len(pages)):
            for start in range(0, len(pages), EXCHANGE):
                found += await self.store.check(pages[start : start + EXCHANGE])
        duplicate = [answer.duplicate_of is not None for answer in found]
        self.kept += duplicate.count(False)
        return duplicate

    async def check_texts(self, pages: Sequence[tuple[str, str]]) -> None:
        """Check pages as users do, by their texts."""
        with self.timed(len(pages)):
            await self.index.check_many(pages)


class Datasketch(Side):
    """datasketch's MinHashLSH on Redis storage, tuned by itself for the threshold."""

    def __init__(self, client: redis.Redis, socket: str, threshold: float) -> None:
        from datasketch import MinHashLSH

        super().__init__("datasketch", client)
        self.lsh = MinHashLSH(
            threshold=threshold,
            num_perm=128,
            storage_config={
                "type": "redis",
                "basename": b"peer",
                "redis": {"unix_socket_path": socket},
            },
        )

    def prepare(self, shingles: np.ndarray) -> Any:
        from datasketch import MinHash

        sketch = MinHash(num_perm=128, hashfunc=int)
        sketch.update_batch((shingles >> np.uint64(32)).tolist())
        return sketch

    def check(self, sketches: Sequence[Any]) -> list[bool]:
        duplicate = []
        with self.timed(len(sketches)):
            for sketch in sketches:
                self.number += 1
                duplicate.append(bool(self.lsh.query(sketch)))
                if not duplicate[-1]:
                    self.lsh.insert(f"{self.number:060d}", sketch)
        self.kept += duplicate.count(False)
        return duplicate


@asynccontextmanager
async def opened(socket: str, client: redis.Redis) -> AsyncIterator[Ours]:
    """Our index on a server that is warm."""
    config = DedupConfig(redis_url=f"unix://{socket}")
    async with open_server(config) as connection:
        for namespace in ("warm", "bench"):
            parameters = {"seed": 1, "tables": config.banding.bands}
            terms: dict[str, Any] = {
                "threshold": config.threshold,
                "bits": config.verify_bits,
                "ttl": None,
            }
            store = SingleIndex(connection, namespace, parameters, Rule(), **terms)
            await store.open()
            ours = Ours(client, store, config)
            if namespace == "warm":
                source = Pages(0)
                await ours.check([ours.prepare(source.draw()[0]) for _ in range(WARM)])
                client.flushall()
        yield ours
