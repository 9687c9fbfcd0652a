"""Reads a whole index, for counts, samples and the audit; changes nothing."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from itertools import groupby
from operator import itemgetter
from os.path import commonprefix
from typing import Any, Final, NamedTuple

from redis.exceptions import ResponseError

from ..errors import ServerError
from .keys import Keys, literal_pattern
from .layout import LEAST_BUCKETS, MORE, Entry, entries_in, place_of, size_of
from .scripts import load_script
from .server.connect import Client, read_infos
from .server.faults import FOREIGN, NO_STATE, explain_faults

_BLOCKS_IN_RUN: Final = 8  # blocks read by one run of a script, which blocks the server
_NUMBER: Final = re.compile(rb"-?[0-9]{1,18}")
_COUNTS = ("state", "stats", "hosts", "histogram", "errors")
_TIMES: Final = frozenset(
    ("clock", "checked", "crawled")
)  # fields of `state` whose latest value in any shard counts


class ServerMemory(NamedTuple):
    """The bytes that a server uses, and its limit, 0 if it has none."""

    used: int
    limit: int


class IndexReader:
    """The keys of an index, in one shard or in several.

    ``shards`` are the keys of each shard. ``head`` are the keys whose parameters are written first,
    and say whether the index exists. ``namespace`` is its name.
    """

    def __init__(self, client: Client, namespace: str, shards: Sequence[Keys], head: Keys) -> None:
        self.namespace = namespace
        self.shards = shards
        self.head = head
        self._client: Any = client  # for redis-py, replies may or may not be awaited

    async def overrides(self) -> dict[str, str]:
        """Overrides, current and removed, by URL: see :attr:`Keys.overrides`."""
        found: dict[str, str] = {}
        with explain_faults():
            for keys in self.shards:
                listing: Any = await self._client.hgetall(keys.overrides)
                found |= {_decode_text(url): _decode_text(kind) for url, kind in listing.items()}
        return found

    async def all_url_rules(self) -> dict[str, dict[str, dict[str, Any]]]:
        """The URL rules of each site, by feature."""
        found: dict[str, dict[str, dict[str, Any]]] = {}
        with explain_faults():
            for keys in self.shards:
                listing: Any = await self._client.hgetall(keys.rules)
                found |= {_decode_text(site): parse_rules(rules) for site, rules in listing.items()}
        return found

    async def read_states(self) -> list[dict[str, int]]:
        """The hash ``state`` of each shard.

        Raises :class:`ServerError` if a shard with pages has lost it.
        """
        pipe: Any = self._client.pipeline(transaction=False)  # a full Redis refuses transactions
        for keys in self.shards:
            pipe.hgetall(keys.state)
        with explain_faults():
            replies = await pipe.execute()
        found = [{_decode_text(k): _read_number(v) for k, v in reply.items()} for reply in replies]
        for keys, state in zip(self.shards, found, strict=True):
            if "next" not in state:  # unless the index is new, most pages would be missed
                await self._see_that_it_is_new(keys)
        return found

    async def _see_that_it_is_new(self, keys: Keys) -> None:
        """Raise :class:`ServerError` if a shard without state has pages, as in layout.lua."""
        names = [keys.numbered("url", bucket) for bucket in range(LEAST_BUCKETS)]
        if any(await self.read_buckets(names)):
            with explain_faults():
                is_new = await self._client.hexists(keys.state, "next")  # pages came in this moment
            if not is_new:
                raise ServerError(NO_STATE.sentence)

    async def read_counters(self) -> dict[str, dict[str, str]]:
        """The hashes ``params``, ``state``, ``stats``, ``hosts``, ``histogram`` and ``errors``.

        Numbers are sums over all shards, times the latest.
        """
        pipe: Any = self._client.pipeline(transaction=False)
        pipe.hgetall(self.head.params)
        for keys in self.shards:
            for name in _COUNTS:
                pipe.hgetall(getattr(keys, name))
        with explain_faults():
            params, *replies = await pipe.execute()
        found = {"params": {_decode_text(k): _decode_text(v) for k, v in params.items()}}
        for place, name in enumerate(_COUNTS):
            total: Counter[str] = Counter()
            times = _TIMES if name == "state" else frozenset[str]()
            for reply in replies[place :: len(_COUNTS)]:
                counts = {_decode_text(k): _read_number(v) for k, v in reply.items()}
                total.update({k: n for k, n in counts.items() if k not in times})
                for k in times & counts.keys():
                    total[k] = max(total[k], counts[k])
            found[name] = {k: str(v) for k, v in total.items() if v}
        return found

    async def memory_usage(self, keys: Sequence[str]) -> list[int | None] | None:
        """The bytes of each key, None for a missing one; None if the server forbids to ask."""
        pipe: Any = self._client.pipeline(transaction=False)
        for key in keys:
            pipe.memory_usage(key, samples=0)
        with explain_faults():
            try:
                sizes: list[int | None] = await pipe.execute()
            except ResponseError:  # managed servers may not know the command, or forbid it
                return None
        return sizes

    async def scan_keys(self) -> AsyncIterator[list[str]]:
        """The names of all keys of the index, some hundreds at a time; a name may occur twice."""
        prefixes = {self.head.prefix, *(keys.prefix for keys in self.shards)}
        pattern = literal_pattern(commonprefix(list(prefixes))) + "*"  # noqa: RUF071 (no paths)
        seen: set[int] = set()
        batch: list[str] = []
        with explain_faults():
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
            yield _decode_text(name)

    async def read_buckets(self, keys: Sequence[str]) -> list[bytes]:
        """The bucket at each key, empty if missing."""
        pipe: Any = self._client.pipeline(transaction=False)
        for key in keys:
            pipe.get(key)
        with explain_faults():
            found: list[Any] = await pipe.execute(raise_on_error=False) if keys else []
            for bucket in found:
                if isinstance(bucket, Exception):  # `execute` of redis-py 6 loses its message
                    raise bucket
        return [bucket or b"" for bucket in found]

    async def packed_blocks(self, places: Sequence[tuple[int, int]]) -> list[bytes]:
        """Blocks of records, each given by shard and number in the shard; see lua/read.lua."""
        text = load_script("read").text
        pipe: Any = self._client.pipeline(transaction=False)
        for shard, group in groupby(places, key=itemgetter(0)):
            numbers, keys = [block for _, block in group], self.shards[shard]
            for start in range(0, len(numbers), _BLOCKS_IN_RUN):
                some = numbers[start : start + _BLOCKS_IN_RUN]
                pipe.eval(text, 2, keys.params, keys.guard, *some)
        with explain_faults():
            replies: list[list[bytes]] = await pipe.execute()
        return [packed for reply in replies for packed in reply]

    async def pages_under(self, entries: Sequence[Entry]) -> list[list[int]]:
        """The numbers of all pages under the key of each entry."""
        states = await self.read_states()
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
        """The memory of each server that holds a part of the index; None if not reported."""
        try:
            with explain_faults():
                found = await read_infos(self._client, "memory")
        except ServerError:  # managed servers and permissions may forbid it
            return None
        return [ServerMemory(info["used_memory"], info.get("maxmemory", 0)) for info in found]


def _decode_text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def _read_number(value: bytes) -> int:
    if not _NUMBER.fullmatch(value):
        raise ServerError(FOREIGN.sentence)
    return int(value)


def parse_rules(packed: bytes) -> dict[str, dict[str, Any]]:
    """The readable rules of a site's URLs, by feature.

    >>> parse_rules(b'{"?sid": {"state": "learnt"}, "?id": 7}')
    {'?sid': {'state': 'learnt'}}
    """
    try:
        rules = json.loads(packed or b"{}")
    except ValueError:
        return {}
    if not isinstance(rules, dict):
        return {}
    return {name: rule for name, rule in rules.items() if isinstance(rule, dict)}
