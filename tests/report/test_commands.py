"""``scrapy dedup report`` and ``serve``: what they print, write and answer to scripts."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from crawler.commands.output import whole_file
from crawler.dedup import DedupConfig
from crawler.dedup.archive.database import archive_path
from tests.commands.conftest import ROOT, dedup
from tests.report.pages import fill
from tests.report.test_report import THREE
from tests.support.forked import scrapy_program, start_scrapy

__all__ = ["dedup"]  # a fixture

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def filled(config: DedupConfig) -> DedupConfig:
    fill(config, THREE)
    return config


def test_report_is_written(dedup: Run, filled: DedupConfig, tmp_path: Path) -> None:
    """The file is written, its name told, and its texts are those of the archive."""
    path = tmp_path / "out.html"
    data = f"DEDUP_DATA_DIR={filled.data_dir}"
    code, output, errors = dedup("report", "-o", str(path), "-s", data)
    assert (code, output, errors) == (0, f"The report is in {path}\n", "")
    assert "The same story" in path.read_text(encoding="utf-8")


def test_report_as_json(dedup: Run, filled: DedupConfig, tmp_path: Path) -> None:
    """Programs get the same, as far as it is asked for, and no file."""
    data = f"DEDUP_DATA_DIR={filled.data_dir}"
    code, output, _ = dedup("report", "--json", "--texts", "0", "-s", data)
    found = json.loads(output)
    assert code == 0
    assert found["near_total"] == 1
    assert found["near"][0]["comparison"] is None
    assert found["comparisons"] == []
    assert not list(tmp_path.glob("*.html"))


def test_report_of_nothing(dedup: Run, tmp_path: Path) -> None:
    """An empty index has a report, too, and exit code 1."""
    path = tmp_path / "out.html"
    code, _, errors = dedup("report", "-o", str(path), "-s", f"DEDUP_DATA_DIR={tmp_path}")
    assert code == 1
    assert "crawl first" in errors
    assert path.exists()


def test_report_that_cannot_be_written(dedup: Run, tmp_path: Path) -> None:
    """One line says which file and why."""
    code, _, errors = dedup("report", "-o", str(tmp_path), "-s", f"DEDUP_DATA_DIR={tmp_path}")
    assert code == 2
    assert errors.count("\n") == 1
    assert str(tmp_path) in errors


def shell(
    line: str, config: DedupConfig, program: str = f"'{sys.executable}' -m scrapy"
) -> subprocess.CompletedProcess[str]:
    """What a shell answers to `line`, in which `run` is the command with the index's settings."""
    settings = f"-s DEDUP_REDIS_URL={config.redis_url} -s DEDUP_DATA_DIR={config.data_dir}"
    command = f'run() {{ {program} dedup "$@" {settings}; }}; {line}'
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        ["/bin/sh", "-c", command], cwd=ROOT, env=environment, text=True, capture_output=True,
        timeout=60,
    )  # fmt: skip


def test_report_on_a_full_disk(filled: DedupConfig, tmp_path: Path) -> None:
    """If there is no room for all of a new report, the one from before is still there, whole."""
    path = tmp_path / "out.html"
    path.write_text("the one from before")
    archive_path(filled).unlink()  # which to be read needs room beside it
    done = shell(f"ulimit -f 8; run report -o '{path}'", filled)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f"cannot write '{path}'" in done.stderr
    assert path.read_text() == "the one from before"
    assert list(tmp_path.glob("out*")) == [path]


def test_a_file_that_was_interrupted_is_not_there(tmp_path: Path) -> None:
    """Ctrl-C leaves what was there and nothing beside it."""
    path = tmp_path / "out.html"
    path.write_text("the one from before")
    with pytest.raises(KeyboardInterrupt), whole_file(path):
        raise KeyboardInterrupt
    assert path.read_text() == "the one from before"
    assert list(tmp_path.iterdir()) == [path]


def test_report_into_a_pipe(filled: DedupConfig) -> None:
    """What is no file, such as a pipe, is written as it is and not put aside."""
    with scrapy_program() as programs:
        done = shell("run report -o /dev/stdout | cat", filled, f"'{programs}/scrapy'")
    assert done.stdout.startswith("<!doctype html>")
    assert done.stderr == ""


@pytest.mark.parametrize("words", ["report --json", "stats", "clusters --json"])
def test_output_to_a_full_disk(filled: DedupConfig, words: str) -> None:
    """No room for the output is one line and an exit code of its own, not that of "not found"."""
    with scrapy_program() as programs:
        done = shell(f"run {words} >/dev/full", filled, f"'{programs}/scrapy'")
    assert done.returncode == 2
    assert done.stderr == "scrapy dedup: cannot write: No space left on device\n"


def test_closed_output(filled: DedupConfig) -> None:
    """Who closes the output, as a scheduler may, is answered by the exit code."""
    done = shell("run stats >&-", filled)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("line", "code", "output"),
    [
        ("run show http://nowhere/ --json 2>&-", 1, "null\n"),
        ("run stats -s DEDUP_THRESHOLD=2 2>/dev/full", 2, ""),
    ],
)
def test_messages_that_nobody_reads(filled: DedupConfig, line: str, code: int, output: str) -> None:
    """They come into no result, and change no exit code."""
    done = shell(line, filled)
    assert (done.returncode, done.stdout) == (code, output)


@pytest.mark.parametrize(
    ("command", "library"), [("report", "jinja2"), ("serve", "uvicorn"), ("serve", "starlette")]
)
def test_without_the_extra(
    dedup: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    library: str,
) -> None:
    """Without a library, one line says what to install."""
    loaded = [name for name in sys.modules if name.startswith((library, "crawler.report"))]
    for name in loaded:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    code, _, errors = dedup(command, "-s", f"DEDUP_DATA_DIR={tmp_path}")
    assert code == 2
    assert "pip install h11 jinja2 prometheus-client starlette uvicorn (" in errors
    assert errors.count("\n") == 1


@pytest.mark.parametrize("token", ["short", "with space", "ünïcödes", "semi;colon"])
def test_tokens_that_cannot_be(dedup: Run, token: str) -> None:
    """A token has to fit into an address and a cookie, and not to be guessed."""
    code, _, errors = dedup("serve", "--token", token)
    assert code == 2
    assert "8 or more" in errors


def test_a_host_that_cannot_be(dedup: Run) -> None:
    """A name with an empty part beside letters beyond ASCII is one line, not a traceback."""
    host = "ä..example"
    code, out, err = dedup("serve", "--host", host)
    assert (code, out) == (2, "")
    assert f"cannot listen on {host}, port 0: " in err


def test_a_host_without_a_name(dedup: Run) -> None:
    """A variable that is not set opens the page to nobody."""
    code, out, err = dedup("serve", "--host", "")
    assert (code, out) == (2, "")
    assert "--host: expects a name or an address" in err


def test_a_port_that_is_taken(dedup: Run) -> None:
    """One line names host and port."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, _, errors = dedup("serve", "--port", str(port))
    assert code == 2
    assert f"127.0.0.1, port {port}" in errors


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_serve_until_it_is_ended(filled: DedupConfig, number: signal.Signals) -> None:
    """The printed address answers, each time with another token, until a signal ends it."""
    words = ["dedup", "serve", "--json", "-s", f"DEDUP_REDIS_URL={filled.redis_url}"]
    words += ["-s", f"DEDUP_DATA_DIR={filled.data_dir}"]
    with start_scrapy(words, ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        address = json.loads("".join(process.stdout.readline() for _ in range(3)))["url"]
        assert len(address.partition("token=")[2]) == 32
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with opener.open(address, timeout=60) as answer:
            assert "Overview" in answer.read().decode()
        process.send_signal(number)
        assert process.wait(20) == (0 if number == signal.SIGINT else -signal.SIGTERM)
