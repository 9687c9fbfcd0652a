"""Syndicated articles as stories."""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.examples.conftest import Played

EXAMPLE = "news"


def test_outputs(played: Played, assert_as_shown: Callable[[Played], None]) -> None:
    """The README shows what is printed."""
    assert_as_shown(played)


def test_each_story_stands_once(played: Played) -> None:
    """All versions of a story, those cut by half too, are one group, and nothing else is in it."""
    groups: dict[int, set[str]] = {}
    for line in (played.folder / "clusters.jsonl").read_text().splitlines():
        row = json.loads(line)
        groups.setdefault(row["cluster"], set()).add(row["id"].rpartition("/")[2])
    assert all(len(names) == 1 for names in groups.values())
    assert len(groups) == 15
