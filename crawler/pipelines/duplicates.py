"""All steps for a page: main text, index, verdict, then drop or tag the item."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from itemadapter import ItemAdapter
from scrapy import signals
from scrapy.exceptions import NotConfigured

from ..chrome import MainText, canonical, published
from ..dedup.archive.writer import MOST_BLOCKS
from ..dedup.config import DedupConfig
from ..dedup.errors import DedupError
from ..dedup.identity import resolved
from ..dedup.ranks import read_date
from ..dedup.scopes import scope_of
from ..dedup.store.server.connect import server_name
from ..dedup.verdict import COPIES, Kind, Verdict
from ..project import project_config
from ..scrapy_versions import adapt_pipeline, is_asyncio_available
from ..start_errors import speak_plainly
from .chrome import MainTexts
from .crawl_index import CrawlIndex
from .dropping import drop_reason
from .item_pages.belonging import Labels, OwnTexts, why_elsewhere
from .item_pages.item_page import ItemPage, Missing
from .item_pages.items_of_page import ItemsOfPage
from .item_pages.missing_fields import NamedFields
from .item_pages.origins import Origin, Origins, is_switched_off
from .outcome import Outcome
from .reading import ResponseTrees
from .stopping import Ending, Stopper, fail_at_start
from .templates import ask_of_templates, site_template

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from .calls import Count, TemplateOf

logger = logging.getLogger(__name__)


async def _no_template(url: str) -> None:
    return None


class DuplicatePipeline:
    """Drops copies of kept pages, and tags all other items with their verdict.

    No page is lost because of a fault: if something is missing, fails or gives no answer, the item
    passes with the verdict ``unchecked``.

    Parameters
    ----------
    config
        The settings: what to drop, the fields of an item, where the index is.
    count
        Called with the name of a statistic to increase by one.
    stop
        Called when the server gives no answer and ``DEDUP_ON_ERROR`` is ``stop``.
    fail
        Called when the index cannot be opened: ends the crawl as failed.
    template
        Returns what is known about the template of a URL's site.
    trees
        The trees of responses that were parsed before the spider got them.
    """

    def __init__(
        self,
        config: DedupConfig,
        count: Count,
        stop: Callable[[], None],
        fail: Callable[[], None],
        template: TemplateOf = _no_template,
        trees: ResponseTrees | None = None,
    ) -> None:
        self.config = config
        self.texts = MainTexts(config, count, trees)
        self.origins = Origins()
        self.outcome = Outcome(config)
        self.crawl = CrawlIndex(config, count, fail, template, self._checked_urls)
        self.ending: Ending | None = None
        self._count = count
        self._stop = stop
        self._template = template
        self._stopped = False
        self._labels = Labels()
        self._own_texts = OwnTexts()
        self._named_fields = NamedFields(config)
        self._items_of_page = ItemsOfPage(config.html_field, config.text_field)
        self._closing: asyncio.Future[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read the settings. Raises :class:`ConfigError` for one that cannot be used."""
        speak_plainly()
        config = project_config(crawler.settings)
        if not config.enabled:
            raise NotConfigured
        if not is_asyncio_available():
            raise NotConfigured(
                "the duplicate filter needs asyncio: leave TWISTED_REACTOR at Scrapy's default"
            )
        pipeline = cls(
            config,
            count=crawler.stats.inc_value,
            stop=Stopper(crawler),
            fail=partial(fail_at_start, crawler),
            template=partial(site_template, crawler),
            trees=ResponseTrees.of_crawl(crawler),
        )
        pipeline.outcome.connect_signals(crawler)
        pipeline.crawl.connect_signals(crawler)
        # After the above, which asks for the page of an item that Origins then forgets.
        pipeline.origins = Origins.of_crawl(crawler, pipeline.texts.reader)
        pipeline.ending = Ending(crawler)
        adapt_pipeline(pipeline)
        # Scrapy does not close a pipeline if another one fails to close.
        crawler.signals.connect(pipeline.close_spider, signal=signals.spider_closed)
        ask_of_templates(crawler, pipeline.crawl.meet_template)
        return pipeline

    async def open_spider(self, spider: Any = None) -> None:
        """Open the index. If that fails, the crawl ends, and the log says what to do."""
        await self.crawl.open()

    async def close_spider(self, spider: Any = None) -> None:
        """Close the index and log a summary. Further calls do nothing."""
        if self._closing is None:
            self._closing = asyncio.ensure_future(self._close_index())
        await asyncio.shield(self._closing)

    async def _close_index(self) -> None:
        if await self.crawl.close():
            self.outcome.log_outcome()
            self._named_fields.log_unfound()

    async def process_item(self, item: Any, spider: Any = None) -> Any:
        """Drop the item if ``DEDUP_DROP`` names its verdict; otherwise tag it and let it pass."""
        if not ItemAdapter.is_item(item):
            self._count("dedup/unknown_item_type")
            return item
        origin = self.origins.find_origin(item)
        if origin is not None and is_switched_off(origin.response):
            self._count("dedup/switched_off")
            return item
        self._named_fields.look_into(item)
        page = self.texts.reader.read(item, origin)
        with self.crawl.note_work():
            verdict = await self._decide_page(item, page, origin)
        self._count(f"dedup/{verdict.kind}")
        if page.missing is not None:
            self._count(f"dedup/no_page/{page.missing}")
        self.outcome.count_item(item, verdict, page.missing)
        if verdict.replaces is not None:
            self._count("dedup/replaced")
            logger.info("%r takes the place of %r", verdict.url, verdict.replaces)
        if verdict.contains:
            self._count("dedup/contains")
        if verdict.contained_in:
            self._count("dedup/contained_in")
        reason = drop_reason(verdict, self.config.drop)
        if reason is not None:
            self.outcome.dropped += 1
            self._count(f"dedup/dropped/{reason.kind}")
            raise reason
        if page.missing is None:
            self.texts.writer.tag_item(item, verdict)
        return item

    async def _decide_page(self, item: Any, page: ItemPage, origin: Origin | None) -> Verdict:
        """Return the verdict on an item's page, which is ``unchecked`` whatever fails."""
        verdict = None
        try:
            verdict = await self._check_page(item, page, origin)
        except DedupError as error:
            self._pass_unchecked(error)
        except Exception as error:
            if self.crawl.failures.is_news(error):
                logger.exception(
                    "The page %r passes unchecked because of this error, and others may, too",
                    page.url,
                )
        return verdict or Verdict(Kind.UNCHECKED, page.url)

    async def _check_page(self, item: Any, page: ItemPage, origin: Origin | None) -> Verdict | None:
        """Return what the index says of an item's page, None if it cannot be judged by it."""
        url, index = page.url, self.crawl.opened
        template = await self._template(url) if url else None
        known = template.known if template is not None else frozenset()
        found = await self.texts.take_text(item, page, known)
        if not url or found is None or page.missing is not None or index is None:
            return None
        if origin is not None and self.config.page == "auto":
            page.missing = why_elsewhere(item, page, found, origin.response, self._labels)
            if page.missing is not None:
                return None
        main = found if isinstance(found, MainText) else None
        text = found if isinstance(found, str) else found.text
        if template is not None and main is not None:
            template.observe(main, url)
        self._complete_page(page)
        self.origins.note_checked(item, url)
        self.crawl.gone.note_item(url)
        await self.crawl.report_found(is_all=False)
        await self.crawl.course.begin_crawl()
        response = origin.response if origin is not None else None
        heading = await self.texts.find_heading(page, found, response, known)
        request = response.request if response is not None else None
        is_other = request is not None and self._items_of_page.note_item(
            self.config.identity(url), item, request
        )
        verdict = await index.check(
            url,
            text,
            canonical=page.canonical,
            date=page.date,
            fields=page.fields,
            whole=main.whole if main else None,
            template=template,
            heading=heading,
            own_words=main.own_words if main else None,
            learnt=main.learnt if main else None,
            final=self.crawl.course.again.note_came(url, request),
            scope=page.scope,
        )
        if origin is not None and origin.is_repeated(verdict, self.config.page, is_other):
            page.missing = Missing.LISTING
            return None
        if origin is not None and self._is_other_item(item, page, found, origin, verdict):
            page.missing = Missing.OTHER_TEXT
            return None
        alone = main.whole if main else text
        # The same text in two scopes counts as two texts.
        if scope := scope_of(self.config, self.config.identity(url), page.scope):
            alone = f"{scope}\n{alone}"
        self.crawl.course.note_verdict(verdict, request, alone, main)
        if self.crawl.sparing is not None and origin is not None:
            title = page.title or (main.title if main else "")
            self.crawl.sparing.note_verdict(origin.response, verdict, f"{title}\n{alone}")
        self._archive_page(page, found, text, verdict)
        return verdict

    def _is_other_item(
        self, item: Any, page: ItemPage, found: MainText | str, origin: Origin, verdict: Verdict
    ) -> bool:
        """Whether an item of a copy says what neither its response nor a kept item does."""
        if not page.of_response or self.config.page != "auto":
            return False
        if verdict.standing not in COPIES:
            self._own_texts.note_kept(item, origin.response)
            return False
        return self._own_texts.is_other(item, found, origin.response)

    def _checked_urls(self, item: Any, response: Response | None) -> list[str]:
        """The URLs under which the page of an item was checked, or may have been."""
        url = self.origins.checked_url(item)
        return [url] if url is not None else self.texts.reader.checked_urls(item, response)

    def _complete_page(self, page: ItemPage) -> None:
        """Take the canonical URL and the date of a response's page from its HTML."""
        if not page.of_response or page.document is None:
            return
        named = canonical(page.document)
        if page.canonical is None and named:
            page.canonical = resolved(page.url, named)
        page.date = page.date or read_date(published(page.document))

    def _archive_page(
        self, page: ItemPage, found: MainText | str, text: str, verdict: Verdict
    ) -> None:
        """Add the page to the archive, for reports."""
        if self.crawl.archive is None:
            return
        try:
            title, cut = page.title, []
            if isinstance(found, MainText):
                title, cut = title or found.title, found.cut(MOST_BLOCKS)
            self.crawl.archive.add(text, title, verdict, cut)
        except Exception as error:  # the verdict does not depend on the archive
            self.crawl.archive.warn(repr(error))

    def _pass_unchecked(self, error: DedupError) -> None:
        stopping = self.config.on_error == "stop"
        if self.crawl.failures.is_news(error):
            what = "the crawl stops" if stopping else "pages pass unchecked"
            server = server_name(self.config)
            logger.error("The index gives no answer, %s: %s: %s", what, server, error)
        if stopping and not self._stopped:
            self._stopped = True
            self._stop()
