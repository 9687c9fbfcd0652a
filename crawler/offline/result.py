"""The result of a corpus job: counts, and the faults of its input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .records.files import OFFSET_BITS, UNITS, File, Format, known_format
from .records.input_pages import Left

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Result(NamedTuple):
    """The result of a corpus job: numbers of pages, and the seconds that each stage took.

    ``unreadable`` records are kept, and so are records that are not pages: ``binary`` ones, and
    ``skipped`` ones such as empty lines. These and the pages are all records. ``damaged`` are the
    files that could only be read in part. ``faults`` describe the first unreadable record of each
    file, and why a file could not be read to its end.
    """

    pages: int
    kept: int
    short: int
    exact: int
    near: int
    unchanged: int
    unreadable: int
    binary: int
    skipped: int
    clusters: int
    damaged: list[str]
    faults: list[str]
    seconds: dict[str, float]

    @property
    def is_doubtful(self) -> bool:
        """Whether a file breaks off, or most of the corpus cannot be read."""
        return bool(self.damaged) or self.unreadable > self.pages


def count_pages(
    files: Sequence[File],
    pages: DataFrame,
    duplicates: DataFrame,
    clusters: DataFrame,
    seconds: dict[str, float],
) -> Result:
    """The result for the pages of some files, from the tables that the job has written."""
    from pyspark.sql import functions as F

    no_page = F.col("exact").isNull() & F.col("fault").isNull()
    counts = pages.agg(
        F.count("exact").alias("pages"),
        F.count_if(F.col("exact").isNotNull() & F.col("bands").isNull()).alias("short"),
        F.count_if(F.col("fault").isNotNull() & F.col("url").isNotNull()).alias("unreadable"),
        *(F.count_if(no_page & (F.col("url") == str(why))).alias(str(why)) for why in Left),
    ).first()
    ordinal = F.shiftright("piece", OFFSET_BITS).alias("file")
    first = F.min(F.struct("position", "piece", "fault")).alias("first")
    faulty = pages.where("fault is not null").groupBy(ordinal, F.isnull("url").alias("ends"))
    faults = [
        (files[row.first.piece >> OFFSET_BITS].path, row.ends, row.first.position, row.first.fault)
        for row in faulty.agg(first).orderBy("first").collect()
    ]
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
        binary=counts.binary,
        skipped=counts.skipped,
        clusters=clusters.count(),
        damaged=sorted(path for path, ends, _, _ in faults if ends),
        faults=[_describe_fault(*fault) for fault in faults],
        seconds=seconds,
    )


def _describe_fault(path: str, ends: bool, position: int, fault: str) -> str:
    if ends:
        return f"cannot be read to its end: {path}: {fault}"
    place = position & ((1 << OFFSET_BITS) - 1)
    kind = known_format(path)
    unit = "byte" if kind is Format.JSONL else UNITS[kind]
    return f"{path!r}, {unit} {place + 1}: {fault}"


def lines_of(result: Result) -> Iterator[tuple[str, Any]]:
    """The numbers of a result, for a table."""
    for name, value in result._asdict().items():
        if name == "seconds":
            yield "seconds", round(sum(value.values()), 1)
        elif name == "damaged":
            yield "damaged files", len(value)
        elif name != "faults":
            yield name, value
