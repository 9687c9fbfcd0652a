"""Servers of all kinds: sockets, passwords, TLS, Sentinel, clusters."""

from __future__ import annotations

import asyncio
import datetime
import signal
import socket
import ssl
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import redis
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from redis import exceptions as redis_errors
from redis.asyncio import Redis, RedisCluster

from crawler.dedup.config import DedupConfig
from crawler.dedup.errors import ServerError
from crawler.dedup.index import DuplicateIndex
from crawler.dedup.store.server.cluster_client import CONNECTIONS, OF_KEYS, OF_ONE_KEY
from crawler.dedup.store.server.connect import Client
from crawler.dedup.store.server.faults import explain_fault, is_passing
from crawler.dedup.store.server.private import server_binary
from crawler.dedup.verdict import Kind
from tests.conftest import Server, free_port, join_cluster, wait_until
from tests.store.connecting import SECRET, explained, failure, opened
from tests.support.workers import end_with_parent


async def keeps_a_value(client: Client) -> None:
    await client.set("key", "value")
    assert await client.get("key") == b"value"


async def test_a_server_on_a_socket(redis_url):
    async with opened(redis_url) as client:
        await keeps_a_value(client)
        assert await client.ping()


async def test_a_server_on_a_port_with_a_password_and_a_database(start_server):
    server = start_server(port=free_port(), requirepass="p@ss/word")
    url = f"redis://:p%40ss%2Fword@127.0.0.1:{server.port}/3"
    async with opened(url) as client:
        await keeps_a_value(client)
        assert (await client.client_info())["db"] == 3


@pytest.mark.parametrize("kind", ["server", "cluster"])
async def test_more_pages_than_connections_wait_for_their_turn(kind, request):
    url = request.getfixturevalue({"server": "redis_url", "cluster": "cluster_url"}[kind])
    async with opened(url) as client:
        results = await asyncio.gather(*(client.incr(f"key {n}") for n in range(300)))
        assert results == [1] * 300

        async def pipeline(number: int) -> list[int]:
            pipe = client.pipeline()
            for n in range(10):
                pipe.incr(f"{number} {n}")
            return await pipe.execute()

        assert await asyncio.gather(*map(pipeline, range(30))) == [[1] * 10] * 30
        if isinstance(client, Redis):
            assert len(await client.client_list()) <= CONNECTIONS + 1
        else:
            for node in client.get_primaries():
                assert len(await client.client_list(target_nodes=node)) <= CONNECTIONS + 2


async def test_a_lost_connection_is_made_again(redis_url, server):
    async with opened(redis_url) as client:
        await client.set("key", "value")
        server.ask("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        assert await client.get("key") == b"value"


async def test_a_server_that_ended_while_nothing_was_asked(start_server):
    """Nobody listens where it was, whatever the client makes of its old connection."""
    server = start_server(port=free_port())
    async with opened(server.url) as client:
        await client.ping()
        server.kill()
        await asyncio.sleep(0.1)  # the client sees the end of the connection
        assert "nothing listens there" in await explained(client.ping())
    server.start()


@pytest.mark.parametrize("kind", ["server", "cluster"])
async def test_a_time_out_is_not_repeated(start_server, kind):
    """To ask a slow server again would only make it slower."""
    if kind == "server":
        server = start_server()
        url = server.url
    else:
        first, _, server = join_cluster(start_server, 3)  # the last one has the key
        url = f"redis+cluster://127.0.0.1:{first.port}"
    async with opened(url, timeout=0.3) as client:
        server.process.send_signal(signal.SIGSTOP)
        begin = asyncio.get_running_loop().time()
        try:
            assert "raise DEDUP_TIMEOUT" in await explained(client.get("key"))
        finally:
            server.process.send_signal(signal.SIGCONT)
        assert asyncio.get_running_loop().time() - begin < 1


COMMANDS = """DUMP a
GET a
HDEL a b
HEXISTS a b
HGET a b
HGETALL a
HINCRBY a b 1
HSET a b c
HSETNX a b c
LINDEX a 0
LPUSH a b
LSET a 0 b
MEMORY USAGE a
RESTORE a 0 b
SET a b
EXISTS a b
UNLINK a b
BITOP AND a b"""


async def test_a_cluster_is_not_asked_for_all_commands(cluster_url, cluster):
    """To read them takes a tenth of a second; of those that are used the keys are known."""
    for node in cluster:
        node.ask("CONFIG", "RESETSTAT")
    async with DuplicateIndex.open(DedupConfig(redis_url=cluster_url)) as index:
        assert (await index.check("http://a/", "tea")).kind is Kind.SHORT
        assert await index.show("http://a/")
        assert (await index.stats()).urls == 1
        asked = [node.ask("INFO", "commandstats").keys() for node in cluster]
        assert any("cmdstat_hget" in names for names in asked)
        assert not any("cmdstat_command" in names for names in asked)
        keys: Any = index.store._client.commands_parser
        looked_up = set[str]()
        with redis.Redis(unix_socket_path=str(cluster[0].socket), protocol=2) as client:
            client.response_callbacks.clear()
            for words in [line.split() for line in COMMANDS.splitlines()]:
                found = client.execute_command("COMMAND GETKEYS", *words)
                if words[0] == "MEMORY":
                    words[:2] = ["MEMORY USAGE"]
                assert [*await keys.get_keys(*words)] == [name.decode() for name in found], words
                looked_up.add(words[0])
        assert looked_up > OF_ONE_KEY | OF_KEYS


async def test_a_cluster(cluster_url, cluster):
    first, *others = (f"127.0.0.1:{node.port}" for node in cluster)
    for url in (cluster_url, f"redis+cluster://127.0.0.1:1,{','.join(others)},{first}"):
        async with opened(url) as client:
            assert isinstance(client, RedisCluster)
            await keeps_a_value(client)


def is_open(port: int) -> bool:
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def sentinel(
    start_server: Callable[..., Server], tmp_path: Path
) -> Iterator[tuple[str, Server, Server]]:
    """The address of a sentinel with a password, and the primary and replica that it guards."""
    options = {"requirepass": SECRET, "repl_diskless_sync_delay": 0}
    primary, replica = (start_server(port=free_port(), **options) for _ in range(2))
    replica.ask("CONFIG", "SET", "primaryauth", SECRET, password=SECRET)
    replica.ask("REPLICAOF", "127.0.0.1", primary.port, password=SECRET)
    primary.ask("SET", "key", "value", password=SECRET)
    assert primary.ask("WAIT", 1, 5000, password=SECRET) == 1
    port = free_port()
    (tmp_path / "conf").write_text(
        f"port {port}\n"
        f"requirepass sentinel-{SECRET}\n"
        f"sentinel monitor crawl 127.0.0.1 {primary.port} 1\n"
        f"sentinel auth-pass crawl {SECRET}\n"
        "sentinel down-after-milliseconds crawl 300\n"
        "sentinel failover-timeout crawl 2000\n"
    )
    process = subprocess.Popen(
        end_with_parent(server_binary(), tmp_path / "conf", "--sentinel"),
        stdout=subprocess.DEVNULL,
    )
    wait_until(lambda: is_open(port))
    yield f"127.0.0.1:1,127.0.0.1:{port}/crawl", primary, replica
    process.kill()
    process.wait()


async def test_a_sentinel_and_a_server_named_as_each_other(sentinel):
    """The message says what to write instead."""
    hosts, primary, _ = sentinel
    plain = f"redis+sentinel://:{SECRET}@127.0.0.1:{primary.port}/crawl?sentinel_password={SECRET}"
    assert "is not a sentinel" in await failure(plain)
    place = hosts.partition("/")[0].rpartition(",")[2]
    named = f"redis://:sentinel-{SECRET}@{place}"
    with pytest.raises(ServerError, match=r"redis\+sentinel://") as caught:
        async with DuplicateIndex.open(DedupConfig(redis_url=named)):
            pass
    assert SECRET not in str(caught.value)


async def test_a_failover_under_sentinels(sentinel):
    """While the primary is gone each page gets a clear answer, and then the replica serves."""
    hosts, primary, replica = sentinel
    url = f"redis+sentinel://:{SECRET}@{hosts}"
    assert "sentinel_password" in await failure(url)
    assert "primary of that name" in await failure(
        url.replace("crawl", "other") + f"?sentinel_password=sentinel-{SECRET}"
    )
    async with opened(f"{url}?sentinel_password=sentinel-{SECRET}", timeout=2) as client:
        await keeps_a_value(client)
        await client.wait(1, 1000)
        sentinels = client.connection_pool.sentinel_manager
        async with asyncio.timeout(10):
            while not await sentinels.discover_slaves("crawl"):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        primary.kill()
        errors = []
        while True:
            try:
                assert await client.get("key") == b"value"
                break
            except redis_errors.RedisError as error:
                errors.append(error)
                await asyncio.sleep(0.1)
        assert all(map(is_passing, errors)), [*map(explain_fault, errors)]
        assert (await client.info("server"))["tcp_port"] == replica.port


@pytest.fixture(scope="module")
def certificate(tmp_path_factory) -> Path:
    """A file with a key and a certificate for this machine, signed by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    signed = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + signed.public_bytes(serialization.Encoding.PEM)
    )
    return path


@asynccontextmanager
async def encrypted(server: Server, certificate: Path, **options: Any) -> AsyncIterator[int]:
    """The port of a proxy that speaks TLS, as the server of the tests is built without it."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=certificate)
    context.load_cert_chain(certificate)
    context.verify_mode = options.get("verify_mode", ssl.CERT_NONE)
    tasks = set()

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)
        writer.close()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.current_task())
        inner_reader, inner_writer = await asyncio.open_unix_connection(server.socket)
        try:
            await asyncio.gather(pump(reader, inner_writer), pump(inner_reader, writer))
        finally:
            for end in (writer, inner_writer):
                end.close()

    proxy = await asyncio.start_server(talk, "localhost", 0, ssl=context)
    async with proxy:
        yield proxy.sockets[0].getsockname()[1]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def test_tls_with_an_authority_of_ones_own(server, certificate):
    async with encrypted(server, certificate) as port:
        async with opened(f"rediss://localhost:{port}?ssl_ca_certs={certificate}") as client:
            await keeps_a_value(client)
        assert "certificate is not trusted (self-signed" in await failure(
            f"rediss://localhost:{port}"
        )
        assert "certificate is not trusted (IP address mismatch" in await failure(
            f"rediss://127.0.0.1:{port}?ssl_ca_certs={certificate}"
        )
        assert "use rediss://" in await failure(f"redis://localhost:{port}", timeout=1)


async def test_tls_with_a_certificate_of_the_client(server, certificate):
    async with encrypted(server, certificate, verify_mode=ssl.CERT_REQUIRED) as port:
        url = f"rediss://localhost:{port}?ssl_ca_certs={certificate}"
        async with opened(f"{url}&ssl_certfile={certificate}&ssl_keyfile={certificate}") as client:
            await keeps_a_value(client)
        assert await failure(url)


async def test_tls_with_a_server_that_does_not_speak_it(start_server):
    server = start_server(port=free_port())
    text = await failure(f"rediss://127.0.0.1:{server.port}", timeout=0.3)
    assert "use redis:// if it does not speak TLS" in text
