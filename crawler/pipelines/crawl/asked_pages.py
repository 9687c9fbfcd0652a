"""Dropped pages that a crawl has requested again, and what has come of them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any, Final

from scrapy import Request, signals

from ...wording import counted
from ..gone import GONE
from .memory import Dropped

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from ..calls import Count

logger = logging.getLogger(__name__)

ASKED_AGAIN: Final = "dedup_asked_again"
"""Key in the meta of a repeated request: the URLs of its pages, and the hosts that are final."""

_TIMES: Final = 10  # a crawl requests at most so many times the pages that it remembers at once
_MOST_FINAL: Final = 64  # hosts that one check names
_SHOWN: Final = 10  # URLs that the log lists


def is_asked_again(request: Any) -> bool:
    """Whether a request is a repetition for a page that was dropped."""
    return request is not None and ASKED_AGAIN in request.meta


class AskedPages:
    """Repeats the requests of dropped pages, and keeps what has come of these.

    URLs have the form by which the index knows them. `most` is the number of dropped pages that are
    remembered at once, and `is_doubtful` says whether a page that was kept is in no feed yet.
    """

    def __init__(self, most: int, is_doubtful: Callable[[str], bool], count: Count) -> None:
        self.awaited: dict[str, Dropped] = {}
        self.missed: set[str] = set()  # orphans that cannot be requested, the first of very many
        self._most = most * _TIMES
        self._is_doubtful = is_doubtful
        self._count = count
        self._asked: dict[str, bool] = {}  # requested pages → whether the spider was idle then
        self._kept = 0  # of these pages
        # Requested texts, by hash → the page that is kept for the text, "" until a page comes.
        self._answers: dict[int, str] = {}
        self._crawler: Crawler | None = None

    def __contains__(self, known: str) -> bool:
        return known in self._asked

    def connect_signals(self, crawler: Crawler) -> None:
        """Follow this crawl, and repeat its requests."""
        self._crawler = crawler
        crawler.signals.connect(self.note_answer, signal=signals.response_received)

    @property
    def has_room(self) -> bool:
        """Whether another page may be requested."""
        return len(self._asked) < self._most

    def note_missed(self, known: str) -> None:
        """Note a page that cannot be requested; a long crawl may have any number of them."""
        if len(self.missed) < self._most:
            self.missed.add(known)

    def note_unknown(self, known: Collection[str]) -> None:
        """Log that the index did not say whether a kept page has the texts of these pages."""
        for _ in known:
            self._count("dedup/not_asked_again")
        logger.warning(
            "%s: the index gave no answer whether a kept page has the text of %s. When it answers, "
            "`scrapy dedup orphans` lists those whose text no kept page has",
            counted(len(known), "dropped page"),
            "it" if len(known) == 1 else "them",
        )

    def was_final(self, known: str) -> bool:
        """Whether a page was requested when the spider was idle, which was the last time."""
        return self._asked.get(known, False)

    def is_settled(self, page: Dropped) -> bool:
        """Whether a page with the same text was requested and has come, so that one is kept."""
        kept = self._answers.get(page.text)
        return bool(kept and not self._is_doubtful(kept))

    def list_open(self) -> list[int]:
        """The texts, by hash, that were requested and have not come."""
        return [text for text, kept in self._answers.items() if not kept]

    def expect(self, known: str, page: Dropped, *, is_idle: bool) -> None:
        """Note that a page is about to be requested for its text."""
        self._asked[known] = is_idle
        self.awaited[known] = page
        self._answers[page.text] = ""

    def ask_for_noted(self, known: str, request: Request, *, is_idle: bool) -> None:
        """Repeat the request of a copy whose text is a note, unless it was requested."""
        if known not in self._asked:
            self._asked[known] = is_idle
            self.repeat(request, [known])

    def repeat(self, request: Request, urls: list[str], hosts: Iterable[str] = ()) -> None:
        """Make the request of these pages again.

        Unconfirmed records of `hosts` will give way to them.
        """
        meta = {name: value for name, value in request.meta.items() if name != "retry_times"}
        meta[ASKED_AGAIN] = urls, sorted(hosts)[:_MOST_FINAL]
        engine = self._crawler.engine if self._crawler is not None else None
        if engine is None or engine.spider is None:
            self.missed.update(urls)
            return
        for _ in urls:
            self._count("dedup/asked_again")
        engine.crawl(request.replace(meta=meta, dont_filter=True))

    def note_answer(self, response: Response, request: Request) -> None:
        """Note that a page that was requested again is gone, and its text with it."""
        if response.status in GONE:
            urls, _ = request.meta.get(ASKED_AGAIN, ((), ()))
            for url in urls:
                self.awaited.pop(url, None)

    def note_came(
        self, known: str, request: Request | None, visited: Iterable[str]
    ) -> tuple[str, ...]:
        """Note that a page came; return the hosts whose unconfirmed records give way to it.

        If its request names any, these are those hosts and the `visited` ones.
        """
        self.awaited.pop(known, None)
        urls, final = request.meta.get(ASKED_AGAIN, ((), ())) if request else ((), ())
        if known not in urls or not final:
            return ()
        return tuple(dict.fromkeys([*final, *visited]))[:_MOST_FINAL]

    def note_decision(self, known: str, text: int, kept: str) -> None:
        """Note that a page came with this text, and which page is kept for it."""
        if known in self._asked and text in self._answers:
            self._answers[text] = kept

    def note_kept(self, known: str) -> None:
        """Note that a page is kept, or passed on as a copy."""
        self._kept += known in self._asked

    def tell_end(self) -> None:
        """Log and count which pages were requested again, and which could not be."""
        are_all = len(self.missed) < self._most
        self.missed -= self._asked.keys() - self.awaited.keys()
        for _ in self.missed:
            self._count("dedup/not_asked_again")
        if self._asked:
            logger.info(
                "Requested %s again whose original had changed, was gone or was not seen, "
                "or whose site is better known by now: %d kept",
                counted(len(self._asked), "dropped page"),
                self._kept,
            )
        if self.missed:
            logger.warning(
                "%s%s: no kept page has the text of %s, and none could be requested again: "
                "%s%s. `scrapy dedup orphans` lists all",
                "" if are_all else "At least ",
                counted(len(self.missed), "orphan"),
                "it" if len(self.missed) == 1 else "them",
                ", ".join(map(repr, sorted(self.missed)[:_SHOWN])),
                ", …" * (len(self.missed) > _SHOWN),
            )
