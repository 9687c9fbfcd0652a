"""Parquet files: their columns, codecs and copies."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from datetime import datetime
from itertools import compress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from crawler.dedup import DedupConfig
from crawler.dedup.errors import InputError
from crawler.offline.records.files import (
    File,
)
from crawler.offline.records.input_records import find_local_files, list_input
from crawler.offline.records.kept_records import copy_records
from crawler.offline.records.outputs import open_output
from tests.offline.records.found import found_in, whole


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
