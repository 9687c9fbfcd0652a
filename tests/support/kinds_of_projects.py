"""Spiders as people write them, run in one process.

``python -m tests.support.kinds_of_projects`` takes the addresses of a site and of a
server. Run in an empty folder: each spider writes its items to ``NAME.jsonl``, and ``stats.json``
holds the statistics of all. Any Scrapy from 2.13 on.
"""

from __future__ import annotations

import asyncio
import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor
from scrapy.loader import ItemLoader
from scrapy.spiders import CrawlSpider, Rule

from tests.support.texts import article, text

PAGES = 6  # /0 to /5, of which /1 repeats /0
_LETTERS = str.maketrans("0123456789", "abcdefghij")  # words of digits would be codes
SETTINGS: dict[str, Any] = {
    "ADDONS": {"crawler.Addon": 500},
    "DEDUP_ARCHIVE": 0,
    "LOG_LEVEL": "INFO",
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "RETRY_ENABLED": False,
}


class Product(scrapy.Item):
    url = scrapy.Field()
    title = scrapy.Field()


class Pages(scrapy.Spider):
    """Pages in their order, and nothing of them in the items but a title."""

    url = ""

    async def start(self):
        for number in range(PAGES):
            yield scrapy.Request(f"{self.url}/{number}", priority=-number)

    def title(self, response):
        return {"title": response.css("title::text").get()}


class Generator(Pages):
    name = "generator"

    def parse(self, response):
        yield self.title(response)
        yield scrapy.Request(response.urljoin("/other"), self.nothing)

    def nothing(self, response):
        pass


class Returned(Pages):
    name = "returned"

    def parse(self, response):
        return self.title(response)


class Listed(Pages):
    name = "listed"

    def parse(self, response):
        return [self.title(response)]


class Coroutine(Pages):
    name = "coroutine"

    async def parse(self, response):
        return self.title(response)


class AsyncGenerator(Pages):
    name = "async_generator"

    async def parse(self, response):
        yield self.title(response)


class Failing(Pages):
    """Its callback fails behind the item."""

    name = "failing"

    def parse(self, response):
        yield self.title(response)
        raise ValueError("no price")


class Loader(Pages):
    """Lists of one value, as of an item loader without TakeFirst()."""

    name = "loader"

    def parse(self, response):
        loader = ItemLoader(Product(), response)
        loader.add_css("title", "title::text")
        loader.add_value("url", response.url)
        yield loader.load_item()


class Links(CrawlSpider):
    name = "links"
    url = ""
    rules = (Rule(LinkExtractor(allow=r"/\d$"), callback="page"),)

    async def start(self):
        yield scrapy.Request(f"{self.url}/")

    def page(self, response):
        return {"title": response.css("title::text").get()}


class Listing(Pages):
    """Several items of a response: no page is the page of one of them."""

    name = "listing"

    def parse(self, response):
        for number in range(2):
            yield {"title": number}


class Rows(Pages):
    """Rows of a list that link to pages, with a short text that is the same in all."""

    name = "rows"

    def parse(self, response):
        for number in range(2):
            url = f"{response.url}?row={number}"
            yield {"url": url, "text": "In stock and delivered within two working days"}


class Elsewhere(Pages):
    """A directory: the URL in the item is not that of the response."""

    name = "elsewhere"

    def parse(self, response):
        yield {"url": "https://elsewhere.example/", "title": "x"}


class Completed(Pages):
    """Items that are begun on their page, and completed on one that says the same for all."""

    name = "completed"

    def parse(self, response):
        item = {"link": response.url, **self.title(response)}
        other = response.urljoin("/other")
        yield scrapy.Request(other, self.complete, dont_filter=True, cb_kwargs={"item": item})

    def complete(self, response, item):
        item["reviews"] = response.css("p::text").getall()
        yield item


class Directory(Pages):
    """Items that are begun on a list, with a title and a label, and completed on their pages."""

    name = "directory"

    async def start(self):
        yield scrapy.Request(f"{self.url}/")

    def parse(self, response):
        for number, link in enumerate(response.css("a")[:PAGES]):
            item = {"title": f"PAGE {max(number, 1)}", "label": "Green tea", "rank": number}
            yield response.follow(link, self.complete, cb_kwargs={"item": item}, priority=-number)

    def complete(self, response, item):
        item["words"] = len(response.css("p::text").get().split())
        yield item


class DirectoryByValues(Directory):
    """The same, but what the list says comes along in a partial function."""

    name = "directory_by_values"

    def parse(self, response):
        for number, link in enumerate(response.css("a")[:PAGES]):
            complete = partial(self.complete, title=f"Page {max(number, 1)}", label="Green tea")
            yield response.follow(link, complete, priority=-number)

    def complete(self, response, title, label):
        yield {"title": title, "label": label}


class CompletedByValues(Completed):
    """Only the title comes along, in one way or another."""

    name = "completed_by_values"

    def parse(self, response):
        number, title = int(response.url.rpartition("/")[2]), response.css("title::text").get()
        callbacks = (self.complete, partial(self.complete, title=title),
                     lambda answer: self.complete(answer, title))  # fmt: skip
        given = {"cb_kwargs": {"title": title}} if number % 3 == 0 else {}
        other = response.urljoin("/other")
        yield scrapy.Request(other, callbacks[number % 3], dont_filter=True, **given)

    def complete(self, response, title):
        yield {"product": title.upper(), "reviews": response.css("p::text").getall()}


class Reviews(Directory):
    """A list of links to pages that say the same for all."""

    name = "reviews"

    def parse(self, response):
        for number in range(PAGES):
            kwargs = {"title": f"Page {number}"}
            yield response.follow("/other", self.complete, dont_filter=True, cb_kwargs=kwargs)

    def complete(self, response, title):
        yield {"title": title, "reviews": response.css("p::text").getall()}


class Rendered(Pages):
    """Pages whose responses say nothing of what a browser makes of them."""

    name = "rendered"

    async def start(self):
        for number in range(PAGES):
            yield scrapy.Request(f"{self.url}/app/{number}")

    def parse(self, response):
        rendered = scrapy.Selector(text=f"<h1>Tea {response.url[-1]}</h1>")
        yield {"title": rendered.css("h1::text").get(), "url": response.url}


class Fetching(Pages):
    """Items that hold the text of a page that their callback fetches, and a line of their own."""

    name = "fetching"

    async def start(self):
        for number in range(PAGES):
            yield scrapy.Request(f"{self.url}/other?{number}", cb_kwargs={"number": number})

    async def parse(self, response, number):
        words = text(article(90 + number, 40)).translate(_LETTERS)
        yield {"reviews": response.css("p::text").get(), "of": words}


class Twice(Returned):
    """Two listings with the same links, as scrapy-redis' own example has: each page comes twice."""

    name = "twice"

    async def start(self):
        for number in (*range(PAGES), *range(PAGES)):
            yield scrapy.Request(f"{self.url}/{number}", dont_filter=True)


class Off(Pages):
    """Every page says that it is not to be checked."""

    name = "off"

    async def start(self):
        for number in range(PAGES):
            yield scrapy.Request(f"{self.url}/{number}", meta={"dedup": False})

    def parse(self, response):
        return self.title(response)


class Disabled(Returned):
    name = "disabled"
    custom_settings = {"DEDUP_ENABLED": False}  # noqa: RUF012


class FieldsOnly(Returned):
    name = "fields_only"
    custom_settings = {"DEDUP_PAGE": "item"}  # noqa: RUF012


class Nothing(Pages):
    """A callback that keeps what it finds to itself."""

    name = "nothing"

    def parse(self, response):
        pass


class CopyItem:
    """A pipeline that returns another object in an item's place, and waits as others do."""

    async def process_item(self, item, spider=None):
        await asyncio.sleep(0.01)
        return {"name": item["title"]}


class Copied(Returned):
    """A pipeline before the filter returns an item of its own."""

    name = "copied"
    custom_settings = {"ITEM_PIPELINES": {CopyItem: 100}}  # noqa: RUF012


class Csv(Returned):
    """A feed for a spreadsheet, whose tag is one word."""

    name = "csv"
    custom_settings = {"DEDUP_TAG": "kind"}  # noqa: RUF012


SPIDERS = (
    Generator, Returned, Listed, Coroutine, AsyncGenerator, Failing, Loader, Links, Listing,
    Rows, Elsewhere, Completed, Directory, DirectoryByValues, CompletedByValues, Reviews, Rendered,
    Fetching, Twice, Off, Disabled, FieldsOnly, Nothing, Copied, Csv,
)  # fmt: skip


def run(url: str, redis_url: str) -> None:
    """Crawl with all spiders at once, each with an index of its own."""
    process = CrawlerProcess({**SETTINGS, "DEDUP_REDIS_URL": redis_url})
    crawlers = []
    for spider in SPIDERS:
        own = {"DEDUP_NAMESPACE": spider.name, "CONCURRENT_REQUESTS": 1}
        own["FEEDS"] = {f"{spider.name}.jsonl": {"format": "jsonlines"}}
        if spider is Csv:
            own["FEEDS"] |= {"kinds.csv": {"format": "csv"}}
        if spider is Listed:
            kinds = ("csv", "marshal", "pickle")
            own["FEEDS"] |= {f"tags.{kind}": {"format": kind} for kind in kinds}
        spider.custom_settings = {**(spider.custom_settings or {}), **own}
        crawler = process.create_crawler(spider)
        process.crawl(crawler, url=url)
        crawlers.append(crawler)
    process.start()
    stats = {crawler.spidercls.name: crawler.stats.get_stats() for crawler in crawlers}
    Path("stats.json").write_text(json.dumps(stats, default=str))


if __name__ == "__main__":
    run(*sys.argv[1:])
