"""Connections to the server that holds the index, of any kind."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, TypeAlias

from redis import exceptions as redis_errors
from redis.asyncio import BlockingConnectionPool, Redis, RedisCluster
from redis.asyncio.cluster import ClusterNode
from redis.asyncio.connection import UnixDomainSocketConnection
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import Sentinel, SentinelConnectionPool
from redis.backoff import EqualJitterBackoff, NoBackoff

from ...config import DedupConfig
from ...errors import ServerError
from .address import Address, mask_url, parse_address
from .cluster_client import CONNECTIONS, BoundedCluster
from .faults import explain_fault, explain_faults
from .private import PrivateServer, private_server

Client: TypeAlias = Redis | RedisCluster

logger = logging.getLogger(__name__)

_RETRIES = 3
_SKEW = 60.0  # seconds by which clocks may differ; half of DEDUP_TTL, if that is less
_TIMEOUTS = (redis_errors.TimeoutError, TimeoutError)


@asynccontextmanager
async def open_server(config: DedupConfig) -> AsyncIterator[Client]:
    """A client of the configured server, which has been checked to answer; replies are bytes.

    Raises :class:`ServerError`, which names the setting to correct.
    """
    async with AsyncExitStack() as stack:
        try:
            client = await _make_client(config, stack)
            await _await_answer(client, config.timeout)
            if config.redis_url is not None:
                await _inspect_server(client, config.redis_url, config.ttl)
        except (redis_errors.RedisError, redis_errors.RedisClusterException, OSError) as error:
            text = f"{server_name(config)}: {explain_fault(error)}"
            if (config.redis_url or "").startswith("rediss") and isinstance(error, _TIMEOUTS):
                # A server without TLS takes the handshake for a command and waits for its end.
                text += ", or use redis:// if it does not speak TLS"
            raise ServerError(text) from None
        yield client


def server_name(config: DedupConfig) -> str:
    """The setting that chose the server, and its value without secrets."""
    if config.redis_url is None:
        return f"the private server in DEDUP_DATA_DIR {config.data_dir}"
    return f"DEDUP_REDIS_URL {mask_url(config.redis_url)}"


async def send_command(client: Client, words: Sequence[str]) -> Any:
    """The server's reply to a command, or its error.

    Raises :class:`ServerError` if there is no reply.
    """
    # redis-py does not recognise a name in bytes, and leaves the reply as it is. A cluster client
    # must recognise the name, because the node depends on the command's key.
    name: Any = words[0] if isinstance(client, RedisCluster) else words[0].encode()
    commands: Any = client
    with explain_faults():
        try:
            return await commands.execute_command(name, *words[1:])
        except (redis_errors.ResponseError, redis_errors.RedisClusterException) as error:
            return error


async def read_infos(client: Client, *sections: str) -> list[dict[str, Any]]:
    """The INFO of the server, or of each primary of a cluster."""
    if not isinstance(client, RedisCluster):
        return [await client.info(*sections)]
    answers = await client.info(*sections, target_nodes=RedisCluster.PRIMARIES)
    by_node = all(isinstance(answer, dict) for answer in answers.values())  # no: of a single node
    return list(answers.values()) if by_node else [answers]


async def _make_client(config: DedupConfig, stack: AsyncExitStack) -> Client:
    options: dict[str, Any] = {
        "decode_responses": False,
        # The same replies from redis-py 6 to 8, and no HELLO, which proxies and ACLs may refuse.
        "protocol": 2,
        "socket_timeout": config.timeout,
        "socket_connect_timeout": config.timeout,
        # Retries are safe: nothing was done, or the token of the index's scripts makes them
        # idempotent. A timeout is not retried, because that would load a slow server more.
        "retry": Retry(
            EqualJitterBackoff(cap=1.0, base=0.05),
            _RETRIES,
            (redis_errors.ConnectionError, redis_errors.ReadOnlyError),
        ),
    }
    pool: dict[str, Any] = {"max_connections": CONNECTIONS, "timeout": config.timeout}
    client: Client
    if config.redis_url is None:
        server = await stack.enter_async_context(private_server(config.data_dir))
        options |= {"connection_class": _EmbeddedConnection, "server": server}
        client = Redis.from_pool(BlockingConnectionPool(**pool, **options))
    else:
        address = parse_address(config.redis_url)
        options |= address.options
        if options.get("connection_class") is UnixDomainSocketConnection:
            options["connection_class"] = _SocketConnection
        if address.kind == "cluster":
            nodes = [ClusterNode(*host) for host in address.hosts]
            client = BoundedCluster(startup_nodes=nodes, ssl=address.tls, **options)
            # If slots moved last, or a node gave no answer, the client takes itself for closed and
            # leaves connections open.
            for attribute in ("nodes_cache", "startup_nodes"):
                stack.push_async_callback(client.nodes_manager.aclose, attribute)
        elif address.kind == "sentinel":
            client = _sentinel_client(address, pool, options, stack)
        else:
            client = Redis.from_pool(BlockingConnectionPool(**pool, **options))
    stack.push_async_callback(client.aclose)
    return client


def _sentinel_client(
    address: Address, pool: dict[str, Any], options: dict[str, Any], stack: AsyncExitStack
) -> Redis:
    shared = ("protocol", "socket_", "ssl_")
    sentinel = Sentinel(  # type: ignore[no-untyped-call]
        address.hosts,
        sentinel_kwargs={
            **{name: value for name, value in options.items() if name.startswith(shared)},
            **address.sentinel_options,
            "ssl": address.tls,
            # No retries here: the client asks the next sentinel, and retries them all itself.
            "retry": Retry(NoBackoff(), 0),
        },
    )
    for one in sentinel.sentinels:
        stack.push_async_callback(one.aclose)
    client: Redis = sentinel.master_for(
        address.service,
        connection_pool_class=_BlockingSentinelPool,
        ssl=address.tls,
        **pool,
        **options,
    )
    return client


async def _await_answer(client: Client, seconds: float) -> None:
    """Return when the server answers; one that loads its data may take that many `seconds`."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while True:
        try:
            if isinstance(client, RedisCluster):
                await client.initialize()
            else:
                await client.ping()
        except redis_errors.BusyLoadingError:
            if loop.time() > deadline:
                raise
            await asyncio.sleep(0.1)
        else:
            return


async def _inspect_server(client: Client, url: str, ttl: float | None) -> None:
    """Refuse a server that cannot keep the index, or warn of it, as far as its INFO tells."""
    try:
        found = await read_infos(client)
    except redis_errors.ResponseError as error:
        logger.debug("The server gives no information about itself: %s", explain_fault(error))
        return
    for info in found:
        if info.get("role") == "slave" and info.get("slave_read_only"):
            raise redis_errors.ReadOnlyError
        if info.get("cluster_enabled") and not isinstance(client, RedisCluster):
            raise redis_errors.ResponseError("MOVED to other nodes")
    times = [float(info["server_time_usec"]) / 1e6 for info in found if "server_time_usec" in info]
    apart = max((abs(time.time() - of_server) for of_server in times), default=0.0)
    if apart > min(_SKEW, (ttl or _SKEW * 2) / 2):
        logger.warning(
            "DEDUP_REDIS_URL %s: the clocks of that server and of this machine "
            "differ by %.0f seconds. They decide whether a page was seen after it "
            "was gone, and when it expires (DEDUP_TTL): set them right.",
            mask_url(url),
            apart,
        )
    for info in found:
        policy = str(info.get("maxmemory_policy", "noeviction"))
        if info.get("maxmemory") and policy != "noeviction":
            logger.warning(
                "DEDUP_REDIS_URL %s: when this server is full it evicts keys (maxmemory-policy "
                "%s), and the index silently loses pages. Set the policy to noeviction.",
                mask_url(url),
                policy,
            )
            return


class _SocketConnection(UnixDomainSocketConnection):
    """A connection that does not repeat a timeout at its first exchange, as redis-py would."""

    async def _connect(self) -> None:
        try:
            await super()._connect()  # type: ignore[no-untyped-call]
        except redis_errors.TimeoutError as error:
            raise TimeoutError from error


class _EmbeddedConnection(_SocketConnection):
    """A connection that starts the private server again if it is gone."""

    def __init__(self, *, server: PrivateServer, **options: Any) -> None:
        super().__init__(path=str(server.socket), **options)
        self._server = server

    async def _connect(self) -> None:
        try:
            await super()._connect()
        except (ConnectionRefusedError, FileNotFoundError):
            await self._server.ensure_running()
            await super()._connect()


class _BlockingSentinelPool(SentinelConnectionPool, BlockingConnectionPool):
    """At most `max_connections` to a service's primary; further callers wait."""
