"""What a second and a third crawl cost the search engine."""

from __future__ import annotations

import re
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scrapy import signals
from scrapy.utils.test import get_crawler
from tantivy import Index, Query

from crawler.dedup import DedupConfig, Kind, Verdict
from crawler.items import Page
from crawler.pipelines.dropping import drop_reason
from tests.examples.conftest import Played
from tests.support.markdown import ROOT

EXAMPLE = "recrawl"


def test_outputs(played: Played, assert_as_shown: Callable[[Played], None]) -> None:
    """Unchanged pages are skipped, changed ones indexed again: as the README shows."""
    assert_as_shown(played)


def test_a_page_that_moved_is_found_at_its_new_url_only(played: Played) -> None:
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


def crawl(*pages: tuple[str, str, dict[str, Any]]) -> dict[str, str]:
    """What the engine has, by URL, when it was fed with pages, their texts and verdicts."""
    engine = runpy.run_path(str(ROOT / "examples" / EXAMPLE / "indexer.py"))["IndexPipeline"]
    crawler = get_crawler()
    pipeline = engine.from_crawler(crawler)
    pipeline.open_spider()
    for url, text, tag in pages:
        item = Page(url, "", 200, text=text, dedup=tag)
        verdict = Verdict(**{"url": url, **tag, "kind": Kind(tag["kind"])})
        if reason := drop_reason(verdict, DedupConfig().drop):
            crawler.signals.send_catch_log(signals.item_dropped, item=item, exception=reason)
        else:
            pipeline.process_item(item)
    pipeline.close_spider()
    searcher = pipeline.index.searcher()
    found = (searcher.doc(place) for _, place in searcher.search(Query.all_query(), 99).hits)
    return {page["url"][0]: page["text"][0] for page in found}


UNIQUE, UPDATED = {"kind": "unique"}, {"kind": "updated"}
X, Y, Z = (f"https://example.com/{name}" for name in "xyz")


def copy_of(url: str) -> dict[str, Any]:
    return {"kind": "exact", "duplicate_of": url}


def test_a_page_that_became_a_copy_leaves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a page that is dropped the text that it had before is no longer found."""
    monkeypatch.chdir(tmp_path)
    moved = {"kind": "unique", "replaces": "https://example.com/?a=1&b=2"}
    pages = (X, "one", UNIQUE), ("https://example.com/?b=2&a=1", "two", UNIQUE), (Y, "two", moved)
    assert crawl(*pages, (X, "two", copy_of(Y))) == {Y: "two"}


def test_a_page_that_comes_twice_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is dropped the second time, and is no copy for that."""
    monkeypatch.chdir(tmp_path)
    again = {"kind": "repeated", "standing": Kind.UNIQUE}
    assert crawl((X, "one", UNIQUE), (X, "one", again)) == {X: "one"}


@pytest.mark.parametrize("became", [UPDATED, copy_of(Z)], ids=["updated", "copy"])
def test_the_last_copy_of_a_text_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, became: dict[str, Any]
) -> None:
    """Where a crawl meets a page that has changed, but not its copy that has not."""
    monkeypatch.chdir(tmp_path)
    crawl((X, "one", UNIQUE), (Y, "one", copy_of(X)), (Z, "two", UNIQUE))
    new = {X: "three"} if became is UPDATED else {}
    assert crawl((X, "three", became)) == {Y: "one", Z: "two", **new}
    # The copy comes, is kept in the filter's index too, and has moved on by the crawl after.
    assert crawl((Y, "one", UPDATED)) == {Y: "one", Z: "two", **new}
    assert crawl((Y, "four", UPDATED)) == {Y: "four", Z: "two", **new}
