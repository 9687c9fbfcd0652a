"""Files and folders that only their user can read: they hold texts of crawled pages."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def make_private_folder(path: Path) -> None:
    """Make a folder, with those above it, unless it is there; raises :class:`OSError`."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)


def private_opener(path: str, flags: int) -> int:
    """Open a file like :func:`os.open`, so that no other user can read it.

    Pass it to :func:`open` as `opener`.
    """
    file = os.open(path, flags, 0o600)
    if flags & (os.O_WRONLY | os.O_RDWR):
        with suppress(PermissionError):  # the file belongs to another user
            os.fchmod(file, 0o600)
    return file
