"""The client of a cluster, and which of its nodes has a key."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from inspect import signature
from typing import Any

from redis import exceptions as redis_errors
from redis.asyncio import RedisCluster
from redis.asyncio.cluster import ClusterPipeline, NodesManager

# One connection carries the requests of hundreds of pages; a few let slow answers overlap.
CONNECTIONS = 8
# Commands with a key as their first argument, and those with nothing but keys.
OF_ONE_KEY = frozenset(
    {"DUMP", "GET", "HDEL", "HEXISTS", "HGET", "HGETALL", "HINCRBY", "HSET", "HSETNX", "LINDEX"}
    | {"LPUSH", "LSET", "MEMORY USAGE", "RESTORE", "SET"}
)
OF_KEYS = frozenset({"EXISTS", "UNLINK"})
# Newer cluster clients ask the nodes in any order, older ones in the order of their list.
_SHUFFLES_NODES = "last_failed_node_name" in signature(NodesManager.initialize).parameters


def name_node(cluster: RedisCluster, key: str) -> str:
    """The name of the node that has a key, as far as the client knows; '' if it does not."""
    try:
        node = cluster.get_node_from_key(key)
    except (redis_errors.RedisError, redis_errors.RedisClusterException):
        return ""
    return node.name if node is not None else ""


async def find_slots(cluster: RedisCluster, silent: str) -> None:
    """Ask the nodes of a cluster for its slots; the node `silent`, which does not answer, last.

    The client would wait for one timeout for its answer, and for another to connect to it.
    """
    manager: Any = cluster.nodes_manager
    if silent in manager.startup_nodes:
        manager.startup_nodes[silent] = manager.startup_nodes.pop(silent)
    options = {"last_failed_node_name": silent} if _SHUFFLES_NODES else {}
    await manager.initialize(**options)


class BoundedCluster(RedisCluster):
    """A cluster client whose callers wait for a connection instead of failing."""

    # As with one server: a time-out is not repeated.
    ERRORS_ALLOW_RETRY = tuple(  # type: ignore[assignment]
        kind for kind in RedisCluster.ERRORS_ALLOW_RETRY if kind is not redis_errors.TimeoutError
    )

    def __init__(self, **options: Any) -> None:
        # A turn takes one connection to a node at a time, a look at the topology one more.
        # Pipelines have other turns than commands, because a pipeline repeats commands of its own
        # and would wait for itself.
        # A slot that moved closes no connections, which other commands use: see _lost_in_use.
        super().__init__(max_connections=3 * CONNECTIONS, reinitialize_steps=0, **options)
        self.commands_parser = _CommandKeys(self.commands_parser)  # type: ignore[assignment]
        self.command_turns = asyncio.Semaphore(CONNECTIONS)
        self.pipeline_turns = asyncio.Semaphore(CONNECTIONS)
        self.timeout: float | None = options.get("socket_timeout")

    async def execute_command(self, *args: Any, **options: Any) -> Any:
        async with self.command_turns:
            with _lost_in_use():
                return await super().execute_command(*args, **options)

    def pipeline(self, transaction: Any = None, shard_hint: Any = None) -> ClusterPipeline:
        return _BoundedPipeline(self, transaction)  # type: ignore[abstract]


class _CommandKeys:
    """Finds the keys of a command, by which a cluster's client chooses the node.

    Reading the list of all commands takes a tenth of a second for each client, and again whenever a
    node changes. So it is only read for a command whose keys are not known here.
    """

    def __init__(self, parser: Any) -> None:
        self._parser = parser

    async def initialize(self, node: Any = None) -> None:
        self._parser.node = node

    async def get_keys(self, *args: Any) -> Sequence[Any] | None:
        if args[0] in OF_ONE_KEY:
            return args[1:2]
        if args[0] in OF_KEYS:
            return args[1:]
        if not self._parser.commands:
            await self._parser.initialize()
        keys: Sequence[Any] | None = await self._parser.get_keys(*args)
        return keys


class _BoundedPipeline(ClusterPipeline):
    async def execute(
        self, raise_on_error: bool = True, allow_redirections: bool = True
    ) -> list[Any]:
        client: Any = self.cluster_client
        async with client.pipeline_turns, asyncio.timeout(client.timeout):
            with _lost_in_use():  # the client would repeat a time-out again and again
                return await super().execute(raise_on_error, allow_redirections)


@contextmanager
def _lost_in_use() -> Iterator[None]:
    """After some failures the client closes all its connections, those that it writes to, too."""
    try:
        yield
    except AttributeError as error:
        raise redis_errors.ConnectionError("connection closed") from error
