"""``scrapy dedup clusters``: files of documents in, lists of clusters out."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from crawler.commands import output
from crawler.commands.subcommands import Exit
from crawler.zstd import zstd
from tests.support.texts import article, changed, text

COPY = text(changed(article(2), 3))
DOCUMENTS = [
    {"url": "http://a/1", "text": text(article(1))},
    {"url": "http://a/2", "text": text(article(2))},
    {"id": 3, "text": COPY},
    {
        "url": "http://a/4",
        "text": "",
        "html": f"<html><body><p>{text(article(2))}</p></body></html>",
    },
    {"url": "http://a/5", "text": None, "html": "<p>tea</p>"},
]


@pytest.fixture
def jsonl(tmp_path):
    """Writes documents, or lines as they are, and gives the file's name."""

    def write(*documents: dict | bytes) -> str:
        path = tmp_path / "pages.jsonl"
        lines = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in documents]
        path.write_bytes(b"\n".join(lines))
        return str(path)

    return write


def test_clusters_are_listed_largest_first_representatives_first(dedup, jsonl):
    """JSON lines hold every document once, with its similarity to its representative."""
    code, out, err = dedup("clusters", "--json", jsonl(*DOCUMENTS))
    rows = [json.loads(line) for line in out.splitlines()]
    assert (code, err) == (Exit.FOUND, "")
    assert [(row["cluster"], row["id"], row["representative"]) for row in rows] == [
        (1, "http://a/2", True),
        (1, "3", False),
        (1, "http://a/4", False),
        (2, "http://a/1", True),
        (3, "http://a/5", True),
    ]
    assert rows[2]["similarity"] == 1
    assert 0.8 <= rows[1]["low"] <= rows[1]["similarity"] <= rows[1]["high"] < 1


def test_csv_holds_what_json_holds(dedup, jsonl, tmp_path):
    """The CSV has a header and the same rows, beside JSON lines or the table."""
    path = tmp_path / "out.csv"
    _, out, _ = dedup("clusters", "--json", "--csv", str(path), jsonl(*DOCUMENTS))
    written = path.read_text()
    rows = list(csv.DictReader(io.StringIO(written)))
    assert [row["id"] for row in rows] == [json.loads(line)["id"] for line in out.splitlines()]
    assert rows[0].keys() == json.loads(out.splitlines()[0]).keys()
    _, out, _ = dedup("clusters", "--csv", str(path), jsonl(*DOCUMENTS))
    assert path.read_text() == written
    assert out.splitlines()[:2] == [
        "cluster\tdocuments\tsimilarity\tdocument",
        "1\t3\t–\thttp://a/2",
    ]
    assert "duplicates\t2" in out


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_documents_that_are_all_unlike(dedup, jsonl, form):
    """The exit code tells that no pair is found, and nothing grouped; --json lists them all."""
    documents = jsonl(*DOCUMENTS[:2])
    assert dedup("clusters", *form, "--pairs", documents)[0] == Exit.NOTHING
    code, out, err = dedup("clusters", *form, documents)
    said = f"scrapy dedup: {documents!r} holds no clusters of 2 documents\n"
    assert (code, err, "similarity" in out) == (Exit.NOTHING, said, bool(form))
    assert dedup("clusters", *form, "--min-size", "9", documents)[0] == Exit.NOTHING


def test_pairs(dedup, jsonl):
    """All similar pairs, instead of clusters."""
    code, out, _ = dedup("clusters", "--pairs", "--json", jsonl(*DOCUMENTS))
    pairs = [json.loads(line) for line in out.splitlines()]
    assert code == Exit.FOUND
    assert {(pair["first"], pair["second"]) for pair in pairs} == {
        ("http://a/2", "3"),
        ("http://a/2", "http://a/4"),
        ("3", "http://a/4"),
    }
    _, out, err = dedup("clusters", "--pairs", jsonl(*DOCUMENTS))
    assert out.count("\n") == 3 + 2
    assert "the bands find 96.5% of pairs at 0.8" in err
    code, out, err = dedup("clusters", "--pairs", "--exact", "--json", jsonl(*DOCUMENTS))
    exact = [json.loads(line) for line in out.splitlines()]
    assert (code, err) == (Exit.FOUND, "")
    assert [(pair["first"], pair["second"]) for pair in exact] == [
        ("http://a/2", "3"),
        ("http://a/2", "http://a/4"),
        ("3", "http://a/4"),
    ]
    assert all(pair["low"] == pair["similarity"] == pair["high"] for pair in exact)
    assert dedup("clusters", "--exact", jsonl(*DOCUMENTS))[0] == Exit.USAGE


def test_html_is_read_by_the_extractor_of_the_settings(dedup, jsonl):
    """DEDUP_EXTRACTOR takes the text from HTML: what it leaves of the tags are words."""
    name = jsonl(*DOCUMENTS)
    for words, is_equal in ([], True), (["-s", "DEDUP_EXTRACTOR=html.escape"], False):
        _, out, _ = dedup("clusters", "--pairs", "--json", name, *words)
        pairs = {
            (p["first"], p["second"]): p["similarity"] for p in map(json.loads, out.splitlines())
        }
        assert (pairs["http://a/2", "http://a/4"] == 1) == is_equal


def test_the_threshold_is_that_of_the_option(dedup, jsonl):
    """At threshold 1 only equal words are one cluster."""
    _, out, _ = dedup("clusters", "--json", "--threshold", "1", jsonl(*DOCUMENTS))
    assert len({json.loads(line)["cluster"] for line in out.splitlines()}) == 4


def test_fields_and_standard_input(dedup, monkeypatch):
    """Fields are named by options or settings; a dash is standard input."""
    lines = [json.dumps({"name": i, "body": "tea"}).encode() + b"\n\n" for i in range(3)]
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"".join(lines))))
    words = ["--json", "--id-field", "name", "-s", "DEDUP_TEXT_FIELD=body"]
    _, out, _ = dedup("clusters", "-", *words)
    assert [json.loads(line)["cluster"] for line in out.splitlines()] == [1, 1, 1]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{", "not JSON"),
        (b"[" * 100_000, "nested too deep"),
        (b"\xff\xfe\xfd", "not JSON"),
        (b"[1]", "not a JSON object"),
        (b'{"text": "a"}', "has no field 'url' or 'id'"),
        (b'{"url": "/a"}', "has no field 'text' or 'html'"),
        (b'{"url": ["/a"], "text": "a"}', 'its name is not text: ["/a"]'),
        (b'{"url": "/a", "text": 5}', "its field 'text' is not text: 5"),
        (b'{"url": "/a", "html": {}}', "its field 'html' is not text: {}"),
        (b'{"url": "/a", "text": ' + b"9" * 5000 + b"}", "not JSON"),
    ],
)
def test_a_bad_line_is_named(dedup, jsonl, line, message):
    """What is no document is one line of error with the line's number, and exit code 2."""
    code, out, err = dedup("clusters", jsonl(DOCUMENTS[0], line))
    assert (code, out, err.count("\n")) == (Exit.USAGE, "", 1)
    assert ", line 2: " in err
    assert message in err


def test_files_that_cannot_be_used(dedup, jsonl):
    """A file that is not there, one that cannot be written, and one without documents."""
    assert "No such file" in dedup("clusters", "/nowhere")[2]
    assert "does not hold JSON lines" in dedup("clusters", "/nowhere.warc.gz")[2]
    code, _, err = dedup("clusters", jsonl(*DOCUMENTS), "--csv", "/nowhere/out.csv")
    assert (code, err.count("\n")) == (Exit.USAGE, 1)
    assert dedup("clusters", jsonl(b"", b" "))[0] == Exit.NOTHING


@pytest.mark.parametrize(("ending", "pack"), [("gz", gzip.compress), ("zst", zstd.compress)])
def test_packed_files(dedup, jsonl, tmp_path, ending, pack):
    """Lines packed by gzip or zstd are read as they are; what breaks off is an error."""
    plain = jsonl(*DOCUMENTS)
    packed = tmp_path / f"pages.jsonl.{ending}"
    data = pack(Path(plain).read_bytes())
    packed.write_bytes(data)
    assert dedup("clusters", "--json", str(packed)) == dedup("clusters", "--json", plain)
    for damaged in (data[:-10], b"no " + data):
        packed.write_bytes(damaged)
        code, out, err = dedup("clusters", str(packed))
        assert (code, out, err.count("\n")) == (Exit.USAGE, "", 1)
        assert "cannot read" in err
        assert "None" not in err


@pytest.mark.parametrize("begin", [b"[", b" \n\n [{}"])
def test_a_json_array_is_refused(dedup, jsonl, begin):
    """What `-O feed.json` writes is one error that says what to write instead."""
    code, out, err = dedup("clusters", jsonl(begin, *DOCUMENTS, b"]"))
    assert (code, out, err.count("\n")) == (Exit.USAGE, "", 1)
    assert "is a JSON array" in err
    assert "-O feed.jsonl" in err


def test_texts_that_act_on_terminals_or_files(dedup, jsonl, tmp_path, monkeypatch):
    """Lone surrogates and control sequences in names and texts do no harm."""
    path = tmp_path / "out.csv"
    bad = {"url": '\x1b[31m\ud800,"\n', "text": "a \ud800 b \0 c"}
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    code, out, _ = dedup("clusters", jsonl(bad, bad), "--csv", str(path))
    assert code == Exit.FOUND
    assert "\x1b[31m\\" not in out
    rows = csv.DictReader(io.StringIO(path.read_text()))
    assert [row["representative"] for row in rows] == ["True", "False"]


def test_a_person_is_shown_the_largest(dedup, jsonl, monkeypatch):
    """In a terminal long lists are cut, and say so."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    many = [{"id": f"{i}-{j}", "text": f"tea {i}"} for i in range(25) for j in range(8)]
    _, out, _ = dedup("clusters", jsonl(*many))
    assert "(5 more in --json)" in out
    assert out.count("(2 more)") == 20


def test_long_work_says_how_far_it_is(dedup, jsonl, monkeypatch):
    """Progress goes to standard error, so that a pipe holds results only."""
    monkeypatch.setattr(output, "_PROGRESS", -1.0)
    _, out, err = dedup("clusters", "--json", jsonl(*DOCUMENTS))
    assert err.splitlines()[-1] == "scrapy dedup: 5 documents read"
    assert len(out.splitlines()) == 5


def test_scopes_of_a_file(dedup, jsonl):
    """Documents of two hosts, or with two values in a field, are no copies of each other."""
    rows = [
        {"url": f"http://{host}/{number}", "text": text(article(1)), "tenant": number}
        for host in "ab"
        for number in range(2)
    ]
    for scope, clusters in (("all", 1), ("host", 2), ("tenant", 2)):
        _, out, _ = dedup("clusters", "--json", jsonl(*rows), "-s", f"DEDUP_SCOPE={scope}")
        found = {json.loads(line)["cluster"] for line in out.splitlines()}
        assert len(found) == clusters
        words = "clusters", "--pairs", "--exact", "--json", jsonl(*rows)
        _, out, _ = dedup(*words, "-s", f"DEDUP_SCOPE={scope}")
        assert len(out.splitlines()) == {1: 6, 2: 2}[clusters]
