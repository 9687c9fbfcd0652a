"""Scrapy's commands, and scripts, in processes that need not import Scrapy first.

They are forked from one that has imported what most of them do: that is most of a short command.
"""

from __future__ import annotations

import atexit
import ctypes
import marshal
import multiprocessing
import os
import pkgutil
import runpy
import signal
import socket
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib.machinery import PathFinder
from multiprocessing import forkserver, reduction
from multiprocessing.connection import wait
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from subprocess import CompletedProcess, Popen
from typing import Any, TextIO

from scrapy import commands
from scrapy.settings import default_settings
from scrapy.utils.conf import closest_scrapy_cfg

from crawler import commands as own

PACKAGE = "crawler"
# The package is imported anew where a process would import another of that name.
IMPORTED = ["scrapy.cmdline", "scrapy.core.engine", "scrapy.extensions.feedexport"]
IMPORTED += ["scrapy.core.downloader.handlers.http11", "scrapy.downloadermiddlewares.cookies"]
IMPORTED += ["scrapy.downloadermiddlewares.httpcache", "scrapy.downloadermiddlewares.robotstxt"]
IMPORTED += ["scrapy.extensions.remote_control", "scrapy.extensions.telnet", "scrapy.pqueues"]
IMPORTED += ["scrapy.extensions.throttle", "scrapy.shell", "scrapy.squeues", "scrapy.utils.test"]
IMPORTED += ["bs4", "lxml.html", "numpy.ma", "numpy.typing", "redis.asyncio", "tldextract"]
IMPORTED += ["scrapy.exporters", "scrapy.logformatter", "scrapy.dupefilters", "scrapy.robotstxt"]
IMPORTED += [f"scrapy.commands.{one.name}" for one in pkgutil.iter_modules(commands.__path__)]
for name in ("DOWNLOADER_MIDDLEWARES", "EXTENSIONS", "SPIDER_MIDDLEWARES"):
    components = getattr(default_settings, name + "_BASE")
    IMPORTED += [component.rpartition(".")[0] for component in components]
IMPORTED += ["protego", "rich._emoji_codes", "rich.console", "rich.table", "difflib", "statistics"]
IMPORTED += [f"{PACKAGE}.{name}" for name in ("addon", "console", "spiders.site", "zstd")]
IMPORTED += [one.name for one in pkgutil.walk_packages(own.__path__, f"{own.__name__}.")]
# Comes last: no process looks among all that for garbage, which copies it.
IMPORTED += ["tests.support.forked", "tests.support.frozen"]
OWN = str(Path(__file__).parents[2])

# The program ``scrapy`` of a terminal: it hands over its words, its files and what signals it gets.
_CLIENT = """#!{python} -IS
import marshal, os, signal, socket, sys

with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    said = marshal.dumps((sys.argv[1:], os.getcwd(), dict(os.environ)))
    socket.send_fds(server, [b"%10d" % len(said)], [0, 1, 2])
    server.sendall(said)
    process = int(server.recv(10, socket.MSG_WAITALL))
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: os.kill(process, number))
    code = int(server.recv(9) or 1)
    if code < 0:
        if code != -signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code)
"""


def run_scrapy(
    words: Sequence[str], folder: Path, environment: Mapping[str, str], *, timeout: float = 110
) -> CompletedProcess[str]:
    """Run `python -m scrapy` with these words to its end, in a folder."""
    return _run("", words, folder, environment, timeout, [folder])


def run_script(
    script: Path, words: Sequence[str], folder: Path, *path: Path, timeout: float = 110
) -> CompletedProcess[str]:
    """Run a Python script to its end, in a folder; after its own, it imports from `path`."""
    first = [script.parent, *path]
    return _run(str(script), words, folder, os.environ, timeout, first)


def start_script(
    script: Path, words: Sequence[str], folder: Path, *path: Path
) -> tuple[ForkServerProcess, TextIO]:
    """Start a Python script as `run_script` does: its process, and what reads its output."""
    output, ending = os.pipe()
    with open(os.devnull) as nothing:  # noqa: PTH123
        files = [nothing.fileno(), ending, 2]
        first = [*map(str, (script.parent, *path))]
        process = _start(str(script), words, str(folder), os.environ, files, first)
    os.close(ending)
    return process, open(output, encoding="utf-8")  # noqa: PTH123


def _run(
    script: str,
    words: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    timeout: float,
    path: Sequence[Path],
) -> CompletedProcess[str]:
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        with open(os.devnull) as nothing:  # noqa: PTH123
            files = [nothing.fileno(), output.fileno(), errors.fileno()]
            process = _start(script, words, str(folder), environment, files, [*map(str, path)])
        try:
            process.join(timeout)
            assert process.exitcode is not None, f"{words}: waited {timeout} seconds in vain"
        finally:
            process.kill()
        for file in (output, errors):
            file.seek(0)
        return CompletedProcess(words, process.exitcode, output.read(), errors.read())


def start_scrapy(words: Sequence[str], folder: Path, **options: Any) -> Popen[str]:
    """Start `scrapy` with these words in a folder; the process hands its signals over."""
    return Popen([_programs() / "scrapy", *words], cwd=folder, text=True, **options)


@cache
def _programs() -> Path:
    """The folder with the program, which is there for as long as the tests run."""
    opened = scrapy_program()
    atexit.register(opened.__exit__, None, None, None)
    return opened.__enter__()


@contextmanager
def scrapy_program(*path: Path) -> Iterator[Path]:
    """A folder with a program ``scrapy`` for a terminal, which imports from `path` first."""
    with tempfile.TemporaryDirectory() as name, socket.socket(socket.AF_UNIX) as server:
        program, address = Path(name, "scrapy"), f"{name}/socket"
        program.write_text(_CLIENT.format(python=sys.executable, address=address))
        program.chmod(0o755)
        server.bind(address)
        server.listen()
        threading.Thread(target=_serve, args=(server, [*map(str, path)]), daemon=True).start()
        try:
            yield program.parent
        finally:
            server.shutdown(socket.SHUT_RDWR)


def _serve(server: socket.socket, path: list[str]) -> None:
    while True:
        try:
            client, _ = server.accept()
        except OSError:  # it was closed
            return
        threading.Thread(target=_answer, args=(client, path), daemon=True).start()


def _answer(client: socket.socket, path: list[str]) -> None:
    with client:
        size, files, _, _ = socket.recv_fds(client, 10, 3)
        said = client.recv(int(size), socket.MSG_WAITALL)
        words, folder, environment = marshal.loads(said)
        process = _start("", words, folder, environment, files, path)
        for file in files:
            os.close(file)
        with suppress(BrokenPipeError):
            client.sendall(b"%10d" % process.pid)
        if client in wait([process.sentinel, client]):  # the terminal's program was killed
            process.kill()
            return
        process.join()
        client.sendall(str(process.exitcode).encode())


@cache
def forking() -> ForkServerContext:
    """How `multiprocessing` forks processes from the one that has imported most."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(IMPORTED)
    return context


def share_importing() -> None:
    """Start the process that imports, for this one and for all that are forked from this one."""
    forking()
    server = forkserver._forkserver  # type: ignore[attr-defined]
    server.ensure_running()
    server.ensure_running = lambda: None  # only of a child of its own can a process tell that


def _start(
    script: str,
    words: Sequence[str],
    folder: str,
    environment: Mapping[str, str],
    files: Sequence[int],
    path: Sequence[str],
) -> ForkServerProcess:
    passed = [*map(_Passed, files)]
    arguments = (script, list(words), folder, dict(environment), passed, list(path))
    process = forking().Process(target=_execute, args=arguments)
    process.start()
    return process


class _Passed:
    """An open file that is handed over to a process: there it is its number."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __reduce__(self) -> tuple[Callable[[Any], int], tuple[Any]]:
        return _taken, (reduction.DupFd(self.number),)


def _taken(passed: Any) -> int:
    number: int = passed.detach()
    return number


def _execute(
    script: str,
    words: list[str],
    folder: str,
    environment: dict[str, str],
    files: list[int],
    path: list[str],
) -> None:
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    for number, name in ((1, "stdout"), (2, "stderr")):
        lines = 1 if number == 2 or os.isatty(number) else -1
        setattr(sys, name, open(number, "w", lines, "utf-8", closefd=False))  # noqa: SIM115
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if prctl := getattr(ctypes.CDLL(None), "prctl", None):  # of Linux
        prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: a run that ends leaves no command behind
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    named = environment.get("PYTHONPATH", "").split(os.pathsep)
    # Folders of tests are none of the command's.
    rest = [one for one in sys.path if not one.startswith(OWN) or "site-packages" in one]
    sys.path[:] = [*path, *filter(None, named), *filter(None, rest)]
    project = str(Path(closest_scrapy_cfg()).parent)  # where Scrapy would find it, too
    found = PathFinder.find_spec(PACKAGE, [*sys.path, project])
    if found is None or Path(found.origin or "").resolve() != Path(OWN, PACKAGE, "__init__.py"):
        for name in [*sys.modules]:
            if name.partition(".")[0] == PACKAGE:
                del sys.modules[name]
    if (action := environment.get("PYTHONWARNINGS")) is not None:
        warnings.simplefilter(action)  # type: ignore[arg-type]
    try:
        if script:
            sys.argv = [script, *words]
            runpy.run_path(script, run_name="__main__")
        else:
            from scrapy.cmdline import execute

            execute(["scrapy", *words])
    finally:
        atexit._run_exitfuncs()
