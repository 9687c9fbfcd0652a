"""Starts Spark, and uses its file systems."""

from __future__ import annotations

import logging
import os
import re
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from types import FrameType
from typing import IO, TYPE_CHECKING, Any

from ..dedup.errors import InputError, MissingExtra
from .ctrl_c import ctrl_c_held_back
from .records.files import File, known_format, known_formats

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_BATCH_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"


def start_session(master: str | None, options: Mapping[str, str]) -> SparkSession:
    """Start the session of a job; with `master` None, spark-submit decides where it runs.

    Raises :class:`InputError` if Java is missing, and :class:`MissingExtra` if PySpark is.
    """
    try:
        from pyspark.errors import PySparkRuntimeError
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise MissingExtra("a corpus", "spark", error) from None
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        raise InputError(
            "Spark needs Java 17 or later, which is not installed; on Debian and Ubuntu: "
            "sudo apt install default-jre-headless"
        )
    builder = SparkSession.builder.appName("scrapy dedup corpus")
    settings: dict[str, Any] = {}
    if master is not None:
        # The tasks run this Python, which has to find this package wherever the command started.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        package = str(Path(__file__).parents[2])
        settings = {
            "spark.master": master,
            "spark.driver.memory": "4g",
            # Most work is Python's. For 10,000 pages Java's second compiler takes as much time
            # as all the rest.
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseParallelGC",
            "spark.executorEnv.PYTHONPATH": package,
            "spark.sql.shuffle.partitions": 4 * (os.cpu_count() or 1),
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.log.level": "ERROR",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
        }
    for name, value in {**settings, **options}.items():
        builder = builder.config(name, value)
    with tempfile.TemporaryFile() as log:
        try:
            with _stderr_into(log) if master is not None else nullcontext(), _ctrl_c_kept():
                session = builder.getOrCreate()
        except PySparkRuntimeError as error:
            log.seek(0)
            said = log.read().decode("utf-8", "replace").strip().rpartition("\n")[2]
            raise InputError(f"Spark does not start: {said or error}") from None
    # If Java is killed, threads of PySpark and py4j would print tracebacks beside the job's error.
    logging.getLogger().addFilter(_is_not_of_py4j)
    session.sparkContext._accumulatorServer.handle_error = lambda *_: None  # type: ignore[method-assign]
    return session


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    """Whether a record of the root logger is not from py4j.

    py4j logs each failed call, and also raises its error.
    """
    return record.module != "java_gateway"


def find_files(spark: SparkSession, named: Sequence[File | str]) -> list[File]:
    """Files, and those that patterns name on other file systems, in order and each once.

    Spark lists the files of other file systems, such as ``s3a://`` or ``hdfs://``. Raises
    :class:`InputError` for a pattern without files.
    """
    found: dict[str, File] = {}
    for one in named:
        for file in [one] if isinstance(one, File) else _remote_files(spark, one):
            found.setdefault(file.path, file)
    return list(found.values())


def _remote_files(spark: SparkSession, pattern: str) -> list[File]:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        listing = spark.read.format("binaryFile").option("recursiveFileLookup", "true")
        # Spark reads only selected columns, so this opens no file.
        rows = listing.load(pattern).select("path", "length", "modificationTime").collect()
    except (PySparkException, Py4JError) as error:
        raise InputError(f"cannot read {pattern!r}: {find_reason(error)}") from None
    found = [
        File(row.path, row.length, int(row.modificationTime.timestamp() * 1000)) for row in rows
    ]
    paths = [file.path for file in found]
    wanted = {pattern} if pattern in paths else {*known_formats(pattern, paths)}
    files = [file for file in found if file.path in wanted]
    if not files:
        raise InputError(f"there is no file {pattern!r}")
    for file in files:
        known_format(file.path)
    return sorted(files)


def path_exists(spark: SparkSession, path: str) -> bool:
    """Whether there is a file or folder, on any of Spark's file systems."""
    system, name = _hadoop_path(spark, path)
    return bool(system.exists(name))


def read_text(spark: SparkSession, path: str) -> str:
    """The text of a small file on any of Spark's file systems."""
    system, name = _hadoop_path(spark, path)
    stream = system.open(name)
    try:
        jvm: Any = spark._jvm
        return str(jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
    finally:
        stream.close()


def write_text(spark: SparkSession, path: str, text: str) -> None:
    """Write a small file on any of Spark's file systems."""
    system, name = _hadoop_path(spark, path)
    stream = system.create(name)
    try:
        stream.write(bytearray(text.encode()))
    finally:
        stream.close()


def create_text(spark: SparkSession, path: str, text: str) -> bool:
    """Write a small file unless it exists; return whether it was written."""
    system, name = _hadoop_path(spark, path)
    if not system.createNewFile(name):
        return False
    write_text(spark, path, text)
    return True


def remove_file(spark: SparkSession, path: str) -> None:
    """Remove a file on any of Spark's file systems."""
    system, name = _hadoop_path(spark, path)
    system.delete(name, False)


def make_folder(spark: SparkSession, path: str) -> str:
    """Make a folder on any of Spark's file systems; return Hadoop's configuration as XML."""
    system, name = _hadoop_path(spark, path)
    system.mkdirs(name)
    jvm: Any = spark._jvm
    writer = jvm.java.io.StringWriter()
    system.getConf().writeXml(writer)
    return str(writer.toString())


def _hadoop_path(spark: SparkSession, path: str) -> tuple[Any, Any]:
    jvm: Any = spark._jvm
    name = jvm.org.apache.hadoop.fs.Path(path)
    return name.getFileSystem(spark._jsc.hadoopConfiguration()), name


@contextmanager
def rows_one_by_one(spark: SparkSession) -> Iterator[None]:
    """Hand tasks one row at a time: a row can hold a whole file."""
    from py4j.protocol import Py4JError

    before = spark.conf.get(_BATCH_ROWS)
    spark.conf.set(_BATCH_ROWS, "1")
    try:
        yield
    finally:
        with suppress(Py4JError, OSError):  # Java may be gone: the error of the block says so
            spark.conf.set(_BATCH_ROWS, before or "10000")


@contextmanager
def _ctrl_c_kept() -> Iterator[None]:
    """Delay Ctrl-C until the block ends, and restore its handler then.

    Ctrl-C during the start would leave Java running for ever. PySpark installs a handler that calls
    Java in the middle of an answer, and prints the errors of that.
    """
    with ctrl_c_held_back():
        before = signal.getsignal(signal.SIGINT)

        def end(number: int, frame: FrameType | None) -> None:
            logging.disable()  # py4j would log where it was, and how its connection ended
            assert callable(before)
            before(number, frame)

        try:
            yield
        finally:
            if threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGINT, end if callable(before) else before)


@contextmanager
def _stderr_into(file: IO[bytes]) -> Iterator[None]:
    """Redirect standard error, also for Java, which prints a dozen lines when it starts."""
    sys.stderr.flush()
    before = os.dup(2)
    os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)


def session_answers(spark: SparkSession) -> bool:
    """Whether the Java of a session still runs: errors do not say if it died."""
    try:
        return bool(spark.version)
    except Exception:
        return False


def find_reason(error: Exception) -> str:
    """One line about an error of Spark: its message, and its root cause.

    >>> missing = "java.lang.ClassNotFoundException: Class org.S3AFileSystem not found"
    >>> find_reason(ValueError(missing))
    'Class org.S3AFileSystem not found: its jar is missing, see docs/howto/corpus.md'
    """
    java = getattr(error, "java_exception", None)
    said = _line_of(str(error) if java is None else java.getMessage()) or type(error).__name__
    first = getattr(error, "_origin", None) if java is None else java
    while (cause := first and first.getCause()) is not None:
        first = cause
    why = _line_of(first.getMessage()) if first is not None else ""
    if why not in said:
        said = f"{said}: {why}"
    if missing := re.search(r"Class \S+ not found", said):
        return f"{missing[0]}: its jar is missing, see docs/howto/corpus.md"
    return said


def _line_of(message: str | None) -> str:
    """The last line of a Python traceback, or the first line of another message."""
    lines = [line.strip() for line in (message or "").splitlines()]
    lines = [line for line in lines if line and not line.startswith("SQLSTATE: ")]
    return lines[-1 if "Traceback" in (message or "") else 0] if lines else ""
