"""What the web page shows of an index, in a browser."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser

from crawler.dedup import DedupConfig, DuplicateIndex
from crawler.dedup.store.namespaces import clear_index
from crawler.report.survey import Survey
from crawler.report.web import view
from crawler.report.web.guard import form_token
from tests.report.browser import PHONE, visit
from tests.report.pages import ATTACKS, fill, hostile_pages, run, write_report
from tests.report.serving import TOKEN, Served, served
from tests.report.test_report import THREE, synthetic
from tests.report.web.visitor import PATHS, enter, override
from tests.support.texts import article, changed, text


def test_hostile_pages_do_nothing(browser: Browser, config: DedupConfig) -> None:
    """No text, title, address or search of an attacker runs anywhere, and no request leaves."""
    pages = hostile_pages()
    fill(config, pages)
    with served(config) as site, visit(browser) as seen:
        enter(seen, site)
        seen.page.goto(site.root + "/decisions")
        addresses = seen.page.evaluate(
            "() => [...document.querySelectorAll('main a.lead')].map((one) => one.href)"
        )
        assert len(addresses) == len(ATTACKS)
        visited = [site.root + path for path in PATHS[:8]] + addresses
        for attack in ATTACKS[:7]:
            visited.append(site.root + "/search?" + "q=" + attack.replace("&", "%26"))
        shown = ""
        for address in visited:
            seen.page.goto(address)
            assert seen.page.evaluate("() => window.hacked") is None
            assert seen.page.locator("script").count() == 1
            assert seen.page.locator("main :is(img, iframe, style, svg[onload])").count() == 0
            hrefs = seen.page.evaluate("() => [...document.links].map((one) => one.href)")
            assert all(href.startswith("http") for href in hrefs)
            shown += seen.page.inner_text("main")
        assert all(attack in shown for attack in ATTACKS[:7])
        assert not set("\x00\x1b\u202e\u2066\ufeff\u2028") & set(shown)
        assert all(request.startswith(site.root) for request in seen.requests)
        assert seen.complaints == []


def test_looks(browser: Browser, site: Served) -> None:
    """Every page fits the window, has contrast, and is reached by the tabulator key."""
    with visit(browser) as seen:
        enter(seen, site)
        for path in PATHS[:-2]:
            seen.page.goto(site.root + path)
            seen.page.evaluate(
                "() => document.querySelectorAll('details').forEach((one) => { one.open = true; })"
            )
            assert seen.flaws() == [], path
            assert seen.page.locator("h1").count() == 1
        assert seen.complaints == []


def test_one_is_no_plural(browser: Browser, config: DedupConfig, tmp_path: Path) -> None:
    """What there is one of is counted in the singular, on the web page and in the report."""
    words = article(3, 300)
    kept, copy = "https://a.example/kept", "https://b.example/near"
    fill(config, [(kept, text(words), "T"), (copy, text([*words[:11], "other", *words[12:]]), "T")])
    plural = (
        r"(?<![\d.,])1 (?:\w+ )?(?:pages|words|decisions|near-duplicates|pairs|blocks|clusters)\b"
    )
    said = ""
    with served(config) as site, visit(browser) as seen:
        enter(seen, site, f"/page?url={copy}")
        seen.follow("text=Override: keep it")
        for path in (*PATHS[:8], f"/page?url={copy}", "/cluster/1"):
            seen.page.goto(site.root + path)
            said += seen.page.locator("main").text_content() or ""
        form = {"form": form_token(TOKEN), "text": "word"}
        said += site.read("/nearest", method="POST", form=form, Origin=site.root).text
        seen.page.goto(write_report(config, tmp_path / "report.html"))
        for summary in ("#near summary", "#list summary"):
            seen.page.click(summary)
        said += seen.page.locator("main").text_content() or ""
    assert re.findall(plural, said) == []
    for one in (
        "1 page is a",
        "1 override.",
        "1 kept page",
        "1 equal word",
        "1 block",
        "1 word:",
    ):
        assert one in said
    assert "2 pages: one is kept, the other is a copy of it." in said


def test_a_very_long_url_leaves_room(browser: Browser, config: DedupConfig, tmp_path: Path) -> None:
    """It scrolls in its place in lists, where it filled several screens of a phone; on paper it is
    whole.
    """
    url = "https://b.example/" + "way/" * 700
    fill(config, [THREE[0], (url, *THREE[1][1:])])
    height = "(one) => one.getBoundingClientRect().height"
    with served(config) as site, visit(browser, PHONE) as seen:
        enter(seen, site, "/decisions")
        long = seen.page.locator(".meta", has_text="way/way")
        assert long.evaluate(height) < PHONE[1] / 3
        seen.page.goto(write_report(config, tmp_path / "report.html"))
        long = seen.page.locator("#near .meta", has_text="way/way")
        assert long.evaluate(height) < PHONE[1] / 3
        assert not seen.overflows()
        seen.page.emulate_media(media="print")
        assert long.evaluate(height) > PHONE[1]
        assert seen.complaints == []


def test_empty_index(browser: Browser, config: DedupConfig) -> None:
    """An index without a page says so everywhere."""
    with served(config) as site, visit(browser) as seen:
        enter(seen, site)
        for path in PATHS[:8]:
            assert seen.page.goto(site.root + path).ok  # type: ignore[union-attr]
            assert seen.page.locator(".nothing, .message").count() > 0, path
        assert seen.complaints == []


def test_100_000_pages(
    browser: Browser, config: DedupConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With many copies each page of the site stays short and leads to the next one."""
    survey = synthetic(40_000, 9_000)

    async def take_survey(index: DuplicateIndex) -> Survey:
        return survey

    monkeypatch.setattr(view, "take_survey", take_survey)
    with served(config) as site, visit(browser, PHONE) as seen:
        enter(seen, site)
        for path in (*PATHS[:8], "/clusters?page=300", "/cluster/1", "/search?q=page"):
            assert seen.page.goto(site.root + path).ok  # type: ignore[union-attr]
            assert seen.page.evaluate("() => document.querySelectorAll('*').length") < 1000
            assert not seen.overflows()
        seen.page.goto(site.root + "/decisions")
        seen.follow("a[rel=next]")
        shown = seen.page.locator("main li bdi.url").first.inner_text()
        assert shown == survey.near[view.PAGE].url
        seen.page.goto(site.root + "/threshold?t=0.9")
        count = sum(page.similarity < 0.9 for page in survey.near)
        assert f"{count:,} of {len(survey.near):,}" in seen.page.inner_text("#changes")
        assert seen.complaints == []


def test_differences_of_long_texts(browser: Browser, config: DedupConfig, tmp_path: Path) -> None:
    """Of long texts the first words are compared, and nobody is told that the others are equal."""
    words = article(1, 6000)
    late = [*words[:5500], "other", *words[5501:]]
    early = [*words[:100], "other", *words[100:]]
    urls = [f"https://long.example/{name}" for name in ("kept", "late", "early")]
    fill(config, list(zip(urls, map(text, (words, late, early)), "abc", strict=True)))
    with served(config) as site, visit(browser) as seen:
        enter(seen, site, f"/page?url={urls[1]}")
        assert "Nowhere in the parts that are compared: the" in seen.page.inner_text("main")
        seen.page.goto(f"{site.root}/page?url={urls[2]}")
        assert seen.page.locator("ins").all_inner_texts() == ["other"]
        assert seen.page.locator("del").count() == 0
        assert "the first 5,000 words are compared" in seen.page.inner_text("main")
        seen.page.goto(write_report(config, tmp_path / "report.html"))
        seen.page.locator("#near summary", has_text="early").click()
        assert seen.page.locator("#near ins").all_inner_texts() == ["other"]
        assert "the first 5,000 words are compared" in seen.page.inner_text("#near")


def test_a_page_has_its_title(browser: Browser, config: DedupConfig) -> None:
    """The heading is the page's title, cut if it is long, and its address if it has none."""
    fill(
        config,
        [("https://a.example/", "words", "<b>T</b>" + "t" * 500), ("https://b.example/", "", "")],
    )
    with served(config) as site, visit(browser) as seen:
        enter(seen, site, "/page?url=https://a.example/")
        assert seen.page.inner_text("h1").startswith("<b>T</b>ttt")
        assert len(seen.page.inner_text("h1")) == 120
        seen.page.goto(site.root + "/page?url=https://b.example/")
        assert seen.page.inner_text("h1") == "https://b.example/"


def test_pages_are_shown_as_they_were_fetched(config: DedupConfig) -> None:
    """With their titles, texts and overrides, which are stored under their identities."""
    urls = ["https://a.example/?b=2&a=1", "https://b.example/x%3D.html"]
    near = text(changed(article(1), 5))
    alone = ("https://c.example/operator%3D?b&a", text(article(2)), "The other")
    fill(config, [(urls[0], text(article(1)), "The story"), (urls[1], near, "The same"), alone])
    run(override(config, "https://b.example/x=.html"))
    shown = [url.replace("&", "&amp;") for url in urls]
    with served(config) as site:
        for path in ("/decisions", "/cluster/1", "/search?q=example"):
            answer = site.read(path).text
            assert [url in answer for url in shown] == [True, True], path
            assert "The same" in answer, path
            assert ("override: keep" in answer) == ("search" not in path)
        for words in ("operator%3D", "operator=", "tor%3D?b&a"):
            assert "The other" in site.read("/search?" + urlencode({"q": words})).text
        page = site.read("/page?" + urlencode({"url": "https://b.example/x=.html"})).text
        assert [url in page for url in shown] == [True, True]
        assert "override: keep" in page
        assert page.count("<del>") == 5


def test_a_copy_of_a_page_that_lost_its_place(config: DedupConfig) -> None:
    """The number of its cluster leads to where that is now, and it can be confirmed as a copy."""
    pages = [(f"https://{n}.example/", text(changed(article(1), n)), "") for n in (0, 3, 6)]
    fill(config, pages)

    async def prefer() -> None:
        async with DuplicateIndex.open(config) as index:
            await index.prefer(*pages[1][:2])

    run(prefer())
    with served(config) as site:
        answer = site.read(f"/page?url={pages[2][0]}").text
        assert "Confirm: it is a copy" in answer
        assert "copies is no longer kept" in answer
        (link,) = re.findall("/cluster/[0-9]+", answer)
        cluster = site.read(link).text
        assert "3 pages: one is kept, the others are copies of it" in cluster
        assert re.findall('class="kind ([a-z]+)', cluster) == ["kept", "near", "near"]


def test_live(browser: Browser, config: DedupConfig) -> None:
    """What a crawl adds shows by itself, and so does why nothing more comes."""
    with served(config) as site, visit(browser) as seen:
        enter(seen, site)
        assert "No page has been checked yet" in seen.page.inner_text("main")
        fill(config, THREE)
        seen.page.locator("text=b.example").wait_for()
        assert seen.complaints == []
        assert not seen.page.is_visible("#stale")
        seen.page.route("**/*", lambda route: route.fulfill(status=503))
        seen.page.locator("#stale", has_text="does not answer. This page").wait_for()
        seen.page.unroute("**/*")
        seen.page.locator("#stale").wait_for(state="hidden")
        run(clear_index(config))
        seen.page.locator("#stale", has_text="dedup serve again. This page").wait_for()
        assert seen.page.locator("#live", has_text="b.example").is_visible()


def test_search(browser: Browser, site: Served) -> None:
    """An address leads to its page; words lead to the pages that have them."""
    with visit(browser) as seen:
        enter(seen, site)
        seen.page.fill("#q", "https://B.example/story#top")
        seen.follow("#q", "Enter")
        assert "It is a copy of" in seen.page.inner_text("main")
        seen.page.fill("#q", "to print")
        seen.follow("#q", "Enter")
        assert seen.page.inner_text("main li a") == "https://b.example/print"
        assert "never saw" not in seen.page.inner_text("main")  # nobody asked for a URL
        for nowhere in ("zeppelin", "#top"):
            seen.page.fill("#q", nowhere)
            seen.follow("#q", "Enter")
            assert "No copy, and no page" in seen.page.inner_text("main")
