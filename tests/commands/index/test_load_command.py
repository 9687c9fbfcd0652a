"""`scrapy dedup load` tells what it loaded and what it could not read."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from crawler.commands.subcommands import Exit
from crawler.zstd import zstd
from tests.commands.conftest import ROOT
from tests.offline import corpora

PAGES = corpora.pages(6)


def without_progress(errors: str) -> list[str]:
    """The lines that a load prints, but those that it prints every few seconds."""
    told = "pages/s", "doubtful pages read again"
    return [line for line in errors.splitlines() if not line.endswith(told)]


def test_the_command_says_what_it_loaded(
    dedup: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    """Counts by verdict; lines that are no pages are counted, a damaged file is exit code 2."""
    good = corpora.write(tmp_path / "a.jsonl", PAGES)
    good.write_bytes(good.read_bytes() + b"no page\n")
    bad = corpora.write(tmp_path / "b.jsonl.gz", PAGES[:5])
    bad.write_bytes(bad.read_bytes()[:-10])
    folder = ("-s", f"DEDUP_DATA_DIR={tmp_path}")
    code, output, errors = dedup("load", str(tmp_path), "--json", *folder)
    found = json.loads(output)
    assert (code, found["unreadable"], found["damaged"]) == (2, 1, [str(bad)])
    assert len(PAGES) <= found["pages"] < len(PAGES) + 5
    unreadable, damaged = without_progress(errors)
    assert f"{str(good)!r}, line {len(PAGES) + 1}: not JSON: Expecting value" in unreadable
    expected = f"scrapy dedup: cannot be read to its end: {bad}: it breaks off"
    assert damaged.startswith(expected)
    code, _, errors = dedup("load", str(tmp_path / "nothing.jsonl"))
    assert (code, errors.count("\n")) == (2, 1)


def test_every_line_is_told_of(dedup: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    """As a page, unreadable, binary or passed over."""
    html = (ROOT / "docs" / "pictures" / "report.png").read_bytes().decode("latin-1")
    lines = [*corpora.json_lines(PAGES).splitlines(), b"", b"null", b"no page", b"{}"]
    lines.append(json.dumps({"url": "http://a/file", "html": html}).encode())
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\n".join(lines) + b"\n")
    found = json.loads(dedup("load", str(path), "--json")[1])
    counts = [found[name] for name in ("pages", "unreadable", "binary", "skipped")]
    assert counts == [len(PAGES), 2, 1, 2]
    assert sum(counts) == len(lines)


@pytest.mark.parametrize(
    ("junk", "expected"), [(len(PAGES), Exit.FOUND), (len(PAGES) + 1, Exit.USAGE)]
)
def test_more_that_is_unreadable_than_read_is_an_error(
    dedup: Callable[..., tuple[int, str, str]], tmp_path: Path, junk: int, expected: Exit
) -> None:
    """The exit code tells a file of something else from one with a few bad lines, every time."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(corpora.json_lines(PAGES) + b"{}\n" * junk)
    for _ in range(2):
        code, _, errors = dedup("load", str(path))
        (told,) = without_progress(errors)
        assert code == expected
        assert f"line {len(PAGES) + 1}: has no field 'url'" in told
    assert [one.name for one in tmp_path.iterdir()] == ["a.jsonl"]


@pytest.mark.parametrize(
    ("name", "pack"),
    [("feed.json", bytes), ("feed.jsonl.gz", gzip.compress), ("feed.json.zst", zstd.compress)],
)
def test_a_json_array_is_refused(
    dedup: Callable[..., tuple[int, str, str]],
    tmp_path: Path,
    name: str,
    pack: Callable[[bytes], bytes],
) -> None:
    """What `-O feed.json` writes is one error that says what to write instead."""
    lines = b",\n".join(corpora.json_lines(PAGES).splitlines())
    data = b"\xef\xbb\xbf" + b" " * 5000 + b"\n[\n" + lines + b"\n]"
    (tmp_path / name).write_bytes(pack(data))
    code, output, errors = dedup("load", str(tmp_path / name))
    assert (code, output, errors.count("\n")) == (Exit.USAGE, "", 1)
    assert "is a JSON array" in errors
    assert "-O feed.jsonl" in errors


_INTERRUPTED = """
import os, signal, sys, threading, time
from multiprocessing import active_children
from scrapy.cmdline import execute

def interrupt():
    while not active_children():
        time.sleep(0.01)
    time.sleep(seconds)
    os.killpg(0, signal.SIGINT)
    while sys.version_info < (3, 11, 5):  # which lost two of 117; a person presses again
        time.sleep(15)
        os.killpg(0, signal.SIGINT)

seconds = float(sys.argv.pop())
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Thread(target=interrupt, daemon=True).start()
execute(["scrapy", "dedup", *sys.argv[1:]])
"""


@pytest.mark.parametrize(("seconds", "processes"), [("0.3", "1"), ("2", "2")])
def test_ctrl_c_is_no_traceback(
    redis_url: str, tmp_path: Path, seconds: str, processes: str
) -> None:
    """A terminal interrupts all processes, those that have just started and those at work."""
    path = tmp_path / "a.jsonl"
    rows = ({"url": f"https://c.example/{i}", "html": "<p>tea</p>"} for i in range(12_000))
    path.write_text("\n".join(map(json.dumps, rows)))
    words = ["load", str(path), "--processes", processes, "-s", f"DEDUP_REDIS_URL={redis_url}"]
    words += ["-s", f"DEDUP_DATA_DIR={tmp_path}"]
    words += ["-s", "DEDUP_EXTRACTOR=tests.support.extractors.slowly"]
    ended = subprocess.run(
        [sys.executable, "-c", _INTERRUPTED, *words, seconds],
        cwd=ROOT,
        capture_output=True,
        text=True,
        start_new_session=True,
        timeout=60,
    )
    assert (ended.returncode, ended.stdout) == (Exit.INTERRUPTED, "")
    assert without_progress(ended.stderr) == []
