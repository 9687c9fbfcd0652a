"""Random pages of an index, and their sketches."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Sequence

from ..sketches.odd import OddSketch
from .index_reader import IndexReader
from .layout import MORE, PAGES_IN_BLOCK, entries_in, size_of
from .records import read_blocks

_BLOCKS = 64  # read in one exchange
_BUCKETS = 8


async def drawn_pages(
    store: IndexReader, shards: Sequence[int], draws: random.Random
) -> AsyncIterator[list[tuple[int, int]]]:
    """All pages of some shards in random order, as (shard, local number), some hundreds at a time.

    They are found by their URLs, because most blocks of an old index may be empty: numbers are
    never reused.
    """
    states = await store.read_states()
    places = [(shard, n) for shard in shards for n in range(size_of(states[shard], "url"))]
    draws.shuffle(places)
    for start in range(0, len(places), _BUCKETS):
        some = places[start : start + _BUCKETS]
        names = [store.shards[shard].numbered("url", n) for shard, n in some]
        found = [
            (shard, page)
            for (shard, _), bucket in zip(some, await store.read_buckets(names), strict=True)
            for _, page in entries_in(bucket)
            if page != MORE
        ]
        draws.shuffle(found)
        yield found


async def sample_sketches(store: IndexReader, count: int, *, odd_bytes: int) -> list[OddSketch]:
    """The odd sketches of up to `count` kept pages, the same ones while the index does not change.

    Pages too short for a sketch are skipped.
    """
    found: list[OddSketch] = []
    seen: set[tuple[int, int]] = set()
    async for pages in drawn_pages(store, range(len(store.shards)), random.Random(count)):
        blocks = dict.fromkeys((shard, page // PAGES_IN_BLOCK) for shard, page in pages)
        places = [place for place in blocks if place not in seen]
        seen.update(places)
        for start in range(0, len(places), _BLOCKS):
            for record in await read_blocks(store, places[start : start + _BLOCKS], odd_bytes):
                if record.sketch is not None:
                    found.append(record.sketch)
            if len(found) >= count:
                return found[:count]
    return found
