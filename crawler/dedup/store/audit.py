"""Does everything in the index agree with everything else? Reads all of it, changes nothing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import xxhash

from .reading import MORE, PAGES_IN_BLOCK, Entry, Reader, entries_in, place_of
from .records import COPIES, parse_record, split_block

# What the names of an index's keys end with; of buckets and blocks the number is told.
_OWN = re.compile(
    r"(?:(page|url|exact|band[0-9]*):(0|[1-9][0-9]*)"
    r"|params|state|stats|hosts|histogram|overrides|templates|attempts|claims|buried)"
)

_LOOKS = 5  # of 10,000 buckets of which each is changed in one look of ten, none is left by then
_MOST_FAULTS = 100


@dataclass(slots=True)
class Audit:
    """What an audit found. ``faults`` is empty if the index is sound; it names the first 100."""

    urls: int = 0
    kept: int = 0
    entries: Counter[str] = field(default_factory=Counter)  # by table
    faults: list[str] = field(default_factory=list)


async def audit(store: Reader, *, odd_bytes: int) -> Audit:
    """Hold records, tables and counters of an index against each other.

    Pages that are checked, or expire, meanwhile show as faults. So it looks again until nothing
    has changed, a few times at most, and tells of the faults that were there each time.
    """
    lasting, before = None, None
    for _ in range(_LOOKS):
        found = await _audit(store, odd_bytes)
        now = set(found.faults)
        lasting = now if lasting is None else lasting & now
        if not lasting or now == before:
            break
        before = now
    found.faults = sorted(lasting or ())[:_MOST_FAULTS]
    return found


async def _audit(store: Reader, odd_bytes: int) -> Audit:
    """Look once.

    Every record must stand in the tables under its keys and every entry of a table must belong to
    a record. So that this needs little memory, entries are not listed: their hashes are summed for
    each bucket, once as the records want them and once as the tables have them. Of keys that very
    many pages have the tables keep the latest pages only; their buckets are not compared.
    """
    found = Audit()
    states = await store.states()
    sums: Counter[tuple[int, str, int]] = Counter()
    entries: Counter[tuple[int, str]] = Counter()
    kept: Counter[int] = Counter()
    urls: Counter[int] = Counter()
    crowded: set[tuple[object, ...]] = set()  # tables and buckets with keys of very many pages

    def want(entry: Entry) -> None:
        bucket, tag = place_of(entry.key, states[entry.shard][f"{entry.group}.size"])
        sums[entry.shard, entry.table, bucket] += _entry(entry.table, tag, entry.page)

    for entry in await store.claimed():
        want(entry)
    async for names in store.scan():
        places = _places(store, names, found)
        blocks = [(shard, number) for shard, family, number in places if family == "page"]
        for (shard, number), packed in zip(blocks, await store.packed_blocks(blocks), strict=True):
            for slot, stored in split_block(packed):
                page = number * PAGES_IN_BLOCK + slot
                record = parse_record(page, stored, odd_bytes)
                if record is None or page >= states[shard].get("next", 0):
                    found.faults.append(f"the record of page {page} is not whole")
                    continue
                urls[shard] += 1
                if record.url_key != store.url_key(record.url):
                    found.faults.append(f"the record of page {page} has the key of another URL")
                wanted = [Entry(shard, "url", "url", record.url_key, page)]
                if record.standing not in COPIES:
                    kept[shard] += 1
                    wanted += store.entries(shard, page, record.exact, record.words, record.bands)
                for entry in wanted:
                    want(entry)
        places = [place for place in places if place[1] != "page"]
        keys = [store.shards[shard].numbered(family, number) for shard, family, number in places]
        for place, content in zip(places, await store.read_buckets(keys), strict=True):
            shard, family, _ = place
            for tag, page in entries_in(content):
                if page == MORE:
                    crowded |= {(shard, family), place}
                    continue
                sums[place] -= _entry(family, tag, page)
                entries[shard, family] += 1
    for (shard, table, bucket), rest in sums.items():
        if rest and (shard, table, bucket) not in crowded:
            key = store.shards[shard].numbered(table, bucket)
            found.faults.append(f"bucket {key} and the records disagree")
    for (shard, table), number in entries.items():
        found.entries[table] += number
        if (shard, table) in crowded:
            continue
        _compare(found, states[shard], table.rstrip("0123456789") + ".n", number, f"table {table}")
    for shard, state in enumerate(states):
        _compare(found, state, "kept", kept[shard], "kept pages")
        _compare(found, state, "url.n", urls[shard], "records")
    found.kept, found.urls = kept.total(), urls.total()
    return found


def _compare(found: Audit, state: dict[str, int], name: str, number: int, what: str) -> None:
    if state.get(name, 0) != number:
        found.faults.append(f"{what}: {number} found, but {name} is {state.get(name, 0)}")


def _entry(table: str, tag: bytes, page: int) -> int:
    return xxhash.xxh3_64_intdigest(b"%s %s %d" % (table.encode(), tag, page))


def _places(store: Reader, names: Iterable[str], found: Audit) -> list[tuple[int, str, int]]:
    """Shards, families and numbers of those of these keys that are numbered."""
    shards = {keys.prefix: shard for shard, keys in enumerate(store.shards)}
    places = []
    for name in names:
        prefix, _, rest = name.partition("}:")
        known = _OWN.fullmatch(rest)
        if known is None:
            found.faults.append(f"key {name} is foreign: this package has not written it")
        elif known[1]:
            places.append((shards[prefix + "}:"], known[1], int(known[2])))
    return places
