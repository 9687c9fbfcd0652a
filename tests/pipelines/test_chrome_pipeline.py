"""Clean text only: what ChromePipeline fills in, and that it loses nothing."""

from __future__ import annotations

import html
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pytest
from scrapy.utils.test import get_crawler

from crawler.chrome import strip_chrome
from crawler.dedup import ConfigError, DedupConfig
from crawler.pipelines import ChromePipeline, failures

HTML = (
    "<title>Tea</title><body><nav><a href=/>Home</a> <a href=/cups>Cups</a></nav>"
    "<main><p>Tea is an aromatic drink made with hot water.</p></main>"
)
TEXT = strip_chrome(HTML).text


@dataclass
class Bare:
    html: Any = field(default=HTML)


@pytest.fixture
def stats() -> Counter[str]:
    return Counter()


@pytest.fixture
def pipeline(stats: Counter[str]) -> ChromePipeline:
    return ChromePipeline(DedupConfig(), lambda name: stats.update([name]))


async def test_fills_text_and_title(pipeline, stats):
    """A dict gets the text as a new field, the title only where it has the field."""
    assert await pipeline.process_item({"html": HTML}) == {"html": HTML, "text": TEXT}
    item = await pipeline.process_item({"html": HTML.encode(), "title": "", "text": ""})
    assert (item["title"], item["text"]) == ("Tea", TEXT)
    assert (await pipeline.process_item({"html": HTML, "title": "Own"}))["title"] == "Own"
    assert not stats


async def test_leaves_what_is_filled(pipeline):
    """Text that is there stays, and no field that the item's type lacks is asked for."""
    item = {"html": HTML, "text": "own text"}
    assert await pipeline.process_item(dict(item)) == item
    assert await pipeline.process_item(Bare()) == Bare()


@pytest.mark.parametrize("there", [["One paragraph.", "Another."], b"bytes", {"en": "Tea"}, []])
async def test_leaves_what_is_no_text(pipeline, stats, there):
    """What a project keeps in a field of that name is its own, and only counted."""
    assert (await pipeline.process_item({"html": HTML, "text": there}))["text"] is there
    assert stats == {"dedup/wrong_type/text": 1}


@pytest.mark.parametrize("item", [{"url": "/"}, {"html": 7}, {"html": None}, {}, 7])
async def test_passes_what_is_no_page(pipeline, stats, item):
    """An item without HTML passes as it is, and is counted."""
    assert await pipeline.process_item(item) is item
    assert stats["dedup/missing_field/html"] == isinstance(item, dict)


async def test_passes_what_fails(pipeline, stats, monkeypatch, caplog):
    """An error of the stripper itself costs the text, not the item."""
    monkeypatch.setattr(pipeline.texts, "extract", None)
    item = {"html": HTML}
    assert await pipeline.process_item(item) is item
    assert stats == {"dedup/errors/TypeError": 1}
    assert caplog.records[-1].exc_info


async def test_what_fails_with_each_page_is_told_once_a_minute(
    pipeline, stats, monkeypatch, caplog
):
    """A log of a million tracebacks would fill the disk."""
    monkeypatch.setattr(pipeline.texts, "extract", None)
    for _ in range(3):
        await pipeline.process_item({"html": HTML})
    monkeypatch.setattr(failures, "QUIET", -1.0)
    pipeline._failures = failures.Failures(lambda name: None)
    for _ in range(2):
        await pipeline.process_item({"html": HTML})
    assert stats == {"dedup/errors/TypeError": 3}
    assert len(caplog.records) == 3


def test_reads_settings():
    """In a crawl the fields come from the settings, and a wrong one is an error."""
    crawler = get_crawler(settings_dict={"DEDUP_HTML_FIELD": "body"})
    assert ChromePipeline.from_crawler(crawler).config.html_field == "body"
    with pytest.raises(ConfigError, match="DEDUP_HTML_FIELD"):
        ChromePipeline.from_crawler(get_crawler(settings_dict={"DEDUP_HTML_FIELD": 7}))


def shout(page: str) -> str:
    return page.upper()


def say_nothing(page: str) -> None:
    return None


@pytest.mark.parametrize(
    ("extractor", "text"),
    [
        (shout, HTML.upper()),
        (f"{__name__}.shout", HTML.upper()),
        (say_nothing, ""),
        ("html.escape", html.escape(HTML)),
    ],
)
async def test_another_extractor(extractor, text):
    """DEDUP_EXTRACTOR is any function from HTML to text, or its path; nothing is an empty text."""
    pipeline = ChromePipeline(DedupConfig(extractor=extractor), lambda name: None)
    assert (await pipeline.process_item({"html": HTML}))["text"] == text


@pytest.mark.parametrize("path", ["nowhere.at_all", "html.unknown", "no path", 3])
def test_an_extractor_that_is_none(path):
    """A path that leads nowhere is an error that names the setting."""
    with pytest.raises(ConfigError, match=r"^DEDUP_EXTRACTOR"):
        ChromePipeline(DedupConfig(extractor=path), lambda name: None)


async def test_a_failing_extractor_loses_nothing(stats):
    """An extractor that raises costs the page its text, not the item."""
    pipeline = ChromePipeline(DedupConfig(extractor=str.upper), lambda name: stats.update([name]))
    item = {"html": HTML}
    assert await pipeline.process_item(item) == {"html": HTML, "text": HTML.upper()}
    broken = ChromePipeline(DedupConfig(extractor=int), lambda name: stats.update([name]))
    assert await broken.process_item({"html": HTML}) == {"html": HTML}
    assert stats == {"dedup/errors/ValueError": 1}
