"""The counts of an index as OpenMetrics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from prometheus_client.core import Metric

    from ...dedup.store.index_reader import ServerMemory
    from ...dedup.store.statistics import IndexStats

CONTENT_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"
_PREFIX = "scrapy_neardup_"


class Watched(NamedTuple):
    """Metrics beside the index's own counts.

    ``overrides`` is the number of overrides, and ``waiting`` the number of pages that passed
    unchecked and wait in ``DEDUP_DATA_DIR``, None if it cannot be read. ``servers`` has the memory
    of each server, None if unknown.
    """

    overrides: int
    waiting: int | None
    servers: Sequence[ServerMemory] | None


def open_metrics(stats: IndexStats, watched: Watched) -> bytes:
    """The counts in OpenMetrics' text format, each with the index's namespace."""
    from prometheus_client import CollectorRegistry
    from prometheus_client.openmetrics.exposition import generate_latest

    class Counts:
        def collect(self) -> Iterator[Metric]:
            yield from _list_families(stats, watched)

    registry = CollectorRegistry(auto_describe=False)
    registry.register(Counts())
    text: bytes = generate_latest(registry)  # type: ignore[no-untyped-call]
    return text


def _list_families(stats: IndexStats, watched: Watched) -> Iterator[Metric]:
    from prometheus_client.core import (
        CounterMetricFamily,
        GaugeMetricFamily,
        HistogramMetricFamily,
    )

    where = [stats.namespace]
    checks = CounterMetricFamily(
        f"{_PREFIX}checks", "Pages checked, by verdict.", labels=["namespace", "verdict"]
    )
    for kind, count in stats.verdicts.items():
        checks.add_metric([*where, kind], count)
    yield checks
    errors = CounterMetricFamily(
        f"{_PREFIX}errors",
        "Errors in crawls, by class.",
        labels=["namespace", "error"],
    )
    # From 0 on, because Prometheus does not take the first value of a series for growth.
    for name, count in {"ServerError": 0, **stats.errors}.items():
        errors.add_metric([*where, name], count)
    yield errors
    used = limit = None
    if watched.servers:  # of a cluster all nodes together
        used = sum(server.used for server in watched.servers)
        limits = [server.limit for server in watched.servers]
        limit = sum(limits) if all(limits) else 0
    fullest = max((s.used / s.limit for s in watched.servers or () if s.limit), default=None)
    gauges = [
        ("kept_pages", "Kept pages.", stats.kept),
        ("known_urls", "URLs in the index.", stats.urls),
        ("memory_bytes", "Memory of the index in the server, from a sample.", stats.memory_bytes),
        ("page_bytes", "Memory for each kept page, from a sample.", stats.bytes_per_page),
        ("hosts", "Hosts of the pages checked.", len(stats.hosts)),
        ("waiting_pages", "Pages that passed unchecked and wait to be checked.", watched.waiting),
        ("server_memory_bytes", "Memory that the server uses for all its data.", used),
        ("server_memory_limit_bytes", "The server's maxmemory, 0 if it has none.", limit),
        ("server_fullness", "Share of the memory limit in use, on the fullest node.", fullest),
        (
            "last_check_timestamp_seconds",
            "Time of the last check.",
            _seconds(stats.last_check),
        ),
        ("last_crawl_timestamp_seconds", "Start of the last crawl.", _seconds(stats.last_crawl)),
        ("overrides", "Overrides in the index.", watched.overrides),
    ]
    for name, text, value in gauges:
        if value is not None:
            gauge = GaugeMetricFamily(_PREFIX + name, text, labels=["namespace"])
            gauge.add_metric(where, value)
            yield gauge
    steps = [f"{step / 100:.2f}" for step in range(100)]
    counts = accumulate(stats.histogram.get(step, 0) for step in steps)
    # What is counted under 0.80 is less than 0.81.
    edges = [str(step / 100) for step in range(1, 101)]
    buckets = list(zip(edges, counts, strict=True))[49:]
    total = sum(stats.histogram.values())
    histogram = HistogramMetricFamily(
        f"{_PREFIX}near_similarity",
        "Similarities of near-duplicates to the pages they copy.",
        labels=["namespace"],
    )
    histogram.add_metric(where, [*buckets, ("+Inf", total)], sum_value=None)
    yield histogram


def _seconds(time: datetime | None) -> float | None:
    return None if time is None else time.timestamp()
