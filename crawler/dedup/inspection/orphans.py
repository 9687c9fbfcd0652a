"""Orphans: copies whose original disappeared or changed, and that were not seen since."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from ..fingerprint import Fingerprint
from ..verdict import plain, time_of
from .read_records import all_records, end_of, originals_of, records_of

if TYPE_CHECKING:
    from ..open_index import OpenIndex
    from ..store.records import PageRecord, Progress

_BATCH: Final = 500  # copies whose originals are looked at in one go


@dataclass(frozen=True, slots=True)
class Orphan:
    """A copy whose text no kept page has.

    ``since`` is when its original was found gone, or else when the copy was last seen. ``original``
    is that page, if it is still known.
    """

    url: str
    since: datetime
    original: str | None

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values, the time in ISO 8601."""
        return {name: plain(value) for name, value in asdict(self).items()}


async def read_orphans(
    index: OpenIndex, progress: Progress | None = None
) -> AsyncGenerator[Orphan, None]:
    """The copies of an index whose texts no kept page has, in the order of the index.

    Copies that are gone themselves do not count. Crawls may continue: their decisions during the
    call may or may not be included.
    """
    waiting: list[PageRecord] = []
    async for record in all_records(index, progress):
        if not record.is_kept and not record.gone:
            waiting.append(record)
        if len(waiting) == _BATCH:
            for orphan in await _orphans_of(index, waiting):
                yield orphan
            waiting.clear()
    for orphan in await _orphans_of(index, waiting):
        yield orphan


async def _orphans_of(index: OpenIndex, copies: list[PageRecord]) -> list[Orphan]:
    found, originals = [], await originals_of(index, {copy.representative for copy in copies})
    for copy in copies:
        original = originals.get(end_of(copy.representative, originals))
        if original is None or not original.is_kept or original.gone:
            found.append((copy, original))
    if not found:
        return []
    kept = await _kept_texts(index, {copy.exact: copy for copy, _ in found})
    return [
        Orphan(
            copy.shown_url,
            time_of(original.gone if original is not None and original.gone else copy.last_seen),
            original.shown_url if original is not None else None,
        )
        for copy, original in found
        if copy.exact not in kept
    ]


async def _kept_texts(index: OpenIndex, copies: dict[bytes, PageRecord]) -> set[bytes]:
    """The exact hashes of `copies` that a kept page has now, unless it is gone."""
    entries = [
        index.store.list_entries(0, Fingerprint(exact, copy.words))[0]
        for exact, copy in copies.items()
        if copy.words
    ]
    numbers = {number for under in await index.store.pages_under(entries) for number in under}
    records = await records_of(index, numbers)
    return {one.exact for one in records.values() if one.is_kept and not one.gone}
