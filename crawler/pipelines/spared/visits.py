"""What comes of one response: its item and the verdict about that, and its links."""

from __future__ import annotations

import asyncio
from typing import Final

_LONGEST_WAIT: Final = 30.0  # seconds; without a verdict links are passed on as those of any page


class Visit:
    """Whether a response is a page with one item, what its content is, and if its links are new."""

    def __init__(self) -> None:
        self.cluster: int | None = None  # that of its page
        self.text = 0  # a hash of its title and text
        self.outline: int | None = None  # of that, if it is short
        self.has_news = False  # whether it has a link to what may have a new text
        self.links: list[tuple[int, ...]] = []  # of those on no other page, what they share
        self.ended = False  # the callback
        self.is_seen = False
        self._items = self._waiting = 0
        self._verdict: asyncio.Future[None] | None = None

    def expect(self) -> None:
        """Note an item that is on its way."""
        self._items += 1
        self._waiting += 1

    def item_ended(self) -> None:
        """Note that an item has passed the pipelines, or was dropped."""
        self._waiting -= 1
        if self._verdict is not None and not self._verdict.done() and self._waiting <= 0:
            self._verdict.set_result(None)

    async def settled(self) -> None:
        """Wait for the items on their way: what is known of a page is known of its links."""
        if self._waiting > 0:
            if self._verdict is None or self._verdict.done():
                self._verdict = asyncio.get_running_loop().create_future()
            await asyncio.wait([self._verdict], timeout=_LONGEST_WAIT)

    @property
    def is_over(self) -> bool:
        """Whether nothing more comes of the response."""
        return self.ended and self._waiting <= 0 and not self.is_seen

    @property
    def is_page(self) -> bool:
        """Whether it has one item, which is its page."""
        return self._items == 1
