"""Every kind of server is reached, and each failure says in one sentence what to do."""

from __future__ import annotations

from typing import Any

import pytest
from redis.asyncio import RedisCluster

from crawler.dedup.config import DedupConfig
from crawler.dedup.errors import ServerError
from crawler.dedup.store.connect import open_server


async def failure(url: str, **settings: Any) -> str:
    with pytest.raises(ServerError) as caught:
        async with open_server(DedupConfig(redis_url=url, **settings)):
            pass
    return str(caught.value)


async def test_a_server_on_a_socket(redis_url):
    async with open_server(DedupConfig(redis_url=redis_url)) as client:
        await client.set("key", "value")
        assert await client.get("key") == b"value"


async def test_a_cluster(cluster_url):
    async with open_server(DedupConfig(redis_url=cluster_url)) as client:
        assert isinstance(client, RedisCluster)
        await client.set("key", "value")
        assert await client.get("key") == b"value"
