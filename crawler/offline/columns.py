"""The tasks of a Spark job, on columns: from pieces to pages, from buckets to pairs to edges."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from ..dedup.candidates import is_distinct
from ..dedup.fingerprint import EXACT_BYTES, NO_OWN, Fingerprint, Fingerprinter
from ..dedup.identity import host
from ..dedup.sketches.odd import OddSketch, estimate_odd
from .records.files import Piece
from .records.input_pages import InputReader, group_pages, pages_of, settle_pages
from .records.kept_records import copy_records
from .records.outputs import open_output
from .records.parquet import NothingReadable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..dedup.config import DedupConfig

# In one bucket, a page is compared with the FIRST and the LATEST pages before it, because all
# near-copies of a template may be in one bucket. The index, too, only knows the latest pages of a
# key.
FIRST: Final = 8
LATEST: Final = 8
HELD: Final = 20_000  # records of a piece whose rows wait for its end, of some 500 bytes each
_ODD_HEAD: Final = 3  # bytes of level and members before the bits

PAGES: Final = pa.schema(
    [
        ("position", pa.int64()),
        ("piece", pa.int64()),
        ("url", pa.string()),
        ("fetched", pa.string()),
        ("exact", pa.binary()),
        ("words", pa.int64()),
        ("bands", pa.list_(pa.int64())),
        ("odd", pa.binary()),
        ("own", pa.binary()),
        ("anchors", pa.binary()),
        ("rank", pa.binary()),
        ("fault", pa.string()),
    ]
)
PAIRS: Final = pa.schema([("new", pa.int64()), ("stored", pa.int64())])
EDGES: Final = pa.schema(
    [
        ("new", pa.int64()),
        ("stored", pa.int64()),
        ("hits", pa.int64()),
        ("similarity", pa.float64()),
        ("odd_bits", pa.int32()),
        ("members", pa.int32()),
        ("stored_members", pa.int32()),
        ("level", pa.int32()),
        ("is_exact", pa.bool_()),
    ]
)


def piece_of(row: dict[str, Any]) -> Piece:
    """The piece in a row of the frame of pieces."""
    return Piece(*(row[name] for name in Piece._fields))


def read_pages(
    batches: Iterable[pa.RecordBatch], config: DedupConfig, seed: int
) -> Iterator[pa.RecordBatch]:
    """The fingerprints of all pages of some pieces, in :data:`PAGES`.

    A record that cannot be read is a row with a fault and without an exact hash. If the rest of a
    damaged file cannot be read, the row has no URL either. A record that is not a page is a row
    with neither hash nor fault, and the reason in place of the URL. ``fetched`` is the URL that is
    shown, if it is not the one by which an index would know the page. A page that comes again
    takes the place of the first, if fewer than :data:`HELD` records are between them.
    """
    page_in, fingerprinter = InputReader(config), Fingerprinter(config, seed)
    held: dict[int, tuple[Any, ...]] = {}
    rows = (row for batch in batches for row in batch.to_pylist())
    found = (page for row in rows for page in pages_of(piece_of(row), page_in, row["content"]))
    for group in map(settle_pages, group_pages(found)):
        page_in.texts.settle()
        fingerprints = iter(fingerprinter.many(one.text for one in group if one.text is not None))
        for one in group:
            cells: tuple[Any, ...] = (None,) * 7
            if one.page is not None:
                page = one.page.complete(next(fingerprints), fingerprinter, config)
                rank = one.page.rank(config, page.words) or None
                cells = (*cells_of(page, one.url or ""), rank)
            place = one.position, one.piece, one.url, one.fetched or None
            if not one.is_again or one.position in held:
                held[one.position] = (*place, *cells, one.fault)
        ready = [place for place, row in held.items() if row[1] != group[-1].piece]
        ready = ready or list(islice(held, max(0, len(held) - HELD)))
        if ready:
            yield _make_batch([held.pop(place) for place in ready], PAGES)
    if held:
        yield _make_batch(list(held.values()), PAGES)


def cells_of(page: Fingerprint, url: str) -> tuple[Any, ...]:
    """The cells of a page in :data:`PAGES`, from ``exact`` to ``anchors``.

    ``exact`` is the exact hash, then the hash of the page's heading: equal texts below other
    headings are compared as a pair. ``own`` is the page's own content, then its host.
    """
    keys = np.frombuffer(page.bands, ">u4").tolist() or None
    exact, own = page.exact + page.own[:2], page.own + host(url).encode()
    return exact, page.words, keys, odd_cell(page.odd), own, page.anchors or None


def odd_cell(sketches: Iterable[OddSketch]) -> bytes | None:
    """Pack odd sketches, one after the other, for :data:`PAGES`; None if there are none."""
    parts = (one.level.to_bytes(1) + one.members.to_bytes(2) + one.bits for one in sketches)
    return b"".join(parts) or None


def read_odd(cell: bytes, size: int) -> tuple[OddSketch, ...]:
    """The odd sketches, each of `size` bytes, that :func:`odd_cell` has packed."""
    width = _ODD_HEAD + size
    parts = (cell[at : at + width] for at in range(0, len(cell), width))
    return tuple(
        OddSketch(one[0], int.from_bytes(one[1:_ODD_HEAD]), one[_ODD_HEAD:]) for one in parts
    )


def _make_batch(rows: list[tuple[Any, ...]], schema: pa.Schema) -> pa.RecordBatch:
    columns = zip(*rows, strict=True)
    arrays = [pa.array(cells, kind) for cells, kind in zip(columns, schema.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def pairs_in_buckets(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield pairs of texts in one bucket, in :data:`PAIRS`; `stored` is the earlier text.

    The rows, ``bucket`` and ``text``, come sorted by both. Each text of the corpus is paired with
    the texts before it in its bucket: with all of them up to ``FIRST + LATEST``, otherwise with the
    first and the latest ones. So the work is linear in the size of a bucket, and memory constant.
    """
    none = np.empty(0, np.int64)
    buckets, texts, ranks = none, none, none  # rows that the next ones may be paired with
    for batch in batches:
        carried = len(buckets)
        buckets = np.concatenate((buckets, batch["bucket"].to_numpy(zero_copy_only=False)))
        texts = np.concatenate((texts, batch["text"].to_numpy(zero_copy_only=False)))
        if not len(texts):
            continue
        starts = np.flatnonzero(np.r_[True, buckets[1:] != buckets[:-1]])
        start = np.repeat(starts, np.diff(np.r_[starts, len(buckets)]))
        new_ranks = np.arange(len(buckets)) - start
        if carried:  # the first bucket continues: its ranks do, too
            new_ranks[start == 0] += ranks[-1] + 1 - carried
            new_ranks[:carried] = ranks
        ranks = new_ranks
        fresh = (np.arange(len(buckets)) >= carried) & (texts >= 0)  # negative: from an index
        new, stored = [], []
        for back in range(1, LATEST + 1):
            here = np.flatnonzero(fresh & (ranks >= back))
            new.append(texts[here])
            stored.append(texts[here - back])
        for place in range(FIRST):
            here = np.flatnonzero(fresh & (ranks > place + LATEST))
            new.append(texts[here])
            stored.append(texts[start[here] + place])
        columns = [pa.array(np.concatenate(new)), pa.array(np.concatenate(stored))]
        yield pa.RecordBatch.from_arrays(columns, schema=PAIRS)
        is_open = np.flatnonzero(start == start[-1])
        rest = np.unique(np.r_[is_open[:FIRST], is_open[-LATEST:]])
        buckets, texts, ranks = buckets[rest], texts[rest], ranks[rest]


def verify_pairs(
    batches: Iterable[pa.RecordBatch], threshold: float, bits: int, bands: int
) -> Iterator[pa.RecordBatch]:
    """Yield the pairs with equal words, or whose odd sketches reach the `threshold`.

    They are in :data:`EDGES`. As in the index, a new text is compared at the level of the stored
    sketch. Equal sketches of whole texts count as differing in 2 bits if the texts do not share all
    `bands`. Pairs that :func:`is_distinct` tells apart are left out.
    """
    width = _ODD_HEAD + bits // 8
    ones = np.array([value.bit_count() for value in range(256)], np.uint16)
    # The logarithms of estimate_odd, by the same function: numpy's may differ in the last bit.
    differences = np.full(bits + 1, np.inf)
    for odd in range((bits + 1) // 2):
        differences[odd] = math.log(1 - 2 * odd / bits) / math.log(1 - 2 / bits)
    for batch in batches:
        if not batch.num_rows:
            continue
        stored, _ = _read_sketches(batch["stored_odd"], 0, width)
        new, found = np.zeros_like(stored), np.zeros(len(stored), np.bool_)
        part, more = 0, True
        while more:
            other, there = _read_sketches(batch["new_odd"], part, width)
            same = there & ~found & (other[:, 0] == stored[:, 0])
            new[same] = other[same]
            found |= same
            part, more = part + 1, bool(there.any())
        members, stored_members = _count_members(new), _count_members(stored)
        odd_bits = ones[new[:, _ODD_HEAD:] ^ stored[:, _ODD_HEAD:]].sum(axis=1)
        hidden = (odd_bits == 0) & (stored[:, 0] == 0) & (members == stored_members)
        odd_bits[hidden & (np.asarray(batch["hits"]) < bands)] = 2
        difference, both = differences[odd_bits], members + stored_members
        with np.errstate(invalid="ignore"):
            similarity = (both - difference) / (both + difference)
            sizes = members, stored_members
            similarity = np.minimum(similarity, np.minimum(*sizes) / np.maximum(*sizes))
        hashes = (batch[name].to_pylist() for name in ("new_exact", "stored_exact"))
        pairs = zip(*hashes, strict=True)
        same_words = [new[:EXACT_BYTES] == kept[:EXACT_BYTES] for new, kept in pairs]
        is_exact = np.array(same_words, np.bool_)
        similarity[is_exact] = 1.0
        similar = is_exact | found & (both > 0) & (similarity >= threshold)
        for row in np.flatnonzero(similar).tolist():
            similar[row] = not _are_distinct(batch, row)
        mask = pa.array(similar)
        yield pa.RecordBatch.from_arrays(
            [
                *(batch[name].filter(mask) for name in ("new", "stored", "hits")),
                pa.array(similarity[similar]),
                pa.array(odd_bits[similar], pa.int32()),
                pa.array(members[similar], pa.int32()),
                pa.array(stored_members[similar], pa.int32()),
                pa.array(stored[similar, 0], pa.int32()),
                pa.array(is_exact[similar]),
            ],
            schema=EDGES,
        )


def _are_distinct(batch: pa.RecordBatch, row: int) -> bool:
    """Whether the own content of two pages rules out that they are copies."""
    owns, hashes = (
        [batch[f"{page}_{name}"][row].as_py() for page in ("new", "stored")]
        for name in ("own", "exact")
    )
    page, known = (
        Fingerprint(exact[:EXACT_BYTES], 0, own=own[: len(NO_OWN)])
        for exact, own in zip(hashes, owns, strict=True)
    )
    hosts = [own[len(NO_OWN) :] for own in owns]
    return is_distinct(page, known, one_host=hosts[0] == hosts[1])


def _read_sketches(
    column: Any, part: int, width: int
) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """The sketch number `part` of each row, shape (rows, width), and whether the row has one."""
    column = column.cast(pa.large_binary())
    _, offsets, data = column.buffers()
    begins = np.frombuffer(offsets, np.int64)[column.offset : column.offset + len(column) + 1]
    values = np.frombuffer(data, np.uint8)
    first = begins[:-1] + part * width
    there = first + width <= begins[1:]
    places = np.where(there, first, 0)[:, None] + np.arange(width)
    return values[places], there


def _count_members(sketches: NDArray[np.uint8]) -> NDArray[np.float64]:
    high, low = sketches[:, 1].astype(np.float64), sketches[:, 2].astype(np.float64)
    return high * 256 + low


def with_intervals(batches: Iterable[pa.RecordBatch], bits: int) -> Iterator[pa.RecordBatch]:
    """The columns of duplicates, with ``low`` and ``high`` in place of the evidence."""
    evidence = ("odd_bits", "members", "stored_members", "level")
    for batch in batches:
        low, high = np.ones(batch.num_rows), np.ones(batch.num_rows)
        cells = zip(*(batch[name].to_pylist() for name in ("kind", *evidence)), strict=True)
        for row, (kind, *numbers) in enumerate(cells):
            if kind == "near":
                found = estimate_odd(*numbers, bits=bits)
                low[row], high[row] = found.low, found.high
        names = [name for name in batch.schema.names if name not in evidence]
        yield pa.RecordBatch.from_arrays(
            [*(batch[name] for name in names), pa.array(low), pa.array(high)],
            names=[*names, "low", "high"],
        )


def write_kept(
    batches: Iterable[pa.RecordBatch], folder: str, hadoop: str, *, with_size: bool = False
) -> Iterator[pa.RecordBatch]:
    """Write each piece without its duplicates to `folder`; yield name and number of records.

    `hadoop` is as in :func:`~.records.outputs.open_output`. With `with_size`, kept pages get the
    size of their cluster.
    """
    for batch in batches:
        for row in batch.to_pylist():
            piece, written = piece_of(row), 0
            path, dropped = f"{folder}/{row['name']}", set(row["dropped"] or ())
            copies = None
            if with_size:
                pairs = zip(row["originals"] or (), row["copies"] or (), strict=True)
                copies = dict(pairs)
            with suppress(NothingReadable), open_output(path, hadoop) as output:
                written = copy_records(piece, dropped, output, row["content"], copies)
            yield pa.RecordBatch.from_pydict({"name": [row["name"]], "records": [written]})
