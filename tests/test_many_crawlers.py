"""Crawlers that share a queue and an index, projects that share an index, and Scrapyd's eggs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import urllib.parse
import urllib.request
import zipfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request
from scrapy.exceptions import DontCloseSpider
from scrapy.utils.request import request_from_dict

from crawler import sharing
from crawler.dedup import DedupConfig, DuplicateIndex
from crawler.spiders.site import SiteSpider
from examples.demo_site.server import DemoSite
from tests.conftest import Server, free_port, wait_until
from tests.spiders.webserver import Web
from tests.support.forked import start_scrapy
from tests.support.markdown import blocks
from tests.support.projects import Project
from tests.support.workers import end_with_parent
from tests.test_demo_site import ITEMS, assert_one_of_each, crawl, url_of

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "scrapyd"
DOCUMENT = ROOT / "docs" / "howto" / "many-crawlers.md"
BLOCKS = {
    word: next(block.code for block in blocks(DOCUMENT) if word in block.code)
    for word in ("SCHEDULER_PERSIST", "shared_settings", "DEDUP_NAMESPACE", "setup(")
}


async def copies(site: DemoSite, config: DedupConfig) -> set[frozenset[str]]:
    """Which pages of the demo site stand for one another in an index."""
    groups = defaultdict(set)
    async with DuplicateIndex.open(config) as index:
        for page in ITEMS:
            record = await index.show(url_of(site, page))
            assert record is not None
            groups[record.duplicate_of or record.url].add(record.url)
    return set(map(frozenset, groups.values()))


def start(
    folder: Path, site: DemoSite, environment: dict[str, str], number: int
) -> subprocess.Popen[str]:
    """Start one of several crawlers."""
    words = ["crawl", "site", "-a", f"url={','.join(site.urls.values())}", "-O", f"{number}.jsonl"]
    # One page at a time, and slow pages: or one process would have fetched them all before the
    # others look into the queue again.
    slowly = {"AUTOTHROTTLE_ENABLED": False, "CONCURRENT_REQUESTS": 1, "STAY_OPEN": 6}
    slowly["DEDUP_ASK_AGAIN"] = 0  # or a copy may be fetched once more
    words += [word for name, value in slowly.items() for word in ("-s", f"{name}={value}")]
    return start_scrapy(words, folder, env=environment, stderr=subprocess.PIPE)


async def test_four_processes_crawl_what_one_crawls(server: Server, tmp_path: Path) -> None:
    """With the documented settings: each page fetched once, the same copies, one of each kept."""
    server.ask("FLUSHALL")
    shutil.copy(ROOT / "settings.py", tmp_path)
    (tmp_path / "shared_settings.py").write_text(BLOCKS["SCHEDULER_PERSIST"])
    (tmp_path / "scrapy.cfg").write_text(BLOCKS["shared_settings"])
    shared = {"SCRAPY_PROJECT": "shared", "CRAWL": "monday", "REDIS_URL": server.url}
    environment = {**os.environ, **shared, "PYTHONPATH": str(ROOT)}
    with DemoSite(delay=0.2) as site:
        processes = [start(tmp_path, site, environment, n) for n in range(4)]
        for process in processes:
            _, log = process.communicate(timeout=90)
            assert process.returncode == 0, log
        fetched = Counter(seen for seen in site.seen if seen[1] != "/robots.txt")
        feeds = [
            [json.loads(line) for line in (tmp_path / f"{number}.jsonl").read_text().splitlines()]
            for number in range(4)
        ]
        assert set(fetched.values()) == {1}
        assert sum(map(bool, feeds)) >= 2  # or they did not share the work
        assert_one_of_each(site, {item["url"]: item for feed in feeds for item in feed})
        together = await copies(site, DedupConfig(redis_url=server.url))

        site.seen.clear()
        site.delay = 0
        (tmp_path / "one").mkdir()
        alone = crawl(site, tmp_path / "one")
        assert set(fetched) == {seen for seen in site.seen if seen[1] != "/robots.txt"}
        assert together == await copies(site, DedupConfig(data_dir=tmp_path / "one" / "index"))
        assert len(alone.kept) == sum(map(len, feeds))


def test_requests_survive_a_queue_outside() -> None:
    """All callbacks are the spider's own, so that a queue can hold them by name."""
    from scrapy.utils.test import get_crawler

    crawler = get_crawler(SiteSpider)
    spider = SiteSpider.from_crawler(crawler, url="http://a", sitemap="true")
    for request in (spider._page_request("http://a/1"), spider._sitemap_request("http://a/s")):
        again = request_from_dict(request.to_dict(spider=spider), spider=spider)
        assert isinstance(again, Request)
        assert (again.callback, again.errback) == (request.callback, request.errback)


def test_an_idle_crawler_stays_open_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its time begins anew with each page."""
    now = [100.0]
    monkeypatch.setattr(sharing, "monotonic", lambda: now[0])
    extension = sharing.StayOpen(10)
    now[0] += 9
    with pytest.raises(DontCloseSpider):
        extension.idle()
    extension.busy()
    now[0] += 9
    with pytest.raises(DontCloseSpider):
        extension.idle()
    now[0] += 1
    extension.idle()


@pytest.fixture
def web(web: Web) -> Web:
    """Two pages that say different things."""
    for number in range(2):
        web.page(f"/{number}", text=f"page {number} says {number} times what none said " * 3)
    return web


def test_independent_projects_share_an_index_by_its_name(
    server: Server, tmp_path: Path, web: Web
) -> None:
    """What one has kept is a copy for the other; a third, with a name of its own, knows nothing."""
    server.ask("FLUSHALL")
    mirror = Web()
    mirror.answers = web.answers
    block = BLOCKS["DEDUP_NAMESPACE"].replace("redis://localhost:6379/0", server.url)
    block += 'ADDONS = {"crawler.Addon": 500}\n'
    kept = {}
    for name, site, more in (
        ("first", web, {}),
        ("second", mirror, {}),
        ("third", mirror, {"DEDUP_NAMESPACE": "other"}),
    ):
        project = Project(tmp_path / name)
        project.write(name, block)
        words = ("crawl", "pages", "-a", f"url={site.url}", "-a", "count=2", "-O", "items.jsonl")
        run = project.scrapy(*words, **more)
        assert run.code == 0, run.log
        kept[name] = len(run.items)
    assert kept == {"first": 2, "second": 0, "third": 2}
    run = project.scrapy(*words, DEDUP_THRESHOLD=0.7)
    assert run.code != 0
    assert "threshold: index 0.8, settings 0.7" in run.log
    mirror.close()


def build_egg(project: Path) -> Path:
    """As scrapyd-deploy builds it."""
    words = [sys.executable, "setup.py", "-q", "clean", "-a", "bdist_egg", "-d", "eggs"]
    subprocess.run(words, cwd=project, check=True, capture_output=True, timeout=60)
    return next((project / "eggs").glob("*.egg"))


@pytest.fixture(scope="module")
def egg(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The egg of the example."""
    project = tmp_path_factory.mktemp("scrapyd") / "site"
    shutil.copytree(EXAMPLE, project, ignore=shutil.ignore_patterns("__pycache__"))
    return build_egg(project)


def test_the_egg_contains_the_settings(egg: Path, tmp_path: Path) -> None:
    """So it does with the documented setup.py, and not with the one that is written otherwise."""
    assert (EXAMPLE / "setup.py").read_text().endswith(BLOCKS["setup("])
    assert "settings.py" in zipfile.ZipFile(egg).namelist()
    entry = zipfile.ZipFile(egg).read("EGG-INFO/entry_points.txt").decode()
    assert entry.split("\n")[:2] == ["[scrapy]", "settings = settings"]
    shutil.copy(EXAMPLE / "settings.py", tmp_path)
    (tmp_path / "setup.py").write_text(
        BLOCKS["setup("].replace('    py_modules=["settings"],\n', "")
    )
    assert "settings.py" not in zipfile.ZipFile(build_egg(tmp_path)).namelist()


def _ask(url: str, fields: dict[str, str] | None = None) -> dict[str, Any]:
    body = urllib.parse.urlencode(fields).encode() if fields else None
    with urllib.request.urlopen(url, body, timeout=60) as answer:
        found: dict[str, Any] = json.load(answer)
    assert found["status"] == "ok", found
    return found


def _upload(url: str, egg: Path) -> None:
    parts = [
        ("project", b"site"),
        ("version", b"1"),
        ('egg"; filename="site.egg', egg.read_bytes()),
    ]
    body = b"".join(
        b'--end\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n' % (name.encode(), value)
        for name, value in parts
    )
    headers = {"Content-Type": "multipart/form-data; boundary=end"}
    request = urllib.request.Request(url, body + b"--end--\r\n", headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert json.load(answer)["status"] == "ok"


def test_scrapyd_runs_the_spider(egg: Path, installed: str, server: Server, tmp_path: Path) -> None:
    """A real Scrapyd takes the egg, runs the package's spider twice, and both share the index."""
    server.ask("FLUSHALL")
    port = free_port()
    (tmp_path / "scrapyd.conf").write_text(
        f"[scrapyd]\nhttp_port = {port}\npoll_interval = 0.2\nmax_proc = 1\nitems_dir = items\n"
    )
    daemon = subprocess.Popen(
        end_with_parent(installed, "-m", "scrapyd"),
        cwd=tmp_path,
        start_new_session=True,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until(lambda: _answers(port), 60)
        _upload(f"{url}/addversion.json", egg)
        with DemoSite() as site:
            jobs = []
            for _ in range(2):
                job = {"project": "site", "spider": "site", "url": ",".join(site.urls.values())}
                job["setting"] = f"DEDUP_REDIS_URL={server.url}"
                jobs.append(_ask(f"{url}/schedule.json", job)["jobid"])
            wait_until(lambda: _are_finished(f"{url}/listjobs.json?project=site", 2), 90)
        log = (tmp_path / "logs" / "site" / "site" / f"{jobs[0]}.log").read_text()
        feeds = [tmp_path / "items" / "site" / "site" / f"{job}.jl" for job in jobs]
        assert "'finish_reason': 'finished'" in log, log
        items = [[json.loads(line) for line in feed.read_text().splitlines()] for feed in feeds]
        assert {item["dedup"]["kind"] for item in items[0]} == {"unique", "short"}
        assert {item["dedup"]["kind"] for item in items[1]} == {"unchanged"}
    finally:
        daemon.terminate()
        daemon.wait(timeout=60)


def _are_finished(url: str, jobs: int) -> bool:
    """Whether so many jobs are; asked all the time, Scrapyd would do little else than answer."""
    time.sleep(0.2)
    return len(_ask(url)["finished"]) == jobs


def _answers(port: int) -> bool:
    try:
        return bool(_ask(f"http://127.0.0.1:{port}/daemonstatus.json"))
    except OSError:
        time.sleep(0.1)
        return False
