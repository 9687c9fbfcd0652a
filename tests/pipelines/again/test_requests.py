"""Pages are asked for again by the request that brought them, or the URL of their item."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from scrapy import Request

from crawler.dedup.candidates import LEARNT
from crawler.pipelines.crawl import later, memory
from tests.pipelines.again.asking import HOST, IN_ORDER, Other
from tests.pipelines.crawls import Feed, Kept, prose
from tests.spiders.webserver import Web


async def test_any_spider_is_asked_by_the_request_of_the_item(web: Web, run: Any) -> None:
    """With its callback, arguments and meta: the copy of a page that has another text now."""
    web.page("/old", text=prose(1))
    await run(spider=type("First", (Other,), {"paths": ("/old",)}))
    web.page("/new", text=prose(1))
    web.page("/old", text=prose(2))
    tags = Kept()
    stats = await run(tags, spider=Other)
    assert web.seen == ["/new", "/old", "/new"]
    assert [(item["at"], item["mine"], item["dedup"]["kind"]) for item in tags.items] == [
        ("/old", [1], "updated"),
        ("/new", [1], "updated"),
    ]
    assert (stats["dedup/asked_again"], stats["finish_reason"]) == (1, "finished")


class Injector:
    """Gives callbacks an item that is made of the response, as scrapy-poet does."""

    def process_response(self, request: Request, response: Any) -> Any:
        request.cb_kwargs["item"] = {"said": response.css("main p::text").get()}
        return response


class Injected(Other):
    async def start(self) -> AsyncIterator[Request]:
        yield Request(self.url)

    def parse(self, response: Any, item: Any) -> Iterator[Any]:
        for path in self.paths:
            yield Request(self.url + path, self.parse_page, cb_kwargs={"at": path})

    def parse_page(self, response: Any, at: str, **injected: Any) -> Iterator[Any]:
        yield response.cb_kwargs["item"]


async def test_an_item_that_is_injected_into_the_callback(web: Web, run: Any) -> None:
    """It was begun nowhere else, and a request that is made again brings one of its own.

    The callback may also read it from its response.
    """
    web.page("/", text=HOST)
    web.page("/old", text=prose(1))
    settings = {"DOWNLOADER_MIDDLEWARES": {Injector: 500}}
    await run(spider=type("First", (Injected,), {"paths": ("/old",)}), **settings)
    web.page("/new", text=prose(1))
    web.page("/old", text=prose(2))
    tags, kept = Kept(), list[Any]()
    add = memory.DroppedPages.add_page
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory.DroppedPages, "add_page", lambda *of: kept.append(of[2]) or add(*of))
        await run(tags, spider=Injected, **settings)
    assert web.seen == ["/", "/new", "/old", "/new"]
    assert [(item["said"], item["dedup"]["kind"]) for item in tags.items] == [
        (prose(2), "updated"),
        (prose(1), "updated"),
    ]
    assert [page.request.cb_kwargs for page in kept] == [{"at": "/new"}]


async def test_pages_are_named_by_the_urls_of_their_items(
    web: Web, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever their spelling; the crawl itself knows them by their identity."""
    pages = {"/list?b=2&a=1": 1, "/operator%3D.html": 2, "/copy?z=1&y=2": 1, "/operator": 2}
    web.page("/", *pages, text=HOST)
    for path, seed in pages.items():
        web.page(path.replace("%3D", "="), text=prose(seed))  # as the client asks for it
    waiting: list[str] = []
    add = memory.DroppedPages.add_page
    with monkeypatch.context() as patch:
        patch.setattr(
            memory.DroppedPages, "add_page", lambda *of: waiting.append(of[1]) or add(*of)
        )
        # On a busy machine an original may still be on its way when its copy comes.
        patch.setattr(later.LaterPipelines, "is_doubtful", lambda *of: False)
        stats = await run()
    assert (stats["dedup/exact"], waiting) == (2, [])  # their originals were seen
    tags = Kept()
    await run(tags, DEDUP_DROP="")
    of = {
        item.url: item.dedup["duplicate_of"] for item in tags.items if "duplicate_of" in item.dedup
    }
    assert of == {
        web.url + "/copy?z=1&y=2": web.url + "/list?b=2&a=1",
        web.url + "/operator": web.url + "/operator%3D.html",
    }
    other = "/list?a=1&b=2"
    web.page("/", "/copy?z=1&y=2", other, text=HOST)
    web.page(other, text=prose(3))
    feed = Feed()
    await run(feed)
    assert web.seen[1:] == ["/copy?z=1&y=2", other, "/copy?z=1&y=2"]
    assert [feed.tags[path]["kind"] for path in (other, "/copy?z=1&y=2")] == ["updated"] * 2


async def test_a_text_of_two_scopes_is_asked_for_twice(web: Web, run: Any) -> None:
    """Each scope has lost the page that had it, so that one of each is asked for again."""

    class Tenants(Other):
        def parse_page(self, response: Any, at: str) -> Iterator[Any]:
            yield {"url": response.url, "text": response.text, "tenant": at[1]}

    old, new = ("/a/old", "/b/old"), ("/a/new", "/b/new")
    for path in (*old, *new):
        web.page(path, text=prose(1))
    stats = await run(spider=type("First", (Tenants,), {"paths": old}), DEDUP_SCOPE="tenant")
    assert stats["dedup/unique"] == 2
    for number, path in enumerate(old, 2):
        web.page(path, text=prose(number))
    second = type("Second", (Tenants,), {"paths": (*new, *old)})
    stats = await run(spider=second, DEDUP_SCOPE="tenant")
    assert web.seen == [*new, *old, *new]
    assert (stats["dedup/exact"], stats["dedup/updated"]) == (2, 4)


async def test_copies_of_what_is_gone_are_asked_for_again(web: Web, run: Any) -> None:
    """Also where the page was not asked for at all, and stays where it was: nobody confirms it."""
    web.page("/", "/old", text=HOST)
    web.page("/old", text=prose(1))
    await run()
    web.page("/", "/new", "/old", text=HOST)
    web.page("/new", text=prose(1))
    del web.answers["/old"]
    feed = Feed()
    await run(feed)
    assert web.seen[1:] == ["/new", "/old", "/new"]
    assert feed.tags["/new"]["replaces"].endswith("/old")
    web.page("/other", text=prose(1))
    web.page("/", "/other", text=HOST)  # nothing links to /new any more
    assert (await run(feed))["dedup/asked_again"] == 1
    assert web.seen[1:] == ["/other", "/other"]
    assert feed.tags["/other"]["kind"] == "updated"
    assert "dedup/asked_again" not in await run()


async def crawl_preferred(
    web: Web, run: Any, copies: dict[str, list[str]]
) -> tuple[Feed, dict[str, Any]]:
    """Of copies, among enough other pages, that with the shortest URL is kept."""
    others = {f"/{n}": prose(100 + n) for n in range(LEARNT)}
    texts = others | {path: " ".join(words) for path, words in copies.items()}
    web.page("/", *texts, text=HOST)
    for path, text in texts.items():
        web.page(path, text=text)
    feed = Feed()
    settings = {"DEDUP_TEMPLATES": True, "DEDUP_SEED": 1, **IN_ORDER}
    stats = await run(feed, DEDUP_PREFER="shortest-url", **settings)
    assert feed.texts.keys() >= {"/", *others}
    return feed, stats


async def test_a_copy_of_a_page_that_is_replaced_is_asked_for_again(web: Web, run: Any) -> None:
    """The better page is like the page that it replaces, but not like all copies of that."""
    words, head, tail = (prose(seed, 300).split() for seed in range(3))
    copies = {
        "/original": words,
        "/copy-with-another-end": words[:272] + tail[:28],
        "/best": head[:28] + words[28:],
    }
    feed, stats = await crawl_preferred(web, run, copies)
    assert (stats["dedup/replaced"], stats["dedup/asked_again"]) == (1, 1)
    assert feed.texts.keys() >= {"/copy-with-another-end", "/best"}
    assert "/original" not in feed.texts


async def test_copies_of_all_pages_that_are_replaced_are_asked_for_again(
    web: Web, run: Any
) -> None:
    """One page replaces two, which are not like each other; their copies are not like it."""
    words, *other = (prose(seed, 300).split() for seed in range(5))
    left, right = other[0][:28] + words[28:], words[:272] + other[1][:28]
    copies = {
        "/left": left,
        "/right": right,
        "/copy-of-left": left[:140] + other[2][:20] + left[160:],
        "/copy-of-right": right[:140] + other[3][:20] + right[160:],
        "/all": words,
    }
    feed, stats = await crawl_preferred(web, run, copies)
    assert (stats["dedup/replaced"], stats["dedup/asked_again"]) == (1, 2)
    assert feed.texts.keys() >= {"/all", "/copy-of-left", "/copy-of-right"}
