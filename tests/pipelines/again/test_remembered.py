"""So many copies are remembered, and those that may change."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request

from crawler.pipelines.crawl import memory
from crawler.pipelines.crawl.asked_pages import AskedPages
from tests.pipelines.again.asking import HOST, IN_ORDER, Other
from tests.pipelines.crawls import Feed, Kept, prose
from tests.spiders.webserver import Web


def test_a_long_crawl_lists_so_many_orphans(caplog: pytest.LogCaptureFixture) -> None:
    """Those that it cannot request grow as it goes on, but not what it remembers."""
    counted: list[str] = []
    pages = AskedPages(1, lambda url: False, counted.append)
    for number in range(100):
        pages.note_missed(f"http://site/{number}")
    assert len(pages.missed) == 10
    pages.tell_end()
    assert len(counted) == 10
    assert "At least 10 orphans: no kept page has the text of them" in caplog.text


def test_a_kept_page_that_comes_again_is_among_the_latest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its copies are not remembered for want of an original that was just seen."""
    monkeypatch.setattr(memory, "_MOST_SEEN", 2)
    pages = memory.DroppedPages(10)
    for url in ("a", "b", "a", "c"):
        pages.note_kept(url)
    assert [pages.has_seen(url) for url in "abc"] == [True, False, True]


async def test_copies_of_pages_elsewhere_are_left(web: Web, run: Any) -> None:
    """A host that the crawl does not visit is not taken for one whose pages have moved."""
    web.page("/new", text=prose(1))
    elsewhere = web.host.replace("localhost", "127.0.0.1")
    web.page("/old", text=prose(1))
    first = type("First", (Other,), {"paths": ("/old",)})
    url, web.url = web.url, f"http://{elsewhere}"
    await run(spider=first)
    web.url = url
    stats = await run(spider=type("Second", (Other,), {"paths": ("/new",)}))
    assert (stats["dedup/exact"], "dedup/asked_again" in stats) == (1, False)


async def test_a_host_that_has_only_lists_by_now_is_visited(web: Web, run: Any) -> None:
    """Its response gives no item, and the page that it had before is nowhere linked."""
    elsewhere = web.host.replace("localhost", "127.0.0.1")
    for path in ("/old", "/new", "/list"):
        web.page(path, text=prose(1))
    url, web.url = web.url, f"http://{elsewhere}"
    await run(spider=type("First", (Other,), {"paths": ("/old",)}))
    web.url = url

    class Moved(Other):
        paths = ("/new",)

        async def start(self) -> AsyncIterator[Request]:
            yield Request(f"http://{elsewhere}/list", self.parse_list)
            async for request in super().start():
                yield request

        def parse_list(self, response: Any) -> Iterator[Any]:
            yield from ()

    tags = Kept()
    assert (await run(tags, spider=Moved))["dedup/asked_again"] == 1
    assert [(item["at"], item["dedup"]["kind"]) for item in tags.items] == [("/new", "updated")]


async def test_what_another_crawl_has_confirmed_may_change(web: Web, run: Any) -> None:
    """A crawl that overlaps has seen the original before this one finds it changed."""
    for path in Other.paths:
        web.page(path, text=prose(1))

    class Overlapped(Other):
        async def start(self) -> AsyncIterator[Request]:
            await run(spider=type("Behind", (Other,), {"paths": ("/old", "/new")}))
            web.page("/old", text=prose(2))
            async for request in super().start():
                yield request

    tags = Kept()
    stats = await run(tags, spider=Overlapped)
    assert [(item["at"], item["dedup"]["kind"]) for item in tags.items] == [
        ("/old", "updated"),
        ("/new", "updated"),
    ]
    assert (stats["dedup/asked_again"], stats["dedup/dropped/exact"]) == (1, 1)
    assert "dedup/asked_again" not in await run(spider=Other)


@pytest.mark.parametrize("minutes", [1, -1])
async def test_what_another_crawl_has_confirmed_may_be_no_page(
    web: Web, run: Any, monkeypatch: pytest.MonkeyPatch, minutes: int
) -> None:
    """The spider makes no item of it any more, unless the other crawl came later and did."""
    for path in Other.paths:
        web.page(path, text=prose(1))

    class Overlapped(Other):
        paths = ("/old", "/new")

        async def start(self) -> AsyncIterator[Request]:
            await run(spider=type("Behind", (Other,), {"paths": self.paths}))
            clock = SimpleNamespace(time=lambda: time.time() + 60 * minutes)
            monkeypatch.setattr(memory, "time", clock)
            async for request in super().start():
                yield request

        def parse_page(self, response: Any, at: str) -> Iterator[Any]:
            if at != "/old":
                yield from super().parse_page(response, at)

    tags = Kept()
    stats = await run(tags, spider=Overlapped)
    kept = ["/new"] if minutes > 0 else []
    assert [item["at"] for item in tags.items] == kept
    assert stats.get("dedup/asked_again", 0) == len(kept)


@pytest.mark.parametrize("most", [0, 1])
async def test_only_so_many_are_remembered(
    web: Web, run: Any, most: int, caplog: pytest.LogCaptureFixture
) -> None:
    """What is beyond is said at the end; 0 turns it off."""
    web.page("/", "/old", text=HOST)
    web.page("/old", text=prose(1))
    await run()
    copies = [f"/copy/{n}" for n in range(3)]
    web.page("/", *copies, "/old", text=HOST)
    for path in copies:
        web.page(path, text=prose(1))
    web.page("/old", text=prose(2))
    with caplog.at_level(logging.INFO):
        stats = await run(DEDUP_ASK_AGAIN=most, **IN_ORDER)
    assert stats.get("dedup/asked_again", 0) == most
    assert stats.get("dedup/not_remembered", 0) == 2 * most
    assert ("DEDUP_ASK_AGAIN=1" in caplog.text) == bool(most)


async def test_it_may_change_after_the_index_was_asked(web: Web, run: Any) -> None:
    """A page that another crawl has confirmed is asked about again at the end."""
    copies = tuple(f"/copy/{n}" for n in range(16))  # after which the index is asked
    for path in ("/old", *copies):
        web.page(path, text=prose(1))

    class Overlapped(Other):
        paths = (*copies, "/old")

        async def start(self) -> AsyncIterator[Request]:
            await run(spider=type("Behind", (Other,), {"paths": ("/old",)}))
            web.page("/old", text=prose(2))
            async for request in super().start():
                yield request

    tags = Kept()
    await run(tags, spider=Overlapped, DEDUP_ASK_AGAIN=20)
    assert [item["dedup"]["kind"] for item in tags.items] == ["updated", "updated"]


async def test_a_mirror_takes_no_room(web: Web, run: Any) -> None:
    """When memory is full, copies of hosts that the crawl does not visit are forgotten first."""
    mirrored = {f"/mirror/{n}": 10 + n for n in range(4)}
    for path, seed in {**mirrored, "/old": 1, "/older": 2}.items():
        web.page(path, text=prose(seed))
    url, elsewhere = web.url, "http://" + web.host.replace("localhost", "127.0.0.1")
    web.url = elsewhere
    await run(spider=type("There", (Other,), {"paths": tuple(mirrored)}))
    web.url = url
    await run(spider=type("Here", (Other,), {"paths": ("/old", "/older")}))
    for path, seed in {"/new": 1, "/newer": 2, "/old": 3, "/older": 4}.items():
        web.page(path, text=prose(seed))
    tags = Kept()
    paths = (*list(mirrored)[:3], "/new", "/mirror/3", "/newer", "/old", "/older")
    stats = await run(tags, spider=type("Both", (Other,), {"paths": paths}), DEDUP_ASK_AGAIN=2)
    assert [item["at"] for item in tags.items] == ["/old", "/older", "/new", "/newer"]
    assert (stats["dedup/asked_again"], stats.get("dedup/not_remembered")) == (2, None)


async def test_many_do_not_wait_for_the_end(web: Web, run: Any) -> None:
    """When much is remembered, copies of what has changed by then are asked for again."""
    olds = {"/a": 1, "/b": 2}
    web.page("/", *olds, text=HOST)
    for path, seed in olds.items():
        web.page(path, text=prose(seed))
    await run()
    copies = {f"/copy/{n}": 1 if n < 14 else 2 for n in range(22)}
    web.page("/", *list(copies)[:14], "/a", *list(copies)[14:], "/b", text=HOST)
    for path, seed in copies.items():
        web.page(path, text=prose(seed))
    web.page("/a", text=prose(3))
    feed = Feed()
    stats = await run(feed, DEDUP_ASK_AGAIN=20)
    assert (stats["dedup/asked_again"], "dedup/not_remembered" in stats) == (1, False)
    assert len(feed.tags.keys() & copies.keys()) == 1
