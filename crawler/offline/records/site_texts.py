"""Takes the main texts of pages in files, and learns the templates of their sites."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

from ...dedup.candidates import FEW, FEW_ON_HOST
from ...dedup.identity import host

if TYPE_CHECKING:
    from ...chrome import Document, MainText, SharedTemplate, SiteTemplates
    from ...chrome.template.pairs import OwnBlocks
    from ...chrome.template.sites import Lesson

_FIRST: Final = 16  # texts of a site until which its template may still be learnt better
_MOST_WAITING: Final = 8 << 20  # characters of such pages, which are held as parsed
_TAUGHT: Final = 64  # texts of a site until which other processes need its lessons
_MOST_BLOCKS: Final = 400_000  # of pages whose own words may turn out to be fewer: some 10 MB

Again = Callable[[], "MainText"]
"""Takes the main text of a page again, by the template of its site as known then."""


class _Doubt(NamedTuple):
    """The blocks that seemed to be a page's own, their words, and the template of its site."""

    template: SharedTemplate
    own: OwnBlocks
    words: int

    def is_justified(self) -> bool:
        """Whether the page has so few own words, as known now, that its heading decides."""
        return self.own.count_words(self.template.known) < min(self.words, 4 * FEW_ON_HOST)


class SiteTexts:
    """Takes the main texts of pages in the order of a file, as a crawl does.

    Attributes
    ----------
    place
        The number of the record that is read, if :meth:`take_doubtful` shall return it where its
        own words turn out to be a note of its site.
    lessons
        Sites and what they have learnt here from one of their first pages, for other processes;
        None if there are none to tell.
    """

    def __init__(self) -> None:
        self.place: int | None = None
        self.lessons: list[tuple[str, Lesson]] | None = None
        self._templates: SiteTemplates | None = None
        self._waiting = 0
        self._doubts: dict[int, _Doubt] = {}
        self._blocks = 0

    def begin(self) -> None:
        """Forget all templates, so that only pages from here on are learnt from."""
        from ...chrome import SiteTemplates

        self._templates = SiteTemplates()
        self._waiting = 0
        self._doubts, self._blocks = {}, 0

    def learn(self, lessons: Iterable[tuple[str, Lesson]]) -> None:
        """Learn what other processes have learnt."""
        if self._templates is not None:
            for site, lesson in lessons:
                self._templates[site].learn(lesson)

    def take_lessons(self) -> list[tuple[str, Lesson]]:
        """The lessons since this was last called."""
        if self.lessons is None:
            return []
        found, self.lessons = self.lessons, []
        return found

    def take_doubtful(self) -> set[int]:
        """The places of pages that have few own words, as known now, but seemed to have more.

        They are forgotten. Of very many pages, only the latest are remembered.
        """
        found = {place for place, doubt in self._doubts.items() if doubt.is_justified()}
        self._doubts, self._blocks = {}, 0
        return found

    def settle(self) -> None:
        """Note that all waiting pages have been read again."""
        self._waiting = 0

    def read_text(self, url: str, document: Document) -> tuple[MainText, Again | None]:
        """The main text of a page; for the first pages of a site, also a way to take it again."""
        from ...chrome import strip_chrome

        site = host(url)
        if self._templates is None or not site:
            return strip_chrome(document), None
        template = self._templates[site]
        known = template.known
        found = strip_chrome(document, template=known)
        lesson = template.observe(found, url)
        if self.lessons is not None and template.learnt < _TAUGHT:
            self.lessons.append((site, lesson))
        if self.place is not None and found.heading and found.own_words >= 4 * FEW:
            self._note_doubt(self.place, _Doubt(template, found.own_blocks, found.own_words))
        if template.learnt >= _FIRST or self._waiting > _MOST_WAITING:
            return found, None
        self._waiting += sum(map(len, document.flat.texts))

        def again() -> MainText:
            if template.known is known:
                return found
            return strip_chrome(document, template=template.known)

        return found, again

    def _note_doubt(self, place: int, doubt: _Doubt) -> None:
        self._doubts[place] = doubt
        self._blocks += len(doubt.own.words)
        while self._blocks > _MOST_BLOCKS:
            oldest = self._doubts.pop(next(iter(self._doubts)))
            self._blocks -= len(oldest.own.words)
