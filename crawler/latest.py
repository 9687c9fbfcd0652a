"""A dict that is bounded."""

from __future__ import annotations

import sys
from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Latest(dict[Key, Value]):
    """A dict of the `most` entries that were set last, the latest last.

    >>> latest = Latest(2)
    >>> for name in "tea", "milk", "tea", "cake":
    ...     latest[name] = None
    >>> list(latest)
    ['tea', 'cake']
    """

    _most = sys.maxsize  # while one is unpickled, whose entries come first

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: Key, value: Value) -> None:
        self.pop(key, None)
        super().__setitem__(key, value)
        if len(self) > self._most:
            del self[next(iter(self))]
