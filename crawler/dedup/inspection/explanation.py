"""Why a page was decided as it was, and which kept pages resemble it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from ..candidates import Rule
from ..identity import host
from ..passages import find_containment
from ..sketches.similarity import Estimate
from ..verdict import Containment, plain
from .read_records import records_of, to_record

if TYPE_CHECKING:
    from collections.abc import Container

    from ..fingerprint import Fingerprint
    from ..index import DuplicateIndex
    from ..store.records import PageRecord
    from ..verdict import Record

_NEAREST: Final = 5  # pages that are listed


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A kept page that shares its text, or some of its band keys, with another page.

    They share ``shared_bands`` of ``bands`` keys. ``estimate`` is None if they differ too much in
    length for their sketches to be compared.
    """

    page: Record
    estimate: Estimate | None
    shared_bands: int
    bands: int

    @property
    def similarity(self) -> float:
        """The similarity; 0 if unknown."""
        return self.estimate.similarity if self.estimate else 0.0

    def to_dict(self) -> dict[str, Any]:
        """The neighbour as plain values."""
        found = self.estimate
        return {
            "url": self.page.url,
            "cluster": self.page.cluster,
            "similarity": plain(found.similarity) if found else None,
            "low": plain(found.low) if found else None,
            "high": plain(found.high) if found else None,
            "bands_met": self.shared_bands,
            "bands": self.bands,
        }


@dataclass(frozen=True, slots=True)
class Explanation:
    """What the index knows about a page, and why it was decided as it was.

    ``page`` is None for a URL that was never seen. ``original`` is None if the page is not a copy,
    or if its original was forgotten. ``by_text`` compares the given text with the original; None
    without a text, or if the original is no longer kept. ``nearest`` are the most similar other
    kept pages, the most similar first; none for a copy. ``override`` is a person's override,
    ``keep`` or ``drop``. ``shares`` are the pages that the text contains and those that contain it
    now; None without ``DEDUP_CONTAINMENT`` or a text.
    """

    url: str
    page: Record | None
    original: Record | None
    by_text: Neighbour | None
    nearest: list[Neighbour]
    override: str | None
    shares: Containment | None = None


async def explain_decision(
    index: DuplicateIndex, url: str, text: str | None = None, *, scope: str | None = None
) -> Explanation:
    """Explain the current decision about a URL, with the page's `text` if it is given.

    The index stores the keys and the sketch of a kept page, so similar pages are found without its
    text. For a copy or an unknown URL the text is needed. If ``DEDUP_SCOPE`` names a field of
    items, the text is only used with its `scope`.
    """
    known = index.config.identity(url)
    fingerprint = None
    if text is not None and (scope is not None or index.config.scope_field is None):
        fingerprint = index.scoped(index.fingerprint(text), url, scope)
    override = (await index.overrides()).get(known)
    shown = await index.show(url)
    if shown is None:
        near = await find_nearest(index, fingerprint) if fingerprint else []
        copies = [one.page.url for one in near if index.config.threshold <= one.similarity]
        shares = await find_shares(index, fingerprint, known, copies)
        return Explanation(known, None, None, None, near, override, shares)
    shares = await find_shares(index, fingerprint, known, [shown.duplicate_of])
    record = (await records_of(index, [shown.cluster])).get(shown.cluster)
    if record is None:
        return Explanation(shown.url, shown, None, None, [], override, shares)
    if record.url == known:  # a kept page
        near = await find_nearest(index, record.fingerprint, _NEAREST + 1)
        near = [one for one in near if one.page.cluster != record.number][:_NEAREST]
        return Explanation(shown.url, shown, None, None, near, override, shares)
    by_text = (
        _make_neighbour(index, record, fingerprint) if fingerprint and record.is_kept else None
    )
    original = to_record(record, None, None)
    return Explanation(shown.url, shown, original, by_text, [], override, shares)


async def find_shares(
    index: DuplicateIndex, page: Fingerprint | None, known: str, but: Container[str | None]
) -> Containment | None:
    """The kept pages that the page at the URL `known` contains, and those that contain it.

    The URLs in `but` are left out. None without ``DEDUP_CONTAINMENT`` or a fingerprint.
    """
    least = index.config.containment
    if page is None or least is None:
        return None
    odd_bytes = index.config.sketch_bits // 8
    found = (await index.store.find_candidates(page, odd_bytes=odd_bytes)).overlapping
    own = next((one.own for one in found if one.url == known), page.own)
    page = replace(page, own=own)
    return find_containment(page, found, least, url=known, but=but, on=host(known))


async def find_nearest(
    index: DuplicateIndex, fingerprint: Fingerprint, count: int = _NEAREST
) -> list[Neighbour]:
    """The most similar kept pages among those that share a text or a band key with a page."""
    odd_bytes = index.config.sketch_bits // 8
    kept = (await index.store.find_candidates(fingerprint, odd_bytes=odd_bytes)).kept
    found = [_make_neighbour(index, record, fingerprint) for record in kept]
    found.sort(key=lambda one: (-one.similarity, -one.shared_bands))
    return found[:count]


def _make_neighbour(
    index: DuplicateIndex, record: PageRecord, fingerprint: Fingerprint
) -> Neighbour:
    rule = Rule.of(index.config.make_method())._replace(min_matches=1)
    known, estimate = record.fingerprint, None
    shared = rule.matches(fingerprint.bands, known.bands)
    if known.exact == fingerprint.exact:
        estimate = Estimate.certain(1.0)
    elif evidence := rule.compare(fingerprint, known, shared):
        estimate = evidence.estimate(index.config.sketch_bits)
    return Neighbour(to_record(record, None, None), estimate, shared, len(fingerprint.bands) // 4)
