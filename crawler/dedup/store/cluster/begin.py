"""Begins checks on a spread index, and finds the other pages at the same places.

docs/research/cluster-protocol.md explains why this is correct.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Sequence
from dataclasses import replace

from ...sketches.anchors import anchor_keys, stored_anchors
from ...tasks import gather_all
from ..layout import table_key
from ..messages import pack_request, unpack_news
from .attempts import Attempt, BegunCheck
from .care import SpreadCare
from .claims import Batch, make_claims
from .pages import read_found
from .shards import Call

_BEGUN = struct.Struct(">II?")  # as in lua/cluster/begin.lua


class SpreadBeginning(SpreadCare):
    """What a check does before it decides: it announces its page, and learns of other pages."""

    async def _begin_attempts(self, attempts: list[Attempt]) -> None:
        """Begin attempts in order and claim their keys; each attempt notes what it found."""
        calls, seed = [], self.parameters.seed
        for attempt in attempts:
            asked = attempt.asked
            page = asked.request.fingerprint
            own = asked.request._replace(fingerprint=replace(page, odd=page.odd[:1]))
            head = asked.born + attempt.lost.to_bytes(4)
            calls.append(Call("begin", asked.shard, head + pack_request(own, seed)))
        replies = await self._ask(calls, attempts[0].asked.deadline)
        for attempt, reply in zip(attempts, replies, strict=True):
            attempt.state = attempt.error = None
            if isinstance(reply, Exception):
                attempt.error = reply
            elif reply[:1] == b"a":
                attempt.state = reply[1:]
            elif reply[:1] == b"n":
                attempt.lost = 0  # the shard has taken back the count of the first answer
                attempt.state = self._read_begun(attempt, reply[1:])
        await gather_all(
            self._claim_keys(attempts),
            self._find_canonical(attempts),
            self._share_templates(attempts),
        )

    def _read_begun(self, attempt: Attempt, reply: bytes) -> BegunCheck:
        asked = attempt.asked
        local, old, is_kept = _BEGUN.unpack_from(reply)
        page = asked.request.fingerprint
        places = self._spread.find_places(page.exact, page.words, page.bands)
        anchors = anchor_keys(stored_anchors(page.anchors, page.words))
        return BegunCheck(
            asked,
            local,
            self.global_number(asked.shard, local),
            replaces=self.global_number(asked.shard, old) if old else 0,
            is_kept=is_kept,
            override=reply[_BEGUN.size :].decode(),
            places=places + self._spread.find_anchor_places(anchors),
            first_anchor=len(places),
        )

    async def _claim_keys(self, attempts: Sequence[Attempt]) -> None:
        """Claim the keys of the attempts that have begun."""
        begun = [(one, one.state) for one in attempts if isinstance(one.state, BegunCheck)]
        claims = make_claims((state.number, state.places) for _, state in begun)
        batch = Batch(claims, undecided=len(begun))
        for _, state in begun:
            state.batch = batch
        if not claims:
            return
        replies = await self._ask([one.claim_call() for one in claims], attempts[0].asked.deadline)
        for one, reply in zip(claims, replies, strict=True):
            if isinstance(reply, Exception):
                for page, _ in one.owners:
                    begun[page][0].error = reply
            else:
                for page, index, kept, others in one.read_reply(reply):
                    begun[page][1].note_others(index, kept, others)

    async def _find_canonical(self, attempts: Sequence[Attempt]) -> None:
        """Note whether the index has the URLs that pages name as canonical."""
        named = [attempt for attempt in attempts if attempt.asked.request.canonical]
        calls = []
        for attempt in named:
            url = attempt.asked.request.canonical
            key = table_key(url, self.parameters.seed)
            calls.append(Call("find", self._spread.shard_of(url), key + url.encode()))
        replies = await self._ask(calls, attempts[0].asked.deadline) if calls else []
        for attempt, reply in zip(named, replies, strict=True):
            found = None if isinstance(reply, Exception) else read_found(reply)
            if found is not None and found.last_seen >= self._terms.oldest_time(int(time.time())):
                attempt.canonical = found.shown_url

    async def _share_templates(self, attempts: Sequence[Attempt]) -> None:
        """Exchange news about the templates of the pages' hosts."""
        calls, asking = [], []
        for attempt in attempts:
            request = attempt.asked.request
            known, host = request.template, request.host.encode()
            if known is not None:
                head = known.length.to_bytes(2) + len(host).to_bytes(2)
                shard = self._spread.shard_of(request.host)
                calls.append(Call("template", shard, head + host + known.pairs))
                asking.append(attempt)
        replies = await self._ask(calls, attempts[0].asked.deadline) if calls else []
        for attempt, reply in zip(asking, replies, strict=True):
            if isinstance(reply, bytes):
                attempt.news = unpack_news(reply)
