"""Reading a whole index, for counts, samples and the audit; changes nothing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from os.path import commonprefix
from typing import Any, NamedTuple

from redis.exceptions import ResponseError

from .connect import Client
from .keys import Keys
from .scripts import explained

_COUNTS = ("state", "stats", "hosts", "histogram")


class Entry(NamedTuple):
    """An entry of a table: shard, table, the group that the table's size is counted in, table key
    and the number of the page.
    """

    shard: int
    table: str
    group: str
    key: bytes
    page: int


class Reader(ABC):
    """The keys of an index, in one shard or in many.

    ``shards`` are the keys of each shard, ``namespace`` is the index's name.
    """

    def __init__(self, client: Client, namespace: str, shards: Sequence[Keys], head: Keys) -> None:
        self.namespace = namespace
        self.shards = shards
        self._client = client
        self._head = head  # the keys whose params were written first

    @abstractmethod
    def tables(self, bands: int) -> list[tuple[str, str]]:
        """The tables of a shard, each with the group that its size is counted in."""

    @abstractmethod
    def entries(self, shard: int, page: int, exact: bytes, words: int, bands: bytes) -> list[Entry]:
        """The entries of a kept page, beside that of its URL."""

    @abstractmethod
    async def mend(self) -> None:
        """Finish what workers that died have left behind."""

    @abstractmethod
    async def close(self) -> None:
        """End what goes on in the background."""

    async def states(self) -> list[dict[str, int]]:
        """The hash ``state`` of each shard."""
        pipe: Any = self._client.pipeline()
        for keys in self.shards:
            pipe.hgetall(keys.state)
        with explained():
            replies = await pipe.execute()
        return [{_text(k): int(v) for k, v in reply.items()} for reply in replies]

    async def counters(self) -> dict[str, dict[str, str]]:
        """The hashes ``params``, ``state``, ``stats``, ``hosts`` and ``histogram``; numbers are
        those of all shards together.
        """
        # On one server all are of the same moment.
        pipe: Any = self._client.pipeline(transaction=len(self.shards) == 1)
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
                total.update({_text(k): int(v) for k, v in reply.items()})
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
            async for name in self._client.scan_iter(match=pattern, count=500):
                key = _text(name)
                if hash(key) in seen or key[: key.find("}:") + 2] not in prefixes:
                    continue
                seen.add(hash(key))
                batch.append(key)
                if len(batch) == 500:
                    yield batch
                    batch = []
        yield batch

    async def read_hashes(self, keys: Sequence[str]) -> list[dict[bytes, bytes]]:
        """The fields of each key."""
        pipe: Any = self._client.pipeline(transaction=False)
        for key in keys:
            pipe.hgetall(key)
        with explained():
            hashes: list[dict[bytes, bytes]] = await pipe.execute()
        return hashes

    async def read_value(self, key: str) -> bytes | None:
        """The text of a key."""
        with explained():
            value = await self._client.get(key)
        return value if isinstance(value, bytes) else None


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")
