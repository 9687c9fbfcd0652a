"""What the server says of a page, as the verdicts and records that people read."""

from __future__ import annotations

from datetime import UTC, datetime

from .store.messages import CheckRequest, Evidence, StoredPage
from .store.records import estimate_evidence
from .verdict import Kind, Record, Verdict


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
        first_seen=datetime.fromtimestamp(page.first_seen, UTC),
        last_seen=datetime.fromtimestamp(page.last_seen, UTC),
        words=page.words,
        gone=datetime.fromtimestamp(page.gone, UTC) if page.gone else None,
    )
