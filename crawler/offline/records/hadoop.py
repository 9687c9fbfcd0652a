"""Writes files to Hadoop's file systems from tasks, which cannot call Spark's Java."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, cast

from .files import import_extra


@contextmanager
def open_hadoop(path: str, configuration: str) -> Iterator[IO[bytes]]:
    """Open a new file on HDFS and the like: Hadoop's shell writes it, and renames it at the end.

    `configuration` is the XML of Spark's Hadoop, with its addresses and credentials. Raises OSError
    with the message of the shell if it fails.
    """
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as log:
        Path(folder, "core-site.xml").write_text(configuration, encoding="utf-8")
        words = [_find_java(), "-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", _class_path(folder)]
        words += ["org.apache.hadoop.fs.FsShell", "-put", "-f", "-", literal_path(path)]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=log, stderr=log) as shell:
            stream = cast(IO[bytes], shell.stdin)
            try:
                yield stream
            except BrokenPipeError:  # the shell has ended, and said why
                pass
            except BaseException:
                shell.kill()  # before its input ends, or it would take this for the whole file
                raise
            finally:
                with suppress(BrokenPipeError):
                    stream.close()
        if shell.returncode:
            log.seek(0)
            said = log.read().decode("utf-8", "replace").strip()
            raise OSError(f"cannot write {path}: {said.rpartition(chr(10))[2]}")


def literal_path(path: str) -> str:
    r"""A path for Hadoop's shell and Spark's readers, which take paths for patterns.

    >>> print(literal_path("hdfs:///results[1]"))
    hdfs:///results\[1\]
    """
    return re.sub(r"[\\*?\[\]{}]", r"\\\g<0>", path)


def _find_java() -> str:
    home = os.environ.get("JAVA_HOME")
    return str(Path(home, "bin", "java")) if home else shutil.which("java") or "java"


def _class_path(folder: str) -> str:
    """The class path: a folder, and Spark's jars from SPARK_HOME, PySpark or a YARN container."""
    package: Any = import_extra("pyspark")
    homes = [os.environ.get("SPARK_HOME"), str(Path(package.__file__).parent)]
    found = [f"{home}/jars/*" for home in homes if home]
    return os.pathsep.join([folder, *found, *filter(None, [os.environ.get("CLASSPATH")])])
