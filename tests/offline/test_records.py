"""Files of every format give their pages, and are copied without those that are dropped."""

from __future__ import annotations

import gzip
import io
import json
import random
import re
import signal
import subprocess
import sys
import zlib
from contextlib import nullcontext, suppress
from datetime import datetime
from itertools import compress
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa
import pytest
from pyarrow import parquet

from crawler.chrome import strip_chrome
from crawler.dedup import DedupConfig
from crawler.dedup.errors import InputError
from crawler.dedup.fingerprint import Fingerprinter
from crawler.dedup.store.messages import Crawl
from crawler.offline import columns, load_chunks
from crawler.offline.load_chunks import Batch
from crawler.offline.records import gzip_members, outputs
from crawler.offline.records.files import (
    File,
    Format,
    Piece,
    cut_pieces,
    join_pieces,
    local_files,
    refuse_inside,
)
from crawler.offline.records.input_pages import (
    InputPage,
    InputReader,
    InputRecord,
    group_pages,
    pages_of,
)
from crawler.offline.records.input_records import find_local_files, list_input, read_records
from crawler.offline.records.kept_records import copy_records
from crawler.offline.records.lines import LIMIT
from crawler.offline.records.outputs import open_output
from tests.offline import corpora

PAGES = corpora.pages(6)
ROOT = Path(__file__).parents[2]
NAMES = [
    "a.jsonl", "a.jsonl.gz", "a.json.zst", "a.parquet", "a.warc", "a.warc.gz", "a.warc.zst",
    "a.warc.wet.gz",
]  # fmt: skip


def whole(path: Path) -> Piece:
    (piece,) = cut_pieces(local_files(str(path)), 1 << 40)
    return piece


def found_in(path: Path, size: int = 1 << 40, **settings: object) -> list[InputRecord]:
    reader = InputReader(DedupConfig(**{"templates": False, **settings}))
    found = [
        one for piece in cut_pieces(local_files(str(path)), size) for one in pages_of(piece, reader)
    ]
    return [one for one in found if one.text is not None or one.fault is not None]


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


def test_warc_records_that_are_no_pages_pass(tmp_path: Path) -> None:
    """Redirects, images, requests and revisits are no pages; chunked and compressed bodies are.

    Nor is an image that a server calls a page.
    """
    body = corpora.html("some words that make up a page of text").encode()
    path = tmp_path / "a.warc"
    path.write_bytes(
        corpora.warc_record("request", "https://e.example/", "application/http", b"GET / HTTP/1.1")
        + corpora.response("https://e.example/moved", body, status="301 Moved")
        + corpora.response("https://e.example/image", b"GIF89a", "Content-Type: image/gif")
        + corpora.response("https://e.example/called", b"GIF89a" + bytes(range(256)) * 9)
        + corpora.warc_record("revisit", "https://e.example/", "application/http", b"")
        + corpora.response(
            "<https://e.example/chunked>", corpora.chunked(gzip.compress(body)),
            "Content-Type: text/html; charset=utf-8", "Content-Encoding: gzip",
            "Transfer-Encoding: chunked",
        )
        + corpora.response("https://e.example/last", body)
    )  # fmt: skip
    found = found_in(path)
    urls = ["https://e.example/chunked", "https://e.example/last"]
    assert [one.shown_url for one in found] == urls
    assert found[0].text == found[1].text


def test_a_head_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """A page whose server ends lines with LF alone is not taken for no page."""
    head, body = b"HTTP/1.0 %d -\nContent-Type: text/html\n\n", b"<p>some words\r\n\r\n</p>"
    kind = "application/http; msgtype=response"
    path = tmp_path / "a.warc"
    path.write_bytes(
        corpora.warc_record("response", "https://e.example/", kind, head % 200 + body)
        + corpora.warc_record("response", "https://e.example/gone", kind, head % 404 + body)
    )
    (found,) = found_in(path)
    assert (found.text, found.fault) == (None, "the lines of its HTTP head end with LF, not CRLF")


def test_bodies_that_were_decoded_before_are_read(tmp_path: Path) -> None:
    """Their headers name chunks and a compression, or both of which one is left; others do not."""
    body = corpora.html("some words that make up a page of text").encode()
    html, chunks = "Content-Type: text/html; charset=utf-8", "Transfer-Encoding: chunked"
    packed = "Content-Encoding: gzip"
    bodies = [
        (body, chunks),
        (body, packed),
        (b"\xef\xbb\xbf\n" + body, "Content-Encoding: br"),
        (body, chunks, packed),
        (corpora.chunked(body), chunks, packed),
        (gzip.compress(body), chunks, packed),
    ]
    lost = [(b"words " * 10**5, chunks), (gzip.compress(body)[9:], packed)]
    path = tmp_path / "a.warc"
    path.write_bytes(
        b"".join(
            corpora.response(f"https://e.example/{number}", one, html, *head)
            for number, (one, *head) in enumerate(bodies + lost)
        )
    )
    found = found_in(path)
    expected = strip_chrome(corpora.html("some words that make up a page of text")).text
    assert [one.text for one in found] == [expected] * len(bodies) + [None] * len(lost)


@pytest.mark.parametrize(
    ("coding", "bits"), [("x-gzip", 31), ("gzip", 31), ("deflate", 15), ("deflate", -15)]
)
def test_every_name_and_form_of_a_compression(tmp_path: Path, coding: str, bits: int) -> None:
    """Old servers say x-gzip, and some that deflate leave the header out."""
    packer = zlib.compressobj(wbits=bits)
    body = packer.compress(corpora.html("some words of a page").encode()) + packer.flush()
    head = ("Content-Type: text/html", f"Content-Encoding: {coding}")
    path = tmp_path / "a.warc"
    path.write_bytes(corpora.response("https://e.example/", body, *head))
    expected = strip_chrome(corpora.html("some words of a page")).text
    assert [one.text for one in found_in(path)] == [expected]


@pytest.mark.parametrize("header", ["Content-Encoding", "Transfer-Encoding"])
def test_a_body_that_unpacks_to_gigabytes(tmp_path: Path, header: str) -> None:
    """It is unpacked up to the size of a page, in memory of that size."""
    packer = zlib.compressobj(wbits=31)
    start, megabyte = (
        packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2)
    )
    path = tmp_path / "a.warc"
    head = ("Content-Type: text/html", f"{header}: gzip")
    path.write_bytes(corpora.response("https://e.example/", start + 2000 * megabyte, *head))
    script = (
        "import resource, sys; from pathlib import Path\n"
        "from crawler.offline.records.warc import body_in, record_in\n"
        "raw, size = Path(sys.argv[1]).read_bytes(), 10 << 20\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "assert len(body_in(record_in(raw), size)) == size\n"
        "print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10)\n"
    )
    command = [sys.executable, "-c", script, str(path)]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    assert int(found.stdout) < 200  # MB, and less where the unit is another


def test_what_is_said_of_a_body_does_not_hold_it(tmp_path: Path) -> None:
    """The reader of a broken body names all that it found in place of a chunk."""
    body, path = b"words " * 10**5, tmp_path / "a.warc"
    head = ("Content-Type: text/html", "Transfer-Encoding: chunked")
    path.write_bytes(corpora.response("https://e.example/", body, *head))
    reader = InputReader(DedupConfig())
    ((_, raw),) = read_records(whole(path), reader.config)
    with pytest.raises(ValueError, match=r"^cannot be read: .*chunk header.{,200}$"):
        reader(raw, Format.WARC)


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


def test_a_parquet_file_is_copied_up_to_its_damage(tmp_path: Path) -> None:
    """Rows before a damaged place are found and copied, and the copy is sound."""
    path, copy = tmp_path / "a.parquet", tmp_path / "copy.parquet"
    urls = [f"https://e.example/{number}" for number in range(2000)]
    table = pa.table({"url": urls, "text": [f"{url} and words" for url in urls]})
    parquet.write_table(table, path, row_group_size=500)
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 3000] = bytes(3000)
    path.write_bytes(data)
    *pages, broken = found_in(path)
    assert broken.url is None
    with open_output(str(copy)) as output:
        assert copy_records(whole(path), (), output) == len(pages) > 100
    assert [one.shown_url for one in found_in(copy)] == [one.shown_url for one in pages]


@pytest.mark.parametrize("codec", ["NONE", "GZIP", "ZSTD"])
def test_a_parquet_file_is_compressed_and_grouped_as_it_came(tmp_path: Path, codec: str) -> None:
    """Of all types, those that Arrow cannot filter among them, and in few groups of rows."""
    path, copy = tmp_path / "a.parquet", tmp_path / "copy.parquet"
    urls = [f"https://e.example/{number}" for number in range(2000)]
    texts = pa.array([f"{url} and words" for url in urls])
    kinds = [pa.large_string(), pa.dictionary(pa.int32(), pa.string())]
    with suppress(pa.ArrowNotImplementedError):  # by earlier versions
        parquet.write_table(pa.table({"text": texts.cast(pa.string_view())}), path)
        kinds.append(pa.string_view())
    columns = {"url": urls, "text": texts} | {str(kind): texts.cast(kind) for kind in kinds}
    columns["nested"] = pa.array([{"a": [number]} for number in range(2000)])
    parquet.write_table(pa.table(columns), path, compression=codec)
    dropped = set(range(0, 2000, 3))
    with open_output(str(copy)) as output:
        assert copy_records(whole(path), dropped, output) == 1333
    found = parquet.ParquetFile(copy)
    kept = [number not in dropped for number in range(2000)]
    assert found.read().to_pylist() == list(compress(pa.table(columns).to_pylist(), kept))
    groups = found.metadata
    assert groups.num_row_groups == 1
    same = {groups.row_group(0).column(i).compression for i in range(groups.num_columns)}
    assert same == {codec.replace("NONE", "UNCOMPRESSED")}


def test_parquet_in_the_lz4_of_hadoop_is_copied(tmp_path: Path) -> None:
    """Arrow reads it, and neither names nor writes it."""
    path, copy = tmp_path / "a.parquet", tmp_path / "copy.parquet"
    table = pa.table({"url": ["https://e.example/"] * 9})
    parquet.write_table(table, path, compression="lz4")
    raw, hadoop = (b"\x15%c" % (2 * codec) for codec in (7, 5))  # in its footer
    pages, mark, footer = path.read_bytes().rpartition(raw)
    path.write_bytes(pages + hadoop + footer)
    assert mark
    assert parquet.ParquetFile(path).metadata.row_group(0).column(0).compression != "LZ4"
    with open_output(str(copy)) as output:
        assert copy_records(whole(path), {0}, output) == 8
    assert parquet.read_table(copy) == table.slice(1)


def test_parquet_columns_of_bytes_are_text(tmp_path: Path) -> None:
    """As Hive and Impala write them, without a word of what they are."""
    path = tmp_path / "a.parquet"
    rows = [("https://e.example/ä", "sentences of words"), ("https://e.example/", "ß, \ufffd")]
    urls = [url.encode() for url, _ in rows]
    texts = [text.encode().replace("\ufffd".encode(), b"\xff") for _, text in rows]
    parquet.write_table(pa.table({"url": urls, "text": texts}), path)
    assert [(one.url, one.text) for one in found_in(path, canonical_urls=False)] == rows


@pytest.mark.parametrize("kind", ["plain", "dictionary"])
def test_parquet_texts_that_are_not_utf_8_cost_no_page(tmp_path: Path, kind: str) -> None:
    """Spark writes bytes that are cast to a string as they are: a file is read to its end."""
    path = tmp_path / "a.parquet"
    texts = [b"sentences of words"] * 600
    texts[300] = b"a caf\xe9"
    column = pa.array(texts, pa.binary()).view(pa.string())
    pages = {
        "url": [f"https://e.example/{number}" for number in range(600)],
        "text": column.dictionary_encode() if kind == "dictionary" else column,
        "html": pa.array([None] * 600, pa.large_string()),
    }
    parquet.write_table(pa.table(pages), path)
    found = found_in(path)
    assert [one.shown_url for one in found] == pages["url"]
    assert [found[number].text for number in (299, 300)] == ["sentences of words", "a caf\ufffd"]


def test_a_parquet_file_of_other_columns_names_the_settings(tmp_path: Path) -> None:
    """They say which columns are read."""
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"id": ["a"], "body": ["b"]}), path)
    (found,) = found_in(path)
    assert found.url is None
    assert found.fault is not None
    assert "columns html, text, url, which DEDUP_URL_FIELD" in found.fault


def test_files_in_which_nothing_can_be_a_page_are_refused(tmp_path: Path) -> None:
    """A JSON array, as Scrapy writes it to .json, and Parquet of other columns."""
    feed = tmp_path / "feed.json"
    feed.write_text('[\n{"url": "http://a.example/", "text": "words"}\n]\n')
    with pytest.raises(InputError, match="JSON array"):
        find_local_files([str(tmp_path)], DedupConfig())
    other = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"url": ["u"], "content": ["words"]}), other)
    with pytest.raises(InputError, match=r"no column 'html' or 'text', but url, content: "):
        find_local_files([str(other)], DedupConfig())
    named, config = [f"file://{other}", "s3a://b/", str(other)], DedupConfig(text_field="content")
    file, remote = list_input(named, config)
    assert isinstance(file, File)
    assert (file.path, remote) == (str(other), "s3a://b/")
    with pytest.raises(InputError, match="'s3a://b/' is not on this machine"):
        find_local_files(named, config)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"text": [[1]]}, r"'text' of '.*a\.parquet' holds list<.*>, not texts; DEDUP_TEXT_FIELD"),
        ({"text": [{"en": "a"}]}, r"'text' .* holds struct<.*DEDUP_TEXT_FIELD"),
        ({"text": [7], "html": [8]}, r"'text' .* holds int64, .*DEDUP_TEXT_FIELD"),
        ({"html": [1.5]}, r"'html' .* holds double, .*DEDUP_HTML_FIELD"),
        ({"text": ["a"], "url": [["u"]]}, r"'url' .* holds list<.*DEDUP_URL_FIELD"),
        ({"text": ["a"], "date": [7]}, r"'date' .* holds int64, .*DEDUP_DATE_FIELD"),
        ({"text": ["a"], "url": [7], "date": [["2026-01-01"]]}, ""),
        ({"text": [7], "html": [b"<p>a"], "url": [b"u"]}, ""),
        ({"text": [None], "url": [None]}, ""),
    ],
)
def test_parquet_columns_of_other_types_are_refused(
    tmp_path: Path, columns: dict[str, Any], said: str
) -> None:
    """Before anything is read; dates only if they decide."""
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table(columns), path)
    config = DedupConfig(prefer="earlier")
    with pytest.raises(InputError, match=said) if said else nullcontext():
        find_local_files([str(path)], config)
    if "date" in said:
        find_local_files([str(path)], DedupConfig())


def test_two_columns_of_one_name_are_refused_if_they_are_read(tmp_path: Path) -> None:
    """Nobody knows which of them is the text; others may have what names they like."""
    path = tmp_path / "a.parquet"
    cells = pa.array(["a"])
    table = pa.Table.from_arrays([cells] * 4, ["url", "text", "tag", "tag"])
    parquet.write_table(table, path)
    find_local_files([str(path)], DedupConfig())
    assert [one.text for one in found_in(path)] == ["a"]
    parquet.write_table(table.rename_columns(["url", "text", "tag", "text"]), path)
    with pytest.raises(InputError, match=r"a\.parquet' has more than one column 'text': rename"):
        find_local_files([str(path)], DedupConfig())
    assert [one.fault for one in found_in(path)] == [
        "it has more than one column 'text': rename all but one"
    ]


def test_texts_in_a_dictionary_are_texts(tmp_path: Path) -> None:
    """Made here: the first array that is made of a list imports pandas, whoever collects tests."""
    path = tmp_path / "a.parquet"
    texts = pa.array(["a"]).dictionary_encode()
    parquet.write_table(pa.table({"text": texts, "date": [datetime(2026, 1, 1)]}), path)
    find_local_files([str(path)], DedupConfig(prefer="earlier"))
    assert [one.text for one in found_in(path, prefer="earlier")] == ["a"]


def test_parquet_files_without_rows_are_copied(tmp_path: Path) -> None:
    """Empty ones, and those of which nothing is kept."""
    path, copy = tmp_path / "a.parquet", tmp_path / "copy.parquet"
    for count in (0, 300):
        parquet.write_table(pa.table({"url": ["u"] * count, "text": ["t"] * count}), path)
        with open_output(str(copy)) as output:
            assert copy_records(whole(path), range(300), output) == 0
        assert parquet.read_table(copy).num_rows == 0


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


def test_what_belongs_to_a_dropped_response_goes_with_it(tmp_path: Path) -> None:
    """Its request before it, its metadata and revisits behind it; what other pages have stays.

    Revisits may name a page by URL and time, and have requests of their own. A request may be that
    of several pages.
    """
    at = "WARC-Refers-To-Date: 2026-01-01T00:00:00Z\r\nWARC-Refers-To-Target-URI: http://e.example"
    records = {
        "asked": ("request", ""),
        "page": ("response", "WARC-Concurrent-To: <asked>"),
        "info": ("metadata", "WARC-Concurrent-To: <page>"),
        "visit": ("revisit", "WARC-Refers-To: <page>"),
        "seen": ("revisit", f"{at}/page"),
        "seen-asked": ("request", "WARC-Concurrent-To: <seen>"),
        "more": ("continuation", "WARC-Segment-Origin-ID: <page>"),
        "other-asked": ("request", ""),
        "other": ("response", "WARC-Concurrent-To: <other-asked>"),
        "other-info": ("metadata", "WARC-Refers-To: <other>"),
        "shared": ("metadata", "WARC-Concurrent-To: <page>\r\nWARC-Refers-To: <other>"),
        "both": ("request", "WARC-Concurrent-To: <page>\r\nWARC-Concurrent-To: <other>"),
        "other-seen": ("revisit", f"{at}/other"),
        "about": ("warcinfo", ""),
    }
    path, copy = tmp_path / "a.warc.gz", tmp_path / "copy.warc.gz"
    members = []
    for name, (kind, more) in records.items():
        plain = corpora.warc_record(kind, f"http://e.example/{name}", "text/plain", b"x")
        head = f"X-Name: {name}\r\nWARC-Record-ID: <{name}>\r\n{more or 'X: y'}\r\nX-Other: "
        members.append(gzip.compress(plain.replace(b"WARC-Record-ID: ", head.encode(), 1)))
    path.write_bytes(b"".join(members))
    with open_output(str(copy)) as output:
        assert copy_records(whole(path), {1}, output) == 7
    kept = re.findall(rb"X-Name: (\S+)", gzip.decompress(copy.read_bytes()))
    left = "other-asked other other-info shared both other-seen about"
    assert kept == left.encode().split()


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


def test_what_a_site_repeats_is_learnt_from_its_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By corpora and loads, and known of its first ones, too, unless DEDUP_TEMPLATES is off.

    A load hands it over in parts, in which a site may have one page only. What is learnt is kept
    for other processes only if there are any: a file may have pages of very many sites.
    """
    note = (
        "The words of this glossary were gathered by people who drink tea and write down what "
        "they mean. If a word is missing, or has another meaning where you live, write to them, "
        "and they will look it up before they add it to the next edition of the glossary. "
    )
    path = tmp_path / "glossary.jsonl"
    lines = [
        {
            "url": f"http://e.example/{n}",
            "html": f"<title>Word {n}</title><div><h2>Word {n}</h2><p>{n} leaves, {n * n} cups</p>"
            f"</div><div><p>{note * 2}</p></div>",
        }
        for n in range(18)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    piece, raws = whole(path), path.read_bytes().splitlines(keepends=True)
    rows = pa.RecordBatch.from_pylist([{**piece._asdict(), "content": None}])
    for is_on in (True, False):
        config = DedupConfig(templates=is_on)
        (batch,) = columns.read_pages([rows], config, 1)
        monkeypatch.setattr(load_chunks, "_reader", InputReader(config), raising=False)
        monkeypatch.setattr(load_chunks, "_fingerprinter", Fingerprinter(config, 1), raising=False)
        monkeypatch.setattr(load_chunks, "_crawl", Crawl(1, 1), raising=False)
        chunk = load_chunks._make_requests(Batch(str(path), [*range(18)], [*range(18)], raws))
        loaded = [request.fingerprint.own for request in chunk.requests]
        for owns in (batch["own"].to_pylist(), loaded):
            assert len(owns) == 18
            assert all(own[2] < 3 and own[3] >= 14 for own in owns) == is_on
        monkeypatch.setattr(load_chunks, "_reader", InputReader(config))
        parts = [load_chunks._make_requests(Batch(str(path), [0], [0], [raw])) for raw in raws]
        owns = [part.requests[0].fingerprint.own for part in parts]
        assert all(own[2] < 3 for own in owns[8:]) == is_on
        assert not any(part.lessons for part in (chunk, *parts))


def test_a_note_of_many_sites_is_no_text_of_their_pages(tmp_path: Path) -> None:
    """Of each page comes one row, in which the note is known even if later pages taught it."""
    path = tmp_path / "a.jsonl"
    rows = corpora.noted_sites(sites=90)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    pieces = pa.RecordBatch.from_pylist([{**whole(path)._asdict(), "content": None}])
    batches = list(columns.read_pages([pieces], DedupConfig(), 1))
    read = [row for batch in batches for row in batch.to_pylist()]
    assert len({row["position"] for row in read}) == len(read) == len(rows)
    assert all(row["own"][2] < 12 for row in read)


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
