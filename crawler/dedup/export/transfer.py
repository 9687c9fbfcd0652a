"""Export of an index to a file, and import into another, on a server or a cluster."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..config import DedupConfig
from ..errors import InputError
from ..exchange.open_store import make_store
from ..index import DuplicateIndex
from ..store.audit import Audit
from ..store.layout import all_blocks
from ..store.records import PageRecord
from ..store.records import read_blocks as read_records
from ..store.restore import Restorer
from ..store.server.connect import open_server
from .exported import are_counters, checked_header, mark_of, records_in, settle_parameters
from .file import FORMAT, VERSION, Writer, read_blocks, read_header

if TYPE_CHECKING:
    from ..store.records import Progress

_RECORDS: Final = 64  # blocks of records in a block of the file
_WRITTEN: Final = 512  # pages written at once
_NOT_COMPARED: Final = frozenset(("created",))  # fields of a header


class Imported(NamedTuple):
    """The result of an import: pages in the file, new pages, and the final audit.

    ``keeps`` says whether the pages kept their numbers.
    """

    pages: int
    new: int
    keeps: bool
    audit: Audit


async def export_index(
    index: DuplicateIndex, path: Path, *, progress: Progress | None = None
) -> int:
    """Write an index to a new file; return the number of pages.

    The file is written as ``path`` with ``.part`` and renamed when it is complete. If it is
    interrupted, a second call resumes, unless the index has changed. Raises :class:`InputError` if
    the index changes during the export or the file cannot be written.
    """
    _see_that_it_is_new(path)
    part = path.with_name(path.name + ".part")
    try:
        with part.open("a+b") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise InputError(f"another export writes {str(part)!r} now") from None
            _see_that_it_is_new(path)  # another export may have renamed this very file meanwhile
            pages = await _write_export(index, part, Writer(file), progress)
            os.fsync(file.fileno())
            part.rename(path)
    except OSError as error:
        raise InputError(f"cannot write {str(path)!r}: {error.strerror}") from None
    return pages


def _see_that_it_is_new(path: Path) -> None:
    if path.exists() and not path.is_file():
        raise InputError(f"{str(path)!r} is a folder, a pipe or a device: name a new file")
    if path.exists():
        raise InputError(f"there is a file {str(path)!r} already: remove it, or name another")


async def _write_export(
    index: DuplicateIndex, part: Path, writer: Writer, progress: Progress | None
) -> int:
    store, odd_bytes = index.store, index.config.sketch_bits // 8
    await store.finish_dead()
    before = await _state_of(index)
    states = await store.read_states()
    counters = await store.read_counters()
    header: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "namespace": store.namespace,
        "parameters": counters["params"],
        "shards": int(counters["params"].get("shards", 0)),
        "next": [state.get("next", 1) for state in states],
        "pages": sum(state.get("url.n", 0) for state in states),
        "kept": sum(state.get("kept", 0) for state in states),
        "state": before,
    }
    known = _header_of(part)
    if known is not None and _same_header(known, header):
        header = known
    if not writer.resume_file(part, header):
        writer.write_header(header)
    places = islice(all_blocks(header["next"]), writer.blocks * _RECORDS, None)
    while some := list(islice(places, _RECORDS)):
        writer.write_block(await read_records(store, some, odd_bytes))
        if progress is not None:
            progress(writer.pages, header["pages"])
    if await _state_of(index) != before:
        raise InputError(f"the index {store.namespace!r} was changed meanwhile: stop its crawls")
    names = ("stats", "hosts", "histogram")
    writer.write_end({**{n: counters[n] for n in names}, "overrides": await store.overrides()})
    return writer.pages


def _header_of(path: Path) -> dict[str, Any] | None:
    try:
        return read_header(path, next(read_blocks(path)))
    except InputError:  # there is no complete header
        return None


def _same_header(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return all(a.get(name) == b.get(name) for name in (a.keys() | b.keys()) - _NOT_COMPARED)


async def _state_of(index: DuplicateIndex) -> str:
    """A digest of the counters and overrides, which changes with every check of a page."""
    counters = await index.store.read_counters()
    parts = [counters["stats"], await index.store.read_states(), await index.store.overrides()]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


async def import_index(
    config: DedupConfig, path: Path, *, progress: Progress | None = None
) -> Imported:
    """Write the pages of an exported index into the index that `config` names, and audit it.

    That index is new, or has the same parameters and seed: pages whose URL it knows stay as they
    are. The whole file is checked before anything is written. A new index cannot be opened before
    it is complete. If it is interrupted, a second call resumes. Raises :class:`InputError`, which
    names block and line, for a damaged file, :class:`ParameterMismatch` and :class:`ServerError`.
    """
    header, counters, mark = _check_file(path, config.sketch_bits // 8)
    async with open_server(config) as client:
        store = await make_store(client, config)
        settle_parameters(path, header, store.parameters)
        restorer = Restorer(client, store, store.parameters, mark, shards=header["shards"])
        try:
            await restorer.begin(header["next"])
            pages, new = await _restore_pages(
                restorer, path, config.sketch_bits // 8, header, counters["overrides"], progress
            )
            await restorer.finish(counters)
        finally:
            await store.close()
    async with DuplicateIndex.open(config) as index:
        return Imported(pages, new, restorer.keeps, await index.verify())


def _check_file(path: Path, odd_bytes: int) -> tuple[dict[str, Any], dict[str, Any], str]:
    """Check a whole file; return its header, its counters and its mark."""
    header: dict[str, Any] | None = None
    for block in read_blocks(path):
        if block.number is None:
            assert header is not None
            if not are_counters(block.lines[0]):
                raise InputError(f"{str(path)!r}, end: no counters stand there")
            return header, block.lines[0], mark_of(header)
        if header is None:
            header = checked_header(path, block)
        elif int(header["parameters"].get("verify_bits", 0)) == 8 * odd_bytes:
            records_in(path, block, odd_bytes)  # otherwise settle_parameters raises the error
    raise AssertionError("read_blocks ends with the end or an error")


async def _restore_pages(
    restorer: Restorer,
    path: Path,
    odd_bytes: int,
    header: dict[str, Any],
    overrides: dict[str, str],
    progress: Progress | None,
) -> tuple[int, int]:
    """Write the kept pages, then the copies, which need the numbers of their originals.

    Returns the number of pages, and how many of them are new.
    """
    numbers: dict[int, int] = {}  # of kept pages: in the file → in the index
    pages = new = 0
    for kept in (True, False):
        for records in _read_batches(path, odd_bytes, kept=kept):
            if not restorer.keeps:
                records = [_renumber_record(record, numbers) for record in records]
            restored = await restorer.write(records)
            both = zip(records, restored, strict=True)
            came = (record.url for record, one in both if one.is_restored)
            await restorer.take_overrides({url: overrides[url] for url in came if url in overrides})
            pages += len(records)
            new += sum(one.is_new for one in restored)
            if kept and not restorer.keeps:
                for record, one in zip(records, restored, strict=True):
                    numbers[record.number] = one.number
            if progress is not None:
                progress(pages, header["pages"])
    return pages, new


def _renumber_record(record: PageRecord, numbers: dict[int, int]) -> PageRecord:
    # A copy whose original is not kept any more is decided anew when it comes again.
    if record.is_kept:
        return record._replace(replaces=0)
    return record._replace(representative=numbers.get(record.representative, 0))


def _read_batches(path: Path, odd_bytes: int, *, kept: bool) -> Iterator[Sequence[PageRecord]]:
    waiting: list[PageRecord] = []
    for block in read_blocks(path):
        if block.number in (None, -1):
            continue
        waiting += [one for one in records_in(path, block, odd_bytes) if one.is_kept is kept]
        while len(waiting) >= _WRITTEN:
            yield waiting[:_WRITTEN]
            del waiting[:_WRITTEN]
    if waiting:
        yield waiting
