"""What a crawl of a site warns of, because it is hardly what was meant."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from scrapy.exceptions import DropItem

from crawler.dedup import DedupConfig, Kind, Verdict
from crawler.pipelines.item_pages.item_page import Missing
from crawler.pipelines.item_pages.long_texts import LongTexts
from crawler.pipelines.outcome import Outcome
from tests.pipelines import crawls
from tests.pipelines.made_sites import Own
from tests.spiders.test_moved_pages import HOME, Crawl, crawled, forbid
from tests.spiders.webserver import Web


@pytest.mark.parametrize("by", ["noindex", "robots.txt", "404"])
async def test_a_site_without_a_page_to_check(
    web: Web, crawl: Crawl, redis_url: str, caplog: pytest.LogCaptureFixture, by: str
) -> None:
    """Who runs a ready spider is not told to yield items; why there are none is said once."""
    if by == "noindex":
        web.page("/", text=HOME, head='<meta name="robots" content="noindex">')
    elif by == "robots.txt":
        forbid(web, "/")
    result = await crawled(crawl, redis_url)
    warned = [line for line in caplog.messages if "No page was checked" in line]
    if by == "noindex":
        said = "1 page asks not to be indexed; SITE_META_ROBOTS_OBEY=False takes such pages, too"
        assert warned == [f"No page was checked: {said}"]
    else:
        assert not warned
        assert "No start page could be fetched" in caplog.text
    assert not result.paths


@pytest.mark.parametrize(("ttl", "warned"), [("30", True), ("30d", False)])
async def test_a_time_in_seconds_that_was_meant_in_days(
    web: Web, crawl: Crawl, redis_url: str, caplog: pytest.LogCaptureFixture, ttl: str, warned: bool
) -> None:
    """It would empty the index without a word."""
    web.page("/", text=HOME)
    await crawled(crawl, redis_url, DEDUP_TTL=ttl)
    said = "DEDUP_TTL is 30 seconds: pages that no crawl sees again in that time expire"
    assert (said in caplog.text) == warned


class Dropping:
    """A pipeline that drops all items."""

    def process_item(self, item: Any) -> Any:
        raise DropItem


async def test_a_pipeline_before_the_filter_that_drops_all_pages(
    web: Web, crawl: Crawl, redis_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The spider has said nothing of it."""
    web.page("/", text=HOME)
    await crawled(crawl, redis_url, ITEM_PIPELINES={Dropping: 100})
    assert "No page was checked: 1 response, and no item reached the filter" in caplog.text


class Failing(Own):
    """A spider whose callback raises an error."""

    def parse(self, response: Any) -> Any:
        raise ValueError


async def test_callbacks_that_all_fail(
    web: Web, redis_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing is wrong with items and pipelines, which had no turn."""
    web.page("/", text=HOME)
    await crawls.crawl(web, spider=Failing, DEDUP_REDIS_URL=redis_url)
    assert "no item reached the filter. Callbacks failed, with the errors above" in caplog.text


def test_why_nothing_was_checked_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    """The warning has the most frequent reason, and the lines above it the others."""
    caplog.set_level(logging.INFO)
    outcome = Outcome(DedupConfig())
    for missing in (Missing.URL, Missing.FIELDS, Missing.URL):
        outcome.count_item({}, Verdict(Kind.UNCHECKED, "http://a/"), missing)
    outcome.log_outcome()
    (other,) = (line for line in caplog.messages if "unchecked: items that" in line)
    assert "have no HTML and no text" in other
    assert caplog.text.count("have no URL") == 1


LONG = "A long text. " * 20


@pytest.mark.parametrize(
    ("item", "missing", "setting"),
    [
        ({"id": 7, "summary": LONG, "body": LONG * 2}, Missing.LISTING, "DEDUP_TEXT_FIELD=body"),
        ({"paragraphs": [LONG, LONG]}, Missing.NOT_HTML, "DEDUP_TEXT_FIELD=paragraphs"),
        ({"content": f"<p>{LONG}</p>"}, Missing.NOT_HTML, "DEDUP_HTML_FIELD=content"),
        ({"html": f"<p>{LONG}</p>"}, Missing.LISTING, ""),
        ({"title": "Tea"}, Missing.LISTING, ""),
        ({"body": LONG}, Missing.ERROR, ""),
        ("no item", Missing.LISTING, ""),
    ],
)
def test_the_field_with_a_long_text_is_named(
    caplog: pytest.LogCaptureFixture, item: Any, missing: Missing, setting: str
) -> None:
    """If nothing was checked, the warning says which setting fits what most items hold."""
    outcome = Outcome(DedupConfig())
    for one in (item, item, {"title": "Tea"}):
        outcome.count_item(one, Verdict(Kind.UNCHECKED, "http://a/"), missing)
    outcome.log_outcome()
    (said,) = (line for line in caplog.messages if "No page was checked" in line)
    assert ("Most of them have" in said) == bool(setting)
    assert setting in said


@pytest.mark.parametrize(
    ("items", "said"),
    [
        ([{"body": LONG}, {"title": "Tea"}], ""),  # half of them, not most
        ([{"body": LONG}, {"body": LONG}, {"body": f"<p>{LONG}</p>"}], "DEDUP_TEXT_FIELD=body"),
    ],
)
def test_what_few_items_have_decides_nothing(items: list[dict[str, str]], said: str) -> None:
    texts = LongTexts(DedupConfig())
    for item in items:
        texts.note_item(item)
    assert said in texts.describe()
    assert bool(texts.describe()) == bool(said)
