"""Sketches of pages drawn from the index at random."""

from __future__ import annotations

import random

from ..sketches.odd import OddSketch
from .reading import Reader
from .records import read_blocks

_BLOCKS = 64  # read in one exchange


async def sample_sketches(store: Reader, count: int, *, odd_bytes: int) -> list[OddSketch]:
    """The odd sketches of up to `count` kept pages, the same ones while the index does not change.

    Pages too short for a sketch are passed over.
    """
    places = await store.blocks()
    random.Random(count).shuffle(places)
    found: list[OddSketch] = []
    for start in range(0, len(places), _BLOCKS):
        for record in await read_blocks(store, places[start : start + _BLOCKS], odd_bytes):
            if record.sketch is not None:
                found.append(record.sketch)
        if len(found) >= count:
            break
    return found[:count]
