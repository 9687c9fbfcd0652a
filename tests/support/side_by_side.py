"""Tests in several processes, forked when all tests are collected: `pytest --processes 4`.

Each process would take seconds to collect them by itself. Whoever is free takes the next file.
"""

from __future__ import annotations

import atexit
import ctypes
import multiprocessing
import os
import signal
import struct
import warnings
from collections.abc import Iterator
from itertools import groupby
from multiprocessing.connection import Connection, wait

import pytest

_TURN = struct.Struct("H")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--processes", type=int, default=0, help="run tests in so many processes")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run all tests; None leaves it to pytest, where they are not to run side by side."""
    options = session.config.option
    if not options.processes or options.collectonly or session.testsfailed:
        return None
    files = [list(items) for _, items in groupby(session.items, lambda item: item.path)]
    turns, ending = os.pipe()
    os.write(ending, b"".join(map(_TURN.pack, range(len(files)))))
    os.close(ending)
    session.config._tmp_path_factory.getbasetemp()  # or each process makes one of its own
    fork = multiprocessing.get_context("fork")
    running = {}
    for _ in range(options.processes):
        receiver, sender = fork.Pipe(duplex=False)
        process = fork.Process(target=_run_tests, args=(session, _take_tests(files, turns), sender))
        process.start()
        running[receiver] = process
        sender.close()
    os.close(turns)
    try:
        last = _tell_all(session, [*running])
    except BaseException:
        for process in running.values():
            process.terminate()
        raise
    for receiver, process in running.items():
        process.join()
        if process.exitcode:
            raise session.Interrupted(f"{last.get(receiver)} ended its process: {process.exitcode}")
    return True


def _take_tests(files: list[list[pytest.Item]], turns: int) -> Iterator[pytest.Item]:
    """The tests of the files whose turn comes while this process is free."""
    while turn := os.read(turns, _TURN.size):
        yield from files[_TURN.unpack(turn)[0]]


def _tell_all(session: pytest.Session, receivers: list[Connection]) -> dict[Connection, str]:
    """Report what the processes tell until all have ended; the last test of each."""
    hook, config = session.config.hook, session.config
    last = {}
    while receivers:
        for receiver in wait(receivers):
            assert isinstance(receiver, Connection)
            try:
                said = receiver.recv()
            except EOFError:
                receivers.remove(receiver)
                continue
            if isinstance(said, str):
                last[receiver] = said
                continue
            report = hook.pytest_report_from_serializable(config=config, data=said)
            hook.pytest_runtest_logreport(report=report)
            if session.shouldfail:
                raise session.Failed(session.shouldfail)
    return last


class _Teller:
    """Tells the first process which test begins, and how it ended."""

    def __init__(self, config: pytest.Config, sender: Connection) -> None:
        self._config = config
        self._sender = sender

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._sender.send(nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        hook = self._config.hook
        self._sender.send(hook.pytest_report_to_serializable(config=self._config, report=report))


def _run_tests(session: pytest.Session, items: Iterator[pytest.Item], sender: Connection) -> None:
    """Run tests, in a process of their own, to the end of what was set up for them."""
    if prctl := getattr(ctypes.CDLL(None), "prctl", None):  # of Linux
        prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: ends with the first process
    plugins = session.config.pluginmanager
    plugins.unregister(name="terminalreporter")
    plugins.register(_Teller(session.config, sender))
    # What is printed goes to a file, which would be one for all processes.
    capture = plugins.getplugin("capturemanager")
    capture.stop_global_capturing()
    capture.start_global_capturing()
    capture.suspend_global_capture()
    try:
        item = next(items, None)
        while item is not None:
            following = next(items, None)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            item = following
    finally:
        session._setupstate.teardown_exact(None)
        capture.stop_global_capturing()
        warnings.simplefilter("ignore")  # as of other processes that end
        atexit._run_exitfuncs()
