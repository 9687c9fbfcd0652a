"""Repairs text in UTF-8 that was encoded twice: "cafÃ©"."""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

# Windows-1252 as browsers have it: what it lacks of the bytes 80 to 9F are control characters.
_OF_BYTES: Final = {
    byte: bytes((byte,)).decode("cp1252", "ignore") or chr(byte) for byte in range(0x80, 0xC0)
}
_TO_LATIN: Final = {ord(char): byte for byte, char in _OF_BYTES.items()}
_NEXT: Final = b"(?:\xc2[\x80-\xbf]|%b)" % b"|".join(
    re.escape(char.encode()) for char in _OF_BYTES.values() if ord(char) > 0xFF
)
_LOST: Final = b"\xc3\x83"  # "Ã" for "à", whose second byte was taken for a space
_LEAD: Final = re.compile(b"\xc3(?:\x83(?![ \t\r\n&<])|[\x82\x84-\xb4])")
_CHARACTER: Final = re.compile(  # with one byte in front, a search takes a tenth of the time
    b"\xc3(?:[\x82-\x9f]%b|[\xa0-\xaf]%b{2}|[\xb0-\xb4]%b{3}|\x83(?=[ \t\r\n&<]))"
    % (_NEXT, _NEXT, _NEXT)
)
# What nearly all such pages have: control characters behind a letter, or what Windows has for them
# in quotation marks and dashes ("â€"), accents ("Ã©") or Russian ("Ð¿").
_FIRST: Final = b"\xc3"
_SIGN: Final = re.compile(
    b"\xc3(?:[\x82-\xb4]\xc2[\x80-\x9f]|\xa2\xe2\x82\xac|[\x83\x90\x91][\xc2\xe2])"
)
_TAG: Final = re.compile(b"<[a-zA-Z/!?]")  # "I <3" and "a < b" begin none
_BEFORE, _SAMPLE = 1000, 40_000  # bytes, around the first sign
_FEW: Final = 3
# Of the letters that may begin one: in a right text few are before such signs, as in «CAFÉ».
_NEARLY_ALL: Final = 0.9
_MOST: Final = 20_000  # characters that are looked at; no page for people has more


def mend_mojibake(page: bytes) -> bytes:
    """Return a page in UTF-8 with characters repaired that were encoded twice.

    Only if nearly all letters that could come from that do. Tags are not changed, because their
    links may work as they are.

    >>> mend_mojibake("<p title=cafÃ©>He doesnâ€™t know a cafÃ© â€“ or two".encode()).decode()
    '<p title=cafÃ©>He doesn’t know a café – or two'
    >>> mend_mojibake("«CAFÉ» and «DÉJÀ» Ã©".encode()).decode()
    '«CAFÉ» and «DÉJÀ» Ã©'
    """
    # One byte is found in a tenth of the time.
    at = page.find(_FIRST)
    sign = _SIGN.search(page, at) if at >= 0 else None
    if sign is None:
        return page
    at = max(sign.start() - _BEFORE, 0)
    if not _is_double(page[at : at + _SAMPLE]):
        return page
    # No piece is made of a tag: a hostile page has millions of them.
    pieces: list[bytes] = []
    done = at = 0
    in_tag = False
    for found in islice(_CHARACTER.finditer(page), _MOST):
        opened, closed = (page.rfind(mark, at, found.start()) for mark in (b"<", b">"))
        if opened != closed:  # there is one
            in_tag = opened > closed and _TAG.match(page, opened) is not None
        at = found.end()
        if not in_tag:
            pieces += page[done : found.start()], _decode_once(found)
            done = at
    return b"".join((*pieces, page[done:]))


def _is_double(sample: bytes) -> bool:
    told = [one for one in _CHARACTER.finditer(sample) if one[0] != _LOST]
    found = sum(_decode_once(one) != one[0] for one in told)
    return found >= max(_FEW, _NEARLY_ALL * len(_LEAD.findall(sample)))


def _decode_once(twice: re.Match[bytes]) -> bytes:
    """Return the character that was encoded twice; the bytes as they are if it was not."""
    if twice[0] == _LOST:
        return "à".encode()
    once = twice[0].decode().translate(_TO_LATIN).encode("latin-1")
    try:
        once.decode()
    except UnicodeDecodeError:
        return twice[0]
    return once
