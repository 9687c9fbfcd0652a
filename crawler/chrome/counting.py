"""How often bytes are in a page: beginnings of tags, what is in no text, and what is no UTF-8."""

from __future__ import annotations

import numpy as np

from .sniffing import count_beyond


def count(page: bytes, first: int, last: int) -> int:
    """Count the bytes from `first` to `last`: a fifth of `bytes.count`'s time if they are frequent.

    >>> count(b"<p>tea</p>", ord("<"), ord("<")), count(b"tea\\x1f", 14, 31)
    (2, 1)
    """
    chars = np.frombuffer(page, np.uint8)
    return int(np.count_nonzero(chars - np.uint8(first) <= np.uint8(last - first)))


def utf8_errors(page: bytes) -> tuple[int, int]:
    """Count the replacements in a page read as UTF-8, and all of its characters beyond ASCII.

    >>> utf8_errors("naïve caf".encode() + bytes([233]))
    (1, 2)
    """
    text = page.decode("utf-8", "replace")
    return text.count("\ufffd"), count_beyond(text)
