"""Requests of a site that were not made, to be made after all if it turns out that they should."""

from __future__ import annotations

import random
from collections import deque
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from .novelty import Found, Yield

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from scrapy import Request

_MOST: Final = 10_000  # that are remembered
_CHECKED: Final = 20  # one more request checks a rule for so many pages that are new
_MOST_PAGES: Final = 64  # that are compared
_MOST_GUESSES: Final = 16  # values of a feature that are each checked; more are drawn from


class Why(StrEnum):
    """Why a request is not made, if no rule says so."""

    COPY_DEPTH = "copy_depth"  # only copies of copies lead there
    FRUITLESS = "fruitless"  # the site has brought nothing new for long


class Left(NamedTuple):
    """A request that was not made, by these rules or for this reason; what its groups brought."""

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
        """Know of none, and check all rules that there are before the crawl ends."""
        self.all.clear()
        self._checked = 0

    def take_back(
        self, rules: Iterable[str], room: Callable[[Left], float], is_near: Callable[[Found], bool]
    ) -> list[Left]:
        """Hand over the requests that may be made after all: those that no rules spare any more.

        Of those that were left for lack of news, it is as many as there is `room` for; of those
        that only copies lead to, those that are near to news now.
        """
        known = set(rules)
        found: list[Left] = []

        def is_back(one: Left) -> bool:
            if one.reasons == (Why.FRUITLESS,):
                return len(found) < room(one)
            if one.reasons == (Why.COPY_DEPTH,):
                return is_near(one.found_on)
            return not known.issuperset(one.reasons)

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
        """Hand over, of the requests that were spared, some by each rule, drawn at random.

        `new` pages have brought news by now; what checks lead to is not checked for ever. Of values
        that no page has been seen with, which `guesses` names, each is checked if they are few. And
        while there is `room`, so are pages of which one URL alone has come, which have keys that
        `uncompared` tells: what differs on a few pages only is found there.
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
