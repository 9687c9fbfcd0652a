"""WARC files: what is a page in them, and what goes with it."""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from crawler.chrome import strip_chrome
from crawler.dedup import DedupConfig
from crawler.offline.records.files import (
    Format,
)
from crawler.offline.records.input_pages import (
    InputReader,
)
from crawler.offline.records.input_records import read_records
from crawler.offline.records.kept_records import copy_records
from crawler.offline.records.outputs import open_output
from tests.offline import corpora
from tests.offline.records.found import found_in, whole


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
