"""A page of an index as people and programs read it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self

from ..similarity import Estimate
from ..store.records import PageRecord, read_pages, read_records

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from ..index import DuplicateIndex
    from ..store.records import Progress


@dataclass(frozen=True, slots=True)
class Page:
    """A page, the decision that stands for it, and what that rests on.

    ``similarity``, with the interval from ``low`` to ``high``, is that to ``duplicate_of``; all
    four are None where there is nothing to compare with. ``cluster`` is the number of the kept page
    that stands for this one.
    """

    url: str
    kind: str
    duplicate_of: str | None
    similarity: float | None
    low: float | None
    high: float | None
    cluster: int
    first_seen: datetime
    last_seen: datetime
    words: int

    @classmethod
    def of(
        cls, record: PageRecord, duplicate_of: PageRecord | None, estimate: Estimate | None
    ) -> Self:
        """The page of a record, and what it is compared with."""
        return cls(
            record.url,
            record.standing,
            duplicate_of.url if duplicate_of else None,
            estimate.similarity if estimate else None,
            estimate.low if estimate else None,
            estimate.high if estimate else None,
            duplicate_of.number if duplicate_of else record.representative,
            datetime.fromtimestamp(record.first_seen, UTC),
            datetime.fromtimestamp(record.last_seen, UTC),
            record.words,
        )

    def to_dict(self) -> dict[str, Any]:
        """The page as plain values, times in ISO 8601, similarities with four decimals."""
        return {name: plain(value) for name, value in asdict(self).items()}


def plain(value: Any) -> Any:
    """A value as JSON and tables show it."""
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    return round(value, 4) if isinstance(value, float) else value


def all_records(index: DuplicateIndex, progress: Progress | None) -> AsyncIterator[PageRecord]:
    """Every record of an open index."""
    return read_records(index.store, odd_bytes=index.config.sketch_bits // 8, progress=progress)


async def records_of(index: DuplicateIndex, numbers: Iterable[int]) -> dict[int, PageRecord]:
    """The records of the pages with these numbers that are there."""
    return await read_pages(index.store, numbers, odd_bytes=index.config.sketch_bits // 8)
