"""How often bytes are in a page: beginnings of tags, and what is in no text."""

from __future__ import annotations

import numpy as np


def count(page: bytes, first: int, last: int) -> int:
    """Count the bytes from `first` to `last`: a fifth of `bytes.count`'s time if they are frequent.

    >>> count(b"<p>tea</p>", ord("<"), ord("<")), count(b"tea\\x1f", 14, 31)
    (2, 1)
    """
    chars = np.frombuffer(page, np.uint8)
    return int(np.count_nonzero(chars - np.uint8(first) <= np.uint8(last - first)))
