"""`scrapy dedup load` tells what it loaded and what it could not read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.offline import corpora

PAGES = corpora.pages(6)


def test_the_command_says_what_it_loaded(
    dedup: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    """Counts by verdict; lines that are no pages are counted, a damaged file is named."""
    good = corpora.write(tmp_path / "a.jsonl", PAGES)
    good.write_bytes(good.read_bytes() + b"no page\n")
    bad = corpora.write(tmp_path / "b.jsonl.gz", PAGES[:5])
    bad.write_bytes(bad.read_bytes()[:-10])
    folder = ("-s", f"DEDUP_DATA_DIR={tmp_path}")
    code, output, errors = dedup("load", str(tmp_path), "--json", *folder)
    found = json.loads(output)
    assert (code, found["unreadable"], found["damaged"]) == (0, 1, [str(bad)])
    assert len(PAGES) <= found["pages"] < len(PAGES) + 5
    assert "b.jsonl.gz" in errors
    code, _, errors = dedup("load", str(tmp_path / "nothing.jsonl"))
    assert (code, errors.count("\n")) == (2, 1)
