"""Spares a crawl the requests whose pages would be copies."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final, Self
from weakref import WeakKeyDictionary

from scrapy import signals
from scrapy.exceptions import DontCloseSpider, IgnoreRequest

from ...dedup.urls.parts import split_url
from ...dedup.verdict import Kind
from ...project import project_config
from ...scrapy_versions import is_asyncio_available
from ..crawl.asked_pages import is_asked_again
from ..crawl.memory import hash_text
from .closed_pages import CLOSED
from .novelty import hash_outline, page_number
from .paused import PausedSites
from .site_courses import SiteCourses
from .site_exchange import SeenPage
from .site_keys import VARIANT, WANTED, SiteKeys, wanted_url
from .spared_requests import CHECKS, FOUND_ON, SparedRequests, read_found_on
from .tally import Tally
from .turns import Turns
from .visits import Visit
from .ways_back import asks_password

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from ...dedup.config import DedupConfig
    from ...dedup.index import DuplicateIndex
    from ...dedup.verdict import Verdict

logger = logging.getLogger(__name__)

_LATER: Final = -1000  # added to the priority of a URL whose name, up to a number, was found before

_of: WeakKeyDictionary[Crawler, Sparing] = WeakKeyDictionary()


class Spared(IgnoreRequest):
    """Raised for a request that is not made because its page would be a copy."""


class _Failures:
    """Lets a crawl go on if something fails here: then possible copies are fetched."""

    def __init__(self) -> None:
        self._is_told = False

    @contextmanager
    def log_failure(self, what: Request | Response) -> Iterator[None]:
        try:
            yield
        except Spared:
            raise
        except Exception:
            if not self._is_told:
                self._is_told = True
                logger.exception("Could not judge %s: copies may be fetched", what.url)


class Sparing:
    """Judges the requests of a crawl.

    Requests that a spider yields pass :meth:`screen_request`, which puts off some.
    Before its download each passes :meth:`admit_request`, which spares it, lets it wait for similar
    ones under way, or lets it through. :meth:`note_verdict` says what its page was.
    """

    def __init__(self, crawler: Crawler, config: DedupConfig) -> None:
        self._crawler = crawler
        self._visits: WeakKeyDictionary[Response, Visit] = WeakKeyDictionary()
        self._turns = Turns()
        self._failures = _Failures()
        self._paused = PausedSites(crawler.settings)
        self.tally = Tally(crawler.stats)
        self._keys = SiteKeys(crawler)
        self._spared = SparedRequests(crawler, self.tally)
        self._sites = SiteCourses(config, self.tally, self._spared.make)

    @classmethod
    def of(cls, crawler: Crawler) -> Self | None:
        """The one of a crawl; None if the crawl is spared nothing."""
        if crawler not in _of:
            config = project_config(crawler.settings)
            if not config.enabled or not _is_on(config, crawler) or not is_asyncio_available():
                return None
            _of[crawler] = sparing = cls(crawler, config)
            sparing.connect_signals()
        return _of[crawler]  # type: ignore[return-value]

    def connect_signals(self) -> None:
        """Follow what becomes of requests and items."""
        connect = self._crawler.signals.connect
        for signal in (signals.item_scraped, signals.item_dropped, signals.item_error):
            connect(self._note_item_ended, signal=signal)
        connect(self._note_replaced, signal=signals.request_scheduled)
        connect(self._go_on, signal=signals.spider_opened)
        connect(self._check_rules, signal=signals.spider_idle)
        connect(self._end_crawl, signal=signals.spider_closed)

    def open(self, index: DuplicateIndex) -> None:
        """Share what is known through *index*."""
        self._sites.exchange.open(index)

    async def close(self) -> None:
        """Wait until everything is shared."""
        await self._sites.exchange.close()

    # What the spider yields

    def find_visit(self, response: Response) -> Visit:
        """What has come of a response so far."""
        visit = self._visits.get(response)
        if visit is None:
            visit = self._visits[response] = Visit()
        return visit

    def screen_request(self, request: Request, response: Response, visit: Visit) -> Request | None:
        """Note a request that a response led to, and put it off if others are like it.

        Returns None if it is spared.
        """
        for key in FOUND_ON, CHECKS, VARIANT, CLOSED:  # spiders pass on the meta of a response
            request.meta.pop(key, None)
        request.meta[WANTED] = request.url
        if not _gets_page(request) or request.dont_filter:
            return request
        with self._failures.log_failure(request):
            return self._screen(request, response, visit)
        return request

    def _screen(self, request: Request, response: Response, visit: Visit) -> Request | None:
        parts = split_url(request.url)
        if parts is None:
            return request
        site = self._sites.course_of(self._keys.find_key(request))
        page, own = page_number(response.url), split_url(response.url)
        # As a plain tuple, which any queue can keep.
        request.meta[FOUND_ON] = page, None if own is None else tuple(own.kind)
        if own is not None and site.rules.may_be_one(parts, own):
            visit.own_link = visit.own_link or parts
            site.rules.note_choice(parts, visit.own_link)
        first = site.rules.note_found(parts, page)
        familiarity = site.familiar.note_found(parts)
        visit.has_news |= first.of_page
        if first.of_url:
            visit.links.append(site.rules.list_frames(parts))
        if not first.of_page:
            names = site.find_reasons(parts)
            # Without rules, and once it was requested, it is a matter of the dupefilter.
            if names and not site.rules.is_requested(parts):
                self._spared.leave(site, request, names)
                return None
        # Also where it cannot be a copy: a calendar without end would come before other copies.
        if not (first.of_name and first.of_page):
            request.priority += _LATER - familiarity
        return request

    def end_callback(self, response: Response) -> None:
        """Note that the callback of a response has ended."""
        visit = self.find_visit(response)
        visit.ended = True
        with self._failures.log_failure(response):
            self._look_at(response, visit)

    # What is downloaded

    async def admit_request(self, request: Request) -> None:
        """Let a request through when its turn comes, or raise :class:`Spared`.

        A request to a service that fetches the page has had its turn as a request for the page.
        """
        with self._failures.log_failure(request):
            if request.meta.setdefault(WANTED, request.url) == request.url:
                await self._admit(request)

    async def _admit(self, request: Request) -> None:
        parts = split_url(request.url)
        if parts is None:
            return
        site = self._sites.course_of(self._keys.find_key(request))
        if FOUND_ON not in request.meta or is_asked_again(request):
            site.rules.note_request(parts)
            return
        await self._sites.hear_others(parts.site)
        found_on = read_found_on(request)
        checks = request.meta.get(CHECKS, False)
        decide = partial(site.decide_request, request.url, parts, found_on, checks=checks)
        place, decision = self._turns.take_place(request.priority), decide()
        while decision.is_ready is not None:
            try:
                await self._turns.wait(place, decision.is_ready)
                await self._sites.hear_others()
                decision = decide()
            finally:  # whatever becomes of this one
                self._turns.begin(after=place)
        if decision.left is None:
            self._spared.note_made(site, request.url)
            return
        queued = request.replace(dont_filter=True)  # the dupefilter knows it
        self._spared.leave(site, queued, decision.left)
        raise Spared(f"{request.url} would be a copy: {' '.join(decision.left)}")

    def note_response(self, request: Request, response: Response) -> None:
        """Note what was downloaded."""
        self.tally.note_latency(request)
        if response.status != 200:
            self.end_request(request)

    def end_request(self, request: Request) -> None:
        """Note that a request is not under way any more; those that wait are judged again."""
        url = wanted_url(request)
        self._spared.take_made(url)
        with self._failures.log_failure(request):
            self._sites.course_of(self._keys.find_key(request)).note_landed(url)
        self._turns.begin()

    # What came

    def note_verdict(self, response: Response, verdict: Verdict, text: str) -> None:
        """Note the verdict on the page of a response; `text` is its whole text with the title."""
        if verdict.kind is not Kind.UNCHECKED:
            visit = self.find_visit(response)
            visit.text, visit.outline = hash_text(text), hash_outline(text, response.url)
            visit.whole = text
            is_short = verdict.standing is Kind.SHORT or verdict.cluster is None
            visit.cluster = visit.text if is_short else verdict.cluster

    def _note_item_ended(self, response: Response | None) -> None:
        if response is not None and (visit := self._visits.get(response)) is not None:
            visit.item_ended()
            with self._failures.log_failure(response):
                self._look_at(response, visit)

    def _look_at(self, response: Response, visit: Visit) -> None:
        """Learn from a response once its callback and items have ended."""
        if not visit.is_over or response.request is None:
            return
        request, key = response.request, self._keys.find_key(response.request)
        if _gets_page(request) and response.status == 200:
            self._sites.note_closed(key, response.url, is_closed=CLOSED in request.meta)
        if visit.is_page and visit.cluster is not None and _gets_page(request):
            visit.is_seen = True
            found_on = read_found_on(request)
            visit.asks_password = asks_password(response.body)
            self._sites.note_page(SeenPage(key, response.url, found_on, visit))
            if visit.asks_for:
                self._spared.fetch_again(request, visit.asks_for)
        self.end_request(request)

    def make_left(self, url: str) -> bool:
        """Make the request for a URL after all; returns whether it is made, once for each."""
        self._spared.make(self._sites.take_left(url), checks=True)
        return self._spared.take_made(url)

    def _note_replaced(self, request: Request) -> None:
        """Note that a redirect has led to a request, or a middleware turned one into it."""
        url = wanted_url(request)
        is_redirected = request.meta.get("redirect_urls", ())[-1:] == [url]  # maybe to itself
        if is_redirected or url != request.url:
            self.end_request(request)  # it is queued anew, and a crawl that ends does not make it
        if is_redirected:
            request.meta[WANTED] = request.url

    # The beginning and the end

    def _go_on(self) -> None:
        assert self._crawler.spider is not None
        self._sites.go_on(self._paused, self._crawler.spider)

    def _check_rules(self) -> None:
        """Before the spider closes, check whether rules still hold.

        Requests that a revoked rule has spared are made.
        """
        self._sites.exchange.start(self._sites.hear_others())  # other processes may go on
        checks = self._sites.take_checks()
        if checks:
            self._spared.make(checks, checks=True)
            raise DontCloseSpider

    def _end_crawl(self, reason: str) -> None:
        _of.pop(self._crawler, None)  # left requests refer to the spider
        if reason != "finished" and self._crawler.spider is not None:
            self._sites.pause(self._paused, self._crawler.spider)
        self._sites.forget_all()
        self.tally.sum_up()


def _gets_page(request: Request) -> bool:
    """Whether the response is the page of the URL.

    A form's answer depends on what is sent, and that of a service on more than the URL.
    """
    is_direct = wanted_url(request) == request.url
    return is_direct and request.method == "GET" and not request.body


def _is_on(config: DedupConfig, crawler: Crawler) -> bool:
    if config.learn_urls is not None:
        return config.learn_urls
    return bool(getattr(crawler.spider, "learns_urls", False))
