"""Checks that everything in an index agrees. It reads all of it and changes nothing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import xxhash

from ..verdict import COPIES
from .base import Store
from .keys import FIXED
from .layout import MORE, PAGES_IN_BLOCK, Entry, entries_in, place_of, size_of
from .records import parse_record, split_block

# Endings of the names of an index's keys: family and number of a bucket or block, or a fixed name.
_OWN = re.compile(r"(?:(page|url|exact|band[0-9]*|anchor):(0|[1-9][0-9]*)|" + "|".join(FIXED) + ")")

_LOOKS = 5  # a sound bucket that seems wrong in one look of ten does so five times in 1 of 100,000
_MOST_FAULTS = 100


@dataclass(slots=True)
class Audit:
    """The result of an audit. ``faults`` is empty if the index is sound; it names the first 100.

    ``unsettled`` is the number of buckets that seemed wrong each time, but differently, because
    pages were written to them. Whether they are wrong shows only when no page is written.
    """

    urls: int = 0
    kept: int = 0
    entries: Counter[str] = field(default_factory=Counter)  # by table
    faults: list[str] = field(default_factory=list)
    unsettled: int = 0


async def audit_index(store: Store, *, odd_bytes: int) -> Audit:
    """Compare the records, tables and counters of an index.

    Pages that are checked or expire during the comparison look like faults. So it is repeated a few
    times, until nothing is written meanwhile, and only faults found each time are reported.
    """
    lasting: Mapping[str, int | None]
    found, lasting, is_still = await _audit_once(store, odd_bytes)
    for _ in range(_LOOKS - 1):
        if is_still or not lasting:
            break
        found, now, is_still = await _audit_once(store, odd_bytes)
        if is_still:
            lasting = now
        else:
            lasting = {
                fault: rest if rest == now[fault] else None
                for fault, rest in lasting.items()
                if fault in now
            }
    certain = [fault for fault, rest in lasting.items() if rest is not None]
    found.faults = sorted(certain)[:_MOST_FAULTS]
    found.unsettled = len(lasting) - len(certain)
    return found


async def _audit_once(store: Store, odd_bytes: int) -> tuple[Audit, dict[str, int], bool]:
    """Look once: return what was found, the faults, and whether nothing was written meanwhile."""
    claimed = await store.claimed_entries()
    states = await store.read_states()
    found, faults, miscounted = await _read_all(store, odd_bytes, claimed, states)
    is_still = states == await store.read_states() and set(claimed) == set(
        await store.claimed_entries()
    )
    # The counters are of one moment, so they only count if the index stood still.
    return found, faults | miscounted if is_still else faults, is_still


async def _read_all(
    store: Store, odd_bytes: int, claimed: list[Entry], states: list[dict[str, int]]
) -> tuple[Audit, dict[str, int], dict[str, int]]:
    """Read the whole index once: return what was found, the faults, and wrong counters.

    Every record must have its entries in the tables, and every entry must belong to a record. To
    save memory, entries are not listed: their hashes are summed for each bucket, once as the
    records require them and once as the tables have them. The difference of the two sums goes with
    the fault. Buckets with crowded keys, of which the tables drop pages, are not compared.
    """
    found, faults, miscounted = Audit(), dict[str, int](), dict[str, int]()
    sums: Counter[tuple[int, str, int]] = Counter()
    entries: Counter[tuple[int, str]] = Counter()
    kept: Counter[int] = Counter()
    urls: Counter[int] = Counter()
    crowded: set[tuple[object, ...]] = set()  # tables and buckets with keys of very many pages

    def want(entry: Entry) -> None:
        bucket, tag = place_of(entry.key, size_of(states[entry.shard], entry.group))
        sums[entry.shard, entry.table, bucket] += _pack_entry(entry.table, tag, entry.page)

    for entry in claimed:
        want(entry)
    async for names in store.scan_keys():
        places = _find_tables(store, names, faults)
        blocks = [(shard, number) for shard, family, number in places if family == "page"]
        for (shard, number), packed in zip(blocks, await store.packed_blocks(blocks), strict=True):
            for slot, stored in split_block(packed):
                page = number * PAGES_IN_BLOCK + slot
                record = parse_record(page, stored, odd_bytes)
                if record is None or page >= states[shard].get("next", 0):
                    faults[f"the record of page {page} is incomplete"] = 0
                    continue
                urls[shard] += 1
                if record.url_key != store.url_key(record.url):
                    faults[f"the record of page {page} has the key of another URL"] = 0
                wanted = [Entry(shard, "url", "url", record.url_key, page)]
                if record.standing not in COPIES:
                    kept[shard] += 1
                    wanted += store.list_entries(shard, record, page)
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
                sums[place] -= _pack_entry(family, tag, page)
                entries[shard, family] += 1
    for (shard, table, bucket), rest in sums.items():
        if rest and (shard, table, bucket) not in crowded:
            key = store.shards[shard].numbered(table, bucket)
            faults[f"bucket {key} and the records disagree"] = rest
    for (shard, table), number in entries.items():
        found.entries[table] += number
        if (shard, table) in crowded:
            continue
        _compare_counters(
            miscounted, states[shard], table.rstrip("0123456789") + ".n", number, f"table {table}"
        )
    for shard, state in enumerate(states):
        _compare_counters(miscounted, state, "kept", kept[shard], "kept pages")
        _compare_counters(miscounted, state, "url.n", urls[shard], "records")
    found.kept, found.urls = kept.total(), urls.total()
    return found, faults, miscounted


def _compare_counters(
    faults: dict[str, int], state: dict[str, int], name: str, number: int, what: str
) -> None:
    if state.get(name, 0) != number:
        faults[f"{what}: {number} found, but {name} is {state.get(name, 0)}"] = 0


def _pack_entry(table: str, tag: bytes, page: int) -> int:
    return xxhash.xxh3_64_intdigest(b"%s %s %d" % (table.encode(), tag, page))


def _find_tables(
    store: Store, names: Iterable[str], faults: dict[str, int]
) -> list[tuple[int, str, int]]:
    """Shard, family and number of each bucket and block among these keys."""
    shards = {keys.prefix: shard for shard, keys in enumerate(store.shards)}
    places = []
    for name in names:
        prefix, _, rest = name.partition("}:")
        known = _OWN.fullmatch(rest)
        if known is None:
            faults[f"key {name} is foreign: this package did not write it"] = 0
        elif known[1]:
            places.append((shards[prefix + "}:"], known[1], int(known[2])))
    return places
