"""All similar pairs of a collection by their exact Jaccard coefficient, with an inverted index.

Sketches estimate nothing and bands miss nothing here, so it is an oracle for tuning both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..sketches.similarity import Estimate
from .clustering import Pair

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..sketches.hashing import ShingleArray

_MOST_AT_ONCE: Final = 1 << 22  # shingles of candidates that are counted in one step
_ROUNDING: Final = 1e-9  # the most by which rounding can lift a product above a whole number


def exact_pairs(
    shingles: Sequence[ShingleArray],
    threshold: float,
    told: Callable[[int], object] = lambda number: None,
) -> Iterator[Pair]:
    """All pairs of texts whose Jaccard coefficient reaches *threshold*, with the coefficient.

    Shingles are ordered, the rarest first. Two sets that are similar enough share one of the first
    |A| - t |A| + 1 of each (Chaudhuri, Ganti and Kaushik 2006, section 4; Bayardo, Ma and Srikant
    2007). Only these are in the inverted index, and the pairs that it finds are counted exactly. So
    time grows with the pairs that share a rare shingle: the lower the threshold, the more.

    Parameters
    ----------
    shingles
        The hashes of each text, sorted and each once. A text without any is in no pair.
    threshold
        Above 0, up to 1.
    told
        Called with the number of each text before it is compared.

    Yields
    ------
    Pair
        In the order of ``second``, then of ``first``, as in :func:`~.clustering.similar_pairs`.

    Notes
    -----
    It takes some 60 bytes of memory for each shingle of the collection while these are ordered,
    and then 4; pairs are not kept.

    Examples
    --------
    >>> a, b, c = (np.array(one, np.uint64) for one in ([1, 2, 3, 4], [1, 2, 3, 4, 5], [4, 5]))
    >>> [(p.first, p.second, p.estimate.similarity) for p in exact_pairs([a, b, c], 0.8)]
    [(0, 1, 0.8)]
    """
    sizes = np.fromiter(map(len, shingles), np.int64, len(shingles))
    ends = np.cumsum(sizes)
    ranks, kinds = _rank_shingles(shingles, ends)
    postings, starts = _index_prefixes(ranks, sizes, ends, threshold, kinds)
    fill = starts[:-1].copy()  # the end of the earlier texts in each list
    own = np.zeros(kinds, np.bool_)
    for number in range(len(shingles)):
        told(number)
        if not sizes[number]:
            continue
        size, end = int(sizes[number]), int(ends[number])
        mine = ranks[end - size : end]
        prefix = mine[: _prefix_size(size, threshold)]
        lists = [postings[starts[rank] : fill[rank]] for rank in prefix.tolist()]
        others = np.unique(np.concatenate(lists))
        others = others[np.minimum(sizes[others], size) >= _least(threshold, sizes[others], size)]
        fill[prefix] += 1
        if not others.size:
            continue
        own[mine] = True
        for some in _split_by_size(others, sizes):
            shared = _count_shared(own, ranks, ends[some] - sizes[some], sizes[some])
            similarity = shared / (sizes[some] + size - shared)
            for place in np.flatnonzero(similarity >= threshold).tolist():
                known = Estimate.certain(float(similarity[place]))
                yield Pair(int(some[place]), number, known)
        own[mine] = False


def _least(threshold: float, sizes: NDArray[np.int64], size: int) -> NDArray[np.float64]:
    """The least number of shingles of the smaller text, if two texts are similar enough."""
    return np.maximum(sizes, size) * (threshold - _ROUNDING)


def _prefix_size(size: Any, threshold: float) -> Any:
    """The length of a text's prefix, in which every similar text has a shingle."""
    shared = np.ceil(size * (threshold - _ROUNDING))  # at the least
    return np.minimum(size - shared + 1, size).astype(np.int64)


def _rank_shingles(
    shingles: Sequence[ShingleArray], ends: NDArray[np.int64]
) -> tuple[NDArray[np.uint32], int]:
    """The ranks of the shingles of all texts, sorted in each text, and the number of ranks.

    The rarest shingle has rank 0.
    """
    if not ends.size or not ends[-1]:
        return np.empty(0, np.uint32), 0
    _, inverse, counts = np.unique(
        np.concatenate(shingles), return_inverse=True, return_counts=True
    )
    by_rarity = np.empty(counts.size, np.uint32)
    by_rarity[np.argsort(counts, kind="stable")] = np.arange(counts.size, dtype=np.uint32)
    ranks = by_rarity[inverse]
    start = 0
    for end in ends.tolist():
        ranks[start:end].sort()
        start = end
    return ranks, counts.size


def _index_prefixes(
    ranks: NDArray[np.uint32],
    sizes: NDArray[np.int64],
    ends: NDArray[np.int64],
    threshold: float,
    kinds: int,
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """The texts that have each rank in their prefix, in one array, and the start of each list."""
    lengths = _prefix_size(sizes, threshold)
    lengths[sizes == 0] = 0
    texts = np.repeat(np.arange(sizes.size, dtype=np.uint32), lengths)
    within = np.arange(texts.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    found = ranks[np.repeat(ends - sizes, lengths) + within]
    order = np.argsort(found, kind="stable")
    starts = np.zeros(kinds + 1, np.int64)
    np.cumsum(np.bincount(found, minlength=kinds), out=starts[1:])
    return texts[order], starts


def _split_by_size(
    texts: NDArray[np.uint32], sizes: NDArray[np.int64]
) -> Iterator[NDArray[np.uint32]]:
    """Split texts into parts with a bounded number of shingles, or of a single text."""
    steps = np.cumsum(sizes[texts]) // _MOST_AT_ONCE
    return iter(np.split(texts, np.flatnonzero(np.diff(steps)) + 1))


def _count_shared(
    own: NDArray[np.bool_],
    ranks: NDArray[np.uint32],
    starts: NDArray[np.int64],
    sizes: NDArray[np.int64],
) -> NDArray[np.int64]:
    """For each text, which begins at its start in `ranks`, the number of shingles in `own`."""
    before = np.cumsum(sizes) - sizes
    places = np.arange(int(sizes.sum())) + np.repeat(starts - before, sizes)
    return np.asarray(np.add.reduceat(own[ranks[places]], before, dtype=np.int64))
