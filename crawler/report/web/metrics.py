"""What an index counts, as OpenMetrics."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prometheus_client.core import Metric

    from ...dedup.store.statistics import IndexStats

CONTENT_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"
_PREFIX = "scrapy_neardup_"


def open_metrics(stats: IndexStats, overrides: int) -> bytes:
    """The counts in OpenMetrics' text format, each with the index's namespace."""
    from prometheus_client import CollectorRegistry
    from prometheus_client.openmetrics.exposition import generate_latest

    class Counts:
        def collect(self) -> Iterator[Metric]:
            yield from _list_families(stats, overrides)

    registry = CollectorRegistry(auto_describe=False)
    registry.register(Counts())
    text: bytes = generate_latest(registry)  # type: ignore[no-untyped-call]
    return text


def _list_families(stats: IndexStats, overrides: int) -> Iterator[Metric]:
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
    gauges = [
        ("kept_pages", "Pages that stand for themselves.", stats.kept),
        ("known_urls", "Addresses in the index.", stats.urls),
        ("memory_bytes", "Memory of the index in the server, from a sample.", stats.memory_bytes),
        ("overrides", "Decisions made by people.", overrides),
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
