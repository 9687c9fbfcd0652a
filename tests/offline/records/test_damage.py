"""Damaged files cost what is damaged, and what is no page is counted."""

from __future__ import annotations

import gzip
import io
import json
import random
import zlib
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa
import pytest
from pyarrow import parquet

from crawler.offline.records import gzip_members, outputs
from crawler.offline.records.kept_records import copy_records
from crawler.offline.records.lines import LIMIT
from crawler.offline.records.outputs import open_output
from tests.offline import corpora
from tests.offline.records.found import PAGES, found_in, whole


@pytest.mark.parametrize(
    "line",
    [b"{", b"[1]", b'"text"', b'{"url": "u"}', b'{"url": 3.5, "text": "t"}',
     b"[" * 10**5, b"\xff\xfe", b'{"url": "u", "text": 7}'],
)  # fmt: skip
def test_what_is_no_page_is_counted_and_kept(tmp_path: Path, line: bytes) -> None:
    """A line that is no page stops nothing, and stays in the output as it is."""
    path = tmp_path / "a.jsonl"
    good = json.dumps({"url": "https://e.example/", "html": corpora.html("words")}).encode()
    path.write_bytes(line + b"\n" + good)
    bad, page = found_in(path)
    assert (bad.text, bad.url) == (None, "")
    assert page.url == "https://e.example/"
    with open_output(str(tmp_path / "copy")) as output:
        assert copy_records(whole(path), (), output) == 2
    assert (tmp_path / "copy").read_bytes() == path.read_bytes()


def test_an_error_of_the_output_is_no_damage_of_the_input(tmp_path: Path) -> None:
    """Arrow's errors for a network have no number, as those of damaged files: the task fails."""

    class Full(io.BytesIO):
        def write(self, data: Any) -> int:
            raise OSError("when uploading a part: NETWORK_CONNECTION")

    for name in "lines.jsonl", "a.warc":
        path = corpora.write(tmp_path / name, PAGES)
        with pytest.raises(OSError, match="NETWORK_CONNECTION"):
            copy_records(whole(path), {0}, outputs.Output(name, Full()))


@pytest.mark.parametrize("size", [50, 1 << 20])
def test_a_line_that_is_too_long_is_one_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """It is no page, counts once, however often it exceeds the limit, and stays in the output."""
    monkeypatch.setattr("crawler.offline.records.lines.LINE", 100)
    path = tmp_path / "a.jsonl"
    good = json.dumps({"url": "https://e.example/", "text": "words"}).encode()
    path.write_bytes(good + b"\n" + good.ljust(450, b"x") + b"\n" + good)
    found = found_in(path, size)
    assert [one.text for one in found] == ["words", None, "words"]
    assert str(found[1].fault).startswith("longer than ")
    with open_output(str(tmp_path / "copy")) as output:
        copy_records(whole(path), (), output)
    assert (tmp_path / "copy").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.parquet", "a.json.zst"])
def test_a_damaged_file_gives_what_comes_before(tmp_path: Path, name: str) -> None:
    """A file that breaks off is named as damaged; what can be read of it is."""
    path = corpora.write(tmp_path / name, PAGES)
    path.write_bytes(path.read_bytes()[:-40] + b"garbage" * 5)
    found = found_in(path)
    assert found[-1].text is None
    assert all(one.text is not None for one in found[:-1])
    urls = [url for url, _ in PAGES]
    assert [one.shown_url for one in found[:-1]] == urls[: len(found) - 1]
    assert len(found) > 1 or name.endswith(".parquet")  # whose key to all stands at its end


def test_a_codec_that_arrow_was_built_without_is_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wheels of PyPI have all codecs, so the error is raised here as other builds do."""

    def refuse(*_: object, **__: object) -> NoReturn:
        raise pa.ArrowNotImplementedError("Support for codec 'brotli' not built")

    path = corpora.write(tmp_path / "a.parquet", PAGES)
    monkeypatch.setattr(parquet.ParquetFile, "iter_batches", refuse)
    (found,) = found_in(path)
    assert found.text is None
    assert "brotli" in str(found.fault)


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.jsonl.zst"])
def test_compressed_lines_that_break_off_are_damaged(tmp_path: Path, name: str) -> None:
    """Wherever it ends: whole lines are read, and that others are missing is told."""
    path = corpora.write(tmp_path / name, PAGES)
    data = path.read_bytes()
    for lost in (1, 5, 60):
        path.write_bytes(data[:-lost])
        *rest, broken = found_in(path)
        assert (broken.url, broken.text) == (None, None)
        assert [one.shown_url for one in rest] == [url for url, _ in PAGES][: len(rest)]
        assert len(rest) >= len(PAGES) - 1


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.jsonl.zst"])
def test_compressed_lines_with_a_hole_are_damaged(tmp_path: Path, name: str) -> None:
    """What stands before the damage is read and copied."""
    path, copy = corpora.write(tmp_path / name, PAGES), tmp_path / "copy.jsonl"
    data = path.read_bytes()
    middle = len(data) // 2
    path.write_bytes(data[:middle] + bytes(1000) + data[middle + 1000 :])
    *rest, broken = found_in(path)
    assert (len(rest) > 0, broken.url) == (True, None)
    with open_output(str(copy)) as output:
        assert copy_records(whole(path), (), output) == len(rest)


@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz", "a.warc.wet.gz"])
def test_a_warc_file_that_breaks_off_is_damaged(tmp_path: Path, name: str) -> None:
    """As of a broken download: what is whole is read, half a page is none, and it is told."""
    path = corpora.write(tmp_path / name, PAGES)
    data = path.read_bytes()
    pages = [(one.url, one.text) for one in found_in(path)]
    for lost in (30, 60, 90):
        path.write_bytes(data[:-lost])
        *rest, broken = found_in(path)
        assert broken.url is None
        assert broken.fault != "EOFError"
        assert [(one.url, one.text) for one in rest] == pages[:-1]
        with open_output(str(tmp_path / f"copy-{name}")) as output:
            copy_records(whole(path), (), output)
        assert [(one.url, one.text) for one in found_in(tmp_path / f"copy-{name}")] == pages[:-1]


@pytest.mark.parametrize("kind", [b"request", b"response"])
def test_a_warc_file_that_breaks_off_in_what_is_no_page_is_damaged(
    tmp_path: Path, kind: bytes
) -> None:
    """As in the request behind a page, or where a damaged length reaches over all pages behind."""
    path = corpora.write(tmp_path / "a.warc", PAGES)
    length = 2 * LIMIT if kind == b"response" else 100
    last = b"WARC/1.0\r\nWARC-Type: %s\r\nContent-Length: %d\r\n\r\nGET / HTTP" % (kind, length)
    path.write_bytes(path.read_bytes() + last)
    assert [one.shown_url for one in found_in(path)] == [*(url for url, _ in PAGES), None]


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.warc.gz", "a.warc.wet.gz"])
@pytest.mark.parametrize("damage", [b"", bytes(9), b"\x1f\x8b\x08\0garbage"])
def test_a_damaged_member_of_a_gzip_file_costs_that_member(
    tmp_path: Path, name: str, damage: bytes
) -> None:
    """All pages before and behind it are read and copied, and that one is missing is told."""
    path, copy = corpora.write(tmp_path / name, PAGES), tmp_path / f"copy-{name}"
    members = [gzip.compress(one) for one in _records_of(path)]
    for broken in (len(members) // 2, len(members) - 1):
        parts = list(members)
        parts[broken] = parts[broken][:60] + damage + parts[broken][70 + len(damage) :]
        path.write_bytes(b"".join(parts))
        *rest, end = found_in(path)
        lost = broken - len(members) + len(PAGES)  # a WARC file begins with what is no page
        assert [one.shown_url for one in rest] == [
            url for url, _ in PAGES[:lost] + PAGES[lost + 1 :]
        ]
        assert (end.url, end.text) == (None, None)
        with open_output(str(copy)) as output:
            copy_records(whole(path), (), output)
        assert [one.shown_url for one in found_in(copy)] == [one.shown_url for one in rest]


def _records_of(path: Path) -> list[bytes]:
    """What the members of a file hold."""
    data, found = path.read_bytes(), []
    while data:
        unpacker = zlib.decompressobj(31)
        found.append(unpacker.decompress(data))
        data = unpacker.unused_data
    return found


def test_a_line_without_end_in_a_gzip_file_is_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of a megabyte can unpack to a line of a gigabyte, which took all memory."""
    monkeypatch.setattr(gzip_members, "_READ", 1000)
    monkeypatch.setattr(gzip_members, "_MOST_HELD", 10_000)
    content = random.Random(1).randbytes(50_000).hex().encode()
    source = io.BytesIO(gzip.compress(content))
    reader = gzip_members.MemberReader(source, lines=True)
    assert reader.read(1) == content[:1]
    assert source.tell() < len(source.getvalue()) / 2
    assert content[1:] == reader.read()


def test_a_member_of_many_lines_is_read_up_to_its_damage(tmp_path: Path) -> None:
    """And all of the next one."""
    path = tmp_path / "a.jsonl.gz"
    lines = [
        json.dumps({"url": f"https://e.example/{n}", "text": f"{n * n} {n}"}).encode() + b"\n"
        for n in range(60_000)
    ]
    half = gzip.compress(b"".join(lines[:50_000]))
    middle = len(half) // 2
    path.write_bytes(half[:middle] + bytes(40) + half[middle:] + gzip.compress(lines[-1]))
    *rest, last, end = found_in(path)
    assert 20_000 < len(rest) < 50_000
    assert last.url == "https://e.example/59999"
    assert end.url is None
