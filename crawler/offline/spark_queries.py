"""Finds the copies in a corpus and their originals: the queries of Spark on fingerprints."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from ..dedup.fingerprint import EXACT_BYTES
from . import columns
from .records.files import OFFSET_BITS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from ..dedup.config import DedupConfig

_COMPARED: Final = ("odd", "own", "exact")  # cells of two texts
_EDGES: Final = (
    "new long, stored long, hits long, similarity double, odd_bits int, members int, "
    "stored_members int, level int, is_exact boolean"
)


def rank_pages(pages: DataFrame) -> DataFrame:
    """The places of pages in the order of their ranks, the best first, then of their positions."""
    from pyspark.sql import functions as F

    in_order = pages.select("position", "rank").orderBy(F.isnull("rank"), "rank", "position")
    return in_order.select("position", F.monotonically_increasing_id().alias("place"))


def to_places(pages: DataFrame, places: DataFrame) -> DataFrame:
    """Pages with their places instead of their positions."""
    placed = pages.join(places, "position")
    return placed.withColumn("position", placed["place"]).select(pages.columns)


def _to_positions(duplicates: DataFrame, places: DataFrame) -> DataFrame:
    """Duplicates with positions instead of places; pages of an index have no places."""
    from pyspark.sql import functions as F

    found = duplicates
    for name in ("position", "cluster"):
        named = places.select(F.col("place").alias(name), F.col("position").alias("named"))
        placed = F.coalesce("named", name)
        found = found.join(named, name, "left").withColumn(name, placed).drop("named")
    return found.select(duplicates.columns)


def distinct_texts(pages: DataFrame) -> DataFrame:
    """The texts with different words or headings, each with the position of its first page."""
    from pyspark.sql import functions as F

    whole = pages.where("words > 0")  # a page without words has no copies
    spans = whole.groupBy("exact").agg(
        F.min("position").alias("text"), F.max("position").alias("last")
    )
    cells = ("bands", "odd", "own", "words", "anchors")
    first = whole.select(F.col("position").alias("text"), *cells)
    return spans.join(first, "text")


def similar_pairs(texts: DataFrame, config: DedupConfig) -> DataFrame:
    """Verified pairs of similar texts, in each direction in which one may be a copy.

    Texts meet in a bucket for each band, and in one for their words.
    """
    from pyspark.sql import functions as F

    compared = texts.where("bands is not null")
    keyed = compared.select("text", F.posexplode("bands").alias("band", "key"))
    bucket = F.col("band").cast("long") * F.lit(1 << 32) + F.col("key")
    of_words = F.xxhash64(F.substring("exact", 1, EXACT_BYTES)).alias("bucket")
    buckets = keyed.select(bucket.alias("bucket"), "text").union(compared.select(of_words, "text"))
    pairs = (
        buckets.repartition("bucket")
        .sortWithinPartitions("bucket", "text")
        .mapInArrow(columns.pairs_in_buckets, "new long, stored long")
        .groupBy("new", "stored")
        .agg(F.count("*").alias("hits"))
    )

    def columns_of(name: str) -> list[Column]:
        return [F.col(one).alias(f"{name}_{one}") for one in _COMPARED]

    new = texts.select(F.col("text").alias("new"), *columns_of("new"))
    stored = texts.select(F.col("text").alias("stored"), *columns_of("stored"), "last")
    both = pairs.join(stored, "stored").join(new, "new")
    # If the earlier text comes again after the later one, it may also be the new one of the pair,
    # unless it is from an index.
    is_new = "last > new and stored >= 0"
    turned = F.explode(F.expr(f"if({is_new}, array(false, true), array(false))"))
    asked = both.withColumn("turned", turned).select(
        F.expr("if(turned, stored, new)").alias("new"),
        F.expr("if(turned, new, stored)").alias("stored"),
        "hits",
        *(F.expr(f"if(turned, stored_{one}, new_{one})").alias(f"new_{one}") for one in _COMPARED),
        *(
            F.expr(f"if(turned, new_{one}, stored_{one})").alias(f"stored_{one}")
            for one in _COMPARED
        ),
    )
    verify = partial(
        columns.verify_pairs,
        threshold=config.threshold,
        bits=config.sketch_bits,
        bands=config.banding.bands,
    )
    return asked.mapInArrow(verify, _EDGES)


def similar_to(undecided: DataFrame, kept: DataFrame) -> DataFrame:
    """The texts that are similar to a text in `kept`."""
    return undecided.join(kept, "stored", "left_semi").select("new").distinct()


def drop_pairs(undecided: DataFrame, gone: DataFrame) -> DataFrame:
    """The pairs without a text in `gone`."""
    left = undecided.join(gone, "new", "left_anti")
    other = gone.withColumnRenamed("new", "stored")
    return left.join(other, "stored", "left_anti").select("new", "stored")


def walk_pairs(pairs: pa.Table) -> pa.Table:
    """The dropped texts: those similar to an earlier, kept text. `pairs` are sorted by ``new``.

    >>> walk_pairs(pa.table({"new": [2, 3, 4], "stored": [1, 2, 3]}))["new"].to_pylist()
    [2, 4]
    """
    dropped: set[int] = set()
    for new, stored in zip(pairs["new"].to_pylist(), pairs["stored"].to_pylist(), strict=True):
        if stored not in dropped:
            dropped.add(new)
    return pa.table({"new": pa.array(sorted(dropped), pa.int64())})


def list_duplicates(
    pages: DataFrame,
    originals: DataFrame,
    texts: DataFrame,
    edges: DataFrame,
    dropped: DataFrame,
    files: DataFrame,
    places: DataFrame | None = None,
    *,
    bits: int,
) -> DataFrame:
    """The `pages` that are not kept, each with the reason and its original among `originals`.

    `originals` include all `pages`; `texts`, `edges` and `dropped` were computed from them. `files`
    has the number of each file, ``ordinal``, and its path, ``file``. With `places`, pages have
    places instead of positions.
    """
    from pyspark.sql import functions as F

    gone = dropped.select(F.col("new").alias("text"), F.lit(True).alias("gone"))
    placed = (
        pages.where("words > 0")
        .select("position", "piece", "url", shown_url(), "exact")
        .join(texts.select("exact", "text"), "exact")
        .join(gone, "text", "left")
    )
    none = [F.lit(0).alias(name) for name in ("odd_bits", "members", "stored_members", "level")]
    exact = placed.where("gone is null and position > text").select(
        "position", "piece", "url", "shown", F.lit("exact").alias("kind"),
        F.col("text").alias("cluster"), F.lit(1.0).alias("similarity"), *none
    )  # fmt: skip
    near = placed.where("gone").join(_best_originals(edges, dropped), "text").where(
        "position > cluster and (until is null or position <= until)"
    ).select(
        "position", "piece", "url", "shown",
        F.expr("if(is_exact, 'exact', 'near')").alias("kind"), "cluster", "similarity",
        "odd_bits", "members", "stored_members", "level"
    )  # fmt: skip
    named = originals.select(
        F.col("position").alias("cluster"), F.col("url").alias("known"),
        shown_url().alias("duplicate_of")
    )  # fmt: skip
    is_same = (F.col("kind") == "exact") & (F.col("url") == F.col("known"))
    joined = (
        exact.union(near)
        .join(named, "cluster")
        .withColumn("kind", F.when(is_same, "unchanged").otherwise(F.col("kind")))
        .withColumn("url", F.col("shown"))
        .drop("shown", "known")
    )
    task = partial(columns.with_intervals, bits=bits)
    schema = (
        "cluster long, position long, piece long, url string, kind string, similarity double, "
        "duplicate_of string, file string, record long, low double, high double"
    )
    if places is not None:
        joined = _to_positions(joined, places)
    placed_rows = _name_places(joined, "position", files).orderBy("position")
    return placed_rows.mapInArrow(task, schema)


def _best_originals(edges: DataFrame, dropped: DataFrame) -> DataFrame:
    """For each dropped text, the most similar kept text at each position.

    ``cluster`` is the original of pages that come after it, up to ``until``. It is one with equal
    words, then of equally similar texts the one with more shared bands, then the earlier one, as in
    the index.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    kept = edges.join(dropped.withColumnRenamed("new", "stored"), "stored", "left_anti")
    in_order = Window.partitionBy("new").orderBy("stored")
    so_far = in_order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    rank = F.struct("is_exact", "similarity", "hits", (-F.col("stored")).alias("earlier"))
    ranked = kept.withColumn("rank", rank).withColumn("best", F.max("rank").over(so_far))
    steps = ranked.where("rank = best").withColumn("until", F.lead("stored").over(in_order))
    return steps.select(
        F.col("new").alias("text"), F.col("stored").alias("cluster"), "until", "similarity",
        "odd_bits", "members", "stored_members", "level", "is_exact"
    )  # fmt: skip


def list_clusters(duplicates: DataFrame, pages: DataFrame, files: DataFrame) -> DataFrame:
    """The originals, each with the number of its copies."""
    from pyspark.sql import functions as F

    counts = duplicates.groupBy("cluster").agg(F.count("*").alias("copies"))
    named = pages.select(F.col("position").alias("cluster"), shown_url().alias("url"), "piece")
    rows = counts.join(named, "cluster").select("cluster", "piece", "url", "copies")
    return _name_places(rows, "cluster", files).orderBy("cluster")


def shown_url() -> Column:
    """The URL of a page as its record has it."""
    from pyspark.sql import functions as F

    return F.coalesce("fetched", "url").alias("shown")


def _name_places(rows: DataFrame, position: str, files: DataFrame) -> DataFrame:
    """Add file and record to rows, by their positions; pages of an index have neither."""
    from pyspark.sql import functions as F

    place = F.col(position).bitwiseAND((1 << OFFSET_BITS) - 1)
    ordinal = F.shiftright(position, OFFSET_BITS).alias("ordinal")
    return (
        rows.select("*", ordinal, F.when(F.col(position) >= 0, place).alias("record"))
        .join(F.broadcast(files), "ordinal", "left")
        .select(*rows.columns, "file", "record")
    )
