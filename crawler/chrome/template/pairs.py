"""Pairs of neighbouring blocks: what a site learns from a page, and cuts from another.

The beginning and the end of a page are neighbours of its first and last block, so pair `i` is of
blocks `i - 1` and `i`. Otherwise a footer of one block, below another text on each page, would be
in no pair that comes back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Set as AbstractSet
from string import ascii_lowercase, ascii_uppercase
from typing import Final, NamedTuple

import numpy as np
import xxhash
from numpy.typing import NDArray

from ..page.blocks import Ints, Wide

EDGE: Final = 1  # in place of a block's hash: the beginning or the end of a page
# Flags in front of a pair's 32 bits: a block of the pair is kept without the template; pages of all
# names have the pair; a few pages of other names have it, so it counts if it is links.
KEPT: Final = 1 << 32
OF_ALL: Final = 1 << 33
OF_SOME: Final = 1 << 34
TOLD: Final = 0x9E3779B9  # in place of OF_ALL, as workers share 32 bits
ALIKE, SAME, OFTEN, SURE, LISTED = 1, 2, 4, 8, 16  # ways in which a block belongs to the template
SHARED: Final = SAME | OFTEN | SURE | LISTED  # with the same digits
_FLAGS: Final = ((KEPT, OFTEN), (OF_ALL, SURE), (OF_SOME, LISTED))
_LONG_FLAGS: Final = (0, SAME), *_FLAGS
PROSE: Final = 200  # characters
ROWS: Final = 2  # how often chrome may stand on a page, as above and below its text
# Least share of the text kept without the template that must be the page's own.  With less, a
# page with only the rest may resemble it by 0.8 and more: near-copies would lose what they share.
LEAST_OWN: Final = 0.2
# Share of the characters of one in a list of links. With less, it says something of these, such as
# "Operands: a, b", and may be all that tells two pages apart, unless it is one of several entries.
LINK: Final = 0.8
ENTRIES: Final = 3
LIST_LINKED: Final = 0.5  # of the characters in known neighbours, which then are a list of links
FACTS: Final = 2  # lines besides its heading that distinguish a page from others with the same note

_PAIR_BITS: Final = (1 << 32) - 1
_SMALL: Final = bytes.maketrans(ascii_uppercase.encode(), ascii_lowercase.encode())
_DIGITS: Final = bytes.maketrans(b"0123456789", b"\1" * 10)  # no digit that a text has


class Pairs(NamedTuple):
    """32-bit hashes of every two neighbouring blocks of a page, without and with digits; one list,
    if there are none.

    `long` has a hash of each long block by itself, by its number: a note may stand between the
    page's own text and links to its neighbours.
    """

    alike: list[int]
    same: list[int]
    long: dict[int, int]


def text_hash(text: str) -> int:
    """Return a 64-bit hash of a text, the same in every process."""
    return xxhash.xxh3_64_intdigest(text.encode("utf-8", "replace"))


def block_hash(text: str) -> int:
    """Return a stable 64-bit hash of a block, ignoring digits and the case of ASCII letters.

    Examples
    --------
    >>> block_hash("Seen 1,204 times") == block_hash("seen 9,317 times")
    True
    """
    return xxhash.xxh3_64_intdigest(_fold_case(text).translate(_DIGITS))


def pair_hashes(texts: list[str]) -> Pairs:
    """Return the hashes of every two neighbours, one more than blocks, ignoring the case of ASCII.

    Chrome comes back with its neighbours; "Parameters:" comes back on many pages of a manual, but
    between other texts on each.
    """
    # Folding all blocks at once is faster, as most are short. No text has zero bytes.
    small = _fold_case("\0".join(texts))
    folded = small.translate(_DIGITS)
    parts = small.split(b"\0") if texts else []
    hashes = list(map(xxhash.xxh3_64_intdigest, parts))
    same = _of_neighbours(hashes)
    # By bytes, of which a word has more or less as many in all scripts.
    longer = (i for i, part in enumerate(parts) if len(part) >= PROSE)
    long = {i: hashes[i] >> 14 & _PAIR_BITS for i in longer}
    if small == folded:
        return Pairs(same, same, long)
    for i, part in enumerate(folded.split(b"\0")):
        if part != parts[i]:
            hashes[i] = xxhash.xxh3_64_intdigest(part)
    return Pairs(_of_neighbours(hashes), same, long)


def _fold_case(text: str) -> bytes:
    return text.encode("utf-8", "replace").translate(_SMALL)


def _of_neighbours(numbers: list[int]) -> list[int]:
    hashes = np.array([EDGE, *numbers, EDGE], np.uint64)
    pairs: list[int] = ((hashes[:-1] * 3 + hashes[1:]) >> 16).astype(np.uint32).tolist()
    return pairs


def _find_sides(of_blocks: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return what holds of the first block of each pair, and of the second."""
    return np.append(False, of_blocks), np.append(of_blocks, False)


def make_lesson(
    pairs: Pairs, alone: NDArray[np.bool_], elsewhere: NDArray[np.bool_]
) -> dict[int, bool]:
    """Return what a site learns from a page that keeps such blocks: see `MainText.hashes`.

    `elsewhere` are blocks that are another page's text. Cut here, they must not be cut there.
    """
    alike, same, long = pairs
    kept = np.logical_or(*_find_sides(alone))
    elsewhere = elsewhere & ~alone
    cut = np.flatnonzero(~kept & ~np.logical_or(*_find_sides(elsewhere))).tolist()
    hashes = dict.fromkeys(map(alike.__getitem__, cut), False)
    if same is not alike:
        hashes |= dict.fromkeys(map(same.__getitem__, cut), False)
    for pair, times in Counter(map(same.__getitem__, np.flatnonzero(kept).tolist())).items():
        if times > ROWS:
            hashes.pop(pair, None)
        else:  # kept anywhere counts as kept
            hashes[pair] = True
    for number, pair in long.items():
        if not elsewhere[number]:
            hashes[pair] = bool(alone[number]) or hashes.get(pair, False)
    return hashes


def find_ways(
    pairs: Pairs, kept: NDArray[np.bool_], template: AbstractSet[int]
) -> NDArray[np.uint8]:
    """Return for each block in which ways it is in a pair of the template, one bit for each.

    `kept` are the blocks of the main text. These must come back with the same numbers, because
    tables of values have the same labels on all pages. What is cut elsewhere stays where it is
    kept: a chapter has a list that is also in its site's menu.
    """
    of_both, of_either = np.logical_and(*_find_sides(kept)), np.logical_or(*_find_sides(kept))
    same = np.array(pairs.same, np.int64)
    of_main = np.flatnonzero(of_either)
    cut = set(same[~of_either].tolist())

    def among(hashes: list[int], way: int, known: AbstractSet[int] = template) -> NDArray[np.uint8]:
        return np.fromiter(map(known.__contains__, hashes), np.uint8, len(hashes)) * np.uint8(way)

    found = among(pairs.same, SAME)
    for flag, way in _FLAGS:
        found[of_main] |= among((same[of_main] | flag).tolist(), way)
    found[of_main] |= among((same[of_main] ^ TOLD).tolist(), SURE)
    found[of_both & (among(pairs.same, 1, cut) > 0)] = 0
    found |= among(pairs.alike, ALIKE)
    of = found[:-1] | found[1:]
    for number, pair in pairs.long.items():
        for flag, way in _LONG_FLAGS:
            if pair | flag in template:
                of[number] |= way
        if pair ^ TOLD in template:
            of[number] |= SURE
    return of


def is_shared(of: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return which blocks other pages of the site have, too, the same digits included.

    `of` is the result of `find_ways`.
    """
    shared: NDArray[np.bool_] = (of & np.uint8(SHARED)) > 0
    return shared


class OwnBlocks(NamedTuple):
    """The blocks that decided about a page, to be counted anew when more is known of its site.

    `same`, uint32, and `long` are as in `Pairs`. `alone` are the blocks that are kept without the
    template, and `words` are those of each block that decided, 0 for others. Such a block does not
    count any more when it is in the template in one of the `ways`, in which it was not `then`.
    """

    same: NDArray[np.uint32]
    long: dict[int, int]
    alone: NDArray[np.bool_]
    words: Ints
    ways: int = SHARED
    then: NDArray[np.uint8] | None = None

    def find_ways(self, template: AbstractSet[int]) -> NDArray[np.uint8]:
        """Return for each block in which ways it is in this template."""
        same = self.same.tolist()
        return find_ways(Pairs(same, same, self.long), self.alone, template)

    def count_words(self, template: AbstractSet[int]) -> int:
        """Return the words of the blocks that still count by this template."""
        found = self.find_ways(template) & np.uint8(self.ways)
        if self.then is not None:
            found &= ~self.then
        return int(self.words[found == 0].sum())


def find_templated(
    of: NDArray[np.uint8],
    kept: NDArray[np.bool_],
    linked: Ints,
    sizes: Wide,
    heading: NDArray[np.bool_],
    plain: NDArray[np.bool_],
) -> NDArray[np.bool_] | None:
    """Return which blocks belong to the template; None if all of them do.

    `of` is the result of `find_ways`, `kept` the main text, `linked` and `sizes` the characters of
    each block in links and in all, `heading` the blocks that name the page, `plain` those that may
    be its text: neither hidden nor marked as chrome. Running text that is kept must be among what
    others keep: somebody may repeat another's paragraphs where they count as chrome, in a menu of
    theirs. Pairs from other workers only count if little else is left.

    If too little of the text is the page's own, they only count beside lines of its own, however
    few: then the rest is a note that pages of all names have, and lists of links. The running text
    of what may be another version of a page stays, but not beside a heading and facts of its own.
    Otherwise everything stays.
    """
    if not of.any():
        return of > 0
    running = (sizes >= PROSE) & (linked * 3 < sizes)
    is_linked = 2 * linked >= sizes
    often, sure = (of & OFTEN) > 0, (of & SURE) > 0
    known = np.where(kept, often | ((of & SAME > 0) & ~running), of & (ALIKE | OFTEN) > 0)
    entries = kept & is_linked & (of & LISTED > 0)
    runs = np.cumsum(np.diff(entries, prepend=False))
    is_link = linked >= LINK * sizes
    known |= entries & (is_link | (np.bincount(runs)[runs] >= ENTRIES))
    least = LEAST_OWN * sizes[kept].sum()
    if sizes[kept & ~known & ~sure].sum() > least:
        return known
    lists = known | (of & LISTED > 0)
    menus = lists & find_in_lists(lists, known | is_link, heading, linked, sizes)
    of_site = (known & ~kept) | sure | menus
    own = plain & ~heading & ~is_linked & ~of_site
    if own.any() and (kept & of_site).any():
        return of_site
    spared = known & ~(kept & running)
    if sizes[kept & ~spared].sum() <= least:
        return None
    facts = ~known & ~heading & ~is_linked
    is_another = (heading & ~known).any() and np.count_nonzero(facts) >= FACTS
    return known if is_another else spared


def find_in_lists(
    known: NDArray[np.bool_],
    ends: NDArray[np.bool_],
    heading: NDArray[np.bool_],
    linked: Ints,
    sizes: Wide,
) -> NDArray[np.bool_]:
    """Return which blocks stand in a run of known ones that is mostly links, as a menu is.

    A list begins and ends at one of `ends`, and none crosses the `heading`: lines between heading
    and list may be the page's text.
    """
    runs = np.cumsum(np.diff(known, prepend=False) | heading)
    share = np.bincount(runs, linked) / np.maximum(np.bincount(runs, sizes), 1)
    at, firm = np.arange(known.size), np.flatnonzero(ends)
    first, last = np.full(share.size, known.size), np.full(share.size, -1)
    np.minimum.at(first, runs[firm], firm)
    np.maximum.at(last, runs[firm], firm)
    is_inside = (first[runs] <= at) & (at <= last[runs])
    found: NDArray[np.bool_] = (share[runs] >= LIST_LINKED) & is_inside
    return found
