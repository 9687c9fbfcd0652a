"""What a crawl knows of the templates of its sites, and whom it asks."""

from __future__ import annotations

import asyncio
import gc
import weakref
from pathlib import Path

import pytest
import scrapy
from scrapy.utils.test import get_crawler

from crawler.chrome import SharedTemplate
from crawler.pipelines import DuplicatePipeline
from crawler.pipelines.crawl import paused_file
from crawler.pipelines.templates import ask_of_templates, save_templates, site_template


class Others:
    """Those who know a template of one pair; they answer after a moment."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def ask(self, url: str, template: SharedTemplate) -> None:
        self.asked.append(url)
        await asyncio.sleep(0.01)
        template.take(0, bytes([0, 0, 0, 7]))


async def test_others_are_asked_once_for_each_site() -> None:
    """Pages that come together wait for one answer; later ones wait for none."""
    crawler, others = get_crawler(), Others()
    ask_of_templates(crawler, others.ask)
    pages = [f"https://{host}.example/{number}" for number in range(8) for host in "ab"]
    found = await asyncio.gather(*(site_template(crawler, page) for page in pages))
    found += [await site_template(crawler, page) for page in pages]
    assert [template.known for template in found if template] == [{7}] * len(pages) * 2
    assert others.asked == ["https://a.example/0", "https://b.example/0"]


async def test_nobody_need_be_there_to_be_asked() -> None:
    """A spider's crawl may be without the pipeline, and templates may be off."""
    template = await site_template(get_crawler(), "https://a.example/")
    assert template is not None
    assert template.known == frozenset()
    off = get_crawler(settings_dict={"DEDUP_TEMPLATES": False})
    assert await site_template(off, "https://a.example/") is None


@pytest.mark.skipif(scrapy.version_info < (2, 14), reason="this Scrapy itself holds crawlers")
async def test_a_crawl_that_is_over_is_forgotten() -> None:
    """A process may crawl for months, one crawler after the other."""
    crawler = get_crawler()
    pipeline = DuplicatePipeline.from_crawler(crawler)
    assert await site_template(crawler, "https://a.example/") is not None
    gone = weakref.ref(crawler)
    del crawler, pipeline
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("is_other", [False, True])
async def test_a_paused_crawl_leaves_its_templates(
    tmp_path: Path,
    is_other: bool,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """They are taken once, and only by the version that has left them."""
    settings, url = {"JOBDIR": str(tmp_path)}, "https://a.example/"
    before, after, later = (get_crawler(settings_dict=settings) for _ in range(3))
    template = await site_template(before, url)
    assert template is not None
    template.take(0, bytes([0, 0, 0, 7]))
    save_templates(before)
    if is_other:
        monkeypatch.setattr(paused_file, "__version__", "another")
    found = [await site_template(crawler, url) for crawler in (after, later)]
    assert [set(one.known) for one in found if one] == [set() if is_other else {7}, set()]
    assert ("has written it" in caplog.text) == is_other
