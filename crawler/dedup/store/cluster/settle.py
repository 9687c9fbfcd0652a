"""Writes the decisions on a spread index.

docs/research/cluster-protocol.md explains why this is correct.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

from ...candidates import BY_KEYS, Evidence
from ...tasks import gather_all
from ...verdict import COPIES
from ..messages import ANSWER_BYTES, Answer, unpack_answer
from .attempts import Attempt, BegunCheck
from .begin import SpreadBeginning
from .pages import PageView, Resemblance
from .shards import Call

_DECISION = struct.Struct(">I4s4s12scIHBHHBI")  # as in lua/cluster/settle.lua
_DEPOSED = struct.Struct(">I12scIHBHH")  # as in lua/cluster/depose.lua


class SpreadSettlement(SpreadBeginning):
    """Writes that a page is kept or a copy, and that other pages become its copies."""

    async def _settle_alone(self, attempts: Sequence[Attempt]) -> None:
        """Settle the attempts that met no other page as kept, all in one exchange."""
        alone = [
            (attempt, attempt.state)
            for attempt in attempts
            if isinstance(attempt.state, BegunCheck)
            and attempt.error is None
            and attempt.state.has_met_nobody
        ]
        if not alone:
            return
        calls = [self._pack_decision(begun) for _, begun in alone]
        replies = await self._ask(calls, alone[0][1].asked.deadline)
        for (attempt, begun), reply in zip(alone, replies, strict=True):
            if isinstance(reply, Exception):
                attempt.error = reply
                continue
            answer = self._read_settled(begun, reply)
            if answer is None:
                attempt.state = None
            else:
                attempt.answer = attempt.complete_answer(answer)

    async def _settle_attempt(
        self,
        begun: BegunCheck,
        copy_of: tuple[int, Resemblance, PageView] | None = None,
        *,
        deposed: int = 0,
    ) -> Answer | None:
        """Settle an attempt: as kept, in place of the page `deposed`, or as a copy.

        `copy_of` has the original's number, the resemblance, and the original's view. Returns None
        if another worker has ended the attempt.
        """
        number, resemblance, view = copy_of or (0, None, None)
        decision = self._pack_decision(begun, resemblance, number, deposed)
        reply = await self._ask_one(decision, begun.asked.deadline)
        answer = self._read_settled(begun, reply, is_kept=view is None)
        if answer is None or view is None:
            return answer
        unconfirmed = not begun.is_to_be_dropped and begun.asked.is_unconfirmed(view)
        return answer._replace(duplicate_of=view.shown_url or None, unconfirmed=unconfirmed)

    def _pack_decision(
        self,
        begun: BegunCheck,
        resemblance: Resemblance | None = None,
        original: int = 0,
        deposed: int = 0,
    ) -> Call:
        asked, page = begun.asked, begun.asked.request.fingerprint
        if resemblance is None:
            level, sampled = page.odd[0][:2] if page.odd else (0, 0)
            standing = b"u" if page.odd else b"s"
            resemblance = Resemblance(standing, 0.0, Evidence(0, level, sampled, 0))
        standing, similarity, evidence = resemblance
        decision = _DECISION.pack(
            begun.local, asked.request.token, asked.url_key, page.exact, standing, original,
            *evidence, int(similarity * 100), deposed,
        )  # fmt: skip
        return Call("settle", asked.shard, decision)

    def _read_settled(
        self, begun: BegunCheck, reply: bytes, *, is_kept: bool = True
    ) -> Answer | None:
        """The answer to an attempt; None if another worker has ended it."""
        batch, shard = begun.batch, begun.asked.shard
        answer = self._read_answer(shard, reply[:ANSWER_BYTES]) if reply else None
        if answer is None:
            batch.ended.add(begun.number)
        elif is_kept and answer.page == begun.number:
            batch.crowded |= begun.crowded_places()
        else:  # a copy, or a page that stays as it was, under its earlier number
            batch.copies.add(begun.number)
        batch.undecided -= 1
        if batch.undecided == 0:
            self._do_later(self._finish_batch(batch))
        if len(reply) > ANSWER_BYTES:
            self._do_later(self._drop_buried(shard, reply[ANSWER_BYTES:]))
        return answer

    async def _take_places(
        self, begun: BegunCheck, won: Mapping[int, Resemblance], views: Mapping[int, PageView]
    ) -> Answer | None:
        """Settle an attempt as kept, then make the kept pages that it `won` against its copies.

        For a moment both are kept, but never neither. The answer names the first of `won`.
        """
        first = next(iter(won), 0)
        answer = await self._settle_attempt(begun, deposed=first)
        if answer is None or not first:
            return answer
        await gather_all(
            *(
                self._depose_page(
                    number, resemblance, views[number], begun.number, begun.asked.deadline
                )
                for number, resemblance in won.items()
            )
        )
        return answer._replace(replaces=views[first].shown_url or None)

    async def _contest_pages(
        self, begun: BegunCheck, numbers: Sequence[int], views: Mapping[int, PageView]
    ) -> list[int]:
        """Have kept pages decided anew when they come again; return those that came meanwhile.

        This is done before the attempt is settled. If the worker dies in between, these pages are
        decided anew, and no similar page is found.
        """
        crawl = begun.asked.request.crawl.to_bytes(4)
        calls = [
            Call(
                "contest",
                number % self._count,
                (number // self._count).to_bytes(4) + views[number].page.exact + crawl,
            )
            for number in numbers
        ]
        replies = await self._ask_all(calls, begun.asked.deadline)
        return [number for number, reply in zip(numbers, replies, strict=True) if not reply]

    async def _depose_page(
        self, number: int, resemblance: Resemblance, view: PageView, winner: int, deadline: float
    ) -> None:
        """Make a kept page a copy of the `winner`."""
        standing, _, (odd_bits, level, sampled, other_sampled) = resemblance
        own = sampled if level == BY_KEYS else other_sampled
        loss = _DEPOSED.pack(
            number // self._count, view.page.exact, standing, winner, odd_bits, level, own, sampled
        )
        home = number % self._count
        taken = await self._ask_one(Call("depose", home, loss), deadline)
        self._do_later(self._drop_buried(home, taken))

    def _read_answer(self, shard: int, packed: bytes) -> Answer:
        """Read a shard's answer about a page; the number of a kept page becomes global."""
        answer = unpack_answer(packed)
        if answer.standing in COPIES:
            return answer
        return answer._replace(page=self.global_number(shard, answer.page))
