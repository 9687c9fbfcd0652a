"""Failures with pages, of which the log tells some: there may be as many as a crawl has pages."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

QUIET: Final = 60.0  # seconds between two lines of the log that tell of errors of one type


class Failures:
    """Counts errors by their type; `count` takes the name of a statistic to add one to."""

    def __init__(self, count: Callable[[str], None]) -> None:
        self._count = count
        self._quiet_until: dict[str, float] = {}

    def is_news(self, error: Exception) -> bool:
        """Count an error, and say whether the log is to tell of it."""
        name, now = type(error).__name__, time.monotonic()
        self._count(f"dedup/errors/{name}")
        if now < self._quiet_until.get(name, now):
            return False
        self._quiet_until[name] = now + QUIET
        return True
