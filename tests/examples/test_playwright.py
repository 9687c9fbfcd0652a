"""Pages that JavaScript writes, in a real browser."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.examples.conftest import play

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed: apt install chromium")
def test_rendered_pages_differ(tmp_path: Path, installed: str) -> None:
    """Rendered, only the copy is dropped; without their scripts different pages are one."""
    played = play("playwright", tmp_path, installed, CHROMIUM=str(CHROMIUM))
    assert played.outputs[-1][1] == "2\n"
    lines = (played.folder / "rendered.jsonl").read_text().splitlines()
    texts = [json.loads(line)["text"] for line in lines]
    assert not [text for text in texts if "switch on JavaScript" in text]
    played.run(
        "python site.py scrapy crawl rendered -O plain.jsonl -s DOWNLOAD_HANDLERS={} "
        "-s DEDUP_NAMESPACE=plain -s CONCURRENT_REQUESTS=1 -a urls={url}/owls,{url}/bakery"
    )
    (line,) = (played.folder / "plain.jsonl").read_text().splitlines()
    assert "switch on JavaScript" in json.loads(line)["text"]
