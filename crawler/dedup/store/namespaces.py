"""Deletes and copies whole indexes in small steps, between which the server does other work.

An index that is being deleted or copied has the field ``unfinished`` among its parameters and no
digest: it cannot be opened, and crawls that have it open get an error at their next page. The
head's parameters are written and deleted last. An index that is being renamed is marked in the same
way before it is deleted; its digest then stands behind a hyphen.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from dataclasses import replace
from typing import Any

from redis.asyncio import RedisCluster
from redis.exceptions import TryAgainError

from ..config import DedupConfig
from ..errors import InputError
from .cluster.shards import shard_tags
from .cluster.slot import head_keys
from .keys import Keys, literal_pattern
from .parameters import UNFINISHED, cleared_meanwhile, not_whole
from .scripts import load_script
from .server.connect import Client, open_server
from .server.faults import explain_faults

_BATCH = 200  # keys in one exchange
_RENAMED = b"rename"  # as in lua/unfinished.lua


async def clear_index(
    config: DedupConfig, told: Callable[[str], object] = lambda digest: None
) -> int:
    """Delete the index that `config` names, whatever its parameters; return how many keys it had.

    First, `told` is called with the digest of its parameters, unless an interrupted clear has
    deleted it: clearing again goes on from there. Raises :class:`ServerError`.
    """
    async with open_server(config) as client:
        with explain_faults():
            commands: Any = client
            found = await commands.hget(_head_key(client, config.namespace), "digest") or b""
            if digest := found.decode().removeprefix("-"):
                told(digest)
            return await _clear_index(client, config.namespace)


async def copy_index(
    config: DedupConfig,
    source: str,
    target: str,
    *,
    is_moved: bool = False,
    along: Callable[[str], AbstractContextManager[object]] = nullcontext,
) -> int:
    """Copy the index `source` on the server of `config` to a new name; return how many keys it has.

    Returns 0 if there is no such index. If it `is_moved`, the source is deleted. `along` copies
    what else belongs to the index, and takes the digest of both indexes. It is entered when all
    keys are copied, and left before the copy can be opened; by then no crawl can write to a source
    that is moved. Raises :class:`InputError` if the name is taken, or if the index was changed
    while it was copied, :class:`ServerError`, and what `along` raises; the copy is then deleted.
    """
    for name in (source, target):
        replace(config, namespace=name)  # raises for a name that no index can have
    if source == target:  # the error below would advise to clear the index
        raise InputError(f"{source!r} is the index itself: choose another name")
    async with open_server(config) as client:
        with explain_faults():
            return await _copy_index(client, source, target, along, is_moved=is_moved)


async def _clear_index(client: Client, namespace: str) -> int:
    head = _head_key(client, namespace)
    async with slots_at_rest(client):
        params = await _mark_index(client, namespace, "clear")
        deleted = 0
        async for batch in _scan_keys(client, namespace, "*"):
            deleted += await _unlink_keys(client, [key for key in batch if key not in params])
        deleted += await _unlink_keys(client, [key for key in params if key != head])
    return deleted + await _unlink_keys(client, [head])


async def _unlink_keys(client: Client, keys: list[str]) -> int:
    pipe: Any = client.pipeline(transaction=False)
    for key in keys:
        pipe.execute_command("UNLINK", key)  # a cluster's pipeline has a method for many keys only
    return sum(await pipe.execute()) if keys else 0


async def _mark_index(client: Client, namespace: str, doing: str | bytes) -> list[str]:
    """Mark all shards of an index with the operation under way; '' ends a rename.

    Returns the keys with the mark.
    """
    params = [key async for batch in _scan_keys(client, namespace, "params") for key in batch]
    pipe: Any = client.pipeline(transaction=False)
    for key in params:
        pipe.eval(load_script("unfinished").text, 1, key, doing)
    await pipe.execute()
    return params


async def _copy_index(
    client: Client,
    source: str,
    target: str,
    along: Callable[[str], AbstractContextManager[object]],
    *,
    is_moved: bool,
) -> int:
    await _read_slots(client)  # before anything is changed
    head, new_head = _head_key(client, source), _head_key(client, target)
    commands: Any = client
    parameters = await commands.hgetall(head)
    if not parameters:
        return 0
    doing = parameters.pop(UNFINISHED.encode(), None)
    if doing not in (None, _RENAMED):
        raise InputError(not_whole(source, doing.decode()))
    parameters[b"digest"] = parameters[b"digest"].removeprefix(b"-")  # from an interrupted rename
    mark = f"copy {secrets.token_hex(4)}"  # by which a retry finds that the name is its own
    theirs = await commands.eval(load_script("reserve").text, 1, new_head, mark)
    found = dict(zip(theirs[::2], theirs[1::2], strict=True))
    if found.get(UNFINISHED.encode(), mark.encode()) != mark.encode():
        raise InputError(not_whole(target, found[UNFINISHED.encode()].decode()))
    if found.keys() - {UNFINISHED.encode()}:
        raise InputError(f"there is an index {target!r} already: clear it first")
    try:
        tags = _new_tags(source, target, int(parameters.get(b"shards", 0)))
        before = await _read_states(client, source)
        copied = 1
        async with slots_at_rest(client):
            async for batch in _scan_keys(client, source, "*"):
                # Keys left by an index with another number of shards are not copied.
                keys = [key for key in batch if key != head and _hash_tag(key) in tags]
                copied += await _transfer_keys(client, keys, tags)
        if doing is not None:
            await _mark_index(client, target, "")
        with along(parameters[b"digest"].decode()):
            await _see_the_same(client, source, before)
            if is_moved:
                await _mark_index(client, source, _RENAMED)
                # This finds checks before the mark; pages that come now pass unchecked.
                await _see_the_same(client, source, before)
            listing = [part for pair in parameters.items() for part in pair]
            text = load_script("finish").text
            if await commands.eval(text, 1, new_head, mark, *listing) != parameters[b"digest"]:
                raise InputError(cleared_meanwhile(target))
    except BaseException:
        if is_moved:
            await _mark_index(client, source, "")
        found = await commands.hmget(new_head, UNFINISHED, "digest")
        if mark.encode() in found or parameters[b"digest"] in found:  # and nobody else's by now
            await _clear_index(client, target)
        raise
    if is_moved:
        await _clear_index(client, source)
    return copied


async def _transfer_keys(client: Client, keys: list[str], tags: dict[str, str]) -> int:
    pipe: Any = client.pipeline(transaction=False)
    for key in keys:
        pipe.dump(key)
    dumps = await pipe.execute() if keys else []
    pipe = client.pipeline(transaction=False)
    count = 0
    for key, dump in zip(keys, dumps, strict=True):
        if dump is not None:
            tag = _hash_tag(key)
            pipe.restore(f"{{{tags[tag]}}}{key[len(tag) + 2 :]}", 0, dump, replace=True)
            count += 1
    if count:
        await pipe.execute()
    return count


async def _see_the_same(client: Client, namespace: str, before: dict[str, Any]) -> None:
    if before != await _read_states(client, namespace):
        raise InputError(f"the index {namespace!r} was changed meanwhile: stop its crawls first")


async def _read_states(client: Client, namespace: str) -> dict[str, Any]:
    """All counters, which change with every check, and the overrides."""
    commands: Any = client
    return {
        key: await commands.hgetall(key)
        for name in ("state", "stats", "overrides")
        async for batch in _scan_keys(client, namespace, name)
        for key in batch
    }


@asynccontextmanager
async def slots_at_rest(client: Client) -> AsyncIterator[None]:
    """Raise TryAgainError if slots of a cluster move: a scan could miss their keys."""
    before = await _read_slots(client)
    yield
    if await _read_slots(client) != before:
        raise TryAgainError


async def _read_slots(client: Client) -> dict[str, list[list[str]]]:
    """The slots of each node by its own account. Raises TryAgainError if any are being moved."""
    found = {}
    for node in client.get_primaries() if isinstance(client, RedisCluster) else ():
        nodes = await client.execute_command("CLUSTER NODES", target_nodes=node)
        own = next(one for one in nodes.values() if "myself" in one["flags"])
        if own["migrations"]:
            raise TryAgainError
        found[own["node_id"]] = own["slots"]
    return found


def _head_key(client: Client, namespace: str) -> str:
    """The key of the parameters that decide whether there is an index."""
    keys = head_keys(namespace) if isinstance(client, RedisCluster) else Keys(namespace)
    return keys.params


def _new_tags(source: str, target: str, shards: int) -> dict[str, str]:
    """The hash tag of each shard of the source → the tag of the same shard of the target."""
    parts = zip(shard_tags(source, shards), shard_tags(target, shards), strict=True)
    return {source: target, f"{source}/": f"{target}/", **dict(parts)}


def _hash_tag(key: str) -> str:
    return key[1:].partition("}:")[0]


async def _scan_keys(client: Client, namespace: str, name: str) -> AsyncIterator[list[str]]:
    """The keys of an index whose endings match the pattern `name`, some hundreds at a time."""
    glob, tag = literal_pattern(namespace), re.escape(namespace)
    if isinstance(client, RedisCluster):
        glob, tag = f"{glob}/*", rf"{tag}/(\d+\.\d+)?"  # not another index whose name has a slash
    prefix = re.compile(rf"\{{{tag}\}}:")
    batch: list[str] = []
    async for found in client.scan_iter(match=f"{{{glob}}}:{name}", count=500):
        key = found.decode("utf-8", "surrogateescape")
        if prefix.match(key):
            batch.append(key)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    yield batch
