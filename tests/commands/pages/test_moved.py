"""Lost and found: where texts live now, what is gone, and what people decide about pages."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crawler.commands.subcommands import Exit
from crawler.dedup import DedupConfig, DuplicateIndex, Kind, jaccard, shingle_hashes
from crawler.dedup.archive.database import archive_path
from crawler.dedup.archive.writer import ArchiveWriter
from crawler.dedup.inspection.moved import find_whereabouts, read_moved
from crawler.dedup.verdict import Verdict
from tests.commands.conftest import ROOT
from tests.conftest import Server
from tests.spiders.webserver import Answer, Web
from tests.support.forked import run_scrapy
from tests.support.indexes import opened
from tests.support.texts import article, changed, text

OLD, EXACT, NEAR, FAR = (f"http://{name}.example/" for name in ("old", "exact", "near", "far"))
STORY = article(1)
TEXT = text(STORY)
NEAR_TEXT, FAR_TEXT = text(changed(STORY, 2)), text(changed(STORY, 5, seed=1))
CLUSTER = [(OLD, TEXT), (FAR, FAR_TEXT), (NEAR, NEAR_TEXT), (EXACT, TEXT)]


async def places(index: DuplicateIndex, url: str) -> list[tuple[str, float | None]]:
    found = await find_whereabouts(index, url)
    assert found is not None
    return [(place.url, place.similarity) for place in found.places]


async def test_a_text_lives_at_the_page_that_is_kept(index_url: str) -> None:
    """Of a copy that is the kept page, with their similarity; of a kept page it is itself."""
    async with opened(index_url) as index:
        await index.check_many(CLUSTER)
        assert await places(index, OLD) == [(OLD, 1.0)]
        assert await places(index, EXACT) == [(OLD, 1.0)]
        ((url, similarity),) = await places(index, NEAR)
        assert url == OLD
        assert similarity == pytest.approx(
            jaccard(shingle_hashes(TEXT), shingle_hashes(NEAR_TEXT)), abs=0.04
        )
        assert await find_whereabouts(index, "http://nowhere/") is None
        assert await read_moved(index) == []


async def test_a_gone_page_lives_on_in_its_copies(index_url: str) -> None:
    """First the one with the same words, then by similarity; those that are gone too are none."""
    async with opened(index_url) as index:
        await index.check_many(CLUSTER)
        await index.gone(OLD)
        assert [url for url, _ in await places(index, OLD)] == [EXACT, NEAR, FAR]
        assert [url for url, _ in await places(index, NEAR)] == [NEAR, EXACT, FAR]
        await index.gone(EXACT)
        assert [url for url, _ in await places(index, OLD)] == [NEAR, FAR]
        assert [url for url, _ in await places(index, EXACT)] == [NEAR, FAR]
        moved = await read_moved(index)
        assert [(page.url, page.places[0].url) for page in moved] == [(EXACT, NEAR), (OLD, NEAR)]
        for url in (NEAR, FAR):
            await index.gone(url)
        assert await places(index, OLD) == []
        assert [page.places for page in await read_moved(index)] == [[], [], [], []]


async def test_an_equal_text_on_the_same_host_comes_first(index_url: str) -> None:
    """Whoever copied a page and was seen later is not taken for its new address."""
    async with opened(index_url) as index:
        thief, moved = "http://thief.example/", f"{OLD}moved"
        await index.check_many([(OLD, TEXT), (thief, TEXT), (moved, TEXT)])
        await index.check(thief, TEXT)
        await index.gone(OLD)
        assert await places(index, OLD) == [(moved, 1.0), (thief, 1.0)]
        (page,) = await read_moved(index)
        assert page.places[0].url == moved
        (page,) = await read_moved(index, hosts=["thief.example"])
        assert page.places[0].url == thief


async def test_a_text_is_followed_along_its_moves(index_url: str) -> None:
    """Old, newer and newest address: each leads to the newest one, whatever went between."""
    async with opened(index_url) as index:
        addresses = [f"http://{number}.example/" for number in range(20)]
        for number, url in enumerate(addresses):
            await index.check(url, TEXT)
            if number + 1 < len(addresses):
                await index.gone(url)
        for url in addresses:
            assert await places(index, url) == [(addresses[-1], 1.0)]
        moved = await read_moved(index)
        assert {page.url for page in moved} == set(addresses[:-1])
        assert {page.places[0].url for page in moved} == {addresses[-1]}


async def test_along_a_chain_of_near_copies_the_similarity_is_bounded(index_url: str) -> None:
    """What is told of two pages that were never compared holds for their texts."""
    async with opened(index_url) as index:
        await index.check(OLD, TEXT)
        await index.check(FAR, FAR_TEXT)
        await index.gone(OLD)
        assert (await index.check(NEAR, NEAR_TEXT)).replaces == OLD
        found = await find_whereabouts(index, FAR)
        assert found is not None
        (place,) = found.places
        assert place.url == NEAR
        truth = jaccard(shingle_hashes(FAR_TEXT), shingle_hashes(NEAR_TEXT))
        assert place.low is not None
        assert place.high is not None
        assert place.similarity is not None
        assert place.low <= truth <= place.high
        assert place.low <= place.similarity <= truth + 0.02


async def test_of_containment_no_chain_is_told(redis_url: str) -> None:
    """Shares of keys bound nothing along a chain, so nothing is said."""
    async with opened(redis_url, method="modulo") as index:
        await index.check(OLD, TEXT)
        await index.check(FAR, FAR_TEXT)
        await index.gone(OLD)
        await index.check(NEAR, NEAR_TEXT)
        assert await places(index, FAR) == [(NEAR, None)]


async def test_copies_of_a_forgotten_page_are_found(index_url: str) -> None:
    """The page that stood for them is no more in the index; they still are one another's places."""
    async with opened(index_url) as index:
        await index.check_many(CLUSTER)
        await index.gone(NEAR)
        await index.forget(OLD)
        assert [url for url, _ in await places(index, NEAR)] == [EXACT, FAR]


async def test_the_number_of_a_cluster_leads_to_the_page_that_took_over(index_url: str) -> None:
    """The page that lost its place keeps its number, and that is the new cluster's other name."""
    from crawler.dedup.inspection import read_cluster

    async with opened(index_url) as index:
        before = (await index.check(OLD, TEXT)).cluster
        await index.check(FAR, FAR_TEXT)
        await index.gone(OLD)
        after = (await index.check(NEAR, NEAR_TEXT)).cluster
        assert before is not None
        assert after not in (before, None)
        for name in (before, after, OLD, FAR):
            found = await read_cluster(index, name)
            assert found is not None
            assert (found.id, found.url) == (after, NEAR)
            assert {member.url for member in found.members} == {OLD, FAR, NEAR}


@pytest.fixture
def story(fill: Callable[..., str], dedup: Callable[..., Any]) -> None:
    """A cluster of four whose first page is gone, and a page that nothing is like."""
    fill([*CLUSTER, ("http://lost.example/", text(article(2)))])
    assert dedup("gone", OLD, "http://lost.example/")[0] == Exit.FOUND


def test_a_list_of_gone_pages_may_have_comments(
    dedup: Callable[..., Any], fill: Callable[..., str], tmp_path: Path
) -> None:
    """Empty lines and those that begin with # are no addresses."""
    fill(CLUSTER)
    path = tmp_path / "gone.txt"
    path.write_text(f"# moved in May\n\n{OLD}\n  # and\n {NEAR}#part\n")
    code, out, err = dedup("gone", "--file", str(path), "--json")
    assert (code, err, list(json.loads(out))) == (Exit.FOUND, "", [OLD, f"{NEAR}#part"])


def test_where(dedup: Callable[..., Any], story: None) -> None:
    """The table names the page and the places; exit code 1 for what is lost or was never seen."""
    code, out, err = dedup("where", OLD)
    assert (code, err) == (Exit.FOUND, "")
    lines = [line.split("\t") for line in out.splitlines()]
    assert ["kind", "unique"] in lines
    assert [line[:2] for line in lines if line[0] == EXACT] == [[EXACT, "1.0000"]]
    code, out, _ = dedup("where", NEAR, "--json")
    found = json.loads(out)
    assert found["gone"] is None
    assert found["places"][0]["url"] == NEAR
    code, out, err = dedup("where", "http://lost.example/", "--json")
    assert (code, json.loads(out)["places"]) == (Exit.NOTHING, [])
    assert "is gone, and so is every page with its text" in err
    code, out, err = dedup("where", "http://nowhere/", "--json")
    assert (code, out) == (Exit.NOTHING, "null\n")
    assert "never saw" in err


def test_moved(dedup: Callable[..., Any], story: None) -> None:
    """What moved and what is lost are listed apart."""
    code, out, err = dedup("where")
    assert (code, err) == (Exit.FOUND, "")
    moved, lost = (table.splitlines() for table in out.strip().split("\n\n"))
    assert len(moved) == len(lost) == 2
    assert moved[1].split("\t")[::2][:2] == [OLD, EXACT]
    assert lost[1].startswith("http://lost.example/\t")
    code, out, _ = dedup("where", "--json")
    found = json.loads(out)
    assert [(page["url"], page["to"], page["similarity"]) for page in found["moved"]] == [
        (OLD, EXACT, 1.0)
    ]
    assert [page["url"] for page in found["lost"]] == ["http://lost.example/"]
    assert found["lost"][0]["gone"] >= found["lost"][0]["last_seen"]


def test_moved_within_bounds(dedup: Callable[..., Any], story: None) -> None:
    """A place that is not similar enough, or on a host that nobody named, is no place."""
    code, out, _ = dedup("where", "--json", "--to", "far.example")
    assert [page["to"] for page in json.loads(out)["moved"]] == [FAR]
    code, out, _ = dedup("where", "--json", "--to", "far.example", "--similarity", ".99")
    assert json.loads(out)["moved"] == []
    code, _, err = dedup("where", "--to", "fra.example")
    assert code == Exit.USAGE
    assert "did you mean far.example?" in err


def test_moved_into_a_file(dedup: Callable[..., Any], story: None, tmp_path: Path) -> None:
    """The file is the output; one that cannot be written is one line of error."""
    path = tmp_path / "moved.conf"
    code, out, _ = dedup("where", "--format", "nginx", "-o", str(path))
    assert (code, out) == (Exit.FOUND, f"1 page moved, 1 is lost: {path}\n")
    assert path.read_text() == dedup("where", "--format", "nginx")[1]
    assert list(tmp_path.iterdir()) == [path]
    code, out, err = dedup("where", "-o", str(tmp_path / "none" / "x"))
    assert (code, out, err.count("\n")) == (Exit.USAGE, "", 1)


def test_urls_that_are_in_no_map_are_counted(
    dedup: Callable[..., Any], fill: Callable[..., str]
) -> None:
    """One is said of as one."""
    cut = [f"{EXACT}{letter * 3000}" for letter in "ab"]
    fill([(OLD, TEXT), *((url, TEXT) for url in cut)])
    for url, said in zip(cut, ("1 moved page has a URL", "2 moved pages have URLs"), strict=True):
        dedup("gone", url)
        err = dedup("where", "--format", "nginx")[2]
        assert err == f"scrapy dedup: {said} that the map cannot hold; --format json has all\n"


def test_nothing_moved(dedup: Callable[..., Any], fill: Callable[..., str]) -> None:
    """An index without gone pages gives an empty list, a map that can be included, exit code 1."""
    fill(CLUSTER)
    code, out, err = dedup("where")
    assert (code, out) == (Exit.NOTHING, "")
    assert "no page of the index is gone" in err
    assert json.loads(dedup("where", "--json")[1]) == {"moved": [], "lost": []}
    assert dedup("where", "--format", "nginx")[1].endswith('default "";\n}\n')


def test_gone_by_a_clock_that_is_behind(
    dedup: Callable[..., Any], fill: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is noted of a page that was seen later, and the command does not say that it was."""
    fill(CLUSTER)
    clock = time.time
    monkeypatch.setattr(time, "time", lambda: clock() - 100)
    code, out, err = dedup("gone", OLD)
    assert code == Exit.NOTHING
    assert "seen later" in out
    assert "than this machine's clock shows" in err
    assert json.loads(dedup("show", OLD, "--json")[1])["gone"] is None


def test_gone_from_a_file(
    dedup: Callable[..., Any], fill: Callable[..., str], tmp_path: Path
) -> None:
    """One address a line; those that the index never saw are named, and the exit code is 1."""
    fill(CLUSTER)
    path = tmp_path / "gone.txt"
    path.write_text(f"{OLD}\r\n\n  {NEAR}\nhttp://nowhere/\n")
    code, out, err = dedup("gone", "--file", str(path), "--json")
    assert (code, json.loads(out)) == (
        Exit.NOTHING,
        {OLD: True, NEAR: True, "http://nowhere/": False},
    )
    assert "'http://nowhere/'" in err
    assert json.loads(dedup("show", NEAR, "--json")[1])["gone"]
    code, _, err = dedup("gone")
    assert (code, err.count("\n")) == (Exit.USAGE, 1)


def test_prefer(dedup: Callable[..., Any], fill: Callable[..., str], tmp_path: Path) -> None:
    """A copy takes the place of the kept page, with its text out of the archive."""
    digest = fill(CLUSTER)
    folder = ["-s", f"DEDUP_DATA_DIR={tmp_path}"]
    code, out, err = dedup("override", NEAR, "prefer", *folder)
    assert (code, out) == (Exit.USAGE, "")
    assert "use --fetch or --text to give it" in err
    writer = ArchiveWriter(archive_path(DedupConfig(data_dir=tmp_path), digest), 10)
    writer.add(NEAR_TEXT, "", Verdict(Kind.NEAR, NEAR))
    writer.close()
    code, out, err = dedup("override", NEAR, "prefer", "--json", *folder)
    done = json.loads(out)
    assert (code, err) == (Exit.FOUND, "")
    assert (done["kind_before"], done["copied"], done["replaces"]) == ("near", OLD, OLD)
    assert done["kind"] == "unique"
    assert done["cluster_before"] != done["cluster"]
    assert json.loads(dedup("show", OLD, "--json")[1])["duplicate_of"] == NEAR
    assert json.loads(dedup("where", OLD, "--json")[1])["places"][0]["url"] == NEAR
    members = json.loads(dedup("clusters", str(done["cluster_before"]), "--json")[1])["members"]
    assert {member["url"] for member in members} == {url for url, _ in CLUSTER}
    code, out, _ = dedup("override", NEAR, "prefer", "--json", *folder)
    assert (code, json.loads(out)["replaces"]) == (Exit.FOUND, None)
    assert dedup("verify")[0] == Exit.FOUND


def test_prefer_with_a_text(
    dedup: Callable[..., Any], fill: Callable[..., str], tmp_path: Path
) -> None:
    """The text may be given, or fetched; a page never seen, or gone, is not preferred unseen."""
    fill(CLUSTER)
    folder = ["-s", f"DEDUP_DATA_DIR={tmp_path}"]
    (tmp_path / "far.txt").write_text(FAR_TEXT)
    code, out, _ = dedup(
        "override", FAR, "prefer", "--text", str(tmp_path / "far.txt"), "--json", *folder
    )
    assert (code, json.loads(out)["replaces"]) == (Exit.FOUND, OLD)
    picture = ROOT / "docs" / "pictures" / "report.png"
    code, out, err = dedup("override", EXACT, "prefer", "--text", str(picture), *folder)
    assert (code, out) == (Exit.USAGE, "")
    assert "is neither text nor HTML" in err
    assert json.loads(dedup("show", EXACT, "--json")[1])["kind"] == "exact"
    code, out, err = dedup("override", "http://nowhere/", "prefer", "--json", *folder)
    assert (code, out) == (Exit.NOTHING, "null\n")
    dedup("gone", EXACT)
    code, _, err = dedup("override", EXACT, "prefer", *folder)
    assert code == Exit.USAGE
    assert "is gone; use --fetch to see whether it is back" in err


def extract_far(html: str) -> str:
    """Another extractor than this package's."""
    assert html.startswith("<html>")
    return FAR_TEXT


def test_prefer_with_another_extractor(
    dedup: Callable[..., Any], fill: Callable[..., str], redis_url: str, tmp_path: Path
) -> None:
    """A page is read by DEDUP_EXTRACTOR as in a crawl, which finds it unchanged then."""
    fill(CLUSTER)
    (tmp_path / "far.html").write_text("<html><p>Tea</p>")
    words = ["--text", str(tmp_path / "far.html"), "-s", f"DEDUP_EXTRACTOR={__name__}.extract_far"]
    assert dedup("override", FAR, "prefer", *words)[0] == Exit.FOUND

    async def crawl() -> Kind:
        async with DuplicateIndex.open(DedupConfig(redis_url=redis_url)) as index:
            return (await index.check(FAR, FAR_TEXT)).kind

    assert asyncio.run(crawl()) is Kind.UNCHANGED


def test_only_the_beginning_of_a_text_is_no_text(
    dedup: Callable[..., Any], fill: Callable[..., str], tmp_path: Path
) -> None:
    """A page is not compared by a part of it."""
    long = " ".join(article(3, words=20_000))
    digest = fill([(OLD, long), (EXACT, long)])
    writer = ArchiveWriter(archive_path(DedupConfig(data_dir=tmp_path), digest), 10)
    writer.add(long, "", Verdict(Kind.EXACT, EXACT))
    writer.close()
    code, _, err = dedup("override", EXACT, "prefer", "-s", f"DEDUP_DATA_DIR={tmp_path}")
    assert code == Exit.USAGE
    assert "only the beginning" in err


def test_override(dedup: Callable[..., Any], fill: Callable[..., str]) -> None:
    """A decision holds at the next check, is listed, and can be taken back."""
    fill(CLUSTER)
    code, out, _ = dedup("override", NEAR, "keep")
    assert (code, out.splitlines()[1]) == (Exit.FOUND, f"{NEAR}\tkeep")
    assert dedup("override", OLD, "drop")[0] == Exit.FOUND
    fill(CLUSTER)
    assert json.loads(dedup("show", NEAR, "--json")[1])["kind"] == "unique"
    code, out, _ = dedup("override", "--list", "--json")
    assert (code, json.loads(out)) == (Exit.FOUND, {NEAR: "keep", OLD: "drop"})
    for url in (NEAR, OLD):
        assert dedup("override", url, "none")[0] == Exit.FOUND
    assert dedup("override", "--list", "--json")[:2] == (Exit.NOTHING, "{}\n")
    code, _, err = dedup("override", "a.example/typo", "keep")
    assert code == Exit.FOUND
    assert "never saw 'a.example/typo'; does its URL begin with https://" in err


def test_override_of_an_index_that_is_not_there(dedup: Callable[..., Any], server: Server) -> None:
    """A name that was misspelt is no index; none is made."""
    for decision in ("keep", "none"):
        code, _, err = dedup("override", OLD, decision, "-s", "DEDUP_NAMESPACE=nwes")
        assert (code, "there is no index 'nwes'" in err) == (Exit.USAGE, True)
    assert server.ask("KEYS", "*") == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "name a page and keep, drop, none, prefer, or --list alone"),
        ([OLD], "name a page"),
        ([OLD, "keep", "--list"], "name a page"),
        ([OLD, "kepp"], "did you mean keep?"),
    ],
)
def test_override_wants_a_page_and_a_decision(
    dedup: Callable[..., Any], words: list[str], message: str
) -> None:
    """Anything else is one line that says what is wanted."""
    code, out, err = dedup("override", *words)
    assert (code, out, err.count("\n")) == (Exit.USAGE, "", 1)
    assert message in err


def test_a_site_is_crawled_before_and_after_its_pages_moved(
    dedup: Callable[..., Any], redis_url: str, web: Web, tmp_path: Path
) -> None:
    """What two crawls saw is all that `where` and `moved` need."""
    lasting = text(article(5))
    web.page("/", "/a", "/b", "/c", "/d", text=text(article(4)))
    for number, path in enumerate(("/a", "/b", "/c")):
        web.page(path, text=text(article(10 + number)))
    web.page("/d", text=lasting)

    def crawl() -> None:
        settings = [f"DEDUP_REDIS_URL={redis_url}", f"DEDUP_DATA_DIR={tmp_path}"]
        settings += ["AUTOTHROTTLE_ENABLED=False"]
        words = [word for setting in settings for word in ("-s", setting)]
        crawled = run_scrapy(["crawl", "site", "-a", f"url={web.url}", *words], ROOT, os.environ)
        crawled.check_returncode()

    crawl()
    # One moved and says where; one moved, is shortened and says nothing; one is gone.
    moved = web.answers.pop("/a")
    web.answers |= {"/a": Answer(b"", {"Location": "/new/a"}, 301), "/new/a": moved}
    del web.answers["/b"], web.answers["/c"]
    web.page("/new/b", text=text(changed(article(11), 5)))
    web.page("/", "/a", "/b", "/c", "/d", "/new/b", text=text(article(4)))
    crawl()

    code, out, _ = dedup("where", "--json")
    found = json.loads(out)
    assert code == Exit.FOUND
    assert [(page["url"], page["to"]) for page in found["moved"]] == [
        (f"{web.url}/a", f"{web.url}/new/a"),
        (f"{web.url}/b", f"{web.url}/new/b"),
    ]
    assert found["moved"][0]["similarity"] == 1
    assert 0.8 < found["moved"][1]["similarity"] < 1
    assert [page["url"] for page in found["lost"]] == [f"{web.url}/c"]
    code, out, _ = dedup("where", f"{web.url}/b", "--json")
    assert [place["url"] for place in json.loads(out)["places"]] == [f"{web.url}/new/b"]
    assert dedup("where", f"{web.url}/c")[0] == Exit.NOTHING
