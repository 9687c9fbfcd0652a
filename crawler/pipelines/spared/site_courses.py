"""The sites of a crawl: what is known of each from its pages and from others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...dedup.urls.parts import split_url
from ...latest import Latest
from .site_course import SiteCourse
from .site_exchange import SeenPage, SiteExchange, SiteKey

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final

    from scrapy import Spider

    from ...dedup.config import DedupConfig
    from .left_requests import LeftRequest
    from .paused import PausedSites
    from .tally import Tally

_MOST: Final = 1000
_MOST_URLS: Final = 100_000  # remembered of all sites together: some 300 MB
_LOOK_EVERY: Final = 1000  # pages between two counts of remembered URLs


class SiteCourses:
    """Keeps the courses of sites, and has them learn from pages.

    `make` makes requests that were left before.
    """

    def __init__(
        self, config: DedupConfig, tally: Tally, make: Callable[[list[LeftRequest]], None]
    ) -> None:
        self.exchange = SiteExchange()
        self._config = config
        self._tally = tally
        self._make = make
        self._sites: Latest[SiteKey, SiteCourse] = Latest(_MOST)  # the latest used last
        self._learnt = 0

    def course_of(self, key: SiteKey) -> SiteCourse:
        """The course of a site; if there are too many, the one used least lately is forgotten."""
        course = self._sites.get(key)
        if course is None:
            course = SiteCourse(self._config.copy_depth, self._config.fruitless)
            course.rules.take_rules(self.exchange.told.get(key[0], {}))
        self._sites[key] = course
        return course

    def note_page(self, page: SeenPage) -> None:
        """Learn from a page that this process has seen."""
        self.exchange.tell_page(page)
        self._learn_from(page)

    def note_closed(self, key: SiteKey, url: str, *, is_closed: bool) -> None:
        """Note whether robots tags close a page that this process has fetched, links included."""
        parts, course = split_url(url), self.course_of(key)
        if parts is not None and course.closed.note_page(parts, is_closed=is_closed):
            self._make(course.take_back())

    def _learn_from(self, page: SeenPage) -> None:
        parts = split_url(page.url)
        if parts is None:
            return
        course = self.course_of(page.site)
        course.rules.note_request(parts)
        changes = course.note_visit(page.url, parts, page.found_on, page.visit)
        for change in changes:
            self._tally.tell_change(parts.site, page.url, change)
            if change.added:
                continue
            evidence = course.rules.rules.get(change.name)
            if evidence is not None and not evidence.is_shown():
                continue  # it holds for a form to log in, and others would believe it of all pages
            rule = {"state": "learnt", **evidence.to_dict()} if evidence is not None else None
            self.exchange.tell_rule(parts.site, change.name, rule)
        if course.left and (not course.novelty.barren or changes):
            self._make(course.take_back())
        self._learnt += 1
        if self._learnt % _LOOK_EVERY == 0:
            self._forget_urls()

    def _forget_urls(self) -> None:
        """Forget URLs while there are too many, first those of the sites used least lately."""
        courses = list(self._sites.values())
        number = sum(course.rules.size for course in courses)
        for course in courses:
            if number <= _MOST_URLS:
                break
            number -= course.rules.size
            course.rules.forget_urls()

    async def hear_others(self, site: str | None = None) -> None:
        """Now and then, take over the rules of a site and what other processes have seen.

        The latter concerns all sites.
        """
        told = await self.exchange.ask_for_rules(site) if site is not None else None
        if told is not None:
            for (of, _), course in self._sites.items():
                if of == site:
                    rules = set(course.rules.rules)
                    course.rules.take_rules(told)
                    if not rules <= course.rules.rules.keys():
                        self._make(course.take_back())
        for page in await self.exchange.swap_pages():
            self._learn_from(page)

    def take_checks(self) -> list[LeftRequest]:
        """Take out spared requests, enough to check all rules."""
        return [one for course in self._sites.values() for one in course.take_checks()]

    def take_left(self, url: str) -> list[LeftRequest]:
        """Take out the requests for a URL that were not made."""
        courses = self._sites.values()
        return [left for course in courses if (left := course.left.discard(url)) is not None]

    def go_on(self, paused: PausedSites, spider: Spider) -> None:
        """Take over what a paused crawl knew."""
        self._sites.update(paused.take_sites(spider))

    def pause(self, paused: PausedSites, spider: Spider) -> None:
        """Save what is known until the crawl goes on."""
        paused.save_sites(self._sites, spider)

    def forget_all(self) -> None:
        """Forget everything."""
        self._sites.clear()
