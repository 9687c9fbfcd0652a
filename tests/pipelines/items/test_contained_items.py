"""Pages that have whole others, and those others: tagged, or dropped where that is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from crawler.dedup.config import DedupConfig
from crawler.dedup.errors import ConfigError
from crawler.pipelines import ContainedPage, NearDuplicate
from tests.pipelines.conftest import Bench
from tests.support.texts import article, changed, text

SHORT = article(1, 300)
LONG = {"url": "http://b/long", "text": text(article(2, 900) + SHORT + article(3, 900))}


async def test_both_are_tagged(open_bench: Callable[..., Any]) -> None:
    """The tag names the other page and the share; other pages have no such keys."""
    bench: Bench = await open_bench(containment=0.9)
    first = await bench.process({"url": "http://a/short", "text": text(SHORT)})
    assert "contains" not in first["dedup"]
    tag = (await bench.process(dict(LONG)))["dedup"]
    assert [one["url"] for one in tag["contains"]] == ["http://a/short"]
    assert tag["contains"][0]["share"] > 0.9
    assert bench.stats["dedup/contains"] == 1
    assert bench.stats["dedup/contained_in"] == 0


async def test_a_contained_page_is_dropped_where_that_is_asked_for(
    open_bench: Callable[..., Any],
) -> None:
    """The index forgets it: its copies are dropped like it, and it is kept when nothing has it."""
    bench: Bench = await open_bench(containment=0.9, drop="exact,near,contained")
    await bench.process(dict(LONG))
    for url, words in (("http://a/short", SHORT), ("http://a/copy", changed(SHORT, 1))):
        with pytest.raises(ContainedPage, match=rf"contained: '{url}' in 'http://b/long', share "):
            await bench.process({"url": url, "text": text(words)})
    assert bench.stats["dedup/dropped/contained"] == 2
    copy = text(changed(LONG["text"].split(), 2))
    with pytest.raises(NearDuplicate):
        await bench.process({"url": "http://b/copy", "text": copy})
    index = bench.pipeline.crawl.opened
    assert index is not None
    await index.override("http://a/short", "keep")
    kept = await bench.process({"url": "http://a/short", "text": text(SHORT)})
    assert kept["dedup"]["kind"] == "unique"
    await index.override("http://a/short", None)
    await index.forget("http://a/short")
    await index.forget("http://b/long")
    kept = await bench.process({"url": "http://a/short", "text": text(SHORT)})
    assert kept["dedup"]["kind"] == "unique"


def test_a_drop_without_the_setting() -> None:
    """It would drop nothing, and says so."""
    with pytest.raises(ConfigError, match="DEDUP_CONTAINMENT"):
        DedupConfig(drop="contained")
