"""Pages that JavaScript writes, in a real browser."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.examples import __main__ as rewriting
from tests.examples.conftest import play
from tests.report.browser import CHROMIUM
from tests.support.markdown import ROOT


@pytest.mark.skipif(
    CHROMIUM is None, reason="there is no Chromium: apt install chromium-headless-shell"
)
def test_rendered_pages_differ(tmp_path: Path, installed: str) -> None:
    """Rendered, only the copy is dropped; without their scripts different pages are one."""
    played = play("playwright", tmp_path, installed)
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


def test_a_page_is_not_rewritten_with_what_failed(
    tmp_path: Path, installed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the browser is missing the README stays, and one says why."""
    monkeypatch.setenv("CHROMIUM", str(tmp_path / "no-browser"))
    monkeypatch.setattr(rewriting, "build_wheel", lambda folder: folder)
    monkeypatch.setattr(rewriting, "install_wheel", lambda wheel, folder: installed)
    readme = ROOT / "examples" / "playwright" / "README.md"
    before = readme.read_bytes()
    with pytest.raises(SystemExit, match=r"playwright/README.md is left as it was"):
        rewriting.main(["playwright"])
    assert readme.read_bytes() == before
