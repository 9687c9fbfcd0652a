"""An ordinary project before and after three lines were added."""

from __future__ import annotations

import json
import re

import pytest

from tests.examples.conftest import Played

EXAMPLE = "existing_project"
STORIES, KEPT = 33, 17


@pytest.mark.parametrize("feed", ["dict_items", "dataclass_items", "own_text", "trafilatura"])
def test_one_page_of_each(played: Played, feed: str) -> None:
    """Whatever the items are and whoever takes the text out of a page, one of each is kept."""
    lines = (played.folder / f"{feed}.jsonl").read_text(encoding="utf-8").splitlines()
    items = [json.loads(line) for line in lines]
    assert len(items) == KEPT
    assert {item["dedup"]["kind"] for item in items} == {"unique"}


def test_no_spider_needs_more_than_three_lines(played: Played) -> None:
    """One line in the settings and up to three for each kind of item, those of its class too."""
    added = {
        path.name: len(re.findall("# added$", path.read_text(), re.MULTILINE))
        for path in played.folder.rglob("*.py")
    }
    assert added.pop("settings.py") == 1
    assert added.pop("items.py") + added["dataclass_items.py"] == 3
    assert max(added.values()) == 2


def test_without_those_lines_it_is_as_before(played: Played) -> None:
    """The project ran before, and kept every copy."""
    for path in played.folder.rglob("*.py"):
        lines = path.read_text().splitlines()
        path.write_text("\n".join(line for line in lines if not line.endswith("# added")) + "\n")
    for name in ("dict_items", "dataclass_items", "own_text"):
        played.run(f"python ../news_site scrapy crawl {name} -a url={{url}} -O before.jsonl")
        assert len((played.folder / "before.jsonl").read_text().splitlines()) == STORIES
