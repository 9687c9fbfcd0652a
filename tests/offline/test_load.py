"""Loading an index from files is checking their pages, only faster."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from time import sleep, time

import pyarrow as pa
import pytest
from pyarrow import parquet

from crawler.dedup import ConfigError, DedupConfig, DuplicateIndex, Kind, Record
from crawler.dedup.errors import InputError
from crawler.dedup.store.namespaces import clear_index
from crawler.dedup.store.records import read_records
from crawler.offline import load_chunks
from crawler.offline import load_files as load_files_module
from crawler.offline.checkpoint import Checkpoint
from crawler.offline.load_chunks import RecordSource
from crawler.offline.load_files import Loaded, load_files
from crawler.offline.records.files import File, local_files
from crawler.zstd import zstd
from tests.offline import corpora
from tests.support.extractors import killed
from tests.support.forked import forking
from tests.support.texts import article, text

PAGES = corpora.pages()
ROOT = Path(__file__).parents[2]
KEPT = {"unique": 1, "updated": 1}


@pytest.fixture(autouse=True)
def forked_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes of a load are forked from one that has imported most of what they need."""
    monkeypatch.setattr(load_chunks, "get_context", lambda _: forking())


def loaded(
    config: DedupConfig,
    files: list[File],
    warnings: list[str] | None = None,
    report: Callable[[str], None] = lambda _: None,
) -> Loaded:
    warn = [].append if warnings is None else warnings.append

    async def run() -> Loaded:
        async with DuplicateIndex.open(config) as index:
            checkpoint = Checkpoint(config.data_dir / "load.json", files, index)
            return await load_files(index, files, checkpoint, processes=2, report=report, warn=warn)

    return asyncio.run(run())


def shown(config: DedupConfig) -> list[Record | None]:
    async def run() -> list[Record | None]:
        async with DuplicateIndex.open(config) as index:
            return [await index.show(url) for url, _ in PAGES]

    return asyncio.run(run())


def decided(records: list[Record | None]) -> list[tuple[object, ...]]:
    return [
        (one.url, one.kind, one.duplicate_of, one.similarity, one.words) for one in records if one
    ]


def kept_anchors(config: DedupConfig) -> dict[str, bytes]:
    """By which the index finds pages in others, of all that have any."""

    async def run() -> dict[str, bytes]:
        async with DuplicateIndex.open(config) as index:
            records = read_records(index.store, odd_bytes=config.sketch_bits // 8)
            return {one.url: one.anchors async for one in records if one.anchors}

    found = asyncio.run(run())
    assert found
    return found


@pytest.fixture(params=["redis_url", "cluster_url"])
def server_url(request: pytest.FixtureRequest) -> str:
    """The address of an empty server, that of an empty cluster."""
    found: str = request.getfixturevalue(request.param)
    return found


def test_texts_that_move_are_kept(server_url: str, tmp_path: Path) -> None:
    """A load is a crawl: what an earlier one has seen elsewhere takes the place of nothing.

    A cluster checks the pages of an exchange at once, and may find a text moved away by then.
    """
    config = DedupConfig(redis_url=server_url, data_dir=str(tmp_path))
    one, two, three = (text(article(number)) for number in range(3))
    for name, pages, verdicts in [
        ("a", [("http://a/1", one), ("http://a/2", two)], [{"unique": 2}]),
        ("b", [("http://a/1", two), ("http://a/2", one)], [{"updated": 2}]),
        ("c", [("http://a/3", two), ("http://a/1", three)], [{"updated": 2}, KEPT]),
        ("d", [("http://a/4", one)], [{"updated": 1}]),
        ("e", [("http://b/5", three)], [{"exact": 1}]),
    ]:
        path = corpora.write(tmp_path / f"{name}.jsonl", pages)
        assert +loaded(config, local_files(str(path))).verdicts in verdicts


@pytest.mark.parametrize("order", ["", "score"])
def test_texts_of_lost_originals_are_kept(server_url: str, tmp_path: Path, order: str) -> None:
    """A page with another text, or a better page, takes the place of an original.

    A copy of that is kept, unless it is a copy of the better page, too. So is a page that a better
    one has replaced, when a third replaces the better one.
    """
    config = DedupConfig(redis_url=server_url, data_dir=str(tmp_path), prefer=order)
    words = article(1, 200)
    chain = [text([*words[cut:], *article(9, cut)]) for cut in range(0, 60, 15)]
    pages = list(zip("abcd", chain, (1, 2, 3, 4), strict=True))
    if not order:
        pages = [("a", chain[0], 0), ("b", chain[0], 0), ("a", chain[3], 0)]
    rows = [{"url": f"http://e/{url}", "text": one, "score": rank} for url, one, rank in pages]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    verdicts = loaded(config, local_files(str(path))).verdicts

    async def kept() -> set[str]:
        async with DuplicateIndex.open(config) as index:
            found = [await index.show(url) for url in dict.fromkeys(row["url"] for row in rows)]
        return {one.url[-1] for one in found if one and one.kind is Kind.UNIQUE}

    assert asyncio.run(kept()) == (set("db") if order else set("ab"))
    assert verdicts.total() == len(rows)


def test_a_note_of_many_sites_is_no_text_of_their_pages(redis_url: str, tmp_path: Path) -> None:
    """Nor on the pages that came before it was known as one, whichever process has read them."""
    config = DedupConfig(redis_url=redis_url, data_dir=str(tmp_path), seed=1)
    path = tmp_path / "a.jsonl"
    rows = corpora.noted_sites()
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    lines: list[str] = []
    verdicts = +loaded(config, local_files(str(path)), report=lines.append).verdicts
    assert verdicts.keys() <= KEPT.keys()
    assert verdicts.total() == len(rows)
    done, total = re.findall(r"\d+", lines[-1])
    assert lines[-1] == f"{done} of {total} doubtful pages read again"
    assert done == total


def test_pages_are_decided_as_if_checked(server_url: str, tmp_path: Path) -> None:
    """All is as after `check_many`, on a server and on a cluster; a second load changes nothing."""
    path = corpora.write(tmp_path / "a.jsonl.gz", PAGES)
    config = DedupConfig(redis_url=server_url, seed=3, data_dir=str(tmp_path), containment=0.9)
    first = loaded(config, local_files(str(path)))
    by_load = decided(shown(config))

    other = replace(config, namespace="other")

    async def check() -> list[str]:
        async with DuplicateIndex.open(other) as index:
            return [str(one.kind) for one in await index.check_many(PAGES)]

    kinds = asyncio.run(check())
    assert by_load == decided(shown(other))
    assert kept_anchors(config) == kept_anchors(other)
    assert first.verdicts == {kind: kinds.count(kind) for kind in set(kinds)}

    assert loaded(config, local_files(str(path))).verdicts == {"unchanged": len(PAGES)}
    assert decided(shown(config)) == by_load


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
@pytest.mark.parametrize(
    ("field", "words", "kept"), [("text", 40, 9), ("text", 100, 1), ("html", 40, 9)]
)
def test_titles_are_the_headings_of_texts(
    redis_url: str, tmp_path: Path, name: str, field: str, words: int, kept: int
) -> None:
    """Parts with one short description are no copies, as in a crawl."""
    described = {"text": text(article(1, words)), "html": f"<p>{text(article(1, words))}"}
    rows = [
        {"url": f"http://a/{number}", "title": f"Part {number}", field: described[field]}
        for number in range(9)
    ]
    path = tmp_path / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    if path.suffix == ".parquet":
        parquet.write_table(pa.Table.from_pylist(rows), path)
    config = DedupConfig(redis_url=redis_url, data_dir=str(tmp_path))
    found = loaded(config, local_files(str(path))).verdicts
    assert found == {"unique": kept} | ({"exact": 9 - kept} if kept < 9 else {})


def test_the_best_of_several_copies_is_kept(server_url: str, tmp_path: Path) -> None:
    """By the fields of lines and rows, and by the heads of pages in a WARC, as in a crawl."""
    order, words = "canonical,earlier,score", text(article(1))
    config = DedupConfig(redis_url=server_url, prefer=order, data_dir=str(tmp_path))
    head = '<link rel="canonical" href="/b"><meta property="article:published_time" content='
    page = corpora.html(words).replace("<title>", head + '"2026-01-01"><title>').encode()
    (tmp_path / "a.warc").write_bytes(corpora.response("http://a/", page))
    rows = [
        {"url": "http://b/", "text": words, "score": 4},
        {"url": "http://c/", "text": words, "date": "2026-05-02", "canonical": "http://c/"},
        {"url": "http://d/", "text": words, "date": ["2026-05-01"], "score": "1.5"},
        {"url": "http://e/", "text": words, "date": "2026-05-01", "score": 1},
    ]
    (tmp_path / "b.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    row = {"url": "http://f/", "text": words, "date": datetime(2026, 5, 1), "score": 1.75}
    parquet.write_table(pa.Table.from_pylist([row]), tmp_path / "c.parquet")

    async def kept() -> list[str]:
        async with DuplicateIndex.open(config) as index:
            urls = ["http://a/", *(row["url"] for row in rows), "http://f/"]
            found = [await index.show(url) for url in urls]
            return [one.url for one in found if one and one.kind is Kind.UNIQUE]

    for name, best in (("a.warc", "a"), ("b.jsonl", "d"), ("c.parquet", "f")):
        loaded(config, local_files(str(tmp_path / name)))
        assert asyncio.run(kept()) == [f"http://{best}/"]


def test_a_load_that_broke_off_goes_on(server_url: str, tmp_path: Path) -> None:
    """What is loaded is not read again, unless the index does not know it any more."""
    path = corpora.write(tmp_path / "a.jsonl", PAGES)
    config = DedupConfig(redis_url=server_url, data_dir=str(tmp_path))
    files = local_files(str(path))
    half = len(PAGES) // 2

    async def begin() -> None:
        async with DuplicateIndex.open(config) as index:
            crawl = await index.begin_crawl()
            await index.check_many(PAGES[:half])
            place = len(corpora.json_lines(PAGES[: half - 1]))
            key = Checkpoint(tmp_path / "load.json", files, index)._key
            noted = {"files": key, "position": place, "url": PAGES[half - 1][0]}
            noted |= {"start": crawl.start, "copies": []}
            (tmp_path / "load.json").write_text(json.dumps(noted))

    asyncio.run(begin())
    done = loaded(config, files)
    assert (done.resumed, done.verdicts.total()) == (half, len(PAGES) - half)
    assert not (tmp_path / "load.json").exists()

    path.write_bytes(path.read_bytes() + b"\n")  # another file now: all of it is read
    assert loaded(config, local_files(str(path))).verdicts == {"unchanged": len(PAGES)}

    async def forget() -> None:
        async with DuplicateIndex.open(config) as index:
            for url, _ in PAGES:
                await index.forget(url)

    asyncio.run(forget())
    assert loaded(config, local_files(str(path))).resumed == 0

    # Another index under that name, which knows the page that was loaded last from elsewhere.
    asyncio.run(clear_index(config))
    asyncio.run(begin())
    asyncio.run(clear_index(config))

    async def crawl() -> None:
        async with DuplicateIndex.open(config) as index:
            await index.check_many(PAGES[half - 1 : half])

    asyncio.run(crawl())
    assert loaded(config, files).resumed == 0

    asyncio.run(begin())
    for setting in {"text_field": "body"}, {"title_field": "name"}, {"templates": False}:
        assert loaded(replace(config, **setting), files).resumed == 0  # other texts or headings


def test_copies_of_an_interrupted_load_are_decided_again(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest of the files has another text for the original, so the copy is kept."""
    monkeypatch.setattr(load_files_module, "_SAVED_EVERY", 0.0)
    config = DedupConfig(redis_url=redis_url, data_dir=str(tmp_path))
    others = [(f"http://e/{number}", text(article(number, 60))) for number in range(300)]
    same = text(article(400, 60))
    pages = [("http://e/a", same), ("http://e/b", same), *others, ("http://e/a", others[0][1])]
    files = local_files(str(corpora.write(tmp_path / "a.jsonl", pages)))

    def interrupt(line: str) -> None:
        if int(line.split()[0]) > 128:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        loaded(config, files, report=interrupt)
    done = loaded(config, files)
    assert done.resumed >= 128
    assert done.verdicts.total() == len(pages) - done.resumed

    async def kind() -> Kind | None:
        async with DuplicateIndex.open(config) as index:
            found = await index.show("http://e/b")
        return found.kind if found else None

    assert asyncio.run(kind()) is Kind.UNIQUE


def test_what_is_noted_goes_when_all_is_loaded(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is left to go on with, but of a load of other files that broke off."""
    config = DedupConfig(redis_url=redis_url, data_dir=str(tmp_path))
    note = tmp_path / "load.json"
    note.write_text(json.dumps({"files": "others", "position": 1, "url": "https://o.example/"}))
    files = local_files(str(corpora.write(tmp_path / "a.jsonl", PAGES)))
    loaded(config, files)
    assert "others" in note.read_text()
    monkeypatch.setattr("crawler.offline.load_files._SAVED_EVERY", 0)
    loaded(config, files)
    assert not note.exists()


def test_a_load_that_cannot_note_how_far_it_is(
    redis_url: str,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where the folder takes no file, as on a full disk, all is loaded, with one warning."""
    monkeypatch.setattr("crawler.offline.load_files._SAVED_EVERY", 0)
    path = corpora.write(tmp_path / "a.jsonl", PAGES)
    config = DedupConfig(redis_url=redis_url, data_dir=str(path))  # a file is no folder
    assert loaded(config, local_files(str(path))).verdicts.total() == len(PAGES)
    assert [message.partition(":")[0] for message in caplog.messages] == [
        "Could not save the progress of the load"
    ]


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
def test_few_large_pages_are_handed_over_at_a_time(tmp_path: Path, name: str) -> None:
    """The memory of a load is bounded by the bytes of what waits, in every format."""
    pages = [(f"https://e.example/{number}", "word " * 400_000) for number in range(20)]
    files = local_files(str(corpora.write(tmp_path / name, pages)))
    counts = [len(batch.raws) for batch in RecordSource(files, DedupConfig(), -1).read_batches()]
    assert sum(counts) == 20
    assert max(counts) < 10


@pytest.mark.parametrize(
    ("name", "place"),
    [("a.jsonl", "line 202"), ("a.jsonl.zst", "line 202"), ("a.parquet", "row 201")],
)
def test_the_first_record_that_cannot_be_read_is_named(
    redis_url: str, tmp_path: Path, name: str, place: str
) -> None:
    """Once for each file, with its place in it, also where the load goes on after a part."""
    pages = [(f"https://n.example/{i}", f"text of {i}") for i in range(200)]
    broken = [*pages, ("", "no address"), *pages, ("", "no address")]
    path = corpora.write(tmp_path / name, broken)
    if name == "a.jsonl.zst":
        path.write_bytes(zstd.compress(b"\n" + corpora.json_lines(broken)))
    elif name == "a.jsonl":
        path.write_bytes(b"\n" + corpora.json_lines(broken))
    good = corpora.write(tmp_path / "b.jsonl", pages)
    files = [*local_files(str(path)), *local_files(str(good))]
    config = DedupConfig(redis_url=redis_url, data_dir=str(tmp_path))
    warnings: list[str] = []
    assert loaded(config, files, warnings).unreadable == 2
    (warning,) = warnings
    assert warning.startswith(f"{str(path)!r}, {place}: has no field 'url'")


def test_a_line_that_is_too_long_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lines behind it have the numbers that people count."""
    monkeypatch.setattr("crawler.offline.records.lines.LINE", 100)
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"{}\n" + b"x" * 450 + b"\n{}\n")
    (batch,) = RecordSource(local_files(str(path)), DedupConfig(), -1).read_batches()
    assert batch.places == [1, 2, 3]


def test_a_killed_process_is_one_error(redis_url: str, tmp_path: Path) -> None:
    """It says what may be the cause, and that the load can be started again."""
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"url": "https://k.example/", "html": "<p>tea</p>"}))
    config = DedupConfig(redis_url=redis_url, data_dir=str(tmp_path), extractor=killed)
    with pytest.raises(InputError, match=r"was killed.*again.*--processes"):
        loaded(config, local_files(str(path)))


def test_a_killed_load_leaves_no_process(redis_url: str, tmp_path: Path) -> None:
    """Its processes end with it, and let go of its output, which a script may wait for."""
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"url": "https://k.example/", "html": "<p>tea</p>"}))
    settings = {
        "DEDUP_REDIS_URL": redis_url,
        "DEDUP_DATA_DIR": tmp_path,
        "DEDUP_EXTRACTOR": "tests.support.extractors.endless",
    }
    words = ["load", str(path), "--processes", "1"]
    words += [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]
    process = subprocess.Popen(
        [sys.executable, "-m", "scrapy", "dedup", *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    # In full: a line cut at the width of a terminal may not reach the word.
    listed = ["ps", "-ww", "-s", str(process.pid), "-o", "args="]
    while b"spawn_main" not in subprocess.run(listed, capture_output=True).stdout:
        assert process.poll() is None
        sleep(0.05)
    process.kill()
    process.communicate(timeout=110)


def test_an_extractor_that_is_not_there_is_named(redis_url: str, tmp_path: Path) -> None:
    """It is an error of the setting, not of the processes that would use it."""
    path = corpora.write(tmp_path / "a.jsonl", PAGES)
    config = DedupConfig(redis_url=redis_url, data_dir=str(tmp_path), extractor="nowhere.extract")
    with pytest.raises(ConfigError, match="nowhere"):
        loaded(config, local_files(str(path)))


def test_what_a_load_that_broke_off_has_kept_is_not_lost(
    server_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was for the index alone, so a crawl does not pass it on."""
    path = corpora.write(tmp_path / "a.jsonl", PAGES)
    config = DedupConfig(redis_url=server_url, data_dir=str(tmp_path))

    def break_off(_: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        loaded(config, local_files(str(path)), report=break_off)
    [first, *_], minute_later = PAGES, time() + 60
    monkeypatch.setattr("time.time", lambda: minute_later)

    async def crawl() -> Kind:
        async with DuplicateIndex.open(config) as index:
            await index.begin_crawl()
            return (await index.check(*first)).kind

    assert asyncio.run(crawl()) is Kind.UNCHANGED


def test_a_feed_whose_template_was_cut_is_unchanged(server_url: str, tmp_path: Path) -> None:
    """Items have what was left of a page's text, whose exact hash is that of all of it."""
    config = DedupConfig(redis_url=server_url, data_dir=str(tmp_path))
    left, other = text(article(1)), text(article(2))

    async def crawl() -> None:
        async with DuplicateIndex.open(config) as index:
            await index.begin_crawl()
            await index.check("http://a/1", left, whole=f"A note on all pages. {left}")
            await index.end_crawl()

    asyncio.run(crawl())
    path = corpora.write(tmp_path / "a.jsonl", [("http://a/1", left)])
    for _ in range(2):
        assert loaded(config, local_files(str(path))).verdicts == {"unchanged": 1}
    path = corpora.write(tmp_path / "a.jsonl", [("http://a/1", other)])
    assert loaded(config, local_files(str(path))).verdicts == {"updated": 1}
