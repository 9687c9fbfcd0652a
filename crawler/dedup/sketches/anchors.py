"""Anchors: a few shingles of a text, by which texts that contain each other are found.

In every window of a text's shingles, in the order of the text, the shingle with the smallest hash
is an anchor (winnowing: Schleimer, Wilkerson, Aiken, "Winnowing: local algorithms for document
fingerprinting", 2003). A window within a passage has the same anchor in every text that has the
passage. Each anchor comes with checks: a few bits of the shingles around it, which show how much of
the surroundings another text has.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from math import sqrt
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from .lsh import TABLE_KEY_MASK

if TYPE_CHECKING:
    from .hashing import ShingleArray

SIZE: Final = 5  # words in a shingle, whatever the sketching method compares
LEAST_WORDS: Final = 100  # of a text with anchors: shorter texts occur in too many pages
WINDOW: Final = 146  # shingles of 150 words
TIMES: Final = 11  # a page may be ten times as long as a passage in it, and somewhat longer
STORED_BYTES: Final = 8  # key and checks

# From 18,700 words on, the window is this part of the page, so that no page has more than a few
# hundred anchors.
_MOST_WINDOWS: Final = 128
_MOST: Final = 512
_OCCURRENCES: Final = 16  # of one anchor
_MOST_PLACES: Final = 64  # places from which the occurrences are chosen
_MOST_STORED: Final = 64
_LONGEST: Final = 0xFFFF  # the largest reach in two bytes
_PACKED: Final = struct.Struct(">I4sH")
_STORED: Final = struct.Struct(">I4s")
_OFFSETS: Final = np.array((-72, -52, -34, -16, 16, 34, 52, 72))
_TRIALS: Final = 6  # independent trials that an anchor with its checks counts for
_CHECK_SHIFT: Final = np.uint64(40)  # to bits that are neither in keys nor small in anchors
_VALUES: Final = np.uint64(15)  # of a check; 0 stands for a place outside the text


class ShareEstimate(NamedTuple):
    """An estimate of the share of a text's shingles that another text has.

    Attributes
    ----------
    share
        The estimate, 0 to 1.
    anchors
        The number of anchors, with their checks, that it is estimated from.
    error
        The standard error of the estimate.
    """

    share: float
    anchors: int
    error: float


class Anchor(NamedTuple):
    """A shingle with the smallest hash in a window.

    Attributes
    ----------
    key
        The shingle's table key.
    checks
        Four bits of each of eight shingles around it; 0 outside the text.
    reach
        The size of the largest window in which its hash is the smallest, in shingles.
    """

    key: int
    checks: bytes
    reach: int = 0


def find_anchors(hashes: ShingleArray) -> bytes:
    """The packed anchors of a text, from its shingles in the order of the text.

    A text of less than :data:`LEAST_WORDS` words has none. All anchors are used to look for pages
    that contain the text or are contained in it; an index keeps only :func:`stored_anchors`. A
    shingle that is an anchor at several places is listed for each, with the checks of that place.
    """
    count = len(hashes)
    if count + SIZE - 1 < LEAST_WORDS:
        return b""
    window = min(count, max(WINDOW, count // _MOST_WINDOWS), _LONGEST)
    places = _find_places(hashes, _window_minima(hashes, window))
    reaches = _measure_reaches(hashes[places].tolist(), places, count)
    checks = _read_checks(hashes, np.array(places))
    found: dict[int, list[tuple[bytes, int]]] = {}
    for place, check, reach in zip(places, checks, reaches, strict=True):
        if reach >= window:
            found.setdefault(int(hashes[place]) & TABLE_KEY_MASK, []).append((check, reach))
    packed = [
        _PACKED.pack(key, *one)
        for key, some in found.items()
        for one in sorted(some, key=itemgetter(1), reverse=True)[:_OCCURRENCES]
    ]
    return b"".join(packed[:_MOST])


@lru_cache(maxsize=256)  # each page is compared with several others
def read_anchors(packed: bytes) -> tuple[Anchor, ...]:
    """Unpack the anchors that :func:`find_anchors` has packed."""
    return tuple(Anchor(*one) for one in _PACKED.iter_unpack(packed))


def stored_anchors(packed: bytes, words: int) -> bytes:
    """The anchors that an index keeps for a page of so many words, with their keys and checks.

    They are the anchors for a window of about a tenth of the page.
    """
    found = _of_windows(packed, _window_of(words))[:_MOST_STORED]
    return b"".join(_STORED.pack(one.key, one.checks) for one in found)


def anchor_keys(stored: bytes) -> list[bytes]:
    """The distinct table keys, 4 bytes each, of anchors that an index keeps.

    >>> anchor_keys(b"\\0\\0\\0\\7many")
    [b'\\x00\\x00\\x00\\x07']
    """
    keys = (stored[at : at + 4] for at in range(0, len(stored), STORED_BYTES))
    return list(dict.fromkeys(keys))


def asked_keys(packed: bytes) -> list[bytes]:
    """The distinct table keys, 4 bytes each, of all packed anchors, to look for other pages."""
    return list(dict.fromkeys(one.key.to_bytes(4) for one in read_anchors(packed)))


def are_anchors(packed: bytes) -> bool:
    """Whether bytes from elsewhere are valid packed anchors."""
    if len(packed) % _PACKED.size or len(packed) > _MOST * _PACKED.size:
        return False
    return _are_keys([one.key for one in read_anchors(packed)])


def are_stored(stored: bytes) -> bool:
    """Whether bytes from elsewhere are valid anchors as an index keeps them."""
    if len(stored) % STORED_BYTES or len(stored) > _MOST_STORED * STORED_BYTES:
        return False
    return _are_keys([key for key, _ in _STORED.iter_unpack(stored)])


def _are_keys(keys: list[int]) -> bool:
    """Whether these are valid table keys, with equal ones next to each other."""
    different = sum(1 for _ in groupby(keys))
    return different == len(set(keys)) and max(keys, default=0) <= TABLE_KEY_MASK


def mask_anchors(packed: bytes, mask: int) -> bytes:
    """Packed anchors with their keys XORed with `mask`."""
    return b"".join(
        _PACKED.pack(one.key ^ (mask & TABLE_KEY_MASK), one.checks, one.reach)
        for one in read_anchors(packed)
    )


def share_in_known(packed: bytes, stored: bytes, known_words: int) -> ShareEstimate:
    """Estimate the share of a page's shingles that a known longer page has.

    `stored` are the anchors that the index keeps of that page, which has `known_words` words.
    """
    wanted = [(one.key, one.checks) for one in _of_windows(packed, _window_of(known_words))]
    return _estimate_share(wanted, list(_STORED.iter_unpack(stored)))


def share_of_known(packed: bytes, stored: bytes) -> ShareEstimate:
    """Estimate the share of a known shorter page's shingles that a page with packed anchors has."""
    there = [(one.key, one.checks) for one in read_anchors(packed)]
    return _estimate_share(list(_STORED.iter_unpack(stored)), there)


def _window_of(words: int) -> int:
    """The size of the window for the stored anchors of a page of so many words."""
    return min(max(WINDOW, words // TIMES - SIZE + 1), _LONGEST)


@lru_cache(maxsize=256)  # each page is compared with several others
def _of_windows(packed: bytes, window: int) -> tuple[Anchor, ...]:
    """The anchors for windows of that size."""
    anchors = read_anchors(packed)
    # A text that is shorter than the window has one: its shingle with the smallest hash.
    least = min(window, max((one.reach for one in anchors), default=0))
    return tuple(one for one in anchors if one.reach >= least)


def _estimate_share(
    wanted: Sequence[tuple[int, bytes]], there: Sequence[tuple[int, bytes]]
) -> ShareEstimate:
    """Estimate the share of shingles in another text from the shares of anchors and checks there.

    If the other text has a share c of the shingles, it has the share c of the anchors and c² of the
    checks, because the checks of a missing anchor are missing, too. One in 15 checks is equal by
    chance. If the other text has an anchor at several places, the one with most equal checks
    counts.
    """
    own = {key: around.hex() for key, around in reversed(wanted)}  # the first place of each key
    others: dict[int, list[str]] = {}
    for key, around in there:
        if key in own:
            others.setdefault(key, []).append(around.hex())
    anchors = len(own)
    checks = sum(len(around) - around.count("0") for around in own.values())
    found = len(others) + sum(
        max(sum(a == b != "0" for a, b in zip(own[key], one, strict=True)) for one in some)
        for key, some in others.items()
    )
    share = 0.0
    if found:
        # Solves anchors * c + checks * c² = found.
        share = found / anchors
        if checks:
            share = (sqrt(anchors * anchors + 4 * checks * found) - anchors) / (2 * checks)
    # The error follows from the rule of succession, with fewer trials than there are checks,
    # because the surroundings of an anchor are mostly there, or missing, as a whole.
    mean = (found + 1) / (anchors + checks + 2)
    return ShareEstimate(share, anchors, sqrt(mean * (1 - mean) / (_TRIALS * max(1, anchors))))


def _find_places(hashes: ShingleArray, least: ShingleArray) -> list[int]:
    """The places, in order, of hashes that are a window minimum; the first 64 of equal hashes."""
    changes = np.flatnonzero(least[1:] != least[:-1])
    values = np.unique(least[[*changes, -1]])
    found = np.minimum(np.searchsorted(values, hashes), len(values) - 1)
    places = np.flatnonzero(values[found] == hashes)
    grouped = places[np.argsort(hashes[places], kind="stable")]
    is_early = np.ones(len(grouped), bool)
    is_early[_MOST_PLACES:] = hashes[grouped[_MOST_PLACES:]] != hashes[grouped[:-_MOST_PLACES]]
    early: list[int] = np.sort(grouped[is_early]).tolist()
    return early


def _window_minima(hashes: ShingleArray, window: int) -> ShingleArray:
    """The least hash of each window, in time linear in the number of hashes (van Herk 1992).

    It combines running minima from the start and from the end of blocks as long as a window.
    """
    count = len(hashes)
    blocks = -(-count // window)
    padded = np.full(blocks * window, np.iinfo(np.uint64).max)
    padded[:count] = hashes
    rows = padded.reshape(blocks, window)
    from_start = np.minimum.accumulate(rows, axis=1).ravel()
    from_end = np.minimum.accumulate(rows[:, ::-1], axis=1)[:, ::-1].ravel()
    last = count - window + 1
    return np.minimum(from_end[:last], from_start[window - 1 : count])


def _measure_reaches(values: list[int], places: list[int], count: int) -> list[int]:
    """The size of the largest window in which each value is the first of the least values.

    Only window minima are needed: the next smaller value ends a window, and is a minimum itself.
    """
    ends = [count] * len(values)
    starts = [-1] * len(values)
    open_ones: list[int] = []
    for one, value in enumerate(values):
        while open_ones and values[open_ones[-1]] > value:
            ends[open_ones.pop()] = places[one]
        starts[one] = places[open_ones[-1]] if open_ones else -1
        open_ones.append(one)
    return [min(end - start - 1, _LONGEST) for start, end in zip(starts, ends, strict=True)]


def _read_checks(hashes: ShingleArray, places: np.ndarray) -> list[bytes]:
    """Four bits of each of the eight shingles around each place, two shingles to a byte."""
    around = places[:, None] + _OFFSETS
    is_inside = (around >= 0) & (around < len(hashes))
    bits = (hashes[np.where(is_inside, around, 0)] >> _CHECK_SHIFT) % _VALUES + np.uint64(1)
    nibbles = np.where(is_inside, bits, 0).astype(np.uint8)
    return [row.tobytes() for row in nibbles[:, ::2] << 4 | nibbles[:, 1::2]]
