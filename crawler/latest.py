"""A dict that is bounded."""

from __future__ import annotations

import sys
from collections import OrderedDict
from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Latest(OrderedDict[Key, Value]):
    """A dict of the `most` entries that were set last, the latest last.

    A plain dict takes ever longer to find its first entry, as many before it have been deleted: 0.1
    ms at 200,000 entries, where this takes 2 µs.

    >>> latest = Latest(2)
    >>> for name in "tea", "milk", "tea", "cake":
    ...     latest[name] = None
    >>> list(latest)
    ['tea', 'cake']
    """

    def __init__(self, most: int = sys.maxsize) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: Key, value: Value) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        if len(self) > self._most:
            self.popitem(last=False)
