"""What a site repeats is learnt from the pages of a file."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from crawler.dedup import DedupConfig
from crawler.dedup.fingerprint import Fingerprinter
from crawler.dedup.store.messages import Crawl
from crawler.offline import columns, load_chunks
from crawler.offline.load_chunks import Batch
from crawler.offline.records.input_pages import (
    InputReader,
)
from tests.offline import corpora
from tests.offline.records.found import whole


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
