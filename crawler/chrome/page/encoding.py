"""Decodes a page: BOM, HTTP header, meta, and a guess if nothing is declared."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from operator import ne
from typing import Final

import numpy as np
from chardetng_py import detect
from w3lib.encoding import (
    html_body_declared_encoding,
    http_content_type_encoding,
    read_bom,
    resolve_encoding,
)


def count_bytes(page: bytes, first: int, last: int) -> int:
    """Count the bytes from `first` to `last`, five times as fast as `bytes.count` if frequent.

    >>> count_bytes(b"<p>tea</p>", ord("<"), ord("<")), count_bytes(b"tea\\x1f", 14, 31)
    (2, 1)
    """
    chars = np.frombuffer(page, np.uint8)
    return int(np.count_nonzero(chars - np.uint8(first) <= np.uint8(last - first)))


def utf8_errors(page: bytes) -> tuple[int, int]:
    """Count the replacement characters of a page read as UTF-8, and all its non-ASCII characters.

    >>> utf8_errors("naïve caf".encode() + bytes([233]))
    (1, 2)
    """
    text = page.decode("utf-8", "replace")
    return text.count("\ufffd"), _count_beyond(text)


def begins_as_html(page: bytes) -> bool:
    """Whether bytes begin as a page of HTML does, within the first 4096.

    >>> begins_as_html(b"<!-- tea --> <!DOCTYPE html><title>"), begins_as_html(b"<p>tea")
    (True, False)
    """
    return _HTML.match(page[:_HEAD]) is not None


def _count_beyond(text: str) -> int:
    """The number of non-ASCII characters."""
    return len(text) - len(text.encode("ascii", "ignore"))


_HTML: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s|<\?xml[^>]*>|<!--.*?-->)*+<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
_BEYOND: Final = re.compile(rb"[\x80-\xff]+")
_BETWEEN_TAGS: Final = re.compile(rb"[^<>]+")
_FEW: Final = 20  # bytes
# Bytes beyond ASCII that follow each other, on average; in Western texts 1.1.
_LATIN_RUN: Final = 2
_HEAD: Final = 4096  # bytes in which w3lib looks for a declaration, and comments may end
# Hebrew in reading order, as all of it is now; Python has it under the second name only.
_LOGICAL: Final = "iso-8859-8-i", "iso-8859-8"
_SAMPLE: Final = 20_000  # bytes by which an encoding is guessed; more change nothing
_BEFORE: Final = 1000  # bytes shown before the first one beyond ASCII
# Markup and spaces, which pages in any language have, and their least share in undeclared UTF-16.
# Letters prove less: some Chinese ones, with their bytes swapped, are letters of ASCII.
_MARKUP: Final = b'\t\n\r "/<=>'
_SOME_MARKUP: Final = 0.02
# Share of undecodable characters among the non-ASCII ones that refutes a declaration.
_WRONG: Final = 0.02
# The same for UTF-8 that was cut or has bytes of another encoding; other encodings exceed half.
_BROKEN: Final = 0.3
# Words with other bytes that declared UTF-8 may have for each correct one.  In other encodings
# hardly a word beyond ASCII is correct UTF-8 by chance.
_BROKEN_WORDS: Final = 2
_WORDS: Final = 300  # beyond ASCII that are checked

_TO_JAPANESE: Final = re.compile(rb"\x1b\$[@B]")  # begins ISO-2022-JP, whose bytes are ASCII
# No text has this share of these control characters; images, archives and programs mostly have 2 %
# and more, random bytes 4 %.  Zeros do not count, nor escapes, which colour a log.
_CONTROLS: Final = 16, 26
_MOST_CONTROLS: Final = 0.01


def as_builtin(text: str | bytes) -> str | bytes:
    """The plain text or bytes in an instance of a subclass.

    A subclass may do anything, such as keep the tree from which its text was taken.
    """
    if isinstance(text, str):
        return str.__str__(text)
    return bytes.__getitem__(text, slice(None)) if isinstance(text, bytes) else bytes(text)


def decode_body(body: bytes, content_type: str | None = None) -> tuple[str, str]:
    """Return the name of the encoding and the text.

    A byte order mark wins, then valid UTF-8, apart from some characters (no other encoding looks
    like it by chance), then the HTTP header, the page's own declaration, and a guess. A declaration
    that does not fit the bytes is ignored, even a mark of UTF-8.

    >>> decode_body("Привет".encode("windows-1251"), "text/html; charset=windows-1251")
    ('cp1251', 'Привет')
    >>> decode_body("naïve".encode(), "text/html; charset=iso-8859-1")  # a wrong header
    ('utf-8', 'naïve')
    """
    bom, mark = read_bom(body[:4])
    if bom and bom != "utf-8":
        return bom, body[len(mark or b"") :].decode(bom, "replace")
    declared = list(_declared_encodings(body, content_type))
    if bom:  # programs put it before a text in any encoding
        declared.insert(0, bom)
        body = body[len(mark or b"") :]
    elif wide := _find_utf_16(body[:_BEFORE], declared):
        return wide, body.decode(wide, "replace")
    in_japanese = next((name for name in declared if name.startswith("iso2022")), None)
    if not bom and body.isascii() and _TO_JAPANESE.search(body):
        in_japanese = in_japanese or "iso2022_jp"
        declared.insert(0, in_japanese)  # ASCII fits whatever the header names
    first = None
    if not (in_japanese and body.isascii()):
        try:
            return "utf-8", body.decode()
        except UnicodeDecodeError:
            if is_binary(body) and all(map(_has_ascii, declared)):
                return "ascii", body.decode("ascii", "ignore")
        first = _BEYOND.search(body)
    at = max(first.start() - _BEFORE, 0) if first else 0
    sample = body[at : at + _SAMPLE]
    if first and (_is_broken_utf8(body) or _has_words_of_utf8(sample, declared)):
        return "utf-8", body.decode("utf-8", "replace")
    for name in _order_declarations(declared, sample):
        text = body.decode(name, "replace")
        if _fits_encoding(text):
            return name, text
    name = guess_encoding(sample)
    return name, body.decode(name, "replace")


def guess_encoding(sample: bytes) -> str:
    """The most probable encoding of text that declares none, by its non-ASCII letters.

    >>> guess_encoding("Чай, напиток из листа чайного куста".encode("koi8-r"))
    'koi8-u'
    """
    name = _detect(sample)
    if name == "cp1252" and _is_foreign(sample):
        # One wrong byte rules out its encoding: the texts between tags that have none decide.
        votes = Counter[str]()
        for text in _BETWEEN_TAGS.findall(sample):
            votes[_detect(text)] += len(text) - count_bytes(text, 0, 127)
        del votes["cp1252"]
        name = max(votes, key=votes.__getitem__, default=name)
    return name


def _detect(sample: bytes) -> str:
    return resolve_encoding(detect(sample)) or "cp1252"


def _declared_encodings(body: bytes, content_type: str | None) -> Iterator[str]:
    """Yield the encodings that the header and the page name, if bytes can be read as these."""
    header = http_content_type_encoding((content_type or "").lower().replace(*_LOGICAL))
    if header and is_charset(header):
        yield header
    head = body[:_HEAD].lower().decode("latin-1").replace(*_LOGICAL)
    own = html_body_declared_encoding(head)
    # The meta tag was readable as ASCII, so UTF-16 and the like are ruled out.
    if own and is_charset(own) and _has_ascii(own):
        yield own


def is_charset(name: str) -> bool:
    """Whether bytes of a page can be decoded by the encoding of that name.

    Python has other codecs too, from bytes to bytes or for host names, and these fail.

    >>> is_charset("koi8-r"), is_charset("rot13"), is_charset("punycode"), is_charset("no-such")
    (True, False, False, False)
    """
    try:
        b"\xff".decode(name, "replace")
    except (LookupError, UnicodeError):
        return False
    return True


def _has_ascii(name: str) -> bool:
    """Whether ASCII is part of an encoding."""
    return b"<".decode(name, "replace") == "<"


def _find_utf_16(beginning: bytes, declared: list[str]) -> str | None:
    """Return which UTF-16 a page without a mark is in: its markup has zeros in one of two places.

    Of another encoding's page most bytes are ASCII side by side.
    """
    if 0 not in beginning:
        return None
    pairs = np.frombuffer(beginning, np.uint8, len(beginning) // 2 * 2).reshape(-1, 2)
    if 2 * np.count_nonzero(((pairs >= 32) & (pairs < 127)).all(1)) > len(pairs):
        return None
    markup = np.isin(pairs, list(_MARKUP)) & (pairs[:, ::-1] == 0)
    little, big = markup.sum(0).tolist()
    for name, found, other in ("utf-16-le", little, big), ("utf-16-be", big, little):
        if (found and name in declared) or found > max(2 * other, _SOME_MARKUP * len(pairs)):
            return name
    return None


def _is_broken_utf8(body: bytes) -> bool:
    """Whether so few of the non-ASCII sequences are invalid UTF-8 that it is UTF-8, damaged."""
    wrong, beyond = utf8_errors(body)
    return wrong < _BROKEN * beyond


def _has_words_of_utf8(sample: bytes, declared: list[str]) -> bool:
    """Whether so many of the non-ASCII words are valid UTF-8 that the others are damaged."""
    if any(name not in ("utf-8", "cp1252") for name in declared):
        return False
    words = [found.group() for found in islice(_BEYOND.finditer(sample), _WORDS)]
    valid = sum(map(_is_utf8, words))
    return len(words) - valid < valid * (_BROKEN_WORDS if "utf-8" in declared else 1)


def _is_utf8(word: bytes) -> bool:
    try:
        word.decode("utf-8", "surrogatepass")  # as programs write emoji that know UTF-16 only
    except UnicodeDecodeError:
        return False
    return True


def _order_declarations(declared: list[str], sample: bytes) -> list[str]:
    """Return the declarations in the order in which to believe them, without impossible ones."""
    if "cp1252" in declared and _is_foreign(sample):
        return [name for name in declared if name != "cp1252"]
    if declared[:1] == ["cp1252"] and len(declared) > 1:  # the header may be a server's default
        guess = guess_encoding(sample)
        if guess != "cp1252" and _read_alike(sample, guess, declared[1]):
            return declared[::-1]
    return declared


def _read_alike(sample: bytes, name: str, other: str) -> bool:
    """Whether two encodings agree on most of a text's non-ASCII characters, as variants do."""
    text, second = sample.decode(name, "replace"), sample.decode(other, "replace")
    differing: int = sum(map(ne, text, second)) + abs(len(text) - len(second))
    return 2 * differing <= _count_beyond(text)


def _is_foreign(sample: bytes) -> bool:
    """Whether a text is in no Western encoding: its non-ASCII letters are side by side."""
    runs = [len(found.group()) for found in _BEYOND.finditer(sample)]
    return sum(runs) > max(_LATIN_RUN * len(runs), _FEW)


def is_binary(data: bytes) -> bool:
    """Whether bytes, or their UTF-8 decoding, are not text in anything like ASCII.

    >>> is_binary(bytes(range(256)) * 2), is_binary("Чай".encode("koi8-r")), is_binary(bytes(99))
    (True, False, False)
    """
    found = count_bytes(data, *_CONTROLS)
    return found > _FEW and found > _MOST_CONTROLS * (len(data) - data.count(0))


def _fits_encoding(text: str) -> bool:
    """Whether hardly any of the characters beyond ASCII are replacements."""
    wrong = text.count("\ufffd")
    return wrong <= 1 or wrong < _WRONG * _count_beyond(text)
