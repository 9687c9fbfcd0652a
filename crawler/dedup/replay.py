"""What was kept for later, asked again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import closing

from .spool import Spool
from .store.redis_index import CheckRequest, Evidence, Gone, RedisIndex
from .store.spread_index import SpreadIndex


async def replayed(
    spool: Spool,
    store: RedisIndex | SpreadIndex,
    check: Callable[[list[CheckRequest]], Awaitable[list[Evidence]]],
    told: Callable[[str], object],
) -> AsyncGenerator[tuple[CheckRequest, Evidence]]:
    """Report what is gone and check the pages that the spool keeps, and yield these answers.

    `told` is called with each address that was reported, whether the index knows it or not.
    """
    answered: set[int] = set()  # hashes of addresses and texts: there may be very many
    with closing(spool.drain(store.exchange)) as batches:
        for batch in batches:
            reports = [one for one in batch if isinstance(one, Gone)]
            if reports:
                await store.gone(reports)
                for report in reports:
                    told(report.url)
            requests = [one for one in batch if isinstance(one, CheckRequest)]
            past = await asyncio.gather(*(_is_past(store, one, answered) for one in requests))
            requests = [one for one, is_past in zip(requests, past, strict=True) if not is_past]
            answers = await check(requests) if requests else []
            answered |= {hash((one.url, one.fingerprint.exact)) for one in requests}
            for answer in zip(requests, answers, strict=True):
                yield answer


async def _is_past(
    store: RedisIndex | SpreadIndex, request: CheckRequest, answered: set[int]
) -> bool:
    """Whether the page was seen with another text since the request was kept; not with one that
    this replay `answered` itself, for that is of an earlier line.
    """
    page = await store.show(request.url) if request.since else None
    if page is None or page.exact == request.fingerprint.exact:
        return False
    return request.since < page.last_seen and hash((request.url, page.exact)) not in answered
