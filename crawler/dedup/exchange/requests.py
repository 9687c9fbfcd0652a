"""Requests about pages and URLs, and verdicts from the answers."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ..identity import fetched_url, host
from ..passages import find_containment
from ..preference import criteria_of
from ..ranks import rank_of, within
from ..store.messages import UNANNOUNCED, Answer, CheckRequest, Crawl, Gone, StoredPage
from ..store.records import estimate_similarity
from ..verdict import Containment, Kind, Record, Verdict, time_of

if TYPE_CHECKING:
    from ..config import DedupConfig
    from ..fingerprint import Fingerprint


def verdict_of(
    url: str,
    answer: Answer,
    bits: int,
    *,
    request: CheckRequest | None = None,
    containment: float | None = None,
) -> Verdict:
    """The verdict about the page at `url` from an `answer`; odd sketches have so many `bits`.

    With the `request` of the check and the least share `containment`, the verdict also lists the
    pages that contain the page or are contained in it.
    """
    shares = None
    if request is not None and containment is not None:
        shares = _containment_of(request, answer, containment)
    found = estimate_similarity(answer.standing, answer.evidence, bits)
    return Verdict(
        kind=Kind(answer.kind),
        url=url,
        duplicate_of=answer.duplicate_of,
        similarity=found.similarity if found else None,
        low=found.low if found else None,
        high=found.high if found else None,
        cluster=answer.page,
        standing=Kind(answer.standing),
        replaces=answer.replaces,
        canonical=answer.canonical,
        unconfirmed=answer.unconfirmed,
        **(shares._asdict() if shares is not None else {}),
    )


def _containment_of(request: CheckRequest, answer: Answer, least: float) -> Containment:
    return find_containment(
        request.fingerprint,
        answer.overlapping,
        least,
        url=request.url,
        but=(answer.duplicate_of, answer.replaces),
        on=request.host,
        crawl=request.crawl,
    )


def record_of(page: StoredPage, bits: int) -> Record:
    """What the index knows about a page; odd sketches have so many `bits`."""
    verdict = verdict_of(page.shown_url, page.answer, bits)
    return Record(
        url=verdict.url,
        kind=Kind(page.answer.standing),
        last_verdict=verdict.kind,
        duplicate_of=verdict.duplicate_of,
        similarity=verdict.similarity,
        low=verdict.low,
        high=verdict.high,
        cluster=page.answer.page,
        first_seen=time_of(page.first_seen),
        last_seen=time_of(page.last_seen),
        words=page.words,
        gone=time_of(page.gone) if page.gone else None,
    )


def request_of(
    config: DedupConfig,
    url: str,
    fingerprint: Fingerprint,
    *,
    canonical: str | None = None,
    date: datetime | None = None,
    fields: Mapping[str, Any] | None = None,
    crawl: Crawl | None = None,
    final: Iterable[str] = (),
) -> CheckRequest:
    """The check request of a page.

    The page names the URL `canonical` as canonical, its text is of `date`, and its item has the
    values `fields`. Unconfirmed records of the hosts `final` give way to it.
    """
    known = config.identity(url)
    other = config.identity(canonical) if canonical else known
    values = criteria_of(
        config, url, fingerprint.words, canonical=canonical, date=date, fields=fields
    )
    # As the only criterion, `canonical` lets a page be replaced by the URL that it names alone.
    is_alone = config.prefer == ("canonical",)
    return CheckRequest(
        known,
        host(known),
        make_token(crawl),
        fingerprint,
        canonical=other if other != known else "",
        yields=values.names_other and is_alone,
        rank=b"" if is_alone else rank_of(config.prefer, values),
        crawl=crawl.start if crawl is not None else 0,
        unended=crawl.unended if crawl is not None else b"",
        final=tuple(final),
        fetched=fetched_url(url, known),
    )


def make_token(crawl: Crawl | None) -> bytes:
    """A token for a check, which contains the crawl; see lua/pages.lua."""
    number = secrets.randbelow(UNANNOUNCED.number) if crawl is None else crawl.number
    return number.to_bytes(2) + secrets.randbelow(0xFFFF).to_bytes(2)  # 0xFFFF: contested


def gone_of(config: DedupConfig, url: str, since: float | None) -> Gone:
    """The report that a URL is gone, `since` a time in seconds since 1970, or now."""
    known = config.identity(url)
    return Gone(known, within(time.time() if since is None else since))
