"""Finds pages whose text is new at each fetch: with new URLs they would have no end."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import xxhash

logger = logging.getLogger(__name__)

_URLS: Final = 3  # of a page, that are fetched again
_ENOUGH: Final = 8  # texts of a page before that, fewer if most pages of the site are copies
_LATER: Final = 4  # how many times as many texts before it is tried again
_MOST: Final = 1 << 12  # pages that are watched
_EXPLORED: Final = 20  # new texts of the site for each further page that is tried
_LONGEST_TRIAL: Final = 60.0  # seconds; a request may have failed
_LONGEST: Final = 5_000  # words of a text that are compared
_RUN: Final = 3  # words
_TOLERANCE: Final = 50  # of so many runs that change by themselves, one may be alike by chance

Runs = frozenset[int]


@dataclass(slots=True)
class _Watch:
    """How many texts something has brought that may be one page, and the first of its URLs."""

    texts: int = 0
    enough: int = _ENOUGH
    urls: tuple[str, ...] = ()


@dataclass(slots=True)
class _Trial:
    """The URLs that are fetched again, their new texts, and one that came between."""

    page: int
    urls: tuple[str, ...]
    started: float
    answers: list[Runs] = field(default_factory=list)
    between: Runs | None = None

    @property
    def next_url(self) -> str:
        """What to fetch now; '' while a text is awaited."""
        if len(self.answers) < _URLS:
            return self.urls[len(self.answers)]
        return self.urls[0] if self.between is not None else ""

    def shows_one_page(self) -> bool:
        """Whether the URLs differ no more from each other than one of them from itself."""
        first, *others, last = self.answers
        stable = first & last
        chance = len(first - stable) / _TOLERANCE
        assert self.between is not None
        return all(len(stable - one) <= chance for one in (*others, self.between))


class MovingPages:
    """Watches what may be one page with several URLs that all have brought new texts.

    The first three of these URLs are fetched again. If each has a new text, and the first has yet
    another one when the next text came, the page moves, unless the URLs lack something that the
    first one kept. A page of an archive, `/item?id=7`, keeps its text, or what is its own of that.
    """

    def __init__(self) -> None:
        self._moving: set[int] = set()
        self._watches: dict[int, _Watch] = {}
        self._trial: _Trial | None = None
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
        due = [page for page in pages if self._watch(page, url, has_copies=has_copies)]
        trial = self._trial
        if trial is not None and time.monotonic() - trial.started < _LONGEST_TRIAL:
            if trial.next_url or trial.page not in pages:
                return ""
            trial.between = _list_runs(text)
            return trial.next_url
        if not due or self._tried > new // _EXPLORED:
            return ""
        watch = self._watches[due[0]]
        watch.enough = _LATER * watch.texts
        self._tried += 1
        self._trial = _Trial(due[0], watch.urls, time.monotonic())
        return self._trial.next_url

    def _watch(self, page: int, url: str, *, has_copies: bool) -> bool:
        """Note a text of a page; returns whether it is time to try it."""
        watch = self._watches.pop(page, None) or _Watch()
        self._watches[page] = watch  # the latest last
        if len(self._watches) > _MOST:
            del self._watches[next(iter(self._watches))]
        watch.texts += 1
        if len(watch.urls) < _URLS:
            watch.urls += (url,)
        enough = _URLS if has_copies and watch.enough == _ENOUGH else watch.enough
        return watch.texts >= enough

    def is_tried(self, url: str) -> bool:
        """Whether a URL was to be fetched again."""
        return self._trial is not None and self._trial.next_url == url

    def note_answer(self, text: str, *, is_new: bool) -> tuple[str, int | None]:
        """Note the text of the URL that was fetched again.

        Returns the next URL to fetch again, or '', and the page that moves by that, if one does.
        """
        trial = self._trial
        assert trial is not None
        if not is_new:
            self._trial = None
            return "", None
        trial.answers.append(_list_runs(text))
        if len(trial.answers) <= _URLS:
            return trial.next_url, None
        self._trial = None
        if not trial.shows_one_page():
            return "", None
        logger.info("%s has a new text at each fetch: its URLs count as one", trial.urls[0])
        self._moving.add(trial.page)
        self._tried -= 1
        return "", trial.page


def _list_runs(text: str) -> Runs:
    """Hashes of the runs of words in a text."""
    words = text.split()[:_LONGEST]
    return frozenset(
        xxhash.xxh3_64_intdigest(" ".join(words[place : place + _RUN]).encode("utf-8", "replace"))
        for place in range(max(len(words) - _RUN + 1, 1))
    )
