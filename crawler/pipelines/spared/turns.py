"""Requests that wait for others under way, in the order in which they are judged again."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from typing import Final, NamedTuple

QueuePlace = tuple[int, int]

_LONGEST: Final = 5.0  # seconds after which a waiting request is judged again in any case


class _Waiting(NamedTuple):
    turn: asyncio.Future[None]
    is_ready: Callable[[], bool]


class Turns:
    """The turns of requests that wait, one after the other.

    Of requests of one priority the latest comes first, which is deepest: so the end of a branch
    with few texts is reached before a limit.
    """

    def __init__(self) -> None:
        self._arrivals = itertools.count()
        self._waiting: dict[QueuePlace, _Waiting] = {}

    def take_place(self, priority: int) -> QueuePlace:
        """The place of a request that may have to wait."""
        return priority, next(self._arrivals)

    async def wait(self, place: QueuePlace, is_ready: Callable[[], bool]) -> None:
        """Wait until it is the turn of a place, which passes if it is not ready then."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[place] = _Waiting(turn, is_ready)
        try:
            # `wait_for` would swallow a cancellation if the turn has begun.
            await asyncio.wait([turn], timeout=_LONGEST)
        finally:
            del self._waiting[place]

    def begin(self, after: QueuePlace | None = None) -> None:
        """Let the first that is ready have its turn, of those after a place."""
        for place in sorted(self._waiting, reverse=True):
            waiting = self._waiting[place]
            if (after is None or place < after) and waiting.is_ready():
                if not waiting.turn.done():
                    waiting.turn.set_result(None)
                break
