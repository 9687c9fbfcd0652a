"""One run at a time in a folder of results: two would write into each other's files."""

from __future__ import annotations

import fcntl
import socket
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..dedup.errors import InputError
from .records.files import is_local
from .session import create_text, read_text, remove_file

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NAME: Final = "running"


def hold_folder(spark: SparkSession, out: str) -> AbstractContextManager[None]:
    """Keep other runs out of a folder for the block; raises :class:`InputError` if one is in it.

    On this machine, a lock ends with its process. On other file systems, a file names the run, and
    stays if the run is killed. Object stores such as S3 cannot keep out a run that begins at the
    same moment.
    """
    path = f"{out}/work/{_NAME}"
    return _hold_local(path) if is_local(out) else _hold_remote(spark, path)


@contextmanager
def _hold_local(path: str) -> Iterator[None]:
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        opened = Path(path).open("a")  # noqa: SIM115
    except OSError as error:  # such as a file of that name, or a folder of another user
        raise InputError(f"cannot write to {error.filename!r}: {error.strerror}") from None
    with opened as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            folder = str(Path(path).parents[1])
            raise InputError(
                f"another run is working in {folder!r}: wait until it ends, or name another folder"
            ) from None
        except OSError:  # the file system has no locks
            pass
        yield


@contextmanager
def _hold_remote(spark: SparkSession, path: str) -> Iterator[None]:
    now = f"{socket.gethostname()}, since {datetime.now().astimezone():%Y-%m-%d %H:%M:%S %z}"
    if not create_text(spark, path, now):
        raise InputError(
            f"another run is working there ({read_text(spark, path)}): wait until it ends, or name "
            f"another folder. If that run was killed, remove {path}"
        )
    try:
        yield
    finally:
        with suppress(Exception):  # Java may be gone: the error of the block says so
            remove_file(spark, path)
