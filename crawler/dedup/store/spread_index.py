"""The index spread over the nodes of a cluster; docs/cluster.md tells how and why it holds."""

from __future__ import annotations

import asyncio
import struct
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from redis.asyncio import RedisCluster

from ..errors import ServerError
from .keys import Keys
from .parameters import Parameters
from .reading import Entry, Reader
from .redis_index import (
    EVIDENCE_BYTES,
    CheckRequest,
    Evidence,
    Rule,
    StoredPage,
    pack_request,
    table_key,
    unpack_evidence,
)
from .scripts import explained, load_script
from .shards import Call, Shards, Terms
from .spread_care import SpreadCare
from .spread_pages import Attempt, Likeness, Spread, View, likeness

_LEASE = 0.5  # of the patience: who waits for a dead worker has as much again to decide
_FIRST_PAUSE, _LONGEST_PAUSE = 0.002, 0.1  # seconds between looks at a page that is waited for
_DECISION = struct.Struct(">I4scIHBHHB")  # as in lua/settle.lua
_FOUND = struct.Struct(">IIII")  # as in lua/find.lua


class SpreadIndex(SpreadCare, Reader):
    """The tables and records of one namespace, in shards on the nodes of a cluster.

    Every page is checked by itself, those that come together in common exchanges. What a page
    still needs after its verdict is known is done in the background; see :meth:`rest`.
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
    ) -> None:
        self._parameters = Parameters(namespace, {**parameters, "shards": shards})
        self._head = Keys(f"{namespace}/")
        self._threshold, self._rule = threshold, rule
        terms = Terms(ttl, timeout * _LEASE, bits // 8)
        parts = Shards(client, namespace, shards, terms)
        SpreadCare.__init__(self, parts, terms, Spread(shards, rule.one_table), timeout=timeout)
        Reader.__init__(self, client, namespace, parts.keys, self._head)

    async def open(self) -> dict[str, str]:
        """Make the index, or see that the one that is there has these parameters; return them.

        Raises :class:`ParameterMismatch` naming those that differ, and :class:`ServerError`.
        """
        text = load_script("open").text
        with explained():
            listing = await self._client.eval(text, 1, self._head.params, *self._parameters.flat)
            found = self._parameters.agree(listing)
            pipe: Any = self._client.pipeline()
            for keys in self._shards.keys:
                pipe.eval(text, 1, keys.params, *self._parameters.flat)
            for listing in await pipe.execute():
                self._parameters.agree(listing)
        self._shards.digest = self._parameters.digest
        return found

    async def start(self, requests: Sequence[CheckRequest]) -> list[asyncio.Future[Evidence]]:
        """Begin to check pages, in order; what it returns are their coming evidences.

        Raises :class:`ServerError` if not one of them could be begun.
        """
        await self._room()
        self._tend(len(requests))
        deadline = asyncio.get_running_loop().time() + self._timeout
        born, home = time.time_ns() // 1000, self._spread.home
        attempts = [
            Attempt(request, (born + n).to_bytes(8), deadline, home(request.url))
            for n, request in enumerate(requests)
        ]
        await self._begin(attempts)
        errors = [attempt.error for attempt in attempts if attempt.error is not None]
        if errors and len(errors) == len(attempts):
            raise errors[0]
        return [asyncio.ensure_future(self._conclude(attempt)) for attempt in attempts]

    async def check(self, requests: Sequence[CheckRequest]) -> list[Evidence]:
        """Check pages, in order."""
        return await asyncio.gather(*await self.start(requests))

    async def show(self, url: str) -> StoredPage | None:
        """What the index holds of a URL, or None if it never saw it."""
        shard = self._spread.home(url)
        reply = await self._only(Call("find", shard, table_key(url) + url.encode()))
        if not reply:
            return None
        local, *rest = _FOUND.unpack_from(reply)
        evidence = self._evidence(shard, local, reply[_FOUND.size :])
        if evidence.standing in ("exact", "near"):
            view = (await self._look([evidence.page]))[evidence.page]
            evidence = evidence._replace(duplicate_of=view.url or None)
        return StoredPage(evidence, *rest)

    async def forget(self, url: str, *, bits: int) -> bool:
        """Take a URL out of the index; False if it was not there."""
        shard = self._spread.home(url)
        reply = await self._only(Call("bury", shard, table_key(url) + url.encode()))
        await self._unearth(shard, reply)
        return bool(reply)

    def tables(self, bands: int) -> list[tuple[str, str]]:
        """See :meth:`Reader.tables`."""
        return [("url", "url"), ("exact", "exact"), ("band", "band")]

    def entries(self, shard: int, page: int, exact: bytes, words: int, bands: bytes) -> list[Entry]:
        """See :meth:`Reader.entries`."""
        number = self.number(shard, page)
        names = {b"e": "exact", b"b": "band"}
        return [
            Entry(place.shard, name, name, place.key[1:], number)
            for place in self._spread.places(exact, words, bands)
            for name in (names[place.key[:1]],)
        ]

    async def states(self) -> list[dict[str, int]]:
        """See :meth:`Reader.states`."""
        await self.rest()
        return await super().states()

    async def counters(self) -> dict[str, dict[str, str]]:
        """See :meth:`Reader.counters`."""
        await self.rest()
        return await super().counters()

    # a check, step by step ------------------------------------------------------------------------

    async def _begin(self, attempts: list[Attempt]) -> None:
        """Make attempts at pages, in order, and claim their keys; leaves in each what it found."""
        calls = []
        for attempt in attempts:
            page = attempt.request.fingerprint
            own = attempt.request._replace(fingerprint=replace(page, odd=page.odd[:1]))
            head = attempt.born + attempt.gone.to_bytes(4)
            calls.append(Call("begin", attempt.shard, head + pack_request(own)))
        begun = []
        replies = await self._ask(calls, attempts[0].deadline)
        for attempt, reply in zip(attempts, replies, strict=True):
            attempt.renew()
            if isinstance(reply, Exception):
                attempt.error = reply
            elif reply[:1] == b"a":
                attempt.answer = reply[1:]
            elif reply[:1] == b"n":
                attempt.local, old = struct.unpack(">II", reply[1:])
                attempt.number = self.number(attempt.shard, attempt.local)
                attempt.replaces = self.number(attempt.shard, old) if old else 0
                page = attempt.request.fingerprint
                attempt.places = self._spread.places(page.exact, page.words, page.bands)
                begun.append(attempt)
        await self._claim(begun)

    async def _claim(self, attempts: list[Attempt]) -> None:
        calls, owners = [], []
        for attempt in attempts:
            number = attempt.number.to_bytes(4)
            for shard, indices in attempt.indices().items():
                keys = b"".join(attempt.places[index].key for index in indices)
                calls.append(Call("claim", shard, number + keys))
                owners.append((attempt, indices))
        if not calls:
            return
        replies = await self._ask(calls, attempts[0].deadline)
        for (attempt, indices), reply in zip(owners, replies, strict=True):
            if isinstance(reply, Exception):
                attempt.error = reply
            else:
                attempt.note(indices, reply)

    async def _conclude(self, attempt: Attempt) -> Evidence:
        pause = _FIRST_PAUSE
        while True:
            if attempt.error is not None:
                raise attempt.error
            evidence = None
            if attempt.answer is not None:
                evidence = await self._confirm(attempt, attempt.answer)
            elif attempt.local:
                evidence = await self._decide(attempt)
            else:  # another worker, or another page of this one, is checking the same URL
                pause = await self._pause(attempt, pause)
            if evidence is not None:
                return evidence
            await self._begin([attempt])

    async def _confirm(self, attempt: Attempt, answer: bytes) -> Evidence | None:
        """The evidence of an unchanged page; None if it is the copy of one that is gone."""
        local, packed = int.from_bytes(answer[:4]), answer[4:]
        evidence = self._evidence(attempt.shard, local, packed)
        if evidence.standing not in ("exact", "near"):
            return evidence
        original = evidence.page
        view = (await self._look([original], attempt.deadline))[original]
        # A number that was given twice, as after a failover, may mean quite another page.
        if view.state == b"k" and self._likeness(attempt, view):
            return evidence._replace(duplicate_of=view.url)
        attempt.gone = original
        return None

    async def _decide(self, attempt: Attempt) -> Evidence | None:
        """Settle an attempt; None if somebody else has ended it."""
        views = await self._look(attempt.candidates(), attempt.deadline)
        self._drop_dangling(attempt, views)
        pause = _FIRST_PAUSE
        while True:
            twins = self._twins(attempt, views)
            free = [n for n in twins if views[n].state == b"k" and not views[n].other]
            if free:
                # An exact copy, else the most similar; the first of equals.
                original = max(free, key=lambda n: (twins[n].standing == b"e", twins[n].similarity))
                return await self._settle(attempt, twins[original], original, views[original].url)
            rivals = {n: self._age(n, views[n]) for n in twins}
            older = [n for n, age in rivals.items() if age < attempt.age]
            if older:
                pause = await self._pause(attempt, pause)
                views |= await self._look(older, attempt.deadline)
                continue
            # Those who come later and cannot know of this page, or are about to replace its
            # original, begin again; the others will find it and wait for it.
            blind = [
                n
                for n in rivals
                if views[n].state == b"k" or not attempt.is_seen_by(n, views[n], self._spread)
            ]
            if not blind:
                return await self._settle(attempt)
            views |= await self._look(blind, attempt.deadline, give_up=True)

    def _twins(self, attempt: Attempt, views: Mapping[int, View]) -> dict[int, Likeness]:
        found = {n: self._likeness(attempt, view) for n, view in views.items()}
        return {n: alike for n, alike in found.items() if alike is not None}

    def _likeness(self, attempt: Attempt, view: View) -> Likeness | None:
        return likeness(attempt.request.fingerprint, view, self._threshold, self._rule)

    def _age(self, number: int, view: View) -> tuple[bytes, int]:
        """The age of the attempt that a page is, or that is about to replace it."""
        if view.other:
            number = self.number(number % self._count, view.other)
        return view.born, number

    async def _settle(
        self, attempt: Attempt, like: Likeness | None = None, original: int = 0, url: str = ""
    ) -> Evidence | None:
        page = attempt.request.fingerprint
        level, sampled = page.odd[0][:2] if page.odd else (0, 0)
        if like is None:
            like = Likeness(b"u" if page.odd else b"s", 0.0, 0, level, sampled, 0)
        decision = _DECISION.pack(
            attempt.local, attempt.request.token, like.standing, original, like.odd_bits,
            like.level, like.sampled, like.other_sampled, int(like.similarity * 100),
        )  # fmt: skip
        reply = await self._only(Call("settle", attempt.shard, decision), attempt.deadline)
        self._later(self._move(attempt.places, attempt.number, kept=bool(reply) and not original))
        if not reply:
            return None
        if len(reply) > EVIDENCE_BYTES:
            self._later(self._unearth(attempt.shard, reply[EVIDENCE_BYTES:]))
        evidence = self._evidence(attempt.shard, attempt.local, reply[:EVIDENCE_BYTES])
        return evidence._replace(duplicate_of=url or None)

    async def _pause(self, attempt: Attempt, pause: float) -> float:
        if asyncio.get_running_loop().time() + pause > attempt.deadline:
            raise ServerError(
                "another worker that checks the same page gives no answer; see whether it hangs"
            )
        await asyncio.sleep(pause)
        return min(2 * pause, _LONGEST_PAUSE)

    def _evidence(self, shard: int, local: int, packed: bytes) -> Evidence:
        evidence = unpack_evidence(packed)
        if evidence.standing in ("exact", "near"):
            return evidence
        return evidence._replace(page=self.number(shard, local))
