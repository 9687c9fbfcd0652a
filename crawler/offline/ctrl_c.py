"""Ctrl-C, which may come while a process is being started."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def ctrl_c_held_back() -> Iterator[None]:
    """Delay Ctrl-C until the block ends. Processes that start in the block never get it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
