"""Sites that are made page by page when a crawl asks, and crawls of them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from scrapy import Request, Spider

from tests.pipelines.crawls import Feed, crawl, prose
from tests.spiders.webserver import Answer, Web

Site = Callable[[str], tuple[int | str, Iterable[str]]]


class Pages(dict[str, Answer]):
    """Answers that are made when asked for: of a path its text, or the seed of one, and links.

    Links to ``/to/PATH`` are redirected to ``/PATH``.
    """

    def __init__(self, site: Site) -> None:
        super().__init__()
        self.site = site

    def get(self, path: str, default: Any = None) -> Any:
        if not path.startswith("/") or path == "/robots.txt":
            return default
        if path.startswith("/to/"):
            return Answer(headers={"Location": path.removeprefix("/to")}, status=302)
        seed, links = self.site(path)
        anchors = "".join(f'<li><a href="{link}">x</a></li>' for link in links)
        title, text = (seed, prose(seed)) if isinstance(seed, int) else ("Title", seed)
        html = f"<title>{title}</title><nav><ul>{anchors}</ul></nav><main><p>{text}</p></main>"
        return Answer(html.encode(), {"Content-Type": "text/html"})


async def fetch(
    web: Web, site: Site, redis_url: str, *watchers: Any, ends: bool = True, **options: Any
) -> tuple[list[str], set[str], dict[str, Any]]:
    """Crawl the site: the paths that were fetched, the texts that were kept, the statistics."""
    web.answers, feed, before = Pages(site), Feed(), len(web.seen)
    settings = {"DEDUP_REDIS_URL": redis_url, "CLOSESPIDER_PAGECOUNT": 1000, **options}
    stats = await crawl(web, feed, *watchers, **settings)
    assert (stats["finish_reason"] == "finished") == ends
    fetched = [path for path in web.seen[before:] if path != "/robots.txt"]
    return fetched, {text.split()[-1] for text in feed.passed}, stats


def name_of(path: str) -> int:
    name = re.split("[;~]", urlsplit(path).path.rsplit("/", 1)[-1])[0]
    return int(name) if name.isdigit() else 0


ENDLESS = {
    "query": "/{page}?sid={n:08x}",
    "path": "/{page};jsessionid={n}",
    "nested": "{path}/{page}",
    "name": "/{page}?x{n}=1",
}
"""Links that are new each time, for :func:`endless`."""


def endless(link: str, pages: int = 6) -> Site:
    """A few pages; each link is another one, by its page's path, its own page, and a number."""
    numbers = itertools.count(1)

    def site(path: str) -> tuple[int, list[str]]:
        folder = urlsplit(path).path.rstrip("/")
        links = [link.format(path=folder, page=n, n=next(numbers)) for n in range(pages)]
        return name_of(path), links

    return site


SOME = (4, 9, 14, 19, 24, 28)


def on_few_pages(path: str, versions: int = 4) -> tuple[int, list[str]]:
    page = name_of(path)
    version = int(dict(parse_qsl(urlsplit(path).query)).get("v", 0))
    links = [f"/{n}?v={v}" for n in range(30) for v in range(versions)]
    return 100 * page + (version if page in SOME else 0), links


class Own(Spider):
    """A spider of somebody else."""

    name = "own"

    def __init__(self, url: str) -> None:
        super().__init__()
        self.start_urls = [url]

    def parse(self, response: Any) -> Any:
        yield {"url": response.url, "html": response.text}
        for link in response.css("a::attr(href)").getall():
            yield Request(response.urljoin(link))
