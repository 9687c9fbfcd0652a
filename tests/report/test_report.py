"""The report in a real browser: harmless, readable everywhere, and quick with many pages."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pytest
from playwright.sync_api import Browser

from crawler.dedup import DedupConfig, DuplicateIndex
from crawler.dedup.archive.archived_pages import Archive
from crawler.dedup.inspection import HostCounts
from crawler.dedup.sketches.odd import OddSketch
from crawler.dedup.store.statistics import IndexStats
from crawler.report import content
from crawler.report.content import Limits, read_content
from crawler.report.html_file import render_report
from crawler.report.survey import ClusterPage, Survey
from tests.conftest import wait_until
from tests.report.browser import DESKTOP, PHONE, Visit, visit
from tests.report.pages import ATTACKS, fill, hostile_pages, run, write_report
from tests.support.texts import article, changed, text

WORDS = article(1)
THREE = [
    ("https://a.example/story", text(WORDS), "The story"),
    ("https://b.example/story", text(changed(WORDS, 5)), "The same story"),
    ("https://b.example/print", text(WORDS), "The story, to print"),
]


def open_all(seen: Visit) -> None:
    """Unfold everything, also what is within, and wait until it is there."""
    unfold = "() => document.querySelectorAll('details').forEach((one) => { one.open = true; })"
    is_full = "() => !document.querySelector('details[open] > summary:only-child')"
    for _ in range(2):
        seen.page.evaluate(unfold)
        wait_until(lambda: seen.page.evaluate(is_full))


@pytest.fixture
def hostile(config: DedupConfig, tmp_path: Path) -> str:
    fill(config, hostile_pages())
    return write_report(config, tmp_path / "report.html")


def test_hostile_pages_do_nothing(browser: Browser, hostile: str) -> None:
    """Nothing that stands in texts, titles, addresses or hosts runs, and nothing is asked for."""
    with visit(browser) as seen:
        seen.page.goto(hostile)
        open_all(seen)
        seen.page.fill("#filter", "<script>")
        open_all(seen)
        assert seen.page.evaluate("() => window.hacked") is None
        assert seen.page.locator("script").count() == 2
        assert seen.page.locator("img, iframe, main style, main svg[onload]").count() == 0
        hrefs = seen.page.evaluate("() => [...document.links].map((one) => one.href)")
        assert all(href.startswith(("http://", "https://", hostile + "#")) for href in hrefs)
        assert seen.requests == [hostile]
        assert seen.complaints == []
        shown = seen.page.inner_text("main")
    for attack in ATTACKS[:7]:
        assert attack in shown
    assert not set("\x00\x1b\u202e\u2066\ufeff\u2028") & set(shown)
    assert "\\u202e" in shown


def test_hostile_pages_are_all_there(browser: Browser, hostile: str) -> None:
    """The report of hostile pages is complete: their texts stand side by side."""
    with visit(browser) as seen:
        seen.page.goto(hostile)
        assert seen.page.locator("#near > details").count() == len(ATTACKS)
        open_all(seen)
        assert seen.page.locator("#near .sides").count() == len(ATTACKS)
        assert seen.page.locator("#near del").count() >= len(ATTACKS)


@pytest.mark.parametrize("pages", [0, 3])
def test_looks(browser: Browser, config: DedupConfig, tmp_path: Path, pages: int) -> None:
    """Fits the window, every text has contrast, and the tabulator key reaches every control."""
    fill(config, THREE[:pages])
    address = write_report(config, tmp_path / "report.html")
    with visit(browser) as seen:
        seen.page.goto(address)
        open_all(seen)
        assert seen.flaws() == []
        levels = seen.page.evaluate(
            "() => [...document.querySelectorAll('h1, h2, h3')].map((one) => +one.tagName[1])"
        )
        assert levels[0] == 1
        assert all(after - before <= 1 for before, after in pairwise(levels))
        assert seen.page.locator("main").count() == 1
        assert seen.page.locator("html[lang=en]").count() == 1
        if pages:
            assert "5 similar" not in seen.page.inner_text("#near")
            assert seen.page.locator("#near del").count() == 5
        else:
            assert "No page has been checked yet" in seen.page.inner_text("main")
        assert seen.complaints == []


def test_by_keyboard(browser: Browser, config: DedupConfig, tmp_path: Path) -> None:
    """Enter unfolds a decision; what is typed into the filter chooses clusters."""
    fill(
        config,
        [*THREE, *(("https://c.example/" + p, "one two three four five six", "") for p in "xy")],
    )
    address = write_report(config, tmp_path / "report.html")
    with visit(browser) as seen:
        page = seen.page
        page.goto(address)
        page.locator("#near summary").focus()
        page.keyboard.press("Enter")
        page.locator("#near .sides").wait_for()
        assert page.locator("#list > details").count() == 2
        page.locator("#filter").focus()
        page.keyboard.type("TO PRINT")
        assert page.locator("#list > details").count() == 1
        assert page.inner_text("#count") == "1 of 2 clusters"
        page.keyboard.press("Enter")  # sends no form
        assert page.url == address
        page.keyboard.press("Control+A")
        page.keyboard.type("nowhere")
        assert page.inner_text("#count") == "0 of 2 clusters"


def test_printed_and_without_scripts(browser: Browser, config: DedupConfig, tmp_path: Path) -> None:
    """On paper all is unfolded and no control shows; without JavaScript the figures are there."""
    fill(config, THREE)
    address = write_report(config, tmp_path / "report.html")
    with visit(browser) as seen:
        seen.page.goto(address)
        seen.page.emulate_media(media="print")
        unfolded = seen.page.evaluate(
            "() => { dispatchEvent(new Event('beforeprint'));"
            " return document.querySelectorAll('#near .sides, #list .members .sides').length; }"
        )
        assert unfolded == 2
        assert not seen.page.locator("#filter").is_visible()
        assert len(seen.page.pdf()) > 10_000
    with visit(browser, java_script_enabled=False) as seen:
        seen.page.goto(address)
        shown = seen.page.inner_text("main")
        assert "need JavaScript" in shown
        assert "a.example" in shown


def synthetic(copies: int, clusters: int) -> Survey:
    """As many copies in as many clusters, the first the largest."""
    day = datetime(2026, 1, 1, tzinfo=UTC)
    found: dict[int, list[ClusterPage]] = {}
    for number in range(copies):
        cluster = number // 2 % (clusters if number % 2 else 97)
        similarity = 0.8 + number * 7919 % 2000 / 10_000
        kind = "near" if number % 3 else "exact"
        page = ClusterPage(
            f"https://host{number % 500}.example/page/{number}", cluster, kind,
            similarity if number % 3 else 1.0, similarity - 0.02, similarity + 0.02, 500, day, day,
        )  # fmt: skip
        found.setdefault(cluster, []).append(page)
    for pages in found.values():
        pages.sort(key=lambda page: page.similarity)
    near = sorted(
        (page for pages in found.values() for page in pages if page.kind == "near"),
        key=lambda page: page.similarity,
    )
    sizes = Counter({number: len(pages) + 1 for number, pages in found.items()})
    hosts = {
        name: HostCounts(name, pages=150 + 2 * i, kept=100 + i, exact=50, near=i)
        for i, name in enumerate(f"host{n}.example" for n in range(500))
    }
    return Survey(near, found, sizes, 0, day, hosts=hosts)


class SyntheticIndex:
    """What a report asks an index for."""

    config = DedupConfig()

    async def overrides(self) -> dict[str, str]:
        return {}

    async def sample(self, pages: int) -> list[OddSketch]:
        return []

    async def stats(self) -> IndexStats:
        histogram = {f"{0.8 + i / 100:.2f}": 1000 + 37 * i for i in range(20)}
        counts = {"unique": 60_000, "near": 26_000, "exact": 14_000}
        return IndexStats("large", counts, {}, histogram, 100_000, 60_000, 10**8, 450.0, {})


def test_100_000_pages(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file stays small, says what it leaves out, and lays out only what is looked at."""
    survey = synthetic(40_000, 9_000)
    for number, similarity in enumerate(
        (0.79964, 0.79998)
    ):  # below .8, as are not to be seen at it
        survey.near[number] = survey.near[number]._replace(similarity=similarity)

    async def take_survey(index: Any) -> Survey:
        return survey

    async def kept_pages(index: Any, numbers: Any) -> dict[int, ClusterPage]:
        return {n: survey.clusters[n][0]._replace(kind="unique") for n in numbers}

    monkeypatch.setattr(content, "take_survey", take_survey)
    monkeypatch.setattr(content, "kept_pages", kept_pages)

    async def read() -> dict[str, Any]:
        with Archive.open(tmp_path / "none") as archive:
            index = cast(DuplicateIndex, SyntheticIndex())
            return await read_content(index, archive, Limits(clusters=5000))

    found = run(read())
    path = tmp_path / "report.html"
    path.write_text(render_report(found, DedupConfig()), encoding="utf-8")
    assert path.stat().st_size < 10_000_000
    with visit(browser) as seen:
        page = seen.page
        page.goto(path.as_uri())
        assert page.evaluate("() => document.querySelectorAll('*').length") < 3000
        assert page.locator("#list > details").count() == 25
        assert page.locator("#near > details").count() == 10
        similar = [one[:4] for one in page.locator("#near > details .lead").all_inner_texts()]
        assert similar[:3] == ["79.9", "79.9", "80.0"]
        page.click("#more-near")
        assert page.locator("#near > details").count() == 20
        assert "lists 5,000 of" in page.inner_text("#summary")
        page.click("#more")
        assert page.locator("#list > details").count() == 50
        assert page.evaluate("() => document.activeElement.tagName") == "SUMMARY"
        page.select_option("#order", "size")
        first = page.locator("#list .lead").first.inner_text()
        assert first == f"{max(survey.sizes.values()):,} pages"
        page.locator("#list summary").first.click()
        page.locator("#list .members").wait_for()
        assert page.locator("#list .members > li").count() == 31
        page.fill("#filter", survey.near[0].url)
        assert page.inner_text("#count") == "1 of 5,000 clusters"
        for width, height in (DESKTOP, PHONE):
            page.set_viewport_size({"width": width, "height": height})
            assert not seen.overflows()
        assert seen.complaints == []
