"""What is said of a server that cannot be used, and what to do."""

from __future__ import annotations

import asyncio
import logging
import re
import resource
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from redis import exceptions as redis_errors

from crawler.dedup.config import DedupConfig
from crawler.dedup.errors import ConfigError, ServerError
from crawler.dedup.index import DuplicateIndex
from crawler.dedup.store.server.faults import explain_fault, is_passing
from crawler.dedup.verdict import Kind
from tests.conftest import Server, free_port, join_cluster, other_programs, wait_until
from tests.store.connecting import SECRET, explained, failure, opened

LUA = Path(__file__).parents[2] / "crawler" / "dedup" / "store" / "lua"


@asynccontextmanager
async def listening(answer: bytes) -> AsyncIterator[str]:
    """The host and port of something that gives one answer to all that it is told."""
    tasks = set()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.current_task())
        try:
            while await reader.read(1000):
                writer.write(answer)
        finally:
            writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        yield f"127.0.0.1:{port}"
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        (f"http://me:{SECRET}@host", "unknown scheme"),
        (f"{SECRET}@host", "no scheme"),
        ("memcached://localhost", "begins with one of redis, rediss, unix"),
        ("localhost:6379", "has no scheme; the form is redis://"),
        (f"redis://:{SECRET}/x@host", "percent-encoded"),
        (f"redis://:x#{SECRET}@host", "has a #"),
        (f"redis://:x?{SECRET}@host", "redis://***@host has an @ after a ?"),
        ("redis://host:port", "host or port"),
        ("redis://host:70000", "host or port"),
        ("redis://host/name", "database that is not a number"),
        ("redis://one,two", "several hosts"),
        ("redis://host?decode_responses=1", "unknown option; known are ssl_ca_certs, "),
        (f"redis://host?password=x&{SECRET}", "unknown option; known are"),
        (f"redis://me:x?{SECRET}", "redis://me:*** has an unknown option"),
        (f"redis://me:x/{SECRET}", "redis://me:*** has a host or port"),
        (f"redis://me:x,{SECRET}", "redis://me:*** has a host or port"),
        (f"redis+cluster://one:6379,two:{SECRET}", "redis+cluster://one:6379,two:*** has a host"),
        ("redis://host?ssl_ca_certs=x", "without the scheme rediss"),
        ("rediss://host?ssl_ca_certs=/nowhere", "ssl_ca_certs that does not exist"),
        ("unix://relative/path", "three slashes"),
        ("redis+sentinel://host", "name of the service"),
        ("redis+cluster://host/1", "a cluster does not have"),
        ("redis+cluster://", "host or port"),
    ],
)
async def test_a_url_that_cannot_be_read(url, said):
    assert said in await failure(url, ConfigError)


@pytest.mark.parametrize("scheme", ["redis", "redis+cluster"])
async def test_a_server_that_is_not_there(scheme):
    assert "nothing listens there" in await failure(f"{scheme}://:{SECRET}@127.0.0.1:1")
    assert "host name is not known" in await failure(f"{scheme}://no-such-host.invalid")


async def test_a_socket_that_is_not_there(tmp_path):
    said = await failure(f"unix://{tmp_path}/socket")
    assert "nothing listens there" in said
    assert "the path of its socket" in said


async def test_what_is_no_server_of_this_kind():
    async with listening(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n") as place:
        assert "does not speak the Redis protocol" in await failure(f"redis://{place}")


async def test_a_server_that_does_not_answer():
    async with listening(b"") as place:
        assert "raise DEDUP_TIMEOUT" in await failure(f"redis://{place}", timeout=0.2)


async def test_wrong_passwords(start_server):
    server = start_server(port=free_port(), requirepass="right")
    place = f"127.0.0.1:{server.port}"
    for login in (f":{SECRET}@", f"me:{SECRET}@"):
        assert "refuses the user name or password" in await failure(f"redis://{login}{place}")
    assert "asks for a password; add it to DEDUP_REDIS_URL" in await failure(f"redis://{place}")


async def test_a_password_where_none_is_set(start_server):
    server = start_server(port=free_port())
    text = await failure(f"redis://:{SECRET}@127.0.0.1:{server.port}")
    assert "the server has no password" in text


async def test_a_user_who_may_do_little(start_server, caplog):
    """As on servers managed by others, which forbid CONFIG and perhaps INFO."""
    server = start_server(port=free_port(), maxmemory="1gb", maxmemory_policy="allkeys-lru")
    server.ask("ACL", "SETUSER", "me", "on", f">{SECRET}", "~*", "+ping", "+get", "+@connection")
    async with opened(f"redis://me:{SECRET}@127.0.0.1:{server.port}") as client:
        assert await client.get("key") is None
        assert "lacks a permission" in await explained(client.set("key", "value"))
        assert not caplog.records


@pytest.mark.parametrize("name", ["", *other_programs()])
@pytest.mark.parametrize("command", ["evalsha", "rpush"])
async def test_a_permission_that_is_taken_away(start_server, name, command):
    """Of scripts themselves, or of what they call, which servers tell in other words."""
    server = start_server(port=free_port(), program=other_programs().get(name))
    server.ask("ACL", "SETUSER", "me", "on", f">{SECRET}", "~*", "+@all")
    config = DedupConfig(redis_url=f"redis://me:{SECRET}@127.0.0.1:{server.port}")
    async with DuplicateIndex.open(config) as index:
        server.ask("ACL", "SETUSER", "me", f"-{command}")
        with pytest.raises(ServerError, match="lacks a permission"):
            await index.check("http://a/", "six words that tell the page")


async def test_a_permission_that_is_missing(start_server):
    """No crawl begins, whose checks would end in their middle and leave half of what they write."""
    server = start_server(port=free_port())
    config = DedupConfig(redis_url=f"redis://me:{SECRET}@127.0.0.1:{server.port}")
    paths = [path for path in LUA.rglob("*.lua") if path.parent.name != "cluster"]
    scripts = "".join(path.read_text(encoding="utf-8") for path in paths)
    commands = {name.lower() for name in re.findall(r"redis\.call\('(\w+)'", scripts)}
    assert {"rpush", "hset"} < commands
    for command in sorted(commands):
        server.ask("ACL", "SETUSER", "me", "on", f">{SECRET}", "~*", "+@all", f"-{command}")
        with pytest.raises(ServerError, match="lacks a permission"):
            async with DuplicateIndex.open(config):
                pass
        assert not server.ask("DBSIZE"), command


@pytest.mark.parametrize("kind", ["server", "cluster"])
async def test_too_many_open_files(kind, request):
    url = request.getfixturevalue({"server": "redis_url", "cluster": "cluster_url"}[kind])
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1, limits[1]))  # what is open stays open
    try:
        text = await failure(url)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert "ulimit -n" in text


async def test_the_permissions_that_are_documented_suffice(start_server):
    server = start_server(port=free_port())
    text = (Path(__file__).parents[2] / "docs" / "howto" / "server.md").read_text(encoding="utf-8")
    rule = next(line.split() for line in text.splitlines() if "ACL SETUSER crawl" in line)
    server.ask(*rule)
    config = DedupConfig(redis_url=f"redis://crawl:password@127.0.0.1:{server.port}")
    page = " ".join(f"word{number}" for number in range(50))
    async with DuplicateIndex.open(config) as index:
        assert (await index.check("https://example.com/", page)).kind is Kind.UNIQUE
        assert (await index.check("https://example.com/copy", page)).kind is Kind.EXACT
        assert (await index.check("https://example.com/", page)).kind is Kind.UNCHANGED
        await index.stats()
        await index.forget("https://example.com/")


async def test_an_evicting_server_is_warned_of(start_server, caplog):
    server = start_server(maxmemory="1gb", maxmemory_policy="allkeys-lru")
    async with opened(server.url):
        (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert "silently loses pages. Set the policy to noeviction" in record.getMessage()


async def test_a_clock_that_is_wrong_is_warned_of(server, monkeypatch, caplog):
    """A machine that is hours ahead has seen pages after they are gone, or ends what others saw."""
    clock = time.time
    async with opened(server.url), opened(server.url, ttl=1000):
        assert not caplog.records
    monkeypatch.setattr(time, "time", lambda: clock() + 3600)
    for ttl in None, 1000, 90 * 86_400:
        async with opened(server.url, ttl=ttl):
            (record,) = caplog.records
        assert "differ by 3600 seconds" in record.getMessage()
        caplog.clear()
    monkeypatch.setattr(time, "time", lambda: clock() + 50)
    async with opened(server.url), opened(server.url, ttl=1000):
        assert not caplog.records
    async with opened(server.url, ttl=60):  # a page would be there for ten seconds, or for 110
        assert "differ by 50 seconds" in caplog.text


async def test_a_clock_of_a_cluster_is_warned_of_once(cluster_url, monkeypatch, caplog):
    """However many of its nodes have another."""
    clock = time.time
    monkeypatch.setattr(time, "time", lambda: clock() + 86_400)
    async with opened(cluster_url, ttl=1000):
        (record,) = caplog.records
    assert "differ by 86400 seconds" in record.getMessage()


async def test_a_full_server(start_server):
    server = start_server(maxmemory="1", maxmemory_policy="noeviction")
    script = "return redis.call('SET', KEYS[1], 1)"
    async with opened(server.url) as client:
        assert "the server is full" in await explained(client.set("key", "value"))
        assert "the server is full" in await explained(client.eval(script, 1, "key"))
    with pytest.raises(ServerError, match=f"^DEDUP_REDIS_URL {server.url}: the server is full"):
        async with DuplicateIndex.open(DedupConfig(redis_url=server.url)):
            pass


async def test_a_server_without_the_replicas_that_it_wants(start_server):
    """It may want them for good: a failover need not be under way."""
    server = start_server()
    async with DuplicateIndex.open(DedupConfig(redis_url=server.url)) as index:
        server.ask("CONFIG", "SET", "min-replicas-to-write", 1)
        with pytest.raises(ServerError, match=r"min-replicas-to-write.*check its replicas"):
            await index.check("http://a/", "some text")


async def test_keys_of_somebody_else(server, redis_url):
    """Whoever has put something else under a key of the index is told so, not in Redis's words."""
    server.ask("SET", "{dedup}:params", "mine")
    with pytest.raises(ServerError, match="another DEDUP_NAMESPACE"):
        async with DuplicateIndex.open(DedupConfig(redis_url=redis_url)):
            pass
    server.ask("DEL", "{dedup}:params")
    async with DuplicateIndex.open(DedupConfig(redis_url=redis_url)) as index:
        server.ask("RPUSH", "{dedup}:url:0", "mine")
        with pytest.raises(ServerError, match="another DEDUP_NAMESPACE"):
            await index.verify()


async def test_a_read_only_replica(start_server):
    server = start_server()
    async with opened(server.url) as client:
        server.ask("REPLICAOF", "127.0.0.1", 1)
        assert "read-only replica" in await explained(client.set("key", "value"))
    assert "read-only replica" in await failure(server.url)


async def test_a_server_that_loads_its_data(start_server):
    server = start_server(
        key_load_delay=20_000, rdbcompression="no", loading_process_events_interval_bytes=1024
    )
    server.ask("MSET", *("x" * 2000 + str(n) for n in range(160)))
    server.ask("SAVE")
    server.kill()
    server.start()
    assert "still loading" in await failure(server.url, timeout=0.2)
    async with opened(server.url) as client:
        assert await client.dbsize() == 80


async def test_a_script_that_does_not_end(start_server):
    server = start_server(busy_reply_threshold=100)
    async with opened(server.url) as client:
        slow = asyncio.create_task(explained(client.eval("while true do end", 0)))
        await asyncio.sleep(0.3)
        assert "busy with a slow script of another client" in await explained(client.get("key"))
        server.ask("SCRIPT", "KILL")
        assert "SCRIPT KILL; check again" in await slow


async def test_a_cluster_and_no_cluster(cluster, server, start_server):
    assert "use redis+cluster://" in await failure(cluster[0].url)
    alone = start_server(port=free_port())
    url = f"redis+cluster://127.0.0.1:{alone.port}"
    assert "not part of a cluster; use redis://" in await failure(url)


async def test_a_node_that_does_not_tell_the_slots(start_server):
    """It answers with an error, which is not that there is no cluster."""
    (node,) = join_cluster(start_server, 1, busy_reply_threshold=100)
    url = f"redis+cluster://127.0.0.1:{node.port}"
    slow = asyncio.create_task(asyncio.to_thread(node.ask, "EVAL", "while true do end", 0))
    await asyncio.sleep(0)
    wait_until(lambda: is_busy(node))
    assert "busy with a slow script of another client" in await failure(url)
    node.ask("SCRIPT", "KILL")
    with pytest.raises(redis_errors.ResponseError, match="SCRIPT KILL"):
        await slow
    node.ask("ACL", "SETUSER", "default", "-cluster")
    assert "lacks a permission" in await failure(url)


def is_busy(node: Server) -> bool:
    try:
        node.ask("PING")
    except redis_errors.ResponseError:
        return True
    return False


async def test_nodes_of_two_clusters(start_server):
    nodes = [start_server(port=free_port(), cluster_enabled="yes") for _ in range(2)]
    for node in nodes:
        node.ask("CLUSTER", "ADDSLOTSRANGE", 0, 100)
    hosts = ",".join(f"127.0.0.1:{node.port}" for node in nodes)
    assert "the cluster is down" in await failure(f"redis+cluster://{hosts}")


async def test_a_cluster_that_is_down(start_server):
    node = start_server(port=free_port(), cluster_enabled="yes")
    assert "the cluster is down" in await failure(f"redis+cluster://127.0.0.1:{node.port}")


@pytest.mark.parametrize(
    ("error", "said", "passing"),
    [
        (redis_errors.ResponseError("MISCONF Errors writing to the AOF file"), "disk", True),
        (
            redis_errors.ResponseError("Error running script: @user_script: 1: -OOM command not"),
            "full",  # as Redis 6.2 says it
            True,
        ),
        (redis_errors.ConnectionError("max number of clients reached"), "maxclients", True),
        (redis_errors.MasterDownError("Link with MASTER is down"), "failover", True),
        (redis_errors.AuthenticationError("Authentication required."), "password", False),
        (
            redis_errors.ResponseError(
                f"unknown command 'AUTH', with args beginning with: '{SECRET}'"
            ),
            "ResponseError: unknown command 'AUTH'",
            False,
        ),
        (ValueError(f"redis://me:{SECRET}@host"), "ValueError: redis://***@host", False),
    ],
)
def test_failures_that_servers_here_do_not_show(error, said, passing):
    assert said in explain_fault(error)
    assert SECRET not in explain_fault(error)
    assert is_passing(error) is passing
