"""All steps for a page: main text, index, verdict, then drop or tag the item."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from itemadapter import ItemAdapter
from scrapy import signals
from scrapy.exceptions import NotConfigured

from ..chrome import MainText, SharedTemplate, canonical, published
from ..dedup.archive.writer import MOST_BLOCKS, ArchiveWriter
from ..dedup.config import DedupConfig
from ..dedup.errors import DedupError, ServerError
from ..dedup.identity import resolved
from ..dedup.index import DuplicateIndex
from ..dedup.ranks import read_date
from ..dedup.scopes import scope_of
from ..dedup.store.server.connect import server_name
from ..dedup.verdict import Kind, Verdict
from ..project import project_config
from ..scrapy_versions import adapt_pipeline, is_asyncio_available, start_failure
from ..start_errors import mark_told, speak_plainly
from ..wording import counted
from .chrome import MainTexts
from .crawl.course import Course
from .dropping import drop_reason
from .failures import Failures
from .gone import GoneAddresses
from .item_pages.belonging import Labels, why_elsewhere
from .item_pages.item_page import ItemPage, Missing
from .item_pages.origins import Origin, Origins
from .outcome import Outcome
from .reading import ResponseTrees
from .reporting import LeftOut
from .resetting import reset_if_asked
from .spared.sparing import Sparing
from .stopping import SERVER_UNAVAILABLE, Ending, Stopper, fail_at_start
from .templates import ask_of_templates, site_template
from .unchecked import Unchecked

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

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
        count: Callable[[str], None],
        stop: Callable[[], None],
        fail: Callable[[], None],
        template: Callable[[str], Awaitable[SharedTemplate | None]] = _no_template,
        trees: ResponseTrees | None = None,
    ) -> None:
        self.config = config
        self.texts = MainTexts(config, count, trees)
        self.origins = Origins()
        self.outcome = Outcome(config)
        self._count = count
        self._stop = stop
        self._fail = fail
        self._template = template
        self._stopped = False
        self._failures = Failures(count)
        self._labels = Labels()
        self._under_way = 0  # items in the pipeline, and the opening of the index
        self._idle = asyncio.Event()  # set while nothing is under way
        self._idle.set()
        self._closing: asyncio.Future[None] | None = None
        self._unchecked = Unchecked(count)
        self._resources = AsyncExitStack()
        self._index: DuplicateIndex | None = None
        self._archive: ArchiveWriter | None = None
        self.gone = GoneAddresses(config.identity, count)
        self.left_out = LeftOut(count)
        self.course = Course(
            config, count, template, self.texts.reader.checked_urls, self.left_out.note_now
        )
        self.sparing: Sparing | None = None
        self.ending: Ending | None = None

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
        pipeline.origins = Origins.of_crawl(crawler, pipeline.texts.reader)
        pipeline.outcome.connect_signals(crawler)
        pipeline.gone.connect_signals(crawler)
        pipeline.left_out.connect_signals(crawler)
        pipeline.course.connect_signals(crawler)
        pipeline.sparing = Sparing.of(crawler)
        if pipeline.sparing is not None:
            pipeline.course.again.make_left = pipeline.sparing.make_left
        pipeline.ending = Ending(crawler)
        pipeline.ending.connect_signals()
        adapt_pipeline(pipeline)
        # Scrapy does not close a pipeline if another one fails to close.
        crawler.signals.connect(pipeline.close_spider, signal=signals.spider_closed)
        ask_of_templates(crawler, pipeline.meet_template)
        return pipeline

    async def open_spider(self, spider: Any = None) -> None:
        """Open the index. If that fails, the crawl ends, and the log says what to do."""
        with self._note_work():
            await self._open_index()

    async def _open_index(self) -> None:
        try:
            await reset_if_asked(self.config)
            opening = DuplicateIndex.open(self.config, spool=True)
            self._index = await self._resources.enter_async_context(opening)
            self._archive = ArchiveWriter.of(self.config, self._index.digest)
        except DedupError as error:
            logger.error("%s", error)
            mark_told(error)
            self._fail()
            unavailable = isinstance(error, ServerError)
            reason = SERVER_UNAVAILABLE if unavailable else "dedup_not_opened"
            raise start_failure(error, reason) from None
        with suppress(ServerError):  # the first page logs the error, and passes
            kept = sum(state.get("kept", 0) for state in await self._index.store.read_states())
            place = server_name(self.config)
            logger.info("Index %r, %s: %s", self.config.namespace, place, counted(kept, "page"))
        self.gone.report_to(self._index)
        self.left_out.report_to(self._index)
        # Now, because an earlier crawl's texts must not come after those of this crawl.
        await self._unchecked.replay_unchecked(self._index)
        await self.course.use_index(self._index, self._report_found)
        if self.sparing is not None:
            self.sparing.open(self._index)

    async def _report_found(self, is_all: bool) -> None:
        """Send the crawl's reports to the index; `is_all` says that all responses have come."""
        await (self.gone.report_all() if is_all else self.gone.report_found())
        await self.left_out.report_found()
        if self._index is not None:
            await self._failures.report_to(self._index)

    async def meet_template(self, url: str, template: SharedTemplate) -> None:
        """Load what the index knows about the template of a page's site."""
        if self._index is None:
            return
        try:
            await self._index.meet(url, template)
        except Exception as error:  # spiders call this, too, and would lose the page
            if self._failures.is_news(error):
                logger.exception("Could not use the template of %r from the index", url)

    async def close_spider(self, spider: Any = None) -> None:
        """Close the index and log a summary. Further calls do nothing."""
        if self._closing is None:
            self._closing = asyncio.ensure_future(self._close_index())
        await asyncio.shield(self._closing)

    async def _close_index(self) -> None:
        # `scrapy parse` does not wait for its items. Neither does a crawl wait for this pipeline if
        # it ends because another one fails to open.
        await self._idle.wait()
        if self._index is None:
            return
        await self.left_out.report_found()
        await self.gone.report_rest()
        await self.course.end_crawl()
        if self.sparing is not None:
            await self.sparing.close()
        await self._unchecked.replay_unchecked(self._index)
        await self._failures.report_to(self._index)
        if self._archive is not None:
            await asyncio.to_thread(self._archive.close)
        try:
            await self._resources.aclose()
        except Exception:
            logger.warning("The index could not be closed properly", exc_info=True)
        self.outcome.log_outcome()

    async def process_item(self, item: Any, spider: Any = None) -> Any:
        """Drop the item if ``DEDUP_DROP`` names its verdict; otherwise tag it and let it pass."""
        if not ItemAdapter.is_item(item):
            self._count("dedup/unknown_item_type")
            return item
        origin = self.origins.find_origin(item)
        if origin is not None and origin.is_off:
            self._count("dedup/switched_off")
            return item
        page = self.texts.reader.read(item, origin)
        with self._note_work():
            verdict = await self._decide_page(item, page, origin)
        self._count(f"dedup/{verdict.kind}")
        if page.missing is not None:
            self._count(f"dedup/no_page/{page.missing}")
        self.outcome.count_item(verdict, page.missing)
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

    @contextmanager
    def _note_work(self) -> Iterator[None]:
        """Count something as under way, so that closing the index waits for its end."""
        self._under_way += 1
        self._idle.clear()
        try:
            yield
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._idle.set()

    async def _decide_page(self, item: Any, page: ItemPage, origin: Origin | None) -> Verdict:
        url = page.url
        request = origin.response.request if origin is not None else None
        try:
            template = await self._template(url) if url else None
            known = template.known if template is not None else frozenset()
            found = await self.texts.take_text(item, page, known)
            if url and found is not None and page.missing is None and self._index is not None:
                main = found if isinstance(found, MainText) else None
                text = found if isinstance(found, str) else found.text
                if origin is not None and self.config.page == "auto":
                    page.missing = why_elsewhere(item, page, found, origin.response, self._labels)
                    if page.missing is not None:
                        return Verdict(Kind.UNCHECKED, url)
                if template is not None and main is not None:
                    template.observe(main, url)
                self._complete_page(page)
                self.gone.note_item(url)
                await self._report_found(is_all=False)
                await self.course.begin_crawl()
                verdict = await self._index.check(
                    url,
                    text,
                    canonical=page.canonical,
                    date=page.date,
                    fields=page.fields,
                    whole=main.whole if main else None,
                    template=template,
                    heading=main.heading if main else "",
                    own_words=main.own_words if main else None,
                    learnt=main.learnt if main else None,
                    final=self.course.again.note_came(url, request),
                    scope=page.scope,
                )
                if origin is not None and origin.is_repeated(verdict, self.config.page):
                    page.missing = Missing.LISTING
                    return Verdict(Kind.UNCHECKED, url)
                alone = main.whole if main else text
                # The same text in two scopes counts as two texts.
                if scope := scope_of(self.config, self.config.identity(url), page.scope):
                    alone = f"{scope}\n{alone}"
                self.course.note_verdict(verdict, request, alone, main)
                if self.sparing is not None and origin is not None:
                    title = page.title or (main.title if main else "")
                    self.sparing.note_verdict(origin.response, verdict, f"{title}\n{alone}")
                self._archive_page(page, found, text, verdict)
                return verdict
        except DedupError as error:
            self._pass_unchecked(error)
        except Exception as error:
            if self._failures.is_news(error):
                logger.exception(
                    "The page %r passes unchecked because of this error, and others may, too", url
                )
        return Verdict(Kind.UNCHECKED, url)

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
        if self._archive is None:
            return
        try:
            title, cut = page.title, []
            if isinstance(found, MainText):
                title, cut = title or found.title, found.cut(MOST_BLOCKS)
            self._archive.add(text, title, verdict, cut)
        except Exception as error:  # the verdict does not depend on the archive
            self._archive.warn(repr(error))

    def _pass_unchecked(self, error: DedupError) -> None:
        stopping = self.config.on_error == "stop"
        if self._failures.is_news(error):
            what = "the crawl stops" if stopping else "pages pass unchecked"
            server = server_name(self.config)
            logger.error("The index gives no answer, %s: %s: %s", what, server, error)
        if stopping and not self._stopped:
            self._stopped = True
            self._stop()
