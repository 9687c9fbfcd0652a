"""A check on a spread index, step by step; docs/cluster.md tells how and why it holds."""

from __future__ import annotations

import asyncio
import struct
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...candidates import BY_KEYS, LEARNT, SLACK, Rule, is_distinct
from ...errors import ServerError
from ...fingerprint import NO_OWN
from ...identity import host
from ..layout import table_key
from ..messages import (
    EVIDENCE_BYTES,
    CheckRequest,
    Evidence,
    pack_request,
    unpack_evidence,
    unpack_news,
)
from ..parameters import Parameters
from .care import SpreadCare
from .claims import Batch, claims_of
from .pages import MAX_IN_VAIN, Attempt, Likeness, Spread, View, likeness
from .shards import Call, Shards, Terms

_FIRST_PAUSE, _LONGEST_PAUSE = 0.002, 0.1  # seconds between looks at a page that is waited for
_DECISION = struct.Struct(">I4s4s12scIHBHHBI")  # as in lua/settle.lua
_UNCHANGED_BYTES = 4 + EVIDENCE_BYTES
_DEPOSED = struct.Struct(">I12scIHBHH")  # as in lua/depose.lua


class SpreadCheck(SpreadCare):
    """What a check does between its first call and its verdict.

    Pages are copies at the `threshold`, by `rule`.
    """

    def __init__(
        self,
        shards: Shards,
        terms: Terms,
        spread: Spread,
        rule: Rule,
        parameters: Parameters,
        *,
        threshold: float,
        timeout: float,
    ) -> None:
        super().__init__(shards, terms, spread, timeout=timeout)
        self._threshold, self._rule, self.parameters = threshold, rule, parameters

    async def _begin(self, attempts: list[Attempt]) -> None:
        """Make attempts at pages, in order, and claim their keys; leaves in each what it found."""
        calls, seed = [], self.parameters.seed
        for attempt in attempts:
            page = attempt.request.fingerprint
            own = attempt.request._replace(fingerprint=replace(page, odd=page.odd[:1]))
            head = attempt.born + attempt.gone.to_bytes(4)
            calls.append(Call("begin", attempt.shard, head + pack_request(own, seed)))
        begun = []
        replies = await self._ask(calls, attempts[0].deadline)
        for attempt, reply in zip(attempts, replies, strict=True):
            attempt.renew()
            if isinstance(reply, Exception):
                attempt.error = reply
            elif reply[:1] == b"a":
                attempt.answer = reply[1:]
            elif reply[:1] == b"n":
                attempt.gone = 0  # what was counted for it is counted no more
                attempt.local, old, attempt.is_kept = struct.unpack_from(">II?", reply, 1)
                attempt.wish = reply[10:].decode()
                attempt.number = self.number(attempt.shard, attempt.local)
                attempt.replaces = self.number(attempt.shard, old) if old else 0
                page = attempt.request.fingerprint
                attempt.places = self._spread.places(page.exact, page.words, page.bands)
                begun.append(attempt)
        await asyncio.gather(
            self._claim(begun), self._find_canonical(attempts), self._share_templates(attempts)
        )

    async def _claim(self, attempts: list[Attempt]) -> None:
        claims = claims_of((attempt.number, attempt.places) for attempt in attempts)
        batch = Batch(claims, undecided=len(attempts))
        for attempt in attempts:
            attempt.batch = batch
        if not claims:
            return
        replies = await self._ask([one.call() for one in claims], attempts[0].deadline)
        for one, reply in zip(claims, replies, strict=True):
            if isinstance(reply, Exception):
                for page, _ in one.owners:
                    attempts[page].error = reply
            else:
                for page, index, kept, others in one.met(reply):
                    attempts[page].note(index, kept, others)

    async def _find_canonical(self, attempts: list[Attempt]) -> None:
        """Note whether the index has the URLs that pages name as canonical."""
        named = [attempt for attempt in attempts if attempt.request.canonical]
        calls = []
        for attempt in named:
            url = attempt.request.canonical
            key = table_key(url, self.parameters.seed)
            calls.append(Call("find", self._spread.home(url), key + url.encode()))
        replies = await self._ask(calls, attempts[0].deadline) if calls else []
        for attempt, reply in zip(named, replies, strict=True):
            if reply and not isinstance(reply, Exception):
                last_seen = int.from_bytes(reply[8:12])  # as in lua/find.lua
                attempt.canonical_known = last_seen >= self._terms.oldest(int(time.time()))

    async def _share_templates(self, attempts: list[Attempt]) -> None:
        """Exchange what is known of the templates of the pages' hosts."""
        calls, asking = [], []
        for attempt in attempts:
            known, host = attempt.request.template, attempt.request.host.encode()
            if known is not None:
                head = known.length.to_bytes(2) + len(host).to_bytes(2)
                shard = self._spread.home(attempt.request.host)
                calls.append(Call("template", shard, head + host + known.pairs))
                asking.append(attempt)
        replies = await self._ask(calls, attempts[0].deadline) if calls else []
        for attempt, reply in zip(asking, replies, strict=True):
            if isinstance(reply, bytes):
                attempt.news = unpack_news(reply)

    async def _settle_alone(self, attempts: list[Attempt]) -> None:
        """Settle attempts that met nobody, as kept, all in one exchange."""
        alone = [attempt for attempt in attempts if attempt.is_alone]
        if not alone:
            return
        replies = await self._ask([self._decision(one) for one in alone], alone[0].deadline)
        for attempt, reply in zip(alone, replies, strict=True):
            if isinstance(reply, Exception):
                attempt.error = reply
            else:
                evidence = self._settled(attempt, reply)
                if evidence is None:
                    attempt.renew()
                else:
                    attempt.evidence = attempt.told(evidence)

    async def _conclude(self, attempt: Attempt) -> Evidence:
        pause = _FIRST_PAUSE
        while True:
            if attempt.error is not None:
                raise attempt.error
            evidence = None
            if attempt.answer is not None:
                evidence = self._unchanged(attempt) or await self._confirm(attempt, attempt.answer)
            elif attempt.local:
                evidence = await self._decide(attempt)
            else:  # another worker, or another page of this one, is checking the same URL
                pause = await self._pause(attempt, pause)
            if evidence is not None:
                return attempt.told(evidence)
            await self._begin([attempt])

    def _unchanged(self, attempt: Attempt) -> Evidence | None:
        """The evidence of an unchanged page; None if others have to be looked at first."""
        if attempt.answer is None or len(attempt.answer) > _UNCHANGED_BYTES:
            return None
        evidence = self._evidence(attempt.shard, attempt.answer[4:])
        return None if evidence.standing in ("exact", "near") else attempt.told(evidence)

    async def _confirm(self, attempt: Attempt, answer: bytes) -> Evidence | None:
        """The evidence of an unchanged page; None if it is the copy of one that is gone."""
        packed = answer[4:]
        evidence = self._evidence(attempt.shard, packed)
        if evidence.standing not in ("exact", "near"):
            other = int.from_bytes(packed[EVIDENCE_BYTES:])
            view = (await self._look([other], attempt.deadline))[other]
            like = self._likeness(attempt, view)
            if view.state == b"k" and like:  # the other is no copy yet: an answer was lost then
                await self._depose(attempt, other, like, view, evidence.page)
            return evidence._replace(replaces=view.url or None)
        original = evidence.page
        view = (await self._look([original], attempt.deadline))[original]
        # A number that was given twice, as after a failover, may mean quite another page.
        stands = view.state == b"k" and not view.gone and not attempt.displaces(view)
        if stands and await self._is_like(attempt, view):
            unconfirmed = attempt.is_unconfirmed(view)
            return evidence._replace(duplicate_of=view.url, unconfirmed=unconfirmed)
        attempt.gone = original
        return None

    async def _is_like(self, attempt: Attempt, view: View) -> bool:
        """Whether a copy is still like its original by what is known now of its site's template.

        Of a page of another site, whose template is not known as well, little may be left.
        """
        page, known = attempt.request.fingerprint, view.page
        one_host = attempt.request.host == host(view.url)
        knows_less = page.own[3] < LEARNT <= known.own[3]
        if not knows_less and is_distinct(page, known, one_host=one_host):
            return False
        if likeness(page, view, self._threshold - SLACK, self._rule, 8 * self._terms.odd_bytes):
            return True
        is_told = page.own != NO_OWN and not knows_less
        if is_told and (one_host or known.own[3] >= LEARNT):
            return False
        whole = attempt.request.whole
        return whole is not None and bool(
            likeness(await whole(), view, self._threshold, self._rule, 8 * self._terms.odd_bytes)
        )

    async def _decide(self, attempt: Attempt) -> Evidence | None:
        """Settle an attempt; None if somebody else has ended it."""
        if attempt.wish == "keep" and not attempt.request.preferred:
            return await self._settle(attempt)
        views = await self._look_at_candidates(attempt)
        self._drop_dangling(attempt, views)
        pause = _FIRST_PAUSE
        while True:
            twins = self._twins(attempt, views)
            free = [n for n in twins if views[n].state == b"k" and not views[n].other]
            # One that is confirmed, an exact copy, else the most similar; the first of equals.
            free.sort(key=lambda n: (
                attempt.is_unconfirmed(views[n]), twins[n].standing != b"e", -twins[n].similarity
            ))  # fmt: skip
            won = {n: twins[n] for n in free if attempt.wins(views[n])}
            displaced = [
                n for n in twins
                if views[n].state == b"k" and n not in won and attempt.displaces(views[n])
            ]  # fmt: skip
            originals = [n for n in free if n not in won and n not in displaced]
            if originals:
                first = originals[0]
                return await self._settle(attempt, twins[first], first, views[first])
            # Who is kept, or will be, goes by the rivals: others may be about to win as well.
            settled = {*free, *displaced}
            rivals = {n: self._age(n, views[n]) for n in twins if n not in settled}
            older = [n for n, age in rivals.items() if age < attempt.age]
            if older:
                pause = await self._pause(attempt, pause)
                views |= await self._look([*older, *free], attempt.deadline)
                continue
            # Those who come later and cannot know of this page, or are about to replace its
            # original, begin again; the others will find it and wait for it.
            blind = [
                n
                for n in rivals
                if views[n].state == b"k" or not attempt.is_seen_by(n, views[n], self._spread)
            ]
            if not blind:
                seen = await self._contest(attempt, displaced, views)
                if not seen:
                    return await self._take(attempt, won, views)
                views |= await self._look(seen, attempt.deadline)
                continue
            views |= await self._look(blind, attempt.deadline, give_up=True)

    async def _look_at_candidates(self, attempt: Attempt) -> dict[int, View]:
        """What the candidates are, up to so many in a row that are not like the page."""
        first, ranked = attempt.candidates()
        looked, end = 0, MAX_IN_VAIN
        views: dict[int, View] = {}
        while first or looked < min(end, len(ranked)):
            views |= await self._look([*first, *ranked[looked:end]], attempt.deadline)
            first, looked = [], end
            twins = self._twins(attempt, views)
            last = max((at for at, number in enumerate(ranked, 1) if number in twins), default=0)
            end = last + MAX_IN_VAIN
        return views

    def _twins(self, attempt: Attempt, views: Mapping[int, View]) -> dict[int, Likeness]:
        request, is_wanted = attempt.request, attempt.wish == "drop"
        own = b"k", request.url  # if the entry of its URL was lost, or left out
        others = {
            n: view
            for n, view in views.items()
            if (view.state, view.url) != own and (is_wanted or not self._is_distinct(request, view))
        }
        found = {n: self._likeness(attempt, view) for n, view in others.items()}
        return {n: alike for n, alike in found.items() if alike is not None}

    @staticmethod
    def _is_distinct(request: CheckRequest, view: View) -> bool:
        one_host = request.host == host(view.url)
        return is_distinct(request.fingerprint, view.page, one_host=one_host)

    def _likeness(self, attempt: Attempt, view: View) -> Likeness | None:
        least = 0.0 if attempt.wish == "drop" else self._threshold
        bits = 8 * self._terms.odd_bytes
        return likeness(attempt.request.fingerprint, view, least, self._rule, bits)

    def _age(self, number: int, view: View) -> tuple[bytes, int]:
        """The age of the attempt that a page is, or that is about to replace it."""
        if view.other:
            number = self.number(number % self._count, view.other)
        return view.born, number

    async def _take(
        self, attempt: Attempt, won: Mapping[int, Likeness], views: Mapping[int, View]
    ) -> Evidence | None:
        """Settle an attempt as kept, then make the kept pages whose places it `won` its copies.

        They are two for a moment, never none. The first of `won` is the one that it replaces.
        """
        first = next(iter(won), 0)
        evidence = await self._settle(attempt, deposed=first)
        if evidence is None or not first:
            return evidence
        await asyncio.gather(
            *(
                self._depose(attempt, number, like, views[number], attempt.number)
                for number, like in won.items()
            )
        )
        return evidence._replace(replaces=views[first].url or None)

    async def _contest(
        self, attempt: Attempt, numbers: Sequence[int], views: Mapping[int, View]
    ) -> list[int]:
        """Have kept pages decided anew when they come again; those that came meanwhile.

        Before the attempt is settled: if its worker dies, they are decided as if nobody was like
        them.
        """
        crawl = attempt.request.crawl.to_bytes(4)
        calls = [
            Call(
                "contest",
                number % self._count,
                (number // self._count).to_bytes(4) + views[number].page.exact + crawl,
            )
            for number in numbers
        ]
        replies = await self._all(calls, attempt.deadline)
        return [number for number, reply in zip(numbers, replies, strict=True) if not reply]

    async def _depose(
        self, attempt: Attempt, number: int, like: Likeness, view: View, winner: int
    ) -> None:
        own = like.sampled if like.level == BY_KEYS else like.other_sampled
        loss = _DEPOSED.pack(
            number // self._count, view.page.exact, like.standing, winner, like.odd_bits,
            like.level, own, like.sampled,
        )  # fmt: skip
        home = number % self._count
        taken = await self._only(Call("depose", home, loss), attempt.deadline)
        self._later(self._unearth(home, taken))

    async def _settle(
        self,
        attempt: Attempt,
        like: Likeness | None = None,
        original: int = 0,
        view: View | None = None,
        *,
        deposed: int = 0,
    ) -> Evidence | None:
        """Settle an attempt as kept, taking the place of `deposed`, or as `like` the `original`,
        which looks like `view`.
        """
        decision = self._decision(attempt, like, original, deposed)
        reply = await self._only(decision, attempt.deadline)
        evidence = self._settled(attempt, reply, is_kept=like is None)
        if evidence is None or view is None:
            return evidence
        unconfirmed = attempt.wish != "drop" and attempt.is_unconfirmed(view)
        return evidence._replace(duplicate_of=view.url or None, unconfirmed=unconfirmed)

    def _decision(
        self, attempt: Attempt, like: Likeness | None = None, original: int = 0, deposed: int = 0
    ) -> Call:
        page = attempt.request.fingerprint
        if like is None:
            level, sampled = page.odd[0][:2] if page.odd else (0, 0)
            like = Likeness(b"u" if page.odd else b"s", 0.0, 0, level, sampled, 0)
        decision = _DECISION.pack(
            attempt.local, attempt.request.token, attempt.url_key, page.exact, like.standing,
            original, like.odd_bits, like.level, like.sampled, like.other_sampled,
            int(like.similarity * 100), deposed,
        )  # fmt: skip
        return Call("settle", attempt.shard, decision)

    def _settled(self, attempt: Attempt, reply: bytes, *, is_kept: bool = True) -> Evidence | None:
        """The evidence of an attempt; None if somebody has ended it."""
        batch = attempt.batch
        evidence = self._evidence(attempt.shard, reply[:EVIDENCE_BYTES]) if reply else None
        if evidence is None:
            batch.ended.add(attempt.number)
        elif is_kept and evidence.page == attempt.number:
            batch.crowded |= attempt.crowded()
        else:  # a copy, or a page that stays what it was, under the number that it had
            batch.copies.add(attempt.number)
        batch.undecided -= 1
        if batch.undecided == 0:
            self._later(self._finish(batch))
        if len(reply) > EVIDENCE_BYTES:
            self._later(self._unearth(attempt.shard, reply[EVIDENCE_BYTES:]))
        return evidence

    async def _pause(self, attempt: Attempt, pause: float) -> float:
        if asyncio.get_running_loop().time() + pause > attempt.deadline:
            raise ServerError(
                "another worker that checks the same page gives no answer; see whether it hangs"
            )
        await asyncio.sleep(pause)
        return min(2 * pause, _LONGEST_PAUSE)

    def _evidence(self, shard: int, packed: bytes) -> Evidence:
        evidence = unpack_evidence(packed)
        if evidence.standing in ("exact", "near"):
            return evidence
        return evidence._replace(page=self.number(shard, evidence.page))
