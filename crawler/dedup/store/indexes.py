"""The indexes on a server, found by the keys of their parameters, and their counts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from redis.asyncio import RedisCluster

from ..config import DedupConfig
from ..verdict import plain
from .cluster.shards import shard_tags
from .cluster.slot import head_keys
from .index_reader import IndexReader
from .keys import Keys
from .parameters import UNFINISHED
from .server.connect import Client, open_server
from .server.faults import explain_faults
from .statistics import read_time

_HEAD = "params"


@dataclass(frozen=True, slots=True)
class IndexSummary:
    """A summary of an index on a server.

    ``checks`` counts checks with any verdict; unknown times are None. ``unfinished`` is the
    operation under way in an incomplete index: clear, copy, import or rename.
    """

    namespace: str
    kept: int
    urls: int
    checks: int
    last_check: datetime | None
    last_crawl: datetime | None
    method: str
    threshold: float | None
    format: int
    unfinished: str | None

    def to_dict(self) -> dict[str, Any]:
        """The summary as plain values, times in ISO 8601."""
        return {name: plain(value) for name, value in asdict(self).items()}


async def list_indexes(config: DedupConfig) -> list[IndexSummary]:
    """The indexes on the server of `config`, by name, whatever their parameters.

    All keys of the server are scanned, in small steps. Raises :class:`ServerError`.
    """
    async with open_server(config) as client:
        with explain_faults():
            names = sorted({name async for name in _find_names(client)})
            found = [await _read_summary(client, name) for name in names]
    return [summary for summary in found if summary is not None]


async def _find_names(client: Client) -> AsyncIterator[str]:
    """Yield possible names of indexes: keys of other programs may end like an index's."""
    end = ("/}:" if isinstance(client, RedisCluster) else "}:") + _HEAD
    async for found in client.scan_iter(match=f"{{*{end}", count=500, _type="hash"):
        yield found.decode("utf-8", "surrogateescape")[1 : -len(end)]


async def _read_summary(client: Client, name: str) -> IndexSummary | None:
    """The summary of the index with this name; None if there is none."""
    is_cluster = isinstance(client, RedisCluster)
    head = head_keys(name) if is_cluster else Keys(name)
    listing: Any = await client.hgetall(head.params)
    if b"digest" not in listing and UNFINISHED.encode() not in listing:
        return None
    shards = int(listing.get(b"shards", 0))
    tags = shard_tags(name, shards) if is_cluster else []
    counters = await IndexReader(
        client, name, [Keys(tag) for tag in tags] or [head], head
    ).read_counters()
    params = counters["params"]
    state = {field: int(number) for field, number in counters["state"].items()}
    return IndexSummary(
        name,
        state.get("kept", 0),
        state.get("url.n", 0),
        sum(map(int, counters["stats"].values())),
        read_time(state, "checked"),
        read_time(state, "crawled"),
        params.get("method", ""),
        float(params["threshold"]) if "threshold" in params else None,
        int(params.get("format", 0)),
        params.get(UNFINISHED),
    )
