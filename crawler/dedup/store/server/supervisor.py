"""The supervisor: runs the private server while somebody uses it, then shuts it down.

It is run by its path, not imported: with the standard library alone it starts in 30 ms and stays
small. Its whole state is in locks in the data folder, its working directory. The kernel releases
them however their holders end:

``users.lock``   shared by all users; if the supervisor gets it exclusively, no user is left
``supervisor.lock``  held by the one supervisor; inherited, so that somebody always holds it
``server.lock``  held by the server itself, so that no second one ever opens the same files
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import socket
import subprocess
import sys
import threading
import time

SERVER_OPTIONS = {
    "port": "0",
    "unixsocket": "server.sock",
    "unixsocketperm": "600",
    "save": "",
    "appendonly": "yes",
    # With "everysec" and a slow disk, the server may answer before it has written, and lose that
    # write if it is killed. So it writes without fsync, and the supervisor calls fsync.
    "appendfsync": "no",
    "aof-load-truncated": "yes",
    "maxmemory-policy": "noeviction",
    "databases": "1",
    # A check reads ten buckets all over the memory; large pages make them faster to find.
    "disable-thp": "no",
}
# Makes glibc ask for large pages, where the system only gives them on request. It also makes glibc
# cache more freed blocks of each size: searching for free blocks reads memory all over the place.
MEMORY = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1:glibc.malloc.tcache_count=50"}
# Seconds that a server may take to stop. A server that does not react, as after SIGSTOP, is then
# killed. Users who come meanwhile wait for longer.
STOPPING = 10.0


def main(binary: str) -> None:
    """Start the server, or take over one whose supervisor died; stay as long as it runs."""
    if os.fork():
        os._exit(0)  # The user's process reaps this one, and is not the supervisor's parent.
    users = os.open("users.lock", os.O_RDWR)
    server = os.open("server.lock", os.O_RDWR | os.O_CREAT, 0o600)
    child = None
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(server, fcntl.LOCK_EX | fcntl.LOCK_NB)
        options = [word for name, value in SERVER_OPTIONS.items() for word in ("--" + name, value)]
        _remove_remains()
        child = subprocess.Popen([binary, *options], pass_fds=(server,), env=MEMORY | os.environ)
    os.close(server)
    threading.Thread(target=_stop_when_alone, args=(users, child), daemon=True).start()
    threading.Thread(target=_every_second, daemon=True).start()
    fcntl.flock(os.open("server.lock", os.O_RDWR), fcntl.LOCK_EX)
    if child is not None:
        child.wait()
    os._exit(0)  # The server is gone, and with this process all its locks.


def _remove_remains() -> None:
    """Remove the temporary files of servers that were killed while they rewrote their data."""
    with contextlib.suppress(OSError):  # a server also runs in a folder that cannot be listed
        for entry in os.scandir():
            if entry.name.startswith("temp-rewriteaof-"):
                os.unlink(entry.name)  # noqa: PTH108 pathlib would take long to import


def _every_second() -> None:
    while True:
        time.sleep(1)
        with contextlib.suppress(OSError):  # no folder yet, or no longer
            bring_to_disk()


def bring_to_disk() -> None:
    """Wait until the server's latest changes, as far as it has written them, are on the disk."""
    for entry in os.scandir("appendonlydir"):
        if entry.name.endswith(".incr.aof"):
            file = os.open(entry.path, os.O_RDONLY)
            try:
                os.fsync(file)
            finally:
                os.close(file)


def _stop_when_alone(users: int, child: subprocess.Popen[bytes] | None) -> None:
    # Held from here to the end: a user who comes now waits, then starts the next server.
    fcntl.flock(users, fcntl.LOCK_EX)
    deadline = time.monotonic() + STOPPING
    pid = 0 if child is None else child.pid
    while True:
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(1)
                connection.connect("server.sock")
                pid = pid or _listening_process(connection)
                # The append-only file is flushed all the same; there is no snapshot to save.
                connection.sendall(b"SHUTDOWN NOSAVE FORCE\r\n")
                connection.recv(1024)
        except OSError:
            # Still starting, or its folder was removed.
            if child is not None:
                child.terminate()
        if pid and time.monotonic() > deadline:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)  # all changes that it has answered are in its files
            return
        time.sleep(0.05)


def _listening_process(connection: socket.socket) -> int:
    """The process that listens at the other end; 0 where the system does not tell."""
    if not hasattr(socket, "SO_PEERCRED"):
        return 0
    found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    return int.from_bytes(found[:4], sys.byteorder)


if __name__ == "__main__":
    main(sys.argv[1])
