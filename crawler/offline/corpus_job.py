"""The Spark job: decides which pages of a corpus are kept, with the functions of the index.

The pages are taken in the order of the input, or by ``DEDUP_PREFER`` the best first. A page is
dropped if a page kept before it has the same words, or is verified to reach the threshold. An index
that checks the pages in that order decides the same, whatever the number of tasks. There are two
differences: if very many pages share a band (see :data:`~.columns.FIRST`), and if a URL comes again
with another text. A corpus has all versions of a page, so the earlier one still counts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import partial
from pathlib import PurePosixPath
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from ..dedup.config import DedupConfig
from ..dedup.errors import ConfigError, InputError
from ..dedup.parsing import function_name, setting_name
from . import columns, contained_pages, spark_queries
from .exclusion import hold_folder
from .known import Export, read_known
from .records.files import OFFSET_BITS, File, Piece, cut_pieces, is_local, join_pieces, piece_size
from .records.hadoop import literal_path
from .records.outputs import remove_parts
from .result import Result, count_pages
from .session import make_folder, path_exists, read_text, rows_one_by_one, write_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Version of the work in a folder; a run does not resume work of another version.
_LAYOUT: Final = 9
_RESULTS: Final = ("duplicates", "clusters", "contained", "kept")
# Settings without effect on decisions: the address of the index, and the use of verdicts.
_WITHOUT_EFFECT: Final = frozenset(
    {"redis_url", "namespace", "data_dir", "timeout", "on_error", "drop", "tag_field", "ttl"}
    | {"archive", "shards", "seed"}
    | {"crawl"}
)

_PIECES: Final = (
    "number long, path string, start long, `end` long, size long, name string, content binary"
)
_PAGES: Final = (
    "position long, piece long, url string, fetched string, exact binary, words long, "
    "bands array<long>, odd binary, own binary, anchors binary, rank binary, fault string"
)


class Corpus:
    """A corpus and the folder `out` of its results; finished stages there are not done again.

    The kept pages of an `export` of an index come before those of the corpus, and its seed is used.
    `report` is called with a line of text after each stage. One process resolves up to `walked`
    pairs of similar texts, at about a million in a second. Raises :class:`ConfigError` for a method
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
        export: Export | None = None,
        cluster_size: bool = False,
        walked: int = 5_000_000,
    ) -> None:
        if not config.has_bands:
            raise ConfigError(
                f"DEDUP_METHOD {config.method} does not work for a corpus; choose one "
                "with bands: fast, minwise or one-permutation"
            )
        self._spark = spark
        self._files = files
        self._out = out.rstrip("/")
        self._config = config
        # Not random, because a corpus has to give the same result again. DEDUP_SEED can be secret.
        self._seed = config.seed if config.seed is not None else 1
        if export is not None:
            self._seed = export.seed
        self._export = export
        self._report = report
        self._cluster_size = cluster_size
        self._seconds: dict[str, float] = {}
        self._walked = walked

    def run(self) -> Result:
        """Do what is not done yet; raises :class:`InputError` while another run does it."""
        with hold_folder(self._spark, self._out):
            return self._run_stages()

    def _run_stages(self) -> Result:
        self._check_settings()
        known = self._read_known(self._export) if self._export is not None else None
        with rows_one_by_one(self._spark):
            pages = self._run_stage("pages", self._read_pages)
        all_pages = pages.union(known) if known is not None else pages
        ranked, both, places = pages, all_pages, None
        if self._config.prefer:  # pages have places instead of positions
            places = self._run_stage("places", lambda: spark_queries.rank_pages(pages))
            ranked = spark_queries.to_places(pages, places)
            both = ranked.union(known) if known is not None else ranked
        texts = self._run_stage("texts", lambda: spark_queries.distinct_texts(both))
        edges = self._run_stage("edges", lambda: spark_queries.similar_pairs(texts, self._config))
        dropped = self._run_stage("dropped", lambda: self._resolve_edges(edges))
        bits = self._config.sketch_bits
        duplicates = self._run_stage(
            "duplicates",
            lambda: spark_queries.list_duplicates(
                ranked, both, texts, edges, dropped, self._list_files(), places, bits=bits
            ),
            is_result=True,
        )
        clusters = self._run_stage(
            "clusters",
            lambda: spark_queries.list_clusters(duplicates, all_pages, self._list_files()),
            is_result=True,
        )
        if self._config.containment is not None:
            find = partial(
                contained_pages.find_contained, texts, both, dropped, odd_bytes=bits // 8
            )
            least = self._config.containment
            self._run_stage("contained", lambda: find(least=least), is_result=True)
        with rows_one_by_one(self._spark):
            self._run_stage("kept", lambda: self._write_outputs(duplicates, clusters))
        return count_pages(self._files, pages, duplicates, clusters, self._seconds)

    def _run_stage(
        self, name: str, build: Callable[[], DataFrame], *, is_result: bool = False
    ) -> DataFrame:
        path = f"{self._out}/{name}" if is_result else f"{self._out}/work/{name}"
        if not path_exists(self._spark, f"{path}/_SUCCESS"):
            start = monotonic()
            frame = build()
            frame.write.mode("overwrite").parquet(path)
            self._seconds[name] = monotonic() - start
            self._report(f"{name}: {self._seconds[name]:.1f} s")
            # To find the schema in the files would be one more job of Spark.
            return self._spark.read.schema(frame.schema).parquet(literal_path(path))
        return self._spark.read.parquet(literal_path(path))

    def _check_settings(self) -> None:
        """Check that existing work is of this corpus and these settings."""
        wanted, path = self._job_parameters(), f"{self._out}/work/parameters.json"
        if not path_exists(self._spark, path):
            if any(path_exists(self._spark, f"{self._out}/{name}") for name in _RESULTS):
                raise InputError(
                    f"{self._out!r} holds the results of a run whose folder work was removed: "
                    f"name another folder, or remove {', '.join(_RESULTS)} there"
                )
            write_text(self._spark, path, json.dumps(wanted, indent=2))
        found = json.loads(read_text(self._spark, path))
        differing = [name for name in wanted | found if wanted.get(name) != found.get(name)]
        if differing:
            raise InputError(
                f"{self._out!r} holds the work of another run (other {', '.join(differing)}): "
                f"name another folder, or remove work, {', '.join(_RESULTS)} there"
            )

    def _job_parameters(self) -> dict[str, Any]:
        listed = hashlib.sha256(json.dumps(self._files).encode()).hexdigest()
        values = {
            setting_name(one): getattr(self._config, one.name)
            for one in fields(self._config)
            if one.name not in _WITHOUT_EFFECT
        }
        plain = {
            name: sorted(value) if isinstance(value, frozenset) else value
            for name, value in values.items()
        }
        seed = hashlib.sha256(b"corpus seed %d" % self._seed).hexdigest()[:16]
        found = {"layout": _LAYOUT, "input files": listed, "DEDUP_SEED": seed, **plain}
        if self._cluster_size:
            found["--cluster-size"] = True
        found["--index"] = self._export.mark if self._export is not None else None
        return dict(json.loads(json.dumps(found, default=_plain_value)))

    def _list_files(self) -> DataFrame:
        rows = [(ordinal, file.path) for ordinal, file in enumerate(self._files)]
        return self._spark.createDataFrame(rows, "ordinal long, file string")

    def _list_pieces(self) -> DataFrame:
        """The pieces of all files, in one partition for each task; small pieces share a task."""
        ordinals = {file.path: ordinal for ordinal, file in enumerate(self._files)}
        size = piece_size(self._files)
        tasks = join_pieces(
            (one for one in cut_pieces(self._files, size) if is_local(one.path)), size
        )
        rows = [[(*one, _name_piece(one, size), None) for one in task] for task in tasks]
        spread = self._spark.sparkContext.parallelize(rows, max(1, len(rows)))
        frame = self._spark.createDataFrame(spread.flatMap(list), _PIECES)
        remote = [path for path in ordinals if not is_local(path)]
        return frame.union(self._fetch_contents(remote, ordinals)) if remote else frame

    def _fetch_contents(self, paths: list[str], ordinals: dict[str, int]) -> DataFrame:
        from pyspark.sql import functions as F

        sizes = {file.path: file.size for file in self._files}
        rows = []
        for path in paths:
            one = Piece(ordinals[path] << OFFSET_BITS, path, 0, sizes[path], sizes[path])
            rows.append((*one, _name_piece(one, one.end)))
        known = self._spark.createDataFrame(rows, _PIECES.rpartition(",")[0])
        files = self._spark.read.format("binaryFile").load([*map(literal_path, paths)])
        content = files.select("path", "content")
        joined = content.join(F.broadcast(known), "path")
        return joined.select("number", "path", "start", "end", "size", "name", "content")

    def _read_pages(self) -> DataFrame:
        task = partial(columns.read_pages, config=self._config, seed=self._seed)
        return self._list_pieces().mapInArrow(task, _PAGES)

    def _read_known(self, export: Export) -> DataFrame:
        task = partial(read_known, export=export)
        one = self._spark.range(0, 1, 1, 1)
        return self._run_stage("known", lambda: one.mapInArrow(task, _PAGES))

    def _resolve_edges(self, edges: DataFrame) -> DataFrame:
        """The dropped texts: those similar to an earlier text that is kept.

        If there are too many pairs for one process, rounds make them fewer: texts without undecided
        earlier texts are kept, and all texts similar to these are dropped (Blelloch, Fineman, Shun
        2012: few rounds suffice for most orders).
        """
        from pyspark.sql import functions as F

        undecided = edges.where("new > stored").select("new", "stored")
        dropped: list[DataFrame] = []
        while undecided.count() > self._walked:
            number = len(dropped)
            waiting = undecided.select(F.col("new").alias("stored")).distinct()
            kept = undecided.select("stored").distinct().join(waiting, "stored", "left_anti")
            similar = partial(spark_queries.similar_to, undecided, kept)
            gone = self._run_stage(f"dropped-{number}", similar)
            dropped.append(gone)
            undecided = self._run_stage(
                f"undecided-{number}", partial(spark_queries.drop_pairs, undecided, gone)
            )
        found = spark_queries.walk_pairs(undecided.orderBy("new").toArrow())
        result = self._spark.createDataFrame(found)
        for gone in dropped:
            result = result.union(gone)
        return result

    def _write_outputs(self, duplicates: DataFrame, clusters: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F

        dropped = duplicates.groupBy(F.col("piece").alias("number")).agg(
            F.collect_list("position").alias("dropped")
        )
        frame = self._list_pieces()
        tasks = max(1, frame.rdd.getNumPartitions())
        joined = frame.join(dropped, "number", "left")
        if self._cluster_size:
            sizes = clusters.groupBy(F.col("piece").alias("number")).agg(
                F.collect_list("cluster").alias("originals"),
                F.collect_list("copies").alias("copies"),
            )
            joined = joined.join(sizes, "number", "left")
        joined = joined.repartition(tasks, "number")
        folder = f"{self._out}/kept"
        hadoop = ""
        if is_local(folder):
            remove_parts(folder)
        else:
            hadoop = make_folder(self._spark, folder)
        task = partial(
            columns.write_kept, folder=folder, hadoop=hadoop, with_size=self._cluster_size
        )
        return joined.mapInArrow(task, "name string, records long")


def _plain_value(value: Any) -> str:
    return function_name(value) if callable(value) else str(value)


def _name_piece(piece: Piece, size: int) -> str:
    """A unique name for the kept records of a piece; names sort in the order of the input."""
    part = f"-{piece.start // size:05d}" if piece.is_part else ""
    return f"{piece.number >> OFFSET_BITS:06d}{part}-{PurePosixPath(piece.path).name}"
