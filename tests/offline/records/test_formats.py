"""Pages in files of every format, and copies of these files without some of the pages."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from crawler.chrome import strip_chrome
from crawler.offline.records.files import (
    cut_pieces,
    local_files,
)
from crawler.offline.records.kept_records import copy_records
from crawler.offline.records.outputs import open_output
from tests.offline import corpora
from tests.offline.records.found import PAGES, found_in, whole

NAMES = [
    "a.jsonl", "a.jsonl.gz", "a.json.zst", "a.parquet", "a.warc", "a.warc.gz", "a.warc.zst",
    "a.warc.wet.gz",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_every_format_gives_its_pages(tmp_path: Path, name: str) -> None:
    """The same pages come out of every format, in order, those of WARC files without chrome."""
    found = found_in(corpora.write(tmp_path / name, PAGES))
    assert [one.shown_url for one in found] == [url for url, _ in PAGES]
    is_html = name.startswith("a.warc") and ".wet" not in name
    expected = [strip_chrome(corpora.html(one)).text if is_html else one for _, one in PAGES]
    assert [one.text for one in found] == expected
    assert [one.position for one in found] == sorted({one.position for one in found})


def test_sizes_in_a_copy(tmp_path: Path) -> None:
    """Objects and rows get one more field, in place of one of that name; no other line changes."""
    lines = tmp_path / "a.jsonl"
    lines.write_bytes(b'{}\n{"url": "b"} \r\n[1]\nno JSON}\n\n{"url": "c" }')
    with open_output(str(tmp_path / "b.jsonl")) as output:
        copy_records(whole(lines), (), output, None, {3: 2})
    assert (tmp_path / "b.jsonl").read_bytes() == (
        b'{"cluster_size": 1}\n{"url": "b", "cluster_size": 3} \r\n[1]\nno JSON}\n\n'
        b'{"url": "c" , "cluster_size": 1}'
    )
    rows = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"cluster_size": ["x"] * 3, "url": ["a", "b", "c"]}), rows)
    with open_output(str(tmp_path / "b.parquet")) as output:
        copy_records(whole(rows), {0}, output, None, {2: 4})
    assert parquet.read_table(tmp_path / "b.parquet").to_pylist() == [
        {"url": "b", "cluster_size": 1},
        {"url": "c", "cluster_size": 5},
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_copy_without_some_records_is_what_the_format_says(tmp_path: Path, name: str) -> None:
    """What is copied can be read again, and lacks what was dropped and nothing else."""
    path = corpora.write(tmp_path / name, PAGES)
    dropped = {one.position for one in found_in(path)[1::3]}
    (tmp_path / "out").mkdir()
    copy = tmp_path / "out" / name
    with open_output(str(copy)) as output:
        copy_records(whole(path), dropped, output)
    kept = [one for one in found_in(path) if one.position not in dropped]
    assert [(one.url, one.text) for one in found_in(copy)] == [(one.url, one.text) for one in kept]
    again = tmp_path / "out" / f"again-{name}"
    with open_output(str(again)) as output:
        copy_records(whole(path), (), output)
    if name.endswith((".jsonl", ".warc")):
        assert again.read_bytes() == path.read_bytes()
    if name.endswith(".gz"):
        assert gzip.decompress(again.read_bytes()) == gzip.decompress(path.read_bytes())


@pytest.mark.parametrize("size", [1, 50, 777, 1 << 20])
def test_each_line_belongs_to_one_piece(tmp_path: Path, size: int) -> None:
    """However a file of lines is cut, each page is found once, in its place, and copied once."""
    path = tmp_path / "a.jsonl"
    rows = [(url, text[:300]) for url, text in PAGES]
    path.write_bytes(b"\n" + corpora.json_lines(rows) + b"\n\n" + corpora.json_lines(rows)[:-1])
    assert found_in(path, size) == [
        one._replace(piece=other.piece)
        for one, other in zip(found_in(path), found_in(path, size), strict=True)
    ]
    cut = list(cut_pieces(local_files(str(path)), size))
    with open_output(str(tmp_path / "copy")) as output:
        for piece in cut[:2000]:
            copy_records(piece, (), output)
    if len(cut) <= 2000:
        assert (tmp_path / "copy").read_bytes() == path.read_bytes()


def test_texts_without_a_url_are_known_by_their_places(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "one"}\n{"text": "two", "url": "u"}\n{"text": "three"}\n')
    assert [one.shown_url for one in found_in(path)] == [f"{path}:0", "u", f"{path}:44"]
    assert [one.text for one in found_in(path, scope="host")] == [None, "two", None]


def test_garbage_behind_a_gzip_file_costs_no_line(tmp_path: Path) -> None:
    """All lines before the damage are read, though one read of the file could give all of them."""
    path = corpora.write(tmp_path / "a.jsonl.gz", PAGES)
    path.write_bytes(path.read_bytes() + b"garbage")
    assert [one.shown_url for one in found_in(path)] == [*(url for url, _ in PAGES), None]
