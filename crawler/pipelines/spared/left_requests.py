"""Requests of a site that were not made, in case they have to be made after all."""

from __future__ import annotations

import random
from collections import deque
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from .novelty import Found, Yield

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from scrapy import Request

_MOST: Final = 10_000  # requests that are remembered
_CHECKED: Final = 20  # new pages for each further request that checks a rule
_MOST_PAGES: Final = 64  # pages that are fetched under another URL
_MOST_GUESSES: Final = 16  # unseen values of a feature that are all checked, if there are no more


class Why(StrEnum):
    """Reasons other than a rule for which a request is not made."""

    COPY_DEPTH = "copy_depth"  # only copies of copies lead there
    FRUITLESS = "fruitless"  # the site has brought nothing new for a long time


class Left(NamedTuple):
    """A request that was not made, with the rules or reason, and what its groups brought."""

    request: Request
    reasons: tuple[str, ...]
    found_on: Found
    yields: tuple[Yield, ...] = ()


class LeftRequests:
    """The latest requests of a site that were not made."""

    def __init__(self) -> None:
        self.all: deque[Left] = deque(maxlen=_MOST)
        self._checked = 0  # how many pages were new when rules were last checked

    def __bool__(self) -> bool:
        return bool(self.all)

    def add(self, left: Left) -> None:
        """Remember a request that is not made."""
        self.all.append(left)

    def forget(self) -> None:
        """Forget all, and check all rules again before the crawl ends."""
        self.all.clear()
        self._checked = 0

    def take_back(
        self,
        rules: Iterable[str],
        room: Callable[[Left], float],
        is_near: Callable[[Found], bool],
        is_narrowed: Callable[[Left], bool],
    ) -> list[Left]:
        """Take out the requests that may be made after all: those that no rules spare any more.

        `is_narrowed` says so of a request whose rule no longer holds for its kind of URL.
        Of those that were left as fruitless, these are as many as there is `room` for. Of those
        that only copies lead to, these are the ones that are near news by now.
        """
        known = set(rules)
        found: list[Left] = []

        def is_back(one: Left) -> bool:
            if one.reasons == (Why.FRUITLESS,):
                return len(found) < room(one)
            if one.reasons == (Why.COPY_DEPTH,):
                return is_near(one.found_on)
            return not known.issuperset(one.reasons) or is_narrowed(one)

        self._take(is_back, found)
        return found

    def take_checks(
        self,
        rules: Iterable[str],
        new: int,
        guesses: Callable[[Left], list[tuple[str, str]]],
        uncompared: Callable[[Left], object] = lambda _: None,
        room: int = 0,
    ) -> list[Left]:
        """Take out spared requests that check the rules, for each rule some at random.

        `new` is the number of new pages so far: without more of them there is nothing to check.
        `guesses` names the values of a request that no page was seen with; if they are few, each
        is checked. `uncompared` returns a key for a page that was fetched under one URL only.
        While there is `room`, such pages are checked, too: rules may err on a few pages only.
        """
        if self._checked == new:
            return []
        self._checked = new
        wanted = dict.fromkeys(rules, 1 + new // _CHECKED)
        drawn = set()
        guessed: dict[str, dict[str, int]] = {}
        pages: dict[object, int] = {}
        for place in random.sample(range(len(self.all)), len(self.all)):
            for name, value in guesses(self.all[place]):
                guessed.setdefault(name, {})[value] = place
            names = [name for name in self.all[place].reasons if wanted.get(name)]
            key = uncompared(self.all[place]) if wanted.keys() & self.all[place].reasons else None
            if key is not None:
                pages.setdefault(key, place)
            if names:
                drawn.add(place)
                for name in names:
                    wanted[name] -= 1
        for places_of in guessed.values():
            if len(places_of) <= min(_MOST_GUESSES, new // 2):
                drawn.update(places_of.values())
        others = [place for place in pages.values() if place not in drawn]
        drawn.update(others[: max(min(_MOST_PAGES, room - len(drawn)), 0)])
        found: list[Left] = []
        places = iter(range(len(self.all)))
        self._take(lambda _: next(places) in drawn, found)
        return found

    def _take(self, is_taken: Callable[[Left], bool], found: list[Left]) -> None:
        def stay() -> Iterator[Left]:
            for one in self.all:
                if is_taken(one):
                    found.append(one)
                else:
                    yield one

        self.all = deque(stay(), maxlen=_MOST)
