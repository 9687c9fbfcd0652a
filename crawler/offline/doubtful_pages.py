"""Pages of a load that are copies, until it is certain that they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from ..dedup.candidates import FEW, FEW_ON_HOST, LEARNT
from ..dedup.exchange.requests import make_token
from ..dedup.identity import host
from ..dedup.store.messages import Answer, CheckRequest
from ..latest import Latest

if TYPE_CHECKING:
    from ..dedup.index import DuplicateIndex


class _Waiting(NamedTuple):
    """A page, the number of its record, and the verdict as which this load has counted it.

    ``original`` is the page of which it is a copy, if any.
    """

    request: CheckRequest
    number: int
    kind: str | None
    original: str | None = None

    @property
    def is_doubtful(self) -> bool:
        """Whether more pages of the site may show that the page is no copy."""
        own = self.request.fingerprint.own
        return not self.request.is_cut and any(own[:2]) and own[2] >= FEW

    def knows_more(self, request: CheckRequest) -> bool:
        """Whether a later request for the page may be decided otherwise."""
        old, new = self.request.fingerprint.own, request.fingerprint.own
        is_noted = any(new[:2]) and new[2] < min(old[2], FEW_ON_HOST)
        return request is self.request or is_noted


class DoubtfulPages:
    """Pages of a load that are copies, or may become copies, until they are decided again.

    A copy may lose its original. Its own words may turn out to be a note of its site, as in
    :mod:`..pipelines.crawl.doubtful`. With ``DEDUP_PREFER``, any page may become a copy of a later
    one. If there are very many, the first ones are not decided again. `left` are the numbers of
    such pages of an interrupted load.
    """

    _MOST: Final = 50_000  # of 1.7 KB each
    _MOST_HOSTS: Final = 10_000
    _TIMES: Final = 10  # a page that is decided again may replace others, with copies of their own

    def __init__(self, index: DuplicateIndex, left: Iterable[int] = ()) -> None:
        self._index = index
        self._left = frozenset(left)
        self._hosts: set[str] = set()
        self._waiting: Latest[str, _Waiting] = Latest(self._MOST)
        # Kept pages of sites of which little was known, and those of them that have copies.
        self._early: Latest[str, int] = Latest(self._MOST)
        self._originals: dict[str, int] = {}

    @property
    def numbers(self) -> list[int]:
        """The numbers of the records of all pages that wait, the latest of very many."""
        return sorted(self._left.union(one.number for one in self._waiting.values()))[-self._MOST :]

    def note_answers(
        self, requests: Sequence[CheckRequest], numbers: Sequence[int], answers: Sequence[Answer]
    ) -> None:
        """Note the answers about pages of the load, in the records of these numbers."""
        for request, number, answer in zip(requests, numbers, answers, strict=True):
            self._waiting.pop(request.url, None)
            self._note_host(request)
            original = answer.duplicate_of and self._index.config.identity(answer.duplicate_of)
            if original and original in self._early:
                self._originals[original] = self._early[original]
            if original or self._index.config.prefer:
                self._waiting[request.url] = _Waiting(request, number, answer.kind, original)
            is_early = request.fingerprint.own[3] < LEARNT and not request.is_cut
            if is_early and not original:
                self._early[request.url] = number

    def _note_host(self, request: CheckRequest) -> None:
        if len(self._hosts) < self._MOST_HOSTS:
            self._hosts.add(request.host)

    def list_doubtful(self) -> frozenset[int]:
        """The numbers of the records that :meth:`settle_noted` needs once more."""
        copies = (
            one.number
            for one in self._waiting.values()
            if one.is_doubtful or one.original in self._originals
        )
        return self._left.union(copies, self._originals.values())

    async def settle_noted(
        self, requests: Sequence[CheckRequest], numbers: Sequence[int]
    ) -> Counter[str]:
        """Decide again about copies of which less is their own, as known now.

        Returns the changes in the counts of verdicts. The `requests` are made from the records of
        these numbers. Pages of an interrupted load wait from here on.
        """
        changes: Counter[str] = Counter()
        for request, number in zip(requests, numbers, strict=True):
            page = self._waiting.get(request.url)
            if page is None and self._originals.get(request.url) == number:
                # It stays as it is, but its heading and own words are noted as known now.
                await self._index.store.check([request])
                continue
            if page is None and number in self._left:
                page = _Waiting(request, number, None)
                self._note_host(request)
                self._waiting[request.url] = page
            if page is None or page.number != number:  # the URL came again later
                continue
            if not (page.knows_more(request) or page.original in self._originals):
                continue
            known = await self._index.show(request.url)
            if known is not None and known.duplicate_of:
                changes.update(await self._decide(page._replace(request=request)))
        return changes

    async def settle_copies(self) -> Counter[str]:
        """Decide again about copies whose originals have changed, were replaced or did not come.

        Returns the changes in the counts of verdicts. Originals on hosts without pages in the load
        stand.
        """
        changes: Counter[str] = Counter()
        for _ in range(self._TIMES):
            more = await self._settle_once()
            if not more:
                break
            changes.update(more)
        return changes

    async def _settle_once(self) -> Counter[str]:
        changes: Counter[str] = Counter()
        for url, original in (await self._index.originals(self._waiting)).items():
            of = host(original.url)
            if original.state == "confirmed" or (original.url and of not in self._hosts):
                continue
            changes.update(await self._decide(self._waiting[url], (of,) if of else ()))
        return changes

    async def _decide(self, page: _Waiting, final: tuple[str, ...] = ()) -> Counter[str]:
        """Decide again about a page; records of the hosts `final` have not been confirmed."""
        changes: Counter[str] = Counter()
        again = page.request._replace(token=make_token(self._index.crawl), final=final)
        (answer,) = await self._index.store.check([again])
        if answer.kind != "repeated" and page.kind is not None:
            changes.update({page.kind: -1})
            changes.update({answer.kind: 1})
            page = page._replace(kind=answer.kind)
        self._waiting[page.request.url] = page
        return changes
