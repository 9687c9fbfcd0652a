"""What lies in DEDUP_DATA_DIR: nobody else can read it, and a server there comes to its end."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest

from crawler.dedup import DedupConfig, DuplicateIndex, Kind, ServerError
from crawler.dedup.archive.writer import ArchiveWriter
from crawler.dedup.exchange.spool import Spool
from crawler.dedup.store.messages import Gone
from crawler.dedup.store.server import supervisor
from crawler.dedup.verdict import Verdict
from tests.conftest import Server


def test_texts_and_pages_that_wait_are_for_their_user_alone(tmp_path: Path) -> None:
    """Whatever the umask, and though an earlier version has left a file that others can read."""
    folder = tmp_path / "project" / "dedup"
    config = DedupConfig(data_dir=folder)
    before = os.umask(0)
    try:
        for _ in range(2):
            Spool(folder, "index").add([Gone("http://host/", 7)])
            writer = ArchiveWriter.of(config, "digest")
            assert writer is not None
            writer.add("text", "", Verdict(Kind.UNIQUE, "http://host/"))
            writer.close()
            modes = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}
            assert modes == {
                "archive-dedup@digest.sqlite": 0o600,
                "unchecked.jsonl": 0o600,
                "unchecked.lock": 0o600,
            }
            assert folder.stat().st_mode & 0o777 == 0o700
            for path in folder.iterdir():
                path.chmod(0o666)
    finally:
        os.umask(before)


async def test_a_path_and_a_tmpdir_too_long_for_a_socket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reason is said at once; no folder is left."""
    folder, temporary = tmp_path / ("p" * 110), tmp_path / ("t" * 100)
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    with pytest.raises(ServerError, match=r"longer than the system allows .*TMPDIR .*t: set one"):
        async with asyncio.timeout(5), DuplicateIndex.open(DedupConfig(data_dir=folder)):
            pass
    assert not list(temporary.iterdir())


@pytest.mark.parametrize("is_child", [True, False])
def test_a_server_that_was_stopped_is_ended(
    start_server: Callable[..., Server],
    monkeypatch: pytest.MonkeyPatch,
    is_child: bool,
) -> None:
    """When its last user leaves it hears nothing; after a while it is killed."""
    server = start_server()
    (server.folder / "server.sock").symlink_to(server.socket)
    monkeypatch.chdir(server.folder)
    monkeypatch.setattr(supervisor, "STOPPING", 0.2)
    server.process.send_signal(signal.SIGSTOP)
    with (server.folder / "users.lock").open("w") as users:
        child = server.process if is_child else None
        Thread(
            target=supervisor._stop_when_alone, args=(users.fileno(), child), daemon=True
        ).start()
        assert server.process.wait(10) == -signal.SIGKILL
        fcntl.flock(users, fcntl.LOCK_UN)


async def test_a_spool_of_garbage_is_set_aside_once(
    redis_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What is no request of any index is moved and told of; what is one stays."""
    config = DedupConfig(redis_url=redis_url, data_dir=tmp_path)
    spool = tmp_path / "unchecked.jsonl"
    Spool(tmp_path, "other digest").add([Gone("http://host/", 7)])
    wanted = spool.read_bytes()
    spool.write_bytes(os.urandom(3 << 20).replace(b"\n", b" ") + b"\n" + wanted + b"{}\n[\n")
    for _ in range(2):
        async with DuplicateIndex.open(config, spool=True) as index:
            assert index.spooled()[1] == (0, 1)
    assert spool.read_bytes() == wanted
    assert (tmp_path / "unchecked.damaged").stat().st_size == (3 << 20) + len(b"\n{}\n[\n")
    (told,) = [record.getMessage() for record in caplog.records if "unchecked" in record.message]
    assert told.startswith("3 lines among the waiting pages in DEDUP_DATA_DIR")
