"""Files that other tools have written, and people have moved, lose no page without a word."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from crawler.dedup import DedupConfig
from crawler.dedup.errors import InputError
from crawler.offline.exclusion import hold_folder
from crawler.offline.records.files import Format, cut_pieces, local_files
from crawler.offline.records.input_pages import InputReader, InputRecord, Left, pages_of
from crawler.offline.records.input_records import list_input, read_records
from crawler.offline.records.kept_records import copy_records
from crawler.offline.records.outputs import open_output
from tests.offline import corpora
from tests.support.texts import article, text

WORDS = text(article(1, 60))
HTML = f"<!DOCTYPE html><html><body><p>{WORDS}</p></body></html>".encode()
HTTP = "application/http; msgtype=response"
UNTYPED = corpora.response("http://e.example/", HTML).replace(HTTP.encode(), b"")


def records_in(path: Path, **settings: Any) -> list[InputRecord]:
    reader = InputReader(DedupConfig(templates=False, **settings))
    pieces = cut_pieces(local_files(str(path)), 1 << 40)
    return [one for piece in pieces for one in pages_of(piece, reader)]


@pytest.mark.parametrize(
    ("record", "is_page"),
    [
        (corpora.response("http://e.example/", HTML, "Server: x"), True),
        (corpora.response("http://e.example/", HTML, "Content-Type: binary/octet-stream"), True),
        (corpora.response("http://e.example/", b"GIF89a", "Server: x"), False),
        (corpora.response("http://e.example/", HTML, "Content-Type: text/plain"), False),
        (corpora.response("http://e.example/", HTML, status="203 Other"), True),
        (UNTYPED, True),
        (UNTYPED.replace(b"Content-Type: \r", b"Content-Type: APPLICATION/HTTP\r"), True),
        (corpora.warc_record("resource", "http://e.example/", "", HTML), True),
        (corpora.warc_record("conversion", "http://e.example/", "text/html", HTML), True),
        (corpora.warc_record("conversion", "http://e.example/", "image/png", b"GIF89a"), False),
        (corpora.warc_record("conversion", "http://e.example/", "", WORDS.encode()), True),
    ],
)  # fmt: skip
def test_a_record_is_a_page_if_a_crawl_takes_it_for_one(
    tmp_path: Path, record: bytes, is_page: bool
) -> None:
    """Types that are missing or say nothing lose no page, and tags are never a page's text."""
    path = tmp_path / "a.warc"
    path.write_bytes(record)
    (found,) = records_in(path)
    assert (found.text, found.fault) == (WORDS if is_page else None, None)


def test_every_record_of_an_archive_is_counted(tmp_path: Path) -> None:
    """Those that can be no pages are skipped; a response that cannot be read is told."""
    path = tmp_path / "a.warc"
    path.write_bytes(
        corpora.warc_record("warcinfo", "x", "application/warc-fields", b"software: x")
        + corpora.warc_record("request", "http://e.example/", "application/http", b"GET / HTTP/1.1")
        + corpora.warc_record("response", "http://e.example/", HTTP, HTML)
        + corpora.response("http://e.example/", HTML)
    )
    info, request, headless, page = records_in(path)
    assert (info.url, request.url) == (Left.SKIPPED, Left.SKIPPED)
    assert (headless.fault, page.text) == ("has no HTTP head", WORDS)


def test_a_response_without_a_url_is_known_by_its_place(tmp_path: Path) -> None:
    """In a corpus, as any other text; a load needs a URL, and says that it is missing."""
    path = tmp_path / "a.warc"
    nameless = corpora.response("", HTML)
    path.write_bytes(corpora.response("http://e.example/", HTML) + nameless)
    _, found = records_in(path)
    assert (found.url, found.text) == (f"{path}:1", WORDS)
    with pytest.raises(ValueError, match="has no WARC-Target-URI"):
        InputReader(DedupConfig())(nameless, Format.WARC)


def test_lists_of_item_loaders_are_their_values(tmp_path: Path) -> None:
    """A loader without processors makes a list of each field, which a crawl takes, too."""
    path = tmp_path / "a.jsonl"
    half = len(WORDS) // 2
    rows = [
        {"url": ["http://e.example/1"], "title": ["Tea"], "text": [WORDS]},
        {"url": ["http://e.example/2"], "text": [WORDS[:half], WORDS[half:]]},
        {"url": ["http://e.example/3"], "html": [HTML.decode()]},
        {"url": ["http://e.example/4", "http://e.example/5"], "text": WORDS},
        {"url": 4.5, "text": WORDS},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    one, joined, html, two, number = records_in(path)
    assert [found.shown_url for found in (one, joined, html)] == [row["url"][0] for row in rows[:3]]
    assert [one.text, html.text] == [WORDS, WORDS]
    assert joined.text == f"{WORDS[:half]}\n{WORDS[half:]}"
    assert one.page is not None
    assert one.page.heading == "Tea"
    assert str(two.fault).startswith("its field 'url' is no text, but ['http")
    assert number.fault == "its field 'url' is no text, but 4.5"


def test_a_folder_is_read_behind_its_links(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Also one that a pattern names, as Spark's output is; files of unknown formats are told."""
    data, mirror = tmp_path / "data.parquet", tmp_path / "mirror"
    for folder in (data, mirror):
        folder.mkdir()
    for path in (
        data / "part.jsonl",
        data / "a.csv",
        data / "b.jsonl.bz2",
        mirror / "linked.jsonl",
    ):
        path.write_text("")
    (data / "mirror").symlink_to(mirror)
    (mirror / "back").symlink_to(data)
    os.mkfifo(mirror / "pipe.jsonl")  # reading would wait for a writer
    for pattern in (str(data), f"{tmp_path}/*.parquet"):
        names = [Path(file.path).name for file in local_files(pattern)]
        assert names == ["linked.jsonl", "part.jsonl"]
    assert "2 files not read, such as 'a.csv'; known: .parquet" in caplog.text
    (mirror / "gone.jsonl").symlink_to("nowhere")
    with pytest.raises(InputError, match=r"cannot read .*gone\.jsonl"):
        local_files(str(data))


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.warc.gz"])
def test_a_file_that_a_download_has_unpacked_is_told(tmp_path: Path, name: str) -> None:
    """Browsers and wget unpack what a server sends as compressed, and keep the name."""
    path = tmp_path / name
    path.write_bytes(corpora.response("http://e.example/", HTML))
    (found,) = records_in(path)
    assert found.fault == "it is not compressed by gzip: name it without .gz"


def test_a_scope_that_is_no_column_is_refused(tmp_path: Path) -> None:
    """Hive names it in the folder alone: copies in two languages would be dropped."""
    (tmp_path / "lang=en").mkdir()
    parquet.write_table(pa.table({"text": [WORDS]}), tmp_path / "lang=en" / "part.parquet")
    assert list_input([str(tmp_path)], DedupConfig())
    with pytest.raises(InputError, match="no column 'lang', which DEDUP_SCOPE names"):
        list_input([str(tmp_path)], DedupConfig(scope="lang"))


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """One line tells of it, also where spark-submit runs the job."""
    (tmp_path / "a.jsonl").write_text("")
    with (
        pytest.raises(InputError, match=r"cannot write to .*a\.jsonl.*: Not a directory"),
        hold_folder(None, str(tmp_path / "a.jsonl" / "clean")),  # type: ignore[arg-type]
    ):
        pass


@pytest.mark.parametrize(
    "kind", [pa.timestamp("ms"), pa.timestamp("ms", "Mars/Base"), pa.date64()], ids=str
)
def test_a_date_that_python_does_not_know_is_none(tmp_path: Path, kind: pa.DataType) -> None:
    """One that was written in the wrong unit ended the whole job."""
    path = tmp_path / "a.parquet"
    dates = pa.array([86_400_000, 10**15 // 86_400_000 * 86_400_000], pa.int64()).cast(kind)
    parquet.write_table(pa.table({"text": [WORDS, "a"], "date": dates}), path)
    assert [one.text for one in records_in(path, prefer="earlier")] == [WORDS, "a"]


def test_rows_that_cannot_be_copied_are_no_pages(tmp_path: Path) -> None:
    """Pages before damage in any column are read and copied, and those behind it in neither case.

    They were judged, and so their copies dropped, and then missing in what was kept.
    """
    path = tmp_path / "a.parquet"
    other = pa.array([bytes([number % 256]) * 100 for number in range(2000)])
    table = pa.table({"text": [f"page {number}" for number in range(2000)], "other": other})
    parquet.write_table(table, path, row_group_size=500, use_dictionary=False)
    place = parquet.read_metadata(path).row_group(2).column(1).data_page_offset
    data = path.read_bytes()
    path.write_bytes(data[:place] + b"\xff" * 60 + data[place + 60 :])
    *pages, fault = records_in(path)
    assert (len(pages), fault.url) == (768, None)
    (piece,) = cut_pieces(local_files(str(path)), 1 << 40)
    with open_output(str(tmp_path / "copy.parquet")) as output:
        assert copy_records(piece, (), output) == 768
    loaded = read_records(piece, DedupConfig())
    assert sum(1 for _ in loaded) == 2000
