"""The spelling under which words are looked up: letters as in the comparison of texts."""

from __future__ import annotations

from ..text.characters import one_writing
from ..text.normaliser import compose_text


def simplify_letters(text: str) -> str:
    """*text* with nothing invisible, one writing for each letter and digit, and ``ß`` as ``ss``.

    >>> simplify_letters("Straße"), simplify_letters("științe") == simplify_letters("ştiinţe")
    ('Strasse', True)
    """
    if text.isascii():
        return text
    return one_writing(compose_text(text)).replace("ß", "ss").replace("ẞ", "SS")


def lower_letters(text: str) -> str:
    """*text* in lower case, with as many letters; a final sigma is written like any other.

    >>> lower_letters("İzmir"), lower_letters("ΟΔΟΣ") == lower_letters("οδος")
    ('izmir', True)
    """
    return text.replace("İ", "i").lower().replace("ς", "σ")
