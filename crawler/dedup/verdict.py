"""Verdicts, and what the index knows about a page."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final, NamedTuple

from ..wording import round_down

CONTAINED: Final = "contained"  # stands in DEDUP_DROP beside the kinds of verdicts


class Kind(StrEnum):
    """The kinds of verdict."""

    UNIQUE = "unique"  # no kept page is like it: kept
    EXACT = "exact"  # its normalised text equals that of a kept page
    NEAR = "near"  # its similarity to a kept page reaches the threshold
    UNCHANGED = "unchanged"  # this URL was seen before, with this text
    REPEATED = "repeated"  # this URL was seen before in this crawl, with this text
    UPDATED = "updated"  # this URL was seen before with another text, or as a duplicate: kept
    SHORT = "short"  # too short for a shingle, and no copy: kept
    UNCHECKED = "unchecked"  # the index gave no answer: kept


class Share(NamedTuple):
    """A page that contains another or is contained in it, and which share of the shorter one's text
    is in both. ``unconfirmed`` says that nobody has seen it since the crawl began, or that what the
    two have in common may be the template of their site.
    """

    url: str
    share: float
    unconfirmed: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The share as plain values."""
        return self._asdict()


class Containment(NamedTuple):
    """The kept pages that a page contains, and those that contain it, the largest share first."""

    contains: tuple[Share, ...] = ()
    contained_in: tuple[Share, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision about one page and the evidence for it.

    ``similarity`` is the Jaccard resemblance to ``duplicate_of``, from 0 to 1. With the method
    `modulo` it is the share of this page that the other contains, unless the option ``score`` says
    otherwise. ``low`` and ``high`` are its 95 % confidence interval. All three are 1 for an exact
    copy, and None if there is nothing to compare with. ``cluster`` is the number of the kept page
    that stands for this one. ``standing`` is the decision that holds for the URL: for ``unchanged``
    and ``repeated`` pages the earlier one, for all others ``kind``. ``replaces`` is the kept page
    whose place this one took, see ``DEDUP_PREFER``. ``canonical`` is another page of the index that
    this one names as canonical. ``unconfirmed`` means that nobody has seen ``duplicate_of`` since
    the crawl began, so its text may have changed.
    ``contains`` and ``contained_in`` are shorter pages that this one has, and longer ones that have
    it; None without ``DEDUP_CONTAINMENT``.
    """

    kind: Kind
    url: str
    duplicate_of: str | None = None
    similarity: float | None = None
    low: float | None = None
    high: float | None = None
    cluster: int | None = None
    standing: Kind | None = None
    replaces: str | None = None
    canonical: str | None = None
    unconfirmed: bool = False
    contains: tuple[Share, ...] | None = None
    contained_in: tuple[Share, ...] | None = None

    @property
    def container(self) -> Share | None:
        """The page that has most of this one, of those that the crawl has seen."""
        return next((one for one in self.contained_in or () if not one.unconfirmed), None)

    def __post_init__(self) -> None:
        if self.standing is None:
            object.__setattr__(self, "standing", self.kind)

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain values, for an item's tag or for JSON.

        >>> Verdict(Kind.UNIQUE, "https://example.com/", cluster=7).to_dict()["kind"]
        'unique'
        """
        # `asdict` would take six times as long, for it copies what nobody can change.
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        for name in Containment._fields:
            shares = values.pop(name)
            if shares is not None:
                values[name] = [one.to_dict() for one in shares]
        return {k: str(v) if isinstance(v, Kind) else v for k, v in values.items()}


@dataclass(frozen=True, slots=True)
class Record:
    """What the index knows about one URL.

    ``kind`` is the current decision. Fields that :class:`Verdict` also has mean the same. Times are
    UTC, and ``words`` counts the words of the main text. ``gone`` is when the URL was reported gone
    from the web; None if it was not, or came back.
    """

    url: str
    kind: Kind
    last_verdict: Kind
    duplicate_of: str | None
    similarity: float | None
    low: float | None
    high: float | None
    cluster: int
    first_seen: datetime
    last_seen: datetime
    words: int
    gone: datetime | None

    def to_dict(self) -> dict[str, Any]:
        """The record as plain values, times in ISO 8601, similarities with four decimals."""
        return {name: plain(value) for name, value in asdict(self).items()}


def time_of(seconds: float) -> datetime:
    """A time that an index or an archive stores, in seconds since 1970."""
    return datetime.fromtimestamp(seconds, UTC)


def plain(value: Any) -> Any:
    """A value as JSON and tables show it."""
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    if isinstance(value, float):
        return round_down(value)
    return str(value) if isinstance(value, Kind) else value
