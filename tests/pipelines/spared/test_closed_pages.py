"""Crawls of sites with many pages that say noindex and nofollow, such as forms to edit a page."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from crawler.dedup.urls.parts import split_url
from crawler.pipelines.spared.closed_pages import ClosedPages
from tests.pipelines.crawls import Feed, crawl, prose
from tests.spiders.webserver import Answer, Web

PAGES = 120
CLOSED = "noindex, nofollow"


class Wiki(dict[str, Answer]):
    """Pages that link to all others, and each to a form to edit it; the first forms are closed."""

    def __init__(self, tags: str = CLOSED, closed: int = PAGES) -> None:
        super().__init__()
        self.tags, self.closed = tags, closed

    def get(self, path: str, default: Any = None) -> Any:
        if not path.startswith("/") or path == "/robots.txt":
            return default
        given = dict(parse_qsl(urlsplit(path).query))
        number, is_form = int(given.get("title", 0)), "action" in given
        is_closed = is_form and self.closed > 0
        self.closed -= is_form
        tags = f'<meta name="robots" content="{self.tags}">' if is_closed else ""
        links = [f"/wiki?title={n}" for n in range(PAGES)]
        links.append(f"/wiki?title={number}&action=edit")
        anchors = "".join(f'<li><a href="{link}">x</a></li>' for link in links)
        text = prose(5000 * is_form + number)
        html = f"<title>{number}</title>{tags}<nav>{anchors}</nav><main><p>{text}</p></main>"
        return Answer(html.encode(), {"Content-Type": "text/html"})


async def fetch(
    web: Web, wiki: Wiki, redis_url: str, **options: Any
) -> tuple[int, set[str], dict[str, Any]]:
    """Crawl it: how many forms were fetched, the texts that were kept, the statistics."""
    web.answers, feed, before = wiki, Feed(), len(web.seen)
    settings = {"DEDUP_REDIS_URL": redis_url, "CLOSESPIDER_PAGECOUNT": 1000, **options}
    stats = await crawl(web, feed, **settings)
    assert stats["finish_reason"] == "finished"
    forms = sum("action" in path for path in web.seen[before:])
    return forms, {text.split()[-1] for text in feed.passed}, stats


async def test_closed_pages_are_fetched_a_few_times(web: Web, redis_url: str) -> None:
    """Thirty show what all others are; some under way at that time and some checks come, too."""
    forms, texts, stats = await fetch(web, Wiki(), redis_url)
    assert len(texts) == PAGES
    assert forms <= 55
    assert stats["dedup/spared/noindex"] == stats["dedup/spared"] == PAGES - forms


@pytest.mark.parametrize("tags", ["noindex", "nofollow", "index"])
async def test_pages_that_are_half_closed_are_all_fetched(
    web: Web, redis_url: str, tags: str
) -> None:
    """Their links may lead on, or their texts are wanted."""
    forms, *_ = await fetch(web, Wiki(tags), redis_url)
    assert forms == PAGES


async def test_an_open_page_among_those_that_are_checked_brings_all_back(
    web: Web, redis_url: str
) -> None:
    """The forms that come before the end are closed, and all others are not."""
    wiki = Wiki(closed=33)
    forms, texts, stats = await fetch(web, wiki, redis_url, CONCURRENT_REQUESTS=1)
    assert forms == PAGES
    assert len(texts) == 2 * PAGES - 33
    assert stats["dedup/spared"] == 0


def note(pages: ClosedPages, url: str, *, is_closed: bool = True) -> bool:
    parts = split_url(f"http://example.com{url}")
    assert parts is not None
    return pages.note_page(parts, is_closed=is_closed)


def leads_to_closed(pages: ClosedPages, url: str) -> bool:
    parts = split_url(f"http://example.com{url}")
    assert parts is not None
    return pages.find_name(parts) is not None


def test_only_what_recurs_is_learnt() -> None:
    """Numbers tell topics and parts of a forum apart, of which others may be open; words do not."""
    pages = ClosedPages()
    for number in range(100):
        note(pages, f"/topic?t={number}")
        note(pages, f"/topic?f=3&t={number}")
        note(pages, f"/topic?view=print&t={number}")
    assert leads_to_closed(pages, "/topic?view=print&t=200")
    assert not leads_to_closed(pages, "/topic?t=200")
    assert not leads_to_closed(pages, "/topic?f=3&t=200")
    assert not leads_to_closed(pages, "/topic?view=whole&t=200")
    assert not leads_to_closed(pages, "/topic?view=print&t=200&page=2")
    assert not leads_to_closed(pages, "/list?view=print&t=200")


def test_a_page_that_is_open_ends_it_for_good() -> None:
    pages = ClosedPages()
    for number in range(30):
        note(pages, f"/wiki?title={number}&action=edit")
    assert note(pages, "/wiki?title=x&action=edit", is_closed=False)
    for number in range(100):
        note(pages, f"/wiki?title={number}&action=edit")
    assert not leads_to_closed(pages, "/wiki?title=y&action=edit")
