"""Pages that a crawl has seen, and their URLs in parts."""

from __future__ import annotations

import random

from crawler.dedup.urls.parts import UrlParts, split_url
from crawler.pipelines.spared.novelty import NOWHERE
from crawler.pipelines.spared.site_exchange import SeenPage
from crawler.pipelines.spared.visits import Visit
from tests.pipelines.made_sites import (
    name_of,
)


def tracked(path: str) -> tuple[int, list[str]]:
    draws = random.Random(path)
    links = [
        f"/{n}?utm_source={draws.choice('abcdef')}&sid={draws.getrandbits(60)}"
        f"&sort={draws.choice('xyz')}"
        for n in range(30)
    ]
    return name_of(path), links


def seen_page(page: int, sort: str, text: int | None = None) -> SeenPage:
    visit = Visit()
    visit.cluster = visit.text = page if text is None else text
    return SeenPage(("host", "parse"), f"http://host/{page}?sort={sort}", NOWHERE, visit)


def parts_of(page: SeenPage) -> UrlParts:
    parts = split_url(page.url)
    assert parts is not None
    return parts
