"""Ranks: which of two copies is kept, by the order in ``DEDUP_PREFER``.

A rank is a string of bytes, made of the criteria from the first to the last. Of two copies the one
with the smaller rank is kept, of equal ranks the first to arrive. So the server can compare ranks
without knowing the criteria, and the best copy is kept in whatever order they come.
"""

from __future__ import annotations

import difflib
import math
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from datetime import UTC, date, datetime, time
from email.utils import parsedate_to_datetime
from typing import Any, Final, NamedTuple

CHOSEN: Final = b"\0"  # rank of a page that a person preferred: the best
_FIELD: Final = "field:"
LONGEST_RANK: Final = 255  # bytes of a rank
_MOST: Final = 0xFFFFFFFF
_UNKNOWN: Final = b"\xff"  # fills the bytes of a criterion without a value
# Words that people try for a criterion.
_MEANT: Final = {
    "earliest": "earlier", "oldest": "earlier", "latest": "later", "newest": "later",
    "longer": "longest", "shortest": "shortest-url", "http": "https", "date": "earlier or later",
}  # fmt: skip


class CriteriaValues(NamedTuple):
    """A page's values for the criteria: its URL, whether it names another one as canonical, the
    words and the date of its text, and numbers in fields of its item.
    """

    url: str
    names_other: bool = False
    words: int = 0
    date: datetime | None = None
    fields: Mapping[str, Any] = {}


def _read_canonical(page: CriteriaValues) -> bytes:
    return bytes([1 + page.names_other])


def _read_https(page: CriteriaValues) -> bytes:
    return bytes([1 + (not page.url.lower().startswith("https:"))])


def _read_earlier(page: CriteriaValues) -> bytes:
    return (seconds_of(page.date) if page.date else _MOST).to_bytes(4)


def _read_later(page: CriteriaValues) -> bytes:
    return (_MOST - (seconds_of(page.date) if page.date else 0)).to_bytes(4)


def _read_longest(page: CriteriaValues) -> bytes:
    return (_MOST - min(page.words, _MOST)).to_bytes(4)


def _read_shortest_url(page: CriteriaValues) -> bytes:
    return min(len(page.url), 0xFFFF).to_bytes(2)


DATES: Final = frozenset({"earlier", "later"})
"""Criteria that compare dates."""

_CRITERIA: Final[dict[str, Callable[[CriteriaValues], bytes]]] = {
    "canonical": _read_canonical,
    "earlier": _read_earlier,
    "later": _read_later,
    "longest": _read_longest,
    "https": _read_https,
    "shortest-url": _read_shortest_url,
}


def parse_order(value: Any) -> tuple[str, ...]:
    """The criteria of a list, or of a text with commas, the most important first.

    Raises ValueError, which says what is expected, for a misspelt criterion.

    >>> parse_order("https, score, https")
    ('https', 'score')
    >>> parse_order("longst")
    Traceback (most recent call last):
    ...
    ValueError: expects longest, or field:longst for an item field of that name
    """
    if isinstance(value, Set) and len(value) > 1:
        raise ValueError("expects a list or a text with commas, for the order counts")
    words = value.split(",") if isinstance(value, str) else value
    if not isinstance(words, Iterable) or not all(isinstance(word, str) for word in words):
        raise ValueError("expects criteria, in a list or a text with commas, or '' for none")
    order = tuple(dict.fromkeys(word.strip() for word in words if word.strip()))
    for word in order:
        _check_word(word)
    if len(fields_of(order)) > LONGEST_RANK // 8 - 2:
        raise ValueError("expects fewer fields")
    return order


def _check_word(word: str) -> None:
    if word in _CRITERIA:
        return
    if word.startswith(_FIELD):
        if not word.removeprefix(_FIELD):
            raise ValueError("expects the name of an item field after field:")
        return
    low = word.lower().replace("_", "-")
    close = difflib.get_close_matches(low, _CRITERIA, 1, 0.75)
    meant = _MEANT.get(low) or next(iter(close), None)
    if meant:
        raise ValueError(f"expects {meant}, or field:{word} for an item field of that name")


def fields_of(order: Iterable[str]) -> list[str]:
    """The fields of items that an order names.

    >>> fields_of(("https", "score", "field:longest"))
    ['score', 'longest']
    """
    return [word.removeprefix(_FIELD) for word in order if word not in _CRITERIA]


def stored_order(order: Sequence[str]) -> str | None:
    """The order as the index stores it; None if it stores nothing.

    The orders of the first versions are not stored, so that their indexes can be opened.
    """
    return None if {"canonical", "earlier"}.issuperset(order) else ",".join(order)


def rank_of(order: Sequence[str], page: CriteriaValues) -> bytes:
    """The rank of a page; b"" if nothing is known about it, which is worse than any other.

    >>> long, short = (CriteriaValues("https://example.com/", words=words) for words in (300, 200))
    >>> is_better(rank_of(["https", "longest"], long), rank_of(["https", "longest"], short))
    True
    """
    rank = b"".join(
        _CRITERIA[word](page)
        if word in _CRITERIA
        else _pack_number(read_number(page.fields.get(word.removeprefix(_FIELD))))
        for word in order
    )
    if tuple(order) == ("earlier", "canonical"):
        rank += b"\0"  # tells its size from that of the reverse order, see _date_first
    return rank if rank.strip(_UNKNOWN) else b""


def is_better(rank: bytes, other: bytes) -> bool:
    """Whether the first rank is better than the other, as in similar_pages.lua.

    >>> is_better(b"12", b"13"), is_better(b"12", b"12"), is_better(b"12", b""), is_better(b"", b"")
    (True, False, True, False)
    """
    if not rank or not other:
        return bool(rank)
    if len(rank) != len(other):
        rank, other = _date_first(rank), _date_first(other)
    size = min(len(rank), len(other))
    return rank[:size] < other[:size]


def _date_first(rank: bytes) -> bytes:
    """The part of a rank that compares with a rank of another size.

    Only orders of ``canonical`` and ``earlier`` meet in one index, as :func:`stored_order` stores
    none of them. Where they differ, only their dates compare.
    """
    return rank[1:] if len(rank) == 5 and 0 < rank[0] <= 2 else rank


def only_value(value: Any) -> Any:
    """The value in a list of one value, which item loaders make without TakeFirst().

    >>> only_value(["Tea"]), only_value(["Tea", "Cake"])
    ('Tea', ['Tea', 'Cake'])
    """
    return value[0] if type(value) in (list, tuple) and len(value) == 1 else value


def read_number(value: Any) -> float | None:
    """A number, also in a text or a list of one; None for anything else.

    >>> read_number(["4.5"]), read_number("many"), read_number(10**400)
    (4.5, None, inf)
    """
    value = only_value(value)
    try:
        number = float(value)
    except OverflowError:  # a whole number with hundreds of digits
        return math.inf if value > 0 else -math.inf
    except (TypeError, ValueError):
        return None
    return None if math.isnan(number) else number


def read_date(value: Any) -> datetime | None:
    """A date, in UTC if it has no time zone; None for anything else, also for years of other
    calendars.

    >>> read_date("2026-05-01T12:00:00+02:00").isoformat()
    '2026-05-01T12:00:00+02:00'
    >>> read_date("Fri, 01 May 2026 10:00:00 GMT").isoformat()
    '2026-05-01T10:00:00+00:00'
    >>> read_date("last week"), read_date("1405-02-11")
    (None, None)
    """
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time())
    elif isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            try:
                value = parsedate_to_datetime(value)
            except (ValueError, IndexError, OverflowError):
                return None
    # ISO 8601 begins with 1583; Persian and Islamic years are lower, Buddhist ones higher.
    if not isinstance(value, datetime) or not 1583 <= value.year <= datetime.now(UTC).year + 1:
        return None
    return value if value.utcoffset() is not None else value.replace(tzinfo=UTC)


def _pack_number(value: float | None) -> bytes:
    """Pack a number into eight bytes that sort in descending order of the numbers."""
    if value is None:
        return 8 * _UNKNOWN
    (bits,) = struct.unpack(">Q", struct.pack(">d", value + 0.0))  # turns -0.0 into 0.0
    # As integers, the bits of positive numbers ascend, so they are inverted. Those of negative ones
    # follow, and descend already.
    code: int = bits if bits >> 63 else bits ^ (1 << 63) - 1
    return code.to_bytes(8)


def seconds_of(date: datetime) -> int:
    """A date in seconds since 1970, from 1 to 2**32 - 1, so that it fits into four bytes."""
    try:
        seconds = date.timestamp()
    except (OverflowError, ValueError, OSError):  # local time knows no date before the year 1
        seconds = date.replace(tzinfo=UTC).timestamp()
    return within(seconds)


def within(seconds: float) -> int:
    """The nearest time from 1 to 2**32 - 1, which four bytes hold; 0 stands for no time."""
    return min(max(1, int(seconds)), _MOST)
