"""What people decide on the web page is kept and obeyed."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser

from crawler.dedup import DedupConfig, DuplicateIndex
from crawler.dedup.archive.database import archive_path
from crawler.report.web.guard import form_token
from tests.report.browser import visit
from tests.report.pages import fill, run, write_report
from tests.report.serving import TOKEN, Served, served
from tests.report.test_report import THREE
from tests.report.web.visitor import COPY, enter, overrides
from tests.support.texts import article, changed, text


def test_decisions_are_kept_and_obeyed(browser: Browser, config: DedupConfig, site: Served) -> None:
    """Who overrules a verdict sees it noted; the next check obeys, until it is taken back."""

    async def check() -> str:
        async with DuplicateIndex.open(config) as index:
            return str((await index.check(COPY, text(changed(article(1), 6)))).kind)

    with visit(browser) as seen:
        enter(seen, site, "/decisions")
        seen.follow("a.lead")
        assert seen.page.locator("del").count() == 5
        seen.follow("text=Override: keep it")
        assert "from its next check on, this page is kept" in seen.page.inner_text("main")
        assert overrides(config) == {COPY: "keep"}
        assert run(check()) == "updated"
        seen.page.goto(site.root + "/overrides")
        seen.follow("main li a")
        seen.follow("text=Remove the override")
        assert "the text decides again" in seen.page.inner_text("main")
        assert overrides(config) == {}
        assert seen.complaints == []


def test_a_page_that_is_gone_is_said_to_be(config: DedupConfig, site: Served) -> None:
    """Whoever looks at a page sees that it is gone, and since when; of others nothing is said."""
    path = f"/page?url={THREE[0][0]}"
    assert "gone from the web" not in site.read(path).text

    async def gone() -> None:
        async with DuplicateIndex.open(config) as index:
            await index.gone(THREE[0][0])

    run(gone())
    said = site.read(path).text
    assert re.search(r"gone from the web</strong>, since \d{4}-\d\d-\d\d \d\d:\d\d UTC", said)
    assert "It stands for its copies until" in said


def test_what_is_said_of_a_wish_to_drop(config: DedupConfig, site: Served, tmp_path: Path) -> None:
    """A page that no kept one is like is kept though somebody wants it dropped: nothing promises
    more."""
    form = {"form": form_token(TOKEN), "url": COPY, "decision": "drop"}
    answer = site.read("/override", method="POST", form=form, Origin=site.root)
    write_report(config, tmp_path / "report.html")
    noted = site.read(answer.headers["location"]).text
    assert "is a copy, if another kept page shares a band with it." in noted
    listed, report = site.read("/overrides").text, (tmp_path / "report.html").read_text("utf-8")
    for said in (noted, listed, report):
        assert "shares a band with it, it is kept all the same." in said
    assert '<span class="lead">drop</span>' in listed


def test_prefer(browser: Browser, config: DedupConfig, site: Served) -> None:
    """A click makes a copy the page that is kept, and the other its copy."""
    with visit(browser) as seen:
        enter(seen, site, f"/page?url={COPY}")
        seen.follow("text=Prefer: keep this page")
        assert "now stands for its cluster" in seen.page.inner_text("main")
        assert seen.page.locator("text=Prefer: keep").count() == 0
        seen.page.goto(site.root + "/page?url=https://a.example/story")
        assert f"It is a copy of {COPY}" in seen.page.inner_text("main")


@pytest.mark.parametrize("end", ["a\nb", "\x00", "%41+b c", "\U0001f989" * 1900])
def test_buttons_of_a_page_with_a_strange_url(
    browser: Browser, config: DedupConfig, end: str
) -> None:
    """The decision is about the very address that the index has, whatever a browser makes of it."""
    config = replace(config, canonical_urls=False)
    fill(config, [THREE[0], (COPY + end, *THREE[1][1:])])
    with served(config) as site, visit(browser) as seen:
        enter(seen, site, "/page?" + urlencode({"url": COPY + end}))
        seen.follow("text=Override: keep it")
        assert "from its next check on, this page is kept" in seen.page.inner_text("main")
        assert overrides(config) == {COPY + end: "keep"}
        seen.follow("text=Prefer: keep this page")
        assert "now stands for its cluster" in seen.page.inner_text("main")
        assert seen.complaints == []


def test_prefer_without_a_text(site: Served, config: DedupConfig) -> None:
    """Without the text in the archive, or of a page that is kept, nothing is preferred."""
    kept = {"form": form_token(TOKEN), "url": THREE[0][0]}
    assert site.read("/prefer", method="POST", form=kept, Origin=site.root).status == 400
    archive_path(config).unlink()
    answer = site.read("/prefer", method="POST", form={**kept, "url": COPY}, Origin=site.root)
    assert answer.status == 400
    assert "scrapy dedup override … prefer --fetch" in answer.text
    assert "Prefer: keep" not in site.read(f"/page?url={COPY}").text
