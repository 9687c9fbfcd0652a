"""Pages in an exported index: the record of each is a line of JSON, checked when it is read."""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Any, Final

from ..fingerprint import EXACT_BYTES, NO_OWN
from ..identity import fetched_url, identity
from ..ranks import LONGEST_RANK
from ..sketches.anchors import are_stored
from ..store.layout import KINDS, NO_KEY
from ..store.records import STANDING, PageRecord
from ..verdict import COPIES

_LONGEST_URL: Final = 4096
_MOST_KEYS: Final = 224
_EARLIER_EXACT_BYTES: Final = 16

# Whole numbers of a record: name in the file → field and size in bytes.
_NUMBERS: Final = {
    "n": ("number", 4),
    "first": ("first_seen", 4),
    "seen": ("last_seen", 4),
    "words": ("words", 4),
    "level": ("level", 1),
    "sampled": ("sampled", 2),
    "odd_bits": ("odd_bits", 2),
    "of_sampled": ("other_sampled", 2),
    "gone": ("gone", 4),
    "replaces": ("replaces", 4),
}


def to_line(record: PageRecord) -> dict[str, Any]:
    """A record as a line of the file, without values that are 0 or empty."""
    numbers = {name: getattr(record, field) for name, (field, _) in _NUMBERS.items()}
    line: dict[str, Any] = {name: value for name, value in numbers.items() if value}
    line |= {"url": record.url, "standing": record.standing, "last": record.last}
    line["exact"] = record.exact.hex()
    if not record.is_kept:
        line["of"] = record.representative
    if record.fetched:
        line["fetched"] = record.fetched
    if any(record.canonical):
        line["canonical"] = record.canonical.hex()
    if record.rank:
        line["rank"] = record.rank.hex()
    if any(record.own):
        line["own"] = record.own.hex()
    if record.odd:
        line["bands"] = b64encode(record.bands).decode()
        line["odd"] = b64encode(record.odd).decode()
    if record.anchors:
        line["anchors"] = b64encode(record.anchors).decode()
    return line


def from_line(line: Any, odd_bytes: int) -> PageRecord:
    """The record in a line. Raises ValueError, which says what is wrong."""
    if not isinstance(line, dict):
        raise ValueError("no page")
    numbers = {}
    for name, (field, size) in _NUMBERS.items():
        value = line.get(name, 0)
        if type(value) is not int or not 0 <= value < 1 << 8 * size:
            raise ValueError(f"{name} is not a number of {size} bytes: {value!r}")
        numbers[field] = value
    standing, last, url = line.get("standing"), line.get("last"), line.get("url")
    if standing not in STANDING or last is None or last not in KINDS.values():
        raise ValueError(f"not a verdict: {standing!r}, {last!r}")
    if not isinstance(url, str) or len(url) > _LONGEST_URL:
        raise ValueError("has no URL")
    representative = line.get("of", 0) if standing in COPIES else numbers["number"]
    if type(representative) is not int or not 0 <= representative < 1 << 32:
        raise ValueError(f"of is not a number of 4 bytes: {representative!r}")
    exact = _parse_hex(line, "exact", EXACT_BYTES, _EARLIER_EXACT_BYTES)
    canonical = _parse_hex(line, "canonical", 4)
    bands, odd, anchors = (_parse_base64(line, name) for name in ("bands", "odd", "anchors"))
    if len(odd) not in (0, odd_bytes) or len(bands) % 4 or len(bands) > 4 * _MOST_KEYS:
        raise ValueError("its sketch has another size")
    if bool(odd) != (standing == "unique") or bool(bands) != bool(odd):
        raise ValueError(f"a page that is {standing} has another sketch")
    if not are_stored(anchors) or (anchors and not odd):
        raise ValueError("its anchors are invalid")
    return PageRecord(
        url=url,
        standing=standing,
        last=last,
        exact=exact,
        url_key=NO_KEY,  # the importing index computes it
        representative=representative,
        bands=bands,
        odd=odd,
        rank=_parse_rank(line),
        canonical=canonical,
        own=_parse_hex(line, "own", len(NO_OWN)),
        anchors=anchors,
        fetched=_parse_fetched(line, url),
        **numbers,
    )


def _parse_fetched(line: dict[str, Any], url: str) -> str:
    value = line.get("fetched", "")
    if not isinstance(value, str):
        raise ValueError("fetched is not text")
    # The URL of another page is not shown; another w3lib may have written it.
    is_same = len(value) <= _LONGEST_URL and identity(value, canonical=True) == url
    return fetched_url(value, url) if is_same else ""


def _parse_rank(line: dict[str, Any]) -> bytes:
    date = line.get("date", 0)  # the rank in files of earlier versions
    if type(date) is not int or not 0 <= date < 1 << 32:
        raise ValueError(f"date is not a number of 4 bytes: {date!r}")
    rank = line.get("rank", f"{date:08x}" if date else "")
    if not isinstance(rank, str) or len(found := bytes.fromhex(rank)) > LONGEST_RANK:
        raise ValueError("its rank is too long")
    return found


def _parse_hex(line: dict[str, Any], name: str, *sizes: int) -> bytes:
    """A hash of any of these `sizes`, cut to the first of them."""
    value = line.get(name, "00" * sizes[0])
    if not isinstance(value, str) or len(value) // 2 not in sizes:
        raise ValueError(f"{name} is not a hash of {sizes[0]} bytes")
    return bytes.fromhex(value)[: sizes[0]]


def _parse_base64(line: dict[str, Any], name: str) -> bytes:
    value = line.get(name, "")
    if not isinstance(value, str):
        raise ValueError(f"{name} is not text")
    return b64decode(value, validate=True)
