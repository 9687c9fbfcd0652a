"""Requests that a spool keeps."""

from __future__ import annotations

from crawler.dedup.exchange.spool import Spool
from crawler.dedup.fingerprint import Fingerprint
from crawler.dedup.sketches.odd import OddSketch
from crawler.dedup.store.messages import CheckRequest


def request(number: int) -> CheckRequest:
    page = Fingerprint(b"e" * 12, 7, b"bands...", (OddSketch(1, 300, b"\0\xff" * 64),))
    return CheckRequest(f"http://host/{number}\n\u2028", "host", number.to_bytes(4), page)


def drained(spool: Spool, limit: int = 3) -> list[CheckRequest]:
    return [request for batch in spool.drain(limit) for request in batch]
