"""Verdicts, and what the index knows about a page."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final, NamedTuple

from ..wording import round_down

CONTAINED: Final = "contained"  # a value of DEDUP_DROP beside the kinds of verdicts


class Kind(StrEnum):
    """The kinds of verdict; each is a str, such as ``"unique"``."""

    UNIQUE = "unique"  # it resembles no kept page: kept
    EXACT = "exact"  # its normalised text equals that of a kept page
    NEAR = "near"  # its similarity to a kept page reaches the threshold
    UNCHANGED = "unchanged"  # this URL was seen before, with this text
    REPEATED = "repeated"  # this URL was seen before in this crawl, with this text
    UPDATED = "updated"  # this URL was seen before with another text, or as a duplicate: kept
    SHORT = "short"  # too short for a shingle, and not a copy: kept
    UNCHECKED = "unchecked"  # the index gave no answer, or the item has no page: kept


COPIES: Final = frozenset({Kind.EXACT, Kind.NEAR})


class Share(NamedTuple):
    """A page that contains another or is contained in it.

    Attributes
    ----------
    url
        The page's URL.
    share
        The share of the shorter text that both have, 0 to 1.
    unconfirmed
        Whether the page has not been seen since the crawl began, or the shared text may be the
        template of the site.
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

    Attributes
    ----------
    kind
        The kind of verdict.
    url
        The page's URL. Other pages are named by the URL under which they were last fetched.
    duplicate_of
        The kept page that this one is a copy of, if it is one.
    similarity
        Jaccard resemblance to ``duplicate_of``, 0 to 1. With the method ``modulo``, the share of
        this page that the other contains, unless the option ``score`` says otherwise.
    low, high
        The 95 % confidence interval of the similarity. All three are 1 for an exact copy, and None
        if there is nothing to compare with.
    cluster
        The number of the kept page that stands for this one.
    standing
        The decision that holds for the URL: for ``unchanged`` and ``repeated`` pages the earlier
        one, for all others ``kind``.
    replaces
        The kept page whose place this one took, see ``DEDUP_PREFER``.
    canonical
        Another page of the index that this one names as canonical.
    unconfirmed
        Whether ``duplicate_of`` has not been seen since the crawl began: its text may have changed.
    contains, contained_in
        Shorter kept pages that this one contains, and longer ones that contain it; None without
        ``DEDUP_CONTAINMENT``.
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
        """The page that contains most of this one, among those that the crawl has seen."""
        return next((one for one in self.contained_in or () if not one.unconfirmed), None)

    def __post_init__(self) -> None:
        if self.standing is None:
            object.__setattr__(self, "standing", self.kind)

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain values, for an item's tag or for JSON.

        Examples
        --------
        >>> Verdict(Kind.UNIQUE, "https://example.com/", cluster=7).to_dict()["kind"]
        'unique'
        """
        # `asdict` would take six times as long, because it copies immutable values.
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        for name in Containment._fields:
            shares = values.pop(name)
            if shares is not None:
                values[name] = [one.to_dict() for one in shares]
        return {k: str(v) if isinstance(v, Kind) else v for k, v in values.items()}


@dataclass(frozen=True, slots=True)
class Record:
    """What the index knows about one URL.

    Attributes
    ----------
    url, duplicate_of, similarity, low, high, cluster
        As in a :class:`Verdict`.
    kind
        The current decision.
    last_verdict
        The verdict of the last check, for kept pages of the last one that was not ``repeated``.
    first_seen, last_seen
        Times of the first and the last check, in UTC.
    words
        The number of words of the main text.
    gone
        When the URL was reported gone from the web, in UTC; None if it was not, or came back.
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
