"""Why a page was decided about as it was, and which kept pages are like it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..candidates import Rule
from ..sketches.similarity import Estimate
from ..verdict import plain
from .read_records import records_of, to_record

if TYPE_CHECKING:
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
    ``override`` is what somebody said shall become of the page: ``keep`` or ``drop``.
    """

    url: str
    page: Record | None
    original: Record | None
    met: Neighbour | None
    nearest: list[Neighbour]
    override: str | None


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
        return Explanation(known, None, None, None, near, override)
    record = (await records_of(index, [shown.cluster])).get(shown.cluster)
    if record is None:
        return Explanation(known, shown, None, None, [], override)
    if record.url == known:  # a kept page
        near = await find_nearest(index, record.fingerprint, count + 1)
        near = [one for one in near if one.page.url != known][:count]
        return Explanation(known, shown, None, None, near, override)
    met = _make_neighbour(index, record, fingerprint) if fingerprint and record.is_kept else None
    return Explanation(known, shown, to_record(record, None, None), met, [], override)


async def find_nearest(
    index: DuplicateIndex, fingerprint: Fingerprint, count: int = 5
) -> list[Neighbour]:
    """The kept pages that are most like a page and share its text or a band with it."""
    odd_bytes = index.config.sketch_bits // 8
    kept = (await index.store.find_candidates(fingerprint, odd_bytes=odd_bytes)).kept
    found = [_make_neighbour(index, record, fingerprint) for record in kept]
    found.sort(key=lambda one: (-(one.estimate.similarity if one.estimate else 0.0), -one.met))
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
