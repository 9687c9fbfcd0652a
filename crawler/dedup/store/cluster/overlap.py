"""Finds the kept pages of a spread index that share anchors with a page."""

from __future__ import annotations

import asyncio
import logging
import struct
import time
from collections import Counter
from collections.abc import Awaitable
from typing import Any, Final

from ...errors import ServerError
from ...fingerprint import Fingerprint
from ...sketches.anchors import asked_keys
from ..messages import Answer, CheckRequest
from ..records import PageRecord, parse_record
from ..server.faults import explain_faults
from .check import SpreadCheck
from .shards import Call

logger = logging.getLogger(__name__)

_MOST: Final = 16  # kept pages returned for a page, as in lua/stored_pages.lua
_NUMBERS: Final = struct.Struct(">I")


class SpreadOverlap(SpreadCheck):
    """Adds to answers the kept pages that share anchors with the checked page.

    It does so after the verdict, and of two pages checked at the same time, one may miss the other.
    No decision depends on it, so a fault leaves the answer as it is.
    """

    _client: Any

    async def _with_overlapping(
        self, request: CheckRequest, coming: Answer | Awaitable[Answer]
    ) -> Answer:
        answer = coming if isinstance(coming, Answer) else await coming
        try:
            found = await self._find_overlapping(request.fingerprint, answer.page)
            if found and await self._is_to_be_kept(request.url):
                found = []
        except ServerError as error:
            logger.debug("Pages that contain %r or are in it are not known: %s", request.url, error)
            return answer
        return answer._replace(overlapping=tuple(found))

    async def _find_overlapping(self, page: Fingerprint, own: int = 0) -> list[PageRecord]:
        """The kept pages that share most anchors with a page, without the page number `own`."""
        asked: dict[int, bytearray] = {}
        for place in self._spread.find_anchor_places(asked_keys(page.anchors)):
            asked.setdefault(place.shard, bytearray()).extend(place.key)
        calls = [Call("under", shard, bytes(some)) for shard, some in asked.items()]
        numbers = b"".join(await self._ask_all(calls))
        hits = Counter(number for (number,) in _NUMBERS.iter_unpack(numbers))
        del hits[own]
        ranked = sorted(hits, key=lambda number: (-hits[number], -number))[:_MOST]
        calls = [
            Call("tell", number % self._count, (number // self._count).to_bytes(4))
            for number in ranked
        ]
        oldest = self._terms.oldest_time(int(time.time()))
        records = (
            parse_record(number, packed, self._terms.odd_bytes)
            for number, packed in zip(ranked, await self._ask_all(calls), strict=True)
        )
        return [one for one in records if one is not None and one.last_seen >= oldest]

    async def _is_to_be_kept(self, url: str) -> bool:
        """Whether a person's override keeps the page: then no other page counts."""
        keys = self._shards.keys[self._spread.shard_of(url)]
        with explain_faults():
            async with asyncio.timeout(self._timeout):
                return bool(await self._client.hget(keys.overrides, url) == b"keep")
