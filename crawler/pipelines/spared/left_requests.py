"""Requests of a site that were not made, in case they have to be made after all."""

from __future__ import annotations

import random
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from ...latest import Latest
from .novelty import Found, Yield
from .untried import draw_untried

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scrapy import Request

    from ...dedup.urls.parts import UrlParts

_MOST: Final = 10_000  # requests that are remembered
_CHECKED: Final = 20  # new pages for each further request that checks a rule
_MOST_UNTRIED: Final = 10  # fruitless requests with untried values that are made at once
_MOST_GUESSES: Final = 16  # unseen values of a feature that are all checked, if there are no more


class Why(StrEnum):
    """Reasons other than a rule for which a request is not made."""

    COPY_DEPTH = "copy_depth"  # only copies of copies lead there
    FRUITLESS = "fruitless"  # the site has brought nothing new for a long time


class LeftRequest(NamedTuple):
    """A request that was not made, with the rules or reason, and what its groups brought."""

    request: Request
    reasons: tuple[str, ...]
    found_on: Found
    yields: tuple[Yield, ...] = ()


class LeftRequests:
    """The latest requests of a site that were not made, one for each URL."""

    def __init__(self) -> None:
        self._by_url: Latest[str, LeftRequest] = Latest(_MOST)
        self._checked = 0  # how many pages were new when rules were last checked
        self._tried = 0  # the same for fruitless requests

    def __bool__(self) -> bool:
        return bool(self._by_url)

    @property
    def all(self) -> list[LeftRequest]:
        """All of them, the earliest first."""
        return list(self._by_url.values())

    def add(self, left: LeftRequest) -> LeftRequest | None:
        """Remember a request that is not made; returns the one that is not remembered for it.

        A dupefilter knows what was queued, and would drop another request for this URL.
        """
        url = left.request.url
        earlier = self._by_url.get(url)
        if earlier is not None and earlier.request.dont_filter:
            return left
        self._by_url[url] = left
        return earlier

    def discard(self, url: str) -> LeftRequest | None:
        """Forget a request, as one for its URL is made; returns it, if there was one."""
        return self._by_url.pop(url, None)

    def forget(self) -> None:
        """Forget all, and check all rules again before the crawl ends."""
        self._by_url.clear()
        self._checked = self._tried = 0

    def take_back(
        self,
        rules: Iterable[str],
        room: Callable[[LeftRequest], float],
        is_near: Callable[[Found], bool],
        is_narrowed: Callable[[LeftRequest], bool],
    ) -> list[LeftRequest]:
        """Take out the requests that may be made after all: those that no rules spare any more.

        `is_narrowed` says so of a request whose rule no longer holds for its kind of URL.
        Of those that were left as fruitless, these are as many as there is `room` for. Of those
        that only copies lead to, these are the ones that are near news by now.
        """
        known = set(rules)
        found: list[LeftRequest] = []

        def is_back(one: LeftRequest) -> bool:
            if one.reasons == (Why.FRUITLESS,):
                return len(found) < room(one)
            if one.reasons == (Why.COPY_DEPTH,):
                return is_near(one.found_on)
            return not known.issuperset(one.reasons) or is_narrowed(one)

        for one in self.all:
            if is_back(one):
                found.append(one)
                self.discard(one.request.url)
        return found

    def take_checks(
        self,
        rules: Iterable[str],
        new: int,
        guesses: Callable[[LeftRequest], list[tuple[str, str]]],
        compare: Callable[
            [list[LeftRequest], list[LeftRequest]], list[LeftRequest]
        ] = lambda left, drawn: [],
    ) -> list[LeftRequest]:
        """Take out spared requests that check the rules, for each rule some at random.

        `new` is the number of new pages so far: without more of them there is nothing to check.
        `guesses` names the values of a request that no page was seen with; if they are few, each
        is checked. Of the requests that rules have spared, and beside those that are drawn,
        `compare` draws some that compare pages.
        """
        if self._checked == new:
            return []
        self._checked = new
        wanted = dict.fromkeys(rules, 1 + new // _CHECKED)
        drawn: dict[str, LeftRequest] = {}
        guessed: dict[str, dict[str, LeftRequest]] = {}
        spared: list[LeftRequest] = []
        for one in random.sample(self.all, len(self._by_url)):
            for name, value in guesses(one):
                guessed.setdefault(name, {})[value] = one
            names = [name for name in one.reasons if wanted.get(name)]
            if wanted.keys() & one.reasons:
                spared.append(one)
            if names:
                drawn[one.request.url] = one
                for name in names:
                    wanted[name] -= 1
        for ones in guessed.values():
            if len(ones) <= min(_MOST_GUESSES, new // 2):
                drawn.update((one.request.url, one) for one in ones.values())
        others = [one for one in spared if one.request.url not in drawn]
        others = compare(others, list(drawn.values()))
        drawn.update((one.request.url, one) for one in others)
        for url in drawn:
            self.discard(url)
        return list(drawn.values())

    def take_untried(self, fetched: Iterable[UrlParts], new: int) -> list[LeftRequest]:
        """Take out some that were left as fruitless, whose values no fetched page had.

        `new` is the number of new pages so far: if those made before brought none, it ends.
        """
        if self._tried == new:
            return []
        self._tried = new
        urls = [url for url, one in self._by_url.items() if one.reasons == (Why.FRUITLESS,)]
        drawn = draw_untried(urls, fetched, _MOST_UNTRIED) if urls else []
        return [self._by_url.pop(url) for url in drawn]
