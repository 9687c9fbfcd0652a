"""Other extractors in this one's place, and pages that come parsed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest
from lxml import etree, html
from resiliparse.extract.html2text import extract_plain_text

from crawler.chrome import parse, strip_chrome
from crawler.dedup import DedupConfig
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
