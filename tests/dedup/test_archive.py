"""The archive of texts: bounded, shared by processes, and never in a crawl's way."""

from __future__ import annotations

import logging
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Timer

import pytest

from crawler.dedup.archive import writer
from crawler.dedup.archive.archived_pages import Archive, ArchivedPage
from crawler.dedup.archive.database import (
    archive_path,
    clear_archive,
    connect_file,
    copy_archive,
    create_archive,
    forget_page,
    list_archives,
)
from crawler.dedup.archive.writer import ArchiveWriter
from crawler.dedup.config import DedupConfig
from crawler.dedup.errors import InputError
from crawler.dedup.verdict import Kind, Verdict
from tests.conftest import wait_until
from tests.support.forked import forking
from tests.support.texts import article, text

HOSTILE = "NUL \x00, <script>, \ud800 alone, \u202e turned"


def write(path: Path, pages: list[tuple[str, str, Verdict | None]], limit: int = 100) -> None:
    writer = ArchiveWriter(path, limit)
    for url, words, verdict in pages:
        writer.add(words, f"title of {url}", verdict or Verdict(Kind.UNIQUE, url, cluster=7))
    writer.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "archive.sqlite"


def test_what_goes_in_comes_out(path: Path) -> None:
    """Text, title, verdict and the blocks that were cut are there, whatever is in them."""
    verdict = Verdict(
        Kind.UNCHANGED, "http://a/?b=2&a=1", "http://b/", 0.9, 0.8, 0.95, 3, Kind.NEAR
    )
    writer = ArchiveWriter(path, 10)
    writer.add(HOSTILE, HOSTILE, verdict, [("menu " + HOSTILE, "navigation")])
    writer.close()
    with Archive.open(path) as archive:
        page = archive.page("http://a/?a=1&b=2#top")
        assert page is not None
        expected = HOSTILE.replace("\ud800", "?")
        assert (page.text, page.title, page.characters) == (expected, expected, len(HOSTILE))
        assert page.verdict.standing is Kind.NEAR
        assert page.verdict.similarity == 0.9
        assert page.cut[0].reason == "navigation"
        assert page.verdict.cluster == 3
        assert archive.page("http://a/?a=1&b=2") == page
        assert archive.page("http://nowhere/") is None


def test_what_an_earlier_version_packed(path: Path) -> None:
    """Texts packed with zlib stand beside those of now."""
    write(path, [("http://a/", "first", None), ("http://b/", "second", None)])
    with closing(connect_file(path)) as connection:
        connection.execute(
            "UPDATE page SET text = ?, cut = ? WHERE url = 'http://a/'",
            [zlib.compress(b"as it was"), zlib.compress(b'[["menu", "links"]]')],
        )
    with Archive.open(path) as archive:
        first, second = archive.page("http://a/"), archive.page("http://b/")
    assert first is not None
    assert second is not None
    assert (first.text, first.cut[0].text, second.text) == ("as it was", "menu", "second")


@pytest.mark.parametrize("column", ["text", "cut"])
@pytest.mark.parametrize("pack", [zlib.compress, None], ids=["zlib", "as packed now"])
def test_damage_is_told(path: Path, column: str, pack: Callable[[bytes], bytes] | None) -> None:
    """A text is as it was, or an error says that it is not: cut short, or one bit turned."""
    words = "all that stood on the page, and what was cut"
    writer = ArchiveWriter(path, 10)
    writer.add(words, "title", Verdict(Kind.UNIQUE, "http://a/"), [(words, "links")])
    writer.close()
    with closing(connect_file(path)) as connection:

        def put(data: bytes) -> None:
            connection.execute(f"UPDATE page SET {column} = ?", [data])

        whole = connection.execute(f"SELECT {column} FROM page").fetchone()[0]
        if pack:
            whole = pack(f'[["{words}", "links"]]'.encode() if column == "cut" else words.encode())
        put(whole)
        before = read(path)
        assert (before.text, before.cut) == (words, ((words, "links"),))
        for damaged in (whole[: len(whole) // 2], whole[:-1], b"", b"\0" * 20):
            put(damaged)
            with pytest.raises(InputError, match="cannot be read"):
                read(path)
        refused = 0
        for i in range(len(whole)):
            put(whole[:i] + bytes([whole[i] ^ 4]) + whole[i + 1 :])
            try:
                assert read(path) == before
            except InputError:
                refused += 1
        assert refused >= len(whole) - 2


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("title", b"bytes"),
        ("text", "no bytes"),
        ("cut", "[]"),
        ("cut", zlib.compress(b"7")),
        ("cut", zlib.compress(b'[["a"]]')),
        ("cut", zlib.compress(b'[["a", "b", "c"]]')),
        ("cut", zlib.compress(b"[" * 100_000)),
        ("cut", zlib.compress(b"\xff")),
        ("kind", "no such"),
        ("kind", b"unique"),
        ("characters", "many"),
        ("similarity", "high"),
        ("cluster", 1.5),
        ("checked", "today"),
        ("checked", 1e300),
    ],
)
def test_rows_of_another_shape_are_told(path: Path, column: str, value: object) -> None:
    """SQLite keeps any value in any column."""
    write(path, [("http://a/", "words", None)])
    with closing(connect_file(path)) as connection:
        connection.execute(f"UPDATE page SET {column} = ?", [value])
    with pytest.raises(InputError, match="cannot be read"):
        read(path)
    with Archive.open(path) as archive:
        assert all(isinstance(title, str) for title in archive.titles(["http://a/"]).values())


def read(path: Path) -> ArchivedPage:
    with Archive.open(path) as archive:
        page = archive.page("http://a/")
    assert page is not None
    return page


def test_latest_text_only(path: Path) -> None:
    """A page checked again stands there once, as it was the last time."""
    write(path, [("http://a/", "old", None), ("http://b/", "other", None)])
    write(path, [("http://a/", "new", None)])
    with Archive.open(path) as archive:
        assert archive.search("http://", 9) == ["http://a/", "http://b/"]
        assert len(archive) == 2
    assert read(path).text == "new"


def test_oldest_goes_but_the_original_of_a_copy_stays(path: Path) -> None:
    """No more pages than asked for; what a late copy repeats counts as used with it."""
    fetched = "http://0/%3D"  # as a verdict names it
    copy = Verdict(Kind.NEAR, "http://copy/", fetched, 0.9, 0.8, 1.0, 1)
    pages: list[tuple[str, str, Verdict | None]] = [(f"http://{i}/=", "x", None) for i in range(9)]
    write(path, [*pages, (copy.url, "x", copy), ("http://last/", "x", None)], limit=4)
    with Archive.open(path) as archive:
        left = set(archive.search("http://", 99))
        assert archive.titles([fetched, "http://1/="]) == {fetched: "title of http://0/="}
    assert left == {"http://0/=", "http://8/=", "http://copy/", "http://last/"}


def test_a_page_costs_no_more_in_a_large_archive(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The work of the database for a page, in its own steps, does not grow with the limit."""
    steps = 0

    def step() -> int:
        nonlocal steps
        steps += 100
        return 0

    def counted(file: Path) -> sqlite3.Connection:
        connection = create_archive(file)
        connection.set_progress_handler(step, 100)
        return connection

    taken = []
    for limit in (10_000, 40_000):
        file = path.with_name(f"{limit}.sqlite")
        write(file, [("http://a/", "x", None)])
        with closing(sqlite3.connect(file)) as filled, filled:
            filled.execute(
                "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i <= ?) "
                "INSERT INTO page SELECT 'http://' || i, i, title, text, characters, cut, kind, "
                "standing, duplicate_of, similarity, low, high, cluster, checked FROM page, n",
                [limit],
            )
        monkeypatch.setattr(writer, "create_archive", counted)
        steps = 0
        new: list[tuple[str, str, Verdict | None]] = [
            (f"http://n/{i}", "x", None) for i in range(900)
        ]
        write(path.with_name(f"{limit}.sqlite"), new, limit=limit)
        taken.append(steps)
        monkeypatch.undo()
        with Archive.open(file) as archive:
            assert len(archive) == limit
    assert taken[1] < 2 * taken[0], taken


def test_large_pages_are_cut(path: Path) -> None:
    """A page of 5 MB takes a bounded part, and its true length is known."""
    writer = ArchiveWriter(path, 10)
    blocks = [("x" * 5000, "links")] * 5000
    writer.add("word " * 1_000_000, "t" * 10**6, Verdict(Kind.UNIQUE, "http://a/"), blocks)
    writer.close()
    with Archive.open(path) as archive:
        page = archive.page("http://a/")
    assert page is not None
    assert page.characters == 5_000_000
    assert len(page.text) == 50_000
    assert len(page.cut) == 60
    assert sum(len(block.text) for block in page.cut) + len(page.title) < 20_000


def test_crawls_that_are_killed_leave_no_more_than_the_limit(path: Path) -> None:
    """What they wrote beyond it goes with the first pages of the next one, not at its end."""
    write(path, [(f"http://a/{n}", "text", None) for n in range(300)], limit=1000)
    writer = ArchiveWriter(path, 200)
    writer.add("text", "", Verdict(Kind.UNIQUE, "http://b/"))

    def pages() -> int:
        with Archive.open(path) as archive:
            return len(archive)

    wait_until(lambda: pages() <= 200)
    assert pages() == 200  # and then it is killed
    writer.close()


def test_a_file_that_somebody_else_makes_is_waited_for(path: Path) -> None:
    """SQLite itself gives up at once while another process is about to make the file."""
    path.parent.mkdir()
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        start = time.monotonic()
        with (
            pytest.raises(sqlite3.OperationalError, match="locked"),
            closing(connect_file(path)) as one,
        ):
            one.execute("PRAGMA journal_mode = WAL")
        assert time.monotonic() - start < 9  # and not 10, for which it waits elsewhere
        waiting = Timer(0.5, other.execute, ["COMMIT"])
        waiting.start()
        write(path, [("http://a/", "x", None)])
        waiting.join()
    with Archive.open(path) as archive:
        assert len(archive) == 1


def test_processes_share_a_file(path: Path) -> None:
    """Four processes write at once; every page is there."""
    pages = [[(f"http://{n}/{i}", "text", None) for i in range(200)] for n in range(4)]
    processes = [forking().Process(target=write, args=(path, some, 10_000)) for some in pages]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0, 0, 0]
    with Archive.open(path) as archive:
        assert len(archive) == 800


@pytest.mark.parametrize("fault", ["damaged", "folder", "version"])
def test_a_fault_is_one_warning(path: Path, fault: str, caplog: pytest.LogCaptureFixture) -> None:
    """A file that cannot be written costs one line of the log, naming the setting."""
    path.parent.mkdir()
    if fault == "folder":
        path.mkdir()
    elif fault == "damaged":
        path.write_bytes(b"no database " * 1000)
    else:
        write(path, [("http://a/", "x", None)])
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA user_version = 99")
    with caplog.at_level(logging.WARNING):
        write(path, [(f"http://{i}/", "x", None) for i in range(200)])
    assert len(caplog.records) == 1
    assert "DEDUP_ARCHIVE" in caplog.text
    if fault != "folder":
        with pytest.raises(InputError, match="delete it"), Archive.open(path) as archive:
            archive.page("http://a/")


def test_too_little_memory_is_one_warning(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Which says what is wrong, though that error has no text; no thread ends with a traceback."""

    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(ArchiveWriter, "_trim_pages", fail)
    with caplog.at_level(logging.WARNING):
        write(path, [("http://a/", "x", None)])
    assert "MemoryError(). DEDUP_ARCHIVE" in caplog.text


def test_a_file_that_was_removed_meanwhile_is_told(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What is written to it later is lost, and no error of the disk says so."""

    def is_written() -> bool:
        with Archive.open(path) as archive:
            return len(archive) == 1

    writer = ArchiveWriter(path, 10)
    writer.add("text", "", Verdict(Kind.UNIQUE, "http://a/"))
    wait_until(is_written)
    shutil.rmtree(path.parent)
    writer.close()
    (record,) = caplog.records
    assert f"{path}: it was removed meanwhile" in record.getMessage()


def test_a_python_without_zstandard(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One warning says what to do, and the crawl goes on; without an archive there is none."""
    for name in ("crawler.zstd", "backports.zstd", "compression.zstd"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    for name in ("backports", "compression"):
        monkeypatch.setitem(sys.modules, name, None)
    assert ArchiveWriter.of(DedupConfig(data_dir=tmp_path, archive=0), "1") is None
    assert not caplog.records
    assert ArchiveWriter.of(DedupConfig(data_dir=tmp_path), "1") is None
    (record,) = caplog.records
    assert "libzstd" in record.getMessage()
    assert "DEDUP_ARCHIVE=0" in record.getMessage()


def test_a_slow_disk_leaves_pages_out(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """While another process holds the file, pages are left out at once, never waited for."""
    write(path, [("http://a/", "x", None)])
    hold = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); "
        "c.execute('BEGIN EXCLUSIVE'); print(flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", hold, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdin is not None
    assert holder.stdout is not None
    holder.stdout.readline()
    writer = ArchiveWriter(path, 10_000)
    with caplog.at_level(logging.WARNING):
        for i in range(4000):
            writer.add("text", "", Verdict(Kind.UNIQUE, f"http://{i}/"))
        holder.communicate(b"")
        writer.close()
    with Archive.open(path) as archive:
        assert 1000 <= len(archive) < 2000
    assert "the disk is slow" in caplog.text


def test_no_file_is_an_empty_archive(path: Path) -> None:
    """Reading what was never written finds nothing and leaves nothing behind."""
    with Archive.open(path) as archive:
        assert archive.page("http://a/") is None
        assert len(archive) == 0
    assert not path.exists()
    assert not forget_page(path, "http://a/")


def test_a_folder_that_cannot_be_written() -> None:
    """Who may only read the archive, as on a disk that is mounted so, reads it."""
    words = (
        "import os, sys; from pathlib import Path; import pytest; "
        "from crawler.dedup.archive.archived_pages import Archive; "
        "from crawler.dedup.archive.database import forget_page; "
        "from crawler.dedup.errors import InputError\n"
        "def read(path):\n"
        "    with Archive.open(path) as archive:\n"
        "        assert archive.page('http://a/').text == 'x'\n"
        "first, second = map(Path, sys.argv[1:])\n"
        "read(first)\n"  # from now on all modules are there
        "if os.getuid() == 0: os.setuid(65534)\n"  # root may write everywhere
        "read(second)\n"
        "with pytest.raises(InputError, match='cannot be written .*readonly'): forget_page(second, 'http://a/')"
    )
    # Others can enter them, which the folders of pytest do not allow.
    with TemporaryDirectory() as one, TemporaryDirectory() as two:
        paths = [Path(name, "archive #1?.sqlite") for name in (one, two)]
        for path in paths:
            write(path, [("http://a/", "x", None)])
        paths[1].chmod(0o444)
        Path(two).chmod(0o555)
        subprocess.run([sys.executable, "-c", words, *map(str, paths)], check=True, timeout=60)
        Path(two).chmod(0o755)


@pytest.mark.parametrize("room", [0, 4096, 20_000])
def test_a_file_that_a_full_disk_left_is_an_empty_archive(path: Path, room: int) -> None:
    """What could not be made whole hinders neither reports nor whoever forgets a page."""
    # Python ignores the signal that a file is too large, and gets an error instead.
    _, most = before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, most))
    try:
        write(path, [("http://a/", "x", None)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert path.exists()
    with Archive.open(path) as archive:
        assert len(archive) == 0
    assert not forget_page(path, "http://a/")
    clear_archive(path)
    copy_archive(path, path.with_name("target.sqlite"))
    write(path, [("http://a/", "x", None)])
    with Archive.open(path) as archive:
        assert len(archive) == 1


def test_forgotten_page(path: Path) -> None:
    """A page that is forgotten is not shown either."""
    write(path, [("http://a/", "x", None)])
    assert forget_page(path, "http://a/#part")
    assert not forget_page(path, "http://a/")
    with Archive.open(path) as archive:
        assert archive.page("http://a/") is None


def test_copied_and_cleared(path: Path) -> None:
    """A copy has the pages; cleared, no file is left, and who reads it sees that it is empty."""
    write(path, [(f"http://{i}/", text(article(i)), None) for i in range(100)])
    target = path.with_name("target.sqlite")
    copy_archive(path, target)
    with Archive.open(path) as reader:
        clear_archive(path)
        assert len(reader) == 0
    assert [file.name for file in path.parent.iterdir()] == [target.name]
    with Archive.open(target) as archive:
        assert len(archive) == 100
    clear_archive(path.with_name("none.sqlite"))
    copy_archive(path.with_name("none.sqlite"), target)


def test_a_copy_of_no_archive(path: Path) -> None:
    """Where an index has no texts its copy has none, though an index of that name had some."""
    write(path, [("http://a/", "text of another index", None)])
    copy_archive(path.with_name("none.sqlite"), path)
    with Archive.open(path) as archive:
        assert archive.page("http://a/") is None


def test_settings(tmp_path: Path) -> None:
    """Each index has a file of its own, and one that is not opened the last one; 0 is none."""
    one, two = (DedupConfig(data_dir=tmp_path, namespace=name) for name in ("a/b", "a-b"))
    paths = [archive_path(config, digest) for config in (one, two) for digest in ("1", "2")]
    assert len(set(paths)) == 4
    assert archive_path(one).parent == tmp_path
    for place, path in enumerate(paths):
        write(path, [("http://a/", "x", None)])
        os.utime(path, (place, place))
    assert [archive_path(one), archive_path(two)] == paths[1::2]
    assert list_archives(one) == paths[:2]
    assert ArchiveWriter.of(DedupConfig(archive=0), "1") is None


def test_words_are_found_in_any_alphabet(path: Path) -> None:
    """A search heeds case in no alphabet."""
    writer = ArchiveWriter(path, 10)
    writer.add("", "Смотритель зажёг лампу", Verdict(Kind.UNIQUE, "http://a/Ä"))
    writer.close()
    with Archive.open(path) as archive:
        for words in ("Смотритель", "СМОТРИТЕЛЬ", "зажёг", "HTTP://A"):
            assert archive.search(words, 5) == ["http://a/%C3%84"]
        assert archive.search("сторож", 5) == []
