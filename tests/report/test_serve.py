"""The web page: who may see it, what it shows, and what people decide on it."""

from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlencode

import pytest
from playwright.sync_api import Browser, Route
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from crawler.dedup import DedupConfig, DuplicateIndex, Kind
from crawler.dedup.archive.database import archive_path
from crawler.dedup.store.index_reader import ServerMemory
from crawler.dedup.store.namespaces import clear_index
from crawler.dedup.store.statistics import IndexStats
from crawler.report.survey import Survey
from crawler.report.web import server, view
from crawler.report.web.guard import form_token
from crawler.report.web.metrics import Watched, open_metrics
from tests.conftest import Server, wait_until
from tests.report.browser import PHONE, Visit, visit
from tests.report.pages import ATTACKS, fill, hostile_pages, run, write_report
from tests.report.serving import TOKEN, Served, served
from tests.report.test_report import THREE, synthetic
from tests.support.texts import article, changed, text

ROOT = Path(__file__).parents[2]
COPY = "https://b.example/story"
PATHS = (
    "/",
    "/decisions",
    "/clusters",
    "/clusters?order=size",
    "/threshold?t=0.95",
    "/overrides",
    "/threshold?t=0.6",
    "/stories",
    f"/page?url={COPY}",
    "/page?url=https://a.example/story",
    "/search?q=story",
    "/page?url=nowhere",
    "/nothing",
)


@pytest.fixture
def site(config: DedupConfig) -> Iterator[Served]:
    """The page of three pages, of which two are copies."""
    fill(config, THREE)
    with served(config) as found:
        yield found


def enter(seen: Visit, site: Served, path: str = "/") -> None:
    """Come with the token, then go on."""
    seen.page.goto(site.address)
    if path != "/":
        seen.page.goto(site.root + path)


def overrides(config: DedupConfig) -> dict[str, str]:
    async def ask() -> dict[str, str]:
        async with DuplicateIndex.open(config) as index:
            return await index.overrides()

    return run(ask())


async def override(config: DedupConfig, url: str) -> None:
    async with DuplicateIndex.open(config) as index:
        await index.override(url, "keep")


@pytest.mark.parametrize("number", ["x", "-1", "0", "4294967296", "9" * 5000])
def test_a_cluster_that_is_none(site: Served, number: str) -> None:
    """Whatever stands for its number, the answer is that there is none."""
    answer = site.read(f"/cluster/{number}")
    assert (answer.status, "There is no such cluster." in answer.text) == (404, True)


def test_nobody_without_the_token(site: Served) -> None:
    """Nothing of the index is told to who has no token, or a wrong one, in whatever place."""
    for path in PATHS[:-1]:
        assert site.ask(path).status == 403
    assert site.ask("/?token=wrong-token").status == 403
    assert site.ask("/", Cookie=f"dedup-{site.port}=wrong").status == 403
    assert site.ask("/", Authorization="Bearer wrong").status == 403
    assert site.ask("/", Authorization=f"Basic {TOKEN}").status == 403
    assert site.ask(f"/page?url={COPY}&token=%C3%A4").status == 403
    assert "example" not in site.ask("/").text
    assert "dedup" not in site.ask("/static/nothing").text
    assert site.ask("/static/../../app.py").status in (403, 404)
    assert site.ask("/static/%2e%2e/texts.py").status == 404


def test_the_token_becomes_a_cookie(site: Served) -> None:
    """The token leaves the address at once; no script and no other site can use the cookie."""
    answer = site.ask(f"/page?url={COPY}&token={TOKEN}")
    assert answer.status == 303
    assert unquote(answer.headers["location"]) == f"/page?url={COPY}"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert site.ask("/", Cookie=cookie.partition(";")[0]).status == 200
    assert site.ask(f"//evil.example/?token={TOKEN}").headers["location"].startswith("/evil")


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{}", "127.0.0.1.evil.example:{}", "", "[::1", "@127.0.0.1:x"],
)
def test_names_that_were_bent(site: Served, host: str) -> None:
    """A foreign name that is made to mean this machine is not answered, with the token neither."""
    answer = site.read("/", Host=host.format(site.port))
    assert answer.status in (400, 421)
    assert "Overview" not in answer.text


@pytest.mark.parametrize("host", ["localhost:{}", "127.0.0.1:{}", "[::1]:{}", "192.168.1.5:{}"])
def test_own_names(site: Served, host: str) -> None:
    """The machine's own addresses are answered."""
    assert site.read("/", Host=host.format(site.port)).status == 200


def test_headers(site: Served) -> None:
    """Every answer binds the browser: no inline script, no other site, no frame, no cache."""
    for path in ("/", "/nothing", "/static/style.css", "/metrics"):
        for answer in (site.ask(path), site.read(path)):
            policy = answer.headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert "frame-ancestors 'none'" in policy
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("origin", "form", "status"),
    [
        ("{root}", {}, 303),
        (None, {}, 403),
        ("null", {}, 403),
        ("http://evil.example", {}, 403),
        ("{root}", {"form": "wrong"}, 403),
        ("{root}", {"url": "https://nowhere.example/"}, 400),
        ("{root}", {"decision": "explode"}, 400),
        ("{root}", {"url": "x" * 60_000}, 413),
    ],
)
def test_forms_of_others(
    config: DedupConfig, site: Served, origin: str | None, form: dict[str, str], status: int
) -> None:
    """A decision is taken from this page's own forms only, and only about pages there are."""
    whole = {"form": form_token(TOKEN), "url": COPY, "decision": "keep", **form}
    headers = {"Origin": origin.format(root=site.root)} if origin else {}
    answer = site.read("/override", method="POST", form=whole, **headers)
    assert answer.status == status
    assert overrides(config) == ({COPY: "keep"} if status == 303 else {})


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


def test_prefer_without_a_text(site: Served, config: DedupConfig) -> None:
    """Without the text in the archive, or of a page that is kept, nothing is preferred."""
    kept = {"form": form_token(TOKEN), "url": THREE[0][0]}
    assert site.read("/prefer", method="POST", form=kept, Origin=site.root).status == 400
    archive_path(config).unlink()
    answer = site.read("/prefer", method="POST", form={**kept, "url": COPY}, Origin=site.root)
    assert answer.status == 400
    assert "scrapy dedup override … prefer --fetch" in answer.text
    assert "Prefer: keep" not in site.read(f"/page?url={COPY}").text


@pytest.mark.parametrize("path", ["/nearest", "/prefer"])
def test_other_forms_of_others(site: Served, path: str) -> None:
    """The other forms are taken from this page only, too, and of bounded length."""
    form = {"form": form_token(TOKEN), "url": COPY, "text": "words"}
    assert site.read(path, method="POST", form=form, Origin="http://evil.example").status == 403
    assert (
        site.read(path, method="POST", form={**form, "form": "x"}, Origin=site.root).status == 403
    )
    long = {**form, "text": "x" * 3_000_001}
    assert site.read(path, method="POST", form=long, Origin=site.root).status == 413
    many = {**form, **{str(n): "x" for n in range(20)}}
    assert site.read(path, method="POST", form=many, Origin=site.root).status == 400
    assert site.ask(path, method="POST", form=form, Origin=site.root).status == 403


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


@pytest.mark.parametrize(
    "path",
    [
        "/stories?t=nan", "/stories?t=0", "/stories?t=9&page=9", "/threshold?t=0.5001",
        "/threshold?t=nan", "/threshold?t=inf", "/threshold?t=-1", "/threshold?t=x",
        "/decisions?page=0", "/decisions?page=99999999999", "/decisions?page=%C2%B2",
        "/clusters?page=x",
        "/cluster/999999999", "/cluster/99999999999999999999", "/page", "/search?q=%00%ff",
        "/page?url=%ed%a0%80",
    ],
)  # fmt: skip
def test_odd_requests(site: Served, path: str) -> None:
    """What no link says is answered all the same, with a page and no fault of the server."""
    answer = site.read(path.encode().decode("latin-1"))
    assert answer.status in (200, 404)
    assert "Duplicates in dedup" in answer.text


def test_requests_that_never_end(config: DedupConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who begins requests and does not end them is sent away, and others are answered again."""
    monkeypatch.setattr(server, "_PATIENCE", 3.0)
    form = "POST /nearest HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\n"
    form += f"Authorization: Bearer {TOKEN}\r\nContent-Length: 9\r\n\r\nform="
    style = "GET /static/style.css HTTP/1.1\r\nHost: localhost\r\n\r\nGET /"
    half = ["", "GET / HTTP/1.1\r\nHo"]
    with served(config) as site, ExitStack() as stack:
        clients = []

        def is_crowded() -> bool:
            for begun in [form, style, *half * 49]:
                client = socket.create_connection(("127.0.0.1", site.port or 0), timeout=30)
                stack.enter_context(client).sendall(begun.encode())
                clients.append(client)
            return site.read("/").status == 503

        # On a busy machine the first may be sent away before the last have come.
        wait_until(is_crowded)
        wait_until(lambda: site.read("/").status == 200)
        assert all(map(_is_ended, clients))


def _is_ended(client: socket.socket) -> bool:
    """Whether the other side ends a connection before its time-out."""
    try:
        while client.recv(65_536):
            pass
    except ConnectionResetError:
        pass
    except TimeoutError:
        return False
    return True


def test_answers_that_nobody_reads(config: DedupConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asks and takes no answer is sent away; who takes his time gets all."""
    monkeypatch.setattr(server, "_PATIENCE", 4.0)  # the slow one takes five
    number = 2000  # more than a system holds for a client
    asked = b"GET /static/style.css HTTP/1.1\r\nHost: localhost\r\n\r\n" * number
    size = len((ROOT / "crawler/report/static/style.css").read_bytes()) * number
    taken = []
    with served(config) as site, socket.socket() as slow, socket.socket() as idle:
        for client in (slow, idle):
            client.settimeout(30)
            client.connect(("127.0.0.1", site.port or 0))
            client.sendall(asked)
        for client, pause in ((slow, 0.02), (idle, 0)):
            taken.append(0)
            with suppress(ConnectionError):
                while taken[-1] < size and (part := client.recv(65_536)):
                    taken[-1] += len(part)
                    time.sleep(pause)
    assert taken[0] >= size > taken[1]


def test_a_form_whose_sender_goes_away(capfd: pytest.CaptureFixture[str], site: Served) -> None:
    """It is no fault of the server that would be worth a report of its calls."""
    origin = f"Host: localhost\r\nOrigin: http://localhost\r\nAuthorization: Bearer {TOKEN}"
    with socket.create_connection(("127.0.0.1", site.port or 0)) as client:
        client.sendall(f"POST /nearest HTTP/1.1\r\n{origin}\r\nContent-Length: 9\r\n\r\nf".encode())
        time.sleep(0.3)
    time.sleep(0.3)
    assert site.read("/").status == 200
    assert capfd.readouterr().err == ""


def test_odd_callers_are_no_news(capfd: pytest.CaptureFixture[str], site: Served) -> None:
    """Who speaks another protocol gets an answer, and the terminal of whoever serves none."""
    upgrade = (
        b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    )
    for request in (b"\x16\x03\x01\r\n\r\n", upgrade):
        with socket.create_connection(("127.0.0.1", site.port or 0), timeout=10) as client:
            client.sendall(request)
            assert client.recv(20).startswith(b"HTTP/1.1 4")
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("keeps_files", ["yes", "no"])
def test_a_server_that_is_gone(
    start_server: Callable[..., Server], tmp_path: Path, keeps_files: str
) -> None:
    """While the index gives no answer the page says so, and goes on when it is back.

    Of a server that comes back without its index it is said; an empty index is not made up.
    """
    server = start_server(appendonly=keeps_files, appendfsync="always")
    config = DedupConfig(redis_url=server.url, data_dir=tmp_path, timeout=1)
    with served(config) as site:
        assert site.read("/").status == 200
        server.kill()
        answer = site.read("/")
        assert answer.status == 503
        assert "That did not work" in answer.text
        server.start()
        answer = site.read("/")
        if keeps_files == "yes":
            assert answer.status == 200
        else:
            assert (answer.status, "lost by its server" in answer.text) == (503, True)


@pytest.mark.parametrize("shards", [0, 5])
def test_an_index_that_was_made_anew(config: DedupConfig, cluster_url: str, shards: int) -> None:
    """Its seed is another: nothing in it would be found, so the page says what to do instead.

    It says so of an index that was deleted and is not made again, too, and of one that a server
    without files lost when it was started again.
    """
    if shards:
        config = replace(config, redis_url=cluster_url, shards=shards)
    fill(config, THREE)
    with served(config) as site:
        assert site.read(f"/page?url={COPY}").status == 200
        run(clear_index(config))
        answer = site.read("/")
        assert (answer.status, "deleted, lost by its server or made anew" in answer.text) == (
            503,
            True,
        )
        fill(config, THREE)
        form = {"form": form_token(TOKEN), "text": THREE[0][1]}
        answers = [
            site.read(path) for path in ("/", f"/page?url={COPY}", "/search?q=story", "/metrics")
        ]
        answers.append(site.read("/nearest", method="POST", form=form, Origin=site.root))
        for answer in answers:
            assert (answer.status, "start scrapy dedup serve again" in answer.text) == (503, True)
    with served(config) as site:
        assert site.read(f"/page?url={COPY}").status == 200


def test_metrics(site: Served) -> None:
    """The metrics are sound OpenMetrics, and are what the index counts."""
    answer = site.read("/metrics")
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    families = {family.name: family for family in text_string_to_metric_families(answer.text)}
    checks = {s.labels["verdict"]: s.value for s in families["scrapy_neardup_checks"].samples}
    assert checks == {"unique": 1, "near": 1, "exact": 1}
    assert families["scrapy_neardup_kept_pages"].samples[0].value == 1
    assert families["scrapy_neardup_known_urls"].samples[0].value == 3
    values = {
        name.removeprefix("scrapy_neardup_"): family.samples[0].value
        for name, family in families.items()
        if family.type == "gauge"
    }
    assert values["memory_bytes"] > 100
    assert values["page_bytes"] > 100
    assert values["server_memory_bytes"] > 100_000
    assert values["server_memory_limit_bytes"] == 0
    assert (values["hosts"], values["waiting_pages"]) == (2, 0)
    assert time.time() - 60 < values["last_check_timestamp_seconds"] <= time.time()
    buckets = {
        s.labels["le"]: s.value
        for s in families["scrapy_neardup_near_similarity"].samples
        if "le" in s.labels
    }
    assert buckets["0.8"] == 0
    assert buckets["1.0"] == buckets["+Inf"] == 1


def test_metrics_of_what_went_wrong() -> None:
    """Errors that crawls told of, pages that wait, and how full the server is."""
    stats = IndexStats("news", {}, {}, {}, 0, 0, None, None, {}, errors={"ServerError": 3})
    servers = [ServerMemory(50, 100), ServerMemory(80, 100)]
    lines = open_metrics(stats, Watched(0, 7, servers)).decode().splitlines()
    for expected in (
        'scrapy_neardup_errors_total{error="ServerError",namespace="news"} 3.0',
        'scrapy_neardup_waiting_pages{namespace="news"} 7.0',
        'scrapy_neardup_server_memory_bytes{namespace="news"} 130.0',
        'scrapy_neardup_server_memory_limit_bytes{namespace="news"} 200.0',
        'scrapy_neardup_server_fullness{namespace="news"} 0.8',
    ):
        assert expected in lines


def test_dashboard(site: Served) -> None:
    """Every metric of the example dashboard is one that the page has."""
    dashboard = json.loads((ROOT / "docs" / "howto" / "grafana.json").read_text(encoding="utf-8"))
    expressions = [
        target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", ())
    ]
    names = {name for one in expressions for name in re.findall(r"scrapy_neardup_\w+", one)}
    known = {
        line.partition("{")[0] for line in site.read("/metrics").text.splitlines() if "{" in line
    }
    assert len(names) >= 5
    assert names <= known
