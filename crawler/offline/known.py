"""The kept pages of an exported index, which come before the pages of a corpus."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import pyarrow as pa

from ..dedup.exchange.open_store import index_parameters
from ..dedup.export.exported import checked_header, mark_of, records_in, settle_parameters
from ..dedup.export.file import read_blocks
from ..dedup.store.parameters import SECRET, Parameters
from .columns import PAGES, cells_of

if TYPE_CHECKING:
    from ..dedup.config import DedupConfig
    from ..dedup.store.records import PageRecord

# Page numbers are below this. A position is the number minus this: negative, and in the same order.
_NUMBERS: Final = 1 << 32


class Export(NamedTuple):
    """An exported index: its file, its seed, the mark that identifies it, and its sketch size."""

    path: Path
    seed: int
    mark: str
    odd_bytes: int


def open_export(path: Path, config: DedupConfig) -> Export:
    """Check that the pages of an export can be compared under `config`; only reads its header.

    Raises :class:`InputError` if it is not an export, and :class:`ParameterMismatch`, which names
    the differences.
    """
    header = checked_header(path, next(read_blocks(path)))
    settle_parameters(path, header, Parameters(header["namespace"], index_parameters(config)))
    seed = header["parameters"]["seed"]
    if seed.startswith(SECRET):  # then it is the configured one, as the two agree
        assert config.seed is not None
        seed = config.seed
    return Export(path.absolute(), int(seed), mark_of(header), config.sketch_bits // 8)


def read_known(batches: Iterable[pa.RecordBatch], export: Export) -> Iterator[pa.RecordBatch]:
    """Yield the kept pages of an export in :data:`~.columns.PAGES`, once for each input row.

    They belong to no piece. Pages that are gone from the web are left out. Raises
    :class:`InputError` if the file is damaged.
    """
    for _ in (row for batch in batches for row in range(batch.num_rows)):
        for block in islice(read_blocks(export.path), 1, None):  # behind the header
            if block.number is None:
                break
            records = records_in(export.path, block, export.odd_bytes)
            rows = [_cells_of(one) for one in records if one.is_kept and not one.gone]
            if rows:
                yield pa.RecordBatch.from_pylist(rows, PAGES)


def _cells_of(record: PageRecord) -> dict[str, object]:
    names = ("exact", "words", "bands", "odd", "own", "anchors")
    page = replace(record.fingerprint, anchors=record.anchors)
    cells = dict(zip(names, cells_of(page, record.url), strict=True))
    urls = {"url": record.url, "fetched": record.fetched or None}
    return {"position": record.number - _NUMBERS, **urls, **cells}
