"""Which numbers were seen lately, in four bytes each: a Bloom filter of two generations."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from .twins import look_up

_BITS: Final = 16  # for each number of a generation


class Recent:
    """The last `size` numbers that were seen, and up to `size` before them; a power of two.

    Of numbers that were not seen, one in 30 at most is said to be (Bloom 1970). When the newer
    generation has taken in `size` numbers, the older one is forgotten. As what stands before a
    table of counts, it keeps out of it what comes only once: a doorkeeper (Einziger, Friedman and
    Manes 2017, section 3.4.2).
    """

    __slots__ = ("_filters", "_shift", "_size", "_taken")

    def __init__(self, size: int) -> None:
        self._size = size
        self._shift = 65 - (size * _BITS).bit_length()
        self._filters = np.zeros((2, size * _BITS // 8), np.uint8)  # the newer one first
        self._taken = 0

    def add(self, numbers: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """See different numbers, uint64; return for each whether it was seen before."""
        known = look_up(self._filters, numbers, self._shift)
        self._taken += len(numbers) - int(np.count_nonzero(known[0]))
        if self._taken >= self._size:
            self._filters[1] = self._filters[0]
            self._filters[0] = 0
            self._taken = 0
        found: NDArray[np.bool_] = known[0] | known[1]
        return found
