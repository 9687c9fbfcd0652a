"""Tasks write to file systems of Hadoop."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.offline.records.outputs import open_output
from tests.offline.webhdfs import WebHdfs

pytestmark = pytest.mark.skipif(
    not (os.environ.get("JAVA_HOME") or shutil.which("java")),
    reason="needs Java: apt install default-jre-headless",
)
DEFAULTS = "<configuration/>"


@pytest.fixture
def hdfs(tmp_path: Path) -> Iterator[WebHdfs]:
    served = WebHdfs(tmp_path)
    yield served
    served.close()


def test_a_file_is_there_whole(hdfs: WebHdfs, tmp_path: Path) -> None:
    """What is written stands in the file, under its name when all of it is there."""
    with open_output(f"{hdfs.url}/a.jsonl", DEFAULTS) as output:
        for _ in range(1000):
            output.write(b"one line of many\n" * 100)
    assert (tmp_path / "a.jsonl").read_bytes() == b"one line of many\n" * 100_000
    assert ("CREATE", "/a.jsonl._COPYING_") in hdfs.asked
    assert ("CREATE", "/a.jsonl") not in hdfs.asked


def write_half(path: str) -> None:
    with open_output(path, DEFAULTS) as output:
        output.write(b"half" * 100_000)
        raise ZeroDivisionError


def test_or_not_at_all(hdfs: WebHdfs, tmp_path: Path) -> None:
    """Nor is half of it, when the writer fails."""
    with pytest.raises(ZeroDivisionError):
        write_half(f"{hdfs.url}/a.jsonl")
    assert not (tmp_path / "a.jsonl").exists()


def test_what_cannot_be_written_to_is_told() -> None:
    """By what Hadoop says of it, whatever became of the pipe to it."""
    with (
        pytest.raises(OSError, match=r"unheard-of://host/a.*: No FileSystem for scheme"),
        open_output("unheard-of://host/a.jsonl", DEFAULTS) as output,
    ):
        output.write(b"whole" * 100_000)
