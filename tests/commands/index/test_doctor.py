"""What `scrapy dedup doctor` finds, and what it says to do about it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import scrapy
from scrapy.settings import Settings

from crawler import Addon, DuplicatePipeline
from crawler.commands.index import doctor
from crawler.dedup import DedupConfig

Dedup = Callable[..., tuple[int, str, str]]
Fill = Callable[[list[tuple[str, str]]], None]


def test_a_project_without_the_add_on(dedup: Dedup, fill: Fill) -> None:
    """Each thing is shown, with a remedy for what is amiss, and the exit code says so."""
    fill([("http://a/", "one two three four five six")])
    code, output, _ = dedup("doctor", "--json")
    found = {one["what"]: one for one in json.loads(output)}
    assert code == 1
    assert found["Scrapy"]["found"] == scrapy.__version__
    assert "1 kept page" in found["index"]["found"]
    assert found["add-on"]["remedy"] == 'add ADDONS = {"crawler.Addon": 500} to settings.py'
    assert found["page"]["found"].startswith("DEDUP_PAGE=auto: fields 'url', 'html', 'text'")
    assert [name for name, one in found.items() if one["remedy"]] in (
        ["add-on"], ["compiled", "add-on"]
    )  # fmt: skip


def test_no_server(dedup: Dedup) -> None:
    """That nobody answers is one of the things that are shown."""
    code, output, _ = dedup("doctor", "-s", "DEDUP_REDIS_URL=redis://127.0.0.1:1")
    assert code == 1
    assert "DEDUP_REDIS_URL redis://127.0.0.1:1" in output.splitlines()[-2]


@pytest.mark.parametrize(
    ("values", "what", "remedy"),
    [
        ({"ADDONS": {Addon: 500}}, "add-on", ""),
        ({"ITEM_PIPELINES": {DuplicatePipeline: 300}}, "add-on", "add ADDONS"),
        ({"DEDUP_ENABLED": False}, "DEDUP_ENABLED", "remove DEDUP_ENABLED"),
        ({"DEDUP_EXTRACTOR": "html.unescape"}, "DEDUP_EXTRACTOR", ""),
        ({"DEDUP_EXTRACTOR": "html.nothing"}, "DEDUP_EXTRACTOR", "DEDUP_EXTRACTOR 'html.nothing'"),
        ({"ADDONS": {"html.Adon": 500}}, "ADDONS 'html.Adon'", "correct it in settings.py"),
        ({"ADDONS": {"no_such.Addon": 500}}, "ADDONS 'no_such.Addon'", "correct it in settings.py"),
        ({"ITEM_PIPELINES": {"Mine": 1}}, "ITEM_PIPELINES 'Mine'", "correct it in settings.py"),
        ({"ADDONS": {"half_done.Mine": 1}}, "ADDONS 'half_done.Mine'", "correct it in settings.py"),
    ],
)
def test_settings(
    values: dict[str, Any],
    what: str,
    remedy: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whether the add-on is there and on, and whether what settings name can be loaded."""
    (tmp_path / "half_done.py").write_text("1 / 0")
    monkeypatch.syspath_prepend(tmp_path)
    config = DedupConfig.from_settings(settings := Settings(values))
    found = {one.what: one.remedy for one in doctor._of_project(settings, config)}
    assert found[what].startswith(remedy)
    assert bool(found[what]) == bool(remedy)


def test_spiders_that_this_scrapy_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """Newer versions of Scrapy call start() alone, and say nothing."""

    class Loader:
        def list(self) -> list[str]:
            return ["old", "both", "new", "redis"]

        def load(self, name: str) -> type[scrapy.Spider]:
            async def start(self: Any) -> Any:
                yield None

            begins = {
                "old": ["start_requests"],
                "both": ["start_requests", "start"],
                "new": [],
                "redis": ["start_requests", "redis_key"],
            }
            return type(name, (scrapy.Spider,), dict.fromkeys(begins[name], start))

    monkeypatch.setattr("scrapy.spiderloader.SpiderLoader.from_settings", lambda _: Loader())
    monkeypatch.delattr(scrapy.Spider, "start_requests", raising=False)
    (found,) = doctor._of_spiders(Settings())
    assert found.what == "spiders old"
    assert "async def start(self)" in found.remedy


def test_a_spider_that_cannot_be_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is one of the things that are shown, and hides no other."""
    (tmp_path / "broken_spiders.py").write_text("import no_such_module")
    monkeypatch.syspath_prepend(tmp_path)
    (found,) = doctor._of_spiders(Settings({"SPIDER_MODULES": ["broken_spiders"]}))
    assert found.what == "spiders"
    assert "no_such_module" in found.found
    assert found.remedy
