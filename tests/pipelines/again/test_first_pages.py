"""The first pages of a host, and copies by a note that is learnt later, are put right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from crawler.pipelines.crawl import doubtful
from tests.pipelines.again.asking import HOST, IN_ORDER
from tests.pipelines.crawls import Feed, prose
from tests.spiders.webserver import Answer, Web


async def crawl_records(web: Web, run: Any, pages: dict[str, str]) -> tuple[set[str], int]:
    """The pages that are lost beside the text that all have; how many were requested again."""
    web.page("/", *pages, text=HOST)
    for path, html in pages.items():
        web.answers[path] = Answer(html.encode(), {"Content-Type": "text/html"})
    feed = Feed()
    stats = await run(feed, DEDUP_TEMPLATES=True)
    return pages.keys() - feed.tags.keys(), stats.get("dedup/asked_again", 0)


async def test_the_first_pages_of_a_host_are_put_right(web: Web, run: Any) -> None:
    """Near-copies by a paragraph that turns out to be the site's own are asked for again."""
    boiler, pages = prose(9, 120), dict[str, str]()
    for n in range(12):
        body = f"<main><h1>Tea</h1><p>{prose(n, 8)}</p><p>{boiler}</p></main>"
        pages[f"/p/{n}"] = f"<title>Tea {n}</title>{body}"
    lost, asked = await crawl_records(web, run, pages)
    assert not lost
    assert asked <= 8


async def test_pages_of_one_name_below_a_note_are_kept(web: Web, run: Any) -> None:
    """A database puts one title and one note over all of its records."""
    note, pages = [prose(900 + n, 60) for n in range(5)], dict[str, str]()
    for n in range(20):
        lines = "".join(f"<p>{line}</p>" for line in (*note, prose(n, 3), prose(200 + n, 20)))
        pages[f"/r/{n}"] = f"<title>Record</title><main><h1>Record</h1>{lines}</main>"
    lost, asked = await crawl_records(web, run, pages)
    assert not lost
    assert asked <= 8


async def test_records_of_one_name_are_told_apart_by_their_facts(web: Web, run: Any) -> None:
    """Their numbers, names and materials stand in a table beside a note of four blocks."""
    left, pages = "".join(f"<p>{prose(900 + n, 40)}</p>" for n in range(4)), dict[str, str]()
    for n in range(20):
        facts = {"Inventory": f"{100 + n}", "Date": f"{n}.5.1987"}
        facts |= {"Name": prose(n, 2), "Material": prose(200 + n, 2), "Height": "12"}
        right = "".join(f"<dt>{label}<dd>{fact}" for label, fact in facts.items())
        table = f"<table><tr><td>{left}</td><td><dl>{right}</dl></td></tr></table>"
        pages[f"/r/{n}"] = f"<title>Object</title>{table}"
    lost, _ = await crawl_records(web, run, pages)
    assert not lost


def serve_notes(
    web: Web, *, first: int = 0, notes_first: bool = False, copies: int = 0
) -> set[str]:
    """Twelve pages, copies of some under other headings, and eight with a note; those to keep."""
    note = prose(9, 110)
    others, noted = [f"/p/{n}" for n in range(12)], [f"/n/{n}" for n in range(8)]
    plain = [*others, *(f"/copy/{n}" for n in range(copies))]
    paths = [*noted, *plain] if notes_first else [*plain, *noted]
    web.page("/", *paths, text=HOST)
    for n, path in enumerate(paths, first):
        text = n if path in noted else 200 + first + int(path.rpartition("/")[2])
        last = note if path in noted else prose(50 + text, 60)
        lines = f"<h1>{prose(n, 3)}</h1><p>{prose(text, 8)}</p><p>{last}</p>"
        html = f"<title>Tea {n}</title><main>{lines}</main>"
        web.answers[path] = Answer(html.encode(), {"Content-Type": "text/html"})
    return {*others, *noted}


@pytest.mark.parametrize("copies", [0, 12])
async def test_copies_by_a_note_that_is_learnt_later_are_put_right(
    web: Web, run: Any, copies: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A note that some pages have is the site's own once several of them have come.

    No number of other copies keeps them from being remembered.
    """
    monkeypatch.setattr(doubtful, "_MOST", 8)
    feed, kept = Feed(), serve_notes(web, copies=copies)
    stats = await run(feed, DEDUP_TEMPLATES=True)
    assert kept <= feed.tags.keys(), stats
    assert 0 < stats["dedup/asked_again"] <= 4
    assert len(web.seen) == 21 + copies + stats["dedup/asked_again"]


@pytest.mark.parametrize("settings", [{}, IN_ORDER])
async def test_and_by_the_crawl_that_goes_on(
    web: Web, run: Any, tmp_path: Path, settings: dict[str, Any]
) -> None:
    """What a paused crawl has dropped for a note is remembered in its JOBDIR, as is the note."""
    job = {
        "JOBDIR": tmp_path / "job",
        "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
        **settings,
    }
    feed, kept = Feed(), serve_notes(web)
    stats = await run(feed, CLOSESPIDER_PAGECOUNT=16, DEDUP_TEMPLATES=True, **job)
    assert stats["item_dropped_count"] >= 2
    assert "dedup/asked_again" not in stats
    stats = await run(feed, DEDUP_TEMPLATES=True, **job)
    assert kept <= feed.tags.keys(), stats
    assert stats["dedup/asked_again"] >= 2


async def test_a_note_of_two_hosts_makes_no_copies(web: Web, run: Any) -> None:
    """The first pages of a host are copies of another's until their note is known."""
    url, web.url = web.url, "http://" + web.host.replace("localhost", "127.0.0.1")
    serve_notes(web)
    await run(DEDUP_TEMPLATES=True)
    web.url = url
    feed, kept = Feed(), serve_notes(web, first=400, notes_first=True)
    stats = await run(feed, DEDUP_TEMPLATES=True)
    assert kept <= feed.tags.keys(), stats
    assert 0 < stats["dedup/asked_again"] <= 8


async def test_a_copy_is_asked_for_once_for_two_reasons(web: Web, run: Any) -> None:
    """Its original has changed, and its text is a note of the site."""
    kept = serve_notes(web)
    others, (first, *noted) = [f"/p/{n}" for n in range(12)], [f"/n/{n}" for n in range(8)]
    web.page("/", *others, first, text=HOST)
    await run(DEDUP_TEMPLATES=True)
    web.page("/", *others, *noted, first, text=HOST)
    web.page(first, text=prose(1))
    feed = Feed()
    stats = await run(feed, DEDUP_TEMPLATES=True)
    assert kept <= feed.tags.keys(), stats
    assert stats["dedup/asked_again"] >= 2
    assert max(map(web.seen.count, noted)) == 2


async def test_copies_with_much_text_of_their_own_stay(web: Web, run: Any) -> None:
    """No page with the text of one ten pages before is asked for again, whatever its heading."""
    paths = [f"/{n}" for n in range(30)]
    web.page("/", *paths, text=HOST)
    for n, path in enumerate(paths):
        html = f"<main><h1>Tea {n}</h1><p>{prose(n if n < 20 else n - 10, 200)}</p></main>"
        web.answers[path] = Answer(html.encode(), {"Content-Type": "text/html"})
    stats = await run(DEDUP_TEMPLATES=True)
    assert stats["dedup/dropped/near"] == 10
    assert "dedup/asked_again" not in stats


async def test_what_is_asked_for_again_is_no_further_page(web: Web, run: Any) -> None:
    """It does not count for max_pages of the spider `site`."""
    web.page("/", "/old", text=HOST)
    web.page("/old", text=prose(1))
    await run()
    web.page("/", "/new", "/old", text=HOST)
    web.page("/new", text=prose(1))
    web.page("/old", text=prose(2))
    stats = await run(max_pages="4")
    assert (stats["dedup/asked_again"], stats["finish_reason"]) == (1, "finished")
