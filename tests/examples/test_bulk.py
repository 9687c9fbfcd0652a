"""The bulk files are what the search engines' manuals ask for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.examples.conftest import Played

EXAMPLE = "bulk"
PAGES = 33


# What a value of a field of the mapping is in JSON.
TYPES = {"keyword": str, "text": str, "boolean": bool}
LONGEST_TERM = 32_766  # bytes, of Lucene, which OpenSearch, Elasticsearch and Solr stand on


def refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def lines(path: Path) -> list[Any]:
    data = path.read_bytes()
    assert data.endswith(b"\n")
    return [json.loads(line, parse_constant=refuse) for line in data[:-1].split(b"\n")]


def values(document: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The values of each field, which may be a list."""
    for name, value in document.items():
        yield from ((name, one) for one in (value if isinstance(value, list) else [value]))


@pytest.fixture
def documents(played: Played) -> list[dict[str, Any]]:
    return lines(played.folder / "meilisearch.ndjson")


def test_opensearch(played: Played) -> None:
    """Actions and documents take turns, each on one line, and the last line ends."""
    rows = lines(played.folder / "opensearch.ndjson")
    actions, sources = rows[::2], rows[1::2]
    assert len(actions) == len(sources) == PAGES
    for action in actions:
        assert list(action) == ["index"]
        assert action["index"].keys() == {"_index", "_id"}
        assert 0 < len(action["index"]["_id"].encode()) <= 512
    assert {action["index"]["_index"] for action in actions} == {"pages"}
    assert len({action["index"]["_id"] for action in actions}) == PAGES


def test_opensearch_mapping(played: Played) -> None:
    """Documents have the fields of the mapping, in their types; what is collapsed is a keyword."""
    recipe = (played.folder / "README.md").read_text()
    mapping = re.search(r"-d '(\{\"mappings\".*?)'\n", recipe, re.DOTALL)
    assert mapping is not None
    properties = json.loads(mapping[1])["mappings"]["properties"]
    assert properties["cluster"]["type"] == "keyword"
    for source in lines(played.folder / "opensearch.ndjson")[1::2]:
        assert source.keys() == properties.keys()
        for name, value in values(source):
            assert type(value) is TYPES[properties[name]["type"]], name
            if properties[name]["type"] == "keyword":
                assert 0 < len(value.encode()) <= LONGEST_TERM


def test_meilisearch(documents: list[dict[str, Any]]) -> None:
    """A document a line; keys of letters, digits, hyphens and underscores only."""
    assert len({document["id"] for document in documents}) == PAGES
    assert all(document.keys() == documents[0].keys() for document in documents)
    assert all(re.fullmatch(r"[\w-]{1,511}", document["id"], re.ASCII) for document in documents)


def test_solr(played: Played) -> None:
    """One array of flat documents; each name but the key's ends as a dynamic field does."""
    (rows,) = lines(played.folder / "solr.json")
    assert len({row["id"] for row in rows}) == PAGES
    assert all(len(row["cluster_s"].encode()) <= LONGEST_TERM for row in rows)
    assert all(
        name == "id" or (re.search("_(s|ss|b|txt_en)$", name) and isinstance(value, (str, bool)))
        for row in rows
        for name, value in values(row)
    )


def test_one_of_each_cluster_is_no_copy(documents: list[dict[str, Any]]) -> None:
    """Collapsing by cluster shows as many pages as dropping would have kept."""
    clusters = {document["cluster"] for document in documents}
    originals = [document["cluster"] for document in documents if not document["copy"]]
    assert len(clusters) == len(originals) == 17
    assert clusters == set(originals)


def test_additional_urls(documents: list[dict[str, Any]]) -> None:
    """A page and its copies name each other, and no page itself."""
    for document in documents:
        others = [
            one["url"]
            for one in documents
            if one["cluster"] == document["cluster"] and one["url"] != document["url"]
        ]
        assert document["additional_urls"] == others
    assert sum(bool(document["additional_urls"]) for document in documents) > 16
