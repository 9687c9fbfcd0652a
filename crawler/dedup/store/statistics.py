"""The counts of an index, and its memory."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from ..verdict import plain, time_of
from .base import Store
from .layout import PAGES_IN_BLOCK
from .random_pages import drawn_pages
from .records import split_block

_SAMPLE = 32  # keys of each kind whose memory is measured
_SHARD_SAMPLE = 4  # shards whose memory is measured


@dataclass(frozen=True, slots=True)
class IndexStats:
    """Counts of one index.

    ``verdicts`` maps a kind to the checks that ended with it, ``hosts`` a host to such a map, and
    ``histogram`` a similarity, rounded down to hundredths, to the near-duplicates found there.
    ``urls`` counts the known URLs, and ``kept`` the kept pages. ``memory_bytes`` is the memory of
    the whole index in the server, estimated from a sample; None if the server forbids to measure
    it. ``bytes_per_page`` is the memory of pages, including copies, for each kept page.
    ``last_check`` is the time of the last check, and ``last_crawl`` the start of the last crawl;
    None if unknown. ``errors`` maps the class of an error to the number of failures in crawls.
    """

    namespace: str
    verdicts: dict[str, int]
    hosts: dict[str, dict[str, int]]
    histogram: dict[str, int]
    urls: int
    kept: int
    memory_bytes: int | None
    bytes_per_page: float | None
    parameters: dict[str, str]
    last_check: datetime | None = None
    last_crawl: datetime | None = None
    errors: dict[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The counts as plain values."""
        times = {name: plain(getattr(self, name)) for name in ("last_check", "last_crawl")}
        return {**asdict(self), **times}


def read_time(state: Mapping[str, int], name: str) -> datetime | None:
    """A time in an index's state, None if unknown."""
    return time_of(state[name]) if state.get(name) else None


async def read_statistics(store: Store, *, bands: int) -> IndexStats:
    """Read the counters of an index, and measure a sample of its keys."""
    counters = await store.read_counters()
    state = {name: int(value) for name, value in counters["state"].items()}
    hosts: dict[str, dict[str, int]] = {}
    for name, number in counters["hosts"].items():
        host, _, kind = name.rpartition(" ")
        hosts.setdefault(host, {})[kind] = int(number)
    besides = await _weigh_others(store)
    pages = 0 if besides is None else await _weigh_pages(store, bands)
    kept = state.get("kept", 0)
    return IndexStats(
        namespace=store.namespace,
        verdicts={kind: int(n) for kind, n in sorted(counters["stats"].items())},
        hosts={host: hosts[host] for host in sorted(hosts)},
        histogram={s: int(n) for s, n in sorted(counters["histogram"].items())},
        urls=state.get("url.n", 0),
        kept=kept,
        memory_bytes=None if besides is None else besides + pages,
        bytes_per_page=round(pages / kept, 1) if pages and kept else None,
        parameters={k: v for k, v in sorted(counters["params"].items()) if k != "digest"},
        last_check=read_time(state, "checked"),
        last_crawl=read_time(state, "crawled"),
        errors={name: int(n) for name, n in sorted(counters["errors"].items())},
    )


async def _weigh_others(store: Store) -> int | None:
    """Bytes of memory of the keys without pages; None if the server forbids to measure them."""
    names = {store.head.params, *(name for keys in store.shards for name in keys.fixed)}
    sizes = await store.memory_usage(list(names))
    return None if sizes is None else sum(size or 0 for size in sizes)


async def _weigh_pages(store: Store, bands: int) -> int:
    """Bytes of memory of all records and of the entries that find them."""
    states = await store.read_states()
    chosen = random.sample(range(len(states)), min(_SHARD_SAMPLE, len(states)))
    total = 0.0
    for shard in chosen:
        keys, state = store.shards[shard], states[shard]
        total += await _weigh_records(store, shard) * state.get("url.n", 0)
        for family, group in store.list_tables(bands):
            count = state.get(f"{group}.size", 0)
            numbers = random.sample(range(count), min(_SAMPLE, count))
            sample = [keys.numbered(family, number) for number in numbers]
            weighed = await store.memory_usage(sample) or []
            total += sum(size or 0 for size in weighed) * count / max(1, len(sample))
    return round(total * len(states) / len(chosen))


async def _weigh_records(store: Store, shard: int) -> float:
    """Mean bytes of memory for a record of a shard: of a block, divided by its records."""
    pages: list[tuple[int, int]] = []
    async for some in drawn_pages(store, [shard], random.Random()):
        pages += some
        if len(pages) >= _SAMPLE:
            break
    blocks = [page // PAGES_IN_BLOCK for _, page in pages[:_SAMPLE]]
    names = [store.shards[shard].numbered("page", block) for block in blocks]
    sizes = await store.memory_usage(names) or [None] * len(names)
    packed = await store.packed_blocks([(shard, block) for block in blocks])
    shares = [
        size / count
        for size, block in zip(sizes, packed, strict=True)
        if size and (count := sum(1 for _ in split_block(block)))
    ]
    return sum(shares) / max(1, len(shares))
