"""What a second and a third crawl cost the search engine."""

from __future__ import annotations

import re
import runpy
from collections.abc import Callable
from pathlib import Path

import pytest
from scrapy import signals
from scrapy.utils.test import get_crawler
from tantivy import Index, Query

from crawler.items import Page
from tests.examples.conftest import Played
from tests.markdown import ROOT

EXAMPLE = "recrawl"


def test_outputs(played: Played, assert_as_shown: Callable[[Played], None]) -> None:
    """Unchanged pages are skipped, changed ones indexed again: as the README shows."""
    assert_as_shown(played)


def test_a_page_that_moved_is_found_at_its_new_address_only(played: Played) -> None:
    """The engine's index has the story once; the filter's says where it went."""
    index = Index.open(str(played.folder / "pages.index"))
    searcher = index.searcher()
    hits = searcher.search(index.parse_query('"oven that the whole street"', ["title"])).hits
    (found,) = [searcher.doc(place)["url"][0] for _, place in hits]
    assert found.endswith("/beacon/archive/bakery")
    ((_, output),) = [one for one in played.outputs if "dedup where" in one[0].commands]
    assert re.search(r"/beacon/bakery\" .*/beacon/archive/bakery", output)


def test_the_new_text_is_found(played: Played) -> None:
    """After the third crawl a search finds the rewritten story by its new words only."""
    index = Index.open(str(played.folder / "pages.index"))

    def found(words: str) -> int:
        return int(index.searcher().search(index.parse_query(words, ["text"])).count or 0)

    assert (found('"Petrel is fast"'), found('"large ferry goes"')) == (1, 1)
    assert found('"six times a day"') == 0


def test_a_page_that_became_a_copy_leaves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a page that is dropped the text that it had before is no longer found."""
    monkeypatch.chdir(tmp_path)
    engine = runpy.run_path(str(ROOT / "examples" / EXAMPLE / "indexer.py"))["IndexPipeline"]
    crawler = get_crawler()
    pipeline = engine.from_crawler(crawler)
    pipeline.open_spider()
    tag = {"kind": "unique", "replaces": None}
    moved = {"kind": "unique", "replaces": "https://example.com/?a=1&b=2"}
    pages = [Page(f"https://example.com/{path}", "", 200, dedup=tag) for path in ("x", "?b=2&a=1")]
    for page in (*pages, Page("https://example.com/y", "", 200, dedup=moved)):
        pipeline.process_item(page)
    crawler.signals.send_catch_log(signals.item_dropped, item=pages[0], spider=None)
    pipeline.close_spider()
    searcher = pipeline.index.searcher()
    hits = searcher.search(Query.all_query()).hits
    assert [searcher.doc(place)["url"] for _, place in hits] == [["https://example.com/y"]]
