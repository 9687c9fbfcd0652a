"""Which pages of a site are new, and how far a request is from a page that is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple
from urllib.parse import unquote_plus, urlsplit

import xxhash

from ...dedup.urls.parts import UrlKind, UrlParts

_MOST_CONTENTS: Final = 1 << 19
_MOST_PAGES: Final = 1 << 18
_MOST_KINDS: Final = 1 << 14
_VAIN: Final = 3  # copies in a row for each new page of a kind, which then is vain
_SHORT: Final = 500  # characters
_LONG: Final = 20 * _SHORT  # characters of a text whose different lines may be short
_SMALL_STEP: Final = 1 / 16  # what a page without new links adds to growth
_EMPTY_STEP: Final = 1 / 8  # what an empty page adds to depth
_WORDS: Final = re.compile(r"\w+")
# In scripts without spaces, such as Chinese, the word for days follows their number directly.
_NUMBERS: Final = re.compile(r"(?<![A-Za-z\d])\d+(?![A-Za-z\d])")


class Found(NamedTuple):
    """The page that a request was found on, and the kind of that page's URL."""

    page: int
    kind: UrlKind | None = None

    def is_alike(self, kind: UrlKind) -> bool:
        """Whether another URL is of the same kind, as those of two months are.

        The numbers of years are no difference.
        """
        if self.kind is None:
            return False
        (section, stem), other = self.kind, kind.section
        return stem == kind.stem and (section == other or (section.isdigit() and other.isdigit()))


@dataclass(slots=True)
class Yield:
    """What a group of URLs has brought.

    ``new`` URLs were new or led to new ones. Since the last of these, ``barren`` ones were not, and
    these may add ``growth`` to an endless part of the site.
    """

    new: int = 0
    barren: int = 0
    growth: float = 0.0

    def note(self, growth: float | None) -> None:
        """Note a URL: None if it was new, else how much it may add to ``growth``."""
        self.new += growth is None
        self.barren = 0 if growth is None else self.barren + 1
        self.growth = 0.0 if growth is None else self.growth + growth


class _Step(NamedTuple):
    """A page that brought nothing new: where it was found, what it adds to depth, its groups."""

    found_on: Found
    length: float
    yields: tuple[Yield, ...]


NOWHERE: Final = Found(0)


def page_number(url: str) -> int:
    """A number for a page, the same in all processes."""
    return xxhash.xxh3_64_intdigest(url.encode("utf-8", "replace"))


def hash_outline(text: str, url: str) -> int | None:
    """A hash of a short text without numbers and words of the URL's query; None for a long text.

    A longer text counts as short if its different lines are: a week of a calendar has the same
    hours seven times. There lines that recur keep their numbers, so different tables differ.

    >>> hash_outline("March 2031: no events", "/") == hash_outline("March 2032: no events", "/")
    True
    >>> hash_outline("None for tea", "/?q=tea") == hash_outline("None for cake", "/?q=cake")
    True
    >>> day = "8:00\\n9:00\\n" * 60
    >>> hash_outline(f"May 1\\n{day}", "/?d=1") == hash_outline(f"May 8\\n{day}", "/?d=8")
    True
    """
    if len(text) > _LONG:
        return None
    lines = text.casefold().splitlines()
    counts = Counter(lines)
    if len("\n".join(counts)) > _SHORT:
        return None
    kept = {line for line in counts if counts[line] > 1} if len(text) > _SHORT else ()
    outline = "\n".join(line if line in kept else _NUMBERS.sub("", line) for line in lines)
    query = urlsplit(url).query
    if query:
        words = set(_WORDS.findall(unquote_plus(query).casefold()))
        asked = {word for word in words if not word.isdecimal()}
        outline = _WORDS.sub(lambda word: "" if word[0] in asked else word[0], outline)
    return xxhash.xxh3_64_intdigest(" ".join(outline.split()).encode("utf-8", "replace"))


class Novelty:
    """Tells which pages of a site are new, and how far a request is from one that is.

    The empty months of a calendar have different texts: the year is in each. So a page counts as
    empty if its short text came before, numbers aside, and it was found on a page with a similar
    URL. Eight empty pages count as one copy. The index keeps them all the same. No depth beyond
    `copy_depth` matters.
    """

    def __init__(self, copy_depth: int) -> None:
        self.new = 0  # pages whose text was new
        self.seen = 0  # pages in all
        self.barren = 0  # pages since the last new one
        self.growth = 0.0  # what these may add to an endless part of the site
        self._copy_depth = copy_depth
        self._contents: set[int] = set()
        self._of_text: dict[int, int] = {}
        self._steps: dict[int, _Step | None] = {}  # by page; None for one that brought news
        self._outlines: set[int] = set()  # of short texts
        self._yields: dict[Hashable, Yield] = {}

    def content_of(self, cluster: int, text: int) -> int:
        """The number of a page's content: its cluster, or the first cluster that had its text.

        While little is known of a site, an index may keep a page with the text of another.
        """
        if len(self._of_text) >= _MOST_CONTENTS:
            return self._of_text.get(text, cluster)
        return self._of_text.setdefault(text, cluster)

    def knows(self, content: int) -> bool:
        """Whether a content came before."""
        return content in self._contents

    def note_content(self, content: int) -> None:
        """Note a content that is new on no page."""
        self._contents.add(content)

    def find_depth(self, found_on: Found) -> float:
        """How many pages in a row, up to the one it was found on, have brought nothing new.

        A page that another process fetched, and told nobody of, may have led to new ones.
        """
        depth = 0.0
        while depth <= self._copy_depth:
            step = self._steps.get(found_on.page)
            if step is None:
                break
            found_on = step.found_on
            depth += step.length
        return depth

    def is_vain(self, group: Hashable) -> bool:
        """Whether a kind or group of URLs has brought nothing new for a long time."""
        found = self._yields.get(group)
        return found is not None and found.barren >= _VAIN * max(found.new, 1)

    def is_fruitful(self, groups: Iterable[Hashable]) -> bool:
        """Whether one of these groups of URLs is known and not vain."""
        return any(group in self._yields and not self.is_vain(group) for group in groups)

    def list_yields(self, groups: Iterable[Hashable]) -> tuple[Yield, ...]:
        """What groups of URLs have brought, as far as they are known."""
        return tuple(self._yields[group] for group in groups if group in self._yields)

    def find_growth(self, yields: Iterable[Yield]) -> float:
        """The growth of the site, or that of one of these groups if it is larger."""
        return max((self.growth, *(one.growth for one in yields)))

    def note_page(
        self,
        page: int,
        parts: UrlParts,
        found_on: Found,
        content: int,
        outline: int | None,
        *,
        growth: float = 1,
    ) -> bool:
        """Note the content of a page, and the outline of a short text.

        `growth`, up to 1, is what a copy may add to an endless part of the site. Returns whether
        the content is new.
        """
        self.seen += 1
        is_new = content not in self._contents
        if is_new and len(self._contents) < _MOST_CONTENTS:
            self._contents.add(content)
        is_empty = is_new and outline in self._outlines and found_on.is_alike(parts.kind)
        if outline is not None and len(self._outlines) < _MOST_PAGES:
            self._outlines.add(outline)
        brings_news = is_new and not is_empty
        added = None if brings_news else max(growth, _SMALL_STEP)
        yields = []
        for group in parts.kind, *((parts.kind, *one) for one in parts.features):
            if group in self._yields or len(self._yields) < _MOST_KINDS:
                yields.append(self._yields.setdefault(group, Yield()))
                yields[-1].note(added)
        if added is None:
            self.new += 1
            self.barren = self.growth = 0
            for fruitful in page, found_on.page:
                self._note_news(fruitful)
        else:
            self.barren += 1
            self.growth += added
            step = _Step(found_on, _EMPTY_STEP if is_empty else 1, tuple(yields))
            self._note_step(page, step if page != found_on.page else None)
        return is_new

    def _note_news(self, page: int) -> None:
        """Note that a page, and so each copy that led to it, was new or led to a new one."""
        step = self._steps.get(page)
        self._note_step(page, None)
        while step is not None:
            for one in step.yields:
                one.note(None)
            page = step.found_on.page
            step = self._steps.get(page)
            self._note_step(page, None)

    def _note_step(self, page: int, step: _Step | None) -> None:
        if page in self._steps or len(self._steps) < _MOST_PAGES:
            self._steps[page] = step
