"""The add-on in other people's projects: crawls that are real, servers that fail."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import scrapy.crawler
from scrapy import Spider
from scrapy.settings import Settings

from crawler import Addon
from crawler.chrome.page.reader import COMPILED
from crawler.dedup import ConfigError, DedupConfig, DuplicateIndex
from crawler.pipelines import DuplicatePipeline
from crawler.pipelines.item_pages.origins import OriginPipeline
from tests.conftest import Server, wait_until
from tests.spiders.webserver import Web
from tests.support.forked import run_script
from tests.support.projects import Project

COUNT = 60
PATH = "crawler.pipelines.DuplicatePipeline"


LINKS = """
from scrapy import Request
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule


class Links(CrawlSpider):
    name = "links"
    rules = [Rule(LinkExtractor(), callback="page", follow=True)]

    async def start(self):
        yield Request(self.url)

    def page(self, response):
        yield {"url": response.url, "html": response.text}
        if response._cached_selector is not None:
            self.crawler.stats.inc_value("parsed")
"""


QUEUE = """
import asyncio
import scrapy
from crawler.scrapy_versions import close_spider


class Queue(scrapy.Spider):
    name = "queue"

    async def start(self):
        yield scrapy.Request("data:,enough", self.enough)
        for number in range(1_000_000):
            await asyncio.sleep(0.001)
            yield {"url": f"/{number}", "text": f"row {number} " * 9}
            if number == 20 and self.by == "start":
                await close_spider(self.crawler.engine, "enough")

    async def enough(self, response):
        await asyncio.sleep(0.5)
        if self.by == "response":
            raise scrapy.exceptions.CloseSpider("enough")


class ClosesSlowly:
    async def process_item(self, item, spider=None):
        return item

    async def close_spider(self, spider=None):
        await asyncio.sleep(0.5)
"""


SCRIPT = """
from scrapy import Spider
from scrapy.crawler import KIND

process = KIND({"ADDONS": {"crawler.Addon": 500}, "DEDUP_THRESHOLD": 7})
crawl = process.crawl(type("Empty", (Spider,), {"name": "empty"}))
if KIND.__name__ == "CrawlerProcess":
    crawl.addErrback(lambda failure: print(failure.getErrorMessage()))
process.start()
raise SystemExit(process.bootstrap_failed)
"""


CHECKED = """
from scrapy import Spider


class Checked(Spider):
    name = "checked"

    def parse(self, response):
        '''A page.

        @url URL
        @scrapes url html
        '''
        yield {"url": response.url, "html": response.text}
"""


@pytest.fixture
def web(web: Web) -> Web:
    """Sixty pages, of which /1 repeats /0."""
    for i in range(COUNT):
        text = f"page {max(i, 1)} of many says {max(i, 1)} times what no page said before " * 3
        web.page(f"/{i}", text=text)
    return web


@pytest.fixture
def project(tmp_path: Path) -> Project:
    result = Project(tmp_path)
    result.write("shop", 'ADDONS = {"crawler.Addon": 500}\nCOMMANDS_MODULE = "crawler.commands"\n')
    return result


@pytest.fixture
def heeding() -> list[str]:
    """What a command begins with to be refused what files do not permit, whoever runs the tests."""
    if os.getuid():
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("root may read everything")
    return ["setpriv", "--inh-caps=-all", "--bounding-set=-dac_override,-dac_read_search"]


def crawl(web: Web, count: int = COUNT) -> list[str]:
    return ["crawl", "pages", "-a", f"url={web.url}", "-a", f"count={count}", "-O", "items.jsonl"]


def pipelines(**values: Any) -> dict[Any, Any]:
    settings = Settings(values)
    Addon().update_settings(settings)
    found = dict(settings["ITEM_PIPELINES"])
    first = found.pop(OriginPipeline)
    assert all(first < priority for priority in found.values() if priority is not None)
    return found


def test_the_pipeline_is_added() -> None:
    """The add-on puts its pipeline before those of the project."""
    assert pipelines(ITEM_PIPELINES={Web: 300}) == {Web: 300, DuplicatePipeline: 200}


@pytest.mark.parametrize("key", [PATH, DuplicatePipeline])
@pytest.mark.parametrize("priority", [700, None])
def test_the_projects_own_priority_stays(key: Any, priority: int | None) -> None:
    """A priority that the project set, or None to turn the pipeline off, is kept."""
    assert pipelines(ITEM_PIPELINES={key: priority}) == {key: priority}


def test_a_class_derived_from_the_pipeline_stands_for_it() -> None:
    """One that lets some types of items pass, as an example, is the only one to check pages."""

    class Articles(DuplicatePipeline):
        pass

    assert pipelines(ITEM_PIPELINES={Articles: 350}) == {Articles: 350}


def test_a_page_is_parsed_once(project: Project, web: Web, redis_url: str) -> None:
    """When a CrawlSpider has yielded a page, the tree for its links is there already."""
    web.page("/", "".join(f"<a href=/{i}>{i}</a> " for i in range(3)))
    (project.folder / "shop" / "spiders" / "links.py").write_text(LINKS)
    words = ["crawl", "links", "-a", f"url={web.url}/", "-O", "items.jsonl"]
    run = project.scrapy(*words, DEDUP_REDIS_URL=redis_url)
    assert len(run.items) == 2
    assert run.stats["item_dropped_reasons_count/ExactDuplicate"] == 1
    assert run.stats.get("parsed", 0) == (3 if COMPILED else 0)


def test_wrong_settings_fail() -> None:
    """A mistyped setting is an error that names the right one."""
    with pytest.raises(ConfigError, match="did you mean DEDUP_THRESHOLD"):
        pipelines(DEDUP_TRESHOLD=0.9)


@pytest.mark.parametrize("reactor", [True, False])
def test_a_crawl(project: Project, web: Web, redis_url: str, reactor: bool) -> None:
    """One line in ADDONS keeps one page of each, with a Twisted reactor and without."""
    run = project.scrapy(*crawl(web), DEDUP_REDIS_URL=redis_url, TWISTED_REACTOR_ENABLED=reactor)
    assert run.code == 0
    assert len(run.items) == COUNT - 1
    assert {item["dedup"]["kind"] for item in run.items} == {"unique"}
    assert run.stats["item_dropped_reasons_count/ExactDuplicate"] == 1
    assert f"Pages: {COUNT} ({COUNT - 1} unique, 1 exact), of which 1 dropped" in run.log
    assert "DEBUG: Dropped: exact: '" in run.log
    assert "Warning" not in run.log.replace("AiohttpDownloadHandler is experimental", "")


def test_the_feed_of_a_crawl_that_cannot_begin_stays(
    project: Project, web: Web, redis_url: str
) -> None:
    """What is served from it goes on, although Scrapy opens feeds that it never fills."""
    first = project.scrapy(*crawl(web), DEDUP_REDIS_URL=redis_url)
    second = project.scrapy(*crawl(web), DEDUP_REDIS_URL=redis_url, DEDUP_THRESHOLD=0.7)
    assert (first.code, second.code) == (0, 1)
    assert first.items == second.items
    assert len(first.items) == COUNT - 1


CLUMSY = """
class Clumsy:
    def process_item(self, item, spider=None):
        return item

    def close_spider(self, spider=None):
        self.file.close()
"""


def test_a_neighbour_that_fails_to_close(project: Project, web: Web, redis_url: str) -> None:
    """The index is closed all the same, and what became of the pages is told."""
    (project.folder / "shop" / "clumsy.py").write_text(CLUMSY)
    for priority in (100, 300):
        added = json.dumps({"shop.clumsy.Clumsy": priority})
        run = project.scrapy(*crawl(web), DEDUP_REDIS_URL=redis_url, ITEM_PIPELINES=added)
        assert "AttributeError: 'Clumsy' object has no attribute 'file'" in run.log
        assert run.log.count(f"Pages: {COUNT} ") == 1


class Late:
    """A pipeline that cannot open its database, which takes it a moment to find out."""

    async def open_spider(self) -> None:
        await asyncio.sleep(0)
        raise RuntimeError("no database")


async def test_a_neighbour_that_fails_to_open(server: Server, redis_url: str) -> None:
    """The index, which is being opened meanwhile, is closed, be its process there for long."""
    settings = {
        "ADDONS": {Addon: 500},
        "ITEM_PIPELINES": {Late: 300},
        "DEDUP_REDIS_URL": redis_url,
        # Scrapy leaves the sessions of a crawl that cannot begin open.
        "DOWNLOAD_HANDLERS": dict.fromkeys(("http", "https")),
        "REMOTE_CONTROL_ENABLED": False,
        "TWISTED_REACTOR_ENABLED": False,
    }
    if scrapy.version_info < (2, 15):
        pytest.skip("this Scrapy needs a reactor")
    with pytest.raises(RuntimeError, match="no database"):
        await scrapy.crawler.AsyncCrawlerRunner(settings).crawl(
            type("Empty", (Spider,), {"name": "empty"})
        )
    await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()})
    wait_until(lambda: len(server.ask("CLIENT", "LIST").splitlines()) == 1)  # who asks


def test_parse_checks_the_page(project: Project, web: Web, redis_url: str) -> None:
    """`scrapy parse` starts its pipelines and waits for none of them."""
    (project.folder / "shop" / "spiders" / "links.py").write_text(LINKS)
    words = ["parse", "--pipelines", "--spider=links", "--callback=page"]
    for i, kind in enumerate(("unique", "exact", "unique", "unique")):
        run = project.scrapy(*words, f"{web.url}/{i}", DEDUP_REDIS_URL=redis_url)
        assert run.code == 0
        assert f"Pages: 1 (1 {kind})" in run.log


def test_other_reactors(project: Project, web: Web, redis_url: str) -> None:
    """Without asyncio the pipeline is off, says why, and the crawl goes on."""
    run = project.scrapy(
        *crawl(web, 2),
        DEDUP_REDIS_URL=redis_url,
        TWISTED_REACTOR="twisted.internet.selectreactor.SelectReactor",
    )
    assert (run.code, len(run.items)) == (0, 2)
    assert "the duplicate filter needs asyncio" in run.log


# Scrapy 2.13 tells faults of settings when the process ends, and scripts nothing by an exit code.
IS_2_13 = scrapy.version_info < (2, 14)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"DEDUP_THRESHOLD": 2}, "[crawler] ERROR: DEDUP_THRESHOLD expects a number"),
        (
            {"STAY_OPEN": "long", "EXTENSIONS": '{"crawler.sharing.StayOpen": 0}'},
            "STAY_OPEN expects a number of seconds: could not convert",
        ),
        ({"DEDUP_REDIS_URL": "redis://127.0.0.1:1"}, "DEDUP_REDIS_URL redis://127.0.0.1:1"),
        ({"DEDUP_SHINGLE_SIZE": 4}, "shingle_size: index 5, settings 4"),
    ],
)
async def test_failing_start(
    project: Project, web: Web, redis_url: str, settings: dict[str, Any], message: str
) -> None:
    """A crawl that cannot begin fetches nothing, says why in one line, and exits with 1."""
    async with DuplicateIndex.open(DedupConfig(redis_url=redis_url)):
        pass
    run = project.scrapy(*crawl(web), **{"DEDUP_REDIS_URL": redis_url, **settings})
    assert run.code == 1
    if not IS_2_13:
        errors = [line for line in run.log.splitlines() if "ERROR" in line and message in line]
        assert len(errors) == 1
        assert "Traceback" not in run.log
    assert web.seen == []


@pytest.mark.parametrize("kind", ["AsyncCrawlerProcess", "CrawlerProcess"])
def test_a_script_with_a_wrong_setting(kind: str, tmp_path: Path) -> None:
    """It is told in one line: by the log, or by the Deferred of who crawls with Twisted's."""
    if not hasattr(scrapy.crawler, kind):
        pytest.skip(f"this Scrapy has no {kind}")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.replace("KIND", kind))
    run = run_script(script, [], tmp_path, Path(__file__).parents[1])
    said = run.stdout + run.stderr
    assert IS_2_13 or run.returncode == 1
    assert said.count("DEDUP_THRESHOLD expects a number above 0 and up to 1, not 7") == 1
    assert "Traceback" not in said


def test_contracts_need_no_index(project: Project, web: Web) -> None:
    """`scrapy check` runs without a server and whatever is set: no item gets to a pipeline."""
    (project.folder / "shop" / "spiders" / "checked.py").write_text(
        CHECKED.replace("URL", f"{web.url}/0")
    )
    settings = {"DEDUP_REDIS_URL": "redis://127.0.0.1:1", "DEDUP_THRESHOLD": "x"}
    run = project.scrapy("check", "checked", **settings)
    assert run.code == 0
    assert "Ran 1 contract in" in run.log


def kill_during(project: Project, server: Server, web: Web | None, **settings: Any) -> Any:
    words = crawl(web) if web else ["crawl", "rows", "-a", "count=200", "-O", "items.jsonl"]
    process = project.start(*words, DEDUP_REDIS_URL=server.url, DOWNLOAD_DELAY=0.01, **settings)
    try:
        wait_until(lambda: server.ask("HGET", "{dedup}:stats", "unique"))
    finally:
        server.kill()
        run = project.end(process)
    return run


def test_server_killed_and_crawl_goes_on(
    project: Project, web: Web, start_server: Callable[..., Server]
) -> None:
    """A server killed in mid-crawl loses no page: those after it pass unchecked."""
    web.answers["/1"] = web.answers["/2"]
    server = start_server(appendonly="yes", appendfsync="always")
    run = kill_during(project, server, web)
    server.start()
    assert run.code == 0
    assert len(run.items) + run.stats.get("item_dropped_count", 0) == COUNT
    kinds = [item["dedup"]["kind"] for item in run.items]
    assert set(kinds) == {"unique", "unchecked"}
    assert run.stats["dedup/unchecked"] == kinds.count("unchecked")
    assert run.log.count("The index gives no answer, pages pass unchecked") == 1
    waiting = run.stats["dedup/unchecked"]
    assert f"{waiting} pages passed unchecked" in run.log
    replay = project.scrapy("dedup", "replay", DEDUP_REDIS_URL=server.url)
    assert f"{waiting} pages checked" in replay.output
    again = project.scrapy("dedup", "replay", DEDUP_REDIS_URL=server.url)
    assert (again.code, again.output) == (1, "0 pages checked, 0 of them copies\n")


def test_server_back_before_the_crawl_ends(
    project: Project, web: Web, start_server: Callable[..., Server]
) -> None:
    """Pages that passed unchecked are checked when the crawl ends and the server answers."""
    server = start_server(appendonly="yes", appendfsync="always")
    process = project.start(*crawl(web), DEDUP_REDIS_URL=server.url, DOWNLOAD_DELAY=0.05)
    wait_until(lambda: server.ask("HGET", "{dedup}:stats", "unique"))
    server.kill()
    seen = len(web.seen)
    time.sleep(1)
    wait_until(lambda: len(web.seen) >= min(COUNT, seen + 10))  # a busy machine takes longer
    server.start()
    run = project.end(process)
    assert run.code == 0
    replayed = sum(n for name, n in run.stats.items() if name.startswith("dedup/replayed/"))
    assert replayed == run.stats["dedup/unchecked"] > 0
    assert len(run.items) + run.stats.get("item_dropped_count", 0) == COUNT


def test_a_data_folder_that_may_not_be_entered_any_more(
    project: Project, web: Web, start_server: Callable[..., Server], heeding: list[str]
) -> None:
    """It costs what would be kept there and no item, is told by its setting and is not passed over.

    Neither is it taken for one in which nothing waits.
    """
    server, folder = start_server(), project.folder / "data"
    settings = {"DEDUP_REDIS_URL": server.url, "DEDUP_DATA_DIR": folder, "DOWNLOAD_DELAY": 0.02}
    project.prefix = heeding
    process = project.start(*crawl(web), **settings)
    wait_until(lambda: any(folder.glob("archive-dedup@*.sqlite-wal")))
    folder.chmod(0)
    try:
        server.kill()
        run = project.end(process)
        server.start()
        replay = project.scrapy("dedup", "replay", **settings)
    finally:
        folder.chmod(0o700)
    assert run.code == 0
    assert len(run.items) + run.stats.get("item_dropped_count", 0) == COUNT
    assert f"DEDUP_DATA_DIR {folder} cannot store pages that pass unchecked" in run.log
    assert run.log.count("Pages that passed unchecked cannot be read from DEDUP_DATA_DIR") == 1
    assert run.log.count("Texts are not archived for reports in") == 1
    assert "Traceback" not in run.log
    assert replay.code == 2
    assert "the pages that wait in DEDUP_DATA_DIR cannot be checked" in replay.log


@pytest.mark.parametrize("spider", ["pages", "rows"])
def test_server_killed_and_crawl_stops(
    project: Project, web: Web, start_server: Callable[..., Server], spider: str
) -> None:
    """With `stop` the crawl ends with exit code 1, and what was fetched is in the feed."""
    server = start_server()
    run = kill_during(project, server, web if spider == "pages" else None, DEDUP_ON_ERROR="stop")
    server.start()
    assert run.code == 1
    assert run.stats["finish_reason"] == "dedup_server_unavailable"
    assert run.log.count("The index gives no answer, the crawl stops") == 1
    assert "Traceback" not in run.log
    seen = run.stats["response_received_count"] if spider == "pages" else len(run.items)
    assert run.stats["item_scraped_count"] == len(run.items)
    assert len(run.items) + run.stats.get("item_dropped_count", 0) == seen
    assert run.stats["dedup/unchecked"] > 0


@pytest.mark.parametrize("reactor", [True, False])
def test_an_item_from_start_under_way_at_the_end(
    project: Project, start_server: Callable[..., Server], reactor: bool
) -> None:
    """SIGTERM while the server takes its time over the last item: the crawl ends all the same."""
    server, log = start_server(), project.folder / "log"
    words = ["crawl", "rows", "-a", "count=1000", "-O", "items.jsonl"]
    settings = {"LOG_FILE": log, "TWISTED_REACTOR_ENABLED": reactor}
    process = project.start(*words, DEDUP_REDIS_URL=server.url, **settings)
    wait_until(lambda: server.ask("HGET", "{dedup}:stats", "unique"))
    server.process.send_signal(signal.SIGSTOP)
    time.sleep(0.2)
    process.send_signal(signal.SIGTERM)
    wait_until(lambda: "Closing spider" in log.read_text())
    server.process.send_signal(signal.SIGCONT)
    run = project.end(process)
    assert run.code == 0
    assert f"Pages: {len(run.items)} ({len(run.items)} unique)" in log.read_text()


def test_items_from_start_until_there_are_enough(project: Project, redis_url: str) -> None:
    """CLOSESPIDER_ITEMCOUNT ends a crawl that has no responses, with all it checked in its feed."""
    words = ["crawl", "rows", "-a", "count=1000", "-O", "items.jsonl"]
    run = project.scrapy(*words, DEDUP_REDIS_URL=redis_url, CLOSESPIDER_ITEMCOUNT=5)
    assert run.code == 0
    assert run.stats["finish_reason"] == "closespider_itemcount"
    assert f"Pages: {len(run.items)} ({len(run.items)} unique)" in run.log
    assert len(run.items) < 1000


@pytest.mark.parametrize("by", ["response", "start"])
def test_a_start_that_has_no_end(project: Project, redis_url: str, by: str) -> None:
    """When the crawl ends nothing more is taken from it, and all that is kept is in the feed."""
    (project.folder / "shop" / "spiders" / "queue.py").write_text(QUEUE)
    words = ["crawl", "queue", "-a", f"by={by}", "-O", "items.jsonl"]
    slow = '{"shop.spiders.queue.ClosesSlowly": 300}'
    run = project.scrapy(*words, DEDUP_REDIS_URL=redis_url, ITEM_PIPELINES=slow)
    assert run.code == 0
    assert run.stats["finish_reason"] == "enough"
    assert "ERROR" not in run.log
    stats = json.loads(project.scrapy("dedup", "stats", "--json", DEDUP_REDIS_URL=redis_url).output)
    assert stats["verdicts"] == {"unique": len(run.items)}


@pytest.mark.parametrize("reactor", [True, False])
def test_urls_gone_before_a_forced_stop(
    project: Project, web: Web, start_server: Callable[..., Server], reactor: bool
) -> None:
    """Ctrl-C twice while the server hangs: what it was being told, and was to be, is told later."""
    gone = (*range(10), *range(50, 60))
    for number in gone:
        del web.answers[f"/{number}"]
    web.open.clear()
    server, log = start_server(), project.folder / "log"
    settings = {"LOG_FILE": log, "DEDUP_TIMEOUT": 60, "TWISTED_REACTOR_ENABLED": reactor}
    process = project.start(*crawl(web), DEDUP_REDIS_URL=server.url, **settings)
    wait_until(lambda: web.seen)
    server.process.send_signal(signal.SIGSTOP)
    web.open.set()
    found = [f"Crawled (404) <GET {web.url}/{number}>" for number in gone]
    for messages in (found, ["Send again to force"]):
        wait_until(lambda said=messages: all(map(log.read_text().__contains__, said)))
        process.send_signal(signal.SIGINT)
    project.end(process)
    server.process.send_signal(signal.SIGCONT)
    replay = project.scrapy("dedup", "replay", DEDUP_REDIS_URL=server.url)
    assert "20 URLs reported to the index as gone" in replay.output
