"""Crawls of sites whose pages link to a form to log in, which then leads back to them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from urllib.parse import parse_qsl, quote, urlsplit

import pytest

from tests.pipelines.crawls import prose
from tests.pipelines.made_sites import fetch, name_of
from tests.spiders.webserver import Web

PAGES = 60
FORM = "To go on, log in to the club of tea drinkers. <input type=password>"
ASKS = "<input type=password>"
COMMENTED = 41


def log_in(path: str) -> tuple[int | str, Iterable[str]]:
    """Each page links to the form, naming itself, and to all others."""
    if path.startswith("/login"):
        return FORM, ["/"]
    return name_of(path), [f"/login?next={quote(path)}", *(f"/{n}" for n in range(1, PAGES))]


def comment(path: str, box: str = "", form: str = "") -> tuple[int | str, Iterable[str]]:
    """Each page links to its comments; only one page has any. Each has this box.

    Comments have this form, too.
    """
    if path.startswith("/comments"):
        of = dict(parse_qsl(urlsplit(path).query))["of"]
        number = 99 if name_of(of) == COMMENTED else 98
        return f"{prose(number)}{box}{form}", ["/"]
    links = [f"/comments?of={quote(path)}", *(f"/{n}" for n in range(1, PAGES))]
    return f"{prose(name_of(path))}{box}", links


def log_in_or_comment(path: str, to: str) -> tuple[int | str, Iterable[str]]:
    """Each page links by such URLs to a form and to its comments; only one page has any."""
    given = dict(parse_qsl(urlsplit(path).query))
    if "login" in path:
        return FORM, ["/"]
    if "comments" in path:
        return prose(99 if name_of(given["url"]) == COMMENTED else 98), ["/"]
    links = [to.format(what) + quote(path) for what in ("login", "comments")]
    return name_of(path), [*links, *(f"/{n}" for n in range(1, PAGES))]


def view(path: str) -> tuple[int | str, Iterable[str]]:
    """Each page links to a view of it, with other words and a form to log in."""
    if path.startswith("/view"):
        of = name_of(dict(parse_qsl(urlsplit(path).query))["of"])
        return f"{FORM} {prose(100 + of)}", ["/"]
    return name_of(path), [f"/view?of={quote(path)}", *(f"/{n}" for n in range(1, PAGES))]


@pytest.mark.parametrize("concurrent", [1, 8])
async def test_forms_to_log_in_are_fetched_a_few_times(
    web: Web, redis_url: str, concurrent: int
) -> None:
    """Nine show that the form is the same, wherever it leads back to; some more are checks."""
    options = {"CONCURRENT_REQUESTS": concurrent}
    fetched, texts, stats = await fetch(web, log_in, redis_url, **options)
    assert len(texts) == PAGES + 1
    assert sum(path.startswith("/login") for path in fetched) <= 20
    assert stats["dedup/spared/?next"] >= PAGES - 20


@pytest.mark.parametrize("box", ["", ASKS])
@pytest.mark.parametrize("form", ["", ASKS])
async def test_comments_are_all_fetched(web: Web, redis_url: str, box: str, form: str) -> None:
    """One of many is not empty; no page asks for a password, or each does, or only comments."""
    fetched, texts, _ = await fetch(web, partial(comment, box=box, form=form), redis_url)
    assert len(texts) == PAGES + 2
    assert sum(path.startswith("/comments") for path in fetched) == PAGES


@pytest.mark.parametrize("to", ["/{}?url=", "/index.php?do={}&url="])
async def test_a_form_says_nothing_of_other_pages(web: Web, redis_url: str, to: str) -> None:
    """Their URLs name a page with the same argument. Nor does it in the next crawl."""
    for _ in range(2):
        fetched, texts, _ = await fetch(web, partial(log_in_or_comment, to=to), redis_url)
        assert len(texts) == PAGES + 3
        assert sum("comments" in path for path in fetched) == PAGES


async def test_pages_that_ask_for_a_password_are_not_one(web: Web, redis_url: str) -> None:
    """Their texts differ, so that what their URLs name matters."""
    fetched, texts, stats = await fetch(web, view, redis_url)
    assert len(fetched) == len(texts) == 2 * PAGES
    assert "dedup/spared" not in stats
