"""Items of one response: with one page, in lists, and held no longer than they live."""

from __future__ import annotations

import contextlib
import gc
import weakref
from typing import Any

import pytest
from scrapy.http import Request
from scrapy.utils.test import get_crawler

from crawler.dedup import DedupConfig
from crawler.pipelines import ExactDuplicate
from crawler.pipelines.dropping import DroppedPage
from crawler.pipelines.item_pages.origins import Origins
from crawler.pipelines.item_pages.page_reader import PageReader
from crawler.pipelines.result_middleware import ResultMiddleware
from tests.pipelines.items.responses import URL, response
from tests.pipelines.stories import ARTICLE


def test_no_response_is_held_longer_than_its_items_live():
    """Nor is an item that never came to an end, as one that another pipeline replaced."""
    crawler, reader = get_crawler(), PageReader(DedupConfig(), lambda name: None)
    origins, tracker = Origins.of_crawl(crawler, reader), ResultMiddleware(crawler)
    page, item = response(), {"title": 1}
    assert list(tracker.process_spider_output(page, [Request(URL), item]))[1] is item
    found = origins.find_origin(item)
    assert found is not None
    assert (found.response, found.is_alone) == (page, True)
    assert origins.find_origin(dict(item)) is None
    is_gone = weakref.ref(page)
    del page, found
    gc.collect()
    assert is_gone() is None
    assert not origins._noted


def coloured(**values: Any) -> list[dict[str, Any]]:
    return [{"url": URL, **values, "colour": colour} for colour in ("red", "green")]


@pytest.mark.parametrize(
    ("items", "settings", "kept"),
    [
        (coloured(text=ARTICLE), {}, 2),
        ([{"url": f"{URL}#{n}", "html": f"<p id={n}>{ARTICLE}"} for n in (1, 2)], {}, 2),
        ([{"url": f"{URL}?{n}", "html": response().text} for n in (1, 2)], {}, 2),
        ([{"url": f"{URL}?{n}", "text": ARTICLE} for n in (1, 2)], {}, 1),
        ([{"url": URL, "text": ARTICLE}] * 2, {}, 1),
        (coloured(text=ARTICLE), {"page": "item"}, 1),
    ],
)
@pytest.mark.parametrize("first", ["first", "second", "none"])
async def test_items_of_one_response_with_one_page(open_bench, items, settings, kept, first):
    """Variants of a product are all kept, or all dropped with their page; in any order.

    The same item twice is a repetition, and what has a URL and a text of its own is a page.
    """
    bench, crawler = await open_bench(**settings), get_crawler()
    bench.pipeline.origins = Origins.of_crawl(crawler, bench.pipeline.texts.reader)
    if first == "none":
        await bench.process({"url": "https://b.example/", "text": ARTICLE})
    page, passed = response(), []
    tracker = ResultMiddleware(crawler)
    found = list(tracker.process_spider_output(page, [dict(item) for item in items]))
    for item in found if first == "first" else found[::-1]:
        with contextlib.suppress(ExactDuplicate, DroppedPage):
            passed.append(await bench.process(item))
    holds_body = "html" in items[0] and "?" in items[0]["url"]
    assert len(passed) == (holds_body if first == "none" else kept)
    assert sum("dedup" in item for item in passed) == (first != "none")


def test_a_long_list_is_not_held():
    """Of a feed with a million rows, only the latest are compared with each other."""

    class Value:
        pass

    crawler, reader = get_crawler(), PageReader(DedupConfig(), lambda name: None)
    origins = Origins.of_crawl(crawler, reader)
    rows = ({"url": f"{URL}/{n}", "text": ARTICLE, "value": Value()} for n in range(300))
    passed = ResultMiddleware(crawler).process_spider_output(response(), rows)
    row = next(passed)
    value = weakref.ref(row["value"])
    origins.forget_item(row)
    del row
    for _ in range(200):
        origins.forget_item(next(passed))
    gc.collect()
    assert value() is None


async def test_an_item_waits_for_the_next_one_only():
    """Requests pass at once, items in their order, and none is lost when a callback fails."""
    crawler, reader = get_crawler(), PageReader(DedupConfig(), lambda name: None)
    origins, tracker = Origins.of_crawl(crawler, reader), ResultMiddleware(crawler)
    page, first, second, request = response(), {"n": 1}, {"n": 2}, Request(URL)

    async def callback(*results: Any) -> Any:
        for result in results:
            yield result
        raise ValueError("no price")

    passed = tracker.process_spider_output_async(page, callback(first, request))
    assert [await anext(passed), await anext(passed)] == [request, first]
    with pytest.raises(ValueError, match="no price"):
        await anext(passed)
    assert origins.find_origin(first).is_alone
    seen = list(tracker.process_spider_output(page, [first, request, second]))
    assert seen == [request, first, second]
    assert not origins.find_origin(first).is_alone
    # What has a page of its own need not wait.
    whole = {"url": URL, "text": ARTICLE}
    assert next(tracker.process_spider_output(page, iter([whole, second]))) is whole
