"""Which pages are candidates, and how they are compared, in an index and in a collection."""

from __future__ import annotations

from bisect import bisect_left
from operator import eq
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from .sketches.odd import estimate_odd, measure_difference
from .sketches.samples import FEWEST
from .sketches.similarity import Estimate

if TYPE_CHECKING:
    from .fingerprint import Fingerprint
    from .sketches import Method

# Value of `level` for evidence from keys: of the `sampled` keys, `odd_bits` are shared.
BY_KEYS: Final = 255

# As in similarity.lua. From _CERTAIN keys on, keys are all small by the design of
# ModuloSample, not by chance. A comparison needs FEWEST keys, or all keys of the page.
_CERTAIN: Final = 16
# As in store/lua/stored_pages.lua and check.lua.
FEW: Final = 12  # own words, in units of four: with fewer, a page's heading decides
FEW_ON_HOST: Final = 16  # the same for two pages of one host
LEARNT: Final = 8  # texts from which a template is learnt well
SLACK: Final = 0.1  # by which a copy compared again may be below the threshold


class Evidence(NamedTuple):
    """The stored evidence for the similarity of a page to a kept one.

    ``odd_bits`` is the number of bits in which the two odd sketches differ, or 2 if only the keys
    differ. ``sampled`` and ``other_sampled`` count the shingles of the two pages that are sampled
    at ``level``. At :data:`BY_KEYS` they count keys, and ``odd_bits`` is the number of shared keys.
    """

    odd_bits: int
    level: int
    sampled: int
    other_sampled: int

    def estimate(self, bits: int) -> Estimate:
        """The similarity; `bits` is the length of the odd sketches."""
        if self.level == BY_KEYS:
            return Estimate.of_proportion(self.odd_bits, self.sampled)
        return estimate_odd(self.odd_bits, self.sampled, self.other_sampled, self.level, bits=bits)


def is_distinct(page: Fingerprint, known: Fingerprint, *, one_host: bool) -> bool:
    """Whether different headings rule out that two pages are copies, however similar their texts.

    They do if one of the pages has few words of its own. On one host the limit is higher, and they
    also do while the template is hardly known: the shared text may then be the template. If the
    words are equal, it is enough that one page knows the template: a heading may be another one
    once that is known. As in store/lua/stored_pages.lua.

    >>> from .fingerprint import Fingerprint
    >>> red, blue = (Fingerprint(b"", 300, own=bytes([0, n, 14, 9])) for n in (1, 2))
    >>> is_distinct(red, blue, one_host=True), is_distinct(red, blue, one_host=False)
    (True, False)
    """
    (heading, words, learnt), (other, other_words, other_learnt) = (
        (one.own[:2], *one.own[2:]) for one in (page, known)
    )
    if heading == other or not any(heading) or not any(other):
        return False
    words = min(words, other_words)
    known_from = max if page.exact == known.exact else min
    is_hardly_known = words < FEW_ON_HOST or known_from(learnt, other_learnt) < LEARNT
    return words < FEW or (one_host and is_hardly_known)


class Rule(NamedTuple):
    """Which pages are candidates, and how they are compared.

    Candidates share `min_matches` keys, or all keys of a page that has fewer. Key i is only
    compared with key i of the other page, unless all are in `one_table`. Candidates are compared by
    their odd sketches, or with `by_keys` by the share of the page's keys that the candidate has.
    Copies reach the threshold, and at least `least_similarity`.

    >>> four, three = (b"".join(n.to_bytes(4) for n in keys) for keys in ((1, 2, 3, 4), (2, 3, 9)))
    >>> Rule(2).matches(four, three), Rule(2, one_table=True).matches(four, three)
    (0, 2)
    """

    min_matches: int = 1
    by_keys: bool = False
    one_table: bool = False
    least_similarity: float = 0.0

    @classmethod
    def of(cls, method: Method) -> Self:
        """The rule of a sketching method."""
        is_one = method.tables is None
        return cls(method.min_matches, method.by_keys, is_one, method.least_similarity)

    @staticmethod
    def comparable(ours: bytes, theirs: bytes) -> int:
        """How many of our keys the other page could have; 0 if too few to compare.

        A page of very many shingles only has small keys, see :class:`~.sketches.ModuloSample`. Keys
        in one table are sorted, as in :class:`~.fingerprint.Fingerprint`.

        >>> low, high = (b"".join((n << 20).to_bytes(4) for n in keys) for keys in
        ...              (range(1, 30), range(1, 120, 4)))
        >>> Rule.comparable(low, high), Rule.comparable(high, low), Rule.comparable(high, high)
        (29, 8, 30)
        """
        count = len(ours) // 4
        if len(theirs) < 4 * _CERTAIN:
            return count
        limit = 1 << int.from_bytes(theirs[-4:]).bit_length()
        keys = range(0, len(ours), 4)
        found = bisect_left(keys, limit, key=lambda at: int.from_bytes(ours[at : at + 4]))
        return found if found == count or found >= FEWEST else 0

    def matches(self, ours: bytes, theirs: bytes) -> int:
        """The number of 4-byte keys that two pages share; 0 if too few for candidates."""
        a, b = memoryview(ours).cast("I"), memoryview(theirs).cast("I")
        shared = len(set(a) & set(b)) if self.one_table else sum(map(eq, a, b))
        return shared if shared >= min(self.min_matches, len(a), len(b)) else 0

    def compare(self, page: Fingerprint, known: Fingerprint, shared: int) -> Evidence | None:
        """The evidence for how similar a page is to a kept page with other words.

        `shared` is the number of keys that both have. None if the kept page has no sketch, if the
        pages differ too much in length, or if too few keys can be compared.
        """
        if not known.odd:
            return None
        kept = known.odd[0]
        if self.by_keys:
            available = self.comparable(page.bands, known.bands)
            return Evidence(shared, BY_KEYS, available, kept.members) if available else None
        # Equal sets have equal keys.
        found = measure_difference(kept, page.odd, differ=page.bands != known.bands)
        return Evidence(found[0], kept.level, found[1], kept.members) if found else None
