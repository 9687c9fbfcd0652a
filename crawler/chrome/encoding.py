"""Bytes of a page to text: BOM, HTTP header, meta, and sniffing where nothing is declared."""

from __future__ import annotations

import codecs

from bs4.dammit import UnicodeDammit
from w3lib.encoding import (
    html_body_declared_encoding,
    http_content_type_encoding,
    read_bom,
    resolve_encoding,
)

_SNIFFED = 100_000  # bytes shown to the sniffer; more costs seconds and changes nothing
_WRONG = 0.02  # share of undecodable characters among the non-ASCII ones that refutes a declaration


def decode(body: bytes, content_type: str | None = None) -> tuple[str, str]:
    """Return the name of the encoding and the text.

    A byte order mark wins, then what is valid UTF-8 with any character beyond ASCII (no other
    encoding looks like it by chance), then the HTTP header, then the page's own declaration,
    then a guess.  A declaration that does not fit the bytes is not believed.

    >>> decode("Привет".encode("windows-1251"), "text/html; charset=windows-1251")
    ('cp1251', 'Привет')
    >>> decode("na\u00efve".encode(), "text/html; charset=iso-8859-1")  # a wrong header
    ('utf-8', 'na\u00efve')
    """
    bom, mark = read_bom(body[:4])
    if bom:
        return bom, body[len(mark or b"") :].decode(bom, "replace")
    declared = [
        name
        for name in (
            http_content_type_encoding(content_type),
            html_body_declared_encoding(body),
        )
        if name
    ]
    if not body.isascii() or any(name.startswith("utf-16") for name in declared):
        sparse = body[:1000].count(0) * 3 > len(body[:1000])
        if sparse:
            wide = "utf-16-le" if body[1:1000:2].count(0) > body[0:1000:2].count(0) else "utf-16-be"
            return wide, body.decode(wide, "replace")
    try:
        if not any(name.startswith("iso2022") for name in declared):
            return "utf-8", body.decode()
    except UnicodeDecodeError:
        pass
    for name in declared:
        text = _decode(body, name)
        if text is not None and _fits(text):
            return name, text
    sample = body if len(body) <= _SNIFFED else body[:_SNIFFED]
    guess = UnicodeDammit(sample, known_definite_encodings=[], is_html=True).original_encoding
    resolved = resolve_encoding(guess or "") or "cp1252"
    return resolved, _decode(body, resolved) or body.decode("cp1252", "replace")


def _decode(body: bytes, name: str) -> str | None:
    try:
        codec = codecs.lookup(name)
    except LookupError:
        return None
    return codec.decode(body, "replace")[0]


def _fits(text: str) -> bool:
    """Whether hardly any of the characters beyond ASCII are replacements."""
    wrong = text.count("\ufffd")
    if not wrong:
        return True
    beyond = len(text) - len(text.encode("ascii", "ignore"))
    return wrong <= 1 or wrong < _WRONG * beyond
