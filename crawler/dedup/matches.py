"""Pages of an index that a text resembles, found without a check."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from .candidates import BY_KEYS, Evidence, Rule
from .fingerprint import Fingerprint
from .passages import find_containment
from .sketches.similarity import Estimate
from .store.records import Candidates, PageRecord, read_records
from .verdict import Containment, Kind, plain

if TYPE_CHECKING:
    from .config import DedupConfig
    from .store.base import Store

Ask: TypeAlias = Callable[[Callable[[], Awaitable[Candidates]]], Awaitable[Candidates]]

_CERTAIN: Final = Estimate.certain(1.0)


@dataclass(frozen=True, slots=True)
class Match:
    """A page of the index that a text resembles.

    The index stores no sketches of near-duplicates. Their similarity to the text is derived from
    the similarities of both to the original, and the interval covers all possible values.

    Attributes
    ----------
    url
        The page's URL.
    similarity, low, high
        As in a :class:`Verdict`.
    containment
        The share of the text's shingles that the page has, 0 to 1.
    kind
        ``exact`` if the page has the words of the text, else ``near``. With ``DEDUP_CONTAINMENT``
        also ``contains`` and ``contained_in``, for pages of any similarity.
    duplicate_of
        The kept page that stands for it; None if it is kept itself.
    """

    url: str
    similarity: float
    low: float
    high: float
    containment: float
    kind: str
    duplicate_of: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The match as plain values, numbers rounded down to four decimals."""
        return {name: plain(value) for name, value in asdict(self).items()}


class Matcher:
    """Compares a text with pages of an index as :meth:`DuplicateIndex.check` would."""

    def __init__(self, page: Fingerprint, config: DedupConfig, threshold: float | None) -> None:
        self._page = page
        self._rule = Rule.of(config.make_method())
        self._bits = config.sketch_bits
        self._least_share = config.containment
        self._threshold = max(threshold or config.threshold, self._rule.least_similarity)
        self._oldest = 0.0 if config.ttl is None else time.time() - config.ttl
        self._keys = self._keys_of(page.bands)
        self._found: dict[int, tuple[str, Estimate]] = {}  # by number
        self._matches: list[Match] = []

    @property
    def matches(self) -> list[Match]:
        """The pages that the text resembles, most similar first, and exact copies before others."""
        return sorted(self._matches, key=lambda one: (-one.similarity, one.kind is not Kind.EXACT))

    async def read(self, store: Store, ask: Ask, *, copies: bool) -> None:
        """Find the pages of an index; `ask` makes the exchanges."""
        odd_bytes = self._bits // 8
        question = partial(store.find_candidates, self._page, odd_bytes=odd_bytes, copies=copies)
        found = await ask(question)
        self._compare_kept(found.kept)
        self._take_overlapping(found.overlapping)
        for record in found.copies:
            self._take_copy(record)
        if copies and self._found and found.rest is not None:
            async for record in read_records(store, odd_bytes=odd_bytes, skip=found.rest):
                self._take_copy(record)

    def _compare_kept(self, records: Sequence[PageRecord]) -> None:
        for record in self._rank(records):
            estimate, containment = self._compare(record)
            if estimate and estimate.similarity >= self._threshold:
                self._found[record.number] = record.shown_url, estimate
                self._note(record, estimate, containment)

    def _take_overlapping(self, records: Sequence[PageRecord]) -> None:
        """Add the pages that the text contains, or that contain it, unless they match already.

        The similarity is derived from the share of the shorter text and from both word counts.
        """
        if self._least_share is None:
            return
        page, known = self._page, {one.shown_url: one for one in records}
        but = frozenset(one.url for one in self._matches)
        live = [one for one in records if not self._is_out(one)]
        shares = find_containment(page, live, self._least_share, but=but)
        for kind, some in zip(Containment._fields, shares, strict=True):
            for one in some:
                other = known[one.url].words
                shared = one.share * min(page.words, other)
                similarity = shared / (page.words + other - shared)
                values = similarity, 0.0, 1.0, min(1.0, shared / page.words)
                self._matches.append(Match(one.url, *values, kind))

    def _take_copy(self, record: PageRecord) -> None:
        """Add a copy of a known kept page if it may reach the threshold."""
        known = self._found.get(record.representative)
        if known is None or record.number in self._found or self._is_out(record):
            return
        original, estimate = known
        estimate = self._estimate_copy(record, estimate)
        self._found[record.number] = original, estimate
        if estimate.high >= self._threshold:
            sizes = self._page.words, record.words
            self._note(record, estimate, _containment(estimate.similarity, *sizes), original)

    def _is_out(self, record: PageRecord) -> bool:
        return record.last_seen < self._oldest or not self._page.words

    def _rank(self, records: Sequence[PageRecord]) -> list[PageRecord]:
        """Sort kept pages, the most likely originals first, as in similar_pages.lua."""
        keys = {one.number: self._keys_of(one.bands) & self._keys for one in records}
        pages_with = Counter(key for some in keys.values() for key in some)
        weights = {n: sum(1 / pages_with[key] for key in some) for n, some in keys.items()}
        return sorted(
            (one for one in records if not self._is_out(one)),
            key=lambda one: (one.exact != self._page.exact, -weights[one.number], one.number),
        )

    def _keys_of(self, bands: bytes) -> set[tuple[int, bytes]]:
        keys = (bands[at : at + 4] for at in range(0, len(bands), 4))
        return {(0 if self._rule.one_table else n, key) for n, key in enumerate(keys)}

    def _compare(self, record: PageRecord) -> tuple[Estimate | None, float]:
        """The similarity of the text to a kept page, and the share of the text that the page has.

        The similarity is None if the page is not a candidate.
        """
        page, known = self._page, record.fingerprint
        if page.exact == known.exact:
            return _CERTAIN, 1.0
        shared = self._rule.matches(page.bands, known.bands)
        evidence = self._rule.compare(page, known, shared) if shared else None
        if evidence is None:
            return None, 0.0
        estimate = evidence.estimate(self._bits)
        return estimate, self._share_contained(evidence, estimate.similarity, record.words)

    def _share_contained(self, evidence: Evidence, similarity: float, words: int) -> float:
        if evidence.level == BY_KEYS:  # by keys, the similarity is the containment
            return similarity
        if evidence.sampled:
            return _containment(similarity, evidence.sampled, evidence.other_sampled)
        return _containment(similarity, self._page.words, words)

    def _estimate_copy(self, record: PageRecord, ours: Estimate) -> Estimate:
        """The similarity of the text to a copy, from the similarities of both to the original.

        1 - J is a metric, so the triangle inequality gives the bounds. Between them, the two
        differences from the original are assumed to be independent.
        """
        if record.exact == self._page.exact:
            return _CERTAIN
        theirs = record.estimate(self._bits) or _CERTAIN
        a, b = (2 * one.similarity / (1 + one.similarity) for one in (ours, theirs))
        low, high = max(0.0, ours.low + theirs.low - 1), 1.0
        if ours.low > theirs.high or theirs.low > ours.high:
            high = 1 - max(ours.low - theirs.high, theirs.low - ours.high)
        return Estimate(min(max(a * b / (2 - a * b), low), high), low, high)

    def _note(
        self, record: PageRecord, found: Estimate, contained: float, original: str | None = None
    ) -> None:
        kind = Kind.EXACT if record.exact == self._page.exact else Kind.NEAR
        values = found.similarity, found.low, found.high, contained
        self._matches.append(Match(record.shown_url, *values, kind, original))


def _containment(similarity: float, ours: int, theirs: int) -> float:
    """The share of our members that the other set has, from the resemblance and both sizes."""
    return min(1.0, similarity / (1 + similarity) * (ours + theirs) / ours) if ours else similarity
