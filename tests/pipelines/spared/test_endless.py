"""Crawls of sites without end, which end by themselves."""

from __future__ import annotations

import random
import re
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from tests.pipelines.crawls import prose
from tests.pipelines.made_sites import (
    ENDLESS,
    endless,
    fetch,
    name_of,
)
from tests.spiders.webserver import Web


@pytest.mark.parametrize("link", ENDLESS.values(), ids=ENDLESS)
async def test_a_crawl_without_end_ends(web: Web, redis_url: str, link: str) -> None:
    """With sessions in the query and path, relative links that nest, and new names each time."""
    fetched, texts, stats = await fetch(web, endless(link), redis_url)
    assert len(texts) == 6
    assert len(fetched) <= 30
    assert stats["dedup/spared"] > 0
    assert stats["dedup/spared_bytes"] > 0


async def test_a_chain_of_copies_is_bounded(
    web: Web, redis_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A calendar of which all pages have one text starves; DEDUP_COPY_DEPTH says how soon."""

    def site(path: str) -> tuple[int, list[str]]:
        month = int(dict(parse_qsl(urlsplit(path).query)).get("m", 0))
        return 0, [f"/?m={month + 1}", f"/?m={month - 1}"]

    fetched, _, _ = await fetch(web, site, redis_url, DEDUP_COPY_DEPTH=3)
    assert len(fetched) <= 12
    again, _, _ = await fetch(
        web, site, redis_url, DEDUP_COPY_DEPTH=0, DEDUP_NAMESPACE="other", DEPTH_LIMIT=0
    )
    assert len(fetched) < len(again) <= 15
    assert "brought nothing new" in caplog.text


def described(path: str) -> tuple[Any, list[str]]:
    """A calendar whose empty months have names and years, and an album of numbered pictures."""
    name, _, number = path.strip("/").partition("/")
    if name == "month":
        month = int(number)
        text = f"{'abcdefghijkl'[month % 12] * 5} {month // 12}. There are no events."
        return text, [f"/month/{month + 1}", f"/month/{month - 1}"]
    if name == "picture":
        place = int(number)
        return f"Picture {place} of 30", [f"/picture/{place + 1}"] * (place < 30)
    return name_of(path), ["/month/24312", "/picture/1", *(f"/{n}" for n in range(1, 20))]


@pytest.mark.parametrize("to", ["", "/to"], ids=["direct", "redirected"])
async def test_a_calendar_with_names_ends(web: Web, redis_url: str, to: str) -> None:
    """Although each month has a text of its own; an album, and what is beside them, is kept."""

    def site(path: str) -> tuple[Any, list[str]]:
        text, links = described(path)
        return text, [to * link.startswith("/month") + link for link in links]

    fetched, texts, _ = await fetch(web, site, redis_url)
    assert sum(path.startswith("/picture") for path in fetched) == 30
    assert {prose(n).split()[-1] for n in range(20)} <= texts
    assert sum(path.startswith("/month") for path in fetched) <= 150


HOURS = "</p><p>".join(f"{hour}:{minutes}" for hour in range(8, 20) for minutes in ("00", "30"))


def hourly(path: str) -> tuple[Any, list[str]]:
    """A calendar whose weeks list all hours, and a row of long tables of small numbers."""
    name, _, number = path.strip("/").partition("/")
    if name == "week":
        week = int(number)
        days = "</p><p>".join(f"Day {7 * week + day}</p><p>{HOURS}" for day in range(7))
        event = prose(100 + week) if week in (-9, 4) else ""
        return f"{days}</p><p>{event}", [f"/week/{week + 1}", f"/week/{week - 1}"]
    if name == "table":
        cells = "</p><p>".join(map(str, random.Random(number).choices(range(50), k=250)))
        return cells, [f"/table/{int(number) + 1}"] * (int(number) < 90)
    return name_of(path), ["/week/0", "/table/1", *(f"/{n}" for n in range(1, 20))]


async def test_a_calendar_with_hours_ends(web: Web, redis_url: str) -> None:
    """Although its empty weeks are long; tables that differ in order alone are not empty."""
    fetched, texts, _ = await fetch(web, hourly, redis_url)
    assert sum(path.startswith("/table") for path in fetched) == 90
    assert {prose(n).split()[-1] for n in (*range(20), 91, 104)} <= texts
    assert sum(path.startswith("/week") for path in fetched) <= 200


async def test_links_without_end_of_no_known_form_end(web: Web, redis_url: str) -> None:
    """What sites add to their paths need not look like anything: their pages stay those.

    One request at a time: with several, a limit may end a crawl before its rule is learnt. How soon
    that is varies, so the fetches of three sites, each crawled twice, are counted together.
    """

    def site(path: str) -> tuple[int, list[str]]:
        return next((int(n) for n in re.findall(r"(?:p|id=)(\d+)", path)), 0), links("")[1]

    count = 0
    for link in 2 * ("/p{page}~{n}", "/shop/p{page}/{n}", "/view/{n}/?id={page}"):
        links = endless(link, 16)
        options = {"DEDUP_NAMESPACE": f"links{count}", "CONCURRENT_REQUESTS": 1}
        fetched, texts, stats = await fetch(web, site, redis_url, **options)
        assert len(texts) == 16
        assert stats["dedup/spared"]
        assert stats["dedup/rules/learnt"]
        count += len(fetched)
    assert count <= 6 * 5 * 16  # without a rule 21 for each, or a limit ends the crawl
