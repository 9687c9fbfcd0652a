"""A check on a spread index, step by step.

docs/research/cluster-protocol.md explains the protocol and why it is correct.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from ...candidates import LEARNT, SLACK, is_distinct
from ...errors import ServerError
from ...fingerprint import NO_OWN, Fingerprint
from ...identity import host
from ...verdict import COPIES
from ..messages import ANSWER_BYTES, Answer
from .attempts import MAX_IN_VAIN, AskedPage, Attempt, BegunCheck
from .pages import PageView, Resemblance, compare_page
from .settle import SpreadSettlement

_FIRST_PAUSE, _LONGEST_PAUSE = 0.002, 0.1  # seconds between looks at a pending page
_UNCHANGED_BYTES = 4 + ANSWER_BYTES


class SpreadCheck(SpreadSettlement):
    """A check between its first call and its verdict."""

    async def _conclude_attempt(self, attempt: Attempt) -> Answer:
        pause = _FIRST_PAUSE
        while True:
            if attempt.error is not None:
                raise attempt.error
            answer = None
            state = attempt.state
            if isinstance(state, bytes):
                answer = self._answer_unchanged(attempt) or await self._confirm_unchanged(
                    attempt, state
                )
            elif state is not None:
                answer = await self._decide_attempt(state)
            else:  # another check of the same URL is under way, here or in another worker
                pause = await self._pause_attempt(attempt.asked, pause)
            if answer is not None:
                return attempt.complete_answer(answer)
            await self._begin_attempts([attempt])

    def _answer_unchanged(self, attempt: Attempt) -> Answer | None:
        """The answer to an unchanged page; None if other pages have to be looked at first."""
        state = attempt.state
        if not isinstance(state, bytes) or len(state) > _UNCHANGED_BYTES:
            return None
        answer = self._read_answer(attempt.asked.shard, state[4:])
        return None if answer.standing in COPIES else attempt.complete_answer(answer)

    async def _confirm_unchanged(self, attempt: Attempt, state: bytes) -> Answer | None:
        """The answer to an unchanged page; None if its original no longer stands for it."""
        asked, packed = attempt.asked, state[4:]
        answer = self._read_answer(asked.shard, packed)
        if answer.standing not in COPIES:
            other = int.from_bytes(packed[ANSWER_BYTES:])
            view = (await self._view_pages([other], asked.deadline))[other]
            found = self._compare_page(asked.request.fingerprint, view, self._threshold)
            if view.state == b"k" and found:  # not a copy yet, because a reply was lost
                await self._depose_page(other, found, view, answer.page, asked.deadline)
            return answer._replace(replaces=view.shown_url or None)
        original = answer.page
        view = (await self._view_pages([original], asked.deadline))[original]
        # A failover may have given the number to another page.
        stands = view.state == b"k" and not asked.wins(view) and not asked.displaces(view)
        if stands and await self._is_still_copy(asked, view):
            unconfirmed = asked.is_unconfirmed(view)
            return answer._replace(duplicate_of=view.shown_url, unconfirmed=unconfirmed)
        attempt.lost = original
        return None

    async def _is_still_copy(self, asked: AskedPage, view: PageView) -> bool:
        """Whether a copy still resembles its original, now that the template is better known.

        If the original is on another host whose template is less known, the page's whole text is
        compared as well: too little of it may be left without the template.
        """
        page, known = asked.request.fingerprint, view.page
        one_host = asked.request.host == host(view.url)
        knows_less = page.own[3] < LEARNT <= known.own[3]
        if not knows_less and is_distinct(page, known, one_host=one_host):
            return False
        if self._compare_page(page, view, self._threshold - SLACK):
            return True
        is_told = page.own != NO_OWN and not knows_less
        if is_told and (one_host or known.own[3] >= LEARNT):
            return False
        whole = asked.request.whole
        return whole is not None and bool(self._compare_page(await whole(), view, self._threshold))

    async def _decide_attempt(self, begun: BegunCheck) -> Answer | None:
        """Settle an attempt; None if another worker has ended it."""
        asked = begun.asked
        if begun.override == "keep" and not asked.request.preferred:
            return await self._settle_attempt(begun)
        views = await self._view_candidates(begun)
        self._drop_dangling(begun, views)
        pause = _FIRST_PAUSE
        while True:
            similar = self._find_similar(begun, views)
            free = [n for n in similar if views[n].state == b"k" and not views[n].other]
            # Confirmed originals first, of these exact ones, then by similarity.
            free.sort(key=lambda n: (
                asked.is_unconfirmed(views[n]), similar[n].standing != b"e", -similar[n].similarity
            ))  # fmt: skip
            better = [n for n in free if begun.wins(views[n])]
            won = {n: similar[n] for n in better if not begun.leaves(views[n])}
            displaced = [
                n for n in similar
                if views[n].state == b"k" and n not in better and begun.displaces(views[n])
            ]  # fmt: skip
            originals = [n for n in free if n not in better and n not in displaced]
            if originals:
                first = originals[0]
                return await self._settle_attempt(begun, (first, similar[first], views[first]))
            # The other similar pages are rivals: pending, or about to be replaced. The oldest wins.
            settled = {*free, *displaced}
            rivals = {n: self._age_of(n, views[n]) for n in similar if n not in settled}
            older = [n for n, age in rivals.items() if age < begun.age]
            if older:
                pause = await self._pause_attempt(asked, pause)
                views |= await self._view_pages([*older, *free], asked.deadline)
                continue
            # Younger rivals begin again if they cannot have found this page, or are about to
            # replace a kept page. The others find this page and wait for it.
            blind = [
                n
                for n in rivals
                if views[n].state == b"k" or not begun.is_seen_by(n, views[n], self._spread)
            ]
            if not blind:
                seen = await self._contest_pages(begun, displaced, views)
                if not seen:
                    return await self._take_places(begun, won, views)
                views |= await self._view_pages(seen, asked.deadline)
                continue
            views |= await self._view_pages(blind, asked.deadline, give_up=True)

    async def _view_candidates(self, begun: BegunCheck) -> dict[int, PageView]:
        """The views of the candidates, until MAX_IN_VAIN in a row are not similar to the page."""
        first, ranked = begun.rank_candidates()
        looked, end = 0, MAX_IN_VAIN
        views: dict[int, PageView] = {}
        while first or looked < min(end, len(ranked)):
            views |= await self._view_pages([*first, *ranked[looked:end]], begun.asked.deadline)
            first, looked = [], end
            similar = self._find_similar(begun, views)
            last = max((at for at, number in enumerate(ranked, 1) if number in similar), default=0)
            end = last + MAX_IN_VAIN
        return views

    def _find_similar(
        self, begun: BegunCheck, views: Mapping[int, PageView]
    ) -> dict[int, Resemblance]:
        """The viewed pages that are so similar to this one that only one of them can be kept."""
        request = begun.asked.request
        own = b"k", request.url  # an earlier record, if the entry of its URL was lost or left out
        threshold = 0.0 if begun.is_to_be_dropped else self._threshold
        found = {
            number: self._compare_page(request.fingerprint, view, threshold)
            for number, view in views.items()
            if (view.state, view.url) != own
            and (
                begun.is_to_be_dropped
                or not is_distinct(
                    request.fingerprint, view.page, one_host=request.host == host(view.url)
                )
            )
        }
        return {number: one for number, one in found.items() if one is not None}

    def _compare_page(
        self, page: Fingerprint, view: PageView, threshold: float
    ) -> Resemblance | None:
        return compare_page(page, view, threshold, self._rule, 8 * self._terms.odd_bytes)

    def _age_of(self, number: int, view: PageView) -> tuple[bytes, int]:
        """The age of a pending page's attempt, or of the attempt to replace a kept page."""
        if view.other:
            number = self.global_number(number % self._count, view.other)
        return view.born, number

    async def _pause_attempt(self, asked: AskedPage, pause: float) -> float:
        if asyncio.get_running_loop().time() + pause > asked.deadline:
            raise ServerError(
                "another worker that checks the same page gives no answer; check whether it hangs"
            )
        await asyncio.sleep(pause)
        return min(2 * pause, _LONGEST_PAUSE)
