"""Requests dropped pages again whose original may have changed, before the crawl ends."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final

from scrapy import Request, signals
from scrapy.exceptions import DontCloseSpider

from ...dedup.candidates import LEARNT
from ...dedup.errors import DedupError
from ...dedup.identity import host
from ...scrapy_versions import look_for_requests
from ...wording import counted
from ..item_pages.origins import WITHOUT_ITEM
from .asked_pages import AskedPages
from .doubtful import DoubtfulCopies
from .memory import Dropped, DroppedPages

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from ...chrome import MainText
    from ...dedup.index import DuplicateIndex
    from ...dedup.store.messages import Original
    from ..calls import Count, ForgetUrl, KnownUrl, SendReports, TemplateOf

logger = logging.getLogger(__name__)

_FEW: Final = 16  # dropped pages from which the index may be asked before the spider is idle
_SPARE: Final = 3  # pages that wait for the result of another page with the same text


class AskAgain:
    """Remembers dropped pages whose text may turn out to be in no kept page any more.

    When the spider is idle, or when many pages are remembered, the index is asked about their
    originals, and requests are made again where needed. A page is requested once while the crawl
    runs, and once when it is idle. The second time, unconfirmed records of hosts that the crawl has
    visited no longer drop it. Of several pages with one text, one is requested, and the others wait
    for its result.

    `most` is the number of pages that are remembered at once, 0 for none, and `is_doubtful` says
    whether a page that was kept is in no feed yet.
    """

    def __init__(
        self,
        most: int,
        known: KnownUrl,
        count: Count,
        template: TemplateOf,
        is_doubtful: Callable[[str], bool],
        forget: ForgetUrl,
    ) -> None:
        self.asked = AskedPages(most, is_doubtful, count)
        # Makes the request for a URL if it was spared, and returns whether it was.
        self.make_left: Callable[[str], bool] = lambda url: False
        self._known = known
        self._count = count
        self._template = template
        self._forget = forget
        self.dropped = DroppedPages(most)
        # Pages to ask about at the next idle spider, of which nothing says that they are lost.
        self.latest: dict[str, Dropped] = {}
        self.doubtful = DoubtfulCopies()
        self._since_settled = 0
        self._index: DuplicateIndex | None = None
        self._report: SendReports | None = None
        self._crawler: Crawler | None = None
        self._settling: asyncio.Future[None] | None = None
        self._is_unanswered = False

    def connect_signals(self, crawler: Crawler) -> None:
        """Follow this crawl, and repeat its requests."""
        self._crawler = crawler
        self.asked.connect_signals(crawler)
        crawler.signals.connect(self.ask_when_idle, signal=signals.spider_idle)
        crawler.signals.connect(self.note_empty, signal=WITHOUT_ITEM)

    def use_index(self, index: DuplicateIndex, report: SendReports) -> None:
        """Ask *index* from now on, after `report` has sent it the crawl's reports."""
        self._index, self._report = index, report

    def note_empty(self, url: str) -> None:
        """Note a response without an item, for example because of noindex."""
        known = self._known(url)
        self.dropped.note_visit(known)
        self.dropped.note_empty(known)

    def note_came(self, url: str, request: Request | None) -> tuple[str, ...]:
        """Note that a page came; return the hosts whose unconfirmed records give way to it.

        A host that led to it was visited, too: a site may have moved to its name with ``www.``.
        """
        self._is_unanswered = False  # a spider that goes on, as behind a queue, may ask again
        known = self._known(url)
        for passed in request.meta.get("redirect_urls", ()) if request is not None else ():
            self.dropped.note_visit(self._known(passed))
        return self.asked.note_came(known, request, self.dropped.note_visit(known))

    def note_kept(self, url: str) -> None:
        """Note that a page is kept, or passed on as a copy."""
        known = self._known(url)
        self.dropped.discard_page(known)
        self.asked.note_kept(known)

    def remember_page(self, url: str, page: Dropped) -> None:
        """Remember a dropped page, unless it was requested when the spider was idle."""
        known, most = self._known(url), self.dropped.most
        if not most or self.asked.was_final(known):
            return
        self.dropped.add_page(known, page)
        self._since_settled += 1
        many = len(self.dropped) >= most * 3 // 4
        if many and self._since_settled >= max(most // 4, _FEW):
            self._settle_soon(is_idle=False)

    def doubt_copy(
        self, known: str, request: Request | None, main: MainText, *, one_host: bool
    ) -> None:
        """Remember a dropped copy whose text may turn out to be a note of its site."""
        if self.dropped.most and known not in self.asked:
            self.doubtful.add(known, request, main, one_host=one_host)
            if self.doubtful.are_many:
                self._settle_soon(is_idle=False)

    def ask_when_idle(self) -> None:
        """Request pages again before a spider closes."""
        settling = self._settling is not None and not self._settling.done()
        pages = (
            bool(self.dropped or self.latest)
            and not self._is_unanswered
            and self._index is not None
        )
        if not (settling or pages or self.doubtful):
            return
        self._settle_soon(is_idle=True)
        raise DontCloseSpider

    def _settle_soon(self, *, is_idle: bool) -> None:
        if self._settling is None or self._settling.done():
            self._since_settled = 0
            self._settling = asyncio.ensure_future(self._settle_pages(is_idle=is_idle))

    async def _settle_pages(self, *, is_idle: bool) -> None:
        pages, noted = self.dropped.take_pages(), dict[str, Request]()
        asked = dict(pages)
        if is_idle:
            asked |= {url: page for url, page in self.latest.items() if url not in pages}
            self.latest = {}
        try:
            if is_idle or self.doubtful.are_many:
                noted = await self.doubtful.take_noted(self._template, some=not is_idle)
            found = await self._find_originals(asked, is_idle=is_idle)
            await self._ask_for(asked, found, is_idle=is_idle)
        except Exception as error:  # no error may keep the crawl from ending
            self._is_unanswered = is_idle
            self.dropped.put_back(pages)
            logger.error(
                "Could not find out what became of the originals of dropped pages: %s",
                error,
                exc_info=not isinstance(error, DedupError),
            )
        finally:
            for known, request in noted.items():
                self.asked.ask_for_noted(known, request, is_idle=is_idle)
            if self._crawler is not None:
                look_for_requests(self._crawler.engine)

    async def _find_originals(
        self, pages: Mapping[str, Dropped], *, is_idle: bool
    ) -> dict[str, Original]:
        assert self._index is not None and self._report is not None  # noqa: PT018
        if is_idle:
            await self._forget_emptied(pages.values())
        await self._report(is_idle)
        # The index has forgotten a contained page, so the page that contains it is looked up.
        urls = {known: one.original if one.is_contained else known for known, one in pages.items()}
        found = await self._index.originals(dict.fromkeys(urls.values()))
        return {known: found[url] for known, url in urls.items()}

    async def _forget_emptied(self, pages: Iterable[Dropped]) -> None:
        """Forget originals that another crawl has confirmed before this one found no item there."""
        assert self._index is not None
        start = self._index.crawl.start if self._index.crawl is not None else 0
        for url, since in self.dropped.find_emptied(pages).items():
            record = await self._index.show(url)
            if record is not None and start <= record.last_seen.timestamp() < since:
                self._forget(url)

    async def _ask_for(
        self, pages: Mapping[str, Dropped], found: Mapping[str, Original], *, is_idle: bool
    ) -> None:
        """Repeat the requests of the pages that need it, each request once."""
        requests: dict[int, tuple[Request, list[str], set[str]]] = {}
        waiting: dict[str, Dropped] = {}
        confirmed: dict[str, Dropped] = {}
        made: set[str] = set()  # requests for originals, which were spared as copies of copies
        wanted = Counter(() if is_idle else self.asked.list_open())  # pages by text
        for known, page in pages.items():
            original = found[known]
            if not await self._is_needed(known, page, original, is_idle=is_idle):
                if is_idle:
                    continue
                if page.is_early or original.state != "confirmed":
                    waiting[known] = page
                elif not self.dropped.has_seen(page.original):
                    confirmed[known] = page
                continue
            if self.asked.is_settled(page):
                continue
            if original.state == "unconfirmed" and (
                original.url in made or self.make_left(original.url)
            ):
                made.add(original.url)
                waiting[known] = page
                continue
            if wanted[page.text]:
                if is_idle or wanted[page.text] <= _SPARE:
                    waiting[known] = page
                wanted[page.text] += 1
                continue
            if page.request is None or not self.asked.has_room:
                self.asked.note_missed(known)
                continue
            _, urls, hosts = requests.setdefault(id(page.request), (page.request, [], set()))
            urls.append(known)
            hosts.add(host(original.url or known))
            self.asked.expect(known, page, is_idle=is_idle)
            wanted[page.text] = 1
        for request, urls, hosts in requests.values():
            self.asked.repeat(request, urls, hosts if is_idle else ())
        self.dropped.put_back(waiting)
        # Another crawl has confirmed these originals, but this one may find them changed.
        self.dropped.put_back_some(confirmed)

    async def _is_needed(
        self, known: str, page: Dropped, original: Original, *, is_idle: bool
    ) -> bool:
        if original.state == "lost":
            return True
        if not is_idle:
            return False
        if page.is_early and not self.asked.was_final(known):
            template = await self._template(known)
            if template is not None and template.learnt >= LEARNT:
                return True
        return original.state == "unconfirmed" and self.dropped.is_visited(original.url)

    async def log_end(self, *, goes_on: bool) -> None:
        """Log which pages were requested again and which could not be.

        If the crawl `goes_on` in another process, remembered pages are left to that.
        """
        if self._settling is not None:
            await asyncio.wait([self._settling])
        if not goes_on:
            await self._give_up()
        self.asked.tell_end()
        for _ in range(forgotten := self.dropped.forgotten):
            self._count("dedup/not_remembered")
        if forgotten:
            logger.warning(
                "%s more than DEDUP_ASK_AGAIN=%d waited for their originals and could not be "
                "remembered: `scrapy dedup orphans` lists those whose text no kept page has",
                counted(forgotten, "dropped page"),
                self.dropped.most,
            )

    async def _give_up(self) -> None:
        """Note the remembered pages whose text is in no kept page."""
        pages = {**self.asked.awaited, **self.dropped.take_pages()}
        if not pages:
            return
        try:
            found = await self._find_originals(pages, is_idle=True)
        except DedupError:
            self.asked.note_unknown(pages)
            return
        for known, page in pages.items():
            page = page._replace(is_early=False)
            is_needed = await self._is_needed(known, page, found[known], is_idle=True)
            if is_needed and not self.asked.is_settled(page):
                self.asked.missed.add(known)
