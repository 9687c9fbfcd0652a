"""Files that are read, and results that are there whole or not at all."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from crawler.dedup.errors import InputError
from crawler.offline.records import outputs
from crawler.offline.records.files import (
    File,
    cut_pieces,
    join_pieces,
    local_files,
    refuse_inside,
)
from crawler.offline.records.input_pages import (
    InputPage,
    InputRecord,
    group_pages,
)

ROOT = Path(__file__).parents[3]


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """A link that leads nowhere is named."""
    (tmp_path / "a.jsonl").symlink_to("nowhere")
    with pytest.raises(InputError, match=r"a\.jsonl"):
        local_files(str(tmp_path / "a.jsonl"))
    with pytest.raises(InputError, match=r"cannot read .*too long"):
        local_files("a" * 300 + ".jsonl")


def test_files_are_read_in_the_order_given(tmp_path: Path) -> None:
    """Of folders and patterns in the order of names; a name that says no format is an error."""
    for name in ("b.jsonl", "a.jsonl", "_SUCCESS", ".a.jsonl.crc", "notes.txt"):
        (tmp_path / name).write_text("")
    names = [Path(file.path).name for file in local_files(str(tmp_path))]
    assert names == ["a.jsonl", "b.jsonl"]
    assert [Path(one.path).name for one in local_files(f"{tmp_path}/*.jsonl")] == names
    with pytest.raises(InputError, match=r"notes\.txt"):
        local_files(str(tmp_path / "notes.txt"))
    with pytest.raises(InputError, match="no file"):
        local_files(str(tmp_path / "nothing*"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"empty' holds no file of a known type: \.parquet"):
        local_files(str(tmp_path / "empty"))


def test_results_do_not_lie_in_the_input(tmp_path: Path) -> None:
    """A job that is started again would read them; beside and above they may lie."""
    pages = tmp_path / "pages"
    pages.mkdir()
    (tmp_path / "link").symlink_to(pages)
    for out in (pages, pages / "clean", tmp_path / "link" / "clean", f"{pages}/../pages/clean/"):
        with pytest.raises(InputError, match=r"is in the input .* name a folder beside it"):
            refuse_inside(str(out), ["s3a://bucket/pages", str(pages)])
    for out in (tmp_path, tmp_path / "pages2", "s3a://bucket/pages"):
        refuse_inside(str(out), [f"{pages}/*.jsonl", str(pages), "s3a://bucket/pages"])


def test_small_files_share_a_task() -> None:
    """Pieces are put together up to a size, and none is left out."""
    files = [File(f"{i}.warc", 10, 0) for i in range(10)] + [File("x.warc", 500, 0)]
    cut = list(cut_pieces(files, 100))
    together = join_pieces(cut, 30)
    assert [piece for one in together for piece in one] == cut
    assert [len(one) for one in together] == [3, 3, 3, 1, 1]


@pytest.mark.parametrize(
    "opened", [outputs._open_local, lambda path: outputs._open_arrow(f"file:{path}")]
)
def test_an_output_is_there_whole_or_not_at_all(tmp_path: Path, opened: Any) -> None:
    """Here and where Arrow writes: under its name when it has ended, not when its writer fails."""

    def fail() -> None:
        with opened(tmp_path / "b.jsonl") as stream:
            stream.write(b"half")
            raise ZeroDivisionError

    with opened(tmp_path / "a.jsonl") as stream:
        stream.write(b"whole")
        assert not (tmp_path / "a.jsonl").exists()
    assert (tmp_path / "a.jsonl").read_bytes() == b"whole"
    with pytest.raises(ZeroDivisionError):
        fail()
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


def test_what_a_killed_worker_leaves_is_hidden_and_removed(tmp_path: Path) -> None:
    """Half a file is no file of the folder, and gone before the next run writes there."""
    program = f"""
import os, signal
from crawler.offline.records.outputs import open_output
with open_output({str(tmp_path / "a.jsonl")!r}) as output:
    output.write(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
"""
    killed = subprocess.run([sys.executable, "-c", program], cwd=ROOT)
    assert killed.returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".")
    with pytest.raises(InputError, match="no file"):
        local_files(str(tmp_path))
    outputs.remove_parts(str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_groups_are_bounded() -> None:
    """Long pages are fingerprinted by few at a time, and none is left out."""
    long, short = (
        InputRecord(0, 0, "u", InputPage("u", "x" * (9 << 20))),
        InputRecord(1, 0, "u", None),
    )
    groups = list(group_pages([short, long, *[short] * 600]))
    assert [len(group) for group in groups] == [2, 256, 256, 88]


def test_an_extractor_needs_no_scrapy() -> None:
    """Workers of a corpus load the function that the settings name, and no crawler with it."""
    code = (
        "import sys; from crawler.dedup import DedupConfig; "
        "from crawler.offline.records.input_pages import InputReader; "
        "InputReader(DedupConfig(extractor='html.unescape')); assert 'scrapy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
