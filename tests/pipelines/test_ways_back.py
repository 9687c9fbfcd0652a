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
COMMENTED = 41


def log_in(path: str) -> tuple[int | str, Iterable[str]]:
    """Each page links to the form, naming itself, and to all others."""
    if path.startswith("/login"):
        return FORM, ["/"]
    return name_of(path), [f"/login?next={quote(path)}", *(f"/{n}" for n in range(1, PAGES))]


def comment(path: str, box: str = "") -> tuple[int | str, Iterable[str]]:
    """Each page links to its comments; only one page has any. Each has this box."""
    if path.startswith("/comments"):
        of = dict(parse_qsl(urlsplit(path).query))["of"]
        number = 99 if name_of(of) == COMMENTED else 98
        return f"{prose(number)}{box}", ["/"]
    links = [f"/comments?of={quote(path)}", *(f"/{n}" for n in range(1, PAGES))]
    return f"{prose(name_of(path))}{box}", links


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


@pytest.mark.parametrize("box", ["", "<input type=password>"])
async def test_comments_are_all_fetched(web: Web, redis_url: str, box: str) -> None:
    """One of many is not empty; no page asks for a password, or each does."""
    fetched, texts, _ = await fetch(web, partial(comment, box=box), redis_url)
    assert len(texts) == PAGES + 2
    assert sum(path.startswith("/comments") for path in fetched) == PAGES


async def test_pages_that_ask_for_a_password_are_not_one(web: Web, redis_url: str) -> None:
    """Their texts differ, so that what their URLs name matters."""
    fetched, texts, stats = await fetch(web, view, redis_url)
    assert len(fetched) == len(texts) == 2 * PAGES
    assert "dedup/spared" not in stats
