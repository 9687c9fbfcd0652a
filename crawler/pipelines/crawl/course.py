"""The course of a crawl: its beginning in the index, repeated requests, and its end."""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from scrapy import signals
from scrapy.exceptions import DontCloseSpider

from ...dedup.candidates import LEARNT
from ...dedup.errors import DedupError, ServerError
from ...dedup.identity import host
from ...dedup.verdict import COPIES, Kind, Verdict
from ...latest import Latest
from ..dropping import ContainedPage, drop_reason
from ..templates import save_templates
from .again import AskAgain
from .job import Job
from .later import LaterPipelines
from .memory import Dropped, LatestCopies, hash_text

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from ...chrome import MainText
    from ...dedup.config import DedupConfig
    from ...dedup.index import DuplicateIndex
    from ..calls import Count, ForgetUrl, SendReports, TemplateOf, UrlsOf

logger = logging.getLogger(__name__)

_SAME_TEXT: Final = frozenset({Kind.UNCHANGED, Kind.REPEATED})
_MOST_REPLACEABLE: Final = 1000  # kept pages that are remembered with their requests
_MOST_COPIES: Final = 1000  # dropped copies that are remembered although their originals were seen
_PAUSE: Final = 10.0  # seconds from one try to begin a crawl in the index to the next
# How often an idle spider asks about all remembered pages before it pauses in between: one that
# waits for its queue may be idle after each page.
_OFTEN: Final = 10
_LONG_PAUSE: Final = 60.0  # seconds


class Course:
    """Begins a crawl, remembers the decisions about its pages, and ends it."""

    def __init__(
        self,
        config: DedupConfig,
        count: Count,
        template: TemplateOf,
        urls: UrlsOf,
        forget: ForgetUrl,
    ) -> None:
        self.later = LaterPipelines(config.identity, urls, forget, count, config.tag_field)
        self.again = AskAgain(
            config.ask_again, config.identity, count, template, self.later.is_doubtful, forget
        )
        self._config = config
        self._forget = forget
        is_asking = config.prefer and config.ask_again
        # The latest kept pages, as a better page may come: as if dropped, each its own original.
        self._replaceable: Latest[str, Dropped] = Latest(_MOST_REPLACEABLE if is_asking else 0)
        self._copies = LatestCopies(min(_MOST_COPIES, config.ask_again))
        self._job = Job()
        self._crawler: Crawler | None = None
        self._index: DuplicateIndex | None = None
        self._has_begun = False
        self._has_news = False  # whether a page has come since the index was asked
        self._times_asked = 0
        self._next_asking = 0.0
        self._next_try = 0.0
        self._has_warned = False

    def connect_signals(self, crawler: Crawler) -> None:
        """Follow the course of a crawl."""
        self._crawler = crawler
        self._job = Job.of_crawl(crawler, self._config)
        if self._config.drop:
            crawler.signals.connect(self._remember_latest, signal=signals.spider_idle)
        self.again.connect_signals(crawler)  # after the signal above, whose pages it asks about
        self.later.connect_signals(crawler)

    async def use_index(
        self,
        index: DuplicateIndex,
        report: SendReports,
        *,
        begins: bool,
    ) -> None:
        """Use this index. If the crawl does not begin now, it does with its first page."""
        self._index = index
        self.again.use_index(index, report)
        if self._crawler is not None and self._crawler.spider is not None:
            pages, doubtful = self._job.read_pages(self._crawler.spider)
            self.again.doubtful.put_back(doubtful)
            self.again.dropped.put_back(pages)
            self.again.dropped.note_hosts(self._job.hosts)
        if begins:
            await self.begin_crawl()

    async def begin_crawl(self) -> None:
        """Begin the crawl in the index, unless that is done.

        If the index does not answer, pages are checked as if there were no crawl.
        """
        if self._has_begun or self._index is None or time.monotonic() < self._next_try:
            return
        self._next_try = time.monotonic() + _PAUSE
        try:
            await self._job.begin_crawl(self._index)
        except ServerError as error:
            if not self._has_warned:  # a full server refuses it every ten seconds
                self._has_warned = True
                logger.warning("The crawl could not be announced to the index yet: %s", error)
        else:
            self._has_begun = True

    def note_verdict(
        self, verdict: Verdict, request: Request | None, text: str, main: MainText | None
    ) -> None:
        """Note the decision about a page's text, which is in `main` if the pipeline found it."""
        self._has_news = True
        identity, hashed = self._config.identity, hash_text(text)
        known, is_copy = identity(verdict.url), verdict.standing in COPIES
        original = identity(verdict.duplicate_of) if verdict.duplicate_of is not None else None
        self.again.asked.note_decision(known, hashed, original if is_copy and original else known)
        if verdict.kind not in _SAME_TEXT and self.again.dropped.has_seen(known):
            self._remember_copies(known)
        if not is_copy:
            self.again.dropped.note_kept(known)
        reason = drop_reason(verdict, self._config.drop)
        if reason is None:
            self.again.note_kept(verdict.url)
            self.later.pass_on(verdict)
            self._note_replaced(verdict, known, main)
            if is_copy or request is None:
                self._replaceable.pop(known, None)
            else:
                self._replaceable[known] = Dropped(request, known, hashed)
            return
        is_contained = isinstance(reason, ContainedPage)
        if is_contained:
            # The index keeps this page, although the crawl drops it. If the index did not forget
            # it, its copies would be dropped, too, even when no other page has the text any more.
            self._forget(verdict.url)
            original = identity(verdict.container.url) if verdict.container else None
        if original is None or not (is_copy or is_contained):
            return
        is_early = False
        if main is not None:
            one_host = host(original) == host(known)
            is_early = one_host and verdict.standing is Kind.NEAR and main.learnt < LEARNT
            if not is_early:
                self.again.doubt_copy(known, request, main, one_host=one_host)
        # Another crawl or worker may have confirmed the original, and it may have changed since.
        is_known = self.again.dropped.has_seen(original) and not self.later.is_doubtful(original)
        page = Dropped(request, original, hashed, is_early, is_contained)
        if verdict.unconfirmed or is_early or not is_known:
            self.again.remember_page(verdict.url, page)
        self._copies.add(known, page)

    def note_gone(self, url: str) -> None:
        """Note that a page is gone or left out, which the crawl may have kept before."""
        self._remember_copies(self._config.identity(url))

    def _remember_copies(self, original: str, but: int = 0) -> None:
        """Have the index asked about copies of a page, whose texts may be in no kept page now.

        `but` is the hash of a text that is in one.
        """
        for known, page in self._copies.take(original).items():
            if page.text != but:
                self.again.remember_page(known, page)

    def _remember_latest(self) -> None:
        """Have the index asked about the latest pages and copies when the spider is idle.

        A page that replaces several names one of them, and one of another crawler names none here.
        And a copy may have been checked while its original was found gone.
        """
        if not self._has_news:
            return
        now = time.monotonic()
        if now < self._next_asking:
            raise DontCloseSpider  # it may not be idle again
        self._has_news = False
        kept = self._replaceable.items()
        latest = {url: page for url, page in kept if not self.later.is_doubtful(url)}
        latest |= self._copies.list_copies()
        is_over = self.again.asked.was_final
        self.again.latest = {url: page for url, page in latest.items() if not is_over(url)}
        self._times_asked += bool(self.again.latest)
        if self._times_asked >= _OFTEN:
            self._next_asking = now + _LONG_PAUSE

    def _note_replaced(self, verdict: Verdict, known: str, main: MainText | None) -> None:
        """Treat a page that another has replaced as if it had come after that, and been dropped."""
        if verdict.replaces is None or not self._config.drop:
            return
        loser = self._config.identity(verdict.replaces)
        page = self._replaceable.pop(loser, None)
        if page is None:
            self._remember_copies(loser)
            return
        self._remember_copies(loser, but=page.text)
        one_host = host(loser) == host(known)
        is_early = main is not None and one_host and main.learnt < LEARNT
        if main is not None and not is_early:
            # The page that replaces it has the same note, if it is one.
            self.again.doubt_copy(loser, page.request, main, one_host=one_host)
        self.again.remember_page(loser, page._replace(original=known, is_early=is_early))

    async def finish_crawl(self) -> None:
        """Log what has become of the pages, and save what is needed to continue a paused crawl."""
        pages, doubtful = self.again.dropped.list_pages(), self.again.doubtful.list_copies()
        goes_on = self._job.can_go_on and self._has_pending(bool(pages or doubtful))
        if goes_on and self._crawler is not None and self._crawler.spider is not None:
            # Their originals may change after the pause, and the next process has not seen them.
            pages = self._copies.list_copies() | pages
            hosts = self.again.dropped.hosts
            self._job.save_pages(pages, doubtful, hosts, self._crawler.spider)
            save_templates(self._crawler)
        await self.again.log_end(goes_on=goes_on)

    async def end_crawl(self) -> None:
        """End the crawl in the index; if what it kept may be in no output, as a killed one."""
        if loss := self._job.loss:
            logger.error(
                "%s, see above. The index has its pages: crawl again%s, and those that this crawl "
                "was the last to keep come as `updated`",
                loss,
                " with another DEDUP_CRAWL" if self._config.crawl else "",
            )
        is_told = False
        if self._index is not None:
            with suppress(DedupError):
                await self._index.end_crawl(failed=bool(loss))
                is_told = True
        self._job.end_crawl(is_told=is_told)

    def _has_pending(self, has_pages: bool) -> bool:
        """Whether a crawl that ends has more to do."""
        scheduler = getattr(getattr(self._crawler, "engine", None), "scheduler", None)
        return has_pages or (scheduler is not None and scheduler.has_pending_requests())
