"""The index spread over the nodes of a cluster.

docs/research/cluster-protocol.md explains the protocol and why it is correct.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from typing import Any

from redis.asyncio import RedisCluster

from ...candidates import Rule
from ...fingerprint import Fingerprint
from ...sketches.anchors import anchor_keys
from ...tasks import gather_all
from ...verdict import COPIES
from ..base import Store
from ..layout import Entry
from ..messages import (
    Answer,
    CheckRequest,
    Crawl,
    Forget,
    Gone,
    Original,
    StoredPage,
    pack_forget,
    pack_gone,
    unpack_answer,
)
from ..namespaces import slots_at_rest
from ..parameters import Parameters
from ..records import Candidates, PageRecord
from ..scripts import load_script
from ..server.faults import explain_faults
from .attempts import AskedPage, Attempt
from .claims import ShardKey
from .overlap import SpreadOverlap
from .pages import PageView, Spread, read_found
from .shards import Call, Shards, Terms
from .slot import head_keys, try_again

_LEASE = 0.5  # share of the timeout: a check that waits for a dead worker has the rest to decide
_TABLES = {b"e": "exact", b"b": "band", b"a": "anchor"}


class SpreadIndex(SpreadOverlap, Store):
    """The tables and records of one namespace, in shards on the nodes of a cluster.

    Each page is checked by itself; pages that come together share exchanges. The work after a
    verdict is done in the background, see :meth:`finish_background`.
    """

    exchange = 128  # pages that begin together: the more, the fewer runs of scripts for each

    def __init__(
        self,
        client: RedisCluster,
        namespace: str,
        parameters: Mapping[str, Any],
        rule: Rule,
        *,
        threshold: float,
        bits: int,
        ttl: float | None,
        timeout: float,
        shards: int,
        secret: int | None = None,
    ) -> None:
        agreed = Parameters(namespace, {**parameters, "shards": shards}, secret=secret)
        terms = Terms(ttl, timeout * _LEASE, bits // 8)
        parts = Shards(client, namespace, shards, terms, timeout=timeout)
        spread = Spread(shards, rule.one_table, "containment" in parameters)
        least = max(threshold, rule.least_similarity)
        SpreadOverlap.__init__(
            self, parts, terms, spread, rule, agreed, threshold=least, timeout=timeout
        )
        Store.__init__(self, client, namespace, parts.keys, head_keys(namespace), agreed)

    async def open(self, *, make: bool = True) -> dict[str, str]:
        """Make the index, or check that an existing one has these parameters; return them.

        Without `make`, a missing index is read as an empty one. Raises :class:`ParameterMismatch`,
        which names the differences, and :class:`ServerError`.
        """
        text = load_script("open").text
        with explain_faults():
            asked = self.parameters.flat if make else []
            listing = await self._client.eval(text, 1, self.head.params, *asked)
            if self.parameters.takes_over(listing):
                listing = await self._take_over()
            found = self.parameters.adopt_parameters(listing)
            if not listing:
                return found
            pipe: Any = self._client.pipeline()
            for keys in self._shards.keys:
                pipe.eval(text, 1, keys.params, *self.parameters.flat)
            for listing in await pipe.execute():
                self.parameters.adopt_parameters(listing)
        self._shards.digest = self.parameters.digest
        return found

    async def _take_over(self) -> Any:
        """Take over an index of an earlier format, its head last."""
        text = load_script("take_over").text
        for keys in (*self._shards.keys, self.head):
            listing = await self._client.eval(text, 1, keys.params, *self.parameters.taking_over)
        return listing

    async def start(
        self, requests: Sequence[CheckRequest]
    ) -> list[Answer | asyncio.Future[Answer]]:
        """Begin to check pages in order; returns answers, or futures of answers.

        Raises :class:`ServerError` if no check could be begun.
        """
        await self._wait_for_room()
        self._begin_care(len(requests))
        deadline = asyncio.get_running_loop().time() + self._timeout
        born, home = time.time_ns() // 1000, self._spread.shard_of
        attempts = [
            Attempt(
                AskedPage(
                    request,
                    shard=home(request.url),
                    url_key=self.url_key(request.url),
                    born=(born + n).to_bytes(8),
                    deadline=deadline,
                )
            )
            for n, request in enumerate(requests)
        ]
        await self._begin_attempts(attempts)
        errors = [attempt.error for attempt in attempts if attempt.error is not None]
        if errors and len(errors) == len(attempts):
            raise errors[0]
        await self._settle_alone(attempts)
        answers = [
            attempt.answer
            or self._answer_unchanged(attempt)
            or self._begin_check(self._conclude_attempt(attempt))
            for attempt in attempts
        ]
        return [
            self._begin_check(self._with_overlapping(request, answer))
            if request.fingerprint.anchors
            else answer
            for request, answer in zip(requests, answers, strict=True)
        ]

    async def check(self, requests: Sequence[CheckRequest]) -> list[Answer]:
        """Check pages, in order."""
        answers = await self.start(requests)
        coming = [one for one in answers if isinstance(one, asyncio.Future)]
        found = iter(await gather_all(*coming))
        return [one if isinstance(one, Answer) else next(found) for one in answers]

    async def show(self, url: str) -> StoredPage | None:
        """What the index knows about a URL; None if it never saw it."""
        if not self._shards.digest:
            return None
        shard = self._spread.shard_of(url)
        reply = await self._ask_one(Call("find", shard, self.url_key(url) + url.encode()))
        found = read_found(reply)
        if found is None:
            return None
        answer = self._read_answer(shard, found.answer)
        if answer.standing in COPIES:
            view = (await self._view_pages([answer.page]))[answer.page]
            stands = view.state == b"k"
            answer = answer._replace(duplicate_of=view.shown_url if stands else None)
        return StoredPage(
            answer,
            found.shown_url,
            found.first_seen,
            found.last_seen,
            found.words,
            found.gone,
            found.exact,
        )

    async def gone(self, reports: Sequence[Gone]) -> list[bool]:
        """See :meth:`SingleIndex.gone`."""
        if not self._shards.digest:
            return [False] * len(reports)
        calls = [
            Call(
                "vanish",
                self._spread.shard_of(report.url),
                pack_gone(report, self.url_key(report.url)),
            )
            for report in reports
        ]
        return [bool(known) for known in await self._ask_all(calls)]

    async def forget(self, requests: Sequence[Forget]) -> list[bool]:
        """See :meth:`SingleIndex.forget`."""
        if not self._shards.digest:
            return [False] * len(requests)
        shards = [self._spread.shard_of(request.url) for request in requests]
        calls = [
            Call("bury", shard, pack_forget(request, self.url_key(request.url)))
            for shard, request in zip(shards, requests, strict=True)
        ]
        replies = await self._ask_all(calls)
        await gather_all(*map(self._drop_buried, shards, replies))
        return [bool(reply) for reply in replies]

    async def begin_crawl(self, name: str = "") -> Crawl:
        """See :meth:`SingleIndex.begin_crawl`: it begins later than the clocks of all shards."""
        latest = max(await self._read_clocks(0))
        crawl = Crawl(*await self._eval_crawl(0, "begin", latest, name, "", self._entry))
        await self._read_clocks(crawl.start)
        return self._note_entry(crawl)

    async def _read_clocks(self, least: int) -> list[int]:
        """The earliest start of a crawl by each shard's clock; clocks advance to `least`."""
        shards = range(len(self._shards.keys))
        asked = (self._eval_crawl(n, "clock", least) for n in shards)
        found: list[int] = await gather_all(*asked)
        return found

    async def _eval_crawl(self, shard: int, *arguments: Any) -> Any:
        text, keys = load_script("crawl").text, self._shards.keys[shard]
        words = keys.params, keys.guard, self.parameters.digest, int(time.time()), *arguments
        run = partial(self._client.eval, text, 2, *words)
        return await try_again(self._client, keys.params, run, self._timeout)

    async def originals(self, urls: Sequence[str], start: int) -> list[Original]:
        """See :meth:`SingleIndex.originals`."""
        homes = [self._spread.shard_of(url) for url in urls]
        calls = [
            Call("find", home, self.url_key(url) + url.encode())
            for home, url in zip(homes, urls, strict=True)
        ]
        pages: list[int] = []  # the original of each URL; 0: not known, -1: the URL is kept
        for reply in await self._ask_all(calls):
            found = read_found(reply)
            answer = unpack_answer(found.answer) if found else None
            is_copy = answer is not None and answer.standing in COPIES
            pages.append(answer.page if answer and is_copy else -bool(answer))
        views = await self._view_pages(sorted({page for page in pages if page > 0}))
        return [_read_original(page, views.get(page), start) for page in pages]

    def shard_of(self, url: str) -> int:
        return self._spread.shard_of(url)

    def list_tables(self, bands: int) -> list[tuple[str, str]]:
        found = [("url", "url"), ("exact", "exact"), ("band", "band")]
        return [*found, ("anchor", "anchor")] if self.has_anchors else found

    def list_entries(
        self, shard: int, page: PageRecord | Fingerprint, number: int = 0
    ) -> list[Entry]:
        number = self.global_number(shard, number)
        places = self._spread.find_places(page.exact, page.words, page.bands)
        places += self._spread.find_anchor_places(anchor_keys(page.anchors))
        return [_make_entry(place, number) for place in places]

    async def find_candidates(
        self, page: Fingerprint, *, odd_bytes: int, copies: bool = False
    ) -> Candidates:
        found = await super().find_candidates(page, odd_bytes=odd_bytes, copies=copies)
        return found._replace(overlapping=await self._find_overlapping(page))

    async def claimed_entries(self) -> list[Entry]:
        if not self._shards.digest:
            return []
        return [_make_entry(place, number) for number, place in await self._finish_dead()]

    async def read_states(self) -> list[dict[str, int]]:
        await self.finish_background()
        return await super().read_states()

    async def _names(self, pattern: str) -> AsyncIterator[str]:
        async with slots_at_rest(self._client):
            async for name in super()._names(pattern):
                yield name

    async def read_counters(self) -> dict[str, dict[str, str]]:
        await self.finish_background()
        return await super().read_counters()


def _read_original(page: int, view: PageView | None, start: int) -> Original:
    """The state of the original of a URL; 0 for an unknown URL, -1 for a kept one."""
    if view is None:
        return Original("confirmed" if page else "lost")
    if view.state != b"k" or view.gone:
        return Original("lost")
    if view.last_seen < start:
        return Original("unconfirmed", view.url)
    return Original("confirmed")


def _make_entry(place: ShardKey, number: int) -> Entry:
    name = _TABLES[place.key[:1]]
    return Entry(place.shard, name, name, place.key[1:], number)
