"""Reading a whole index, for counts, samples and the audit; changes nothing."""

from __future__ import annotations

import hashlib
import re
import struct
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from os.path import commonprefix
from typing import Any, Final, NamedTuple

from redis.asyncio import RedisCluster
from redis.exceptions import ResponseError

from ..errors import ServerError
from .connect import Client
from .faults import FOREIGN, NO_STATE, explained
from .keys import AGAIN, Keys
from .parameters import Parameters
from .scripts import load_script

PAGES_IN_BLOCK: Final = 48  # this and the following as in layout.lua and records.lua
_KEYS: Final = 1 << 27
_LEAST_BUCKETS: Final = 8
_ENTRY: Final = struct.Struct(">3sI")
_FREE: Final = 0xFFFFFFFF
NO_KEY: Final = bytes(4)  # instead of a table key, where there is none
MORE: Final = 0xFEFFFFFF  # stands for the pages that were left out under a key
_BLOCKS_IN_RUN: Final = 8  # read by one run of a script: the server does nothing else meanwhile
_MET: Final = 4  # bytes that say when a host was met, before the log of its template
_NUMBER: Final = re.compile(rb"-?[0-9]{1,18}")
_COUNTS = ("state", "stats", "hosts", "histogram")


def all_blocks(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Shard and number of each block of records, given the number of each shard's next page.

    Not a list: numbers are never given twice, so that an old index has far more blocks than pages.
    """
    for shard, number in enumerate(numbers):
        for block in range(number // PAGES_IN_BLOCK + 1):
            yield shard, block


class Entry(NamedTuple):
    """An entry of a table: shard, table, the group that the table's size is counted in, table key
    and the number of the page.
    """

    shard: int
    table: str
    group: str
    key: bytes
    page: int


class ServerMemory(NamedTuple):
    """Bytes that a server uses, and how many it may use: 0 if nothing bounds it."""

    used: int
    limit: int


def table_key(url: str, seed: int) -> bytes:
    """The key of a URL in the table of URLs.

    Without the seed nobody can prepare addresses that all come into one bucket.
    """
    return hashlib.blake2b(url.encode(), digest_size=4, key=seed.to_bytes(8)).digest()


def size_of(state: Mapping[str, int], group: str) -> int:
    """How many buckets each table of a group has."""
    return max(state.get(f"{group}.size", 0), _LEAST_BUCKETS)


def place_of(key: bytes, size: int) -> tuple[int, bytes]:
    """The bucket of a table key in a table of `size` buckets, and what of the key stands there."""
    number = int.from_bytes(key) % _KEYS
    weight = 1 << size.bit_length() - 1
    if number % weight + weight < size:
        weight *= 2
    return number % weight, (number // _LEAST_BUCKETS).to_bytes(3)


def entries_in(bucket: bytes) -> Iterator[tuple[bytes, int]]:
    """The entries of a bucket: what stands there of a key, and the number of a page or MORE."""
    for tag, page in _ENTRY.iter_unpack(bucket[: len(bucket) // _ENTRY.size * _ENTRY.size]):
        if page == _FREE:
            return
        yield tag, page


class Reader(ABC):
    """The keys of an index, in one shard or in many.

    ``shards`` are the keys of each shard, ``namespace`` is the index's name.
    """

    def __init__(
        self,
        client: Client,
        namespace: str,
        shards: Sequence[Keys],
        head: Keys,
        parameters: Parameters,
    ) -> None:
        self.namespace = namespace
        self.shards = shards
        self._client = client
        self._head = head  # the keys whose params were written first
        self._parameters = parameters

    @property
    def head(self) -> Keys:
        """The keys whose parameters are written first: they tell whether there is an index."""
        return self._head

    @property
    def parameters(self) -> Parameters:
        """The parameters asked for, or those that the index has when it is open."""
        return self._parameters

    async def is_replaced(self) -> bool:
        """Whether there is another index under this name than the one that was opened, or none."""
        with explained():
            client: Any = self._client
            digest = await client.hget(self._head.params, "digest")
        return bool(digest != self._parameters.digest.encode())

    def url_key(self, url: str) -> bytes:
        """The key of a URL in the table of URLs."""
        return table_key(url, self._parameters.seed)

    @abstractmethod
    def home(self, url: str) -> int:
        """The shard where the record of a URL lies."""

    @abstractmethod
    def tables(self, bands: int) -> list[tuple[str, str]]:
        """The tables of a shard, each with the group that its size is counted in."""

    async def write_override(self, keys: Keys, url: str, decision: str | None) -> None:
        """Note what somebody wants of a URL of the shard with these `keys`."""
        with explained():
            client: Any = self._client
            # What was decided by a wish that is taken back has to be decided anew, once.
            if decision is not None or await client.hexists(keys.overrides, url):
                await client.hset(keys.overrides, url, decision or AGAIN)

    async def overrides(self) -> dict[str, str]:
        """What somebody wants of URLs, or took back: see :attr:`Keys.overrides`."""
        found: dict[str, str] = {}
        with explained():
            for keys in self.shards:
                listing: Any = await self._client.hgetall(keys.overrides)
                found |= {_text(url): _text(wish) for url, wish in listing.items()}
        return found

    async def template(self, host: str) -> bytes:
        """The log of a host's template, 4 bytes an entry: see lua/pages.lua."""
        keys = self.shards[self.home(host)]
        with explained():
            client: Any = self._client
            packed = await client.hget(keys.templates, host)
        log = (packed or b"")[_MET:]
        return log[: len(log) // 4 * 4]

    @abstractmethod
    def entries(self, shard: int, page: int, exact: bytes, words: int, bands: bytes) -> list[Entry]:
        """The entries of a kept page, beside that of its URL."""

    async def claimed(self) -> list[Entry]:
        """The entries of pages that are being checked and have no records yet."""
        return []

    @abstractmethod
    async def mend(self) -> None:
        """Finish what workers that died have left behind."""

    @abstractmethod
    async def close(self) -> None:
        """End what goes on in the background."""

    async def states(self) -> list[dict[str, int]]:
        """The hash ``state`` of each shard; :class:`ServerError` if one with pages has lost it."""
        pipe: Any = self._client.pipeline(transaction=False)  # which a full Redis would refuse
        for keys in self.shards:
            pipe.hgetall(keys.state)
        with explained():
            replies = await pipe.execute()
        found = [{_text(k): _number(v) for k, v in reply.items()} for reply in replies]
        for keys, state in zip(self.shards, found, strict=True):
            if "next" not in state:  # of a new index, or what reads on would miss most pages
                await self._see_that_it_is_new(keys)
        return found

    async def _see_that_it_is_new(self, keys: Keys) -> None:
        """As in layout.lua."""
        names = [keys.numbered("url", bucket) for bucket in range(_LEAST_BUCKETS)]
        if any(await self.read_buckets(names)):
            client: Any = self._client
            with explained():
                is_new = await client.hexists(keys.state, "next")  # since a moment ago
            if not is_new:
                raise ServerError(NO_STATE.sentence)

    async def counters(self) -> dict[str, dict[str, str]]:
        """The hashes ``params``, ``state``, ``stats``, ``hosts`` and ``histogram``; numbers are
        those of all shards together.
        """
        pipe: Any = self._client.pipeline(transaction=False)
        pipe.hgetall(self._head.params)
        for keys in self.shards:
            for name in _COUNTS:
                pipe.hgetall(getattr(keys, name))
        with explained():
            params, *replies = await pipe.execute()
        found = {"params": {_text(k): _text(v) for k, v in params.items()}}
        for place, name in enumerate(_COUNTS):
            total: Counter[str] = Counter()
            for reply in replies[place :: len(_COUNTS)]:
                total.update({_text(k): _number(v) for k, v in reply.items()})
            found[name] = {k: str(v) for k, v in total.items() if v}
        return found

    async def memory_usage(self, keys: Sequence[str]) -> list[int | None] | None:
        """Bytes that each key takes, None for one that is not there; None if not allowed to ask."""
        pipe: Any = self._client.pipeline(transaction=False)
        for key in keys:
            pipe.memory_usage(key, samples=0)
        with explained():
            try:
                sizes: list[int | None] = await pipe.execute()
            except ResponseError:  # managed servers may not know the command, or forbid it
                return None
        return sizes

    async def scan(self) -> AsyncIterator[list[str]]:
        """The names of all keys of the index, some hundreds at a time; one may come twice."""
        prefixes = {self._head.prefix, *(keys.prefix for keys in self.shards)}
        pattern = commonprefix(list(prefixes)) + "*"  # noqa: RUF071 (no paths)
        seen: set[int] = set()
        batch: list[str] = []
        with explained():
            async for key in self._names(pattern):
                if hash(key) in seen or key[: key.find("}:") + 2] not in prefixes:
                    continue
                seen.add(hash(key))
                batch.append(key)
                if len(batch) == 500:
                    yield batch
                    batch = []
        yield batch

    async def _names(self, pattern: str) -> AsyncIterator[str]:
        async for name in self._client.scan_iter(match=pattern, count=500):
            yield _text(name)

    async def read_buckets(self, keys: Sequence[str]) -> list[bytes]:
        """The bucket at each key, empty where there is none."""
        pipe: Any = self._client.pipeline(transaction=False)
        for key in keys:
            pipe.get(key)
        with explained():
            found: list[Any] = await pipe.execute(raise_on_error=False) if keys else []
            for bucket in found:
                if isinstance(bucket, Exception):  # in the server's words, which redis-py 6 loses
                    raise bucket
        return [bucket or b"" for bucket in found]

    async def packed_blocks(self, places: Sequence[tuple[int, int]]) -> list[bytes]:
        """Blocks of records, each given by its shard and its number there; see lua/read.lua."""
        text = load_script("read").text
        pipe: Any = self._client.pipeline(transaction=False)
        for shard, group in groupby(places, key=itemgetter(0)):
            numbers, keys = [block for _, block in group], self.shards[shard]
            for start in range(0, len(numbers), _BLOCKS_IN_RUN):
                some = numbers[start : start + _BLOCKS_IN_RUN]
                pipe.eval(text, 2, keys.params, keys.guard, *some)
        with explained():
            replies: list[list[bytes]] = await pipe.execute()
        return [packed for reply in replies for packed in reply]

    async def under(self, entries: Sequence[Entry]) -> list[list[int]]:
        """The pages that stand under the keys of `entries`, whatever their own pages."""
        states = await self.states()
        names, tags = [], []
        for entry in entries:
            bucket, tag = place_of(entry.key, size_of(states[entry.shard], entry.group))
            names.append(self.shards[entry.shard].numbered(entry.table, bucket))
            tags.append(tag)
        return [
            [page for stored, page in entries_in(bucket) if stored == tag and page != MORE]
            for bucket, tag in zip(await self.read_buckets(names), tags, strict=True)
        ]

    async def server_memory(self) -> list[ServerMemory] | None:
        """The memory of each server that holds a part of the index; None if they do not tell."""
        try:
            with explained():
                if isinstance(self._client, RedisCluster):
                    answer = await self._client.info("memory", target_nodes=RedisCluster.PRIMARIES)
                else:
                    answer = await self._client.info("memory")
        except ServerError:  # managed servers and permissions may forbid it
            return None
        infos = [answer] if "used_memory" in answer else list(answer.values())
        return [ServerMemory(info["used_memory"], info.get("maxmemory", 0)) for info in infos]


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def _number(value: bytes) -> int:
    if not _NUMBER.fullmatch(value):
        raise ServerError(FOREIGN.sentence)
    return int(value)
