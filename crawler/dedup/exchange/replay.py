"""Replay: send the requests in the spool again."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import closing
from itertools import groupby

from ..store.cluster.spread_index import SpreadIndex
from ..store.messages import Answer, CheckRequest, Gone
from ..store.single import SingleIndex
from ..tasks import gather_all
from .spool import Spool


async def replay_spool(
    spool: Spool,
    store: SingleIndex | SpreadIndex,
    told: Callable[[str], object],
) -> AsyncGenerator[tuple[CheckRequest, Answer]]:
    """Report gone URLs and check pages from the spool, in order; yield the answers.

    Pages count as seen when they were spooled. `told` is called with each reported URL, whether the
    index knows it or not.
    """
    with closing(spool.drain(store.exchange)) as batches:
        for batch in batches:
            for _, group in groupby(batch, key=type):  # runs of one kind, in order
                run = list(group)
                reports = [one for one in run if isinstance(one, Gone)]
                if reports:
                    await store.gone(reports)
                    for report in reports:
                        told(report.url)
                requests = [one for one in run if isinstance(one, CheckRequest)]
                past = await gather_all(*(_is_past(store, one) for one in requests))
                requests = [one for one, is_past in zip(requests, past, strict=True) if not is_past]
                answers = await store.check(requests) if requests else []
                for answer in zip(requests, answers, strict=True):
                    yield answer


async def _is_past(store: SingleIndex | SpreadIndex, request: CheckRequest) -> bool:
    """Whether the page was seen with another text since the request was spooled."""
    page = await store.show(request.url) if request.since else None
    if page is None or page.exact == request.fingerprint.exact:
        return False
    return request.since < page.last_seen
