"""An index in one slot of a cluster: like one server, on whichever node holds the slot."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from redis.asyncio import RedisCluster

from ...candidates import Rule
from ..keys import Keys
from ..server.cluster_client import find_slots, name_node
from ..server.faults import explain_faults, is_passing
from ..single import SingleIndex
from .shards import FIRST_PAUSE, LONGEST_PAUSE, TIMEOUTS


def head_keys(namespace: str) -> Keys:
    """The keys of an index on a cluster that say whether it exists, and in how many shards."""
    return Keys(f"{namespace}/")


async def read_shards(client: RedisCluster, namespace: str) -> int | None:
    """The number of shards of a spread index; None if it is in one slot or does not exist."""
    commands: Any = client
    with explain_faults():
        found = await commands.hget(head_keys(namespace).params, "shards")
    return None if found is None else int(found)


class SlotIndex(SingleIndex):
    """The tables and records of one namespace in one slot of a cluster.

    Failures that may pass by themselves, such as a slot that moves or is taken over, are retried
    for `timeout` seconds. All scripts are idempotent.
    """

    def __init__(
        self,
        client: RedisCluster,
        namespace: str,
        parameters: Mapping[str, Any],
        rule: Rule,
        *,
        timeout: float,
        **terms: Any,
    ) -> None:
        super().__init__(client, namespace, parameters, rule, **terms, keys=head_keys(namespace))
        self._timeout = timeout

    async def _run_script(self, name: str, arguments: Sequence[Any]) -> Any:
        keys = [self.keys.params, self.keys.guard]
        run = partial(self._evaluate_script, name, keys, arguments)
        return await try_again(self._client, self.keys.params, run, self._timeout)


async def try_again(
    cluster: RedisCluster, key: str, run: Callable[[], Awaitable[Any]], seconds: float
) -> Any:
    """Return what `run` returns; retry for so many `seconds` if a failure may pass by itself.

    `run` asks the node that has `key`. Raises :class:`ServerError`.
    """
    loop = asyncio.get_running_loop()
    deadline, pause = loop.time() + seconds, FIRST_PAUSE
    with explain_faults():
        while True:
            try:
                async with asyncio.timeout_at(deadline):  # the client would try again and again
                    return await run()
            except Exception as error:
                if isinstance(error, TIMEOUTS):  # another node may have taken over its slots
                    with suppress(Exception):
                        await find_slots(cluster, name_node(cluster, key))
                if not is_passing(error) or loop.time() + pause >= deadline:
                    raise
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
