"""What a crawl leaves in the archive of texts, and that it costs no verdict."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest

from crawler.dedup import Kind
from crawler.dedup.archive.archived_pages import Archive
from crawler.dedup.archive.database import archive_path
from crawler.pipelines import DroppedPage
from tests.pipelines.stories import ARTICLE, OTHER

HTML = (
    "<title>On tea</title><nav><a href=/>Home</a> <a href=/cups>All of our cups</a></nav>"
    f"<main><p>{ARTICLE}</p></main>"
)


async def test_pages_are_archived(open_bench: Callable[..., Any]) -> None:
    """Kept pages and dropped ones are there with text, title, verdict and what was cut."""
    bench = await open_bench()
    await bench.process({"url": "https://a.example/", "html": HTML})
    with pytest.raises(DroppedPage):
        await bench.process({"url": "https://b.example/", "text": ARTICLE, "title": "Again"})
    await bench.pipeline.close_spider()
    with Archive.open(archive_path(bench.pipeline.config)) as archive:
        kept, copy = archive.page("https://a.example/"), archive.page("https://b.example/")
    assert kept is not None
    assert copy is not None
    assert ARTICLE in kept.text
    assert (kept.title, copy.title) == ("On tea", "Again")
    assert kept.verdict.kind is Kind.UNIQUE
    assert copy.verdict.duplicate_of == kept.url
    assert len(ARTICLE) <= kept.characters <= len(ARTICLE) + 40


@pytest.mark.parametrize("fault", ["file", "page"])
async def test_a_fault_of_the_archive_changes_no_verdict(
    open_bench: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    fault: str,
) -> None:
    """A file that cannot be written, or a page that cannot be archived, is one warning."""
    bench = await open_bench()
    if fault == "file":
        archive_path(bench.pipeline.config, bench.pipeline.crawl.opened.digest).mkdir(parents=True)
    else:
        monkeypatch.setattr(bench.pipeline.crawl.archive, "add", lambda *page: 1 / 0)
    with caplog.at_level(logging.WARNING):
        items = [
            await bench.process({"url": f"https://a.example/{n}", "text": text})
            for n, text in enumerate((ARTICLE, OTHER))
        ]
        await bench.pipeline.close_spider()
    assert [item["dedup"]["kind"] for item in items] == ["unique", "unique"]
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "DEDUP_ARCHIVE" in caplog.text


async def test_no_archive(open_bench: Callable[..., Any]) -> None:
    """With DEDUP_ARCHIVE 0 no text is kept anywhere."""
    bench = await open_bench(archive=0)
    await bench.process({"url": "https://a.example/", "text": ARTICLE})
    await bench.pipeline.close_spider()
    assert not archive_path(bench.pipeline.config).exists()
