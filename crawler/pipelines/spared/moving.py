"""Finds pages whose text is new at each fetch: with new URLs they would have no end."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import xxhash

from ...dedup.urls.volatile import VOLATILE
from ...latest import Latest

logger = logging.getLogger(__name__)

_URLS: Final = 3  # of a page, that are fetched again
FEW_TEXTS: Final = 8  # of a page before that, if most pages of the site are copies
MANY_TEXTS: Final = 64  # the same if they are not
_LATER: Final = 8  # how many times as many texts before it is tried again
_MOST: Final = 1 << 11  # pages that are watched
_MOST_MOVING: Final = 256  # pages that are known to move: what a long one has kept takes 0.5 MB
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


class _Kept(NamedTuple):
    """What a URL has kept in texts that were new each time, and how much may be so by chance."""

    runs: Runs
    chance: float

    def is_in(self, text: Runs) -> bool:
        """Whether a text has all of it, as far as it was not kept by chance."""
        return len(self.runs - text) <= self.chance


@dataclass(slots=True)
class _Trial:
    """The URLs that are fetched again, the first one twice, their new texts, and one before."""

    page: int
    urls: tuple[str, ...]
    before: Runs
    answers: list[Runs] = field(default_factory=list)

    def find_kept(self) -> _Kept | None:
        """What the first URL has kept; None if another URL lacks something of that."""
        first, *others, last = self.answers
        stable = first & last
        kept = _Kept(stable, len(first - stable) / _TOLERANCE)
        return kept if all(map(kept.is_in, (self.before, *others))) else None


class MovingPages:
    """Watches what may be one page with several URLs that all have brought new texts.

    The first three of these URLs are fetched again, and then the first one once more. If each of
    these texts is new, the page moves, unless a URL lacks something that the first one has kept. A
    page of an archive, `/item?id=7`, keeps its text, or what is its own of that. If a URL lacks
    something later, as after an outage, the page moves no longer. If very many pages move, the
    latest are known.
    """

    def __init__(self) -> None:
        self._moving: Latest[int, _Kept] = Latest(_MOST_MOVING)
        self._found: set[int] = set()  # pages that move, of which nothing came since
        self._watches: Latest[int, _Watch] = Latest(_MOST)
        self._trials: dict[str, _Trial] = {}  # by the URL that is fetched again
        self._tried = 0  # pages, without those that move

    @property
    def knows_any(self) -> bool:
        """Whether any page is known to move."""
        return bool(self._moving)

    def is_tried(self, url: str) -> bool:
        """Whether a URL is fetched again."""
        return url in self._trials

    def find(self, pages: Iterable[int]) -> int | None:
        """The one of these pages that moves, if there is one."""
        return next((page for page in pages if page in self._moving), None)

    def find_with(self, pages: Iterable[int], text: str) -> int | None:
        """The same for a URL with this text: if it lacks what was kept, the page moves no more."""
        page = self.find(pages)
        if page is not None and text and not self._moving[page].is_in(_list_runs(text)):
            del self._moving[page]
            self._watches.pop(page, None)
            self._tried += 1
            return None
        return page

    def take_found(self, page: int) -> bool:
        """Whether a page has come for the first time since it was found to move."""
        is_found = page in self._found
        self._found.discard(page)
        return is_found

    def note_text(
        self, url: str, pages: Mapping[int, str], text: str, *, new: int, enough: float
    ) -> str:
        """Note the new text of a URL, and the pages that it may belong to.

        Each of these comes with the feature in which its URLs differ, if that seemed to matter.
        `new` is the number of the site's new texts, and `enough` that of a page before it is tried.
        Returns a URL to fetch again, or ''.
        """
        trial = self._trials.pop(url, None)
        if trial is not None:
            return self._go_on(trial, text)
        few = min(enough, FEW_TEXTS)
        due = [
            page
            for page, name in pages.items()
            if self._watch(page, url, few if name == VOLATILE else enough)
        ]
        if not due or self._tried > new // _EXPLORED:
            return ""
        page = max(due, key=lambda page: self._watches[page].texts)
        watch = self._watches[page]
        if not self._trials.keys().isdisjoint(watch.urls):
            return ""  # URLs that share several parts are fetched again for one of these only
        watch.tried_at = watch.texts
        self._tried += 1
        return self._ask(_Trial(page, watch.urls, _list_runs(text)))

    def _watch(self, page: int, url: str, enough: float) -> bool:
        """Note a text of a page; returns whether it is time to try it."""
        watch = self._watches[page] = self._watches.get(page) or _Watch()
        if url in watch.urls:  # by the spider's own will: it says nothing of new URLs
            return False
        watch.texts += 1
        if len(watch.urls) < _URLS:
            watch.urls += (url,)
        if watch.tried_at:
            return watch.texts >= _LATER * watch.tried_at
        return watch.texts >= (_URLS if self._moving else enough)

    def _ask(self, trial: _Trial) -> str:
        url = trial.urls[len(trial.answers) % _URLS]
        self._trials[url] = trial
        return url

    def _go_on(self, trial: _Trial, text: str) -> str:
        """Note the new text of a URL that was fetched again; returns the next such URL."""
        trial.answers.append(_list_runs(text))
        if len(trial.answers) <= _URLS:
            return self._ask(trial)
        kept = trial.find_kept()
        if kept is not None:
            logger.info("%s has a new text at each fetch: its URLs count as one", trial.urls[0])
            self._moving[trial.page] = kept
            self._found.add(trial.page)
            self._tried -= 1
        return ""

    def give_up(self, url: str) -> None:
        """End the trial of a URL that was fetched again, and has failed or had a known text."""
        self._trials.pop(url, None)

    def note_old_text(self, pages: Mapping[int, str]) -> None:
        """Note that a URL has a text that is known.

        What shares a frame with it is several pages, or does not move.
        """
        for page, name in pages.items():
            if name == VOLATILE:
                self._watches.pop(page, None)


def _list_runs(text: str) -> Runs:
    """Hashes of the runs of words in a text."""
    words = text.split()[:_LONGEST]
    return frozenset(
        xxhash.xxh3_64_intdigest(" ".join(words[place : place + _RUN]).encode("utf-8", "replace"))
        for place in range(max(len(words) - _RUN + 1, 1))
    )
