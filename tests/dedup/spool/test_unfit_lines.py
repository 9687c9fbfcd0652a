"""Damaged lines, and pages that no index can take, are no obstacle."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from crawler.dedup import DedupConfig
from crawler.dedup.exchange.spool import Spool
from crawler.dedup.fingerprint import Fingerprint, Fingerprinter
from crawler.dedup.sketches import METHODS
from crawler.dedup.sketches.odd import SIMHASH
from crawler.dedup.store.messages import Gone
from tests.dedup.spool.kept import drained, request
from tests.support.texts import article, text


@pytest.mark.parametrize("line", ["", "{", "[]", "null", '{"index": "index"}', "\0", "[" * 100_000])
def test_a_damaged_line_is_no_obstacle(tmp_path: Path, line: str) -> None:
    """A line cut by a full disk is passed over and kept."""
    (tmp_path / "unchecked.jsonl").write_text(line + "\n")
    spool = Spool(tmp_path, "index")
    spool.add([request(1)])
    assert drained(spool) == [request(1)]
    assert spool.count() == ((0, 0), (1, 0))


def test_lines_of_no_index_are_set_aside(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Each crawl would tell of them; what other indexes wait for stays."""
    damaged = b"{\n" + b"x" * 3_000_000 + b"\n"
    (tmp_path / "unchecked.jsonl").write_bytes(damaged)
    spool, other = Spool(tmp_path, "index"), Spool(tmp_path, "other")
    spool.add([request(1)])
    other.add([request(2)])
    for _ in range(2):
        spool.set_aside()
    assert caplog.text.count("2 lines among the waiting pages") == 1
    assert (tmp_path / "unchecked.damaged").read_bytes() == damaged
    assert (drained(spool), drained(other)) == ([request(1)], [request(2)])


def test_a_line_that_a_full_disk_cut_off_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It has no end, and is a page that nobody will check all the same."""
    spool = Spool(tmp_path, "index")
    spool.add([request(1), request(2)])
    file = tmp_path / "unchecked.jsonl"
    file.write_bytes(file.read_bytes()[:-40])
    spool.set_aside()
    assert "1 line among the waiting pages" in caplog.text
    assert drained(spool) == [request(1)]


def replaced(record: dict[str, Any], values: dict[str, Any]) -> bytes:
    return json.dumps(record | values).encode() + b"\n"


@pytest.mark.parametrize(
    "values",
    [
        *({name: value} for name in ("url", "host", "canonical") for value in (5, None, "\ud800")),
        {"url": "x" * 65_536},
        *({"words": value} for value in ("x", -5, 7.0, True, 1 << 32, 0)),
        *({"rank": value} for value in ("x", 5, None, "00" * 256)),
        *({name: value} for name in ("yields", "preferred") for value in ("x", 1, None)),
        *({"exact": value} for value in ("", "ab" * 11, "ab" * 16, "x" * 24, 5)),
        *({"token": value} for value in ("", "ab" * 5, None)),
        *({"bands": value} for value in ("", "00", "00" * 28, "00" * 36, "ff" * 32, 5)),
        *({"odd": value} for value in ([], "", {}, 5, [5], [["a", "b", "00"]], [[1, 2, "00"]])),
        *(
            {"odd": [[level, members, "00" * 128]]}
            for level, members in ((64, 9), (254, 0), (255, 9), (256, 9), (-1, 9), (0, 1 << 16))
        ),
        {"odd": [[1, 9, "00" * 128]] * 2},
        *({"since": value} for value in ("x", -1, 1 << 32, None)),
    ],
    ids=repr,
)
def test_a_page_that_no_index_can_take_is_no_obstacle(
    tmp_path: Path, values: dict[str, Any]
) -> None:
    """A line with one value that this package never wrote is passed over and kept."""
    fingerprinter = Fingerprinter(DedupConfig(), seed=1)
    spool = Spool(tmp_path, "index", fingerprinter.fits)
    wanted = request(1)._replace(fingerprint=fingerprinter(text(article(1))))
    spool.add([wanted])
    path = tmp_path / "unchecked.jsonl"
    line = path.read_bytes()
    bad = replaced(json.loads(line), values)
    path.write_bytes(bad + line + line)
    assert spool.count() == ((2, 0), (1, 0))
    assert drained(spool) == [wanted, wanted]
    assert path.read_bytes() == bad


@pytest.mark.parametrize(
    "values",
    [{"gone": 5}, {"gone": "\ud800"}, {"since": "x"}, {"since": -1}, {"since": 1 << 32}],
    ids=repr,
)
def test_a_report_that_no_index_can_take_is_no_obstacle(
    tmp_path: Path, values: dict[str, Any]
) -> None:
    """As of a page."""
    bad = replaced({"index": "index", "gone": "http://host/", "since": 7}, values)
    path = tmp_path / "unchecked.jsonl"
    path.write_bytes(bad)
    spool = Spool(tmp_path, "index")
    spool.add([Gone("http://host/", 7)])
    assert spool.count() == ((0, 1), (1, 0))
    assert drained(spool) == [Gone("http://host/", 7)]
    assert path.read_bytes() == bad


@cache
def text_of(words: int) -> str:
    return text(article(2, words))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("words", [*range(2), *range(4, 7), 600, 300_000])
def test_every_fingerprint_fits_its_index(tmp_path: Path, method: str, words: int) -> None:
    """Whatever the method, and however long the text, a page comes back as it was kept."""
    page = text_of(words)
    for settings in ({}, {"shingle_unit": "char", "threshold": 0.5, "verify_bits": 512}):
        fingerprinter = Fingerprinter(DedupConfig(method=method, **settings), seed=1)
        spool = Spool(tmp_path, "index", fingerprinter.fits)
        kept = request(1)._replace(
            fingerprint=fingerprinter(page),
            url="",
            host="\u00fc",
            canonical="http://host/" + "\U0001f600" * 2000,
            yields=True,
            rank=b"\xff" * 255,
        )
        spool.add([kept])
        assert drained(spool) == [kept]


def test_a_fingerprint_of_another_method_does_not_fit() -> None:
    """Sketches are simhashes where they are asked for, and keys in one table stand in order."""
    page = text(article(1))
    made = {name: Fingerprinter(DedupConfig(method=name), seed=1) for name in METHODS}
    assert not made["two-stage"].fits(made["fast"](page))
    assert not made["fast"].fits(made["two-stage"](page))
    assert {sketch.level for sketch in made["two-stage"](page).odd} == {SIMHASH}
    found = made["modulo"](page)
    for bands in (found.bands + found.bands[-4:], found.bands[:4] * 2, bytes(4 * 257)):
        assert not made["modulo"].fits(Fingerprint(found.exact, found.words, bands, found.odd))
