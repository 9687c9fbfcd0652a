"""The Spark job: which pages of a corpus are kept, by the rules and the functions of the index.

The pages are taken in the order of the input. A page is dropped if a page kept before it has the
same words, or is verified to be as similar as the threshold: the answer of an index to which they
come in that order, whatever the number of tasks. It differs where very many pages meet in one band
(see :data:`~.columns.FIRST`) and where an address comes again with another text: a corpus has all
versions of a page, so the earlier one still counts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from functools import partial
from pathlib import PurePosixPath
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa

from ..dedup.errors import ConfigError, InputError
from ..dedup.sketches import METHODS, BandedMethod
from . import columns
from .files import OFFSET_BITS, File, Piece, bins, is_local, piece_size, pieces
from .session import exists, read_text, rows_one_by_one, write_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from ..dedup.config import DedupConfig

# Of the work that a folder can hold; another number makes a run refuse to take it up.
_LAYOUT: Final = 1
# Settings that say where an index is and what is done with its verdicts, not what they are.
_WITHOUT_EFFECT: Final = frozenset(
    {"redis_url", "namespace", "data_dir", "timeout", "on_error", "drop", "tag_field", "ttl"}
    | {"title_field", "date_field", "canonical_field", "prefer", "archive", "shards", "seed"}
)

_PIECES: Final = (
    "number long, path string, start long, `end` long, size long, name string, content binary"
)
_PAGES: Final = (
    "position long, piece long, url string, exact binary, words long, bands array<long>, odd binary"
)
_EDGES: Final = (
    "new long, stored long, hits long, similarity double, odd_bits int, members int, "
    "stored_members int, level int"
)


class Result(NamedTuple):
    """What became of a corpus: numbers of pages, and the seconds that each stage took.

    ``unreadable`` records are kept; ``damaged`` are the files that could be read in part only.
    """

    pages: int
    kept: int
    short: int
    exact: int
    near: int
    unchanged: int
    unreadable: int
    clusters: int
    damaged: list[str]
    seconds: dict[str, float]


class Corpus:
    """A corpus and the folder `out` of its results; finished stages there are not done again.

    `report` takes a line for people after each stage; up to `walked` pairs of similar texts one
    process walks through, at about a second for a million. Raises :class:`ConfigError` for a method
    without bands and :class:`InputError` if `out` holds the work of another corpus or of other
    settings.
    """

    def __init__(
        self,
        spark: SparkSession,
        files: Sequence[File],
        out: str,
        config: DedupConfig,
        *,
        report: Callable[[str], None],
        walked: int = 5_000_000,
    ) -> None:
        if not issubclass(METHODS[config.method], BandedMethod):
            raise ConfigError(
                f"DEDUP_METHOD {config.method} is not to be had for a corpus; choose one with "
                "bands: fast, minwise or one-permutation"
            )
        self._spark = spark
        self._files = files
        self._out = out.rstrip("/")
        self._config = config
        # A corpus has to give the same result again; DEDUP_SEED can be kept from whoever writes it.
        self._seed = config.seed if config.seed is not None else 1
        self._report = report
        self._seconds: dict[str, float] = {}
        self._walked = walked

    def run(self) -> Result:
        """Do what is not done yet."""
        self._agree()
        with rows_one_by_one(self._spark):
            pages = self._stage("pages", self._read)
        texts = self._stage("texts", lambda: _texts(pages))
        edges = self._stage("edges", lambda: self._edges(texts))
        dropped = self._stage("dropped", lambda: self._resolve(edges))
        duplicates = self._stage(
            "duplicates", lambda: self._duplicates(pages, texts, edges, dropped), is_result=True
        )
        clusters = self._stage("clusters", lambda: _clusters(duplicates, pages), is_result=True)
        with rows_one_by_one(self._spark):
            self._stage("kept", lambda: self._write(duplicates))
        return self._result(pages, duplicates, clusters)

    def _stage(
        self, name: str, build: Callable[[], DataFrame], *, is_result: bool = False
    ) -> DataFrame:
        path = f"{self._out}/{name}" if is_result else f"{self._out}/work/{name}"
        if not exists(self._spark, f"{path}/_SUCCESS"):
            start = monotonic()
            build().write.mode("overwrite").parquet(path)
            self._seconds[name] = monotonic() - start
            self._report(f"{name}: {self._seconds[name]:.1f} s")
        return self._spark.read.parquet(path)

    def _agree(self) -> None:
        """See that work that is there already is of this corpus and these settings."""
        wanted, path = self._parameters(), f"{self._out}/work/parameters.json"
        if not exists(self._spark, path):
            write_text(self._spark, path, json.dumps(wanted, indent=2))
        found = json.loads(read_text(self._spark, path))
        differing = [name for name in wanted if wanted[name] != found.get(name)]
        if differing:
            raise InputError(
                f"{self._out!r} holds the work of another run (other {', '.join(differing)}): "
                "name another folder, or remove this one"
            )

    def _parameters(self) -> dict[str, Any]:
        listed = hashlib.sha256(json.dumps(self._files).encode()).hexdigest()
        values = {
            f"DEDUP_{one.name.upper()}": getattr(self._config, one.name)
            for one in fields(self._config)
            if one.name not in _WITHOUT_EFFECT
        }
        plain = {
            name: sorted(value) if isinstance(value, frozenset) else value
            for name, value in values.items()
        }
        seed = hashlib.sha256(b"corpus seed %d" % self._seed).hexdigest()[:16]
        found = {"layout": _LAYOUT, "input files": listed, "DEDUP_SEED": seed, **plain}
        return dict(json.loads(json.dumps(found, default=_plain)))

    def _pieces(self) -> DataFrame:
        """The pieces of all files, as many partitions as tasks that are worth their while."""
        ordinals = {file.path: ordinal for ordinal, file in enumerate(self._files)}
        size = piece_size(self._files)
        tasks = bins((one for one in pieces(self._files, size) if is_local(one.path)), size)
        rows = [[(*one, _name(one, size), None) for one in task] for task in tasks]
        spread = self._spark.sparkContext.parallelize(rows, max(1, len(rows)))
        frame = self._spark.createDataFrame(spread.flatMap(list), _PIECES)
        remote = [path for path in ordinals if not is_local(path)]
        return frame.union(self._fetched(remote, ordinals)) if remote else frame

    def _fetched(self, paths: list[str], ordinals: dict[str, int]) -> DataFrame:
        from pyspark.sql import functions as F

        sizes = {file.path: file.size for file in self._files}
        rows = []
        for path in paths:
            one = Piece(ordinals[path] << OFFSET_BITS, path, 0, sizes[path], sizes[path])
            rows.append((*one, _name(one, one.end)))
        known = self._spark.createDataFrame(rows, _PIECES.rpartition(",")[0])
        content = self._spark.read.format("binaryFile").load(paths).select("path", "content")
        joined = content.join(F.broadcast(known), "path")
        return joined.select("number", "path", "start", "end", "size", "name", "content")

    def _read(self) -> DataFrame:
        task = partial(columns.read_pages, config=self._config, seed=self._seed)
        return self._pieces().mapInArrow(task, _PAGES)

    def _edges(self, texts: DataFrame) -> DataFrame:
        """Pairs of texts that are verified to be similar, in the directions that may be asked."""
        from pyspark.sql import functions as F

        keyed = texts.where("bands is not null").select(
            "text", F.posexplode("bands").alias("band", "key")
        )
        bucket = F.col("band").cast("long") * F.lit(1 << 32) + F.col("key")
        buckets = keyed.select(bucket.alias("bucket"), "text")
        pairs = (
            buckets.repartition("bucket")
            .sortWithinPartitions("bucket", "text")
            .mapInArrow(columns.pairs_in_buckets, "new long, stored long")
            .groupBy("new", "stored")
            .agg(F.count("*").alias("hits"))
        )
        new = texts.select(F.col("text").alias("new"), F.col("odd").alias("new_odd"))
        stored = texts.select(
            F.col("text").alias("stored"), F.col("odd").alias("stored_odd"), "last"
        )
        both = pairs.join(stored, "stored").join(new, "new")
        # Where the earlier text comes again after the later one, it may be the new one of the two.
        turned = F.explode(F.expr("if(last > new, array(false, true), array(false))"))
        asked = both.withColumn("turned", turned).select(
            F.expr("if(turned, stored, new)").alias("new"),
            F.expr("if(turned, new, stored)").alias("stored"),
            "hits",
            F.expr("if(turned, stored_odd, new_odd)").alias("new_odd"),
            F.expr("if(turned, new_odd, stored_odd)").alias("stored_odd"),
        )
        verify = partial(
            columns.verify_pairs, threshold=self._config.threshold, bits=self._config.sketch_bits
        )
        return asked.mapInArrow(verify, _EDGES)

    def _resolve(self, edges: DataFrame) -> DataFrame:
        """The texts that are not kept: those similar to one that is kept and came before.

        Pairs that are too many for one process are made fewer in rounds: a text without undecided
        ones before it is kept, and what is similar to it is dropped, all at once (Blelloch,
        Fineman, Shun 2012: few rounds suffice for most orders).
        """
        from pyspark.sql import functions as F

        undecided = edges.where("new > stored").select("new", "stored")
        dropped: list[DataFrame] = []
        while undecided.count() > self._walked:
            number = len(dropped)
            waiting = undecided.select(F.col("new").alias("stored")).distinct()
            kept = undecided.select("stored").distinct().join(waiting, "stored", "left_anti")
            gone = self._stage(
                f"dropped-{number}",
                partial(_similar_to, undecided, kept),
            )
            dropped.append(gone)
            undecided = self._stage(f"undecided-{number}", partial(_without, undecided, gone))
        found = walk(undecided.orderBy("new").toArrow())
        result = self._spark.createDataFrame(found)
        for gone in dropped:
            result = result.union(gone)
        return result

    def _duplicates(
        self, pages: DataFrame, texts: DataFrame, edges: DataFrame, dropped: DataFrame
    ) -> DataFrame:
        from pyspark.sql import functions as F

        gone = dropped.select(F.col("new").alias("text"), F.lit(True).alias("gone"))
        placed = (
            pages.where("words > 0")
            .select("position", "piece", "url", "exact")
            .join(texts.select("exact", "text"), "exact")
            .join(gone, "text", "left")
        )
        none = [F.lit(0).alias(name) for name in ("odd_bits", "members", "stored_members", "level")]
        exact = placed.where("gone is null and position > text").select(
            "position", "piece", "url", F.lit("exact").alias("kind"),
            F.col("text").alias("cluster"), F.lit(1.0).alias("similarity"), *none
        )  # fmt: skip
        near = placed.where("gone").join(_best(edges, dropped), "text").where(
            "position > cluster and (until is null or position <= until)"
        ).select(
            "position", "piece", "url", F.lit("near").alias("kind"), "cluster", "similarity",
            "odd_bits", "members", "stored_members", "level"
        )  # fmt: skip
        originals = pages.select(
            F.col("position").alias("cluster"), F.col("url").alias("duplicate_of")
        )
        is_same = (F.col("kind") == "exact") & (F.col("url") == F.col("duplicate_of"))
        joined = (
            exact.union(near)
            .join(originals, "cluster")
            .withColumn("kind", F.when(is_same, "unchanged").otherwise(F.col("kind")))
            .orderBy("position")
        )
        task = partial(columns.with_intervals, bits=self._config.sketch_bits)
        schema = (
            "cluster long, position long, piece long, url string, kind string, similarity double, "
            "duplicate_of string, low double, high double"
        )
        return joined.mapInArrow(task, schema)

    def _write(self, duplicates: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F

        dropped = duplicates.groupBy(F.col("piece").alias("number")).agg(
            F.collect_list("position").alias("dropped")
        )
        frame = self._pieces()
        tasks = max(1, frame.rdd.getNumPartitions())
        joined = frame.join(dropped, "number", "left").repartition(tasks, "number")
        task = partial(columns.write_kept, folder=f"{self._out}/kept")
        return joined.mapInArrow(task, "name string, records long")

    def _result(self, pages: DataFrame, duplicates: DataFrame, clusters: DataFrame) -> Result:
        from pyspark.sql import functions as F

        counts = pages.agg(
            F.count("exact").alias("pages"),
            F.count_if(F.col("exact").isNotNull() & F.col("bands").isNull()).alias("short"),
            F.count_if(F.col("exact").isNull() & F.col("url").isNotNull()).alias("unreadable"),
        ).first()
        broken = pages.where("url is null").select("piece").distinct().collect()
        kinds = {row.kind: row.n for row in duplicates.groupBy("kind").agg(
            F.count("*").alias("n")).collect()}  # fmt: skip
        short = pages.where("exact is not null and bands is null").select("position")
        kept_short = short.join(duplicates, "position", "left_anti").count()
        assert counts is not None
        return Result(
            pages=counts.pages,
            kept=counts.pages - sum(kinds.values()),
            short=kept_short,
            exact=kinds.get("exact", 0),
            near=kinds.get("near", 0),
            unchanged=kinds.get("unchanged", 0),
            unreadable=counts.unreadable,
            clusters=clusters.count(),
            damaged=sorted({self._files[row.piece >> OFFSET_BITS].path for row in broken}),
            seconds=self._seconds,
        )


def walk(pairs: pa.Table) -> pa.Table:
    """The texts that are dropped, of pairs sorted by ``new``, whose ``stored`` came before.

    >>> walk(pa.table({"new": [2, 3, 4], "stored": [1, 2, 3]}))["new"].to_pylist()
    [2, 4]
    """
    dropped: set[int] = set()
    for new, stored in zip(pairs["new"].to_pylist(), pairs["stored"].to_pylist(), strict=True):
        if stored not in dropped:
            dropped.add(new)
    return pa.table({"new": pa.array(sorted(dropped), pa.int64())})


def _plain(value: Any) -> str:
    return f"{value.__module__}.{value.__qualname__}" if callable(value) else str(value)


def _texts(pages: DataFrame) -> DataFrame:
    """The distinct texts: each is called by the position where it came first."""
    from pyspark.sql import functions as F

    whole = pages.where("words > 0")  # a page without any word is like no other
    spans = whole.groupBy("exact").agg(
        F.min("position").alias("text"), F.max("position").alias("last")
    )
    first = whole.select(F.col("position").alias("text"), "bands", "odd")
    return spans.join(first, "text")


def _similar_to(undecided: DataFrame, kept: DataFrame) -> DataFrame:
    return undecided.join(kept, "stored", "left_semi").select("new").distinct()


def _without(undecided: DataFrame, gone: DataFrame) -> DataFrame:
    left = undecided.join(gone, "new", "left_anti")
    other = gone.withColumnRenamed("new", "stored")
    return left.join(other, "stored", "left_anti").select("new", "stored")


def _best(edges: DataFrame, dropped: DataFrame) -> DataFrame:
    """For each dropped text which kept one is most similar, as more of them come.

    The original is ``cluster`` for what comes after it and up to ``until``. Of equally similar
    ones it is that with more common bands, then the earlier one, as the index has it.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    kept = edges.join(dropped.withColumnRenamed("new", "stored"), "stored", "left_anti")
    in_order = Window.partitionBy("new").orderBy("stored")
    so_far = in_order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    rank = F.struct("similarity", "hits", (-F.col("stored")).alias("earlier"))
    ranked = kept.withColumn("rank", rank).withColumn("best", F.max("rank").over(so_far))
    steps = ranked.where("rank = best").withColumn("until", F.lead("stored").over(in_order))
    return steps.select(
        F.col("new").alias("text"), F.col("stored").alias("cluster"), "until", "similarity",
        "odd_bits", "members", "stored_members", "level"
    )  # fmt: skip


def _clusters(duplicates: DataFrame, pages: DataFrame) -> DataFrame:
    """The pages that stand for others, and for how many."""
    from pyspark.sql import functions as F

    counts = duplicates.groupBy("cluster").agg(F.count("*").alias("copies"))
    named = pages.select(F.col("position").alias("cluster"), "url", "piece")
    return (
        counts.join(named, "cluster").select("cluster", "piece", "url", "copies").orderBy("cluster")
    )


def _name(piece: Piece, size: int) -> str:
    """The name of what is kept of a piece: no two have the same, and they sort as the input."""
    part = f"-{piece.start // size:05d}" if piece.is_part else ""
    return f"{piece.number >> OFFSET_BITS:06d}{part}-{PurePosixPath(piece.path).name}"


def lines_of(result: Result) -> Iterator[tuple[str, Any]]:
    """The numbers of a result, for a table."""
    for name, value in result._asdict().items():
        if name == "seconds":
            yield "seconds", round(sum(value.values()), 1)
        elif name == "damaged":
            yield "damaged files", len(value)
        else:
            yield name, value
