"""Pairs of neighbouring blocks: what a site learns of a page, and what that cuts from another.

The beginning of a page and its end are neighbours of its first and last block, so that pair `i` is
of blocks `i - 1` and `i`: else a footer of one block, below another text on each page, would be in
no pair that comes back.

Where it is compiled, `_pairs.pyx` does the same without an object of Python's for each step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from string import ascii_lowercase, ascii_uppercase
from typing import Final, NamedTuple

import numpy as np
import xxhash
from numpy.typing import NDArray

from ..page.blocks import Ints, Wide

EDGE: Final = 1  # in place of a block's hash: the beginning or the end of a page
KEPT: Final = 1 << 32  # in front of a pair's 32 bits: with a block that the page alone keeps
PROSE: Final = 200  # characters
ROWS: Final = 2  # times that chrome comes on a page, as above and below its text
# Of what a page alone would keep, what is its own at least.  With less, it may resemble by 0.8 and
# more one that has but the rest: near-copies do not lose what they have in common.
LEAST_OWN: Final = 0.2
FACTS: Final = 2  # lines besides its heading that make a page another than those with its note

_SMALL: Final = bytes.maketrans(ascii_uppercase.encode(), ascii_lowercase.encode())
_DIGITS: Final = bytes.maketrans(b"0123456789", b"\1" * 10)  # no digit that a text has


class Pairs(NamedTuple):
    """A 32-bit hash for every two neighbouring blocks of a page, where digits do not count, and
    where they do; one list, if there are none.
    """

    alike: list[int]
    same: list[int]


def block_hash(text: str) -> int:
    """Return a stable 64-bit hash of a block; digits, and case within ASCII, do not count.

    >>> block_hash("Seen 1,204 times") == block_hash("seen 9,317 times")
    True
    """
    return xxhash.xxh3_64_intdigest(_small(text).translate(_DIGITS))


def pair_hashes(texts: list[str]) -> Pairs:
    """Return the hashes of every two neighbours, one more than blocks, without case within ASCII.

    Chrome comes back with its neighbours; "Parameters:" comes back on many pages of a manual,
    but between other texts on each.
    """
    # All blocks folded at once, for most are short: no page has zero bytes in its text.
    small = _small("\0".join(texts))
    folded = small.translate(_DIGITS)
    parts = small.split(b"\0") if texts else []
    hashes = list(map(xxhash.xxh3_64_intdigest, parts))
    same = _of_neighbours(hashes)
    if small == folded:
        return Pairs(same, same)
    for i, part in enumerate(folded.split(b"\0")):
        if part != parts[i]:
            hashes[i] = xxhash.xxh3_64_intdigest(part)
    return Pairs(_of_neighbours(hashes), same)


def _small(text: str) -> bytes:
    return text.encode("utf-8", "replace").translate(_SMALL)


def _of_neighbours(numbers: list[int]) -> list[int]:
    hashes = np.array([EDGE, *numbers, EDGE], np.uint64)
    pairs: list[int] = ((hashes[:-1] * 3 + hashes[1:]) >> 16).astype(np.uint32).tolist()
    return pairs


def _sides(of_blocks: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return what holds of the first block of each pair, and of the second."""
    return np.append(False, of_blocks), np.append(of_blocks, False)


def lesson(pairs: Pairs, alone: NDArray[np.bool_]) -> dict[int, bool]:
    """Return what a site learns of a page that alone keeps such blocks: see `MainText.hashes`."""
    alike, same = pairs
    kept = np.logical_or(*_sides(alone))
    cut = np.flatnonzero(~kept).tolist()
    hashes = dict.fromkeys(map(alike.__getitem__, cut), False)
    if same is not alike:
        hashes |= dict.fromkeys(map(same.__getitem__, cut), False)
    for pair, times in Counter(map(same.__getitem__, np.flatnonzero(kept).tolist())).items():
        if times > ROWS:
            hashes.pop(pair, None)
        else:  # if it does so anywhere
            hashes[pair] = True
    return hashes


def count_pairs(
    counts: dict[int, int], pairs: Mapping[int, bool], again: NDArray[np.bool_]
) -> None:
    """Count those pairs of a lesson that came before, which `again` says; the last go to the end.

    What is kept counts by itself, with `KEPT`.
    """
    for (pair, kept), came in zip(pairs.items(), again.tolist(), strict=True):
        key = pair | KEPT if kept else pair
        if key in counts:
            counts[key] = counts.pop(key) + 1
        elif came:  # what it was the first time is not known: that counts as what it is now
            counts[key] = 1 if key ^ KEPT in counts else 2


def templated(
    pairs: Pairs,
    kept: NDArray[np.bool_],
    linked: Ints,
    sizes: Wide,
    heading: NDArray[np.bool_],
    template: AbstractSet[int],
) -> NDArray[np.bool_] | None:
    """Return which blocks stand in a pair of the template; None if they are all there is.

    `kept` are those that the page alone keeps, `linked` and `sizes` the characters that each has
    in links and in all, `heading` those that name the page.  What the page alone keeps must be
    there with the same numbers: tables of values have the same labels on all pages.  Running text
    that it keeps must be among what others keep: somebody may repeat another's paragraphs where
    they count as chrome, in a menu of theirs.  And what it cuts elsewhere is its own where it is
    kept: a chapter lists what its site's menu has as well.  If too little is its own, the running
    text stays, for it is another version of a page; but not beside a heading and facts of its own,
    for then it is a note that nearly all pages have.  Or else all stays.
    """
    alike, same, often = (np.zeros(len(kept), bool) for _ in range(3))
    both, either = np.logical_and(*_sides(kept)), np.logical_or(*_sides(kept))
    menus = set(map(pairs.same.__getitem__, np.flatnonzero(~either).tolist()))
    for i, (pair, itself, main) in enumerate(zip(*pairs, both.tolist(), strict=True)):
        if pair in template:
            alike[max(i - 1, 0) : i + 1] = True
        if itself in template and not (main and itself in menus):
            same[max(i - 1, 0) : i + 1] = True
    for i in np.flatnonzero(either).tolist():
        itself = pairs.same[i]
        if itself | KEPT in template and not (both[i] and itself in menus):
            often[max(i - 1, 0) : i + 1] = True
    running = (sizes >= PROSE) & (linked * 3 < sizes)
    known: NDArray[np.bool_] = often | np.where(kept, same & ~running, alike)
    least = LEAST_OWN * sizes[kept].sum()
    if sizes[kept & ~known].sum() > least:
        return known
    spared = known & ~(kept & running)
    if sizes[kept & ~spared].sum() <= least:
        return None
    facts = ~known & ~heading & (2 * linked < sizes)
    is_another = (heading & ~known).any() and np.count_nonzero(facts) >= FACTS
    return known if is_another else spared


with suppress(ImportError):  # compiled, they do the same in less time
    from ._pairs import count_pairs, lesson, pair_hashes, templated  # noqa: F401
