"""Similar pairs and clusters of a collection, without comparing all pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ..candidates import Rule
from ..sketches.similarity import Estimate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..fingerprint import Fingerprint

# The most representatives that are compared with one text, those in most shared bands first, and
# the most, the latest, that a band keeps. They bound the time for a crafted collection.
_MOST_COMPARED: Final = 24
_MOST_IN_BAND: Final = 256


# The rule of methods with bands.
ANY_KEY: Final = Rule()


class Pair(NamedTuple):
    """Two similar texts by their numbers in the collection, ``first`` below ``second``."""

    first: int
    second: int
    estimate: Estimate


class Member(NamedTuple):
    """A text by its number in the collection, and its similarity to its representative."""

    number: int
    estimate: Estimate


@dataclass(frozen=True, slots=True)
class Cluster:
    """A representative and the texts that it stands for, in the order of the collection."""

    representative: int
    members: list[Member]


def similar_pairs(
    fingerprints: Sequence[Fingerprint], *, threshold: float, bits: int, rule: Rule = ANY_KEY
) -> Iterator[Pair]:
    """All pairs of texts that are candidates and are verified to be similar.

    Time grows with the number of pairs that share a key, not with all pairs. Of the pairs at the
    threshold, bands find the share that :meth:`~.tuning.Choice.share_found` returns. Many equal
    texts have very many pairs.

    Parameters
    ----------
    fingerprints
        Made by one :class:`~.fingerprint.Fingerprinter`, whose configuration has this *threshold*
        and so many *bits* to verify. Texts too short for a shingle are similar if equal.
    rule
        The rule of the configuration's method.

    Yields
    ------
    Pair
        In the order of ``second``, then of ``first``.
    """
    threshold = max(threshold, rule.least_similarity)
    known: dict[int, list[int]] = {}
    for number, groups in enumerate(_list_groups(fingerprints, one_table=rule.one_table)):
        for other in sorted(set(chain.from_iterable(known.get(group, ()) for group in groups))):
            found = _estimate_pair(fingerprints[other], fingerprints[number], rule, bits)
            if found is not None and found.similarity >= threshold:
                yield Pair(other, number, found)
        for group in groups:
            known.setdefault(group, []).append(number)


def cluster_texts(
    fingerprints: Sequence[Fingerprint], *, threshold: float, bits: int, rule: Rule = ANY_KEY
) -> list[Cluster]:
    """Group a collection so that every text is similar to the representative of its cluster.

    Clusters are stars, built in the order of the collection: a text joins the cluster of the most
    similar representative that reaches the threshold, or becomes a representative. It never joins
    for being similar to another member. Single linkage, which allows that, chains: A resembles B, B
    resembles C, and in the end texts that share nothing are in one cluster.

    The Jaccard distance is a metric, so any two members are at least ``2 * threshold - 1`` similar,
    up to the error of the estimates. (Containment, the score of ``modulo``, is no metric: the
    representative contains each member, and members may share nothing.) Complete linkage would
    guarantee the threshold for all members, but needs all pairs. The order is that of arrival, as
    in an index: the representatives are the pages that a crawl in this order keeps.

    Time grows with the number of texts: each is compared with representatives that share a key
    with it, up to 24.

    The parameters are as in :func:`similar_pairs`.

    Returns
    -------
    list of Cluster
        In the order of their representatives; a text without similar ones is a cluster without
        members.

    Examples
    --------
    >>> from ..config import DedupConfig
    >>> from ..fingerprint import Fingerprinter
    >>> texts = ["to be or not to be", "a rose is a rose is a rose", "To be, or not to be?"]
    >>> sketched = list(map(Fingerprinter(DedupConfig(), seed=1), texts))
    >>> for one in cluster_texts(sketched, threshold=0.8, bits=1024):
    ...     print(one.representative, [member.number for member in one.members])
    0 [2]
    1 []
    """
    threshold = max(threshold, rule.least_similarity)
    clusters: dict[int, Cluster] = {}  # by representative
    known: dict[int, list[int]] = {}
    for number, groups in enumerate(_list_groups(fingerprints, one_table=rule.one_table)):
        best: Member | None = None
        for other in _find_candidates(known, groups):
            found = _estimate_pair(fingerprints[other], fingerprints[number], rule, bits)
            if found is None or found.similarity < threshold:
                continue
            if best is None or (-found.similarity, other) < (
                -best.estimate.similarity,
                best.number,
            ):
                best = Member(other, found)
        if best is not None:
            clusters[best.number].members.append(Member(number, best.estimate))
            continue
        clusters[number] = Cluster(number, [])
        for group in groups:
            in_band = known.setdefault(group, [])
            in_band.append(number)
            del in_band[:-_MOST_IN_BAND]
    return list(clusters.values())


def _find_candidates(known: dict[int, list[int]], groups: Iterable[int]) -> list[int]:
    hits = Counter(chain.from_iterable(known.get(group, ()) for group in groups))
    return sorted(hits, key=lambda other: (-hits[other], other))[:_MOST_COMPARED]


def _estimate_pair(known: Fingerprint, new: Fingerprint, rule: Rule, bits: int) -> Estimate | None:
    """The similarity of two texts; None if they are not candidates or cannot be compared."""
    if known.exact == new.exact:
        return Estimate.certain(1.0)
    shared = rule.matches(new.bands, known.bands)
    evidence = rule.compare(new, known, shared) if shared else None
    return evidence.estimate(bits) if evidence else None


def _list_groups(fingerprints: Sequence[Fingerprint], *, one_table: bool) -> Iterator[list[int]]:
    """Yield the groups of each text: all texts with one key, or one exact hash, are a group.

    Groups of a single text are left out. Few groups remain, so callers need no table of all keys.
    """
    if not fingerprints:
        return
    size = len(fingerprints)
    has_words = np.fromiter((one.words > 0 for one in fingerprints), np.bool_, size)
    has_bands = np.fromiter((len(one.bands) > 0 for one in fingerprints), np.bool_, size)
    exact = np.frombuffer(b"".join(one.exact[:8] for one in fingerprints), "<u8")
    columns = [(exact, has_words)]
    keys = np.frombuffer(b"".join(one.bands for one in fingerprints), ">u4")
    if one_table:
        alike, offset = _number_shared(exact, has_words)
        group, _ = _number_shared(keys.astype(np.uint64), np.ones(keys.size, np.bool_))
        ends = np.cumsum([len(one.bands) // 4 for one in fingerprints])
        for one, own in zip(alike.tolist(), np.split(group, ends[:-1]), strict=True):
            yield [*([one] if one >= 0 else []), *(own[own >= 0] + offset).tolist()]
        return
    for band in keys.reshape(max(1, int(has_bands.sum())), -1).T:
        column = np.zeros(size, np.uint64)
        column[has_bands] = band
        columns.append((column, has_bands))
    numbered = []
    offset = 0
    for column, used in columns:
        group, count = _number_shared(column, used)
        numbered.append(np.where(group >= 0, group + offset, -1))
        offset += count
    for row in np.stack(numbered, axis=1):
        yield row[row >= 0].tolist()


def _number_shared(
    column: NDArray[np.uint64], used: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], int]:
    """Number the values that occur at several of the *used* places; -1 at all other places.

    Returns the numbers, shape (places,), and how many different values there are.
    """
    groups = np.full(len(column), -1, np.int64)
    _, inverse, counts = np.unique(column[used], return_inverse=True, return_counts=True)
    several = counts > 1
    groups[used] = np.where(several, np.cumsum(several) - 1, -1)[inverse]
    return groups, int(several.sum())
