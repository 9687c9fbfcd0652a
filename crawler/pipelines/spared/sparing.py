"""Spares a crawl requests whose pages would be copies: from what it has seen, and others have."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter, OrderedDict
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, Self
from weakref import WeakKeyDictionary

from scrapy import signals
from scrapy.exceptions import DontCloseSpider, IgnoreRequest

from ...dedup.errors import DedupError
from ...dedup.urls.parts import split_url
from ...dedup.verdict import Kind
from ...project import project_config
from ...scrapy_versions import is_asyncio_available
from ...wording import counted
from ..crawl.memory import hash_text
from .site_course import NOWHERE, Found, Left, SiteCourse, Why, page_number
from .visits import Visit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from ...dedup.config import DedupConfig
    from ...dedup.index import DuplicateIndex
    from ...dedup.urls.site_rules import Change
    from ...dedup.verdict import Verdict

logger = logging.getLogger(__name__)

FOUND_ON: Final = "dedup_found_on"
"""Key in the meta of a request that may be spared: the page that it was found on."""
CHECKS: Final = "dedup_checks"
"""Key in the meta of a request that is made to see whether rules still hold."""

_LATER: Final = -1000  # added to the priority of what may be a copy
_MOST_SITES: Final = 1000
_MOST_REASONS: Final = 32  # that are counted one by one
_ASK_EVERY: Final = 30.0  # seconds from one look at what others have learnt to the next
_TURN: Final = 5.0  # seconds after which a request that waits looks again in any case

_of: WeakKeyDictionary[Crawler, Sparing] = WeakKeyDictionary()


class Spared(IgnoreRequest):
    """A request that is not made, for its page would be a copy."""


class _Failures:
    """Lets a crawl go on if something fails here: then what may be a copy is fetched."""

    def __init__(self) -> None:
        self._is_told = False

    @contextmanager
    def passing(self, what: Request | Response) -> Iterator[None]:
        try:
            yield
        except Spared:
            raise
        except Exception:
            if not self._is_told:
                self._is_told = True
                logger.exception("Copies may be fetched, for %s could not be judged", what.url)


class Sparing:
    """Judges the requests of a crawl.

    What a spider yields passes :meth:`meet`, which puts off what may be a copy. Before it is
    downloaded it passes :meth:`admit`, which spares it, lets it wait for what others like it bring,
    or lets it through. What came of it is told by :meth:`note_verdict`.
    """

    def __init__(self, crawler: Crawler, config: DedupConfig) -> None:
        self._crawler = crawler
        self._config = config
        self._sites: OrderedDict[tuple[str, str], SiteCourse] = OrderedDict()
        self._visits: WeakKeyDictionary[Response, Visit] = WeakKeyDictionary()
        self._turns: set[asyncio.Future[None]] = set()
        self._index: DuplicateIndex | None = None
        self._told: dict[str, dict[str, Any]] = {}  # by site, what the index knows of its rules
        self._ask_next: dict[str, float] = {}
        self._telling: set[asyncio.Future[None]] = set()
        self._failures = _Failures()
        self._reasons: Counter[str] = Counter()
        self._bytes = self._seconds = self._responses = 0.0

    @classmethod
    def of(cls, crawler: Crawler) -> Self | None:
        """That of a crawl; None if nothing is spared in it."""
        if crawler not in _of:
            config = project_config(crawler.settings)
            if not config.enabled or not is_asyncio_available() or not _is_on(config, crawler):
                return None
            _of[crawler] = sparing = cls(crawler, config)
            sparing.watch()
        return _of[crawler]  # type: ignore[return-value]

    def watch(self) -> None:
        """Follow what becomes of requests and items."""
        connect = self._crawler.signals.connect
        for signal in (signals.item_scraped, signals.item_dropped, signals.item_error):
            connect(self._item_ended, signal=signal)
        connect(self._answered, signal=signals.response_downloaded)
        connect(self._answered, signal=signals.response_received)
        connect(self._redirected, signal=signals.request_scheduled)
        connect(self._idle, signal=signals.spider_idle)
        connect(self._closed, signal=signals.spider_closed)

    def open(self, index: DuplicateIndex) -> None:
        """Share rules with other crawls through *index*."""
        self._index = index

    # What the spider yields

    def visit(self, response: Response) -> Visit:
        """What comes of a response."""
        visit = self._visits.get(response)
        if visit is None:
            visit = self._visits[response] = Visit()
        return visit

    def meet(self, request: Request, response: Response, visit: Visit) -> Request | None:
        """Note a request that a response led to; one that may lead to a copy is put off, and none
        is returned for one that is spared.
        """
        if request.method != "GET" or request.body or request.dont_filter:
            return request
        with self._failures.passing(request):
            return self._meet(request, response, visit)
        return request

    def _meet(self, request: Request, response: Response, visit: Visit) -> Request | None:
        parts = split_url(request.url)
        if parts is None:
            return request
        site = self._site(request)
        page = page_number(response.url)
        depth = site.depth(Found(page, 0))
        request.meta[FOUND_ON] = page, depth
        is_first = site.rules.note_found(parts)
        visit.has_news |= is_first
        if not is_first:
            names = site.spares(parts)
            if names is not None:
                self._leave(site, parts.site, request, names)
                return None
        if not is_first or depth:
            request.priority += _LATER
        return request

    def end(self, response: Response) -> None:
        """Note that a callback has come to its end."""
        visit = self.visit(response)
        visit.ended = True
        with self._failures.passing(response):
            self._look_at(response, visit)

    # What is downloaded

    async def admit(self, request: Request) -> None:
        """Let a request through when its turn comes, or raise :class:`Spared`."""
        with self._failures.passing(request):
            await self._admit(request)

    async def _admit(self, request: Request) -> None:
        parts = split_url(request.url)
        if parts is None:
            return
        site = self._site(request)
        if FOUND_ON not in request.meta:
            site.rules.note_request(parts)
            return
        await self._ask_of(parts.site)
        found_on = Found(*request.meta[FOUND_ON])
        checks = request.meta.pop(CHECKS, False)
        while True:
            decision = site.decide(request.url, parts, found_on, checks=checks)
            if not decision.waits:
                break
            await self._wait()
        if decision.left is None:
            return
        self._leave(site, parts.site, request, decision.left)
        raise Spared(f"{request.url} would be a copy: {' '.join(decision.left)}")

    async def _wait(self) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._turns.add(turn)
        with suppress(TimeoutError):
            await asyncio.wait_for(turn, _TURN)
        self._turns.discard(turn)

    def land(self, request: Request) -> None:
        """Note that nothing more comes of a request."""
        self._site(request).land(request.url)
        for turn in self._turns:
            if not turn.done():
                turn.set_result(None)
        self._turns.clear()

    def _leave(
        self, site: SiteCourse, name: str, request: Request, reasons: tuple[str, ...]
    ) -> None:
        site.leave(request, reasons, Found(*request.meta[FOUND_ON]))
        self._count(reasons, 1)
        if reasons == (Why.FRUITLESS,) and not site.is_told:
            site.is_told = True
            self._crawler.stats.inc_value("dedup/fruitless_sites")
            logger.warning(
                "%s: the last %s brought nothing new. What only copies lead to is left, until a "
                "page is new again: DEDUP_FRUITLESS",
                name,
                counted(site.barren, "page"),
            )

    def _count(self, reasons: tuple[str, ...], number: int) -> None:
        reason = " ".join(reasons) or "order"
        if reason not in self._reasons and len(self._reasons) >= _MOST_REASONS:
            reason = "other rules"
        self._reasons[reason] += number
        self._crawler.stats.inc_value("dedup/spared", number)
        self._crawler.stats.inc_value(f"dedup/spared/{reason}", number)

    # What came

    def note_verdict(self, response: Response, verdict: Verdict, text: str) -> None:
        """Note the verdict about the page of a response; `text` is all of it, with its title."""
        if verdict.kind is not Kind.UNCHECKED:
            visit = self.visit(response)
            visit.text = hash_text(text)
            is_short = verdict.standing is Kind.SHORT or verdict.cluster is None
            visit.cluster = visit.text if is_short else verdict.cluster

    def _item_ended(self, response: Response | None) -> None:
        if response is not None and (visit := self._visits.get(response)) is not None:
            visit.item_ended()
            with self._failures.passing(response):
                self._look_at(response, visit)

    def _look_at(self, response: Response, visit: Visit) -> None:
        """Learn from a response when all that comes of it has come."""
        if not visit.is_over or response.request is None:
            return
        request = response.request
        parts, site = split_url(response.url), self._site(request)
        if visit.is_page and visit.cluster is not None and parts is not None:
            visit.is_seen = True
            found_on = Found(*request.meta.get(FOUND_ON, NOWHERE))
            content = site.content_of(visit.cluster, visit.text)
            news = visit.has_news
            changes = site.observe(response.url, parts, found_on, content, has_news=news)
            for change in changes:
                self._tell(parts.site, response.url, change)
                self._share(parts.site, site, change)
            if site.left and (not site.barren or changes):
                self._make(site.take_back())
        self.land(request)

    def _make(self, back: list[Left], **meta: bool) -> None:
        engine: Any = self._crawler.engine
        for one in back:
            self._count(one.reasons, -1)
            request = one.request.replace(
                meta={**one.request.meta, **meta},
                dont_filter=True,
                priority=one.request.priority,
            )
            engine.crawl(request)

    def _answered(self, response: Response, request: Request) -> None:
        if response.status != 200:
            self.land(request)

    def _redirected(self, request: Request) -> None:
        for url in request.meta.get("redirect_urls", ())[-1:]:
            self.land(request.replace(url=url))

    # The sites

    def _site(self, request: Request) -> SiteCourse:
        """The course of a request's site; what another callback makes of it is another one's."""
        parts = split_url(request.url)
        name = parts.site if parts is not None else ""
        key = name, getattr(request.callback, "__name__", "")
        site = self._sites.get(key)
        if site is None:
            site = SiteCourse(self._config.copy_depth, self._config.fruitless)
            site.rules.take_rules(self._told.get(name, {}))
            self._sites[key] = site
            if len(self._sites) > _MOST_SITES:
                self._sites.popitem(last=False)
        return site

    async def _ask_of(self, name: str) -> None:
        """Ask the index for the rules of a site, now and then."""
        if self._index is None or time.monotonic() < self._ask_next.get(name, 0):
            return
        self._ask_next[name] = time.monotonic() + _ASK_EVERY
        try:
            self._told[name] = await self._index.url_rules(name)
        except DedupError as error:
            logger.debug("What is known of the URLs of %s could not be read: %s", name, error)
        for (of, _), site in self._sites.items():
            if of == name:
                site.rules.take_rules(self._told[name])

    def _tell(self, name: str, url: str, change: Change) -> None:
        if change.learnt:
            self._crawler.stats.inc_value("dedup/rules/learnt")
            logger.info(
                "%s: %r makes no difference to a page, as %s showed",
                name,
                change.name,
                counted(change.pages, "page"),
            )
        else:
            self._crawler.stats.inc_value("dedup/rules/revoked")
            logger.info("%s: %r may make a difference again, as in %r", name, change.name, url)

    def _share(self, name: str, site: SiteCourse, change: Change) -> None:
        if self._index is None:
            return
        evidence = site.rules.rules.get(change.name)
        rule = {"state": "learnt", **evidence.to_dict()} if evidence is not None else None
        sharing = asyncio.ensure_future(self._share_rule(name, change.name, rule))
        self._telling.add(sharing)
        sharing.add_done_callback(self._telling.discard)

    async def _share_rule(self, name: str, feature: str, rule: dict[str, Any] | None) -> None:
        assert self._index is not None
        try:
            await self._index.note_url_rule(name, feature, rule)
        except DedupError as error:
            logger.debug("A rule of %s could not be shared: %s", name, error)

    # The end

    def _idle(self) -> None:
        """See whether rules still hold, before a spider closes; what they have spared is made if
        they do not.
        """
        checks = [one for site in self._sites.values() for one in site.take_checks()]
        if checks:
            self._make(checks, **{CHECKS: True})
            raise DontCloseSpider

    async def close(self) -> None:
        """Wait until the index was told of all rules."""
        if self._telling:
            await asyncio.wait(self._telling)

    def _closed(self) -> None:
        _of.pop(self._crawler, None)  # requests that were left hold the spider
        self._sites.clear()
        stats = self._crawler.stats
        spared = stats.get_value("dedup/spared", 0)
        pages = stats.get_value("response_received_count", 0)
        if spared and pages:
            size = stats.get_value("downloader/response_bytes", 0) / pages
            stats.set_value("dedup/spared_bytes", round(spared * size))
            seconds = self._seconds / max(self._responses, 1)
            stats.set_value("dedup/spared_seconds", round(spared * seconds, 1))

    def note_latency(self, request: Request) -> None:
        """Note how long a download took."""
        self._seconds += request.meta.get("download_latency", 0)
        self._responses += 1


def _is_on(config: DedupConfig, crawler: Crawler) -> bool:
    if config.learn_urls is not None:
        return config.learn_urls
    return bool(getattr(crawler.spider, "learns_urls", False))
