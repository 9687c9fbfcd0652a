"""Which blocks are a site's own chrome: those that come back, with a neighbour, on other pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from .naming import IN_TITLES
from .pairs import KEPT, OF_ALL, OF_SOME, count_pairs

_BITS: Final = 16  # for each number of a generation


class Recent:
    """The last `size` numbers that were seen, and up to `size` before them; a power of two.

    Of numbers that were not seen, one in 30 at most is said to be (Bloom 1970). When the newer
    generation has taken in `size` numbers, the older one is forgotten. As what stands before a
    table of counts, it keeps out of it what comes only once: a doorkeeper (Einziger, Friedman and
    Manes 2017, section 3.4.2).
    """

    __slots__ = ("_filters", "_shift", "_size", "_taken")

    def __init__(self, size: int) -> None:
        self._size = size
        self._shift = 65 - (size * _BITS).bit_length()
        self._filters = np.zeros((2, size * _BITS // 8), np.uint8)  # the newer one first
        self._taken = 0

    def add(self, numbers: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """See different numbers, uint64; return for each whether it was seen before."""
        known = look_up(self._filters, numbers, self._shift)
        self._taken += len(numbers) - int(np.count_nonzero(known[0]))
        if self._taken >= self._size:
            self._filters[1] = self._filters[0]
            self._filters[0] = 0
            self._taken = 0
        found: NDArray[np.bool_] = known[0] | known[1]
        return found


MULTIPLIERS: Final = np.array([[0x9E3779B97F4A7C15], [0xD1B54A32D192ED03]], np.uint64)
_MASKS: Final = np.uint8(1) << np.arange(8, dtype=np.uint8)


def look_up(
    filters: NDArray[np.uint8], numbers: NDArray[np.uint64], shift: int
) -> NDArray[np.bool_]:
    """Return which of two filters have which numbers, shape (2, numbers); then the first has all.

    Of a product's 64 bits `shift` are dropped, so that a place in a filter is left.
    """
    places = (MULTIPLIERS * numbers >> np.uint64(shift)).view(np.int64)
    at, masks = places >> 3, _MASKS.take(places & 7)
    known: NDArray[np.bool_] = np.all(filters.take(at, 1) & masks, axis=1)
    np.bitwise_or.at(filters[0], at, masks)
    return known


LEAST_PAGES: Final = 3  # two would do for most sites, but for those with two versions of each page
LEAST_SHARE: Final = 0.1
LEAST_KEPT: Final = 4  # three may be versions of one page, which a site begins with
KEPT_SHARE: Final = 0.8
NAMED_SHARE: Final = 0.5  # of a site's contents have names of their own: then they are no versions
LEAST_LISTED: Final = 3  # other pages on which a list of links is kept
MAX_PAIRS: Final = 4096  # that came twice
MAX_ONCE: Final = 8192
MAX_CONTENTS: Final = 1024
MAX_SAME: Final = 128  # names, to see which come again
MAX_WATCHED: Final = 512  # addresses


class Known(frozenset[int]):
    """The pairs that are chrome by now, and of how many contents that was learnt."""

    learnt: int = 0

    @classmethod
    def of(cls, pairs: Iterable[int], learnt: int) -> Self:
        """Return the pairs with what they were learnt from."""
        known = cls(pairs)
        known.learnt = learnt
        return known


class SiteTemplate:
    """Counts, for one site, on how many different contents each pair of blocks stood.

    A pair is chrome from `least_pages` different contents on, two at least, and `least_share` of
    those seen.  A content is counted once: a page that stands on three addresses is one page.  So
    is a page that is watched, however its text changes: what its versions share is no chrome.
    What a page alone keeps counts by itself, and has to stand on nearly all: copies of an article,
    its print view or its second page do not make its paragraphs chrome, nor do tables with some
    rows in common, nor the pages of somebody who repeats another's text.

    Memory is bounded: most pairs never come back, so a pair is counted when it comes again, and
    those that came back least recently are forgotten first.

    >>> template = SiteTemplate()
    >>> for page in range(3):
    ...     template.observe({1: False, 100 + page: False}, content=page)
    >>> sorted(template.known())
    [1]
    """

    def __init__(
        self,
        *,
        least_pages: int = LEAST_PAGES,
        least_share: float = LEAST_SHARE,
        kept_share: float = KEPT_SHARE,
        max_pairs: int = MAX_PAIRS,
    ) -> None:
        self.least_pages = least_pages
        self.least_share = least_share
        self.kept_share = kept_share
        self.max_pairs = max_pairs
        self.contents = 0
        self.names = 0
        self._seen: dict[int, None] = {}
        self._named: dict[int, None] = {}
        self._begun: dict[int, None] = {}
        self._titled = 0
        self._exact: dict[int, int] = {}
        self._pages = Recent(MAX_WATCHED)
        self._once = Recent(MAX_ONCE)
        self._counts: dict[int, int] = {}

    def observe(
        self,
        pairs: Mapping[int, bool],
        content: int,
        page: int | None = None,
        names: tuple[int, int, int] | None = None,
        beginning: int | None = None,
    ) -> None:
        """Count the pairs of a page, as `MainText.hashes` gives them, once for its content.

        `content` is a hash of the page's main text, `page` one of its address, `names` those of
        what it is called and `beginning` that of its first paragraph, if these are known.  If
        another page is called exactly the same, such a name says nothing, and what its text begins
        with counts as its name.  Copies of an article have its headline in their titles, each
        beside another site's name: of texts that begin alike, one teaches what titles share.
        """
        name = None
        if names is not None:
            name, exact, longer = names
            name = longer if self._exact.get(exact, longer) != longer else name
            self._exact.pop(exact, None)
            self._exact[exact] = longer
            _forget(self._exact, MAX_SAME)
        # Of a note or a dialog that is taken for the text of each page there are many pages.
        if _add(self._seen, content if name is None else hash((content, name))):
            return
        if page is not None and self._pages.add(np.array([page % (1 << 64)], np.uint64))[0]:
            return
        self.contents += 1
        self.names += name is not None and not _add(self._named, name)
        if beginning is not None and _add(self._begun, beginning):
            pairs = {pair: kept for pair, kept in pairs.items() if not pair & IN_TITLES}
        else:
            self._titled += 1
        again = self._once.add(np.fromiter(pairs, np.uint64, len(pairs)))
        count_pairs(self._counts, pairs, again)
        _forget(self._counts, self.max_pairs)

    def known(self) -> Known:
        """Return the hashes of the pairs that are chrome by now, with `KEPT` of what is kept."""
        counts = self._counts
        least = max(self.least_pages, self.least_share * self.contents)
        least_kept = max(self.least_pages, LEAST_KEPT, self.kept_share * self.contents)
        least_titles = max(LEAST_KEPT, NAMED_SHARE * self._titled)
        is_varied = self.names >= max(LEAST_KEPT, NAMED_SHARE * self.contents)
        found: set[int] = set()
        for pair, count in counts.items():
            if pair & IN_TITLES:
                if is_varied and count >= least_titles:
                    found.add(pair)
                continue
            if pair < KEPT:
                if count >= least:
                    found.add(pair)
                continue
            count += counts.get(pair ^ KEPT, 0)
            if count >= least_kept:
                found.add(pair)
            if is_varied and count >= LEAST_LISTED:
                found.add(pair ^ KEPT | OF_SOME)
                if count >= least_kept:
                    found.add(pair ^ KEPT | OF_ALL)
        return Known.of(found, self.contents)


def _add(numbers: dict[int, None], number: int) -> bool:
    """Put a number last, and say whether it was there."""
    is_known = number in numbers
    numbers.pop(number, None)
    numbers[number] = None
    _forget(numbers, MAX_CONTENTS)
    return is_known


def _forget(numbers: dict[int, Any], most: int) -> None:
    """Leave the numbers that came last, so many at most."""
    for number in list(islice(numbers, max(len(numbers) - most, 0))):
        del numbers[number]
