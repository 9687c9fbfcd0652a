"""What comes of one response: its item, the verdict on it, and its links."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ...dedup.urls.parts import UrlParts

_LONGEST_WAIT: Final = 30.0  # seconds; without a verdict links are passed on as those of any page


class Visit:
    """What has come of a response so far: its items, the content of its page, and new links."""

    def __init__(self) -> None:
        self.cluster: int | None = None  # the cluster of its page
        self.text = 0  # a hash of its title and text
        self.outline: int | None = None  # see `hash_outline`
        self.whole = ""  # its title and text; another process tells only their hash
        self.asks_for = ""  # a URL that is to be fetched once more
        self.has_news = False  # whether a link may lead to a new text
        self.asks_password = False
        self.links: list[tuple[int, ...]] = []  # for each link that no earlier page had, its frames
        self.own_link: UrlParts | None = None  # the first that may lead to its own text
        self.ended = False  # whether the callback has ended
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

    @property
    def is_waiting(self) -> bool:
        """Whether items are on their way, whose verdicts decide what becomes of the links."""
        return self._waiting > 0

    async def settled(self) -> None:
        """Wait for the items on their way."""
        if self._verdict is None or self._verdict.done():
            self._verdict = asyncio.get_running_loop().create_future()
        with suppress(TimeoutError):
            async with asyncio.timeout(_LONGEST_WAIT):
                await self._verdict

    @property
    def is_over(self) -> bool:
        """Whether callback and items have ended, and nobody has learnt from it yet."""
        return self.ended and self._waiting <= 0 and not self.is_seen

    @property
    def is_page(self) -> bool:
        """Whether it has one item, which is its page."""
        return self._items == 1
