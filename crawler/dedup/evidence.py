"""What the server says of a page, as the verdicts and records that people read."""

from __future__ import annotations

from .store.messages import CheckRequest, Evidence, StoredPage
from .store.records import estimate_evidence
from .verdict import Kind, Record, Verdict, time_of


def verdict_of(
    url: str, evidence: Evidence, bits: int, *, request: CheckRequest | None = None
) -> Verdict:
    """The verdict that `evidence` is of the page at `url`, with odd sketches of so many `bits`.

    `request` is the check that it answers, if it is of one.
    """
    found = estimate_evidence(evidence, bits)
    return Verdict(
        kind=Kind(evidence.kind),
        url=url,
        duplicate_of=evidence.duplicate_of,
        similarity=found.similarity if found else None,
        low=found.low if found else None,
        high=found.high if found else None,
        cluster=evidence.page,
        standing=Kind(evidence.standing),
        replaces=evidence.replaces,
        canonical=request.canonical if request and evidence.canonical_known else None,
    )


def record_of(url: str, page: StoredPage, bits: int) -> Record:
    """What the index knows of the page at `url`, with odd sketches of so many `bits`."""
    verdict = verdict_of(url, page.evidence, bits)
    return Record(
        url=url,
        kind=Kind(page.evidence.standing),
        last_verdict=verdict.kind,
        duplicate_of=verdict.duplicate_of,
        similarity=verdict.similarity,
        low=verdict.low,
        high=verdict.high,
        cluster=page.evidence.page,
        first_seen=time_of(page.first_seen),
        last_seen=time_of(page.last_seen),
        words=page.words,
        gone=time_of(page.gone) if page.gone else None,
    )
