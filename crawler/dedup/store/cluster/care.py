"""Work on a spread index after the verdicts: tidy its tables, clean up after dead workers."""

from __future__ import annotations

import asyncio
import itertools
import logging
import math
import random
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from typing import Any

from ...candidates import Rule
from ...errors import ServerError
from ...fingerprint import EXACT_BYTES
from ...tasks import end_tasks, gather_all
from ..messages import Answer
from ..parameters import Parameters
from .attempts import BegunCheck
from .claims import MAX_PAGES, Batch, ShardKey, forget_claims, make_claims, places_claimed
from .pages import PageView, Spread, read_view
from .shards import Call, Shards, Terms

logger = logging.getLogger(__name__)

_MEND_EVERY = 60.0  # seconds between looks at what dead workers left
_SWEPT = 2  # shards that each exchange searches for expired pages
_BACKLOG = 512  # tasks in the background


class SpreadCare:
    """Calls on shards, and work in the background.

    Several workers may do the same work: no verdict depends on it. `rule` says how the checks built
    on this compare pages; from the `threshold` on they are copies.
    """

    def __init__(
        self,
        shards: Shards,
        terms: Terms,
        spread: Spread,
        rule: Rule,
        parameters: Parameters,
        *,
        threshold: float,
        timeout: float,
    ) -> None:
        self.parameters = parameters
        self._rule = rule
        self._threshold = threshold
        self._shards = shards
        self._spread = spread
        self._count = spread.shards
        self._terms = terms
        self._timeout = timeout
        self._tasks: set[asyncio.Task[None]] = set()
        self._checks: set[asyncio.Future[Answer]] = set()
        self._next_mend = 0.0
        self._next_sweep = itertools.cycle(random.sample(range(self._count), self._count))

    def global_number(self, shard: int, local: int) -> int:
        """The global number of a page."""
        return local * self._count + shard

    async def finish_background(self) -> None:
        """Wait until all work in the background is done."""
        while self._tasks:
            # Not gather: if all tasks are done, it returns at once from Python 3.12 on, and the
            # loop would never run the callbacks that remove them from the set.
            await asyncio.wait(self._tasks)

    async def close(self) -> None:
        """End the checks under way and the work in the background.

        Another worker will do the rest.
        """
        await end_tasks(self._checks, self._tasks, seconds=self._timeout)
        await self._shards.close()

    async def finish_dead(self) -> None:
        """Finish the work that dead or slow workers have left behind."""
        await self.finish_background()
        if self._shards.digest:  # else there is no index
            await self._finish_dead()

    async def _finish_dead(self) -> list[tuple[int, ShardKey]]:
        """Finish it, and return (number, place) of each claim of a page that is still pending."""
        calls = [Call("sweep", shard, bytes(2)) for shard in range(self._count)]
        found: list[tuple[int, bytes, dict[int, list[ShardKey]]]] = []
        for shard, (buried, claims) in enumerate(await self._ask_all(calls)):
            await self._drop_all_buried(shard, buried)
            found += [(shard, packed, places_claimed(shard, packed)) for packed in claims[1::2]]
        views = await self._view_pages(list({number for _, _, own in found for number in own}))
        pending = {number for number, view in views.items() if view.state == b"p"}
        out = {number for number, view in views.items() if view.state in b"gc"}
        dropped, done = [], []
        for shard, packed, own in found:
            if pending.isdisjoint(own):
                done.append(forget_claims(shard, packed, out))
            else:
                dropped += [one for one in own.items() if one[0] in out]
        await self._drop_entries(dropped)
        await self._ask_all(done)
        claimed = [one for _, _, own in found for one in own.items() if one[0] in pending]
        return [(number, place) for number, places in claimed for place in places]

    async def _wait_for_room(self) -> None:
        """Wait until few enough tasks are left in the background."""
        while len(self._tasks) > _BACKLOG:
            await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.sleep(0)  # so that finished tasks leave the set

    # what checks need --------------------------------------------------------------------------

    async def _ask(self, calls: Sequence[Call], deadline: float | None = None) -> list[Any]:
        now = asyncio.get_running_loop().time()
        seconds = self._timeout if deadline is None else max(0.0, deadline - now)
        return await self._shards.ask(calls, seconds)

    async def _ask_all(self, calls: Sequence[Call], deadline: float | None = None) -> list[Any]:
        replies = await self._ask(calls, deadline) if calls else []
        for reply in replies:
            if isinstance(reply, Exception):
                raise reply
        return replies

    async def _ask_one(self, call: Call, deadline: float | None = None) -> Any:
        (reply,) = await self._ask_all([call], deadline)
        return reply

    async def _view_pages(
        self, numbers: Sequence[int], deadline: float | None = None, *, give_up: bool = False
    ) -> dict[int, PageView]:
        """The views of pages; `give_up` ends attempts at the pages, or to replace them."""
        calls = [
            Call(
                "look", number % self._count, (number // self._count).to_bytes(4) + bytes([give_up])
            )
            for number in numbers
        ]
        replies = await self._ask_all(calls, deadline)
        return {
            number: read_view(reply, self._terms.odd_bytes)
            for number, reply in zip(numbers, replies, strict=True)
        }

    async def _drop_entries(self, pages: Iterable[tuple[int, Sequence[ShardKey]]]) -> None:
        """Remove the entries of pages, given as numbers with places, from the tables."""
        await self._ask_all([claims.drop_call() for claims in make_claims(pages)])

    async def _finish_batch(self, batch: Batch) -> None:
        """Drop the claims of a batch whose pages are all decided, and thin out crowded places."""
        # If an ended number is kept, a failover has given it to another page.
        views = await self._view_pages(list(batch.ended))
        out = batch.copies | {number for number in views if views[number].state != b"k"}
        await self._ask_all(
            [forget_claims(one.shard, bytes(one.packed), out) for one in batch.claims]
        )
        await self._ask_all([Call("bound", place.shard, place.key) for place in batch.crowded])

    async def make_entries(
        self, pages: Sequence[tuple[int, Sequence[ShardKey]]], digest: str
    ) -> None:
        """Make the missing entries of kept pages, given as numbers with places.

        `digest` is the current digest of the parameters of the index.
        """
        self._shards.digest = digest
        batch = Batch(make_claims(pages))
        replies = await self._ask_all([one.claim_call() for one in batch.claims])
        for one, reply in zip(batch.claims, replies, strict=True):
            for page, index, *others in one.read_reply(reply):
                if len(others[0]) + len(others[1]) >= MAX_PAGES:
                    batch.crowded.add(pages[page][1][index])
        await self._finish_batch(batch)

    async def _drop_buried(self, shard: int, buried: bytes) -> None:
        """Remove the entries of a page whose record is gone.

        `buried` has its local number, exact hash, keys of anchors if there are any, and band keys.
        """
        local, exact, bands = buried[:4], buried[4 : 4 + EXACT_BYTES], buried[4 + EXACT_BYTES :]
        if exact:
            anchors = b""
            if self._spread.has_anchors:  # as in lua/cluster/attempts.lua
                end = 2 + int.from_bytes(bands[:2])
                anchors, bands = bands[2:end], bands[end:]
            keys = [anchors[at : at + 4] for at in range(0, len(anchors), 4)]
            places = self._spread.find_places(exact, 1, bands)
            places += self._spread.find_anchor_places(keys)
            number = self.global_number(shard, int.from_bytes(local))
            await self._drop_entries([(number, places)])
            await self._ask_all([Call("done", shard, b"b" + local)])

    async def _drop_all_buried(self, shard: int, buried: Sequence[bytes]) -> None:
        await gather_all(
            *(
                self._drop_buried(shard, int(local).to_bytes(4) + rest)
                for local, rest in zip(buried[::2], buried[1::2], strict=True)
            )
        )

    # in the background -------------------------------------------------------------------------

    def _begin_check(self, work: Coroutine[Any, Any, Answer]) -> asyncio.Future[Answer]:
        """The answer to come of a check, which goes on if its caller no longer waits for it."""
        task = asyncio.ensure_future(work)
        self._checks.add(task)
        task.add_done_callback(self._end_check)
        return task

    def _end_check(self, task: asyncio.Future[Answer]) -> None:
        self._checks.discard(task)
        if not task.cancelled():
            task.exception()  # nobody may ask for it

    def _do_later(self, work: Coroutine[Any, Any, object]) -> None:
        async def quietly() -> None:
            try:
                await work
            except ServerError as error:
                logger.debug("Left to be done by another worker: %s", error)

        task = asyncio.create_task(quietly())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _begin_care(self, pages: int) -> None:
        """Begin the background work that is due when so many pages are checked."""
        now = asyncio.get_running_loop().time()
        if now >= self._next_mend:
            self._next_mend = now + _MEND_EVERY * random.uniform(0.5, 1.5)
            self._do_later(self._finish_dead())
        if self._terms.ttl is not None:
            for _ in range(_SWEPT):
                self._do_later(self._sweep_shard(next(self._next_sweep), math.ceil(pages / 4)))

    async def _sweep_shard(self, shard: int, steps: int) -> None:
        buried, _ = await self._ask_one(Call("sweep", shard, steps.to_bytes(2)))
        await self._drop_all_buried(shard, buried)

    def _drop_dangling(self, begun: BegunCheck, views: Mapping[int, PageView]) -> None:
        """Remove the entries of found pages that are gone, as after a failover that lost writes."""
        for number, view in views.items():
            found = begun.found_at(number)
            if view.state == b"g" and found:
                places = [begun.places[index] for index in found]
                self._do_later(self._drop_entries([(number, places)]))
