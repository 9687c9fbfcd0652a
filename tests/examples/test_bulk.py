"""The bulk files are what the search engines' manuals ask for."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.examples.conftest import Played

EXAMPLE = "bulk"
PAGES = 33


def lines(path: Path) -> list[Any]:
    text = path.read_text(encoding="utf-8")
    assert text.endswith("\n")
    return [json.loads(line) for line in text[:-1].split("\n")]


@pytest.fixture
def documents(played: Played) -> list[dict[str, Any]]:
    return lines(played.folder / "meilisearch.ndjson")


def test_opensearch(played: Played) -> None:
    """Actions and documents take turns, each on one line, and the last line ends."""
    rows = lines(played.folder / "opensearch.ndjson")
    actions, sources = rows[::2], rows[1::2]
    assert len(actions) == len(sources) == PAGES
    assert all(list(action) == ["index"] for action in actions)
    assert len({action["index"]["_id"] for action in actions}) == PAGES
    assert all(len(action["index"]["_id"].encode()) <= 512 for action in actions)
    assert all(not key.startswith("_") for source in sources for key in source)


def test_opensearch_mapping(played: Played) -> None:
    """Every field is in the mapping, and what is collapsed is a keyword."""
    recipe = (played.folder / "README.md").read_text()
    mapping = re.search(r"-d '(\{\"mappings\".*?)'\n", recipe, re.DOTALL)
    assert mapping is not None
    properties = json.loads(mapping[1])["mappings"]["properties"]
    (source, *_) = lines(played.folder / "opensearch.ndjson")[1::2]
    assert properties.keys() == source.keys()
    assert properties["cluster"]["type"] == "keyword"


def test_meilisearch(documents: list[dict[str, Any]]) -> None:
    """A document a line; keys of letters, digits, hyphens and underscores only."""
    assert len(documents) == PAGES
    assert all(re.fullmatch(r"[\w-]{1,511}", document["id"], re.ASCII) for document in documents)


def test_solr(played: Played) -> None:
    """One array of flat documents; each name but the key's ends as a dynamic field does."""
    rows = json.loads((played.folder / "solr.json").read_text(encoding="utf-8"))
    assert len(rows) == PAGES
    assert all(
        name == "id" or (re.search("_(s|b|txt_en)$", name) and isinstance(value, (str, bool)))
        for row in rows
        for name, value in row.items()
    )


def test_one_of_each_cluster_is_no_copy(documents: list[dict[str, Any]]) -> None:
    """Collapsing by cluster shows as many pages as dropping would have kept."""
    clusters = {document["cluster"] for document in documents}
    originals = [document["cluster"] for document in documents if not document["copy"]]
    assert len(clusters) == len(originals) == 17
    assert clusters == set(originals)
