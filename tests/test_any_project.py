"""One line in ADDONS finds the duplicates of spiders that know nothing of it, on any Scrapy."""

from __future__ import annotations

import csv
import json
import marshal
import os
import pickle
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import scrapy

from tests.conftest import Server
from tests.spiders.webserver import Answer, Web
from tests.support import kinds_of_projects
from tests.support.forked import run_scrapy, run_script
from tests.support.kinds_of_projects import PAGES
from tests.support.projects import ROOT
from tests.support.texts import article
from tests.support.texts import text as text_of


class Crawls(NamedTuple):
    """What the spiders of :mod:`tests.support.kinds_of_projects` left in a folder."""

    folder: Path
    log: str
    stats: dict[str, dict[str, Any]]

    def items(self, name: str) -> list[dict[str, Any]]:
        feed = self.folder / f"{name}.jsonl"
        lines = feed.read_text().splitlines() if feed.exists() else []
        return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def crawls(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Crawls:
    web, folder = Web(), tmp_path_factory.mktemp("crawls")
    for number in range(PAGES):
        text = text_of(article(max(number, 1)))
        web.page(f"/{number}", head=f"<title>Page {max(number, 1)}</title>", text=text)
    web.page("/", *[f"/{number}" for number in range(PAGES)], text="All pages")
    web.page("/other", text="Another page, with too few words of its own")
    for number in range(PAGES):
        web.page(f"/other?{number}", text="Another page, with too few words of its own")
        web.page(f"/app/{number}", text="Please enable JavaScript to run this app")
    server.ask("FLUSHALL", "SYNC")
    run = run_script(Path(kinds_of_projects.__file__), [web.url, server.url], folder, ROOT)
    web.close()
    assert run.returncode == 0, run.stderr
    return Crawls(folder, run.stderr, json.loads((folder / "stats.json").read_text()))


# Before 2.14 each pipeline runs in a task of its own.
_KNOWS_COPIES = scrapy.version_info >= (2, 14)
_NEEDS_THAT = pytest.mark.skipif(
    not _KNOWS_COPIES, reason="what a pipeline returns is not known to be of a response"
)


@pytest.mark.parametrize(
    "name",
    ["generator", "returned", "listed", "coroutine", "async_generator", "failing", "loader",
     "links", "csv", "directory", "directory_by_values",
     pytest.param("copied", marks=_NEEDS_THAT)],
)  # fmt: skip
def test_the_page_is_the_response(crawls: Crawls, name: str) -> None:
    """Items without HTML, and maybe without a URL, are judged by the page they came from."""
    stats = crawls.stats[name]
    assert stats["dedup/unique"] == PAGES - 1
    assert stats["item_dropped_reasons_count/ExactDuplicate"] == 1
    assert len(crawls.items(name)) == PAGES - 1


def test_what_comes_again_in_one_crawl_is_in_the_feed_once(crawls: Crawls) -> None:
    """Kept pages and copies alike are dropped when they come a second time."""
    stats = crawls.stats["twice"]
    assert stats["dedup/repeated"] == PAGES
    assert stats["item_dropped_count"] == PAGES + 1
    assert len(crawls.items("twice")) == PAGES - 1


def test_the_item_is_not_touched_but_for_the_tag(crawls: Crawls) -> None:
    """A dict takes the tag, without keys that say nothing; a class without the field stays."""
    tag = crawls.items("returned")[0].pop("dedup")
    assert tag.keys() == {"kind", "url", "cluster", "standing"}
    assert crawls.items("returned")[0].keys() == {"title", "dedup"}
    loaded = crawls.items("loader")[0]
    assert loaded.keys() == {"title", "url"}
    assert loaded["title"] == ["Page 1"]


@pytest.mark.parametrize(
    ("name", "reason", "setting"),
    [
        ("listing", "listing", "yield one item for each page"),
        ("rows", "short_text", "set DEDUP_PAGE=item if it is the page's text"),
        ("elsewhere", "other_url", "another URL than their response"),
        ("completed", "other_page", "begun on another page than their response"),
        ("completed_by_values", "other_page", "begun on another page than their response"),
        ("reviews", "other_page", "begun on another page than their response"),
        ("rendered", "other_text", "have no text that is in their response"),
        ("fetching", "other_text", "or a long one that is not"),
        (
            "fields_only",
            "no_url",
            "leave DEDUP_PAGE at auto and give pipelines that return another",
        ),
    ],
)
def test_a_crawl_in_which_nothing_was_checked(
    crawls: Crawls, name: str, reason: str, setting: str
) -> None:
    """All items pass, untagged, and a warning says why and what to do."""
    stats = crawls.stats[name]
    items = crawls.items(name)
    assert len(items) == stats["dedup/unchecked"] == stats[f"dedup/no_page/{reason}"] >= PAGES
    assert not any("dedup" in item for item in items)
    warnings = [line for line in crawls.log.splitlines() if "No page was checked" in line]
    alike = {"other_page": 3, "other_text": 2, "no_url": 1 if _KNOWS_COPIES else 2}.get(reason, 1)
    assert sum(setting in line for line in warnings) == alike
    assert sum(f"{PAGES} responses, and no item" in line for line in warnings) == 1


def test_the_spider_of_this_package(web: Web, server: Server, tmp_path: Path) -> None:
    """It fetches pages, obeys robots.txt and follows refreshes on any Scrapy, without errors."""
    web.page("/", "/page", "/private/1", "/private/2", "/moved", text=text_of(article(1)))
    web.page("/page", text=text_of(article(2)))
    web.page("/moved", head='<meta http-equiv="refresh" content="0; url=/new">')
    web.page("/new", text=text_of(article(3)))
    web.answers["/robots.txt"] = Answer(b"User-agent: *\nDisallow: /private/\n")
    words = ["crawl", "site", "-a", f"url={web.url}", "-O", str(tmp_path / "site.jsonl")]
    words += ["-s", f"DEDUP_REDIS_URL={server.url}", "-s", f"DEDUP_DATA_DIR={tmp_path}"]
    words += ["-s", "DEDUP_NAMESPACE=site", "-s", "AUTOTHROTTLE_ENABLED=False"]
    run = run_scrapy(words, ROOT, os.environ)
    assert run.returncode == 0, run.stderr
    assert "ERROR" not in run.stderr
    items = map(json.loads, (tmp_path / "site.jsonl").read_text().splitlines())
    assert {item["url"].removeprefix(web.url) for item in items} == {"/", "/page", "/new"}
    assert not [path for path in web.seen if path.startswith("/private/")]


def test_the_filter_can_be_turned_off(crawls: Crawls) -> None:
    """For a crawl, and for a page by its request."""
    assert len(crawls.items("off")) == len(crawls.items("disabled")) == PAGES
    assert crawls.stats["off"]["dedup/switched_off"] == PAGES
    assert not any(key.startswith("dedup/") for key in crawls.stats["disabled"])
    assert not any("dedup" in item for item in crawls.items("off") + crawls.items("disabled"))


def test_tags_in_csv(crawls: Crawls) -> None:
    """A full tag is JSON there, and DEDUP_TAG=kind is a plain word."""
    with (crawls.folder / "tags.csv").open() as feed:
        tags = [json.loads(row["dedup"]) for row in csv.DictReader(feed)]
    assert [tag["kind"] for tag in tags] == ["unique"] * (PAGES - 1)
    with (crawls.folder / "kinds.csv").open() as feed:
        assert {row["dedup"] for row in csv.DictReader(feed)} == {"unique"}


def test_tags_in_feeds_of_objects(crawls: Crawls) -> None:
    """Scrapy's formats for Python have all items, with a tag that is a dict and nothing else."""
    for load, name in (marshal.load, "tags.marshal"), (pickle.load, "tags.pickle"):
        with (crawls.folder / name).open("rb") as feed:
            items = [load(feed) for _ in range(PAGES - 1)]
            assert not feed.read()
        assert {type(item["dedup"]) for item in items} == {dict}
