"""Bloom filters: whether numbers were seen before, but for some that only seem so (Bloom 1970)."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

# Odd numbers, the first of them 2**64 over the golden ratio, whose products have mixed upper bits.
MULTIPLIERS: Final = np.array([[0x9E3779B97F4A7C15], [0xD1B54A32D192ED03]], np.uint64)
_MASKS: Final = np.uint8(1) << np.arange(8, dtype=np.uint8)


def look_up(
    filters: NDArray[np.uint8], numbers: NDArray[np.uint64], shift: int
) -> NDArray[np.bool_]:
    """Return which of two filters have which numbers, shape (2, numbers); then the first has all.

    Of a product's 64 bits `shift` are dropped, so that a place in a filter is left.
    """
    places = (MULTIPLIERS * numbers >> np.uint64(shift)).view(np.int64)
    at, masks = places >> 3, _MASKS.take(places & 7)
    known: NDArray[np.bool_] = np.all(filters.take(at, 1) & masks, axis=1)
    np.bitwise_or.at(filters[0], at, masks)
    return known
