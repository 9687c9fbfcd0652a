"""Does everything in the index agree with everything else? Reads all of it, changes nothing."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import xxhash

from .redis_index import RedisIndex, table_key

_KEPT = struct.Struct(">ccII4s4sI16sBH")  # as in layout.lua
_PAGES_IN_KEY = 16
_KEY_BITS = (1 << 28) - 1
_LEAST_BUCKETS = 16
_SKETCH = 2  # part of a record where its band keys begin


@dataclass(slots=True)
class Audit:
    """What an audit found. ``faults`` is empty if the index is sound; it names the first 100."""

    urls: int = 0
    kept: int = 0
    entries: Counter[str] = field(default_factory=Counter)  # by table
    faults: list[str] = field(default_factory=list)

    def report(self, fault: str) -> None:
        """Note a fault."""
        if len(self.faults) < 100:
            self.faults.append(fault)


async def audit(store: RedisIndex, *, odd_bytes: int) -> Audit:
    """Hold records, tables and counters of an index against each other.

    Every record must stand in the tables under its keys and every entry of a table must belong to
    a record. So that this needs little memory, entries are not listed: their hashes are summed for
    each bucket, once as the records want them and once as the tables have them. Pages checked
    while the audit runs may show as faults.
    """
    found = Audit()
    counters = await store.counters()
    state = {name: int(value) for name, value in counters["state"].items()}
    sums: Counter[tuple[str, int]] = Counter()
    async for family, number, fields in _hashes(store):
        if family == "page":
            _add_records(found, sums, state, number, fields, odd_bytes)
        else:
            for tag, ids in fields.items():
                for page in ids.split(b","):
                    sums[family, number] -= _entry(family, tag, int(page))
                    found.entries[family] += 1
    for (table, bucket), rest in sums.items():
        if rest:
            found.report(f"bucket {store.keys.numbered(table, bucket)} and the records disagree")
    _compare_counters(found, state)
    return found


def _add_records(
    found: Audit,
    sums: Counter[tuple[str, int]],
    state: dict[str, int],
    block: int,
    fields: dict[bytes, bytes],
    odd_bytes: int,
) -> None:
    slots: dict[int, dict[int, bytes]] = {}
    for name, value in fields.items():
        slot, part = divmod(int(name), 16)
        slots.setdefault(slot, {})[part] = value
    for slot, parts in slots.items():
        page = block * _PAGES_IN_KEY + slot
        if 0 not in parts or 1 not in parts or page >= state.get("next", 0):
            found.report(f"the record of page {page} is not whole")
            continue
        url_key, words, exact = _KEPT.unpack_from(parts[0])[5:8]
        found.urls += 1
        wanted = [("url", "url", url_key)]
        if url_key != table_key(parts[1].decode()):
            found.report(f"the record of page {page} has the key of another URL")
        if len(parts[0]) == _KEPT.size:
            found.kept += 1
            if words:
                wanted.append(("exact", "exact", exact[:4]))
            sketch = b"".join(parts[part] for part in sorted(parts) if part >= _SKETCH)
            for band in range((len(sketch) - odd_bytes) // 4 if sketch else 0):
                wanted.append((f"band{band}", "band", sketch[band * 4 : band * 4 + 4]))
        for table, group, key in wanted:
            bucket = _bucket(key, state[f"{group}.size"])
            sums[table, bucket] += _entry(table, _tag(key), page)


def _compare_counters(found: Audit, state: dict[str, int]) -> None:
    counted = {"kept": found.kept, "url.n": found.urls}
    for table, number in found.entries.items():
        group = table.rstrip("0123456789")
        if state.get(f"{group}.n") != number:
            found.report(f"table {table} has {number} entries, {state.get(f'{group}.n')} counted")
    for name, number in counted.items():
        if state.get(name, 0) != number:
            found.report(f"{name} is {state.get(name, 0)}, counted {number}")


def _entry(table: str, tag: bytes, page: int) -> int:
    return xxhash.xxh3_64_intdigest(b"%s %s %d" % (table.encode(), tag, page))


def _tag(key: bytes) -> bytes:
    return ((int.from_bytes(key) & _KEY_BITS) // _LEAST_BUCKETS).to_bytes(3)


def _bucket(key: bytes, size: int) -> int:
    number = int.from_bytes(key) & _KEY_BITS
    half = 1 << size.bit_length() - 1
    bucket = number % (2 * half)
    return bucket if bucket < size else number % half


async def _hashes(store: RedisIndex) -> AsyncIterator[tuple[str, int, dict[bytes, bytes]]]:
    async for keys in store.scan():
        places = []
        for key in keys:
            family, _, number = key.removeprefix(store.keys.prefix).partition(":")
            if number and family != "long":
                places.append((family, int(number)))
        hashes = await store.read_hashes([store.keys.numbered(*place) for place in places])
        for (family, block), fields in zip(places, hashes, strict=True):
            if family == "page":
                await _add_long_urls(store, block, fields)
            yield family, block, fields


async def _add_long_urls(store: RedisIndex, block: int, fields: dict[bytes, bytes]) -> None:
    for slot in range(_PAGES_IN_KEY):
        if b"%d" % (slot * 16) in fields and b"%d" % (slot * 16 + 1) not in fields:
            url = await store.read_long_url(block * _PAGES_IN_KEY + slot)
            if url is not None:
                fields[b"%d" % (slot * 16 + 1)] = url
