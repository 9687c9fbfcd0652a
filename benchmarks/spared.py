"""How many fetches a page of a site costs where links lead to copies, with and without URL rules.

    python benchmarks/spared.py [--sites NAME…] [--pairs N] [--json]

Sites are made up and served on localhost by a process of their own, and the demo site. Each is
crawled by the spider `site` twice, each time into an empty index on a private server: with
``DEDUP_LEARN_URLS``, and without it up to ten times as many fetches as the site has texts. Told are
fetches for each text, texts of the site that no kept page has, the rules learnt, and CPU seconds of
the crawler. The site without copies is crawled N more times with and without rules by turns: the
ratio of the least CPU seconds of each is what it costs where nothing is to be spared.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scrapy import signals
from scrapy.crawler import AsyncCrawlerRunner

from benchmarks.churn import text_of
from benchmarks.sketch import environment
from crawler import Addon
from crawler.spiders.site import SiteSpider
from examples.demo_site.server import DemoSite

Page = tuple[int, list[str]]  # the number of a text, and links
SORTS, CAMPAIGNS, LANGUAGES = "abc", "klmnopqr", ("de", "en", "fr", "nl")


class Made(NamedTuple):
    """A made-up site: its texts, and what stands at a path."""

    texts: int
    page: Callable[[str], Page]


def sites() -> dict[str, Made]:
    """The sites by their names."""
    numbers, draws = itertools.count(1), random.Random(7)

    def endless(pages: int, link: Callable[[str, int], str]) -> Made:
        def page(path: str) -> Page:
            folder = urlsplit(path).path.rstrip("/")
            return _last(path) % pages, [link(folder, n) for n in range(pages)]

        return Made(pages, page)

    def tracked(folder: str, page: int) -> str:
        query = f"utm_source={draws.choice(CAMPAIGNS)}&sid={next(numbers)}"
        return f"/{page}?{query}&sort={draws.choice(SORTS)}"

    def mixed(path: str) -> Page:
        given = _query(path)
        language = LANGUAGES.index(given.get("lang", "de"))
        links = [
            f"/view?id={n}&lang={one}&ref={draws.choice(CAMPAIGNS)}&s={next(numbers):x}"
            for n in range(10)
            for one in LANGUAGES
        ]
        return 4 * int(given.get("id", 0)) + language, links

    return {
        "session in query": endless(6, lambda folder, n: f"/{n}?sid={next(numbers):08x}"),
        "session in path": endless(6, lambda folder, n: f"/{n};jsessionid={next(numbers):08x}"),
        "nested relative links": endless(6, lambda folder, n: f"{folder}/{n}"),
        "new names each time": endless(6, lambda folder, n: f"/{n}?x{next(numbers)}=1"),
        "tracking and sorting": endless(30, tracked),
        "id and language, mixed": Made(40, mixed),
        "list of pages": Made(201, _listed),
        "languages": Made(100, _translated),
        "calendar": Made(21, _calendar),
        "lists of empty profiles": Made(13, _profiles),
        "slash and print": Made(20, _twice),
        "no copies": Made(200, _plain),
    }


def _listed(path: str) -> Page:
    if path.startswith("/item"):
        return 1 + int(_query(path)["id"]), ["/"]
    page = int(_query(path).get("page", 0))
    following = [f"/?page={page + 1}"] if page < 19 else []
    return 0, [*following, *(f"/item?id={10 * page + n}" for n in range(10))]


def _translated(path: str) -> Page:
    language = LANGUAGES.index(_query(path).get("lang", "de"))
    links = [f"/{n}?lang={one}" for n in range(25) for one in LANGUAGES]
    return 4 * (_last(path) % 25) + language, links


def _calendar(path: str) -> Page:
    if not path.startswith("/cal"):
        return 1 + _last(path) % 20, [*(f"/{n}" for n in range(20)), "/cal?month=0"]
    month = int(_query(path)["month"])
    return 0, [f"/cal?month={month + 1}", f"/cal?month={month - 1}"]


def _profiles(path: str) -> Page:
    kind, _, number = path.strip("/").partition("/")
    if kind == "members":
        return 1, [f"/user/{5 * int(number) + n}" for n in range(5)]
    if kind == "user":
        return 2 if int(number) % 10 else 3 + int(number) // 10, []
    return 0, [f"/members/{n}" for n in range(20)]


def _twice(path: str) -> Page:
    links = [f"{form}" for n in range(20) for form in (f"/a/{n}", f"/a/{n}/", f"/a/{n}?print=1")]
    return _last(path.rstrip("/")) % 20, links


def _plain(path: str) -> Page:
    n = _last(path) % 200
    return n, [f"/{(3 * n + k) % 200}" for k in range(1, 4)] + [f"/{k}" for k in range(40)]


def _last(path: str) -> int:
    name = urlsplit(path).path.rsplit("/", 1)[-1].partition(";")[0]
    return int(name) if name.isdigit() else 0


def _query(path: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(path).query))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # a page would wait until its header is acknowledged

    def __init__(self, page: Callable[[str], Page], *args: Any) -> None:
        self.page = page
        super().__init__(*args)

    def do_GET(self) -> None:
        is_page = self.path != "/robots.txt"
        number, links = self.page(self.path) if is_page else (0, [])
        anchors = "".join(f"<li><a href='{link}'>more</a></li>" for link in links)
        html = f"<title>{number}</title><nav><ul>{anchors}</ul></nav><main><p>{text_of(number)}"
        body = html.encode() if is_page else b""
        self.send_response(200 if is_page else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


@contextmanager
def served(page: Callable[[str], Page]):  # type: ignore[no-untyped-def]
    """The address of a site, in another process, so that its CPU seconds are none of the crawl."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, page)) as server:
        process = get_context("fork").Process(target=server.serve_forever, daemon=True)
        process.start()
        try:
            yield f"http://localhost:{server.server_address[1]}/"
        finally:
            process.kill()
            process.join()


async def crawl(urls: str, folder: str, **settings: Any) -> dict[str, Any]:
    """Crawl a site: statistics, CPU seconds, and the texts of kept pages."""
    runner = AsyncCrawlerRunner(
        {
            "ADDONS": {Addon: 500},
            "TWISTED_REACTOR_ENABLED": False,
            "REMOTE_CONTROL_ENABLED": False,
            "TELNETCONSOLE_ENABLED": False,
            "LOG_ENABLED": False,
            "DEDUP_ARCHIVE": 0,
            "DEDUP_DATA_DIR": folder,
            **settings,
        }
    )
    texts: set[str] = set()
    crawler = runner.create_crawler(SiteSpider)
    keep = lambda item: texts.add(item.text)  # noqa: E731
    crawler.signals.connect(keep, signal=signals.item_scraped)
    start = time.process_time()
    await runner.crawl(crawler, url=urls)
    return {**crawler.stats.get_stats(), "texts": texts, "cpu": time.process_time() - start}


async def measure(name: str, made: Made | None) -> dict[str, Any]:
    """Both crawls of one site; the demo site where none is made up."""
    row: dict[str, Any] = {"site": name}
    with DemoSite() if made is None else served(made.page) as site:
        urls = ",".join(site.urls.values()) if made is None else site
        for learns in (True, False):
            most = 10 * made.texts if made is not None else 1000
            settings = {"DEDUP_LEARN_URLS": learns, "CLOSESPIDER_PAGECOUNT": most}
            with tempfile.TemporaryDirectory() as folder:
                stats = await crawl(urls, folder, **settings)
            key = "with" if learns else "without"
            texts = made.texts if made is not None else len(stats["texts"])
            ended = stats["finish_reason"] == "finished"
            row |= {
                "texts": texts,
                f"{key}_fetches": stats["site/pages"] if ended else f"> {most}",
                f"{key}_lost": texts - len(stats["texts"]),
                f"{key}_cpu": round(stats["cpu"], 2),
            }
            if learns:
                row["spared"] = stats.get("dedup/spared", 0)
                row["fetches_a_text"] = round(stats["site/pages"] / texts, 2)
    return row


async def measure_cost(made: Made, pairs: int) -> float:
    """Of crawls of one site by turns: the least CPU seconds with rules, by those without."""
    seconds: dict[bool, list[float]] = {True: [], False: []}
    with served(made.page) as url:
        for number in range(pairs):
            for learns in (True, False) if number % 2 else (False, True):
                with tempfile.TemporaryDirectory() as folder:
                    stats = await crawl(url, folder, DEDUP_LEARN_URLS=learns)
                seconds[learns].append(stats["cpu"])
    return min(seconds[True]) / min(seconds[False])


def main() -> None:
    """Crawl the sites and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    made: dict[str, Made | None] = {**sites(), "demo site": None}
    parser.add_argument("--sites", nargs="+", choices=list(made), default=list(made))
    parser.add_argument("--pairs", type=int, default=15, help="crawls by turns (%(default)s)")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = []
    print(environment(), file=sys.stderr)
    for name in options.sites:
        rows.append(row := asyncio.run(measure(name, made[name])))
        if not options.json:
            print(
                f"{name:24} {row['texts']:4} texts  {row['with_fetches']:>6} fetches "
                f"({row['fetches_a_text']} a text)  {row['with_lost']} lost  "
                f"{row['spared']:5} spared  {row['with_cpu']:5} s CPU  | without: "
                f"{row['without_fetches']:>6} fetches  {row['without_cpu']:5} s CPU",
                flush=True,
            )
    if options.pairs and (plain := made.get("no copies")):
        cost = asyncio.run(measure_cost(plain, options.pairs)) - 1
        if options.json:
            rows.append({"site": "no copies", "cpu_cost": round(cost, 4)})
        else:
            print(f"CPU with nothing to spare: {cost:+.1%}, of {options.pairs} pairs of crawls")
    if options.json:
        print(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
