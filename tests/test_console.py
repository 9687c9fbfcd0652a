"""What a person sees of a crawl: lines on the way, a table at the end."""

from __future__ import annotations

import io
import shlex
import shutil
import sys
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console as Terminal
from scrapy import Spider
from scrapy.exceptions import NotConfigured
from scrapy.settings import Settings
from scrapy.utils.test import get_crawler

from crawler.console import Console, summary_rows
from crawler.dedup import ConfigError
from crawler.dedup.verdict import Kind
from crawler.spiders.site import SiteSpider

STATS: dict[str, Any] = {
    "site/pages": 1200,
    "site/hosts/a.example": 200,
    "site/hosts/b.example": 1000,
    "site/noindex": 3,
    "site/item_errors": 1,
    "spider_exceptions/count": 1,
    "item_scraped_count": 900,
    "item_dropped_count": 295,
    "dedup/dropped/exact": 200,
    "dedup/dropped/near": 95,
    "dedup/unique": 890,
    "dedup/exact": 200,
    "dedup/near": 95,
    "dedup/short": 10,
    "site/other_content_types/image/png": 7,
    "site/other_content_types/application/pdf": 2,
    "site/http_errors/404": 5,
    "site/download_errors/DownloadTimeoutError": 1,
    "robotstxt/forbidden": 4,
}


class Finished(SimpleNamespace):
    """A crawl that is over; like others, it is equal to none but itself."""

    __hash__ = object.__hash__
    __eq__ = object.__eq__


def console(stats: dict[str, Any], **options: Any) -> tuple[Console, io.StringIO]:
    text = io.StringIO()
    crawler: Any = Finished(
        stats=SimpleNamespace(get_stats=lambda: stats),
        engine=SimpleNamespace(scheduler=[None] * 17),
        get_extension=lambda kind: None,
        crawling=True,
        settings=Settings(),
    )
    terminal = Terminal(file=text, markup=False, width=100, **options)
    return Console(crawler, 10, terminal), text


def test_every_row_has_its_number() -> None:
    """Parts add up to their whole, and what never happened is shown as 0."""
    table = {row.name: row for row in summary_rows(STATS)}
    parts = ("kept", "dropped", "noindex", "errors")
    assert table["pages fetched"].number == sum(table[name].number for name in parts) == 1200
    assert table["verdicts"].number == sum(table[kind].number for kind in Kind) == 1195
    assert table["not fetched as pages"].number == 7 + 2 + 5 + 1 + 4
    assert table["other content types"].detail == "image/png: 7, application/pdf: 2"
    assert table["dropped"].detail == "exact: 200, near: 95"
    assert table["updated"].number == 0


@pytest.mark.parametrize("interval", [0, -1, float("nan")])
def test_no_lines_are_asked_for(interval: float) -> None:
    """What is no number of seconds above 0 means none, and is no error at the start of a crawl."""
    reporter, _ = console(STATS)
    reporter.interval = interval
    reporter.opened()
    assert reporter._task is None


def test_a_line_says_how_far_the_crawl_is() -> None:
    """Pages, kept, duplicates, queue and rate stand in one line."""
    reporter, text = console(STATS)
    reporter.show_line()
    (line,) = text.getvalue().splitlines()
    for part in ("1,200 pages", "900 kept", "295 dropped", "17 queued", "pages/s"):
        assert part in line
    assert "ending" not in line


def test_on_a_terminal_one_line_moves() -> None:
    """It is written over in place, and is gone before the table."""
    terminal = {"force_terminal": True, "highlight": False, "_environ": {"TERM": "xterm"}}
    reporter, text = console(STATS, **terminal)
    reporter.show_line()
    reporter.show_line()
    reporter._task = SimpleNamespace(running=True, stop=lambda: None)
    reporter.closed(Spider("x"), "finished")
    first, second, last, end = text.getvalue().split("\r")
    assert "1,200 pages" in first
    assert first == second
    assert (last.strip(), len(last), end) == ("", 99, "")


def test_spared_requests_are_told() -> None:
    """The line says how many, the table why, and what that has saved."""
    spared = {
        "dedup/spared": 1500,
        "dedup/spared/?sid": 1490,
        "dedup/spared/copy_depth": 10,
        "dedup/spared/fruitless": 0,
        "dedup/spared_bytes": 2_500_000,
        "dedup/spared_seconds": 60.4,
    }
    reporter, text = console(STATS | spared)
    reporter.show_line()
    assert " · 1,500 spared · " in text.getvalue()
    reporter.show_table()
    assert (
        "1,500 requests were spared, for copies (?sid: 1490, found on copies of copies: 10): "
        "some 2.5 MB and 60 s of waiting"
    ) in text.getvalue()


def test_pages_that_were_requested_again_are_told() -> None:
    """In a first crawl no original has changed: more is known of the site than before."""
    reporter, text = console(STATS | {"dedup/asked_again": 1})
    reporter.show_table()
    assert (
        "1 dropped page was requested again: the original has changed or is gone, or the site is "
        "better known by now\n"
    ) in text.getvalue()


def test_little_that_was_spared_is_not_nothing() -> None:
    """Bytes are told in a unit that fits them."""
    reporter, text = console(STATS | {"dedup/spared": 1, "dedup/spared_bytes": 25_184})
    reporter.show_table()
    assert "some 25.2 kB and 0 s of waiting" in text.getvalue()


def test_a_line_says_that_the_crawl_ends() -> None:
    """Who pressed Ctrl-C sees that it was heard while pages under way are still fetched."""
    reporter, text = console(STATS)
    reporter.crawler.crawling = False
    reporter.show_line()
    assert "closing; press Ctrl-C again to force it" in " ".join(text.getvalue().split())


def test_a_crawl_without_pages_offers_no_questions() -> None:
    """Where nothing was fetched there is nothing to write and nothing to ask about."""
    reporter, text = console({"site/download_errors/DownloadTimeoutError": 1})
    reporter.show_table()
    shown = text.getvalue()
    assert "no answer" in shown
    assert "Ask for more" not in shown
    assert "add -O" not in shown


def test_the_table_says_where_the_pages_are() -> None:
    """Hosts, reason, the feed and how to ask for more stand around the numbers."""
    reporter, text = console(STATS)
    reporter.closed(Spider("x"), "finished")
    reporter.feed_closed(SimpleNamespace(uri="pages.jsonl", itemcount=900))
    reporter.dropped(SimpleNamespace(url="http://a.example/[red]copy"))
    reporter.show_table()
    shown = text.getvalue()
    assert "b.example, a.example: finished after 0 s" in shown
    assert "900 kept pages are in pages.jsonl" in shown
    assert "dedup show 'http://a.example/[red]copy'" in shown
    assert "1,200" in shown


@pytest.mark.parametrize(
    ("url", "word"),
    [
        ("http://a.example/;touch$IFS/tmp/x;'`ls`", None),
        ("--output=/etc/passwd", "URL"),
        ("file:///etc/passwd", "URL"),
        ("http://a.example/\n; ls", "URL"),
    ],
)
def test_a_url_to_paste_is_a_word_of_a_shell(
    url: str, word: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a stranger put into a URL is no command of whoever asks about it; so is the path of
    Scrapy."""
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(sys, "argv", ["/a folder/scrapy"])
    reporter, text = console(STATS)
    reporter.dropped(SimpleNamespace(url=url))
    reporter.show_table()
    command = text.getvalue().rpartition("stats; ")[2]
    assert shlex.split(command) == ["/a folder/scrapy", "dedup", "show", word or url]


def test_what_the_command_line_said_of_the_index_is_said_again() -> None:
    """Else the commands would ask another index; a password is not shown."""
    reporter, text = console(STATS)
    settings = reporter.crawler.settings
    settings.set("DEDUP_NAMESPACE", "old news", "cmdline")
    settings.set("DEDUP_REDIS_URL", "redis://:secret@db.example:6379", "cmdline")
    settings.set("DEDUP_DATA_DIR", "elsewhere", "project")
    reporter.show_table()
    shown = text.getvalue()
    index = "-s DEDUP_NAMESPACE='old news' -s DEDUP_REDIS_URL='redis://***@db.example:6379'"
    assert f"dedup stats {index}; " in shown
    assert f"dedup show URL {index}" in shown
    assert "elsewhere" not in shown


def test_without_a_feed_it_says_so() -> None:
    """Who forgot -O learns it from the first crawl."""
    reporter, text = console(STATS)
    reporter.show_table()
    assert "add -O pages.jsonl" in text.getvalue()


def test_a_crawl_that_never_began_shows_no_table() -> None:
    """Under an error at the start, a table of zeros would only hide it."""
    reporter, text = console({})
    reporter.show_table()
    assert text.getvalue() == ""


def test_other_spiders_are_left_alone() -> None:
    """The table is about the site spider's statistics; of others and of shells it says nothing."""
    crawler = get_crawler(Spider)
    crawler.spider = Spider("other")
    with pytest.raises(NotConfigured) as error:
        Console.from_crawler(crawler)
    assert not error.value.args  # which Scrapy would log


@pytest.mark.parametrize(
    ("setting", "build"),
    [
        ("CONSOLE_INTERVAL", Console.from_crawler),
        ("SITE_META_ROBOTS_OBEY", partial(SiteSpider.from_crawler, url="https://example.com")),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(setting: str, build: Callable[..., Any]) -> None:
    """Scrapy's own words for a value that it cannot read do not say whose it is."""
    crawler = get_crawler(SiteSpider, {setting: "maybe"})
    crawler.spider = SiteSpider(url="https://example.com")
    with pytest.raises(ConfigError, match=f"^{setting} expects "):
        build(crawler)
