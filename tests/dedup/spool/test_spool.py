"""Pages that could not be checked are kept, and drained once."""

from __future__ import annotations

import fcntl
import resource
import tracemalloc
from pathlib import Path
from typing import IO

import pytest

from crawler.dedup.exchange.spool import Spool
from crawler.dedup.store.messages import CheckRequest, Gone
from tests.dedup.spool.kept import drained, request
from tests.support.forked import forking


def test_what_is_added_is_drained_once(tmp_path: Path) -> None:
    """Requests come back whole and in order, and are gone then."""
    spool = Spool(tmp_path, "index")
    requests = [request(n) for n in range(10)]
    spool.add(requests[:4])
    spool.add(requests[4:])
    assert spool.count() == ((10, 0), (0, 0))
    assert drained(spool) == requests
    assert (drained(spool), spool.count()) == ([], ((0, 0), (0, 0)))
    (tmp_path / "file").touch()
    assert Spool(tmp_path / "file" / "folder", "index").count() == ((0, 0), (0, 0))


def test_reports_of_gone_pages_are_kept_too(tmp_path: Path) -> None:
    """They come back among the requests, as they are, and go along with a renamed index."""
    spool = Spool(tmp_path, "index digest")
    kept = [request(1), Gone("http://host/\n", 1_700_000_000), request(2)]
    spool.add(kept)
    assert spool.count() == ((2, 1), (0, 0))
    Spool.rename(tmp_path, "index", "other")
    assert drained(Spool(tmp_path, "other digest")) == kept


def test_what_is_not_done_stays(tmp_path: Path) -> None:
    """An iteration left in the middle leaves the batch in hand and all after it."""
    spool = Spool(tmp_path, "index")
    spool.add(request(n) for n in range(10))
    batches = spool.drain(3)
    next(batches)
    next(batches)
    batches.close()
    spool.add([request(10)])
    assert sorted(r.token for r in drained(spool)) == [n.to_bytes(4) for n in range(3, 11)]


def test_a_long_spool_is_no_load(tmp_path: Path) -> None:
    """What is left of it, and what is renamed in it, passes line by line."""
    Spool(tmp_path, "index digest").add(request(n) for n in range(8_000))
    size = sum(path.stat().st_size for path in tmp_path.iterdir())
    tracemalloc.start()
    Spool.rename(tmp_path, "index", "other")
    spool = Spool(tmp_path, "other digest")
    batches = spool.drain(3)
    next(batches)
    batches.close()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < size / 20
    assert spool.count() == ((8_000, 0), (0, 0))


def test_requests_of_other_indexes_are_left(tmp_path: Path) -> None:
    """A request is only answered by the index whose parameters it was made with."""
    Spool(tmp_path, "other").add([request(1)])
    spool = Spool(tmp_path, "index")
    spool.add([request(2)])
    assert spool.count() == ((1, 0), (1, 0))
    assert drained(spool) == [request(2)]
    assert drained(Spool(tmp_path, "other")) == [request(1)]


def test_reports_are_counted_apart_from_pages(tmp_path: Path) -> None:
    """Of this index and of others; a line that says what no report says counts as a page."""
    kept = [request(1), Gone("http://host/", 7), Gone("http://host/2", 8)]
    Spool(tmp_path, "other").add([*kept, request(2)])
    with (tmp_path / "unchecked.jsonl").open("ab") as file:
        file.write(b'{"index": "other", "gone": 5}\n')
    spool = Spool(tmp_path, "index")
    spool.add(kept)
    assert spool.count() == ((1, 2), (3, 2))


def test_requests_go_along_with_a_renamed_index(tmp_path: Path) -> None:
    """Those that a killed process left too; requests of others, and lines cut off, stay."""
    spools = [Spool(tmp_path, f"{name} digest") for name in ("old", "new", "older")]
    Spool.rename(tmp_path, "old", "new")
    assert not list(tmp_path.iterdir())
    for number in range(2):
        spools[0].add([request(number)])
        (tmp_path / "unchecked.jsonl").rename(tmp_path / f"unchecked-{number}.jsonl")
    spools[2].add([request(2)])
    with (tmp_path / "unchecked.jsonl").open("ab") as file:
        file.write(b"[" * 100_000 + b'\n[]\n{"index": 7}\n{"index": "old dig')
    Spool.rename(tmp_path, "old", "new")
    assert [[found.pages for found in spool.count()] for spool in spools] == [
        [0, 7],
        [2, 5],
        [1, 6],
    ]
    assert drained(spools[1]) == [request(0), request(1)]
    assert drained(spools[2]) == [request(2)]


def test_a_rename_that_finds_the_disk_full_changes_nothing(tmp_path: Path) -> None:
    """No request is there under both names then, and no line is cut off."""
    spools = [Spool(tmp_path, f"{name} digest") for name in ("old", "new")]
    spools[0].add(request(number) for number in range(100))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
    try:
        with pytest.raises(OSError, match="too large"):
            Spool.rename(tmp_path, "old", "new")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert [[found.pages for found in spool.count()] for spool in spools] == [[100, 0], [0, 100]]
    assert not [*tmp_path.glob("*.part")]
    Spool.rename(tmp_path, "old", "new")
    assert [spool.count()[0].pages for spool in spools] == [0, 100]


def test_a_preferred_page_stays_preferred(tmp_path: Path) -> None:
    """All that decides about a page is kept, and lines of earlier versions can be read."""
    spool = Spool(tmp_path, "index")
    wanted = request(1)._replace(canonical="/1", yields=True, rank=b"7", preferred=True)
    spool.add([wanted])
    path = tmp_path / "unchecked.jsonl"
    path.write_bytes(path.read_bytes() + path.read_bytes().replace(b', "preferred": true', b""))
    assert drained(spool) == [wanted, wanted._replace(preferred=False)]
    spool.add([wanted])
    path.write_bytes(path.read_bytes().replace(b'"rank": "37"', b'"date": 7'))
    assert drained(spool) == [wanted._replace(rank=bytes([0, 0, 0, 7]))]


def test_a_line_cut_off_takes_no_other_with_it(tmp_path: Path) -> None:
    """What a killed process left of a line is passed over, and what is added after it is not."""
    spool = Spool(tmp_path, "index")
    spool.add([request(1)])
    path = tmp_path / "unchecked.jsonl"
    path.write_bytes(path.read_bytes() * 2 + b'{"index": "ind\xc3')
    spool.add([request(2)])
    assert spool.count() == ((3, 0), (1, 0))
    path.write_bytes(path.read_bytes() + b"{")
    batches = spool.drain(9)
    next(batches)
    batches.close()
    assert spool.count() == ((3, 0), (2, 0))


def test_what_another_process_has_done_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that another process works off, and removes meanwhile, is no error and not read."""
    spool = Spool(tmp_path, "index")
    (tmp_path / "unchecked-0.jsonl").symlink_to(tmp_path / "removed")
    assert (spool.count(), drained(spool)) == (((0, 0), (0, 0)), [])
    lock = fcntl.flock

    def late(file: IO[bytes], how: int) -> None:
        if how & fcntl.LOCK_NB:
            Path(file.name).unlink()
        lock(file, how)

    monkeypatch.setattr(fcntl, "flock", late)
    spool.add([request(1)])
    assert drained(spool) == []


def _add(folder: Path, start: int) -> None:
    spool = Spool(folder, "index")
    for number in range(start, start + 100):
        spool.add([request(number)])


def test_processes_share_it(tmp_path: Path) -> None:
    """Processes that add while another drains lose nothing."""
    spool = Spool(tmp_path, "index")
    workers = [forking().Process(target=_add, args=(tmp_path, n * 100)) for n in range(3)]
    for worker in workers:
        worker.start()
    found: list[CheckRequest] = []
    while any(worker.is_alive() for worker in workers):
        workers[0].join(0.001)  # or the processor that they need would do nothing but look
        if tmp_path.joinpath("unchecked.lock").exists():
            found += drained(spool)
    found += drained(spool)
    assert sorted(r.token for r in found) == [n.to_bytes(4) for n in range(300)]
