"""What the web page says of other thresholds, of texts and of pages that contain others."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from html import unescape

import pytest
from playwright.sync_api import Browser, Route

from crawler.dedup import DedupConfig, DuplicateIndex, Kind
from crawler.report.web import view
from crawler.report.web.guard import form_token
from tests.report.browser import visit
from tests.report.pages import fill, run
from tests.report.serving import TOKEN, served
from tests.report.web.visitor import enter
from tests.support.texts import article, changed, text


def test_slider(browser: Browser, config: DedupConfig) -> None:
    """The slider shows, without loading the page anew, which decisions a threshold would change."""
    words = article(1, 1200)
    copies = [(f"https://{n}.example/", text(changed(words, n)), "") for n in (0, 2, 4, 8)]
    fill(config, copies)
    with served(config) as site, visit(browser) as seen:
        enter(seen, site, "/threshold")
        assert "0 of 3 near-duplicates" in seen.page.inner_text("#changes")
        seen.page.evaluate("() => { window.same = true; }")
        seen.page.focus("#t")
        seen.page.keyboard.press("End")
        seen.page.locator("text=3 of 3 near-duplicates").wait_for()
        similarities = seen.page.locator("#changes a.lead").all_inner_texts()
        assert similarities == sorted(similarities, reverse=True)
        assert seen.page.evaluate("() => window.same")
        assert "t=1" in seen.page.url
        seen.page.reload()
        assert "3 of 3 near-duplicates" in seen.page.inner_text("#changes")


KEPT = [
    ("https://one.example/", text(article(1, 300)), "One"),
    ("https://two.example/", text(changed(article(1, 300), 12)), "Two"),
    ("https://other.example/", text(article(2, 300)), "Other"),
]


def test_slider_that_is_answered_late(browser: Browser, config: DedupConfig) -> None:
    """An answer that comes after that to a later question is not shown."""
    fill(config, KEPT)
    with served(config) as site, visit(browser) as seen:
        enter(seen, site, "/threshold")
        held: list[Route] = []
        seen.page.route("**/threshold?t=0.805", lambda route: held.append(route))
        seen.page.focus("#t")
        with seen.page.expect_request("**/threshold?t=0.805"):
            seen.page.keyboard.press("ArrowRight")
        seen.page.keyboard.press("ArrowRight")
        seen.page.locator("#changes", has_text="0.810").wait_for()
        with seen.page.expect_response("**/threshold?t=0.805") as answer:
            held[0].continue_()
        answer.value.finished()
        seen.page.wait_for_timeout(200)
        assert "0.810" in seen.page.inner_text("#changes")


def test_lower_threshold_and_stories(browser: Browser, config: DedupConfig) -> None:
    """To the left of the threshold the slider shows which kept pages would be copies of which; the
    same pages are a story at that similarity."""
    config = replace(config, seed=7)  # which pairs share a band depends on it
    fill(config, KEPT)
    with served(config) as site, visit(browser) as seen:
        enter(seen, site, "/threshold")
        seen.page.focus("#t")
        seen.page.keyboard.press("Home")
        seen.page.locator("text=1 of 3 kept pages would be a copy").wait_for()
        assert "to https://one.example/" in seen.page.inner_text("#changes")
        assert "the bands of this index find" in seen.page.inner_text("#changes")
        seen.page.goto(site.root + "/stories?t=0.5")
        assert "1 story of several pages among 3" in seen.page.inner_text("#changes")
        links = seen.page.locator("#changes li li a").all_inner_texts()
        assert links == [KEPT[0][0], KEPT[1][0]]
        seen.page.focus("#t")
        seen.page.keyboard.press("End")
        seen.page.locator("text=0 stories").wait_for()
        assert seen.page.url.startswith(site.root + "/stories?t=0.79")
        assert seen.complaints == []


def test_too_many_to_compare(config: DedupConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    """More kept pages than can be compared while somebody waits are not, and a command is named."""
    fill(config, KEPT)
    monkeypatch.setattr(view, "MOST_COMPARED", 2)
    monkeypatch.setattr(view, "read_stories", None)  # whoever calls it fails
    with served(config) as site:
        assert "scrapy dedup rethreshold 0.7</code>" in site.read("/threshold?t=0.7").text
        assert "scrapy dedup clusters --story 0.5</code>" in site.read("/stories?t=0.5").text


def test_nearest_of_a_text(browser: Browser, config: DedupConfig) -> None:
    """Who looks for an address that was never seen can give its text and gets the nearest pages."""
    fill(config, KEPT)
    with served(config) as site, visit(browser) as seen:
        enter(seen, site, "/search?q=https://new.example/")
        assert "scrapy dedup show --why --fetch" in seen.page.inner_text("main")
        for words, said in (
            (text(changed(article(1, 300), 2)), "would be a copy"),
            (text(article(9)), "No kept page shares a band"),
            ("two words", "too short to compare"),
        ):
            seen.page.fill("#text", words)
            seen.follow("text=Find the nearest")
            assert said in seen.page.inner_text("main")
            if said == "would be a copy":
                assert seen.page.locator("main li bdi.url").first.inner_text() == KEPT[0][0]
        assert seen.page.input_value("#q") == "https://new.example/"
        assert seen.complaints == []


def test_pages_that_contain_others_are_named(config: DedupConfig) -> None:
    """On their own pages, and where a text is asked for, which is no copy of what contains it."""
    config = replace(config, containment=0.9)
    short, long = text(article(1, 300)), text(article(2, 500) + article(1, 300))
    a, b = "https://a.example/", "https://b.example/"
    fill(config, [(a, short, "Short"), (b, long, "Long")])
    asked = text(changed(article(1, 300), 1)) + text(article(3, 200))
    with served(config) as site:
        shown = site.read(f"/page?url={b}").text
        assert a in shown.partition("It contains</p>")[2]
        assert "It is contained in</p>" in site.read(f"/page?url={a}").text
        for words, said, is_there in (
            (asked, "would be no copy", "It contains</p>"),
            (short, "would be a copy", "It is contained in</p>"),
        ):
            form = {"form": form_token(TOKEN), "text": words}
            found = site.read("/nearest", method="POST", form=form, Origin=site.root).text
            assert said in found
            assert is_there in found


def test_find_for_programs(config: DedupConfig) -> None:
    """A program that has the token sends a text or HTML and gets what `find --json` prints."""
    fill(config, KEPT)
    words = text(changed(article(1, 300), 2))
    run(check_copy(config, words))
    with served(config) as site:
        ask = partial(site.send, Authorization=f"Bearer {TOKEN}")
        found = json.loads(ask("/find", words, Content_Type="text/plain").text)
        assert [(one["url"], one["kind"]) for one in found] == [
            ("https://copy.example/", "exact"),
            (KEPT[0][0], "near"),
        ]
        html = f"<p>{words}</p>"
        kept = ask("/find?limit=1&copies=0", html, Content_Type="text/html").text
        assert json.loads(kept) == found[1:]
        assert json.loads(ask("/find?threshold=1&copies=0", words).text) == []
        for wrong, said in [
            ("threshold=80", "threshold expects a number above 0 and up to 1, not '80'"),
            ("limit=x", "limit expects a whole number from 1"),
            ("copies=no", "copies expects a whole number from 0 to 1, not 'no'"),
            ("treshold=.5", "There is no 'treshold'; known: copies, limit, scope, threshold, url"),
        ]:
            answer = ask(f"/find?{wrong}", words)
            assert answer.status == 400
            assert said in unescape(answer.text)
        assert ask("/find", "x" * 3_000_001).status == 413
        assert ask("/find", words, Origin="http://evil.example").status == 403
        assert site.send("/find", words, Cookie=f"dedup-{site.port}={TOKEN}").status == 403


def test_find_in_a_scope(config: DedupConfig) -> None:
    """A text is looked for in the scope that is named, or in that of a URL."""
    config = replace(config, scope="host")
    fill(config, KEPT)
    with served(config) as site:
        ask = partial(site.send, body=KEPT[0][1], Authorization=f"Bearer {TOKEN}")
        answer = ask("/find")
        assert answer.status == 400
        assert "--scope" in answer.text
        found = [json.loads(ask(f"/find?{where}").text) for where in (
            "scope=one.example", "url=https://one.example/x", "scope=two.example"
        )]  # fmt: skip
        assert [[one["url"] for one in some] for some in found] == [[KEPT[0][0]]] * 2 + [[]]


async def check_copy(config: DedupConfig, words: str) -> None:
    async with DuplicateIndex.open(config) as index:
        assert (await index.check("https://copy.example/", words)).kind is Kind.NEAR
