"""Permissions of the server's user that change while pages are checked: no script half runs."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable

import pytest

from crawler.dedup import DedupConfig, DuplicateIndex, ServerError
from crawler.dedup.store.keys import FAMILIES, FIXED
from crawler.dedup.store.scripts import load_script
from tests.conftest import Server, free_port, join_cluster
from tests.support.texts import article, changed, text

SCRIPTS = "check", "begin", "claim", "settle", "drop", "bury"
COMMANDS = sorted(
    {
        name.lower()
        for script in SCRIPTS
        for name in re.findall(r"redis\.p?call\('(\w+)'", load_script(script).text)
    }
)


@pytest.mark.parametrize("shards", [0, 1, 16])
async def test_a_permission_taken_away_leaves_nothing_half_done(
    start_server: Callable[..., Server], shards: int
) -> None:
    """The server takes back nothing that a script has written before a command is forbidden."""
    nodes = join_cluster(start_server, 3) if shards else [start_server(port=free_port())]
    for node in nodes:
        node.ask("ACL", "SETUSER", "me", "on", ">password", "~*", "+@all")
    place = f"me:password@127.0.0.1:{nodes[0].port}"
    url = f"redis+cluster://{place}" if shards else f"redis://{place}"
    config = DedupConfig(redis_url=url, shards=max(1, shards), timeout=1, containment=0.8)
    errors = set()
    async with DuplicateIndex.open(config) as index:
        for turn, command in enumerate(COMMANDS):
            pages = [
                (f"http://{site}/{n}", text(changed(article(20 * turn + n, 200), 1, seed=site)))
                for site in range(2)
                for n in range(4)
            ]
            await index.check_many(pages[:2])
            for node in nodes:
                node.ask("ACL", "SETUSER", "me", f"-{command}")
            changes = [(url, told + " at last") for url, told in pages]
            asked = [index.check(*page) for page in changes] + [index.forget(pages[0][0])]
            errors |= {
                str(one)
                for one in await asyncio.gather(*asked, return_exceptions=True)
                if isinstance(one, ServerError)
            }
            for node in nodes:
                node.ask("ACL", "SETUSER", "me", f"+{command}")
    assert any("(ACL) to run rpush;" in error for error in errors)
    await asyncio.sleep(0.5)  # the time that an attempt may take
    async with DuplicateIndex.open(config) as index:
        assert (await index.verify()).faults == []


@pytest.mark.parametrize("missing", [*FIXED, *FAMILIES])
async def test_keys_that_are_forbidden(redis_url: str, server: Server, missing: str) -> None:
    """No crawl begins with a user who may use some keys of the index, and not others."""
    others = [f"~{{dedup}}:{name}*" for name in (*FIXED, *FAMILIES) if name != missing]
    config = DedupConfig(redis_url=redis_url.replace("//", "//me:password@"))
    for keys in others, [*others, f"%R~{{dedup}}:{missing}*"]:
        server.ask("ACL", "SETUSER", "me", "reset", "on", ">password", "+@all", *keys)
        with pytest.raises(ServerError, match="lacks a permission"):
            async with DuplicateIndex.open(config):
                pass
        assert not server.ask("DBSIZE")
