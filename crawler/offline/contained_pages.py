"""Finds the kept pages of a corpus that contain others, as an index does for pages in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from ..dedup.fingerprint import NO_OWN, Fingerprint
from ..dedup.passages import find_containment
from ..dedup.sketches.anchors import anchor_keys, asked_keys, stored_anchors
from ..dedup.sketches.odd import OddSketch
from ..dedup.store.layout import NO_KEY
from ..dedup.store.records import PageRecord
from .columns import read_odd
from .spark_queries import shown_url

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_LATEST: Final = 16  # pages known under a key, and pages compared with one, as in an index
_ENTRIES: Final = "key long, text long, is_asked boolean, is_stored boolean"
_SHARES: Final = "position long, container long, share double"


def find_contained(
    texts: DataFrame, pages: DataFrame, dropped: DataFrame, *, least: float, odd_bytes: int
) -> DataFrame:
    """The kept texts that a longer one contains to at least the share `least`, with that one.

    `pages` give the URLs.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    kept = texts.join(dropped.withColumnRenamed("new", "text"), "text", "left_anti").where(
        "anchors is not null"
    )
    pairs = (
        kept.select("text", "words", "anchors")
        .mapInArrow(list_entries, _ENTRIES)
        .repartition("key")
        .sortWithinPartitions("key", "text")
        .mapInArrow(pairs_at_anchors, "new long, stored long")
        .groupBy("new", "stored")
        .agg(F.count("*").alias("hits"))
    )
    order = Window.partitionBy("new").orderBy(F.desc("hits"), F.desc("stored"))
    likeliest = pairs.withColumn("rank", F.row_number().over(order)).where(f"rank <= {_LATEST}")
    urls = pages.select(F.col("position").alias("text"), "url", shown_url())
    known = kept.join(urls, "text")

    def named(name: str) -> DataFrame:
        cells = ("url", "words", "anchors", "odd", "own")
        columns = [F.col(one).alias(f"{name}_{one}") for one in cells]
        return known.select(F.col("text").alias(name), *columns)

    both = likeliest.join(named("stored"), "stored").join(named("new"), "new")
    shares = both.mapInArrow(
        partial(measure_shares, least=least, odd_bytes=odd_bytes),
        _SHARES,
    )
    shorter = urls.select(F.col("text").alias("position"), F.col("shown").alias("url"))
    longer = urls.select(F.col("text").alias("container"), F.col("shown").alias("contained_in"))
    return (
        shares.join(shorter, "position")
        .join(longer, "container")
        .orderBy("position", "container")
        .select("url", "contained_in", "share")
    )


def list_entries(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the table keys of pages: those that a page looks up, and those that it is stored under.

    Pages of an export have positions below 0 and look nothing up. Their anchors are those that the
    index has stored.
    """
    for batch in batches:
        rows: list[tuple[int, int, bool, bool]] = []
        for row in batch.to_pylist():
            stored, asked = row["anchors"], dict[bytes, None]()
            if row["text"] >= 0:
                asked = dict.fromkeys(asked_keys(row["anchors"]))
                stored = stored_anchors(row["anchors"], row["words"])
            found = dict.fromkeys(anchor_keys(stored))
            rows += [
                (int.from_bytes(key), row["text"], key in asked, key in found)
                for key in asked | found
            ]
        yield _make_batch(rows, ("key", "text", "is_asked", "is_stored"))


def pairs_at_anchors(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield pairs of a text and one of the latest texts before it that share an anchor with it.

    The rows, from :func:`list_entries`, come sorted by ``key`` and ``text``.
    """
    names = ("key", "text", "is_asked", "is_stored")
    key, latest = None, deque[int](maxlen=_LATEST)
    for batch in batches:
        pairs: list[tuple[int, int]] = []
        cells = zip(*(batch[name].to_pylist() for name in names), strict=True)
        for own, group in groupby(cells, key=itemgetter(0)):
            if own != key:
                key, latest = own, deque(maxlen=_LATEST)
            for _, text, is_asked, is_stored in group:
                if is_stored:
                    latest.append(text)
                if is_asked:
                    pairs += [(text, other) for other in latest if other != text]
        yield _make_batch(pairs, ("new", "stored"))


def measure_shares(
    batches: Iterable[pa.RecordBatch], least: float, odd_bytes: int
) -> Iterator[pa.RecordBatch]:
    """Yield (shorter, longer, share) for each pair in which one text contains the other."""
    for batch in batches:
        found: list[tuple[int, int, float]] = []
        for row in batch.to_pylist():
            page = Fingerprint(
                b"",
                row["new_words"],
                odd=read_odd(row["new_odd"], odd_bytes),
                own=row["new_own"][: len(NO_OWN)],
                anchors=row["new_anchors"],
            )
            known = _record_of(row, odd_bytes)
            pair = find_containment(page, [known], least, url=row["new_url"])
            found += [(row["stored"], row["new"], one.share) for one in pair.contains]
            found += [(row["new"], row["stored"], one.share) for one in pair.contained_in]
        yield _make_batch(found, ("position", "container", "share"))


def _record_of(row: dict[str, Any], odd_bytes: int) -> PageRecord:
    """The record that an index would have of a stored text."""
    number, words, anchors = row["stored"], row["stored_words"], row["stored_anchors"]
    sketch: OddSketch = read_odd(row["stored_odd"], odd_bytes)[0]
    return PageRecord(
        number=number,
        url=row["stored_url"],
        standing="unique",
        last="unique",
        first_seen=0,
        last_seen=0,
        words=words,
        exact=b"",
        url_key=NO_KEY,
        representative=number,
        level=sketch.level,
        sampled=sketch.members,
        odd_bits=0,
        other_sampled=0,
        bands=b"",
        odd=sketch.bits,
        own=row["stored_own"][: len(NO_OWN)],
        anchors=anchors if number < 0 else stored_anchors(anchors, words),
    )


def _make_batch(rows: list[Any], names: tuple[str, ...]) -> pa.RecordBatch:
    kinds = {"share": pa.float64(), "is_asked": pa.bool_(), "is_stored": pa.bool_()}
    cells = zip(*rows, strict=True) if rows else [()] * len(names)
    arrays = [
        pa.array(column, kinds.get(name, pa.int64()))
        for name, column in zip(names, cells, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, names=list(names))
