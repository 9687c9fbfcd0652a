"""Requests that wait for others under way, in the order in which they are judged again."""

from __future__ import annotations

import asyncio
import itertools
from contextlib import suppress
from typing import Final

Place = tuple[int, int]

_LONGEST: Final = 5.0  # seconds after which a waiting request is judged again in any case


class Turns:
    """The turns of requests that wait.

    Of requests of one priority the latest comes first, which is deepest: so the end of a branch
    with few texts is reached before a limit.
    """

    def __init__(self) -> None:
        self._arrivals = itertools.count()
        self._waiting: dict[Place, asyncio.Future[None]] = {}

    def take_place(self, priority: int) -> Place:
        """The place of a request that may have to wait."""
        return priority, next(self._arrivals)

    async def wait(self, place: Place) -> None:
        """Wait until it is the turn of a place."""
        turn = self._waiting[place] = asyncio.get_running_loop().create_future()
        with suppress(TimeoutError):
            await asyncio.wait_for(turn, _LONGEST)
        self._waiting.pop(place, None)

    def begin(self) -> None:
        """Let all that wait have their turn."""
        for place in sorted(self._waiting, reverse=True):
            if not self._waiting[place].done():
                self._waiting[place].set_result(None)
        self._waiting.clear()
