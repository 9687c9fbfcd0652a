"""Other extractors in this one's place, and pages that come parsed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest
from lxml import etree, html
from resiliparse.extract.html2text import extract_plain_text

from crawler.chrome import parse, strip_chrome
from crawler.dedup import ConfigError, DedupConfig
from crawler.pipelines import ChromePipeline

STORY = (
    "Tea is an aromatic drink, prepared by pouring hot water over cured leaves, and it is drunk "
    "everywhere in the world, hot or cold, with milk or without."
)
HTML = (
    "<!doctype html><html><head><title>Tea</title></head><body><nav><ul><li><a href=/>Home</a>"
    f"<li><a href=/shop>Shop</a></ul></nav><main><p>{STORY}</p><p>{STORY[::-1]}</p></main>"
)
TREE = etree.HTML(HTML)


def resiliparse(page: str) -> str:
    text: str = extract_plain_text(page, main_content=True)
    return text


@dataclass
class Item:
    html: Any
    text: str = ""
    title: str = ""


def pipeline_of(stats: Counter[str], **settings: Any) -> ChromePipeline:
    return ChromePipeline(DedupConfig(**settings), lambda name: stats.update([name]))


@pytest.mark.parametrize("extractor", ["trafilatura.extract", resiliparse])
async def test_their_text_is_the_items(extractor: Any) -> None:
    """The text of trafilatura and of resiliparse takes the place of this package's own."""
    item = await pipeline_of(Counter(), extractor=extractor).process_item(Item(HTML))
    assert STORY in item.text
    assert "Shop" not in item.text
    assert item.title == ""  # which only this package's own finds


async def later(page: str) -> str:
    return STORY


@pytest.mark.parametrize("extractor", ["os.path", later, "tests.chrome.test_extractors.later"])
def test_what_cannot_be_called_is_refused(extractor: Any) -> None:
    """A module, or a function that has to be awaited, is an error at the start of the crawl."""
    with pytest.raises(ConfigError, match=r"DEDUP_EXTRACTOR .* is (not|a coroutine) "):
        pipeline_of(Counter(), extractor=extractor)


@pytest.mark.parametrize("found", [STORY.encode(), [STORY], object(), 7])
async def test_what_is_no_text_is_not_taken_for_one(found: Any) -> None:
    """The name of an object is the text of no page: all pages would be copies of one another."""
    stats: Counter[str] = Counter()
    item = await pipeline_of(stats, extractor=lambda page: found).process_item(Item(HTML))
    assert item.text == ""
    assert stats == {"dedup/errors/TypeError": 1}


async def test_this_packages_own_may_be_named_as_well() -> None:
    """What `strip_chrome` returns is a text with more to it."""
    item = await pipeline_of(Counter(), extractor=strip_chrome).process_item(Item(HTML))
    assert (item.text, item.title) == (strip_chrome(HTML).text, "Tea")


@pytest.mark.parametrize("page", [TREE, TREE.getroottree(), parse(HTML)])
async def test_a_parsed_page_is_not_parsed_again(
    page: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DEDUP_HTML_FIELD may hold a tree of lxml or a document; its text is that of its HTML."""
    wanted = strip_chrome(HTML)
    stats: Counter[str] = Counter()
    monkeypatch.setattr("crawler.chrome.extract.parse", None)
    item = await pipeline_of(stats).process_item(Item(page))
    assert (item.text, item.title, item.html) == (wanted.text, "Tea", page)
    assert not stats


async def test_a_tree_goes_to_another_extractor_as_it_is() -> None:
    """What the field holds is what the function gets."""
    tree = html.fromstring(HTML)
    item = await pipeline_of(Counter(), extractor="trafilatura.extract").process_item(Item(tree))
    assert STORY in item.text


async def test_a_document_is_only_for_this_packages_own() -> None:
    """Another extractor cannot read what `parse` returned: the item passes and is counted."""
    stats: Counter[str] = Counter()
    item = Item(parse(HTML))
    assert await pipeline_of(stats, extractor="trafilatura.extract").process_item(item) is item
    assert item.text == ""
    assert stats["dedup/wrong_type/html"] == 1


async def test_an_empty_tree() -> None:
    """A page without text has an empty one, parsed or not."""
    for page in (etree.HTML("<p>"), etree.ElementTree(etree.Element("p")), parse("")):
        assert (await pipeline_of(Counter()).process_item(Item(page))).text == ""
