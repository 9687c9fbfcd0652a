"""Indexes that are spread over all nodes of a cluster."""

from __future__ import annotations

import asyncio
from typing import Any

from crawler.dedup import DedupConfig, ServerError

SHARDS = 16


def configured(url: str, **settings: object) -> DedupConfig:
    return DedupConfig(redis_url=url, shards=SHARDS, **settings)  # type: ignore[arg-type]


async def end_but(others: set[asyncio.Task[Any]]) -> None:
    """End what was begun beside these tasks, as it ends with its worker."""
    while ended := asyncio.all_tasks() - others:
        for one in ended:
            one.cancel()
        await asyncio.wait(ended)


def dying(ask):
    """Asks as a worker does that is killed before it settles what it has begun."""

    async def ask_until_then(calls, seconds):
        if calls[0].script == "settle":
            raise ServerError("killed")
        return await ask(calls, seconds)

    return ask_until_then
