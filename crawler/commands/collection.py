"""Documents in a file of JSON lines."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ..extractor import Extractor


class Fields(NamedTuple):
    """The fields of a document: possible ``names`` (the first found counts), text, HTML, scope."""

    names: Sequence[str]
    text: str
    html: str
    scope: str | None = None


class Listed(NamedTuple):
    """A document of a collection, with its ``scope`` if a field has it."""

    name: str
    text: str
    scope: str | None


def read_collection(source: str, fields: Fields, extract: Extractor) -> Iterator[Listed]:
    """Yield name, main text and scope of each document in a file; ``-`` is standard input.

    A file is decompressed if its name says that it is gzip or zstd. Empty lines are skipped. If the
    text field is empty, `extract` takes the text from the HTML field. Raises :class:`InputError`,
    which names the line, for an invalid document.
    """
    from ..dedup.errors import InputError
    from ..offline.records.files import UNREADABLE, Format, format_of, open_lines, refuse_array
    from ..offline.records.lines import LINE

    if source != "-" and format_of(source) not in (None, Format.JSONL):
        raise InputError(
            f"{source!r} does not hold JSON lines: `scrapy dedup load` and `corpus` read it"
        )
    stdin = nullcontext(sys.stdin.buffer)
    try:
        with stdin if source == "-" else open_lines(source) as file:
            number, begun = 0, False
            while line := file.readline(LINE):
                number += 1
                if not begun:
                    refuse_array(source, line)
                    begun = not line.isspace()
                try:
                    if document := _read_document(line, fields, extract):
                        yield document
                except ValueError as error:
                    raise InputError(f"{source!r}, line {number}: {error}") from None
    except UNREADABLE as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot read {source!r}: {reason}") from None


def _read_document(line: bytes, fields: Fields, extract: Extractor) -> Listed | None:
    from ..dedup.scopes import field_scope
    from ..extractor import text_of
    from ..offline.records.lines import json_in

    if not line.strip():
        return None
    item = json_in(line)
    if not isinstance(item, dict):
        raise ValueError("not a JSON object")
    found = [item[field] for field in fields.names if item.get(field) is not None]
    if not found:
        raise ValueError(f"has no field {' or '.join(map(repr, fields.names))}")
    if not isinstance(found[0], (str, int)):
        raise ValueError(f"its name is not text: {json.dumps(found[0])[:40]}")
    text = _text_of_field(item, fields.text) or ""
    html = None if text else _text_of_field(item, fields.html)
    if html is None and fields.text not in item:
        raise ValueError(f"has no field {fields.text!r} or {fields.html!r}")
    scope = field_scope(item.get(fields.scope)) if fields.scope else None
    return Listed(str(found[0]), text_of(extract(html)) if html else text, scope)


def _text_of_field(item: dict[str, Any], field: str) -> str | None:
    value = item.get(field)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"its field {field!r} is not text: {json.dumps(value)[:40]}")
    return value
