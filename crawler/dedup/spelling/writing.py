"""How words are written when they are looked up: letters as the comparison of texts has them."""

from __future__ import annotations

from ..text.characters import one_writing
from ..text.normaliser import composed


def written(text: str) -> str:
    """*text* with nothing invisible, one writing for each letter and digit, and ``ß`` as ``ss``.

    >>> written("Straße"), written("științe") == written("ştiinţe")
    ('Strasse', True)
    """
    if text.isascii():
        return text
    return one_writing(composed(text)).replace("ß", "ss").replace("ẞ", "SS")


def lower(text: str) -> str:
    """*text* in lower case, as many letters as before; sigma at the end of a word as elsewhere.

    >>> lower("İzmir"), lower("ΟΔΟΣ") == lower("οδος")
    ('izmir', True)
    """
    return text.replace("İ", "i").lower().replace("ς", "σ")
