"""Dictionary words that are similar to given ones, found for many words at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from ..errors import MissingExtra
from .shape import code_points, split_batches, strokes_of
from .table import FACTORS, Table, expand_ranges, hashes_of, mark_changes

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The look-up uses only so many first letters; the rest is compared afterwards. SymSpell uses 7;
# here, 8 halves the time for a tenth more memory.
_PREFIX: Final = 8
# A word of at most so many letters is recognised with one error only.
SHORT: Final = 4
# A word of at least so many letters is recognised with three errors, if it shares a form with two
# letters left out with the right word. So no further look-up is needed.
LONG: Final = 8
# Words with two errors are only compared with the most frequent words: rare ones are too unlikely.
FREQUENT: Final = 20_000
# The most words with the same strokes, the most frequent ones; there are up to 160 short ones.
_MOST_OF_STROKES: Final = 8
# Comparing words letter by letter takes the most time. Of words that may be two edits away, only so
# many, the most frequent, are compared: those with up to two letters that only one of the words
# has, and those with more.
MOST_COMPARED: Final = np.array([12, 6])
_FAR: Final = 1 << 31
_29: Final = np.uint64(29)
# Two buckets for each form: few words share a bucket and no form.
_BUCKET_BITS: Final = 20
UNUSED_BITS: Final = np.uint64(64 - _BUCKET_BITS)
BITS_SET: Final = np.array([bin(value).count("1") for value in range(1 << 16)], np.int8)


@dataclass(frozen=True, slots=True)
class Likeness:
    """Pairs of a queried word and a similar dictionary word, int arrays of one length.

    ``asked`` is the index of the queried word, and ``numbers`` the number of the similar word;
    pairs are in this order. ``edits`` is their edit distance in letters (optimal string alignment),
    and ``strokes`` that in strokes, limited to ``edits``.
    """

    asked: NDArray[np.int64]
    numbers: NDArray[np.int64]
    edits: NDArray[np.int64]
    strokes: NDArray[np.int64]


class Nearby:
    """Finds *words* within two edits, long ones within three, and words with the same strokes.

    Garbe's symmetric deletes ("1000x faster spelling correction", 2012): two words within n edits
    have a form with up to n letters left out in common. The forms of all words are hashed
    into buckets; a page's words are looked up together. *words* come with the most frequent first.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self.words = words
        numbers: dict[str, int] = {}
        alike = np.array([numbers.setdefault(form, len(numbers)) for form in strokes_of(words)])
        self.alike = Table(
            np.concatenate([hashes_of(part) for part in split_batches(list(numbers))]),
            np.arange(len(numbers), dtype=np.int32),
        )
        pairs = alike << 32 | np.arange(len(words))
        self.of_strokes = Groups.from_pairs(pairs, len(numbers), _MOST_OF_STROKES)
        self.number_alike = alike.astype(np.int32)
        width = max(map(len, words), default=0)
        self.letters = np.concatenate(
            [letters_of(code_points(part, width)) for part in split_batches(words)]
        )
        self.of_form = {
            1: _of_forms(words, 1, shortest=1),
            2: _of_forms(words[:FREQUENT], 2, shortest=SHORT - 1),
        }

    @cached_property
    def _texts(self) -> NDArray[np.object_]:
        return np.array(self.words, np.object_)

    @cached_property
    def _strokes(self) -> NDArray[np.object_]:
        return np.array(strokes_of(self.words), np.object_)

    def find_nearby(self, words: Sequence[str], most: int | NDArray[np.int64] = 2) -> Likeness:
        """Words similar to each of *words*: up to *most* edits away, or with the same strokes.

        *most* is 1 or 2, for all words or for each. Short words get one edit, long ones three
        instead of two. No word is similar to itself.
        """
        distance, of_pairs = _load_rapidfuzz()
        lengths = np.fromiter(map(len, words), np.int64, len(words))
        edits_of = np.minimum(most, 1 + (lengths > SHORT))
        farthest = edits_of + ((lengths >= LONG) & (edits_of > 1))
        strokes = strokes_of(words)
        own = np.array(strokes, np.object_)
        alike = np.full(len(words), -1)
        self.alike.fill_values(hashes_of(strokes), alike)
        known = np.flatnonzero(alike >= 0)
        asked, number = self.of_strokes.members_of(alike[known])
        found = [known[asked] << 32 | number]
        codes = code_points(words, max(_PREFIX, *map(len, words)))
        letters = letters_of(codes)
        for count, groups in self.of_form.items():
            place = np.flatnonzero(edits_of >= count)
            asked, forms = _list_forms(codes[place, :_PREFIX], count)
            row, number = groups.members_of(forms)
            asked = place[asked[row]]
            # Each edit changes at most two of the letters that only one of the words has.
            differing = self.letters[number] ^ letters[asked]
            apart = BITS_SET[differing & 0xFFFF] + BITS_SET[differing >> 16]
            near = apart <= 2 * count
            pairs, apart = (asked << 32 | number)[near], apart[near]
            found.append(pairs if count == 1 else _most_frequent(pairs, apart > 2))
        pairs = _sorted_set(np.concatenate(found))
        asked, number = pairs >> 32, pairs & 0xFFFFFFFF
        edits = of_pairs(
            np.array(words, np.object_)[asked].tolist(),
            self._texts[number].tolist(),
            scorer=distance,
        )
        same = alike[asked] == self.number_alike[number]
        allowed = np.where(number < FREQUENT, farthest[asked], 1)
        near = ((edits <= allowed) | same) & (edits > 0)
        asked, number, edits, same = asked[near], number[near], edits[near], same[near]
        apart = np.where(same, 0, edits)
        more = np.flatnonzero(apart >= 2)
        of_strokes = of_pairs(
            own[asked[more]].tolist(),
            self._strokes[number[more]].tolist(),
            scorer=distance,
            score_cutoff=2,
        )
        apart[more] = np.minimum(apart[more], of_strokes)
        return Likeness(asked, number, edits, apart)


class Groups(NamedTuple):
    """Numbered groups: group ``g`` has ``numbers[starts[g]:starts[g + 1]]``."""

    starts: NDArray[np.uint32]
    numbers: NDArray[np.uint32]

    @classmethod
    def from_pairs(cls, pairs: NDArray[np.int64], count: int, most: int | None = None) -> Groups:
        """The first *count* groups, from pairs ``group << 32 | number``, up to *most* of each."""
        pairs = _sorted_set(pairs)
        group = pairs >> 32
        if most is not None:
            few = np.arange(len(pairs)) - np.searchsorted(group, group) < most
            pairs, group = pairs[few], group[few]
        starts = np.zeros(count + 1, np.uint32)
        np.cumsum(np.bincount(group, minlength=count), out=starts[1:], dtype=np.uint32)
        return cls(starts, pairs.astype(np.uint32))

    def members_of(self, groups: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The members of *groups*: the index of each one's group in *groups*, and its number."""
        first = self.starts[groups].astype(np.int64)
        counts = self.starts[groups + 1] - first
        place = np.repeat(np.arange(len(groups)), counts)
        return place, self.numbers[expand_ranges(first, counts)].astype(np.int64)


def _most_frequent(pairs: NDArray[np.int64], far: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The most frequent similar words for each queried word, from *far* pairs and from others."""
    pairs = _sorted_set(pairs | far * _FAR)
    group = pairs >> 31
    place = np.arange(len(pairs))
    first = np.maximum.accumulate(place * mark_changes(group))
    found: NDArray[np.int64] = pairs[place - first < MOST_COMPARED[group & 1]]
    return found & ~_FAR


def _sorted_set(values: NDArray[np.int64]) -> NDArray[np.int64]:
    values.sort()
    return values[mark_changes(values)]


def letters_of(codes: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The set of letters of each word, a bit for each letter; letters other than a to z share bits.

    *codes* are code points of shape (words, width), padded with 0.
    """
    bits = np.uint32(1) << (codes & 31)
    bits &= ~np.uint32(1)  # the bit of the padding
    found: NDArray[np.uint32] = np.bitwise_or.reduce(bits, axis=1)
    return found


def _list_forms(
    codes: NDArray[np.uint32], most: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The forms of words with up to *most* letters left out: index of the word, and bucket.

    *codes* are of shape (words, ``_PREFIX``).
    """
    factors, fewest = left_out(most)
    place, form = np.nonzero(np.count_nonzero(codes, axis=1)[:, None] >= fewest)
    hashed = (codes.astype(np.uint64) @ factors)[place, form]
    hashed ^= hashed >> _29
    hashed *= FACTORS[1]
    return place, (hashed >> UNUSED_BITS).astype(np.int64)


@cache
def left_out(most: int) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """For each form, the factors of the letters in its hash, and the fewest letters of its words.

    The shapes are (``_PREFIX``, forms) and (forms,).
    """
    outs = [out for count in range(most + 1) for out in combinations(range(_PREFIX), count)]
    factors = np.zeros((_PREFIX, len(outs)), np.uint64)
    for column, out in enumerate(outs):
        kept = [place for place in range(_PREFIX) if place not in out]
        factors[kept, column] = FACTORS[: len(kept)]
    return factors, np.array([out[-1] + 1 if out else 0 for out in outs])


def _of_forms(words: Sequence[str], most: int, shortest: int) -> Groups:
    """The numbers of the words in each bucket, from *words* with at least *shortest* letters."""
    pairs = []
    before = 0
    for part in split_batches(words):
        place, bucket = _list_forms(code_points(part, _PREFIX), most)
        long = np.array([len(word) >= shortest for word in part])[place]
        pairs.append(bucket[long] << 32 | place[long] + before)
        before += len(part)
    return Groups.from_pairs(np.concatenate(pairs), 1 << _BUCKET_BITS)


@cache
def _load_rapidfuzz() -> tuple[Callable[..., Any], Callable[..., Any]]:
    try:
        from rapidfuzz.distance import OSA
        from rapidfuzz.process import cpdist
    except ImportError as error:
        raise MissingExtra("Correction of words", "typos", error) from error
    return OSA.distance, cpdist
