"""Script calls on the shards of an index; calls to one node share an exchange."""

from __future__ import annotations

import asyncio
import binascii
import itertools
import math
import time
from collections import defaultdict, deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from redis.asyncio import RedisCluster
from redis.exceptions import NoScriptError, RedisClusterException, RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

from ...errors import CLOSED, ServerError
from ..keys import Keys
from ..scripts import load_script
from ..server.cluster_client import find_slots, name_node
from ..server.faults import explain_fault, is_passing

_SLOTS = 16_384
_EXCHANGE = 512  # calls in one exchange with a node
_SCRIPT_WEIGHT = 32  # total weight of the calls in one script run, which blocks the node
FIRST_PAUSE, LONGEST_PAUSE = 0.02, 0.5  # seconds before a failed call is retried
TIMEOUTS = (RedisTimeoutError, TimeoutError)
_LEAST = 0.5  # seconds to wait for a reply, even after the deadline


class Call(NamedTuple):
    """One argument of a script with lua/cluster/shard.lua; it costs as much as `weight` pages."""

    script: str
    shard: int
    item: bytes
    weight: float = 1


class Terms(NamedTuple):
    """The arguments that all calls of an index share: see lua/cluster/shard.lua."""

    ttl: float | None
    lease: float
    odd_bytes: int

    def oldest_time(self, now: int) -> int:
        """Pages that were last seen before this time, in seconds since 1970, have expired."""
        return 0 if self.ttl is None else now - int(self.ttl)


class _Waiter:
    """The replies to calls that were made together."""

    def __init__(self, size: int) -> None:
        self.replies: list[Any] = [TimeoutError()] * size
        self.missing = size
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def take_reply(self, place: int, reply: Any) -> None:
        self.replies[place] = reply
        self.missing -= 1
        if self.missing == 0 and not self.done.done():  # its caller may have been cancelled
            self.done.set_result(None)


class Shards:
    """The shards of an index on the nodes of a cluster."""

    def __init__(
        self, client: RedisCluster, namespace: str, count: int, terms: Terms, *, timeout: float
    ) -> None:
        self.keys = [Keys(tag) for tag in shard_tags(namespace, count)]
        self.digest = ""  # no index yet: scripts refuse this digest
        self._client = client
        self._terms = terms
        self._timeout = timeout
        self._queues: defaultdict[str, deque[tuple[Call, _Waiter, int]]] = defaultdict(deque)
        self._senders: dict[str, asyncio.Task[None]] = {}
        self._silent: set[str] = set()  # nodes whose last reply did not come in time
        self._is_closed = False

    async def ask(self, calls: Sequence[Call], seconds: float) -> list[Any]:
        """The replies to `calls`, in that order; a :class:`ServerError` in place of a reply.

        Failures that may pass by themselves are retried for so many `seconds`, so calls have to be
        idempotent. After that, each call has a reply, although the client itself would try longer
        to reach a hanging node.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        pause = FIRST_PAUSE
        replies: list[Any] = [None] * len(calls)
        places = list(range(len(calls)))
        while places:
            if self._is_closed:  # otherwise the client would connect again and stay open
                return [ServerError(CLOSED)] * len(calls)
            waiter = _Waiter(len(places))
            for number, place in enumerate(places):
                self._enqueue_call(calls[place], waiter, number)
            with suppress(TimeoutError):
                async with asyncio.timeout_at(max(deadline, loop.time() + _LEAST)):
                    await waiter.done
            failed = []
            for place, reply in zip(places, waiter.replies, strict=True):
                # An earlier error says more than the timeout of a last, shortened attempt.
                is_cut = isinstance(reply, TIMEOUTS) and isinstance(replies[place], Exception)
                reply = replies[place] = replies[place] if is_cut else reply
                if isinstance(reply, Exception):
                    if is_passing(reply) and loop.time() + pause < deadline:
                        failed.append(place)
                    else:
                        replies[place] = ServerError(explain_fault(reply))
            places = failed
            if places:
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
        return replies

    async def close(self) -> None:
        """End the exchanges that are under way."""
        self._is_closed = True
        senders = list(self._senders.values())
        for sender in senders:
            sender.cancel()
        await asyncio.gather(*senders, return_exceptions=True)

    def _enqueue_call(self, call: Call, waiter: _Waiter, number: int) -> None:
        # This only decides which calls share an exchange; the client routes each call itself.
        node = name_node(self._client, self.keys[call.shard].params)
        self._queues[node].append((call, waiter, number))
        if node not in self._senders:
            self._senders[node] = asyncio.create_task(self._send_queue(node))

    async def _send_queue(self, node: str) -> None:
        queue = self._queues[node]
        try:
            while queue:
                batch = [queue.popleft() for _ in range(min(len(queue), _EXCHANGE))]
                # Calls whose callers have given up on a hanging node are left out.
                batch = [one for one in batch if not one[1].done.done()]
                if not batch:
                    continue
                replies = await self._ask_node(node, [call for call, _, _ in batch])
                for (_, waiter, number), reply in zip(batch, replies, strict=True):
                    waiter.take_reply(number, reply)
        finally:
            del self._senders[node]

    async def _ask_node(self, node: str, calls: list[Call]) -> list[Any]:
        replies: list[Any]
        try:
            if node in self._silent:  # another node may have taken over its slots
                await find_slots(self._client, node)
            async with asyncio.timeout(self._timeout):  # the client would try again and again
                replies = await self._exchange_calls(calls)
        except Exception as error:  # all callers must get a reply
            replies = [error] * len(calls)
        if any(isinstance(reply, TIMEOUTS) for reply in replies):
            self._silent.add(node)
        elif not all(isinstance(reply, Exception) for reply in replies):
            self._silent.discard(node)
        return replies

    async def _exchange_calls(self, calls: list[Call]) -> list[Any]:
        runs: list[tuple[str, int, list[int]]] = []
        open_runs: dict[tuple[str, int], tuple[list[int], float]] = {}
        for place, (script, shard, _, weight) in enumerate(calls):
            places, sum_ = open_runs.get((script, shard), ([], math.inf))
            if sum_ + weight > _SCRIPT_WEIGHT:
                places, sum_ = [], 0
                runs.append((script, shard, places))
            places.append(place)
            open_runs[script, shard] = places, sum_ + weight
        replies: list[Any] = [None] * len(calls)
        for (_, _, places), reply in zip(runs, await self._run_scripts(runs, calls), strict=True):
            failed = isinstance(reply, BaseException)
            for number, place in enumerate(places):
                replies[place] = reply if failed else reply[number]
        return replies

    async def _run_scripts(
        self, runs: list[tuple[str, int, list[int]]], calls: list[Call]
    ) -> list[Any]:
        terms, now = self._terms, int(time.time())
        oldest = terms.oldest_time(now)
        common = (self.digest, now, oldest, math.ceil(terms.lease * 1000), terms.odd_bytes)
        replies: list[Any] = [NoScriptError()] * len(runs)
        for command, part in (("EVALSHA", "digest"), ("EVAL", "text")):
            # A new server, or one that was restarted, knows no digest yet.
            todo = [n for n, reply in enumerate(replies) if isinstance(reply, NoScriptError)]
            if not todo:
                break
            pipe: Any = self._client.pipeline()
            for n in todo:
                script, shard, places = runs[n]
                keys = self.keys[shard]
                words = [getattr(load_script(script), part), 2, keys.params, keys.guard, *common]
                words += [calls[place].item for place in places]
                pipe.execute_command(command, *words)
            try:
                answers = await pipe.execute(raise_on_error=False)
            except (RedisError, RedisClusterException, OSError) as error:
                answers = [error] * len(todo)
            for n, answer in zip(todo, answers, strict=True):
                replies[n] = answer
        return replies


def shard_tags(namespace: str, count: int) -> list[str]:
    """Hash tags whose slots lie evenly over a cluster, one in each of `count` ranges of slots.

    So nodes with equal ranges of slots, as is usual, get equal parts of the index.

    >>> shard_tags("dedup", 3)
    ['dedup/0.3', 'dedup/1.1', 'dedup/2.2']
    """
    tags = []
    for shard in range(count):
        for number in itertools.count():
            tag = f"{namespace}/{shard}.{number}"
            # The CRC that the protocol prescribes for slots.
            slot = binascii.crc_hqx(tag.encode(), 0) % _SLOTS
            if slot * count // _SLOTS == shard:
                tags.append(tag)
                break
    return tags
