"""A line of the spool: a request to check a page, or a report of a gone URL, as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from ..fingerprint import EXACT_BYTES, NO_OWN, Fingerprint
from ..ranks import LONGEST_RANK
from ..sketches.odd import OddSketch
from ..store.messages import CheckRequest, Gone

_LONGEST_TEXT: Final = 4096  # characters; URLs as the index knows them and hosts are far shorter
_TOKEN_BYTES: Final = 4

Kept: TypeAlias = CheckRequest | Gone


def write_line(request: Kept, index: str) -> bytes:
    """Return a request to an index as a line."""
    if isinstance(request, Gone):
        report = {"index": index, "gone": request.url, "since": request.since}
        return json.dumps(report).encode() + b"\n"
    page = request.fingerprint
    record = {
        "index": index,
        "url": request.url,
        "host": request.host,
        "token": request.token.hex(),
        "exact": page.exact.hex(),
        "words": page.words,
        "bands": page.bands.hex(),
        "own": page.own.hex(),
        "odd": [[sketch.level, sketch.members, sketch.bits.hex()] for sketch in page.odd],
        "canonical": request.canonical,
        "yields": request.yields,
        "rank": request.rank.hex(),
        "preferred": request.preferred,
        "since": request.since,
        "crawl": request.crawl,
    }
    if page.anchors:
        record["anchors"] = page.anchors.hex()
    if request.fetched:
        record["fetched"] = request.fetched
    return json.dumps(record).encode() + b"\n"


def read_request(line: bytes, index: str) -> Kept | None:
    """Return the request in a line; None if it is of another index or damaged."""
    try:
        record: dict[str, Any] = json.loads(line)
        if record["index"] != index:
            return None
        if "gone" in record:
            return Gone(*_read_fields(record, _REPORT))
        # Defaults for lines of earlier versions, and for pages without these fields.
        date = _parse_number(4)(record.get("date", 0))
        earlier = {"preferred": False, "since": 0, "own": NO_OWN.hex(), "crawl": 0, "anchors": ""}
        earlier["fetched"] = ""
        record = earlier | {"rank": date.to_bytes(4).hex() if date else ""} | record
        page = Fingerprint(*_read_fields(record, _FINGERPRINT))
        url, host, token, *rest = _read_fields(record, _REQUEST)
        crawl, fetched = _read_fields(record, {"crawl": _parse_number(4), "fetched": _parse_text})
        request = CheckRequest(url, host, token, page, *rest)
        return request._replace(crawl=crawl, fetched=fetched)
    # Cut by a full disk, or changed by hand; kept for a person to see.
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def is_garbage(line: bytes) -> bool:
    """Return whether a line is not a request of any index or version."""
    try:
        return not isinstance(json.loads(line)["index"], str)
    except (ValueError, KeyError, TypeError, RecursionError):
        return True


def read_report(line: bytes) -> Gone | None:
    """Return the report in a line of any index; None if it is not a report."""
    try:
        return Gone(*_read_fields(json.loads(line), _REPORT))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def rename_index(line: bytes, source: str, target: str) -> bytes:
    """Return a line with the index `target`, if it has the index `source`."""
    try:
        record = json.loads(line)
        name, _, digest = record["index"].partition(" ")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return line
    if name != source:
        return line
    return json.dumps(record | {"index": f"{target} {digest}"}).encode() + b"\n"


def _parse_text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST_TEXT:
        raise ValueError
    value.encode()  # a lone surrogate is no text
    return value


def _parse_number(size: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if type(value) is not int or not 0 <= value < 1 << 8 * size:
            raise ValueError
        return value

    return read


def _parse_hex(size: int) -> Callable[[Any], bytes]:
    def read(value: Any) -> bytes:
        if len(found := bytes.fromhex(value)) != size:
            raise ValueError
        return found

    return read


def _parse_rank(value: Any) -> bytes:
    if len(found := bytes.fromhex(value)) > LONGEST_RANK:
        raise ValueError
    return found


def _parse_boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError
    return value


def _parse_sketches(value: Any) -> tuple[OddSketch, ...]:
    if not isinstance(value, list):
        raise ValueError
    level, members = _parse_number(1), _parse_number(2)
    return tuple(OddSketch(level(a), members(b), bytes.fromhex(bits)) for a, b, bits in value)


_Fields: TypeAlias = dict[str, Callable[[Any], Any]]


def _read_fields(record: dict[str, Any], fields: _Fields) -> list[Any]:
    return [read(record[name]) for name, read in fields.items()]


# The fields of a line with their parsers, in the order of the classes' fields. A value that the
# server cannot take must not get there: it would hold up all following lines.
_REPORT: Final[_Fields] = {"gone": _parse_text, "since": _parse_number(4)}
_FINGERPRINT: Final[_Fields] = {
    "exact": _parse_hex(EXACT_BYTES),
    "words": _parse_number(4),
    "bands": bytes.fromhex,
    "odd": _parse_sketches,
    "own": _parse_hex(len(NO_OWN)),
    "anchors": bytes.fromhex,
}
_REQUEST: Final[_Fields] = {
    "url": _parse_text,
    "host": _parse_text,
    "token": _parse_hex(_TOKEN_BYTES),
    "canonical": _parse_text,
    "yields": _parse_boolean,
    "rank": _parse_rank,
    "preferred": _parse_boolean,
    "since": _parse_number(4),
}
