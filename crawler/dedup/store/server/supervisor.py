"""The supervisor: runs the private server while somebody uses it, then shuts it down.

It is run by its path, not imported: with the standard library alone it starts in 30 ms and stays
small. All it knows stands in the data folder, its working directory, as locks that the kernel lets
go of however their holders end:

``users.lock``   shared by all users; the supervisor that gets it alone has none left
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
    # With "everysec" it may answer before it has written, if the disk is slow: killed then, it has
    # lost what it answered. So it only writes, and the supervisor brings that to the disk.
    "appendfsync": "no",
    "aof-load-truncated": "yes",
    "maxmemory-policy": "noeviction",
    "databases": "1",
    # A check reads ten buckets anywhere in memory, which the processor has to find by its pages.
    "disable-thp": "no",
}
# Has glibc ask for large pages, where the system gives them to who asks, and keep at hand, of each
# size, some of the memory that scripts give back: to look for it is to read what lies beside it.
MEMORY = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1:glibc.malloc.tcache_count=50"}
# Seconds that a server may take to stop; one that hears nothing, as after SIGSTOP, is killed
# then. Who comes meanwhile waits for longer.
STOPPING = 10.0


def main(binary: str) -> None:
    """Start the server, or take over one whose supervisor died; stay as long as it runs."""
    if os.fork():
        os._exit(0)  # Whoever started the supervisor reaps this process, and is not its parent.
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
    """Remove what servers that were killed while they wrote their data anew had written of them."""
    with contextlib.suppress(OSError):  # a server runs in a folder that cannot be listed, too
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
                os.kill(pid, signal.SIGKILL)  # all that it has answered is in its files
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
