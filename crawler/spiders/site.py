"""``scrapy crawl site -a url=https://example.com``: every HTML page of a site, as Page items."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urljoin

from scrapy import Request, Spider, signals
from scrapy.exceptions import CloseSpider, IgnoreRequest, StopDownload
from scrapy.settings import SETTINGS_PRIORITIES

from .. import chrome
from ..files import can_read_files
from ..items import Page
from ..pipelines.crawl.asked_pages import is_asked_again
from ..pipelines.reading import LONG_PAGE, parse_in_turns
from ..pipelines.reporting import LEFT_OUT
from ..pipelines.spared.closed_pages import CLOSED
from ..pipelines.templates import site_template
from ..project import project_config
from ..scrapy_versions import run_in_thread
from ..start_errors import name_setting, speak_plainly
from .arguments import Arguments, host_of
from .cookies import use_packaged_suffix_list
from .depth import DepthLimit
from .downloader_middlewares import added_to
from .fetch_failures import FetchFailures
from .job_lock import JobLock
from .links import NewLinks
from .redirects import ReturningRedirects, is_sibling
from .responses import (
    base_of,
    header_of,
    hrefs_of,
    is_document,
    is_html,
    is_worth_reading,
    media_type,
    page_of,
    page_of_document,
)
from .robots import RobotsFiles, product_token, read_robots
from .sitemaps import USUAL_PATH, SitemapLimits, Sitemaps, list_sitemaps, read_sitemap

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Headers, Response
    from scrapy.settings import BaseSettings
    from twisted.python.failure import Failure

logger = logging.getLogger(__name__)

_LEVEL = "site_sitemap_level"  # in the meta of a request: how many indexes led to it


class SiteSpider(Spider):
    """Follows the links of one or several sites and yields each HTML page once.

    Arguments (``-a``): ``url``, one or several URLs, separated by commas or spaces;
    ``max_pages``; ``allow`` and ``deny``, regular expressions that are searched in the URLs of
    links; ``sitemap``, ``true`` for the sitemaps that robots.txt names, or the URL of one.

    Only the hosts of ``url`` are crawled; a port is part of a host. The spider obeys robots.txt
    (``ROBOTSTXT_OBEY``) and the robots tags and headers of pages (``SITE_META_ROBOTS_OBEY``). A
    page is parsed once, for its links, robots tags, title and main text.
    """

    name = "site"
    # Scrapy starts so many workers for each response. A page gives one item and requests, so the
    # default of a hundred would be a waste.
    custom_settings = {"CONCURRENT_ITEMS": 2}  # noqa: RUF012
    failures: FetchFailures
    depth: DepthLimit
    job: JobLock
    obeys_tags = True
    reads_pages = True  # the spider parses pages itself, so ResponseParser need not
    takes_text = True
    takes_files = False
    learns_urls = True  # unless DEDUP_LEARN_URLS says otherwise
    agent = ""

    def __init__(self, name: str | None = None, **arguments: Any) -> None:
        super().__init__(name)
        self.arguments = Arguments.parse_values(arguments)
        self.hosts = {host_of(url) for url in self.arguments.urls}
        self.pages = 0
        self.robots = RobotsFiles()
        self._links = NewLinks(self._is_here)
        self._links_beyond = NewLinks(self._is_here)  # of pages at the depth limit
        self._redirects = ReturningRedirects()
        self._limits = SitemapLimits(self.arguments.max_pages)
        self._sitemaps = Sitemaps(self.arguments.sitemaps, self._limits, self._is_here)

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Add the middlewares that the spider needs to those of the project."""
        super().update_settings(settings)
        use_packaged_suffix_list()
        name = "DOWNLOADER_MIDDLEWARES"
        # At least the priority of a spider's own settings: a crawler that is handed to a runner
        # takes lower ones from the runner again.
        priority = max(settings.getpriority(name) or 0, SETTINGS_PRIORITIES["spider"])
        settings.set(name, added_to(settings.getdict(name)), priority)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Build the spider. Raises :class:`ArgumentError` for an invalid argument."""
        speak_plainly()
        spider = super().from_crawler(crawler, *args, **kwargs)
        with name_setting("SITE_META_ROBOTS_OBEY", "True or False"):
            spider.obeys_tags = crawler.settings.getbool("SITE_META_ROBOTS_OBEY", True)
        most = spider.arguments.max_pages
        # Requests that wait for their delay when the last page comes would be fetched in vain.
        if most and not crawler.settings.frozen:
            most = min(most, crawler.settings.getint("CONCURRENT_REQUESTS"))
            crawler.settings.set("CONCURRENT_REQUESTS", most, "cmdline")
        agent = crawler.settings.get("ROBOTSTXT_USER_AGENT") or crawler.settings["USER_AGENT"]
        spider.agent = product_token(agent)
        # DEDUP_EXTRACTOR is called in the pipeline, where a page passes even if it fails.
        config = project_config(crawler.settings)
        spider.takes_text = config.extractor is None
        spider.takes_files = config.files and can_read_files()
        spider.failures = FetchFailures(crawler, spider.arguments.urls)
        spider.depth = DepthLimit(crawler, spider._links)
        spider.job = JobLock(crawler)
        crawler.signals.connect(spider.stay_on_hosts, signal=signals.request_scheduled)
        crawler.signals.connect(spider.stop_other_types, signal=signals.headers_received)
        crawler.signals.connect(spider.robots.note_answer, signal=signals.response_received)
        crawler.signals.connect(spider.item_failed, signal=signals.item_error)
        return spider

    async def start(self) -> AsyncIterator[Request]:
        """Begin with the given URLs of pages and sitemaps."""
        if hasattr(self, "state"):  # Scrapy keeps it in a JOBDIR
            self.hosts |= self.state.get("hosts", set())
            self.state["hosts"] = self.hosts
        for url in self._links.resolve_links(self.arguments.urls, self.arguments.urls[0]):
            yield self._page_request(url)
        for url in self._limits.new_files(self.arguments.sitemaps):
            yield self._sitemap_request(url)

    def _page_request(self, url: str) -> Request:
        return Request(url, self.parse, errback=self.not_fetched)

    def _sitemap_request(self, url: str, level: int = 0) -> Request:
        # A page may link to the sitemap, which was then requested as a page.
        return Request(
            url,
            self.parse_sitemap,
            errback=self.not_fetched,
            dont_filter=True,
            meta={_LEVEL: level},
        )

    def _find_sitemaps(self, url: str, depth: int) -> None:
        # A start page has come, or failed: the host that it leads to is known by now.
        if self.arguments.find_sitemaps and not depth:
            request = Request(
                urljoin(url, "/robots.txt"),
                self.parse_robots_file,
                errback=self.no_robots_file,
                meta={"dont_obey_robotstxt": True},
            )
            self.crawler.engine.crawl(request)  # not yielded, which would make it one level deeper

    async def parse(self, response: Response) -> AsyncIterator[Page | Request]:
        """Yield the page and its new links, unless the page forbids either."""
        self._find_sitemaps(response.url, response.meta.get("depth", 0))
        if self.pages == self.arguments.max_pages:
            self._count_stat("site/beyond_max_pages")
            if response.request is not None:  # a JOBDIR keeps it for the next run
                self.crawler.engine.crawl(response.request.replace(dont_filter=True))
            raise CloseSpider("max_pages")
        header = header_of(response.headers, b"Content-Type")
        is_other = self.takes_files and is_document(response)
        if not (is_other or is_html(response)):
            self.failures.other_type(response, media_type(header))
            return
        self.failures.answered = True
        self.pages += not is_asked_again(response.request)
        self._count_stat("site/pages")
        self._count_stat(f"site/hosts/{host_of(response.url)}")
        document = None
        if not is_other:
            document = await parse_in_turns(
                response.body, url=response.url, content_type=header or None
            )
        noindex = nofollow = False
        if self.obeys_tags:
            noindex, nofollow = read_robots(response, document, self.agent)
        if noindex:
            self._count_stat("site/noindex")
            self._leave_out(response.url)
            if nofollow:
                response.meta[CLOSED] = True
        elif document is None:
            yield page_of_document(response)
        else:
            takes_text = self.takes_text and not document.is_binary  # the filter logs binary files
            content = await self._main_text(response, document) if takes_text else None
            yield page_of(response, document, content)
        if document is not None and not nofollow:
            if self.depth.allows_links(response):
                for url in self._new_links(self._links, response, document):
                    yield self._page_request(url)
            else:
                self.depth.leave_out(self._new_links(self._links_beyond, response, document))
        elif nofollow and not response.meta.get("depth"):  # as most viewers of repositories say
            url = response.url
            logger.warning("%s says nofollow: its links are left (SITE_META_ROBOTS_OBEY)", url)
        if self.pages == self.arguments.max_pages:
            raise CloseSpider("max_pages")

    async def _main_text(self, response: Response, document: chrome.Document) -> chrome.MainText:
        template = await site_template(self.crawler, response.url)
        known = template.known if template is not None else None
        strip = partial(chrome.strip_chrome, document, template=known)
        return strip() if len(response.body) < LONG_PAGE else await run_in_thread(strip)

    def _new_links(
        self, links: NewLinks, response: Response, document: chrome.Document
    ) -> Iterator[str]:
        hrefs = hrefs_of(response, document, obeys_tags=self.obeys_tags)
        return filter(
            self.arguments.wants_url, links.resolve_links(hrefs, base_of(response, document))
        )

    def _is_here(self, url: str) -> bool:
        return host_of(url) in self.hosts

    def parse_robots_file(self, response: Response) -> Iterator[Request]:
        """Yield the sitemaps that robots.txt names; without any, try the usual URL."""
        return self._named_sitemaps(list_sitemaps(response.body), response.url, 0)

    def no_robots_file(self, failure: Failure) -> Iterator[Request]:
        """Try the usual URL of a sitemap on a host that has no robots.txt."""
        url = urljoin(failure.request.url, USUAL_PATH)  # type: ignore[attr-defined]
        yield from map(self._sitemap_request, self._limits.new_files([url]))

    def parse_sitemap(self, response: Response) -> Iterator[Request]:
        """Yield the pages of a sitemap, or the sitemaps of an index."""
        if not self.depth.allows_links(response):
            return
        most = self.crawler.settings.getint("DOWNLOAD_MAXSIZE")
        try:
            is_index, urls = read_sitemap(response.body, most)
        except Exception as error:
            logger.warning("%s is not a sitemap: %s", response.url, error)
            return
        if is_index:
            level = response.meta.get(_LEVEL, 0)
            named = self._limits.of_index(urls, response.url, level)
            yield from self._named_sitemaps(named, response.url, level + 1)
            return
        for url in self._limits.new_pages(self._links.resolve_links(urls, response.url)):
            if self.arguments.wants_url(url):
                yield self._page_request(url)

    def _named_sitemaps(self, urls: list[str], base: str, level: int) -> Iterator[Request]:
        for url in self._sitemaps.take_new(urls, base):
            yield self._sitemap_request(url, level)

    def not_fetched(self, failure: Failure) -> None:
        """Count a page that could not be fetched.

        It is a method of the spider because a queue outside this process stores callbacks by name.
        """
        self.failures.note_failure(failure)
        request: Request = failure.request  # type: ignore[attr-defined]
        if self.robots.forbid(failure):
            self._leave_out(request.url)
        self._find_sitemaps(request.url, request.meta.get("depth", 0))

    def _count_stat(self, key: str) -> None:
        self.crawler.stats.inc_value(key)

    def _leave_out(self, url: str) -> None:
        self.crawler.signals.send_catch_log(LEFT_OUT, url=url)

    def item_failed(self) -> None:
        """Count a page that was lost in a pipeline."""
        self._count_stat("site/item_errors")

    def stay_on_hosts(self, request: Request) -> None:
        """Refuse a request to another host, for example from a redirect.

        The one exception: if a start URL leads to the same name with or without ``www.``, that host
        is crawled.
        """
        came_from = request.meta.get("redirect_urls", [])
        is_sitemap = request.callback == self.parse_sitemap
        is_here = self._sitemaps.are_here if is_sitemap else self._is_here
        if is_here(request.url):
            self._redirects.let_come_back(request)
            return
        host = host_of(request.url)
        if came_from and came_from[0] in self.arguments.urls and is_sibling(host, self.hosts):
            logger.warning("%s redirects to %s, which is crawled as well", came_from[0], host)
            self.hosts.add(host)
            self._links.look_again()
            self._sitemaps.look_again()
            return
        if came_from:
            self.failures.foreign_redirect(request, host)
        raise IgnoreRequest(f"{request.url} is not on {', '.join(sorted(self.hosts))}")

    def stop_other_types(self, headers: Headers, body_length: Any, request: Request) -> None:
        """Stop the download of a large response that is not a page."""
        is_page = request.callback == self.parse
        if is_page and not is_worth_reading(headers, body_length, takes_files=self.takes_files):
            raise StopDownload(fail=False)
