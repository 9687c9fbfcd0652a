"""How long pages wait for a server that hangs: not each of them, time and again."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from .errors import ServerError
from .store.faults import is_connection_lost

_LONG_WAIT: Final = 1.0  # seconds


class Patience:
    """After a long wait for nothing no page waits before as much time has gone by.

    A server that hangs or is down, or a node of a cluster, must not hold up the crawl for a
    time-out, or for attempts anew, at every exchange.
    """

    def __init__(self) -> None:
        self._resting_until = 0.0
        self._last_error = ""

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Raises :class:`ServerError` at once while the server is left in peace."""
        start = time.monotonic()
        if start < self._resting_until:
            raise ServerError(self._last_error)
        try:
            yield
        except ServerError as error:
            self.failed(start, error)
            raise

    def failed(self, start: float, error: ServerError) -> None:
        """Note that there was no answer to what was asked at `start`, of the monotonic clock."""
        waited = time.monotonic() - start
        # A refused connection is attempted four times, which takes half a second.
        if waited > _LONG_WAIT or is_connection_lost(error.__cause__):
            self._resting_until = time.monotonic() + waited
            self._last_error = str(error)
