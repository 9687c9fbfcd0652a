"""The whole house on the demo site: its table says what a crawl must keep."""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from crawler.dedup import DuplicateIndex, Record
from crawler.dedup.config import DedupConfig
from crawler.dedup.verdict import Kind
from examples.demo_site.pages import DemoPage, pages
from examples.demo_site.server import UNWANTED, DemoSite
from tests.conftest import wait_until
from tests.support.forked import run_scrapy, start_scrapy
from tests.support.texts import missed

ROOT = Path(__file__).parents[1]
ITEMS = [page for page in pages() if page.view != "noindex"]
SETS = {page.set: page.relation for page in ITEMS if page.set}


class Crawl(NamedTuple):
    """A crawl of the demo site by ``scrapy crawl`` that has ended."""

    kept: dict[str, dict[str, Any]]
    numbers: dict[str, int]
    output: str


def command(site: DemoSite, folder: Path, *more: str) -> list[str]:
    settings = {"DEDUP_DATA_DIR": folder / "index", "AUTOTHROTTLE_ENABLED": False}
    words = ["-m", "scrapy", "crawl", "site", "-a", f"url={','.join(site.urls.values())}"]
    words += ["-O", str(folder / "pages.jsonl")]
    for name, value in settings.items():
        words += ["-s", f"{name}={value}"]
    return [sys.executable, *words, *more]


def feed_items(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "pages.jsonl").read_text().splitlines()]


def crawl(site: DemoSite, folder: Path, *more: str) -> Crawl:
    run = run_scrapy(command(site, folder, *more)[3:], ROOT, os.environ)
    assert run.returncode == 0, run.stderr
    kept = feed_items(folder)
    rows = re.findall(r"^ *(\w[\w.]*(?: [\w.]+)*) {2,}([\d,]+)\b", run.stderr, re.MULTILINE)
    numbers = {name: int(number.replace(",", "")) for name, number in rows}
    return Crawl({item["url"]: item for item in kept}, numbers, run.stderr)


def url_of(site: DemoSite, page: DemoPage) -> str:
    return site.urls[page.host] + page.path


async def records(site: DemoSite, folder: Path) -> dict[DemoPage, Record | None]:
    config = DedupConfig(data_dir=folder / "index")
    async with DuplicateIndex.open(config) as index:
        return {page: await index.show(url_of(site, page)) for page in ITEMS}


def assert_one_of_each(site: DemoSite, kept: dict[str, dict[str, Any]]) -> None:
    survivors = defaultdict(list)
    for page in ITEMS:
        if page.set is None:
            assert url_of(site, page) in kept, f"{page.path} has no copy and must be kept"
        elif url_of(site, page) in kept:
            survivors[page.set].append(page.path)
    assert {name: len(survivors[name]) for name in SETS} == dict.fromkeys(SETS, 1)
    assert len(kept) == len(SETS) + sum(page.set is None for page in ITEMS)


@pytest.fixture(scope="module")
def site() -> Iterator[DemoSite]:
    with DemoSite() as running:
        yield running


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def first(site: DemoSite, folder: Path) -> Crawl:
    """The first crawl; those after it find its index."""
    return crawl(site, folder)


def shingles(page: DemoPage) -> set[tuple[str, ...]]:
    title, paragraphs = page.title_and_paragraphs()
    words = re.findall(r"\w+", " ".join([title, *paragraphs]).lower())
    return {tuple(words[n : n + 5]) for n in range(len(words) - 4)}


def test_the_table_is_true_of_the_texts() -> None:
    """Near pairs are so far above the threshold that each index finds them, others far below."""
    found = {page: shingles(page) for page in ITEMS}
    for (a, of_a), (b, of_b) in itertools.combinations(found.items(), 2):
        jaccard = len(of_a & of_b) / max(len(of_a | of_b), 1)
        if a.set is None or a.set != b.set:
            assert jaccard < 0.3, (a.path, b.path)
        elif a.relation == "exact":
            assert jaccard == 1, (a.path, b.path)
        else:
            assert 0.9 < jaccard < 1, (a.path, b.path)
            assert missed(jaccard) < 1e-6, (a.path, b.path)


def test_one_page_of_each_set_is_kept(site: DemoSite, first: Crawl) -> None:
    """Of each set of copies exactly one survives, and every page without a copy does."""
    assert_one_of_each(site, first.kept)


async def test_each_copy_is_a_copy_of_the_survivor(
    site: DemoSite, folder: Path, first: Crawl
) -> None:
    """The index names, for every dropped page, the survivor of its set and the right relation."""
    known = await records(site, folder)
    survivor = {page.set: url_of(site, page) for page in ITEMS if url_of(site, page) in first.kept}
    for page, record in known.items():
        assert record is not None, page.path
        if url_of(site, page) not in first.kept:
            assert record.kind == page.relation, page.path
            assert record.duplicate_of == survivor[page.set], page.path
        elif page.view == "bare":
            assert record.kind is Kind.SHORT
        else:
            assert record.kind is Kind.UNIQUE, page.path


def test_items_carry_their_verdict_and_no_html(first: Crawl) -> None:
    """The feed has the main text and the tag; the HTML stays out of it."""
    for item in first.kept.values():
        assert item["dedup"]["kind"] in ("unique", "short")
        assert item["text"]
        assert "html" not in item


def test_what_is_not_for_robots_is_left_alone(site: DemoSite, first: Crawl) -> None:
    """Neither the page that robots.txt forbids nor rel=nofollow links are asked for."""
    assert not [path for _, path in site.seen if path in UNWANTED]
    assert not [url for url in first.kept if url.endswith("/archive")]
    assert any(url.endswith("/flood") for url in first.kept), "the archive's links are followed"


def test_the_table_adds_up(site: DemoSite, first: Crawl) -> None:
    """What is shown at the end accounts for every page, and says where they are."""
    n = first.numbers
    assert n["pages fetched"] == len(pages())
    assert n["pages fetched"] == n["kept"] + n["dropped"] + n["noindex"] + n["errors"]
    assert n["kept"] == len(first.kept)
    assert n["verdicts"] == sum(n[kind] for kind in Kind) == n["kept"] + n["dropped"]
    assert n["dropped"] == n["exact"] + n["near"]
    assert (n["near"], n["short"], n["unchecked"], n["errors"]) == (3, 1, 0, 0)
    assert n["other content types"] == 2
    assert n["HTTP errors"] == n["forbidden by robots.txt"] == n["redirects to other hosts"] == 1
    assert "pages.jsonl" in first.output
    for url in site.urls.values():
        assert url.removeprefix("http://") in first.output


def test_a_second_crawl_finds_nothing_new(site: DemoSite, folder: Path, first: Crawl) -> None:
    """Every page is ``unchanged``, those that were dropped before too, and the kept set stays."""
    second = crawl(site, folder)
    assert second.numbers["unchanged"] == len(ITEMS)
    assert second.kept.keys() == first.kept.keys()
    assert {item["dedup"]["kind"] for item in second.kept.values()} == {"unchanged"}


def test_a_changed_page_is_updated(site: DemoSite, folder: Path, first: Crawl) -> None:
    """With the next edition the ferry's page and the front page, which lists its headline, and no
    other, are ``updated``.
    """
    site.edition = 2
    third = crawl(site, folder)
    updated = [u for u, item in third.kept.items() if item["dedup"]["kind"] == "updated"]
    assert sorted(url.rpartition("/")[2] for url in updated) == ["", "ferry"]
    assert third.kept.keys() == first.kept.keys()


def test_a_killed_crawl_loses_nothing(tmp_path: Path) -> None:
    """After kill -9 in the middle, a new crawl ends with one page of each set."""
    with DemoSite(delay=0.02) as site:
        words = command(site, tmp_path, "--nolog")[3:]
        process = start_scrapy(words, ROOT, stderr=subprocess.DEVNULL)
        wait_until(lambda: len(site.seen) > 40, 30)
        process.kill()
        process.wait()
        second = crawl(site, tmp_path)
        assert_one_of_each(site, second.kept)
        # What the killed crawl kept may be in no feed.
        assert 0 < second.numbers["updated"] < len(ITEMS)


def test_ctrl_c_ends_everything(tmp_path: Path) -> None:
    """Ctrl-C reaches site and crawl together; the crawl ends in order and both are gone."""
    words = command(DemoSite(), tmp_path, "-s", "DOWNLOAD_DELAY=0.1")
    words = ["url={urls}" if word.startswith("url=") else word for word in words]
    process = subprocess.Popen(
        [sys.executable, "-m", "examples.demo_site", "--ports", "0", "0", "0", *words],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    feed = tmp_path / "pages.jsonl"
    wait_until(lambda: feed.exists() and feed.stat().st_size > 0, 30)
    os.killpg(process.pid, signal.SIGINT)
    _, output = process.communicate(timeout=110)
    assert "shutdown after" in output
    assert "Traceback" not in output
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


def test_a_crawl_ends_though_nobody_reads_on(site: DemoSite, tmp_path: Path) -> None:
    """With ``2>&1 | head`` the crawl ends in order and its feed is whole."""
    reader, writer = os.pipe()
    process = subprocess.Popen(
        command(site, tmp_path, "-s", "CONSOLE_INTERVAL=0.2"),
        cwd=ROOT,
        stdout=writer,
        stderr=writer,
    )
    os.close(writer)
    os.close(reader)
    try:
        assert process.wait(timeout=110) == 0
    finally:
        process.kill()
    assert_one_of_each(site, {item["url"]: item for item in feed_items(tmp_path)})


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["-a", "url=ftp://example.com"], "ftp is not supported"),
        ([], "url is missing"),
        (["-a", "url=not a url"], "url=not names no host"),
        (["-a", "url=example.com", "-a", "max_pages=none"], "max_pages=none"),
    ],
)
def test_a_wrong_argument_is_one_line(words: list[str], reason: str) -> None:
    """One clear error on one line, no traceback, and a non-zero exit code."""
    run = run_scrapy(["crawl", "site", *words], ROOT, os.environ)
    assert run.returncode != 0
    (line,) = run.stderr.splitlines()
    assert reason in line


def test_a_site_that_cannot_be_reached_is_a_failure(tmp_path: Path) -> None:
    """Where nobody answers, the crawl says so without a traceback, shows its table and exits 1."""
    words = ["-a", "url=http://localhost:9/", "-s", f"DEDUP_DATA_DIR={tmp_path / 'index'}"]
    run = run_scrapy(["crawl", "site", *words, "-s", "RETRY_ENABLED=False"], ROOT, os.environ)
    assert run.returncode == 1
    assert run.stderr.count("No start page could be fetched: http://localhost:9/") == 1
    assert "Traceback" not in run.stderr
    assert re.search(r"no answer +1\b", run.stderr)


@pytest.mark.parametrize("words", [b"GET / HTTP/1.1\r\n\r\n", b"GET /"])
def test_a_client_that_resets_its_connection_is_no_error(
    words: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a crawl does that is cut short: the next page of it would be read from that connection."""
    with DemoSite() as site:
        address = urlsplit(next(iter(site.urls.values())))
        threads = threading.active_count()
        with socket.create_connection((address.hostname, address.port)) as client:
            client.sendall(words)
            wait_until(lambda: threading.active_count() > threads)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        wait_until(lambda: threading.active_count() == threads)
    assert not capsys.readouterr().err
