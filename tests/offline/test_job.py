"""A corpus on Spark gets the verdicts that an index gives to the same pages in the same order."""

from __future__ import annotations

import argparse
import asyncio
import gzip
import html
import json
import logging
import os
import random
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from py4j import java_gateway
from py4j.protocol import Py4JError, Py4JJavaError
from pyarrow import parquet
from scrapy.settings import Settings

from crawler.commands.texts import corpus
from crawler.dedup import DedupConfig, DuplicateIndex
from crawler.dedup.errors import ConfigError, InputError, ParameterMismatch
from crawler.dedup.export.transfer import export_index
from crawler.dedup.verdict import Verdict
from crawler.offline import cli, session, submitted
from crawler.offline.corpus_job import Corpus
from crawler.offline.exclusion import hold_folder
from crawler.offline.known import open_export
from crawler.offline.records.files import cut_pieces, local_files, piece_size
from crawler.offline.records.input_pages import InputPage, InputReader, pages_of
from crawler.offline.records.input_records import list_input
from crawler.offline.result import Result
from crawler.offline.session import find_files, find_reason
from crawler.zstd import zstd
from examples.demo_site.pages import HOSTS, of_host
from examples.demo_site.themes import encoding, render
from tests.conftest import wait_until
from tests.offline import corpora
from tests.offline.conftest import FOR_LITTLE
from tests.offline.webhdfs import WebHdfs
from tests.support.ranked_copies import draw_pages, key_of
from tests.support.texts import article, changed, text
from tests.support.workers import end_with_parent

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# What PySpark says of itself is not this project's to mend. A job starts several Javas and Pythons.
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(900)]
ROOT = Path(__file__).parents[2]
# Verdicts are compared with those of texts, of whose sites nothing is known.
CONFIG = DedupConfig(seed=7, templates=False, containment=0.9)
SUBMIT = ROOT / "crawler" / "offline" / "submit.py"
REFUSED = "An error occurred while calling o68.parquet"  # as py4j says it
QUIET = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    **FOR_LITTLE,
}


WORDS = article(9999, 300)
AGAIN = "https://e.example/"
ADDRESSES = [(AGAIN, text(WORDS))] * 2 + [(AGAIN, text(changed(WORDS, 2)))]
BROKEN = b'{"url": "https://e.example/broken"\n\n'


def write(folder: Path) -> list[str]:
    """A corpus in files of all formats, named so that their order is not that of the names.

    Texts made to meet each other in every way, licences, and the HTML of the demo site. Among them
    an address that comes thrice and a broken line, and at the end a file that is no Parquet. Spark
    would take the name of one, and of the folder, for a pattern, and pass that file over.
    """
    rows = corpora.pages()
    third = len(rows) // 3
    parts = {"b.parquet": rows[:third]}
    parts["a.jsonl.gz"] = [*rows[third : 2 * third], *corpora.licences(150)]
    parts["c.jsonl"] = [*rows[2 * third :], *ADDRESSES]
    paths = [corpora.write(folder / name, part) for name, part in parts.items()]
    with paths[-1].open("ab") as file:
        file.write(BROKEN)
    urls = {host: f"http://{host}.example" for host in HOSTS}
    html = [
        (
            urls[page.host] + page.path,
            render(page, urls, 1).encode(encoding(page), "xmlcharrefreplace"),
        )
        for host in HOSTS
        for page in of_host(host)
    ]
    site, bad = folder / "d[1].warc.zst", folder / "e.parquet"
    site.write_bytes(b"".join(zstd.compress(corpora.response(*page)) for page in html))
    bad.write_bytes(b"PAR1 a download that broke off")
    return [str(path) for path in (*paths, site, bad)]


def run(spark: SparkSession, patterns: list[str], out: Path | str, **options: Any) -> Result:
    options = {"report": lambda line: None, "cluster_size": True, **options}
    files = find_files(spark, list_input(patterns, CONFIG))
    corpus = Corpus(spark, files, str(out), CONFIG, **options)
    return corpus.run()


def rows_in(folder: Path) -> list[dict[str, Any]]:
    """What a stage wrote: for so little Spark takes far longer to plan than to read."""
    found: list[dict[str, Any]] = parquet.read_table(folder).to_pylist()
    return found


def duplicates(out: Path) -> dict[str, tuple[Any, ...]]:
    """What is said of each page that is dropped, but for the address that comes again."""
    names = ("kind", "duplicate_of", "similarity", "low", "high")
    rows = [row for row in rows_in(out / "duplicates") if row["url"] != AGAIN]
    assert len({row["url"] for row in rows}) == len(rows)
    return {row["url"]: tuple(row[name] for name in names) for row in rows}


def copies_in(said: list[Verdict]) -> dict[str, tuple[Any, ...]]:
    """What verdicts say of each copy, as `duplicates` reads it of a job."""
    return {
        one.url: (str(one.kind), one.duplicate_of, one.similarity, one.low, one.high)
        for one in said
        if one.duplicate_of is not None
    }


def contained(out: Path) -> set[tuple[Any, ...]]:
    """The pages that a longer one contains, that one, and the share."""
    rows = rows_in(out / "contained")
    found = {(row["url"], row["contained_in"], row["share"]) for row in rows}
    assert len(found) == len(rows) > 5
    return found


def named_in(said: list[Verdict]) -> set[tuple[Any, ...]]:
    """What the verdicts of kept pages say of that."""
    return {
        pair
        for one in said
        if one.duplicate_of is None
        for pair in (
            *((other.url, one.url, other.share) for other in one.contains or ()),
            *((one.url, other.url, other.share) for other in one.contained_in or ()),
        )
    }


def run_command(words: list[str], config: DedupConfig) -> Result:
    """Run the command with these words in this process."""
    parser = argparse.ArgumentParser()
    cli.add_arguments(parser)
    return cli.run_job(parser.parse_args(words), config, submitted=True)


def pages_in(patterns: list[str]) -> list[tuple[str, str]]:
    files = [file for pattern in patterns for file in local_files(pattern)]
    cut = cut_pieces(files, piece_size(files))
    found = [one for piece in cut for one in pages_of(piece, InputReader(CONFIG))]
    return [(one.shown_url or "", one.text or "") for one in found if one.text is not None]


def verdicts(redis_url: str, pages: list[tuple[str, str]]) -> list[Verdict]:
    async def check() -> list[Verdict]:
        async with DuplicateIndex.open(replace(CONFIG, redis_url=redis_url)) as index:
            return await index.check_many(pages)

    return asyncio.run(check())


class Done(NamedTuple):
    """A job that was done on files of this machine."""

    folder: Path
    patterns: list[str]
    result: Result


@pytest.fixture(scope="module")
def done(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Done:
    folder = tmp_path_factory.mktemp("corpus[1]")
    patterns = write(folder)
    return Done(folder, patterns, run(spark, patterns, folder / "out"))


def test_the_same_pages_get_the_same_verdicts(
    spark: SparkSession, done: Done, redis_url: str
) -> None:
    """Page by page: kind, original, similarity and its interval; what is kept stands in files."""
    tmp_path, patterns, result = done
    pages = [page for page in pages_in(patterns[:-1]) if page[0] != AGAIN]
    said = verdicts(redis_url, pages)
    expected = copies_in(said)
    assert duplicates(tmp_path / "out") == expected
    assert contained(tmp_path / "out") == named_in(said)
    kinds = [str(one.kind) for one in said]
    assert kinds.count("near") > 20
    assert kinds.count("exact") > 5
    assert result.kept == kinds.count("unique") + kinds.count("short") + 1
    assert (result.pages, result.short) == (len(said) + 3, kinds.count("short"))
    assert (result.exact, result.near) == (kinds.count("exact"), kinds.count("near") + 1)
    kept = pages_in([str(tmp_path / "out" / "kept")])
    urls = [one.url for one in said if one.duplicate_of is None]
    assert [url for url, _ in kept if url != AGAIN] == urls
    assert len(kept) == len(urls) + 1
    names = sorted(path.name for path in (tmp_path / "out" / "kept").iterdir())
    assert names == [f"{n:06d}-{Path(path).name}" for n, path in enumerate(patterns[:-1])]
    copies = Counter(one.duplicate_of for one in said if one.duplicate_of is not None)
    copies[AGAIN] = 2
    folder = tmp_path / "out" / "kept"
    lines = gzip.decompress((folder / "000001-a.jsonl.gz").read_bytes())
    lines += (folder / "000002-c.jsonl").read_bytes().replace(BROKEN, b"")
    rows = rows_in(folder / "000000-b.parquet") + list(map(json.loads, lines.splitlines()))
    sizes = {row["url"]: row["cluster_size"] for row in rows}
    assert len(sizes) > 40
    assert sizes == {url: copies[url] + 1 for url in sizes}
    assert max(sizes.values()) > 2
    for part, least in (("licence:", 20), (".example/", 20)):  # of licences and of HTML
        found = [one for one in said if part in one.url and one.kind in ("near", "exact")]
        assert len(found) > least, part

    with pytest.raises(InputError, match="DEDUP_THRESHOLD"):
        Corpus(
            spark,
            find_files(spark, list_input(patterns, CONFIG)),
            str(tmp_path / "out"),
            replace(CONFIG, threshold=0.7),
            report=print,
        ).run()
    with pytest.raises(InputError, match="other --cluster-size"):
        run(spark, patterns, tmp_path / "out", cluster_size=False)


def test_the_result_depends_neither_on_the_tasks_nor_on_the_file_system(
    spark: SparkSession, done: Done
) -> None:
    """On HDFS, by its REST API, with other partitions, and pairs resolved in rounds: the same.

    What is found and what is kept, to the last byte; files are named, and found by a pattern. After
    two rounds few pairs are left for one process.
    """
    hdfs = WebHdfs(done.folder)
    spark.conf.set("spark.sql.shuffle.partitions", "3")
    names = ("b.parquet", "[ac].jsonl*", "d*", "e.*")
    try:
        there = [f"{hdfs.url}/{name}" for name in names]
        other = run(spark, there, f"{hdfs.url}/other", walked=5)
    finally:
        hdfs.close()
        spark.conf.set("spark.sql.shuffle.partitions", FOR_LITTLE["spark.sql.shuffle.partitions"])
    assert [name for name in other.seconds if "undecided" in name] == ["undecided-0", "undecided-1"]
    damaged, faults = (
        [line.replace(hdfs.url, str(done.folder)) for line in lines]
        for lines in (other.damaged, other.faults)
    )
    same = other._replace(seconds={}, damaged=damaged, faults=faults)
    assert same == done.result._replace(seconds={})
    assert duplicates(done.folder / "other") == duplicates(done.folder / "out")
    for path in (done.folder / "out" / "kept").iterdir():
        assert (done.folder / "other" / "kept" / path.name).read_bytes() == path.read_bytes()
    asked = {operation for operation, name in hdfs.asked if name.startswith("/other/kept/")}
    assert {"CREATE", "RENAME"} <= asked


@pytest.mark.parametrize(("path", "is_told"), [(java_gateway.__file__, False), (__file__, True)])
def test_a_thread_of_py4j_tells_nothing(spark: SparkSession, path: str, is_told: bool) -> None:
    """Of a Java that is gone, in the middle of the error that says so."""
    record = logging.LogRecord("root", logging.ERROR, path, 1, "Exception while …", None, None)
    assert bool(logging.getLogger().filter(record)) is is_told


def test_what_java_refuses(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It lives on, and no memory is said to lack."""

    def refused(self: Corpus) -> Result:
        raise Py4JError(REFUSED)

    monkeypatch.setattr(Corpus, "run", refused)
    path = corpora.write(tmp_path / "a.jsonl", corpora.pages(1))
    words = [str(path), "-o", str(tmp_path / "out")]
    with pytest.raises(InputError, match=f"^Spark gave up: {REFUSED}"):
        run_command(words, CONFIG)


def test_a_url_that_comes_again(done: Done) -> None:
    """With its text it is unchanged, with a similar one near; both versions are compared.

    Rows name the file and the record: of lines the byte where each begins.
    """
    result, name = done.result, done.patterns[2]
    folders = (done.folder / "out" / name for name in ("duplicates", "clusters"))
    rows = [row for folder in folders for row in rows_in(folder)]
    again = [row for row in rows if row["url"] == AGAIN]
    assert [row["kind"] for row in again if "kind" in row] == ["unchanged", "near"]
    assert [row["copies"] for row in again if "copies" in row] == [2]
    assert {row["file"] for row in again} == {name}
    in_lines = [row for row in rows if row["file"].endswith(".jsonl")]
    assert len(in_lines) > 10
    for row in in_lines:
        line = Path(row["file"]).read_bytes()[row["record"] :].split(b"\n")[0]
        assert json.loads(line)["url"] == row["url"]

    assert (result.unchanged, result.unreadable) == (1, 1)
    assert (result.binary, result.skipped) == (0, 1)
    (fault,) = (one for one in result.faults if done.patterns[-1] not in one)
    start = Path(name).stat().st_size - len(BROKEN)
    assert fault.startswith(f"{name!r}, byte {start + 1}: not JSON: Expecting ',' delimiter")
    assert b"broken" in (done.folder / "out" / "kept" / "000002-c.jsonl").read_bytes()


def test_two_runs_keep_each_other_out(spark: SparkSession, done: Done) -> None:
    out, hdfs = str(done.folder / "held"), WebHdfs(done.folder)
    try:
        remote = f"{hdfs.url}/remote"
        by_hand = f"If that run was killed, remove {remote}/work/running"
        for folder, advice in ((out, "name another folder"), (remote, by_hand)):
            is_out = pytest.raises(InputError, match=f"another run is working.*{advice}$")
            with hold_folder(spark, folder), is_out:
                run(spark, done.patterns, folder)
            with hold_folder(spark, folder):
                pass
    finally:
        hdfs.close()


def test_results_of_another_run_are_not_taken_up(
    spark: SparkSession, done: Done, tmp_path: Path
) -> None:
    """Those of other files, after the work that they rest on was deleted, would drop any page."""
    other = corpora.write(tmp_path / "c.jsonl", corpora.pages(6)[::-1])
    out = shutil.copytree(done.folder / "out", tmp_path / "copy")
    with pytest.raises(InputError, match=r"other input files\): .* remove work, duplicates, "):
        run(spark, [str(other)], out)
    shutil.rmtree(out / "work")
    with pytest.raises(InputError, match=r"copy' holds the results of a run whose .*remove dupl"):
        run(spark, [str(other)], out)


def test_a_damaged_file_stops_no_other(done: Done) -> None:
    """A Parquet file that is none is named, and nothing stands in its place; others are whole."""
    bad = done.patterns[-1]
    assert done.result.damaged == [bad]
    (fault,) = (one for one in done.result.faults if bad in one)
    assert fault.startswith(f"cannot be read to its end: {bad}: Parquet magic bytes not found")
    kept = {path.name[7:] for path in (done.folder / "out" / "kept").iterdir()}
    assert kept == {Path(path).name for path in done.patterns[:-1]}


@pytest.mark.parametrize(
    ("pages", "unreadable", "damaged", "code"),
    [(3, 0, [], 0), (3, 2, [], 0), (3, 4, [], 2), (0, 0, [], 1), (3, 0, ["a.gz"], 2)],
)
def test_an_exit_code_tells_what_could_not_be_read(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    pages: int,
    unreadable: int,
    damaged: list[str],
    code: int,
) -> None:
    """It is that of a load, but that Spark's own knows no "nothing"; faults are named."""
    said = ["first", *damaged]
    result = Result(pages, pages, 0, 0, 0, 0, unreadable, 0, 0, 0, damaged, said, {"pages": 1.0})
    monkeypatch.setattr(cli, "run_job", lambda options, config, submitted=False: result)
    assert corpus.run(argparse.Namespace(json=False), Settings()) == code
    shown = capsys.readouterr()
    assert shown.err.splitlines() == [f"scrapy dedup: {fault}" for fault in said]
    assert "first" not in shown.out
    monkeypatch.setattr(sys, "argv", ["corpus", "a.jsonl", "-o", "out"])
    with pytest.raises(SystemExit) as ended:
        submitted.main()
    assert ended.value.code == (2 if code == 2 else 0)
    assert json.loads(capsys.readouterr().out)["faults"] == said


def headed() -> list[dict[str, str]]:
    """Pages with equal words below other headings: on one host, on two, and below none."""
    words, more = text(article(6001, 60)), text(article(6002, 300))
    shown = [(f"http://one.example/{number}", f"Title {number}", words) for number in range(3)]
    shown += [("http://one.example/0?print", "Title 0", words)]
    shown += [(f"http://{host}.example/", f"Title {host}", more) for host in ("two", "three")]
    shown += [("http://four.example/", "", more)]
    return [
        {"url": url, "html": f"<title>{title}</title><p>{one}</p>"} for url, title, one in shown
    ]


async def export_known(
    config: DedupConfig, known: list[tuple[str, str]], gone: str, path: Path
) -> list[Verdict]:
    """Check pages, one of which is gone then, and export the index."""
    async with DuplicateIndex.open(config) as index:
        said = await index.check_many(known)
        assert await index.gone(gone)
        await export_index(index, path)
        return said


async def check_others(
    config: DedupConfig, texts: list[tuple[str, str]], pages: list[InputPage]
) -> list[Verdict]:
    """Check texts, and then pages with what is known of their sites."""
    async with DuplicateIndex.open(config) as index:
        said = await index.check_many(texts)
        for one in pages:
            names = ("whole", "heading", "own_words", "learnt")
            values = {name: getattr(one, name) for name in names}
            said.append(await index.check(one.url, one.text, **values))
        return said


def test_pages_of_an_index_come_before_those_of_a_corpus(
    spark: SparkSession, tmp_path: Path, redis_url: str
) -> None:
    """Half of the pages in an index, exported, half in a corpus: the verdicts of one index.

    The seed is the index's. A page that is gone stands for nothing, so a copy takes its place.

    Headings tell apart what a site repeats on its first pages. On other hosts, and of pages without
    a heading, long texts decide; with their hosts' templates hardly known or well known, equal
    pages are exact copies.
    """
    rows = [*corpora.pages(), *corpora.quoting()]
    known, path, export = rows[::2], tmp_path / "a.jsonl", tmp_path / "index.jsonl.gz"
    config, gone = DedupConfig(redis_url=redis_url, containment=0.9), known[0][0]
    path.write_text("".join(json.dumps(line) + "\n" for line in headed()))
    (piece,) = cut_pieces(local_files(str(path)), 1 << 40)
    pages = [one.page.settled() for one in pages_of(piece, InputReader(config)) if one.page]
    before = asyncio.run(export_known(config, known, gone, export))
    said = asyncio.run(check_others(config, rows[1::2], pages))
    again = next(
        page
        for page, one in zip(known, before, strict=True)
        if one.kind == "unique" and page[0] != gone
    )
    path.write_bytes(corpora.json_lines([*rows[1::2], again]) + path.read_bytes())
    words = [str(path), "-o", str(tmp_path / "out"), "--index", str(export)]
    result = run_command(words, config)
    expected = copies_in(said)
    found = duplicates(tmp_path / "out")
    assert found.pop(again[0]) == ("unchanged", again[0], 1.0, 1.0, 1.0)
    assert found == expected
    copies = ["http://one.example/0?print", "http://three.example/", "http://four.example/"]
    assert list(expected)[-3:] == copies
    assert [one.duplicate_of for one in said[-len(pages) :]].count(None) == len(pages) - len(copies)
    assert contained(tmp_path / "out") == named_in(said)
    urls = {url for url, _ in known}
    assert [one.duplicate_of in urls for one in said if one.duplicate_of].count(True) > 10
    assert rows[1][0] not in found  # copies the page that is gone
    assert result.kept == len(said) - len(expected)
    named = {row["url"]: row["piece"] for row in rows_in(tmp_path / "out" / "clusters")}
    assert set(named) == {one.duplicate_of for one in said if one.duplicate_of} | {again[0]}
    assert all((piece is None) == (url in urls) for url, piece in named.items())

    with pytest.raises(InputError, match=r"other .*--index"):
        run_command(words[:3], config)
    other = DedupConfig(threshold=0.7, shingle_size=4)
    with pytest.raises(ParameterMismatch, match=r"shingle_size: .*threshold: index 0.8, settings"):
        open_export(export, other)
    export.write_bytes(export.read_bytes()[:-40])
    with pytest.raises(
        InputError, match=r"^Spark gave up: .*index.jsonl.gz' ends within the block"
    ):
        run_command([*words[:2], str(tmp_path / "new"), *words[3:]], config)
    with pytest.raises(InputError, match="looks like JSON lines"):
        open_export(path, config)


def test_the_best_of_several_copies_is_kept(spark: SparkSession, tmp_path: Path) -> None:
    """As an index keeps it, in whatever order they stand; of equal ones the first."""
    order = ("canonical", "https", "later", "longest", "score")
    chooser, rows, best = random.Random(1), [], []
    for number in range(40):
        versions = [changed(article(number), n, seed=n)[: 600 - n] for n in range(3)]
        pages = draw_pages(chooser, number, len(versions))
        best.append(min(
            (page.values._replace(words=len(versions[page.variant])) for page in pages),
            key=lambda claims: key_of(order, claims),
        ).url)  # fmt: skip
        for variant, claims in pages:
            date = claims.date.isoformat() if claims.date else None
            canonical = "/other" if claims.names_other else claims.url
            row = {"url": claims.url, "text": text(versions[variant]), "date": date}
            rows.append({**row, "canonical": canonical, **claims.fields})
    lines = [json.dumps(row) + "\n" for row in rows]
    lines = [line for turn in range(5) for line in lines[turn::5]]
    for name, some in (("b.jsonl", lines[:70]), ("a.jsonl", lines[70:])):
        (tmp_path / name).write_text("".join(some))
    config = DedupConfig(seed=7, prefer=order)
    files = [file for name in ("b.jsonl", "a.jsonl") for file in local_files(f"{tmp_path}/{name}")]
    corpus = Corpus(spark, files, str(tmp_path / "out"), config, report=lambda line: None)
    assert corpus.run().kept == len(best)
    kept = pages_in([str(tmp_path / "out" / "kept")])
    assert sorted(url for url, _ in kept) == sorted(best)
    named = {found[1] for found in duplicates(tmp_path / "out").values()}
    assert named <= set(best)
    for row in rows_in(tmp_path / "out" / "duplicates"):
        assert f'"{row["url"]}"' in Path(row["file"]).read_text()


def test_a_method_without_bands_is_an_error(spark: SparkSession, tmp_path: Path) -> None:
    """What the job cannot do it says at the start."""
    with pytest.raises(ConfigError, match="DEDUP_METHOD modulo"):
        Corpus(spark, [], str(tmp_path), DedupConfig(method="modulo"), report=print)


@pytest.mark.parametrize(
    ("extractor", "name"),
    [(partial(html.escape, quote=False), "functools.partial"), (html.escape, "html.escape")],
)
def test_an_extractor_without_a_name(spark: SparkSession, extractor: Any, name: str) -> None:
    """A run is told from another by the path of a function, or that of its class."""
    job = Corpus(spark, [], "out", DedupConfig(extractor=extractor), report=print)
    assert job._job_parameters()["DEDUP_EXTRACTOR"] == name


def test_a_connector_that_is_missing_is_an_error(spark: SparkSession, tmp_path: Path) -> None:
    """For input and for output: what lacks is named, and where it says how to get it."""
    path = corpora.write(tmp_path / "a.jsonl", corpora.pages(1))
    for words in (["s3a://b/a.jsonl", "-o", str(tmp_path)], [str(path), "-o", "s3a://b/out"]):
        with pytest.raises(InputError, match=r": Class \S+S3A\S+ not found.*/howto/corpus\.md$"):
            run_command(words, CONFIG)
    with pytest.raises(InputError, match=r"unheard-of://b/a.*: No FileSystem for scheme"):
        find_files(spark, ["unheard-of://b/a.jsonl"])


def test_a_full_disk_is_named(spark: SparkSession, tmp_path: Path) -> None:
    """What Spark says of a task that cannot write is only that it cannot; the cause is below."""
    jvm: Any = spark._jvm
    cause = jvm.java.io.IOException("No space left on device")
    task = jvm.java.lang.RuntimeException("Task failed while writing rows to /a", cause)
    with pytest.raises(Py4JJavaError) as caught:
        jvm.java.util.concurrent.CompletableFuture.failedFuture(task).get()
    said = "Task failed while writing rows to /a: No space left on device"
    assert find_reason(caught.value).endswith(said)


@pytest.mark.parametrize("begun", [False, True])
def test_ctrl_c_ends_all_of_it_without_a_word(done: Done, tmp_path: Path, begun: bool) -> None:
    """While Java is being started, which would stay for ever, and in the middle of a job.

    Late: workers that have nothing to do for a minute end, and others import all anew.
    """
    with _job(tmp_path / "out", *done.patterns) as process:
        assert process.stderr is not None
        sought = "pyspark.worker" if begun else "java"
        while sought not in _of_session(process.pid):
            sleep(0.2)
        os.killpg(process.pid, signal.SIGINT)
        said = process.stderr.read()
    assert (process.returncode, said) == (130, "")
    until = monotonic() + 20
    while (left := _of_session(process.pid)) and monotonic() < until:
        sleep(0.2)
    assert not left


def _job(out: Path, *words: str) -> subprocess.Popen[str]:
    """A job in a session of processes of its own."""
    words += ("-o", str(out), "--master", "local[1]")
    words += tuple(word for one in FOR_LITTLE.items() for word in ("--conf", "=".join(one)))
    return subprocess.Popen(
        end_with_parent(sys.executable, "-m", "scrapy", "dedup", "corpus", *words),
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def _of_session(number: int) -> str:
    """The processes of a session."""
    words = ["ps", "-ww", "-s", str(number), "-o", "pid=,args="]
    found = subprocess.run(words, capture_output=True, text=True)
    return found.stdout


def _below(number: int) -> list[int]:
    """A process and all below it."""
    words = ["ps", "--ppid", str(number), "-o", "pid="]
    children = subprocess.run(words, capture_output=True, text=True).stdout.split()
    return [number, *(one for child in children for one in _below(int(child)))]


def _kill(spark: SparkSession) -> None:
    """With -9, Java and all that work for it at once, as when the memory of the machine is full."""
    vars(spark).pop("version", None)  # which a session keeps once somebody has asked for it
    java = spark.sparkContext._gateway.proc  # type: ignore[union-attr]
    if java.poll() is None:
        for number in _below(java.pid):
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        java.wait()


def test_a_job_that_was_killed_goes_on(
    spark: SparkSession, done: Done, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the middle of a stage. It says what to do; then what was done is not done again.

    The rest is the same. Its end is done by a file of the package, submitted to a Spark of its own:
    the same job, which prints JSON. The last test that Spark is needed for: it is gone then.
    """
    out = shutil.copytree(done.folder / "out", tmp_path / "out")
    for name in ("contained", "kept", "work/kept"):  # as before the last two stages
        shutil.rmtree(out / name)
    same = [*done.patterns, "-o", str(out), "--cluster-size"]

    def watch() -> None:
        wait_until((out / "work" / "kept" / "_temporary").exists)
        _kill(spark)

    watching = Thread(target=watch)
    watching.start()
    with pytest.raises(
        InputError, match=r"^Spark's Java ended, as if killed .* start the job again"
    ):
        run_command(same, CONFIG)
    watching.join()
    steps = capsys.readouterr().err
    assert re.findall(r"(\w+): [\d.]+ s", steps) == ["contained"]
    settings = ("SEED=7", "TEMPLATES=False", "CONTAINMENT=0.9")
    steps, numbers = _submit(tmp_path, *same, *(f"-sDEDUP_{setting}" for setting in settings))
    assert re.findall(r"(\w+): [\d.]+ s", steps) == ["kept"]
    assert Result(**numbers)._replace(seconds={}) == done.result._replace(seconds={})
    assert duplicates(out) == duplicates(done.folder / "out")
    assert contained(out) == contained(done.folder / "out")
    for path in (done.folder / "out" / "kept").iterdir():
        assert (out / "kept" / path.name).read_bytes() == path.read_bytes()


def _submit(folder: Path, *words: str) -> tuple[str, dict[str, Any]]:
    """Submit the job from a folder; the lines of its stages, and its numbers."""
    import pyspark

    run = subprocess.run(
        [
            str(Path(pyspark.__file__).parent / "bin" / "spark-submit"),
            *("--master", "local[1]"),  # each task more is one Python more that starts
            *(word for option in QUIET.items() for word in ("--conf", "=".join(option))),
            str(SUBMIT),
            *words,
        ],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": sys.executable,
             "PYSPARK_DRIVER_PYTHON": sys.executable},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
    )  # fmt: skip
    assert run.returncode == 2, run.stderr  # as a file is damaged
    # spark-submit sends a script's standard error to its standard output.
    steps, brace, numbers = run.stdout.partition("{")
    return steps, json.loads(brace + numbers)


def test_a_java_that_dies_in_the_middle_of_a_word(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its last call then fails without any reason, as one that Java refuses.

    The session is begun already, as Java is gone since the test before.
    """

    def dies(self: Corpus) -> Result:
        _kill(spark)
        raise Py4JError(REFUSED)

    monkeypatch.setattr(session, "start_session", lambda *words: spark)
    monkeypatch.setattr(Corpus, "run", dies)
    path = corpora.write(tmp_path / "a.jsonl", corpora.pages(1))
    words = [str(path), "-o", str(tmp_path / "out")]
    with pytest.raises(InputError, match=r"^Spark's Java ended"):
        run_command(words, CONFIG)
