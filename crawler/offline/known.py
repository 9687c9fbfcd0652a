"""The pages that an exported index keeps, which stand before those of a corpus."""

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

# Numbers of pages are below this. So their positions are negative, and in the order of the numbers.
_NUMBERS: Final = 1 << 32


class Export(NamedTuple):
    """A file that an index was exported to: its `seed`, and by what it is told from others."""

    path: Path
    seed: int
    mark: str
    odd_bytes: int


def open_export(path: Path, config: DedupConfig) -> Export:
    """See that pages of the file can be compared with others by `config`; only its head is read.

    Raises :class:`InputError` if it is no export, and :class:`ParameterMismatch`, which names the
    parameters in which the two differ.
    """
    header = checked_header(path, next(read_blocks(path)))
    settle_parameters(path, header, Parameters(header["namespace"], index_parameters(config)))
    seed = header["parameters"]["seed"]
    if seed.startswith(SECRET):  # then it is the configured one, as the two agree
        assert config.seed is not None
        seed = config.seed
    return Export(path.absolute(), int(seed), mark_of(header), config.sketch_bits // 8)


def read_known(batches: Iterable[pa.RecordBatch], export: Export) -> Iterator[pa.RecordBatch]:
    """The kept pages of an export in :data:`~.columns.PAGES`, once for each row that comes.

    They are in no piece. Pages that are gone from the web stand for nothing any more. Raises
    :class:`InputError` where the file is damaged.
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
    return {"position": record.number - _NUMBERS, "url": record.url, **cells}
