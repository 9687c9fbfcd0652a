"""`scrapy dedup find`: the pages of the index that a document is like."""

from __future__ import annotations

import asyncio
import io
import json
from pathlib import Path

import pytest

from crawler.commands.subcommands import Exit
from crawler.dedup import DedupConfig, DuplicateIndex
from tests.support.texts import article, changed, text

WORDS = article(1, 300)
WHAT = b"some other words that nobody wrote"
PAGES = [
    ("http://a.example/1", text(WORDS)),
    ("http://b.example/1", text(WORDS)),
    ("http://c.example/1", text(changed(WORDS, 3, 1))),
    ("http://a.example/2", text(article(2))),
]


def test_what_is_like_a_file(dedup, fill, tmp_path: Path) -> None:
    """Originals and copies, as objects and as lines."""
    fill(PAGES)
    page = tmp_path / "page.html"
    page.write_text(f"<p>{text(WORDS)}</p>")
    code, out, _ = dedup("find", str(page), "--json")
    found = json.loads(out)
    assert code == Exit.FOUND
    assert [one["url"] for one in found] == [url for url, _ in PAGES[:3]]
    assert [one["kind"] for one in found] == ["exact", "exact", "near"]
    names = ["url", "similarity", "low", "high", "containment", "kind", "duplicate_of"]
    assert all(list(one) == names for one in found)
    _, out, _ = dedup("find", str(page), "--limit", "1", "--kept")
    assert out.splitlines()[1].split("\t")[:6] == ["1.0000"] * 4 + ["exact", PAGES[0][0]]
    _, out, _ = dedup("find", str(page), "--threshold", "0.99", "--json")
    assert [one["kind"] for one in json.loads(out)] == ["exact", "exact"]


def test_what_is_like_nothing(dedup, fill, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 1, an empty list, and a sentence."""
    fill(PAGES)
    for words in (["--json"], []):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(WHAT)))
        code, out, err = dedup("find", "-", *words)
        assert (code, out.strip()) == (Exit.NOTHING, "".join(words and "[]"))
        assert err == "scrapy dedup: no page of the index resembles '-'\n"


def test_scopes(dedup, redis_url: str, tmp_path: Path) -> None:
    """Commands that take a text take its scope where no URL tells it."""
    words = text(changed(WORDS, 1, 1))

    async def fill() -> None:
        config = DedupConfig(redis_url=redis_url, scope="tenant")
        async with DuplicateIndex.open(config) as index:
            for tenant in ("red", "blue"):
                pages = enumerate((text(WORDS), words))
                urls = ((f"http://a.example/{tenant}/{number}", one) for number, one in pages)
                await index.check_many(urls, scope=tenant)

    asyncio.run(fill())
    asked = tmp_path / "asked.txt"
    asked.write_text(words)
    field = ["-s", "DEDUP_SCOPE=tenant"]
    _, out, _ = dedup("find", str(asked), "--scope", "red", "--json", *field)
    found = {one["url"] for one in json.loads(out)}
    assert found == {f"http://a.example/red/{number}" for number in (0, 1)}
    code, _, err = dedup("find", str(asked), *field)
    assert (code, "'tenant'" in err) == (Exit.USAGE, True)
    url = "http://a.example/red/1"
    why = ["show", "--why", url, "--text", str(asked), "--json", *field]
    assert json.loads(dedup(*why, "--scope", "red")[1])["bands_met"] > 0
    assert json.loads(dedup(*why)[1])["bands_met"] is None
    prefer = ["override", url, "prefer", "--text", str(asked), "--json", *field]
    assert dedup(*prefer)[0] == Exit.USAGE
    found = json.loads(dedup(*prefer, "--scope", "red")[1])
    assert found["replaces"] == "http://a.example/red/0"
