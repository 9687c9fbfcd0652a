"""Files, URLs and standard input as documents of `scrapy dedup compare`."""

from __future__ import annotations

import asyncio
import io
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest

from crawler.commands import documents
from crawler.commands.subcommands import Exit
from crawler.dedup import (
    DedupConfig,
    DuplicateIndex,
    Kind,
    Verdict,
)
from crawler.dedup.archive.writer import ArchiveWriter
from tests.commands.conftest import ROOT
from tests.support.texts import article, changed, text

PAGE = "<!DOCTYPE html><nav><a href=/>Home</a></nav><main><p>{}</p></main>"


@pytest.fixture
def web(monkeypatch) -> Iterator[str]:
    """A site with a page, a text, and answers of the unpleasant kinds."""
    monkeypatch.setattr(documents, "_TIMEOUT", 0.5)
    monkeypatch.setattr(documents, "LIMIT", 1 << 20)  # 50 MB may take longer on a busy machine
    over = threading.Event()

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            kind = "page" if self.path == "/stra%C3%9Fe" else self.path.strip("/")
            self.send_response(302 if kind == "ftp" else 404 if kind == "gone" else 200)
            self.send_header("Content-Type", "text/html" if kind == "page" else "text/plain")
            if kind == "ftp":
                self.send_header("Location", "ftp://127.0.0.1/etc/passwd")
            if kind == "gzip":
                self.send_header("Content-Encoding", "gzip")
            self.end_headers()
            if kind == "page":
                self.wfile.write(PAGE.format("one two three " * 9).encode())
            elif kind == "text":
                self.wfile.write(f"<p>{self.headers['User-Agent']}".encode())
            while kind == "drip" and not over.wait(0.1):
                self.wfile.write(b"x")
            if kind == "large":
                self.wfile.write(b"x" * (documents.LIMIT + 1))

        def log_message(self, *words: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        over.set()
        server.shutdown()
        thread.join()


def test_a_terminal_shows_the_words_that_differ(dedup, files, monkeypatch):
    """A person sees the changed words in their place, and no control sequence of the texts."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    names = files(
        "one two three four five six seven", "one two three \u202e4 five six\x1b[31m seven"
    )
    _, out, _ = dedup("compare", *names)
    assert "… one two three [-four-] {+4+} five six" in out
    assert "\u202e" not in out
    assert "\x1b[31m" not in out


def test_a_word_of_thousands_of_characters_floods_no_terminal(dedup, files, monkeypatch):
    """A person is shown its two ends; a pipe and JSON get all of it."""
    long = "a" * 5000
    names = files(f"one two {long}".encode(), f"one two {long}b".encode())
    assert f"{long}\t{long}b" in dedup("compare", *names)[1]
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.setenv("NO_COLOR", "1")
    out = dedup("compare", *names)[1]
    half = "a" * 49
    assert f"[-{half}…{half}a-] {{+{half}…{half}b+}}" in out
    assert len(max(out.split(), key=len)) < 500


def test_html_is_stripped(dedup, files):
    """Of HTML the main text is compared, whatever the file is called; --raw takes the tags too."""
    content = (ROOT / "examples/demo_site/texts/lighthouse.txt").read_text()
    names = files(content, PAGE.format(content.replace("\n\n", "<p>")))
    assert json.loads(dedup("compare", "--json", *names)[1])["verdict"] == "exact"
    assert json.loads(dedup("compare", "--json", "--raw", *names)[1])["verdict"] != "exact"
    named = [*files(content), *files("about <html> in a text\n" + content)]
    assert json.loads(dedup("compare", "--json", *named)[1])["words"] == [297, 302]


def test_html_is_read_by_the_extractor_of_the_settings(dedup, files):
    """DEDUP_EXTRACTOR takes the text from HTML, not from a text."""
    names = files("<html><p>tea</p>", "&lt;html&gt;&lt;p&gt;tea&lt;/p&gt;")
    for words, verdict in (["-s", "DEDUP_EXTRACTOR=html.escape"], "exact"), ([], "unique"):
        assert json.loads(dedup("compare", "--json", *names, *words)[1])["verdict"] == verdict


def test_standard_input(dedup, files, monkeypatch):
    """A dash is standard input, once."""
    stdin = SimpleNamespace(buffer=io.BytesIO(b"a rose is a rose"))
    monkeypatch.setattr("sys.stdin", stdin)
    found = json.loads(dedup("compare", "--json", "-", *files("a rose is a rose"))[1])
    assert found["verdict"] == "exact"
    code, _, err = dedup("compare", "-", "-")
    assert (code, err.count("\n")) == (Exit.USAGE, 1)


def test_urls(dedup, web):
    """An address is fetched with the project's user agent; its content type says what it is."""
    _, out, _ = dedup("shingles", f"{web}/page", "--unit", "word", "--json")
    assert {one["text"] for one in json.loads(out)} >= {"one two three one two"}
    assert "Home" not in out
    _, out, _ = dedup(
        "shingles", f"{web}/text", "--size", "3", "--step", "1", "-s", "USER_AGENT=Ours"
    )
    assert "\tour" in out
    assert "\tp o" in out  # text/plain is no HTML
    assert dedup("shingles", f"{web}/straße")[0] == Exit.FOUND


def test_urls_of_the_index_are_read_from_the_archive(dedup, redis_url, tmp_path, web):
    """The text is what was checked when the page was crawled; what is not there is fetched."""
    words = article(1, 300)
    known = [("http://a.example/1?y=2&x=1", words), (f"{web}/page", changed(words, 2, seed=4))]
    config = DedupConfig(redis_url=redis_url, data_dir=tmp_path)

    async def crawl() -> None:
        async with DuplicateIndex.open(config) as index:
            writer = ArchiveWriter.of(config, index.digest)
            for url, one in known:
                writer.add(text(one), "Title", await index.check(url, text(one)), [])
        writer.close()

    asyncio.run(crawl())
    names = ["http://a.example/1?x=1&y=2#top", f"{web}/page"]
    found = json.loads(dedup("compare", *names, "--json")[1])
    assert found["a_from"].startswith("archive, ")
    assert found["b_from"].startswith("archive, ")
    assert (found["a"], found["b"]) == tuple(names)
    assert [change["added"] for change in found["changes"]] == ["other4"] * 2
    assert "\tarchive, " in dedup("compare", *names)[1]
    listed = json.loads(dedup("shingles", names[0], "--unit", "word", "--all", "--json")[1])
    assert len(listed) == 296
    other = json.loads(dedup("compare", names[0], f"{web}/text", "--json")[1])
    assert other["b_from"] == "fetched now"
    # The archive has no tags.
    other = json.loads(dedup("compare", names[1], f"{web}/text", "--raw", "--json")[1])
    assert (other["a_from"], other["b_from"]) == ("fetched now", "fetched now")
    # The page of today, not what was archived of it:
    today = json.loads(dedup("compare", names[1], names[1], "--raw", "--json")[1])
    assert today["words"] != found["words"]
    code, _, err = dedup("compare", "http://127.0.0.1:1/", names[0])
    assert (code, err.count("\n")) == (Exit.USAGE, 1)


def test_the_end_of_what_is_archived_is_no_difference(dedup, fill, files, tmp_path):
    """Of a text that the archive has cut, nothing is said to be missing behind that place."""
    words = article(1, 12_000)
    pages = [
        ("http://a.example/1", text(words)),
        ("http://b.example/1", text(["early", "words", *words])),
        ("http://c.example/1", text([*words[:100], "other", *words[101:]])),
    ]
    writer = ArchiveWriter.of(DedupConfig(data_dir=tmp_path), fill(pages))
    for url, one in pages:
        writer.add(one, "", Verdict(Kind.NEAR, url), [])
    writer.close()
    first, second, third = (url for url, _ in pages)
    [file] = files(pages[0][1].encode())
    for a, b, differing in (
        (first, second, ["early words"]),
        (second, first, [""]),
        (first, third, ["other"]),
        (file, first, []),
        (third, file, [f"{words[100]}"]),
    ):
        found = json.loads(dedup("compare", a, b, "--json")[1])
        assert [change["added"] for change in found["changes"]] == differing, (a, b)
        assert found["whole"] == [a == file, b == file]
    found = json.loads(dedup("show", "--why", second, "--json")[1])
    assert [change["added"] for change in found["changes"]] == ["early words"]
    assert found["whole"] == [False, False]
    assert (
        "\nJaccard of what is archived of the two texts\t0.9" in dedup("show", "--why", second)[1]
    )
    out = dedup("compare", first, file)[1]
    assert "\ncompared\tof A the beginning, all that is archived" in out
    assert "\nverdict on B\tunique, of the beginning of A\n" in out
    out = dedup("compare", first, first)[1]
    assert "\nverdict on B\texact, of their beginnings\n" in out
    assert "\nJaccard\t100.00%\t–\t–\texact, of all shingles, of their beginnings\n" in out
    out = dedup("compare", file, file)[1]
    assert "\nverdict on B\texact\n" in out
    assert "\ncompared" not in out


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("gone", "404 Not Found"),
        ("ftp", "unknown url type: ftp"),
        ("gzip", "compressed"),
        ("drip", "did not arrive within 0.5 seconds"),
        ("large", "larger than 1 MB"),
    ],
)
def test_unpleasant_urls(dedup, web, path, message):
    """What a server does ends in one line and exit code 2, and soon."""
    start = time.monotonic()
    code, out, err = dedup("shingles", f"{web}/{path}")
    assert (code, out, err.count("\n")) == (Exit.USAGE, "", 1)
    assert message in err
    assert time.monotonic() - start < 60


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("/nowhere", "cannot read '/nowhere': No such file"),
        ("/", "cannot read '/': Is a directory"),
        ("a\0b", "cannot read"),
        ("", "expects a file, - or an http(s) URL, not an empty name"),
        ("http://127.0.0.1:1/", "cannot read 'http://127.0.0.1:1/'"),
        ("http://[", "cannot read 'http://['"),
        ("http://a b/", "cannot read"),
    ],
)
def test_unreadable(dedup, source, message):
    """What cannot be read is one line that names it."""
    code, out, err = dedup("compare", source, source)
    assert (code, out, err.count("\n")) == (Exit.USAGE, "", 1)
    assert message in err


def test_bytes_of_a_text_are_compared_and_others_refused(dedup, files):
    """Lone surrogates and NULs are compared like any other text; a binary file has none."""
    binary, torn = files(bytes(range(256)) * 40, b"\xff\xfe\x00\xd8" * 100 + b"\0" * 1000)
    code, out, _ = dedup("compare", torn, torn)
    assert code == Exit.FOUND
    assert "verdict on B" in out
    assert dedup("compare", torn, binary)[0] == Exit.USAGE
    assert dedup("shingles", binary, "--all")[0] == Exit.USAGE
