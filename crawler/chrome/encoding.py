"""Bytes of a page to text: BOM, HTTP header, meta, and sniffing where nothing is declared."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from logging import CRITICAL, Logger
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from w3lib.encoding import (
    html_body_declared_encoding,
    http_content_type_encoding,
    read_bom,
    resolve_encoding,
)

try:
    from .crowded import count
except ImportError:
    from .counting import count

if TYPE_CHECKING:
    from bs4.dammit import UnicodeDammit

_SILENT: Final = Logger(__name__, CRITICAL)
_HEAD: Final = 4096  # bytes in which w3lib looks for a declaration
# Hebrew in the order in which it is read, as all of it is now: to Python the same encoding.
_LOGICAL: Final = "iso-8859-8-i", "iso-8859-8"
_SNIFFED: Final = 20_000  # bytes shown to the sniffer; more costs seconds and changes nothing
_BEFORE: Final = 1000  # bytes before the first beyond ASCII
_GUESSED: Final = 2000  # bytes shown to UnicodeDammit, which takes seconds for a megabyte
# Share of undecodable characters among the non-ASCII ones that refutes a declaration.
_WRONG: Final = 0.02
# The same of UTF-8 that was cut, or has others' bytes in it; read so, those have more than half.
_BROKEN: Final = 0.3

# The commonest characters beyond ASCII of the languages written in an encoding, each once, and the
# share of them in a text that is read with the right one.
_KANA: Final = (
    "のにはをたがでてとしれさあるいもなからりうっくこそまよんきすけどだつめみやせわえちおー、。"
)
_HAN: Final = (
    "的一是不了在人有他中上大和地到以就出也你生能而子那得下自之年後作用道行所然家成方多如同心，。、"
)
_CENTRAL: Final = "ąćęłńóśźżčšžřěýáíéůúťďňőűöüăâîş"
_COMMON: Final = {
    "cp1251": (0.7, "оеаинтсрвлкмі"),
    "koi8-r": (0.7, "оеаинтсрвлкм"),
    "koi8-u": (0.7, "оеаинтсрвлкмі"),
    "cp1253": (0.7, "αοιετνςρησπκμί"),
    "cp1255": (0.7, "יוהלארתבשמנ"),
    "cp1256": (0.7, "اليمونرتبهعة"),
    "cp874": (0.6, "านรอกเง่มยลว้ี"),
    "gb18030": (0.3, f"{_HAN}我这个们来为国说时要会可对着过发里种事经么去法学现当没动面起"),
    "big5hkscs": (0.3, f"{_HAN}我這個們來為國說時要會可對著過發裡種事經麼去法學現當沒動面起"),
    "cp932": (0.5, _KANA),
    "euc_jp": (0.5, _KANA),
    "cp949": (0.3, "이다는에의을가고하지로한은를사기자도대어인시서나리해일라수전정그부있제"),
    # Where texts are alike in several of these, as Spanish ones may be, the first is meant.
    "cp1252": (0.9, "äöüßéèêàâçñóíáúôîïëùåæøœãýìòÄÖÜÉÅØÁÍÓÚÑ¿¡’“”–—…•«»©®·£€°"),
    "cp1250": (0.9, f"{_CENTRAL}„”–"),
    "iso8859-2": (0.9, _CENTRAL),
    "cp1254": (0.9, "çğıöşüâîİÇÖŞÜ’“”…"),
    # Without letters for which Icelandic has other common ones there.
    "cp1257": (0.9, "āčēģīļņšūžąęėųõäöü„“”–"),
    "cp1258": (0.9, "\u0300\u0301\u0303\u0309\u0323ăâêôơưàáèéìíòóùúý"),
}
# Encodings whose letters beyond ASCII stand side by side, and those that have them among others.
_ALPHABETS: Final = {"cp1251", "koi8-r", "koi8-u", "cp1253", "cp1255", "cp1256", "cp874"}
_ACCENTED: Final = {"cp1252", "cp1250", "iso8859-2", "cp1254", "cp1257", "cp1258"}
_SURE: Final = 0.3
_TO_JAPANESE: Final = re.compile(rb"\x1b\$[@B]")  # of ISO-2022-JP, all of which is ASCII
_BEYOND: Final = re.compile(rb"[\x80-\xff]+")
_FEW: Final = 20  # bytes
# Bytes beyond ASCII that follow each other, on average; of Western texts: 1.1.
_LATIN_RUN: Final = 2
# Share of these control characters that no text has; images, archives and programs mostly have 2 %
# and more, random bytes 4 %.  Of zeros and escapes, as for colours in a log, texts have any number.
_CONTROLS: Final = 16, 26
_MOST_CONTROLS: Final = 0.01


def as_builtin(text: str | bytes) -> str | bytes:
    """The text or bytes that an instance of a class derived from these holds.

    Such a class may do anything, as keep the tree that its text was taken from.
    """
    if isinstance(text, str):
        return str.__str__(text)
    return bytes.__getitem__(text, slice(None)) if isinstance(text, bytes) else bytes(text)


def decode(body: bytes, content_type: str | None = None) -> tuple[str, str]:
    """Return the name of the encoding and the text.

    A byte order mark wins, then what is UTF-8 but for some characters (no other encoding looks
    like it by chance), then the HTTP header, then the page's own declaration, then a guess.  A
    declaration that does not fit the bytes is not believed.

    >>> decode("Привет".encode("windows-1251"), "text/html; charset=windows-1251")
    ('cp1251', 'Привет')
    >>> decode("na\u00efve".encode(), "text/html; charset=iso-8859-1")  # a wrong header
    ('utf-8', 'na\u00efve')
    """
    bom, mark = read_bom(body[:4])
    if bom:
        return bom, body[len(mark or b"") :].decode(bom, "replace")
    declared = list(_declared(body, content_type))
    if not body.isascii() or any(name.startswith("utf-16") for name in declared):
        if wide := _wide(body[:_BEFORE]):
            return wide, body.decode(wide, "replace")
    elif _TO_JAPANESE.search(body) and not any(name.startswith("iso2022") for name in declared):
        declared.insert(0, "iso2022_jp")
    if not (body.isascii() and any(name.startswith("iso2022") for name in declared)):
        try:
            return "utf-8", body.decode()
        except UnicodeDecodeError:
            if is_binary(body) and all(map(_has_ascii, declared)):
                return "ascii", body.decode("ascii", "ignore")
            text = body.decode("utf-8", "replace")
        if text.count("\ufffd") < _BROKEN * _beyond(text):
            return "utf-8", text
    first = _BEYOND.search(body)
    at = max(first.start() - _BEFORE, 0) if first else 0
    sample = body[at : at + _SNIFFED]
    for name in declared:
        if name == "cp1252" and _is_foreign(sample):  # what servers say who know nothing
            continue
        text = body.decode(name, "replace")
        if _fits(text):
            return name, text
    name = sniff(sample)
    return name, body.decode(name, "replace")


def _declared(body: bytes, content_type: str | None) -> Iterator[str]:
    """Yield the encodings that the header and the page name, if bytes can be read as these."""
    header = http_content_type_encoding((content_type or "").lower().replace(*_LOGICAL))
    if header and is_charset(header):
        yield header
    head = body[:_HEAD].lower().decode("latin-1").replace(*_LOGICAL)
    own = html_body_declared_encoding(head)
    # Where ASCII could be read, the page is in no encoding that has other bytes for it.
    if own and is_charset(own) and _has_ascii(own):
        yield own


def is_charset(name: str) -> bool:
    """Whether bytes of a page can be read as the encoding of that name.

    Python knows others too, of bytes as bytes or of host names, and they fail on a page.

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


def _wide(beginning: bytes) -> str | None:
    """Return which UTF-16 a page without a mark is in, which has zeros in every second place."""
    odd, even = beginning[1::2].count(0), beginning[::2].count(0)
    if 3 * (odd + even) <= len(beginning) or 2 * min(odd, even) > max(odd, even):
        return None
    return "utf-16-le" if odd > even else "utf-16-be"


def is_binary(data: bytes) -> bool:
    """Whether bytes, or what they were taken for in UTF-8, are no text in anything like ASCII.

    >>> is_binary(bytes(range(256)) * 2), is_binary("Чай".encode("koi8-r")), is_binary(bytes(99))
    (True, False, False)
    """
    found = count(data, *_CONTROLS)
    return found > _FEW and found > _MOST_CONTROLS * (len(data) - data.count(0))


def sniff(sample: bytes) -> str:
    """Return the likeliest encoding of text that declares none.

    >>> sniff("Чай, напиток из листа чайного куста".encode("koi8-r"))
    'koi8-r'
    """
    best, most = "", _SURE
    others = _ACCENTED if _is_foreign(sample, few=0) else _ALPHABETS
    counts = np.bincount(np.frombuffer(sample, np.uint8), minlength=256)
    for name, (usual, common) in _COMMON.items():
        if name in others:
            continue
        if name in _ALPHABETS or name in _ACCENTED:  # a byte for each letter
            letters = list(common.encode(name, "ignore"))
            found, of = counts[letters].sum(), counts[128:].sum()
        else:
            text = sample.decode(name, "replace")
            found, of = sum(map(text.count, common)), _beyond(text)
        share = found / max(of, 1) / usual
        if share > most:
            best, most = name, share
    if not best:
        guess = _guesser()(sample[:_GUESSED], is_html=True).original_encoding
        best = resolve_encoding(guess or "") or "cp1252"
    return best


@cache
def _guesser() -> type[UnicodeDammit]:
    from bs4.dammit import UnicodeDammit  # its own imports take as long as all of this room's

    class Guesser(UnicodeDammit):
        """Warns nobody of what it cannot decode: in a crawl's log that names no page."""

        def __setattr__(self, name: str, value: Any) -> None:
            super().__setattr__(name, _SILENT if name == "log" else value)

    return Guesser


def _is_foreign(sample: bytes, few: int = _FEW) -> bool:
    """Whether a text is in no Western encoding: its letters beyond ASCII stand side by side."""
    runs = _BEYOND.findall(sample)
    length = sum(map(len, runs))
    return length > max(_LATIN_RUN * len(runs), few)


def _fits(text: str) -> bool:
    """Whether hardly any of the characters beyond ASCII are replacements."""
    wrong = text.count("\ufffd")
    if not wrong:
        return True
    return wrong <= 1 or wrong < _WRONG * _beyond(text)


def _beyond(text: str) -> int:
    """How many characters are beyond ASCII."""
    return len(text) - len(text.encode("ascii", "ignore"))
