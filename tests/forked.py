"""Scrapy's commands in processes that need not import Scrapy first.

They are forked from one that has imported what most of them do: that is half of a short command.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from multiprocessing.context import ForkServerContext
from pathlib import Path
from subprocess import CompletedProcess
from tempfile import TemporaryDirectory

# Not the package: what importing it does and says belongs to the command.
IMPORTED = ["scrapy.cmdline", "scrapy.core.engine", "scrapy.extensions.feedexport"]
IMPORTED += ["bs4", "lxml.html", "numpy", "redis.asyncio", "rich.table"]
OWN = str(Path(__file__).parents[1])


@cache
def _context() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(IMPORTED)
    return context


def run_scrapy(
    words: Sequence[str], folder: Path, environment: Mapping[str, str], *, timeout: float = 60
) -> CompletedProcess[str]:
    """Run `python -m scrapy` with these words to its end, in a folder."""
    with TemporaryDirectory() as name:
        output, errors = (Path(name) / stream for stream in ("output", "errors"))
        started = [str(folder), dict(environment), str(output), str(errors)]
        process = _context().Process(target=_execute, args=(list(words), *started))
        process.start()
        try:
            process.join(timeout)
            assert process.exitcode is not None, f"{words}: waited {timeout} seconds in vain"
        finally:
            process.kill()
        return CompletedProcess(words, process.exitcode, output.read_text(), errors.read_text())


def _execute(
    words: list[str], folder: str, environment: dict[str, str], output: str, errors: str
) -> None:
    for descriptor, path in ((1, output), (2, errors)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), descriptor)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    named = environment.get("PYTHONPATH", "").split(os.pathsep)
    # Folders of tests are none of the command's.
    installed = [path for path in sys.path if not path.startswith(OWN) or "site-packages" in path]
    sys.path[:] = [folder, *filter(None, named), *filter(None, installed)]
    if (action := environment.get("PYTHONWARNINGS")) is not None:
        warnings.simplefilter(action)  # type: ignore[arg-type]
    from scrapy.cmdline import execute

    try:
        execute(["scrapy", *words])
    finally:
        atexit._run_exitfuncs()
