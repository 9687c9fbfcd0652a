"""Commands that look into an index: clusters, top, sample, rethreshold, explain, stats --watch."""

from __future__ import annotations

import asyncio
import csv
import json
import os
import re
import signal
import socket
import subprocess
from threading import Thread

import pytest

from crawler.commands.subcommands import Exit
from crawler.dedup import DedupConfig, DuplicateIndex
from crawler.dedup.archive.writer import ArchiveWriter
from tests.commands.conftest import ROOT
from tests.commands.pages.test_inspection import PAGES
from tests.conftest import wait_until
from tests.spiders.webserver import Answer
from tests.support.forked import start_scrapy
from tests.support.texts import article, changed, text


def test_cluster_command(dedup, fill):
    """A cluster is printed by identifier and by address, and exit code 1 says there is none."""
    fill(PAGES)
    code, out, err = dedup("clusters", "http://b.example/1")
    assert (code, err) == (Exit.FOUND, "")
    assert out.splitlines()[0].split("\t")[:3] == ["page", "kind", "similarity"]
    found = json.loads(dedup("clusters", "http://b.example/1", "--json")[1])
    assert json.loads(dedup("clusters", str(found["id"]), "--json")[1]) == found
    assert found["size"] == len(found["members"]) == 3
    code, out, err = dedup("clusters", "http://nowhere/", "--json")
    assert (code, json.loads(out)) == (Exit.NOTHING, None)
    assert err == "scrapy dedup: there is no cluster 'http://nowhere/'\n"


def test_a_page_with_a_url_longer_than_a_path(dedup, fill):
    """A URL is never looked for among the files, whose names cannot be as long."""
    url = f"http://a.example/{'x' * 6000}"
    fill([(url, text(article(1))), ("http://b.example/1", text(article(1)))])
    code, out, err = dedup("clusters", url, "--json")
    assert (code, json.loads(out)["size"], err) == (Exit.FOUND, 2, "")


def test_clusters_by_their_urls(dedup, fill):
    """Kept pages come with the number of their copies and all URLs, by size, or one of them."""
    assert dedup("clusters", "--urls")[:2] == (Exit.NOTHING, "")
    fill(PAGES)
    clusters = json.loads("[" + ",".join(dedup("clusters", "--json")[1].splitlines()) + "]")
    expected = {}
    for row in clusters:
        expected.setdefault(row["cluster"], []).append(row["url"])
    rows = [json.loads(line) for line in dedup("clusters", "--urls", "--json")[1].splitlines()]
    assert [row["urls"] for row in rows] == list(expected.values())
    assert [row["size"] for row in rows] == sorted(map(len, expected.values()), reverse=True)
    assert all(row["url"] == row["urls"][0] for row in rows)
    for name in (rows[0]["urls"][-1], str(clusters[0]["cluster"])):
        code, out, _ = dedup("clusters", "--urls", name)
        assert (code, out.splitlines()[1].split("\t")[:2]) == (Exit.FOUND, [rows[0]["url"], "3"])
    code, out, err = dedup("clusters", "--urls", "http://nowhere/")
    assert (code, out) == (Exit.NOTHING, "")
    assert err == "scrapy dedup: there is no cluster 'http://nowhere/'\n"


def test_clusters_command(dedup, fill, tmp_path):
    """Without a file the index's clusters are listed, as a table, as CSV and as JSON lines."""
    code, out, err = dedup("clusters")
    assert (code, out, err.count("\n")) == (Exit.NOTHING, "", 1)
    fill(PAGES)
    code, out, _ = dedup("clusters", "--json", "--csv", str(tmp_path / "c.csv"))
    assert code == Exit.FOUND
    rows = [json.loads(line) for line in out.splitlines()]
    with (tmp_path / "c.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == len(rows)
    large = dedup("clusters", "--min-size", "3", "--json")[1].splitlines()
    assert 0 < len(large) < len(rows)
    assert dedup("clusters", "--min-size", "9")[0] == Exit.NOTHING
    code, out, _ = dedup("clusters", "--story", "0.5")
    assert "share of pairs at it that bands find\t26%" in out
    for words in (["--pairs"], ["--threshold", "0.5"], ["x.jsonl", "--story", "0.5"]):
        code, _, err = dedup("clusters", *words)
        assert (code, err.count("\n")) == (Exit.USAGE, 1)


def test_names_are_completed(dedup, fill):
    """A mistyped subcommand, kind or host is an error that names the one that was meant."""
    fill(PAGES)
    for words, hint in [
        (["clutser", "1"], "did you mean clusters?"),
        (["sample", "naer"], "did you mean near?"),
        (["sample", "near", "--host", "a.exmple"], "did you mean a.example?"),
        (["top", "--host", "nothing"], "known: a.example, b.example, c.example"),
        (["top", "--cuont", "3"], "did you mean --count?"),
    ]:
        code, out, err = dedup(*words)
        assert (code, out, err.count("\n")) == (Exit.USAGE, "", 1), words
        assert hint in err


def test_an_error_acts_on_no_terminal(dedup, fill):
    """What pages have for hosts is shown in it harmless, on one line."""
    fill([("http://evil\u202e.example/", "one two three four five six")])
    _, _, said = dedup("top", "--host", "nothing")
    assert said == ("scrapy dedup: the index knows no host 'nothing'; known: evil\\u202e.example\n")


def test_a_host_may_be_among_those_counted_together(dedup, fill, server):
    """Of very many hosts new ones have no count of their own, so that none is refused."""
    fill(PAGES)
    assert dedup("sample", "near", "--host", "z.example")[0] == Exit.USAGE
    server.ask("HSET", "{dedup}:hosts", "(other hosts) unique", 1)
    code, _, err = dedup("sample", "near", "--host", "z.example")
    assert code == Exit.NOTHING
    assert "knows no host" not in err


def test_top_sample_and_rethreshold_commands(dedup, fill):
    """Each prints a table and JSON, and tells by its exit code whether there is anything."""
    for words in (["top"], ["sample", "near"], ["rethreshold", "0.9"]):
        assert dedup(*words)[0] == Exit.NOTHING, words
        assert dedup(*words, "--json")[0] == Exit.NOTHING, words
    fill(PAGES)
    for words in (["top"], ["sample", "near"], ["rethreshold", "0.9"], ["rethreshold", "0.6"]):
        code, out, err = dedup(*words)
        assert (code, err) == (Exit.FOUND, ""), words
        assert "\t" in out
        assert json.loads(dedup(*words, "--json")[1])
    assert json.loads(dedup("top", "--json", "--count", "1")[1])["hosts"][0]["host"] == "b.example"
    found = json.loads(dedup("sample", "near", "--similarity", ".9-1", "--json")[1])
    assert {one["similarity"] >= 0.9 for one in found["pages"]} == {True}
    assert "Not known: which of the pages" in dedup("rethreshold", "0.9")[1]
    assert "Not known: the pairs of similarity 0.6" in dedup("rethreshold", "0.6")[1]
    for words in (["sample", "near", "--similarity", ".9-.8"], ["rethreshold", "2"]):
        assert dedup(*words)[0] == Exit.USAGE, words


@pytest.mark.parametrize("kind", ["unique", "short"])
def test_kept_pages_have_no_similarity_to_draw_by(dedup, fill, kind):
    """It was passed over, and pages of no similarity came as if they were within the limits."""
    fill(PAGES)
    code, out, err = dedup("sample", kind, "--similarity", ".8-.85")
    said = f"scrapy dedup: --similarity is that of copies: {kind} pages have none\n"
    assert (code, out, err) == (Exit.USAGE, "", said)


def html(words: list[str]) -> str:
    body = "".join(f"<p>{text(words[n : n + 50])}</p>" for n in range(0, len(words), 50))
    links = "".join(f'<li><a href="/{n}">Section {n}</a></li>' for n in range(8))
    return f"<html><body><nav><ul>{links}</ul></nav><article>{body}</article></body></html>"


def test_explain_fetches_what_no_archive_holds(dedup, fill, web):
    """With --fetch both pages are read: bands, differing words and what was cut are shown."""
    original = (ROOT / "examples/demo_site/texts/owls.txt").read_text().split()
    copy = changed(original, 3, seed=4)
    for path, words in {"/one": original, "/two": copy}.items():
        web.answers[path] = Answer(html(words).encode(), {"Content-Type": "text/html"})
    one, two = f"{web.url}/one", f"{web.url}/two"
    fill([(one, text(original)), (two, text(copy))])
    code, out, err = dedup("show", "--why", two)
    assert (code, err) == (Exit.FOUND, "")
    assert f"to {one}" in out.replace("similar", "")
    assert "not in the archive" in out
    found = json.loads(dedup("show", "--why", two, "--fetch", "--json")[1])
    assert found["page"]["kind"] == "near"
    assert abs(found["page"]["similarity"] - found["jaccard"]) < 0.05
    assert 0 < found["bands_met"] <= found["bands"] == 8
    assert [one["added"] for one in found["changes"]] == ["other4"] * 3
    assert [one["text"] for one in found["cut"]] == [f"Section {n}" for n in range(8)]
    assert found["text_from"] == "fetched now"


def test_a_file_is_not_fetched(dedup, fill, tmp_path, monkeypatch):
    """What --fetch reads is on the web, never the file that has the name of a page."""
    words = text(article(1, 100))
    fill([("one.txt", words), ("two.txt", words)])
    for name in ("one.txt", "two.txt"):
        (tmp_path / name).write_text(words)
    monkeypatch.chdir(tmp_path)
    for command, *words in (("show", "two.txt", "--why"), ("override", "two.txt", "prefer")):
        code, out, err = dedup(command, *words, "--fetch")
        assert (code, out) == (Exit.USAGE, "")
        assert "cannot fetch 'two.txt'" in err
        code, out, err = dedup(command, *words, "--text", "")  # as of a variable that is not set
        assert (code, out) == (Exit.USAGE, "")
        assert "empty name" in err
    found = json.loads(dedup("show", "--why", "two.txt", "--text", "one.txt", "--json")[1])
    assert found["text_from"] == "given"


def test_explain_reads_html_with_the_extractor_of_the_settings(dedup, fill, tmp_path):
    """The words of a page that DEDUP_EXTRACTOR takes are compared, and no block is cut."""
    escaped = "&lt;html&gt;&lt;p&gt;tea&lt;/p&gt;"
    fill([("http://a/", escaped)])
    (tmp_path / "page.html").write_text("<html><p>tea</p>")
    words = ["--text", str(tmp_path / "page.html"), "-s", "DEDUP_EXTRACTOR=html.escape"]
    found = json.loads(dedup("show", "--why", "http://new/", "--json", *words)[1])
    assert [one["url"] for one in found["nearest"]] == ["http://a/"]
    assert found["cut"] == []


def test_explain_reads_the_archive(dedup, redis_url, tmp_path):
    """Texts and cut blocks are those that were checked; nothing is fetched; an override is told."""
    folder = tmp_path / "data"
    config = DedupConfig(redis_url=redis_url, data_dir=folder)
    original, copy = article(1, 400), changed(article(1, 400), 2, seed=4)

    async def crawl() -> None:
        async with DuplicateIndex.open(config) as index:
            writer = ArchiveWriter.of(config, index.digest)
            for url, words in (("http://a.example/1", original), ("http://b.example/1", copy)):
                verdict = await index.check(url, text(words))
                writer.add(text(words), "Title", verdict, [("Menu of all", "navigation")])
            await index.override("http://b.example/1", "drop")
        writer.close()

    asyncio.run(crawl())
    words = ["show", "--why", "http://b.example/1", "-s", f"DEDUP_DATA_DIR={folder}"]
    found = json.loads(dedup(*words, "--json")[1])
    assert found["text_from"].startswith("archive, ")
    assert [one["added"] for one in found["changes"]] == ["other4"] * 2
    assert found["cut"] == [{"text": "Menu of all", "reason": "navigation"}]
    assert (found["override"], found["bands"]) == ("drop", 8)
    code, out, err = dedup(*words)
    assert (code, err) == (Exit.FOUND, "")
    assert "override\tdrop" in out
    assert "navigation\tMenu of all" in out
    assert "http://a.example/1 to this page:" in out


def test_explain_names_pages_that_contain_others(dedup, redis_url, tmp_path):
    """Also of a page that the index does not know, as it was dropped for it; copies are none."""
    short, options = text(article(1, 300)), ["-s", "DEDUP_CONTAINMENT=0.9"]
    long = text(article(2, 500)) + " " + short

    async def fill() -> None:
        config = DedupConfig(redis_url=redis_url, containment=0.9)
        async with DuplicateIndex.open(config) as index:
            await index.check_many([("http://a.example/", short), ("http://b.example/", long)])

    asyncio.run(fill())
    for name, words in (("short", short), ("long", long)):
        (tmp_path / name).write_text(words)
    for url, name, contains, contained_in in (
        ("http://b.example/", "long", ["http://a.example/"], []),
        ("http://a.example/", "short", [], ["http://b.example/"]),
        ("http://unseen.example/", "short", [], ["http://b.example/"]),
    ):
        words = ["show", "--why", url, "--text", str(tmp_path / name), *options]
        found = json.loads(dedup(*words, "--json")[1])
        assert [one["url"] for one in found["contains"]] == contains
        assert [one["url"] for one in found["contained_in"]] == contained_in
        kind = "contains" if contains else "contained_in"
        assert f"\t{kind}\t{(contains + contained_in)[0]}\n" in dedup(*words)[1]
    assert "\ntext\tnot in the archive" in dedup("show", "--why", url, *options)[1]


def test_explain_names_who_decided(dedup, fill):
    """A copy that somebody wants kept is not said to be like no other page."""
    pages = [(f"http://{host}.example/", text(article(1, 300))) for host in "ab"]
    fill(pages)
    copy = pages[1][0]
    assert "\tthe same words as http://a.example/" in dedup("show", "--why", copy)[1]
    dedup("override", copy, "keep")
    fill(pages)
    assert "\nbecause\tan override keeps it\n" in dedup("show", "--why", copy)[1]
    assert "\nbecause\tno other kept page is as similar" in dedup("show", "--why", pages[0][0])[1]


def test_explain_says_that_a_page_is_gone(dedup, fill):
    """And since when, in the words of `where`; of a page that is there it says nothing of it."""
    fill(PAGES)
    url = PAGES[0][0]
    assert "gone" not in dedup("show", "--why", url)[1]
    dedup("gone", url)
    since = json.loads(dedup("where", url, "--json")[1])["gone"]
    assert f"\ngone from the web\t{since}\n" in dedup("show", "--why", url)[1]


def test_explain_of_equal_words_has_no_differences(dedup, redis_url, tmp_path):
    """No heading stands above nothing."""
    config = DedupConfig(redis_url=redis_url, data_dir=tmp_path)

    async def crawl() -> None:
        async with DuplicateIndex.open(config) as index:
            writer = ArchiveWriter.of(config, index.digest)
            for url in ("http://a.example/1", "http://b.example/1"):
                one = text(article(1, 400))
                writer.add(one, "Title", await index.check(url, one), [])
        writer.close()

    asyncio.run(crawl())
    code, out, _ = dedup("show", "--why", "http://b.example/1", "-s", f"DEDUP_DATA_DIR={tmp_path}")
    assert (code, "to this page" in out) == (Exit.FOUND, False)


def test_explain_what_was_never_seen(dedup, fill, tmp_path):
    """The nearest kept pages of a text are what was found; without any the page is unknown."""
    fill(PAGES)
    file = tmp_path / "page.txt"
    file.write_text(text(changed(article(2, 400), 4, seed=5)))
    code, out, err = dedup("show", "--why", "http://new/", "--text", str(file))
    assert (code, err) == (Exit.FOUND, "")
    assert "\nkind\tnever seen\n" in out
    assert "http://a.example/2" in out
    code, out, err = dedup("show", "--why", "http://new/", "--json")
    assert (code, err) == (Exit.NOTHING, "scrapy dedup: the index never saw 'http://new/'\n")
    assert json.loads(out)["nearest"] == []


@pytest.mark.parametrize("form", ["lines", "json", "terminal"])
def test_watch_goes_on_until_ctrl_c(redis_url, fill, form):
    """Rates, growth and time to full follow what is checked; Ctrl-C ends it with exit code 0."""
    words = ["dedup", "stats", "--watch", "0.2"]
    words += ["-s", f"DEDUP_REDIS_URL={redis_url}", *(["--json"] if form == "json" else [])]
    out, follower = os.pipe()
    if form == "terminal":
        os.close(out)
        os.close(follower)
        out, follower = os.openpty()
    fill(PAGES[:6])
    environment = {**os.environ, "TERM": "xterm"}
    process = start_scrapy(words, ROOT, stdout=follower, stderr=subprocess.PIPE, env=environment)
    os.close(follower)
    seen = bytearray()

    def read() -> None:
        with os.fdopen(out, "rb", buffering=0) as file:
            try:
                while part := file.read(1 << 16):
                    seen.extend(part)
            except OSError:  # the terminal's other end is closed
                pass

    reader = Thread(target=read)
    reader.start()
    try:
        wait_until(lambda: b"checks" in seen, 30)
        fill(PAGES[6:])
        grown = {
            "json": rb'"kept_per_second": [1-9.]',
            "lines": rb"kept_a_second=[1-9.]",
            "terminal": rb"kept a second[^0-9]+[1-9.]",
        }[form]
        wait_until(lambda: re.search(grown, bytes(seen)), 30)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=110) == 0
        assert process.stderr.read() == ""
    finally:
        process.kill()
        process.stderr.close()
        reader.join()
    if form == "json":
        looks = [json.loads(line) for line in seen.decode().splitlines()]
        assert looks[0]["checks_per_second"] is None
        assert max(look["growth_per_day"] or 0 for look in looks) > 0
        assert looks[-1]["kept"] > looks[0]["kept"]
        assert looks[-1]["memory_used"] > 0
    elif form == "lines":
        assert all(line.startswith("time=") for line in seen.decode().splitlines())
        assert b" memory_of_the_index=" in seen
    else:
        assert b"memory of the index (estimate)" in seen


def test_ctrl_c_is_no_traceback():
    """A command that is interrupted says nothing and has the exit code of shells for that."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(30)
        words = ["shingles", f"http://127.0.0.1:{silent.getsockname()[1]}/"]
        process = start_scrapy(["dedup", *words], ROOT, stderr=subprocess.PIPE)
        try:
            with silent.accept()[0]:  # now it waits for an answer
                process.send_signal(signal.SIGINT)
                _, errors = process.communicate(timeout=110)
        finally:
            process.kill()
    assert (process.returncode, errors) == (Exit.INTERRUPTED, "")
