"""Hash functions drawn from a seed, the same on every machine and in every release of numpy."""

from __future__ import annotations

import numpy as np
import xxhash
from numpy.typing import NDArray


def draw_numbers(count: int, seed: int) -> NDArray[np.uint64]:
    """*count* random numbers of 64 bits; uint64 of shape (count,).

    numpy's generators may change their streams between releases, and an index outlives those.
    """
    return np.array(
        [xxhash.xxh3_64_intdigest(place.to_bytes(8, "little"), seed) for place in range(count)],
        np.uint64,
    )


def draw_multipliers(count: int, seed: int) -> NDArray[np.uint64]:
    """*count* random odd numbers of 64 bits; uint64 of shape (count,)."""
    return draw_numbers(count, seed) | np.uint64(1)
