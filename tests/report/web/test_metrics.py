"""What Prometheus reads of an index, and its dashboard."""

from __future__ import annotations

import json
import re
import time

from prometheus_client.openmetrics.parser import text_string_to_metric_families

from crawler.dedup.store.index_reader import ServerMemory
from crawler.dedup.store.statistics import IndexStats
from crawler.report.web.metrics import Watched, open_metrics
from tests.report.serving import Served
from tests.report.web.visitor import ROOT


def test_metrics(site: Served) -> None:
    """The metrics are sound OpenMetrics, and are what the index counts."""
    answer = site.read("/metrics")
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    families = {family.name: family for family in text_string_to_metric_families(answer.text)}
    checks = {s.labels["verdict"]: s.value for s in families["scrapy_neardup_checks"].samples}
    assert checks == {"unique": 1, "near": 1, "exact": 1}
    assert families["scrapy_neardup_kept_pages"].samples[0].value == 1
    assert families["scrapy_neardup_known_urls"].samples[0].value == 3
    values = {
        name.removeprefix("scrapy_neardup_"): family.samples[0].value
        for name, family in families.items()
        if family.type == "gauge"
    }
    assert values["memory_bytes"] > 100
    assert values["page_bytes"] > 100
    assert values["server_memory_bytes"] > 100_000
    assert values["server_memory_limit_bytes"] == 0
    assert (values["hosts"], values["waiting_pages"]) == (2, 0)
    assert time.time() - 60 < values["last_check_timestamp_seconds"] <= time.time()
    buckets = {
        s.labels["le"]: s.value
        for s in families["scrapy_neardup_near_similarity"].samples
        if "le" in s.labels
    }
    assert buckets["0.8"] == 0
    assert buckets["1.0"] == buckets["+Inf"] == 1


def test_metrics_of_what_went_wrong() -> None:
    """Errors that crawls told of, pages that wait, and how full the server is."""
    stats = IndexStats("news", {}, {}, {}, 0, 0, None, None, {}, errors={"ServerError": 3})
    servers = [ServerMemory(50, 100), ServerMemory(80, 100)]
    lines = open_metrics(stats, Watched(0, 7, servers)).decode().splitlines()
    for expected in (
        'scrapy_neardup_errors_total{error="ServerError",namespace="news"} 3.0',
        'scrapy_neardup_waiting_pages{namespace="news"} 7.0',
        'scrapy_neardup_server_memory_bytes{namespace="news"} 130.0',
        'scrapy_neardup_server_memory_limit_bytes{namespace="news"} 200.0',
        'scrapy_neardup_server_fullness{namespace="news"} 0.8',
    ):
        assert expected in lines


def test_dashboard(site: Served) -> None:
    """Every metric of the example dashboard is one that the page has."""
    dashboard = json.loads((ROOT / "docs" / "howto" / "grafana.json").read_text(encoding="utf-8"))
    expressions = [
        target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", ())
    ]
    names = {name for one in expressions for name in re.findall(r"scrapy_neardup_\w+", one)}
    known = {
        line.partition("{")[0] for line in site.read("/metrics").text.splitlines() if "{" in line
    }
    assert len(names) >= 5
    assert names <= known
