"""Finds pages whose text is new at each fetch: with new URLs they would have no end."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import xxhash

logger = logging.getLogger(__name__)

_URLS: Final = 3  # of a page, that are fetched again
_ENOUGH: Final = 8  # texts of a page before that, if most pages of the site are copies
_ENOUGH_ALONE: Final = 64  # the same if they are not
_LATER: Final = 8  # how many times as many texts before it is tried again
_MOST: Final = 1 << 11  # pages that are watched
_EXPLORED: Final = 20  # new texts of the site for each further page that is tried
_LONGEST: Final = 5_000  # words of a text that are compared
_RUN: Final = 3  # words
_TOLERANCE: Final = 50  # of so many runs that change by themselves, one may be alike by chance

Runs = frozenset[int]


@dataclass(slots=True)
class _Watch:
    """How many texts something has brought that may be one page, and its first URLs."""

    texts: int = 0
    tried_at: int = 0  # how many texts there were when its URLs were fetched again
    urls: tuple[str, ...] = ()


@dataclass(slots=True)
class _Trial:
    """The URLs that are fetched again, the first one twice, their new texts, and one before."""

    page: int
    urls: tuple[str, ...]
    before: Runs
    answers: list[Runs] = field(default_factory=list)

    def shows_one_page(self) -> bool:
        """Whether the URLs differ no more from each other than one of them from itself."""
        first, *others, last = self.answers
        stable = first & last
        chance = len(first - stable) / _TOLERANCE
        return all(len(stable - one) <= chance for one in (self.before, *others))


class MovingPages:
    """Watches what may be one page with several URLs that all have brought new texts.

    The first three of these URLs are fetched again, and then the first one once more. If each of
    these texts is new, the page moves, unless a URL lacks something that the first one has kept. A
    page of an archive, `/item?id=7`, keeps its text, or what is its own of that.
    """

    def __init__(self) -> None:
        self._moving: set[int] = set()
        self._watches: dict[int, _Watch] = {}
        self._trials: dict[str, _Trial] = {}  # by the URL that is fetched again
        self._tried = 0  # pages, without those that move

    def find(self, pages: Iterable[int]) -> int | None:
        """The one of these pages that moves, if there is one."""
        moving = self._moving.intersection(pages) if self._moving else ()
        return next(iter(moving), None)

    def note_text(
        self, url: str, pages: Iterable[int], text: str, *, new: int, has_copies: bool
    ) -> str:
        """Note the new text of a URL, and the pages that it may belong to.

        `new` is the number of the site's new texts, and `has_copies` says whether most of its pages
        are copies. Returns a URL to fetch again, or ''.
        """
        trial = self._trials.pop(url, None)
        if trial is not None:
            return self._go_on(trial, text)
        due = [page for page in pages if self._watch(page, url, has_copies=has_copies)]
        if not due or self._tried > new // _EXPLORED:
            return ""
        watch = self._watches[due[0]]
        watch.tried_at = watch.texts
        self._tried += 1
        return self._ask(_Trial(due[0], watch.urls, _list_runs(text)))

    def _watch(self, page: int, url: str, *, has_copies: bool) -> bool:
        """Note a text of a page; returns whether it is time to try it."""
        watch = self._watches.pop(page, None) or _Watch()
        self._watches[page] = watch  # the latest last
        if len(self._watches) > _MOST:
            del self._watches[next(iter(self._watches))]
        watch.texts += 1
        if len(watch.urls) < _URLS:
            watch.urls += (url,)
        if watch.tried_at:
            return watch.texts >= _LATER * watch.tried_at
        enough = _URLS if self._moving else _ENOUGH if has_copies else _ENOUGH_ALONE
        return watch.texts >= enough

    def _ask(self, trial: _Trial) -> str:
        url = trial.urls[len(trial.answers) % _URLS]
        self._trials[url] = trial
        return url

    def _go_on(self, trial: _Trial, text: str) -> str:
        """Note the new text of a URL that was fetched again; returns the next such URL."""
        trial.answers.append(_list_runs(text))
        if len(trial.answers) <= _URLS:
            return self._ask(trial)
        if trial.shows_one_page():
            logger.info("%s has a new text at each fetch: its URLs count as one", trial.urls[0])
            self._moving.add(trial.page)
            self._tried -= 1
        return ""

    def note_old_text(self, url: str) -> None:
        """Note that a URL has a text that is known: if it was fetched again, that is enough."""
        self._trials.pop(url, None)


def _list_runs(text: str) -> Runs:
    """Hashes of the runs of words in a text."""
    words = text.split()[:_LONGEST]
    return frozenset(
        xxhash.xxh3_64_intdigest(" ".join(words[place : place + _RUN]).encode("utf-8", "replace"))
        for place in range(max(len(words) - _RUN + 1, 1))
    )
