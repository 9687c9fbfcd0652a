"""Pages whose text is new at each fetch: they do not keep a crawl going, and hide no other page."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from urllib.parse import parse_qsl, urlsplit

import pytest

from crawler.dedup.urls.volatile import VOLATILE
from crawler.pipelines.spared.moving import MovingPages
from tests.pipelines.crawls import prose
from tests.pipelines.made_sites import Site, fetch, name_of
from tests.spiders.webserver import Web


def with_a_clock(changes_at: int | None, session: str = "?sid={}") -> Site:
    """Twelve pages, sessions in all links, two of which lead from each page to itself.

    Page 3 has a new text each time. All others may change at some fetch.
    """
    numbers, fetches = itertools.count(1), itertools.count()

    def site(path: str) -> tuple[int, list[str]]:
        page, fetch_number = name_of("/".join(path.split("/")[:2])), next(fetches)
        ids = (session.format(f"{next(numbers) * 7919:08x}") for _ in range(14))
        links = [
            f"/{n}{session_id}" for n, session_id in zip((*range(12), page, page), ids, strict=True)
        ]
        if page == 3:
            return 1000 + fetch_number, links
        has_changed = changes_at is not None and fetch_number >= changes_at
        return page + (100 if has_changed else 0), links

    return site


@pytest.mark.parametrize(
    ("session", "changes_at", "most"),
    [("?sid={}", None, 400), ("?sid={}", 18, 400), ("/k{}v", None, 600)],
)
async def test_a_site_with_a_page_that_is_new_each_time_ends(
    web: Web, redis_url: str, session: str, changes_at: int | None, most: int
) -> None:
    """The limits take each of its texts for news, and its session id seems to matter.

    In the path it has no known form, and other pages wait for what is known of this one.
    """
    fetched, texts, _ = await fetch(web, with_a_clock(changes_at, session), redis_url)
    assert {prose(n).split()[-1] for n in range(12) if n != 3} <= texts or changes_at
    assert {prose(100 + n).split()[-1] for n in range(12) if n != 3} <= texts or not changes_at
    assert len(fetched) <= most


def boxed(path: str) -> tuple[str, list[str]]:
    """An archive in which each page has a short text of its own, and a box that is always new."""
    number = int(dict(parse_qsl(urlsplit(path).query)).get("id", 0))
    box = prose(next(BOXES), 8)
    text = f"{prose(number, 8)}</p><p>{box}</p><p>the end of {number}"
    return text, [f"/item?id={n}" for n in range(number + 1, min(number + 4, 100))]


BOXES = itertools.count(5000)


async def test_an_archive_with_a_box_that_is_new_each_time_is_kept(
    web: Web, redis_url: str
) -> None:
    """What each URL has of its own stays, and no other URL has it."""
    fetched, texts, _ = await fetch(web, boxed, redis_url)
    assert {str(n) for n in range(100)} <= texts
    assert len(fetched) <= 110


def try_pages(read: Callable[[str, int], str]) -> tuple[bool, int]:
    """Fetch sixty URLs of what may be one page: whether it moves, and how many fetches it takes.

    `read` returns the text of a URL at a fetch.
    """
    moving, known, fetches = MovingPages(), set[str](), itertools.count()
    for number in range(60):
        url = f"/{number}"
        while url:
            text = read(url, next(fetches))
            is_new = text not in known
            known.add(text)
            if not is_new:
                moving.note_old_text({1: ""})
                moving.give_up(url)
                break
            url = moving.note_text(url, {1: ""}, text, new=number + 1, enough=8)
            if moving.find([1]):
                return True, next(fetches)
    return False, next(fetches)


def test_only_what_moves_by_itself_is_one_page() -> None:
    """Neither is an archive that changes once, nor pages one of which moves."""

    def text_of(*seeds: object) -> str:
        return " ".join(f"{seed}-{n}" for seed in seeds for n in range(20))

    assert try_pages(lambda url, fetch: text_of(fetch)) == (True, 12)
    assert try_pages(lambda url, fetch: text_of("title", fetch)) == (True, 12)
    assert try_pages(lambda url, fetch: text_of(url)) == (False, 61)
    assert try_pages(lambda url, fetch: text_of(url, fetch // 10 == 0))[0] is False
    assert try_pages(lambda url, fetch: text_of(fetch if url == "/0" else url))[0] is False
    assert try_pages(lambda url, fetch: text_of(url, fetch))[0] is False
    outage = lambda url, fetch: f"busy, ask later: {fetch}" if 8 <= fetch < 20 else text_of(url)  # noqa: E731
    assert try_pages(outage)[0] is False
    outage = lambda url, fetch: "too many requests" if 8 <= fetch < 12 else text_of(url)  # noqa: E731
    assert try_pages(outage)[0] is False


def test_urls_of_several_parts_are_fetched_again_once() -> None:
    """A second trial of theirs would take the answer that the first one waits for."""
    moving, fetches = MovingPages(), itertools.count()
    pages = {1: VOLATILE, 2: VOLATILE}  # `/3/k1v` and `/3/k2v` differ in a part, and in its middle

    def note(url: str) -> str:
        text = prose(next(fetches))
        return moving.note_text(url, pages, text, new=100, enough=8)

    asked = [note(f"/3/k{number}v") for number in range(8)][-1]
    while asked and not moving.knows_any:
        assert not any(note(f"/3/k{number}v") for number in range(100, 120))
        asked = note(asked)
    assert moving.knows_any
    assert next(fetches) == 8 + 4 * 21


def test_a_trial_that_fails_is_no_obstacle() -> None:
    """Its request found no page: the same URLs are tried for another part that they share."""
    moving, texts = MovingPages(), map(prose, itertools.count())

    def note(number: int, pages: dict[int, str]) -> str:
        return moving.note_text(f"/3/k{number}v", pages, next(texts), new=100, enough=8)

    asked = [note(number, {1: VOLATILE, 2: VOLATILE}) for number in range(8)][-1]
    assert asked
    assert not note(8, {2: VOLATILE})
    moving.give_up(asked)
    assert note(9, {2: VOLATILE}) == asked


@pytest.mark.parametrize("paths", ["abcdefga", "aaabcdefgha"])
def test_a_url_that_a_spider_fetches_again_begins_no_trial(paths: str) -> None:
    """It would end at once, as that URL has just come."""
    moving, fetches = MovingPages(), itertools.count()
    for path in (*paths, "x", "y"):
        url = f"/{path}"
        while url:
            asked = moving.note_text(url, {1: ""}, prose(next(fetches)), new=100, enough=8)
            moving.give_up(url)  # what has come is not under way any more
            url = asked
    assert moving.knows_any


def test_an_outage_with_a_number_moves_no_longer_than_it_lasts() -> None:
    """Each answer is another one, but a page that comes later has nothing of them."""
    moving, fetches = MovingPages(), itertools.count()
    text = "busy, ask later please, your request has this number:"
    for number in range(8):
        url = f"/{number}"
        while url:
            one = f"{text} {next(fetches)}"
            url = moving.note_text(url, {1: ""}, one, new=number + 1, enough=8)
    assert moving.find_with([1], f"{text} 99") == 1
    assert moving.find_with([1], prose(7)) is None
    assert moving.find([1]) is None


def test_few_pages_are_known_to_move() -> None:
    """What each has kept takes memory, so of very many the first are forgotten."""
    moving, fetches = MovingPages(), itertools.count()
    for page in range(300):
        for number in range(8):
            url = f"/{page}?{number}"
            while url:
                text = f"{prose(page, 8)} {prose(10_000 + next(fetches))}"
                url = moving.note_text(url, {page: ""}, text, new=20 * 300, enough=8)
    known = [page for page in range(300) if moving.find([page]) is not None]
    assert known == [*range(300 - 256, 300)]
