"""The chrome of a site: blocks that come back, with a neighbour, on other pages."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from .naming import IN_TITLES, WHOLE
from .pairs import KEPT, OF_ALL, OF_SOME

_BITS: Final = 16  # for each number of a generation


class Recent:
    """The last `size` numbers that were seen, and up to `size` before them; a power of two.

    At most one in 30 unseen numbers counts as seen (Bloom 1970). When the newer generation has
    `size` numbers, the older one is forgotten. It keeps numbers that occur only once out of a table
    of counts: a doorkeeper (Einziger, Friedman and Manes 2017, section 3.4.2).
    """

    __slots__ = ("_filters", "_shift", "_size", "_taken")

    def __init__(self, size: int) -> None:
        self._size = size
        self._shift = 65 - (size * _BITS).bit_length()
        self._filters = np.zeros((2, size * _BITS // 8), np.uint8)  # the newer one first
        self._taken = 0

    def add(self, numbers: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Add different numbers, uint64; return for each whether it was seen before."""
        known = look_up(self._filters, numbers, self._shift)
        self._take(len(numbers) - int(np.count_nonzero(known[0])))
        found: NDArray[np.bool_] = known[0] | known[1]
        return found

    def add_one(self, number: int) -> bool:
        """Add a number of up to 64 bits, like :meth:`add`, in a tenth of its time."""
        is_newer = is_older = True
        for multiplier in _FACTORS:
            place = (multiplier * number & _WORD) >> self._shift
            at, mask = place >> 3, 1 << (place & 7)
            is_newer &= bool(self._filters[0, at] & mask)
            is_older &= bool(self._filters[1, at] & mask)
            self._filters[0, at] |= mask
        self._take(not is_newer)
        return is_newer or is_older

    def _take(self, count: int) -> None:
        """Count numbers that the newer generation has taken in, and begin another if it is full."""
        self._taken += count
        if self._taken >= self._size:
            self._filters[1] = self._filters[0]
            self._filters[0] = 0
            self._taken = 0


MULTIPLIERS: Final = np.array([[0x9E3779B97F4A7C15], [0xD1B54A32D192ED03]], np.uint64)
_TIMES: Final = np.uint64((1 << 32) - 1)
_FACTORS: Final[list[int]] = MULTIPLIERS.ravel().tolist()
_WORD: Final = (1 << 64) - 1
_MASKS: Final = np.uint8(1) << np.arange(8, dtype=np.uint8)


def look_up(
    filters: NDArray[np.uint8], numbers: NDArray[np.uint64], shift: int
) -> NDArray[np.bool_]:
    """Return which of two filters have which numbers, shape (2, numbers); then the first has all.

    Of a product's 64 bits, `shift` are dropped; the rest is a place in a filter.
    """
    places = (MULTIPLIERS * numbers >> np.uint64(shift)).view(np.int64)
    at, masks = places >> 3, _MASKS.take(places & 7)
    known: NDArray[np.bool_] = np.all(filters.take(at, 1) & masks, axis=1)
    np.bitwise_or.at(filters[0], at, masks)
    return known


class PairCounts:
    """Counts of the most recent pairs; at most `size`, of 16 bytes each."""

    __slots__ = ("_lessons", "_size", "_tallies", "pairs")

    def __init__(self, size: int) -> None:
        self._size = size
        self._lessons = 0
        # Sorted; the last one is no pair, so every pair has a place.
        self.pairs = np.array([(1 << 64) - 1], np.uint64)
        # The last lesson that had each pair, and in the lower half its count.
        self._tallies = np.array([((1 << 32) - 1) << 32], np.uint64)

    def __len__(self) -> int:
        return len(self.pairs) - 1

    @property
    def times(self) -> NDArray[np.uint64]:
        """The count of each pair."""
        return self._tallies & _TIMES

    def times_of(self, pairs: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the counts; zero for pairs that are not counted."""
        at = np.searchsorted(self.pairs, pairs)
        times: NDArray[np.uint64] = (self._tallies[at] & _TIMES) * (self.pairs[at] == pairs)
        return times

    def count(self, pairs: NDArray[np.uint64], again: NDArray[np.bool_]) -> None:
        """Count the different pairs of a page that are counted already, or seen `again`.

        Main text counts separately, with `KEPT`.
        """
        self._lessons += 1
        lesson = np.uint64(self._lessons << 32)
        at = np.searchsorted(self.pairs, pairs)
        is_known = self.pairs[at] == pairs
        known = at[is_known]
        self._tallies[known] = lesson | (self._tallies[known] & _TIMES) + np.uint64(1)
        new = np.sort(pairs[again & ~is_known])
        if len(new):
            # Whether it was kept the first time is unknown; that counts as now.
            times = np.where(self.times_of(new ^ np.uint64(KEPT)), np.uint64(1), np.uint64(2))
            at = np.searchsorted(self.pairs, new)
            self.pairs = np.insert(self.pairs, at, new)
            self._tallies = np.insert(self._tallies, at, lesson | times)
        if len(self) > self._size:
            self._forget()

    def _forget(self) -> None:
        """Keep the latest, an eighth fewer than allowed, so that this is seldom done."""
        beyond = len(self) - self._size * 7 // 8
        stay = np.sort(np.argpartition(self._tallies, beyond)[beyond:])
        self.pairs, self._tallies = self.pairs[stay], self._tallies[stay]


LEAST_PAGES: Final = 3  # two would do, if some sites did not have two versions of each page
LEAST_SHARE: Final = 0.1
LEAST_KEPT: Final = 4  # three may be versions of one page, which a site begins with
KEPT_SHARE: Final = 0.8
NAMED_SHARE: Final = 0.5  # of a site's contents have names of their own: then they are no versions
LEAST_LISTED: Final = 3  # other pages on which a list of links is kept
LEAST_FACTS: Final = 3  # lines; two may be a date and a counter, as on versions of a page
MAX_LINES: Final = 32  # that may be facts; of a name's first page more are known
MAX_PAIRS: Final = 4096  # that came twice
MAX_ONCE: Final = 8192
MAX_CONTENTS: Final = 1024
MAX_SAME: Final = 128  # names remembered to recognise repeated ones
MAX_WATCHED: Final = 512  # URLs


class Known(frozenset[int]):
    """The pairs that are chrome, and from how many texts that was learnt."""

    learnt: int = 0

    @classmethod
    def of(cls, pairs: Iterable[int], learnt: int) -> Self:
        """Return the pairs with the number of texts."""
        known = cls(pairs)
        known.learnt = learnt
        return known


class SiteTemplate:
    """Counts, for one site, on how many different texts each pair of blocks was seen.

    Each text counts once: a page with three URLs is one page. So does each URL: what the versions
    of a page share is not chrome. Pairs of main text have to be on nearly all pages: so an
    article's copies, print view or second page do not make its paragraphs chrome, nor do tables
    with some common rows.

    Memory is bounded: most pairs never come back, so a pair is only counted when it is seen again,
    and the least recently seen are forgotten first.

    Parameters
    ----------
    least_pages
        A pair is chrome if at least so many different texts have it, never fewer than two,
    least_share
        and at least this share of all texts seen, 0 to 1.
    kept_share
        The same for pairs of main text, 0 to 1.
    max_pairs
        The number of pairs that are counted at a time.

    Examples
    --------
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
        self.contents = 0
        self.names = 0
        self._seen = Recent(MAX_CONTENTS)
        self._named = Recent(MAX_CONTENTS)
        self._begun = Recent(MAX_CONTENTS)
        self._titled = 0
        self._exact: dict[int, int] = {}
        self._lines: dict[int, array[int]] = {}
        self._pages = Recent(MAX_WATCHED)
        self._once = Recent(MAX_ONCE)
        self._counts = PairCounts(max_pairs)

    def observe(
        self,
        pairs: Mapping[int, bool],
        content: int,
        page: int | None = None,
        names: tuple[int, int, int] | None = None,
        beginning: int | None = None,
        lines: Sequence[int] = (),
    ) -> None:
        """Count the pairs of a page, as `MainText.hashes` returns them, once for each text.

        `content` is a hash of the page's main text and `page` one of its URL.  `names` are hashes
        of its title and headings, and `beginning` one of its first paragraph, if known.  If another
        page has exactly the same name, the beginning of the text is used instead, and if one with a
        name like it has not the same `lines`, those that it lacks.  Of texts with the same
        beginning, only the first counts for titles: copies of an article have its headline in their
        titles.
        """
        name = None if names is None else self._tell_apart(names, lines)
        # A note or dialog may be taken for the text of many pages, so their names count, too.
        if self._seen.add_one(content if name is None else hash((content, name))):
            return
        if page is not None and self._pages.add_one(page):
            return
        self.contents += 1
        self.names += name is not None and not self._named.add_one(name)
        if beginning is not None and self._begun.add_one(beginning):
            pairs = {pair: kept for pair, kept in pairs.items() if not pair & IN_TITLES}
        else:
            self._titled += 1
        numbers = np.fromiter(pairs, np.uint64, len(pairs))
        kept = np.fromiter(pairs.values(), np.bool_, len(pairs))
        self._counts.count(numbers | kept * np.uint64(KEPT), self._once.add(numbers))

    def _tell_apart(self, names: tuple[int, int, int], lines: Sequence[int]) -> int:
        """Return a name for a page that pages of another text do not have."""
        name, exact, longer = names
        first = self._lines.pop(name, None) or array("H", lines)
        self._lines[name] = first
        known = set(first)
        others = [line for line in lines[:MAX_LINES] if line not in known][:LEAST_FACTS]
        if self._exact.pop(exact, longer) != longer:
            name = longer
        elif len(others) == LEAST_FACTS:
            name = hash((name, *others))
        self._exact[exact] = longer
        for table in (self._exact, self._lines):
            if len(table) > MAX_SAME:
                del table[next(iter(table))]
        return name

    def known(self) -> Known:
        """Return the hashes of the pairs that are chrome; those of main text have `KEPT` set."""
        pairs, times = self._counts.pairs, self._counts.times
        least = max(self.least_pages, self.least_share * self.contents)
        least_kept = max(self.least_pages, LEAST_KEPT, self.kept_share * self.contents)
        is_whole = pairs & np.uint64(WHOLE) > 0
        share = np.where(is_whole, self.least_share, NAMED_SHARE)
        least_titles = np.maximum(LEAST_KEPT, share * self._titled)
        is_varied = self.names >= max(LEAST_KEPT, NAMED_SHARE * self.contents)
        is_title = pairs & np.uint64(IN_TITLES) > 0
        found = set(pairs[~is_title & (pairs < KEPT) & (times >= least)].tolist())
        if is_varied:
            found.update(pairs[is_title & (times >= least_titles)].tolist())
        kept = pairs[~is_title & (pairs >= KEPT)]
        cut = kept ^ np.uint64(KEPT)
        times = self._counts.times_of(kept) + self._counts.times_of(cut)
        is_often = times >= least_kept
        found.update(kept[is_often].tolist())
        if is_varied:
            found.update((cut[times >= LEAST_LISTED] | np.uint64(OF_SOME)).tolist())
            found.update((cut[is_often] | np.uint64(OF_ALL)).tolist())
        return Known.of(found, self.contents)
