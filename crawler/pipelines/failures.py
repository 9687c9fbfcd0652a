"""Failures with pages. Only some are logged, because every page may fail."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Final

from ..dedup.errors import DedupError

if TYPE_CHECKING:
    from ..dedup.index import DuplicateIndex
    from .calls import Count

QUIET: Final = 60.0  # seconds between two log lines about errors of one class


class Failures:
    """Counts errors by their class."""

    def __init__(self, count: Count) -> None:
        self._count = count
        self._quiet_until: dict[str, float] = {}
        self._untold: Counter[str] = Counter()

    def is_news(self, error: Exception) -> bool:
        """Count an error, and return whether it should be logged."""
        name, now = type(error).__name__, time.monotonic()
        self._count(f"dedup/errors/{name}")
        self._untold[name] += 1
        if now < self._quiet_until.get(name, now):
            return False
        self._quiet_until[name] = now + QUIET
        return True

    async def report_to(self, index: DuplicateIndex) -> None:
        """Report the errors that the index does not know yet, if it answers."""
        told, self._untold = self._untold, Counter()
        try:
            await index.count_errors(told)
        except DedupError:  # reported next time
            self._untold.update(told)
