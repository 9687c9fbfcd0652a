"""The templates of the sites of a crawl, learnt here and shared with other workers."""

from __future__ import annotations

import struct
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Final, NamedTuple

from ...latest import Latest
from .naming import IN_TITLES, TOLD_TITLE
from .pairs import KEPT, OF_ALL, TOLD, text_hash
from .template import LEAST_PAGES, Known, SiteTemplate

if TYPE_CHECKING:
    from ..main_text import MainText

MAX_SITES: Final = 1000
_MAX_SAVED: Final = 100  # sites, in a file
_OFFERED: Final = 64  # pairs that go with one page
_LONGEST_LOG: Final = 512  # pairs, as in dedup/store/lua/pages.lua
_PAIR_BYTES: Final = 4
_ENOUGH: Final = 8  # contents, to tell others of what pages keep
# Is told as a pair would be, once a template was learnt from enough contents.
_LEARNT: Final = 0x5EED1E55


class Lesson(NamedTuple):
    """What a site learns from a page, the same in every process: see `SiteTemplate.observe`."""

    pairs: dict[int, bool]
    content: int
    page: int | None
    names: tuple[int, int, int]
    beginning: int
    lines: list[int]


class SharedTemplate:
    """One site's template, learnt from pages seen here and shared by other workers.

    Workers share a log of pairs that only grows.

    Attributes
    ----------
    known
        The hashes of pairs that are chrome, for :func:`strip_chrome`.
    length
        The number of entries of the log that are known here.
    asked
        Whether the log was read before the site's first page.
    """

    __slots__ = ("__weakref__", "_log", "_next", "_offer", "_own", "asked", "known", "length")

    def __init__(self) -> None:
        self.known: frozenset[int] = Known()
        self.length = 0
        self.asked = False
        self._own = SiteTemplate()
        self._log: frozenset[int] = frozenset()
        self._next = LEAST_PAGES
        # What is offered for as long as nothing else is known.
        self._offer: tuple[frozenset[int], bytes] = self.known, b""

    def observe(self, content: MainText, url: str | None = None) -> Lesson:
        """Learn from a page; from each URL only once. Returns the lesson."""
        page = None if url is None else text_hash(url)
        whole = text_hash(content.whole)
        lesson = Lesson(
            content.hashes(), whole, page, content.names, content.beginning, content.lines
        )
        self.learn(lesson)
        return lesson

    def learn(self, lesson: Lesson) -> None:
        """Learn from a page that may have been read in another process."""
        self._own.observe(*lesson)
        if self._own.contents >= self._next:  # ever more rarely, as less and less is new
            self._next = self._own.contents * 5 // 4 + 1
            known = set(self._own.known())
            if self._own.contents >= _ENOUGH:
                known |= {pair ^ KEPT for pair in known if KEPT <= pair < OF_ALL}
            self.known = self._with_log(known, self._own.contents)

    def _with_log(self, pairs: AbstractSet[int], learnt: int) -> Known:
        """Return pairs, learnt from so many contents, together with those of the log."""
        told = _ENOUGH if _LEARNT in self._log else 0
        return Known.of(pairs | self._log, max(learnt, told))

    @property
    def learnt(self) -> int:
        """The number of texts from which the template was learnt, as far as known here."""
        return getattr(self.known, "learnt", 0)

    def offer(self) -> bytes:
        """Pairs that are not in the log yet, four bytes each; none if the log is full.

        Pairs of main text are only offered when enough pages have been seen, because the log never
        loses an entry. Receivers do not trust them for running text, see
        :func:`.pairs.find_templated`, unless pages of all names have them: these are offered under
        another number.
        """
        if self.length >= _LONGEST_LOG:
            return b""
        if self._offer[0] is not self.known:
            self._offer = self.known, self._find_offer()
        return self._offer[1]

    def _find_offer(self) -> bytes:
        numbers = {pair for pair in self.known if pair < KEPT}
        if self._own.contents >= _ENOUGH:
            numbers |= {_LEARNT}
            numbers |= {pair % KEPT ^ TOLD for pair in self.known if pair & OF_ALL}
            numbers |= {pair % KEPT ^ TOLD_TITLE for pair in self.known if pair & IN_TITLES}
        unknown = sorted(numbers - self._log)[:_OFFERED]
        return b"".join(pair.to_bytes(_PAIR_BYTES) for pair in unknown)

    def take(self, start: int, pairs: bytes) -> None:
        """Add entries of the log from number `start` on, four bytes each.

        Examples
        --------
        >>> template = SharedTemplate()
        >>> template.take(0, bytes([0, 0, 0, 7]))
        >>> sorted(template.known), template.length
        ([7], 1)
        """
        numbers = struct.unpack(f">{len(pairs) // _PAIR_BYTES}I", pairs)
        length = start + len(numbers)
        if start > self.length:  # of an answer that came after a later one: it will come again
            return
        if length >= self.length or start == 0:
            # A shorter log from its beginning: the old one was forgotten.
            self._log = (frozenset() if length < self.length else self._log) | frozenset(numbers)
            self.length = length
            self.known = self._with_log(self.known, self.learnt)


class SiteTemplates:
    """The templates of the sites that a crawl has seen last.

    Examples
    --------
    >>> templates = SiteTemplates()
    >>> templates["example.com"] is templates["example.com"]
    True
    """

    def __init__(self) -> None:
        self._sites: Latest[str, SharedTemplate] = Latest(MAX_SITES)

    def __getstate__(self) -> Latest[str, SharedTemplate]:
        """Return the latest templates, to be pickled: at most some 0.1 MB each."""
        kept = Latest[str, SharedTemplate](MAX_SITES)
        kept.update(list(self._sites.items())[-_MAX_SAVED:])
        return kept

    def __setstate__(self, sites: Latest[str, SharedTemplate]) -> None:
        self._sites = sites

    def __getitem__(self, host: str) -> SharedTemplate:
        template = self._sites[host] = self._sites.get(host) or SharedTemplate()
        return template
