"""Pages and addresses as the server is asked about them; evidence.py has what it says."""

from __future__ import annotations

import secrets
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from .identity import host
from .store.messages import CheckRequest, Gone

if TYPE_CHECKING:
    from .config import DedupConfig
    from .fingerprint import Fingerprint


def request_of(
    config: DedupConfig,
    url: str,
    fingerprint: Fingerprint,
    *,
    canonical: str | None = None,
    date: datetime | None = None,
) -> CheckRequest:
    """The check of a page, which names the URL `canonical` as such and whose text is of `date`."""
    known = config.identity(url)
    other = config.identity(canonical) if canonical else known
    by_date = date is not None and "earlier" in config.prefer
    return CheckRequest(
        known,
        host(known),
        secrets.token_bytes(4),
        fingerprint,
        canonical=other if other != known else "",
        yields=other != known and "canonical" in config.prefer,
        date=_seconds(date) if date and by_date else 0,
    )


def gone_of(config: DedupConfig, url: str, since: float | None) -> Gone:
    """The report that a URL is gone, `since` so many seconds after 1970 if not now."""
    known = config.identity(url)
    return Gone(known, _within(time.time() if since is None else since))


def _seconds(date: datetime) -> int:
    """A date as the index stores it."""
    try:
        seconds = date.timestamp()
    except (OverflowError, ValueError, OSError):  # local time knows no date before the year 1
        seconds = date.replace(tzinfo=UTC).timestamp()
    return _within(seconds)


def _within(seconds: float) -> int:
    """The nearest time that four bytes hold, of which 0 stands for none."""
    return min(max(1, int(seconds)), 0xFFFFFFFF)
