"""Why a page was decided as it was, and which kept pages resemble it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

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


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A kept page that shares a text or band keys with another: ``met`` of the ``bands`` keys.

    ``estimate`` is None where the two differ so much in length that their sketches do not compare.
    """

    page: Record
    estimate: Estimate | None
    met: int
    bands: int

    @property
    def similarity(self) -> float:
        """The similarity, 0 where it is not known."""
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
            "bands_met": self.met,
            "bands": self.bands,
        }


@dataclass(frozen=True, slots=True)
class Explanation:
    """What the index knows of a page.

    ``page`` is None for a URL that was never seen, ``original`` where it is no copy or its original
    was forgotten. ``met`` is what the page's text of today and its original share, None where that
    is kept no more; ``nearest`` are other kept pages that are like it, the most similar first.
    ``override`` is what somebody said shall become of the page: ``keep`` or ``drop``. ``shares``
    are the pages that its text contains and those that contain it, as of now; None without
    ``DEDUP_CONTAINMENT`` or its text.
    """

    url: str
    page: Record | None
    original: Record | None
    met: Neighbour | None
    nearest: list[Neighbour]
    override: str | None
    shares: Containment | None = None


async def explain_decision(
    index: DuplicateIndex,
    url: str,
    text: str | None = None,
    *,
    count: int = 5,
    scope: str | None = None,
) -> Explanation:
    """Explain the decision that stands for a URL, with the help of the page's `text` if there is.

    Of a kept page the keys and the sketch are stored, so that those near it are found without its
    text; of a copy they are not, and of a URL never seen there is nothing. Where ``DEDUP_SCOPE``
    names a field of items, a text says nothing without its `scope`.
    """
    known = index.config.identity(url)
    fingerprint = None
    if text is not None and (scope is not None or index.config.scope_field is None):
        fingerprint = index.scoped(index.fingerprint(text), url, scope)
    override = (await index.overrides()).get(known)
    shown = await index.show(url)
    if shown is None:
        near = await find_nearest(index, fingerprint, count) if fingerprint else []
        copies = [one.page.url for one in near if index.config.threshold <= one.similarity]
        shares = await find_shares(index, fingerprint, known, copies)
        return Explanation(known, None, None, None, near, override, shares)
    shares = await find_shares(index, fingerprint, known, [shown.duplicate_of])
    record = (await records_of(index, [shown.cluster])).get(shown.cluster)
    if record is None:
        return Explanation(known, shown, None, None, [], override, shares)
    if record.url == known:  # a kept page
        near = await find_nearest(index, record.fingerprint, count + 1)
        near = [one for one in near if one.page.url != known][:count]
        return Explanation(known, shown, None, None, near, override, shares)
    met = _make_neighbour(index, record, fingerprint) if fingerprint and record.is_kept else None
    original = to_record(record, None, None)
    return Explanation(known, shown, original, met, [], override, shares)


async def find_shares(
    index: DuplicateIndex, page: Fingerprint | None, known: str, but: Container[str | None]
) -> Containment | None:
    """The kept pages that the page at the URL `known` contains, and those that contain it, beside
    those at the URLs `but`; None without ``DEDUP_CONTAINMENT`` or the fingerprint of its text.
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
    index: DuplicateIndex, fingerprint: Fingerprint, count: int = 5
) -> list[Neighbour]:
    """The kept pages that resemble a page most and share its text or a band with it."""
    odd_bytes = index.config.sketch_bits // 8
    kept = (await index.store.find_candidates(fingerprint, odd_bytes=odd_bytes)).kept
    found = [_make_neighbour(index, record, fingerprint) for record in kept]
    found.sort(key=lambda one: (-one.similarity, -one.met))
    return found[:count]


def _make_neighbour(
    index: DuplicateIndex, record: PageRecord, fingerprint: Fingerprint
) -> Neighbour:
    rule = Rule.of(index.config.make_method())._replace(min_matches=1)
    known, estimate = record.fingerprint, None
    met = rule.matches(fingerprint.bands, known.bands)
    if known.exact == fingerprint.exact:
        estimate = Estimate.certain(1.0)
    elif grounds := rule.compare(fingerprint, known, met):
        estimate = grounds.estimate(index.config.sketch_bits)
    return Neighbour(to_record(record, None, None), estimate, met, len(fingerprint.bands) // 4)
