"""Sketches of pages drawn from the index at random."""

from __future__ import annotations

import random
import struct

from ..sketches.odd import OddSketch
from .reading import Reader

_KEPT = struct.Struct(">ccII4s4sI16sBH")  # as in layout.lua
_PAGES_IN_KEY = 16
_SKETCH = 2  # the first part of a record that holds the sketch
_BLOCKS = 64  # read in one exchange


async def sample_sketches(store: Reader, count: int, *, odd_bytes: int) -> list[OddSketch]:
    """The odd sketches of up to `count` kept pages, the same ones while the index does not change.

    Pages too short for a sketch are passed over.
    """
    blocks = [
        keys.numbered("page", block)
        for keys, state in zip(store.shards, await store.states(), strict=True)
        for block in range(state.get("next", 0) // _PAGES_IN_KEY + 1)
    ]
    random.Random(count).shuffle(blocks)
    found: list[OddSketch] = []
    for start in range(0, len(blocks), _BLOCKS):
        for fields in await store.read_hashes(blocks[start : start + _BLOCKS]):
            found += _sketches(fields, odd_bytes)
        if len(found) >= count:
            break
    return found[:count]


def _sketches(fields: dict[bytes, bytes], odd_bytes: int) -> list[OddSketch]:
    records: dict[int, dict[int, bytes]] = {}
    for name, value in fields.items():
        slot, part = divmod(int(name), 16)
        records.setdefault(slot, {})[part] = value
    found = []
    for _, parts in sorted(records.items()):
        if len(parts.get(0, b"")) != _KEPT.size or _SKETCH not in parts:
            continue
        level, members = _KEPT.unpack(parts[0])[8:]
        sketch = b"".join(parts[part] for part in sorted(parts) if part >= _SKETCH)
        found.append(OddSketch(level, members, sketch[-odd_bytes:]))
    return found
