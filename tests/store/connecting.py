"""Connections to a server, and what is said of those that fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from redis import exceptions as redis_errors

from crawler.dedup.config import DedupConfig
from crawler.dedup.errors import DedupError, ServerError
from crawler.dedup.store.server.connect import open_server
from crawler.dedup.store.server.faults import explain_fault
from tests.conftest import Server

SECRET = "hunter2"
StartServer = Callable[..., Server]


def opened(url: str, **settings: Any):
    return open_server(DedupConfig(redis_url=url, **settings))


async def failure(url: str, kind: type[DedupError] = ServerError, **settings: Any) -> str:
    with pytest.raises(kind) as caught:
        async with opened(url, **settings):
            pass
    text = str(caught.value)
    assert text.startswith("DEDUP_REDIS_URL ")
    assert SECRET not in text
    return text


async def explained(asking: Any) -> str:
    with pytest.raises((redis_errors.RedisError, redis_errors.RedisClusterException)) as caught:
        await asking
    return explain_fault(caught.value)
